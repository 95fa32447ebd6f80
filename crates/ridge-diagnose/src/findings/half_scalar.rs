//! 16-bit arithmetic is done one value at a time.
//!
//! # What it says
//! The kernel calculates in half precision or bfloat16, but with one value in each 32-bit register: every instruction
//! wastes half of its lanes.
//!
//! # Evidence
//! Half-precision instructions, and global accesses of 2 bytes a thread.
//!
//! # Why it costs time
//! The half-precision instructions (HADD2, HMUL2, HFMA2) take two values at the cost of one.
//!
//! # What to do
//! Use `half2` or `__nv_bfloat162` and their functions; load and store 4 to 16 bytes a thread.
//!
//! # When it is wrong
//! Where only storage is 16 bits wide and the arithmetic is FP32, packed arithmetic changes the precision.
//!
//! # References
//! CUDA Math API, "Half2 Arithmetic Functions"; throughput table of the programming guide.

use super::draft::Draft;
use super::saving::{Remedy, Waiting};
use super::{Case, Outcome};
use crate::document::Confidence;
use crate::ledger::{Relief, Stage};
use crate::limiter::BUSY;
use crate::mix::{FP16, GLOBAL_LOADS, GLOBAL_STORES, InstructionMix};

pub(super) const ID: &str = "half-scalar";

const NEEDS: &[&str] = &["InstructionStats", "SpeedOfLight"];

/// Pairs save half of this arithmetic, with its loads and stores half as much again or more: below this hardly a tenth
/// of the instructions. A convention: 4 and 16 % separate the labelled pairs alike.
const WORTH: f64 = 0.08;
/// Most global accesses move a single value: 2 bytes.
const ALONE: f64 = 0.5;
/// One permutation joins a pair. Pairs that are joined once for each eight operations are calculated as pairs.
const JOINED: f64 = 1.0 / 8.0;
/// Two values go into one register.
const PACKED: f64 = 0.5;

const PER_VALUE: &[Stage] = &[
    Stage::Issue,
    Stage::Fma,
    Stage::FmaHeavy,
    Stage::Alu,
    Stage::HalfOnTensor,
    Stage::Half,
    Stage::LsuInstructions,
    Stage::L1Wavefronts,
    Stage::Uniform,
    Stage::ConstantRequests,
];

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let Some(mix) = case.mix else {
        return Outcome::NotChecked(NEEDS);
    };
    let arithmetic = half_arithmetic(mix);
    let accesses = mix.of_opcodes(GLOBAL_LOADS) + mix.of_opcodes(GLOBAL_STORES);
    let alone = mix.with_modifier(GLOBAL_LOADS, "U16") + mix.with_modifier(GLOBAL_STORES, "U16");
    // Values that are joined in registers are calculated in pairs already: the compiler does that where it can.
    let is_joined = mix.of_opcodes(&["PRMT"]) >= JOINED * arithmetic;
    let travels_alone = accesses > 0.0 && alone >= ALONE * accesses;
    if arithmetic < WORTH * mix.total() || is_joined || !travels_alone {
        return Outcome::Clear;
    }
    let relief = PER_VALUE
        .iter()
        .fold(Relief::none(), |relief, stage| relief.leave(*stage, PACKED));
    let remedy = Remedy::new(relief).waiting(if case.busiest() >= BUSY {
        Waiting::Queueing
    } else {
        Waiting::Removed(PACKED)
    });
    Draft::new(
        ID,
        "half-precision values are loaded and calculated one by one".to_owned(),
    )
    .confidence(Confidence::Medium)
    .seen(
        "half-precision instructions, share of all",
        arithmetic / mix.total().max(1.0),
        "fraction",
    )
    .seen_against(
        "global accesses of 2 bytes, share of all",
        alone / accesses,
        "fraction",
        0.0,
    )
    .act(&[
        "use half2 or __nv_bfloat162 with __hfma2, __hadd2, __hmul2: two values an instruction",
        "load and store 4 to 16 bytes a thread",
    ])
    .falls("smsp__inst_executed.sum")
    .at(case.sampled_places())
    .weigh(case, &remedy, NEEDS)
}

/// Arithmetic on 16-bit values: without moves of constants (`HFMA2.MMA` with zero inputs) and conversions to FP32
/// (`HADD2.F32`).
fn half_arithmetic(mix: &InstructionMix) -> f64 {
    mix.sum(|opcode, modifiers| {
        FP16.contains(&opcode) && !modifiers.split('.').any(|found| found == "F32")
    })
}
