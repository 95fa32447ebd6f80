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
use super::saving::Remedy;
use super::{Case, Outcome};
use crate::ledger::{Relief, Stage};
use crate::mix;

pub(super) const ID: &str = "fp64-promotion";

const NEEDS: &[&str] = &["InstructionStats", "SpeedOfLight"];

/// Fewer conversions for each FP64 instruction than this: the data is in double precision.
const MIXED: f64 = 0.1;

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let Some(mix) = case.mix else {
        return Outcome::NotChecked(NEEDS);
    };
    let double = mix.of_opcodes(mix::FP64);
    let conversions = mix.with_modifier(&["F2F"], "F64");
    if double <= 0.0 || conversions < MIXED * double {
        return Outcome::Clear;
    }
    let total = mix.total().max(1.0);
    let unit = mix
        .of_opcodes(&["MUFU", "F2F", "F2I", "I2F", "FRND", "FCHK"])
        .max(1.0);
    let kept = (1.0 - conversions / total).max(0.0);
    let relief = Relief::none()
        .leave(Stage::Fp64, 0.0)
        .leave(Stage::Xu, (1.0 - conversions / unit).max(0.0))
        .leave(Stage::Issue, kept);
    // The arithmetic itself stays, on the FMA pipe: one issue slot and one pass for each.
    let arithmetic = case.busy(Stage::Issue) * double / total + case.busy(Stage::Fma);
    let remedy = Remedy::new(relief).not_below(arithmetic.min(1.0));
    Draft::new(
        ID,
        format!(
            "{:.0} % of the instructions convert between float and double",
            100.0 * conversions / total
        ),
    )
    .seen_against("F2F conversions with F64", conversions, "inst", 0.0)
    .seen("FP64 instructions", double, "inst")
    .seen(
        "busy share of the XU pipe",
        case.busy(Stage::Xu),
        "fraction",
    )
    .seen(
        "busy share of the FP64 pipe",
        case.busy(Stage::Fp64),
        "fraction",
    )
    .act(&[
        "write literals with f (0.5f) and use the float functions (sinf, fmaf, sqrtf)",
        "compile with -Xptxas -warn-double-usage to find the places",
        "where more precision is needed, try compensated summation in float",
    ])
    .reaches(
        "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed",
        0.0,
    )
    .reaches(
        "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed",
        0.0,
    )
    .weigh(case, &remedy, NEEDS)
}
