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

/// Warps wait for instructions after each taken branch too, from a cache that hits. The profiler's rule tells of a
/// stall from 30 % of the latency of a warp on; in the waiting alone, a quarter. A convention: 10 and 40 % separate
/// the labelled pairs alike.
const WORTH: f64 = 0.25;
/// The first pass through code misses every cache. A miss to device memory takes some 0.35 us: where nothing is
/// fetched ahead, 57 lines of 128 bytes, or 460 instructions, take this long. A shorter kernel says nothing about its
/// loops.
const COLD_NS: f64 = 20_000.0;
/// Integer work that is the purpose of a kernel (hashes, tables) is in none of the lists of essential instructions. For
/// its sake no more than 70 % of the instructions are ever taken for copies: a convention.
const LEAST_KEPT: f64 = 0.3;
/// Caches beyond the one beside the scheduler are asked when that one misses: from a tenth of their rate on, the
/// misses are counted and not inferred from the waiting. A convention.
const COUNTED: f64 = 0.1;
/// Shown beside the value: loops that fit the caches wait for their branches only, a few per cent of the waiting. A
/// convention.
const HEALTHY: f64 = 0.05;

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
    let kept = (essential / total).clamp(LEAST_KEPT, 1.0);
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
    .confidence(if busy > COUNTED {
        Confidence::High
    } else {
        Confidence::Medium
    })
    .seen_against(
        "no-instruction stalls, share of all waiting",
        waiting,
        "fraction",
        HEALTHY,
    )
    .seen_against(
        "busy share of the instruction caches",
        busy,
        "fraction",
        0.0,
    )
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
