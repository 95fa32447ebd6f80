//! Precise transcendental functions, divisions and square roots expand into long sequences.
//!
//! # What it says
//! `sinf`, `expf`, `powf`, `/` or `sqrtf` of full precision are several to dozens of instructions each: a hardware
//! approximation, range reduction and correction steps.
//!
//! # Evidence
//! Operations of the special-function unit (XU) together with far more other instructions for each than a formula
//! needs, and opcodes that only such sequences use (FCHK, range reduction by F2I).
//!
//! # Why it costs time
//! The corrections fill issue slots and the FMA and ALU pipes.
//!
//! # What to do
//! Use approximations where the tolerance allows it (`__expf`, `__fdividef`, `rsqrtf`, `-use_fast_math` for the file),
//! cheaper identities (multiply by a reciprocal, `exp2f`), tables, or fewer evaluations.
//!
//! # When it is wrong
//! A kernel that is bound by the special-function unit itself with single approximations is at a limit, not at fault.
//!
//! # References
//! CUDA C++ Programming Guide, "Mathematical Functions"; CUDA Math API, maximum errors of intrinsics.

use super::draft::Draft;
use super::saving::Remedy;
use super::{Case, Outcome};
use crate::document::Confidence;
use crate::ledger::{Relief, Stage};

pub(super) const ID: &str = "special-function";

const NEEDS: &[&str] = &["InstructionStats", "SpeedOfLight"];

/// Less than the 60 % of other findings: it is compared with each pipe alone, and the sequences alternate between
/// them. Where no pipe works for half of the time, latency limits.
const BUSY: f64 = 0.5;
/// One function in fifty instructions. A precise division is about ten of them and a sine with its reduction 20 to 30:
/// at this share they are a fifth of all or more.
const WORTH: f64 = 0.02;
/// Of the instructions around a function, the part that its precise sequence is: the rest is the formula itself and
/// the loop. Of a division of about ten instructions two remain (a reciprocal and a product), of a sine of 20 to 30
/// two or three; with half as much formula around, some 60 % go. An estimate.
const SAVED: f64 = 0.6;
/// For the bound: long sequences (power, several functions in a row) with next to nothing around them.
const SAVED_AT_MOST: f64 = 0.95;
/// A precise sequence has a mark or more for its one function. From one in five on, precise ones are more than a few of
/// all. A convention: 10 and 40 % separate the labelled pairs alike.
const MARKED: f64 = 0.2;
/// Functions have another origin where this part of them comes with conversions of double precision or with integer
/// division. A convention: 10 and 40 % separate the labelled pairs alike.
const OTHER: f64 = 0.2;

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let Some(mix) = case.mix else {
        return Outcome::NotChecked(NEEDS);
    };
    let total = mix.total().max(1.0);
    // Each division, root, exponential and logarithm has one approximation; a sine of full precision has none but
    // reduces its range with a conversion.
    let approximations = mix.of_opcodes(&["MUFU"]);
    let reductions = mix.sum(|opcode, modifiers| {
        // Integer division truncates to an unsigned number; that is no reduced range.
        opcode == "F2I" && modifiers.contains("NTZ") && !modifiers.contains("U32")
    });
    let functions = approximations + reductions;
    // Marks of full precision: the check of a division, the reduced range of sine and exponential, rounding modes of
    // the correction steps.
    let marks = mix.of_opcodes(&["FCHK"])
        + reductions
        + mix.sum(|opcode, modifiers| {
            opcode == "FFMA"
                && modifiers
                    .split('.')
                    .any(|found| matches!(found, "RM" | "RP" | "SAT"))
        });
    // Conversions to and from double precision are another flaw, and integer division has another remedy.
    let is_other = mix.with_modifier(&["F2F"], "F64") > OTHER * functions
        || mix.sum(|opcode, modifiers| opcode == "I2F" && modifiers.contains("RP"))
            > OTHER * functions;
    if functions < WORTH * total || marks < MARKED * functions || is_other || work(case) < BUSY {
        return Outcome::Clear;
    }
    let unit = mix
        .of_opcodes(&["MUFU", "F2F", "F2I", "I2F", "FRND", "FCHK"])
        .max(1.0);
    let others = (total - unit) / functions;
    let relieve = |saved: f64| {
        let kept = 1.0 - saved * (total - unit) / total;
        [Stage::Issue, Stage::Fma, Stage::FmaHeavy, Stage::Alu]
            .iter()
            .fold(Relief::none(), |relief, stage| relief.leave(*stage, kept))
            .leave(Stage::Xu, (functions / unit).min(1.0))
    };
    Draft::new(ID, format!("{others:.0} other instructions for each special function: sequences of full precision"))
        .confidence(Confidence::Medium)
        .seen("MUFU and F2I.NTZ instructions", functions, "inst")
        .seen_against("marks of full precision (FCHK, F2I.NTZ, FFMA.RM and .SAT)", marks, "inst", 0.0)
        .seen_against("other instructions for each function", others, "inst/inst", (1.0 - SAVED) * others)
        .act(&[
            "use approximations where the tolerance allows: __expf, __sinf, __fdividef, rsqrtf, or -use_fast_math",
            "divide once and multiply by the reciprocal; use exp2f and log2f; take constants out of the loop",
            "look the function up in a table, or evaluate it less often",
        ])
        .falls("smsp__inst_executed.sum")
        .at(case.sampled_places())
        .weigh(case, &Remedy::new(relieve(SAVED_AT_MOST)).likely(relieve(SAVED)), NEEDS)
}

/// How busy instruction work keeps its units; where the ledger has no row for it, any unit.
fn work(case: &Case<'_, '_>) -> f64 {
    if case.ledger.row(Stage::Issue).is_none() {
        return case.busiest();
    }
    [
        Stage::Issue,
        Stage::Fma,
        Stage::FmaHeavy,
        Stage::Alu,
        Stage::Xu,
    ]
    .iter()
    .map(|stage| case.busy(*stage))
    .fold(0.0, f64::max)
}
