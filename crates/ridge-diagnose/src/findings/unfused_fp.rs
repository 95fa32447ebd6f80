//! Multiplications and additions are separate where a fused multiply-add would do both.
//!
//! # What it says
//! Products are rounded before they are added: the program was compiled with `-fmad=false`, uses `__fmul_rn` and
//! `__fadd_rn`, or is written so that the compiler may not fuse.
//!
//! # Evidence
//! FMUL and FADD (or their FP64 and FP16 kin) in similar numbers, and few fused operations.
//!
//! # Why it costs time
//! Two instructions, two passes through the pipe and one more rounding, for what one instruction does.
//!
//! # What to do
//! Compile with fused operations (the default), call `fmaf`, order expressions as `a * b + c`.
//!
//! # When it is wrong
//! Results change in the last bits; where bit-for-bit agreement with another program is required, the separate
//! operations are meant. That the products feed the sums is inferred from their numbers.
//!
//! # References
//! CUDA C++ Programming Guide, "Floating-Point Standard"; NVIDIA, "Floating Point and IEEE 754".

use super::draft::Draft;
use super::saving::Remedy;
use super::{Case, Outcome};
use crate::document::Confidence;
use crate::ledger::{Relief, Stage};

pub(super) const ID: &str = "unfused-fp";

const NEEDS: &[&str] = &["InstructionStats", "SpeedOfLight"];

/// Each pair becomes one instruction: below this less than 8 % of the instructions go. The profiler's own rule starts
/// at a tenth of the arithmetic alone. A convention: 4 and 16 % separate the labelled pairs alike.
const WORTH: f64 = 0.08;
/// Without fusion, fused operations still come from library sequences (division, root): a few. Where there are more
/// beside each pair, the compiler fuses and the rest cannot be. A convention: 0.1 and 0.5 separate the labelled pairs
/// alike.
const FUSES: f64 = 0.25;

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let Some(mix) = case.mix else {
        return Outcome::NotChecked(NEEDS);
    };
    let total = mix.total().max(1.0);
    let pairs = |multiply: &str, add: &str, fused: &str| {
        let pairs = mix.of_opcodes(&[multiply]).min(mix.of_opcodes(&[add]));
        if mix.of_opcodes(&[fused]) <= FUSES * pairs {
            pairs
        } else {
            0.0
        }
    };
    let (single, double, half) = (
        pairs("FMUL", "FADD", "FFMA"),
        pairs("DMUL", "DADD", "DFMA"),
        pairs("HMUL2", "HADD2", "HFMA2"),
    );
    let all = single + double + half;
    if all < WORTH * total {
        return Outcome::Clear;
    }
    let part = |of: f64, stage: Stage| {
        // The row counts passes of the pipe, of which a pair takes two and a fused operation one.
        case.ledger
            .row(stage)
            .map_or(1.0, |row| 1.0 - of / row.demand.max(of))
    };
    let relief = Relief::none()
        .leave(Stage::Issue, 1.0 - all / total)
        // Packed 16-bit arithmetic takes up to two passes of the pipe, or one of its heavy half.
        .leave(Stage::Fma, part(single + 2.0 * half, Stage::Fma))
        .leave(Stage::FmaHeavy, part(half, Stage::FmaHeavy))
        .leave(Stage::Half, part(half, Stage::Half))
        .leave(Stage::Fp64, part(double, Stage::Fp64));
    let fused = mix.of_opcodes(&["FFMA", "DFMA", "HFMA2"]);
    Draft::new(
        ID,
        format!(
            "{:.0} % of the instructions could be saved by fused multiply-adds",
            100.0 * all / total
        ),
    )
    .confidence(Confidence::Medium)
    .seen_against("pairs of multiplication and addition", all, "inst", 0.0)
    .seen_against(
        "FFMA, DFMA and HFMA2 instructions",
        fused,
        "inst",
        fused + all,
    )
    .act(&[
        "compile with fused operations: drop -fmad=false",
        "call fmaf (fma, __hfma2), or write the expression as a * b + c",
    ])
    .falls("smsp__inst_executed.sum")
    .at(case.sampled_places())
    .weigh(case, &Remedy::new(relief), NEEDS)
}
