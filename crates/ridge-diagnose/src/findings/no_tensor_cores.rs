//! A matrix product runs on the FMA pipe while the matrix pipes idle.
//!
//! # What it says
//! The kernel multiplies matrices of 16-bit or smaller inputs with ordinary multiply-adds, after converting each
//! operand.
//!
//! # Evidence
//! Mostly FFMA (or HFMA2), operands of 16 bits or less in shared memory or registers, tiles that are used again, no
//! matrix instruction.
//!
//! # Why it costs time
//! The matrix pipes do about 8 to 16 times as many 16-bit operations a second as the FMA pipe, and one of their
//! instructions replaces dozens of multiply-adds with their operand loads.
//!
//! # What to do
//! Use `mma` or `wgmma` through WMMA, CUTLASS or CuTe, a library product, or a framework's matmul; keep sizes multiples
//! of 16.
//!
//! # When it is wrong
//! Inputs of FP32 need TF32 or splitting, which changes the precision; small or oddly shaped products may not fill a
//! tile.
//!
//! # References
//! CUDA C++ Programming Guide, "Warp Matrix Functions"; CUTLASS documentation.

use super::draft::Draft;
use super::saving::{Remedy, Waiting};
use super::{Case, Outcome};
use crate::document::Confidence;
use crate::ledger::{Relief, Stage};
use crate::mix::{FP64, InstructionMix, SHARED, TENSOR, access_bytes};

pub(super) const ID: &str = "no-tensor-cores";

const NEEDS: &[&str] = &[
    "InstructionStats",
    "MemoryWorkloadAnalysis_Tables",
    "SpeedOfLight",
];

