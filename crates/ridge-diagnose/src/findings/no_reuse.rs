//! Operands are fetched again for each use, although neighbours use the same ones.
//!
//! # What it says
//! A product, a stencil or a convolution reads each operand from the L1, the L2 or shared memory every time it needs
//! it: there is no tile in shared memory, or no tile in registers.
//!
//! # Evidence
//! The load path (LSU, L1, L2 or shared memory) is the busiest unit, loads come in similar numbers as arithmetic,
//! caches hit, the FMA pipe idles. For products on the matrix pipes: each byte that an SM reads feeds few operations.
//! Where the path has time left and warps wait for nothing but its loads, the finding is less sure: `latency-bound` may
//! stand beside it.
//!
//! # Why it costs time
//! A load delivers at most one operand to each lane in the time of one multiply-add or more: with two loads for each
//! multiply-add, the arithmetic can use a third of its pipe at best. The matrix pipes of an SM consume operands faster
//! still: a tile of m × n results gets 2mn / (m + n) operations out of each operand.
//!
//! # What to do
//! Stage tiles in shared memory, and let each thread compute a small tile of results from registers: 8 × 8 results need
//! 16 loads for 64 multiply-adds.
//!
//! # When it is wrong
//! Streams whose data is used once have nothing to re-use; then the loads are the work.
//!
//! # References
//! CUDA C++ Best Practices Guide, "Shared Memory in Matrix Multiplication"; V. Volkov and J. Demmel, "Benchmarking GPUs
//! to Tune Dense Linear Algebra".

use super::draft::Draft;
use super::saving::{Remedy, Waiting};
use super::{Case, Outcome};
use crate::attainable::attainable;
use crate::document::Confidence;
use crate::ledger::{Relief, Stage};
use crate::mix::{FP16, FP32, FP64, GLOBAL_LOADS, TENSOR};

pub(super) const ID: &str = "no-reuse";

const NEEDS: &[&str] = &[
    "InstructionStats",
    "MemoryWorkloadAnalysis_Tables",
    "SourceCounters",
];

/// Less than the 60 % of other findings: at half load a request waits as long as it is served (`ρ / (1 − ρ)` = 1), and
/// the loads that make it wait are those that re-use saves.
const BUSY: f64 = 0.5;
/// Below that a load that hits is served at once, and still each load that is saved is one wait less: when this
/// much of the waiting is for loads, and so few warps are ready, the loads are what takes the time. A clear majority,
/// and less than one warp for each issue slot, as in `latency-bound`.
const WAITED_FOR: f64 = 0.6;
const ELIGIBLE: f64 = 1.0;
/// Then the loads must be the loop: one operand of each multiply-add, the other one stays in a register.
const EACH: f64 = 1.0;
/// Below a quarter the loads would have to wait four times as long as they are served: a chain, whose loads are few.
const HARDLY_BUSY: f64 = 0.25;
/// Loads for each multiply-add in a register tile of n × n are 2 / n: one with 2 × 2, 0.5 with 4 × 4, 0.25 with 8 × 8,
/// which has its re-use. This lies above the last by a fifth for edges.
const LOADS: f64 = 0.3;
/// A loop without any re-use has two loads with their addresses, an addition for the index, a compare and a branch for
/// each multiply-add: about one of ten. Where it is less, arithmetic is not the purpose.
const ARITHMETIC: f64 = 0.08;
/// Data that is used twice misses once and hits once.
const HITS: f64 = 0.5;
/// Stores hit in the L2: of the look-ups of a copy half do, without any re-use. Loads that are used twice hit in half
/// of the rest.
const HITS_L2: f64 = 0.75;
/// An unaligned row costs one sector of five. More than a quarter is a pattern, and another flaw.
const EXCESS: f64 = 0.25;
/// Loads of a thread from which it walks along a long dimension, as in a product. Stencils have fewer: 27 in three
/// dimensions, 49 with a radius of three in two.
const LONG: f64 = 64.0;
/// A register tile of 8 × 8 uses each operand eight times. For the bound: a tile of 32 × 32 in shared memory, the
/// width of a warp, uses it 32 times.
const REUSE: f64 = 8.0;
const REUSE_AT_MOST: f64 = 32.0;
/// A stencil shares its neighbours only: with three points along a line each element is loaded three times, in a tile
/// once.
const REUSE_STENCIL: f64 = 3.0;
/// Operations for each operand in a tile of 128 × 256 results: 2mn / (m + n). Its sums fill half of the registers of
/// an SM, so that no larger tile leaves room for anything else; library products use it.
const LARGEST_TILE: f64 = 2.0 * 128.0 * 256.0 / (128.0 + 256.0);
/// A tile that gets half of that out of an operand has half the results: one step of tuning, not missing re-use.
const WORTH_IT: f64 = 2.0;
/// Library products reach 76 % of the FP32 peak and 80 % of the BF16 peak (H200, 8192³, measured). Tiles written by
/// hand are expected to reach three quarters of that.
const TILED: f64 = 0.6;

