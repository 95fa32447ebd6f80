//! The code is larger than the instruction caches, and warps wait for instructions.
//!
//! # What it says
//! Loops are unrolled so far, or so much is inlined, that a pass through the code does not fit the caches of the SM.
//!
//! # Evidence
//! No-instruction stalls in a kernel that is not short, requests to the instruction caches of the SM and of the GPC.
//!
//! # Why it costs time
//! Instructions come from a cache that all SMs of a GPC share, or from the L2; warps stand still until they arrive.
//!
//! # What to do
//! Unroll less (`#pragma unroll 4`), keep rarely used paths out of line (`__noinline__`), split the kernel.
//!
//! # When it is wrong
//! Very short kernels start with cold caches; that is no flaw of the loop.
//!
//! # References
//! NVIDIA Nsight Compute documentation, warp states; J. Barrett et al. on instruction caches of Volta and later.

use super::draft::Draft;
use super::per_instruction::places;
use super::saving::{Remedy, Waiting};
use super::{Case, Outcome};
use crate::document::Confidence;
use crate::ledger::{Relief, Stage};
use crate::mix::{FP16, FP32, FP64, GLOBAL_LOADS, GLOBAL_STORES, SHARED, TENSOR};

pub(super) const ID: &str = "instruction-cache";

const NEEDS: &[&str] = &["WarpStateStats", "SpeedOfLight"];

/// Below this part of the waiting, instructions arrive in time.
const WORTH: f64 = 0.25;
/// Cold caches are filled within microseconds; a kernel this short says nothing about its loops.
const COLD_NS: f64 = 20_000.0;

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    if case.stalls.is_empty() {
        return Outcome::NotChecked(NEEDS);
    }
    let waiting = case.waiting_for(&["no_instruction"]);
    if waiting < WORTH || case.profile.duration_ns().is_none_or(|ns| ns < COLD_NS) {
        return Outcome::Clear;
    }
    // A loop instead of its unrolled copies also does without the instructions that made each copy different.
    let total = case.mix.map_or(1.0, crate::InstructionMix::total).max(1.0);
    let essential = case.mix.map_or(total, |mix| {
        let lists = [
            GLOBAL_LOADS,
            GLOBAL_STORES,
            SHARED,
            FP32,
            FP64,
            FP16,
            TENSOR,
        ];
        lists.iter().map(|list| mix.of_opcodes(list)).sum::<f64>()
    });
    let relieve = |kept: f64| {
        [Stage::Issue, Stage::Alu]
            .iter()
            .fold(Relief::none(), |relief, stage| relief.leave(*stage, kept))
            .leave(Stage::InstructionRequests, 0.0)
            .leave(Stage::InstructionFills, 0.0)
    };
    let kept = (essential / total).clamp(0.3, 1.0);
    let remedy = Remedy::new(relieve(kept))
        .likely(relieve(f64::midpoint(kept, 1.0)))
        .waiting(Waiting::Removed(waiting));
    let busy = case
        .busy(Stage::InstructionFills)
        .max(case.busy(Stage::InstructionRequests));
    Draft::new(
        ID,
        format!(
            "{:.0} % of the waiting is for the next instruction",
            100.0 * waiting
        ),
    )
    .confidence(if busy > 0.1 {
        Confidence::High
    } else {
        Confidence::Medium
    })
    .seen_against(
        "no-instruction stalls, share of all waiting",
        waiting,
        "fraction",
        0.05,
    )
    .seen("busy share of the instruction caches", busy, "fraction")
    .act(&[
        "unroll less: #pragma unroll 4 instead of a full unroll",
        "keep rarely used paths out of line, and avoid copies of large inlined functions",
        "split the kernel where its phases have nothing in common",
    ])
    .falls("smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio")
    .falls("sm__icc_requests.sum")
    .at(places(
        &case.by_instruction("smsp__pcsamp_warps_issue_stalled_no_instructions"),
        case.code,
    ))
    .weigh(case, &remedy, NEEDS)
}
