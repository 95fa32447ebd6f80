//! Single-precision data is promoted to double precision and back.
//!
//! # What it says
//! A literal without `f`, a double-precision function or a `double` temporary makes the compiler convert floats to
//! doubles, calculate, and convert back.
//!
//! # Evidence
//! Conversions between FP32 and FP64 (F2F) beside FP64 instructions.
//!
//! # Why it costs time
//! Conversions run on the special-function unit at a quarter of the rate or less, and FP64 arithmetic at half to a
//! sixty-fourth of that of FP32.
//!
//! # What to do
//! Write `0.5f`, use `sinf`, `fmaf`, `std::sqrt(float)`; compile with `-Xptxas -warn-double-usage` to find the places.
//!
//! # When it is wrong
//! Where double precision is wanted for an accumulator, the conversions are its price; compensated summation in single
//! precision may do.
//!
//! # References
//! CUDA C++ Best Practices Guide, "Mathematical Functions"; throughput table of the programming guide.

use super::draft::Draft;
use super::saving::{Remedy, Waiting};
use super::{Case, Outcome};
use crate::ledger::{Relief, Stage};
use crate::mix::{self, InstructionMix, access_bytes};

pub(super) const ID: &str = "fp64-promotion";

const NEEDS: &[&str] = &["InstructionStats", "SpeedOfLight"];

/// An expression that a literal promotes converts its inputs and its result, a few operations apart. Code whose data
/// is in double precision converts at its edges only: fewer than one conversion for ten operations. A convention: 3
/// and 30 % separate the labelled pairs alike.
const MIXED: f64 = 0.1;
/// A function of double precision is up to about 40 operations long, and a promoted expression converts at least once
/// for each. Where no access is wide enough for a double, that is enough: the data is in single precision.
const WITH_FUNCTIONS: f64 = 1.0 / 40.0;
/// Bytes of a double.
const DOUBLE: f64 = 8.0;

/// Multiply-adds that refine a reciprocal of double precision beyond the one or two of single precision.
const STEPS: f64 = 3.0;
/// With the branch around its slow path, which sets up a point to meet again, branches and meets.
const REFINEMENT: f64 = STEPS + 3.0;
/// Halves of a constant.
const HALVES: f64 = 2.0;
/// A multiplication and an addition become one multiply-add.
const FUSED: f64 = 0.5;
/// What warps wait for before the two slow pipes, for conversions and for double precision.
const SLOW_PIPES: &[&str] = &["math_pipe_throttle", "mio_throttle", "short_scoreboard"];

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let Some(mix) = case.mix else {
        return Outcome::NotChecked(NEEDS);
    };
    let double = mix.of_opcodes(mix::FP64);
    let conversions = mix.with_modifier(&["F2F"], "F64");
    let least = if moves_doubles(mix) {
        MIXED
    } else {
        WITH_FUNCTIONS
    };
    if double <= 0.0 || conversions < least * double {
        return Outcome::Clear;
    }
    let total = mix.total().max(1.0);
    let unit = mix
        .of_opcodes(&["MUFU", "F2F", "F2I", "I2F", "FRND", "FCHK"])
        .max(1.0);
    let without_conversions = (1.0 - conversions / unit).max(0.0);
    let relieve = |kept: f64| {
        Relief::none()
            .leave(Stage::Fp64, 0.0)
            .leave(Stage::Xu, without_conversions)
            .leave(Stage::Issue, kept)
    };
    // A reciprocal or root in double precision is refined in a sequence and guarded by a branch, where one in single
    // precision is the instruction itself with a step or two.
    let refined = mix.sum(|opcode, modifiers| opcode == "MUFU" && modifiers.ends_with("64H"));
    // A constant of double precision is put together from two halves; one of single precision is part of the instruction.
    let halves = mix.of_opcodes(&["UMOV", "MOV"]) + mix.with_modifier(&["IMAD"], "MOV");
    let gone = conversions + REFINEMENT * refined + halves.min(HALVES * double);
    // At most, what moves and selects register pairs goes too.
    let needed = double
        + mix.of_opcodes(mix::FP32)
        + mix.of_opcodes(mix::GLOBAL_LOADS)
        + mix.of_opcodes(mix::GLOBAL_STORES);
    let at_most = relieve((needed / total).min(1.0));
    let likely = relieve((1.0 - gone / total).max(0.0));
    // The arithmetic itself stays, on the FMA pipe: one issue slot for each. Without roundings in between, a
    // multiplication and an addition may become one.
    let single = mix.of_opcodes(mix::FP32);
    let arithmetic = |part: f64| {
        (case.busy(Stage::Issue) * (part * (double - STEPS * refined).max(0.0) + single) / total)
            .min(1.0)
    };
    let remedy = Remedy::new(at_most)
        .likely(likely)
        .waiting(Waiting::Removed(case.waiting_for(SLOW_PIPES)))
        .not_below(arithmetic(FUSED))
        .hardly_below(arithmetic(1.0));
    Draft::new(
        ID,
        format!(
            "{:.0} % of the instructions convert between float and double",
            100.0 * conversions / total
        ),
    )
    .seen_against("F2F conversions with F64", conversions, "inst", 0.0)
    .seen_against("FP64 instructions", double, "inst", 0.0)
    .seen_against(
        "busy share of the XU pipe",
        case.busy(Stage::Xu),
        "fraction",
        case.busy(Stage::Xu) * without_conversions,
    )
    .seen_against(
        "busy share of the FP64 pipe",
        case.busy(Stage::Fp64),
        "fraction",
        0.0,
    )
    .act(&[
        "write literals with f (0.5f) and use the float functions (sinf, fmaf, sqrtf)",
        "compile with -Xptxas -warn-double-usage to find the places",
        "where more precision is needed, try compensated summation in float",
    ])
    .reaches(
        "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed",
        0.0,
    )
    .at(case.sampled_places())
    .weigh(case, &remedy, NEEDS)
}

/// Whether any access to global or shared memory is wide enough for a double. Wider ones may be vectors of floats.
fn moves_doubles(mix: &InstructionMix) -> bool {
    let accesses = [mix::GLOBAL_LOADS, mix::GLOBAL_STORES, mix::SHARED];
    mix.iter().any(|(opcode, modifiers, count)| {
        count > 0.0
            && accesses.iter().any(|list| list.contains(&opcode))
            && access_bytes(modifiers) >= DOUBLE
    })
}