const LOAD_PATH: &[Stage] = &[
    Stage::LsuInstructions,
    Stage::L1Wavefronts,
    Stage::L1Writeback,
    Stage::L1Fill,
    Stage::L2Requests,
    Stage::L2Sectors,
    Stage::L2Return,
    Stage::SharedWavefronts,
];

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let Some(mix) = case.mix else {
        return Outcome::NotChecked(NEEDS);
    };
    let total = mix.total().max(1.0);
    let arithmetic: f64 = [FP32, FP64, FP16]
        .iter()
        .map(|list| mix.of_opcodes(list))
        .sum();
    let (global, shared) = (mix.of_opcodes(GLOBAL_LOADS), mix.of_opcodes(&["LDS"]));
    let loads = global + shared;
    let path = LOAD_PATH
        .iter()
        .map(|stage| case.busy(*stage))
        .fold(0.0, f64::max);
    let compute = case.busy(Stage::Fma).max(case.busy(Stage::Fp64));
    if mix.of_opcodes(TENSOR) > 0.0 {
        return on_matrix_pipes(case, path);
    }
    if arithmetic < ARITHMETIC * total || loads < LOADS * arithmetic {
        return Outcome::Clear;
    }
    let Some(is_used_again) = is_used_again(case, shared >= global) else {
        return Outcome::NotChecked(NEEDS);
    };
    let is_unseen = [Stage::L1Wavefronts, Stage::SharedWavefronts]
        .iter()
        .any(|stage| case.ledger.row(*stage).is_none());
    let is_busy = path >= BUSY;
    let is_waited_for = path >= HARDLY_BUSY
        && global >= EACH * arithmetic
        && case.waiting_for(&["long_scoreboard"]) >= WAITED_FOR
        && case
            .number("smsp__warps_eligible.avg.per_cycle_active")
            .is_some_and(|eligible| eligible < ELIGIBLE);
    if !is_busy && !is_waited_for && is_unseen {
        return Outcome::NotChecked(NEEDS);
    }
    let is_path_first = path >= compute && path >= case.busy(Stage::DramBytes);
    if !(is_busy || is_waited_for) || !is_path_first || !is_used_again {
        return Outcome::Clear;
    }
    let threads = case
        .number("launch__thread_count")
        .unwrap_or(f64::INFINITY)
        .max(1.0);
    let for_each_thread = 32.0 * loads / threads;
    let is_long = for_each_thread >= LONG;
    let relieve = |reuse: f64| {
        let kept = 1.0 / reuse;
        let issue = (arithmetic + (total - arithmetic) * kept) / total;
        LOAD_PATH
            .iter()
            .fold(Relief::none(), |relief, stage| relief.leave(*stage, kept))
            .leave(Stage::Issue, issue)
            .leave(Stage::Alu, kept)
            // Addresses are computed on the heavy half of the FMA pipe.
            .leave(Stage::FmaHeavy, kept)
    };
    // The arithmetic itself stays.
    let work = case.busy(Stage::Issue) * arithmetic / total;
    let relief = |reuse: f64| relieve(reuse).leave(Stage::Fma, (work / compute.max(work)).min(1.0));
    let reuse = if is_long { REUSE } else { REUSE_STENCIL };
    let waiting = if is_busy {
        Waiting::Hidden
    } else {
        Waiting::Removed(1.0 - 1.0 / reuse)
    };
    let remedy = Remedy::new(relief(REUSE_AT_MOST))
        .likely(relief(reuse))
        .waiting(waiting)
        .hardly_below(work / TILED);
    Draft::new(
        ID,
        format!(
            "{:.1} loads for each arithmetic instruction",
            loads / arithmetic
        ),
    )
    .confidence(if is_busy {
        Confidence::Medium
    } else {
        Confidence::Low
    })
    .seen_against(
        "loads / arithmetic instructions",
        loads / arithmetic,
        "inst/inst",
        2.0 / REUSE,
    )
    .seen_against(
        "busiest stage of the load path",
        path,
        "fraction",
        path / reuse,
    )
    .seen_against(
        "loads of a thread",
        for_each_thread,
        "inst",
        for_each_thread / reuse,
    )
    .act(if shared >= global {
        &[
            "let each thread compute a small tile of results (4 x 4 or 8 x 8) from registers",
            "read shared memory 16 bytes at a time",
        ]
    } else {
        &[
            "load tiles into shared memory once and use them from there",
            "let each thread compute a small tile of results (4 x 4 or 8 x 8) from registers",
            "use a library product where there is one",
        ]
    })
    .falls("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed")
    .rises("sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed")
    .at(case.sampled_places())
    .weigh(case, &remedy, NEEDS)
}