/// Even without a register tile, an unrolled product from shared memory has two loads and part of a loop beside each
/// multiply-add: one of four.
const MOSTLY: f64 = 0.25;
/// Multiply-adds of a thread from which it walks along a long dimension: more than filters of up to 11 × 11 have.
const LONG: f64 = 128.0;
/// Multiply-adds for each global load from which tiles are used again: in a tile of n × n results they are n / 2, so
/// that this is 8 × 8, the smallest side of a matrix instruction.
const REUSED: f64 = 4.0;
/// Tiles of 64 × 64 results whose operands are converted once have 128 conversions for 4096 multiply-adds: 1 / 32.
/// Larger tiles have fewer, and show by the next line.
const NARROW: f64 = 0.03;
/// Or, for tiles that are converted on their way into shared memory: the least that a load brings is 4 bytes, two
/// values of 16 bits.
const CONVERTED: f64 = 2.0;
/// Most multiply-adds are packed: the product itself is done in 16 bits.
const PACKED: f64 = 0.5;
/// Shifts and masks are conversions where there is about one for each 16-bit value that is loaded.
const ONE_EACH: std::ops::RangeInclusive<f64> = 0.8..=1.25;
/// Next to no double precision: less than a multiply-add in twenty, as for scales of a result. A convention.
const FEW_DOUBLE: f64 = 0.05;
/// A product evaluates functions for its results only, if at all: one for each of the `LONG` multiply-adds or more.
const FEW: f64 = 0.01;
/// One matrix instruction (16 × 8 × 16) replaces 64 multiply-adds of a warp; the rest of a loop shrinks with them.
/// What brings in the tiles stays: `ldmatrix` fetches four registers where a load of a word fetches one.
const REST: f64 = 0.25;
/// Matrix instructions of one warp reach two thirds of 989 TFLOP/s on an H200, ten times the 66.9 of FP32. Without
/// copies that run ahead, a product waits for its operands for about half of the time: a sixth to a fifth is left. An
/// estimate.
const SIMPLE: f64 = 0.18;

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let Some(mix) = case.mix else {
        return Outcome::NotChecked(NEEDS);
    };
    let has_matrix_pipes = case
        .profile
        .capability()
        .is_none_or(|capability| capability.major >= 7);
    let fused = mix.of_opcodes(&["FFMA", "HFMA2"]);
    let global = mix.of_opcodes(&["LDG", "LDGSTS"]).max(1.0);
    let threads = case
        .number("launch__thread_count")
        .unwrap_or(f64::INFINITY)
        .max(1.0);
    let converted = conversions(mix);
    let is_narrow = converted >= NARROW * fused
        || converted >= CONVERTED * global
        || mix.of_opcodes(&["HFMA2"]) >= PACKED * fused;
    let is_product = fused >= MOSTLY * mix.total()
        && 32.0 * fused / threads >= LONG
        && fused >= REUSED * global
        && mix.of_opcodes(SHARED) > 0.0
        && mix.of_opcodes(&["MUFU"]) < FEW * fused;
    if !has_matrix_pipes
        || mix.of_opcodes(TENSOR) > 0.0
        || mix.of_opcodes(FP64) > FEW_DOUBLE * fused
        || !is_product
        || !is_narrow
    {
        return Outcome::Clear;
    }
    let relief = Relief::none()
        .leave(Stage::Issue, REST * (1.0 - fused / mix.total().max(1.0)))
        .leave(Stage::Fma, 0.0)
        .leave(Stage::FmaHeavy, REST)
        .leave(Stage::Alu, REST)
        .leave(Stage::Xu, 0.0)
        .leave(Stage::SharedWavefronts, REST)
        .leave(Stage::LsuInstructions, REST)
        .leave(Stage::L1Writeback, REST);
    let remedy = Remedy::new(relief)
        .waiting(Waiting::Hidden)
        .hardly_below(SIMPLE);
    Draft::new(
        ID,
        "multiply-adds of narrow operands run on the FMA pipe; the matrix pipes are idle"
            .to_owned(),
    )
    .confidence(Confidence::Medium)
    .seen_against(
        "multiply-adds, share of all instructions",
        fused / mix.total().max(1.0),
        "fraction",
        0.0,
    )
    .seen(
        "multiply-adds for each global load",
        fused / global,
        "inst/inst",
    )
    .seen_against(
        "conversions and narrow loads for each multiply-add",
        converted / fused,
        "inst/inst",
        0.0,
    )
    .seen_against("matrix instructions", 0.0, "inst", fused / 64.0)
    .act(&[
        "call a library product (cuBLAS, CUTLASS) or the framework's matmul",
        "use matrix instructions: WMMA, mma, or wgmma on 9.0, with tiles of multiples of 16",
    ])
    .rises("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed")
    .falls("smsp__inst_executed.sum")
    .at(case.sampled_places())
    .weigh(case, &remedy, NEEDS)
}

/// Operands of 16 bits or less that are made wide, or loaded one at a time.
fn conversions(mix: &InstructionMix) -> f64 {
    let narrow_loads = mix.sum(|opcode, modifiers| {
        matches!(opcode, "LDS" | "LDG")
            && modifiers
                .split('.')
                .any(|found| matches!(found, "U16" | "S16" | "U8" | "S8"))
    });
    mix.with_modifier(&["HADD2"], "F32") + narrow_loads + bfloat_pairs(mix)
}

/// Values of packed bfloat16 that are made wide: the lower one of a pair by a shift, which may be written as a
/// multiplication, the upper one by a mask.
///
/// Addresses are computed with the same instructions. Conversions are told from them by their number: one for each
/// value that comes from global or from shared memory.
fn bfloat_pairs(mix: &InstructionMix) -> f64 {
    let shifts = mix.with_modifier(&["SHF"], "L")
        + mix.sum(|opcode, modifiers| opcode == "IMAD" && matches!(modifiers, "U32" | "SHL.U32"));
    let values = 2.0 * shifts.min(mix.of_opcodes(&["LOP3"]));
    let is_one_each = |opcodes: &[&str]| {
        let loaded: f64 = mix
            .iter()
            .filter(|(opcode, ..)| opcodes.contains(opcode))
            .map(|(_, modifiers, count)| count * access_bytes(modifiers) / 2.0)
            .sum();
        loaded > 0.0 && ONE_EACH.contains(&(values / loaded))
    };
    if is_one_each(&["LDG"]) || is_one_each(&["LDS"]) {
        values
    } else {
        0.0
    }
}