/// A product on the matrix pipes whose tiles are too small.
fn on_matrix_pipes(case: &Case<'_, '_>, path: f64) -> Outcome {
    let (Some(tensor), Some(fill)) = (
        case.ledger.row(Stage::Tensor),
        case.ledger.row(Stage::L1Fill),
    ) else {
        return Outcome::NotChecked(NEEDS);
    };
    let others = tensor.busy_share.max(case.busy(Stage::DramBytes));
    if path < BUSY || path < others || tensor.demand <= 0.0 || fill.demand <= 0.0 {
        return Outcome::Clear;
    }
    let today = tensor.demand / fill.demand;
    let possible = LARGEST_TILE / operand_bytes(&tensor.source);
    if today * WORTH_IT > possible {
        return Outcome::Clear;
    }
    let kept = today / possible;
    let relief = LOAD_PATH
        .iter()
        .fold(Relief::none(), |relief, stage| relief.leave(*stage, kept));
    let remedy = Remedy::new(relief.clone().leave(Stage::Issue, kept))
        .likely(relief)
        .waiting(Waiting::Hidden)
        .hardly_below(tensor.busy_share / TILED);
    Draft::new(
        ID,
        format!(
            "a byte that an SM reads feeds {today:.0} operations; in the largest tiles it feeds {possible:.0}"
        ),
    )
    .confidence(Confidence::Medium)
    .seen_against(
        format!("operations / {}", fill.source.join(", ")),
        today,
        "operation/byte",
        possible,
    )
    .seen_against("busiest stage of the load path", path, "fraction", kept * path)
    .seen_against(
        "matrix pipes",
        tensor.busy_share,
        "fraction",
        attainable(Stage::Tensor).share,
    )
    .act(&[
        "let a block compute a larger tile of the result: 128 x 128 or 128 x 256",
        "let a warp compute a larger part of it, so that each fragment feeds several matrix instructions",
        "use a library product where there is one",
    ])
    .falls("l1tex__m_xbar2l1tex_read_bytes.sum")
    .rises("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed")
    .at(case.sampled_places())
    .weigh(case, &remedy, NEEDS)
}

/// Bytes of an operand, from the counters of the path that the operations took.
fn operand_bytes(source: &[String]) -> f64 {
    let has = |name: &str| source.iter().any(|counter| counter.contains(name));
    if has("fp64") {
        8.0
    } else if has("tf32") {
        4.0
    } else if has("fp8") || has("int8") {
        1.0
    } else {
        2.0
    }
}

/// Whether loaded data is used again: the caches hit, or it comes from shared memory without conflicts. Absent when the
/// input does not hold the hits.
fn is_used_again(case: &Case<'_, '_>, from_shared: bool) -> Option<bool> {
    let excess = |actual: &str| {
        let actual_count = case.number(actual).unwrap_or(0.0);
        let ideal = case
            .number(&format!("{actual}_ideal"))
            .unwrap_or(actual_count);
        (actual_count - ideal) / actual_count.max(1.0)
    };
    if from_shared {
        return Some(excess("memory_l1_wavefronts_shared") <= EXCESS);
    }
    let sectors = |what: &str| {
        case.number(&format!(
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld{what}.sum"
        ))
    };
    let l1 = sectors("_lookup_hit")? / sectors("")?.max(1.0);
    let (hit, miss) = (
        case.number("lts__t_sectors_lookup_hit.sum"),
        case.number("lts__t_sectors_lookup_miss.sum"),
    );
    let l2 = hit
        .zip(miss)
        .map_or(0.0, |(hit, miss)| hit / (hit + miss).max(1.0));
    Some((l1 >= HITS || l2 >= HITS_L2) && excess("memory_l2_theoretical_sectors_global") <= EXCESS)
}
