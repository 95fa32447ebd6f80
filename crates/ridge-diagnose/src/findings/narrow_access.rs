//! Each thread moves so few bytes with an instruction that too few bytes are on their way at a time.
//!
//! # What it says
//! The kernel streams through memory in small pieces: one to eight bytes a thread and instruction. Device memory is far
//! from its roof although warps wait for nothing else.
//!
//! # Evidence
//! The widths of global accesses in the opcode histogram, long-scoreboard stalls, DRAM or L2 as the busiest unit below
//! what is attainable; the bytes in flight on an SM against what the memory needs.
//!
//! # Why it costs time
//! By Little's law the bytes in flight must reach bandwidth × latency: about 13 kB for each SM of an H200, 6 bytes for
//! each of its 2048 threads. A load of 4 bytes a thread does not get there at any occupancy; the instructions for
//! addresses and bounds come on top, once for each small piece.
//!
//! # What to do
//! Load and store 8 or 16 bytes a thread (float4, uint4, aligned), or give each thread several independent elements.
//!
//! # When it is wrong
//! Where rows start at odd addresses wide accesses are not possible without a peeled start; unrolling still helps.
//!
//! # References
//! CUDA C++ Best Practices Guide, "Device Memory Spaces"; `docs/design/latency.md`.

use ridge_model::arch::WARP_SIZE;

use super::draft::Draft;
use super::saving::{Remedy, Waiting};
use super::{Case, Outcome, in_flight, latency_bound, low_occupancy};
use crate::attainable::attainable;
use crate::document::{Confidence, LatencyVerdict};
use crate::ledger::{Class, Relief, Stage};
use crate::limiter::BUSY;
use crate::mix::{FP16, FP32, FP64, InstructionMix, access_bytes};

pub(super) const ID: &str = "narrow-access";

const NEEDS: &[&str] = &[
    "InstructionStats",
    "MemoryWorkloadAnalysis_Tables",
    "WarpStateStats",
    "SpeedOfLight",
];

/// The widest access of a thread in bytes.
const WIDEST: f64 = 16.0;
/// Halfway between 8 and 16 bytes: at most a quarter of the accesses can go.
const WIDE: f64 = 12.0;
/// Most of the waiting is for global memory, or for the queue before it.
const MOSTLY: f64 = 0.5;
/// Data that is used twice misses once and hits once. A stream has its hits from neighbours in a sector only.
const STREAM_HIT_RATE: f64 = 0.5;
/// A warp that reads 128 bytes from an address off a sector boundary touches five sectors instead of four: one of
/// five. More is a pattern, and a finding of its own.
const EXCESS: f64 = 0.2;

/// The line of `low-occupancy`: below it, warps are missing and that is the finding.
const OCCUPIED: f64 = low_occupancy::ENOUGH;
/// Between 2 and 4 bytes. Lanes with a word each fill four sectors; narrower ones share words.
const WORD: f64 = 3.0;

/// Lanes that read a word each touch as many sectors as a thread moves bytes. With less than half of that most lanes read
/// what others read too, and a wider access brings no more.
const OWN: f64 = 0.5;

/// Loads of a warp from which it waits again and again. An elementwise operation of up to three inputs has fewer.
const AGAIN: f64 = 4.0;
/// Two, less a twentieth for the first and the last turn of a loop, where one is open.
const TWO_OPEN: f64 = 1.9;
/// Compilers unroll loops of independent loads about four times. Where a loop runs for this many turns, and a warp
/// still has hardly more than two loads open, these wait for each other, or for a store that may overlap.
const LONG_LOOP: f64 = 64.0;
const FEW_OPEN: f64 = 3.0;
/// Loads come in whole numbers, and a mean over warps is not exact to a quarter: warps that lack less than that have
/// enough open once SMs are full. A convention.
const OPEN_ENOUGH: f64 = 1.25;

/// Work that is done once for each access and becomes less with wider ones.
const PER_ACCESS: &[Stage] = &[
    Stage::LsuInstructions,
    Stage::FmaHeavy,
    Stage::Alu,
    Stage::Uniform,
    Stage::L1Wavefronts,
    Stage::ConstantRequests,
];

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let Some(mix) = case.mix.filter(|_| !case.stalls.is_empty()) else {
        return Outcome::NotChecked(NEEDS);
    };
    let Some(width) = mean_width(mix, LOADS_AND_STORES) else {
        return Outcome::Clear;
    };
    let waiting = case.waiting_for(&["long_scoreboard", "lg_throttle"]);
    // With few warps on an SM it is they that are missing, not bytes.
    let is_filled = case.waves().is_some_and(|waves| waves >= 1.0)
        && case
            .theoretical_occupancy()
            .is_none_or(|occupancy| occupancy >= OCCUPIED);
    if width >= WIDE || waiting < MOSTLY || !is_filled {
        return Outcome::Clear;
    }
    let (Some(computes), Some(is_stream)) = (computes(case), is_stream(case, width)) else {
        return Outcome::NotChecked(NEEDS);
    };
    if computes || !is_stream {
        return Outcome::Clear;
    }
    // Where SMs run empty while others work, and their warps would do if they had them, it is work that is missing.
    let lacks_only_warps = lacks_only_warps(case);
    if lacks_only_warps == Some(true) {
        return Outcome::Clear;
    }
    // A warp that waits for each of many loads in turn lacks independent work: that is the other finding, and wide
    // accesses are possible in special cases of it only.
    let confidence = match (waits_in_turn(case, width), latency_bound::check(case)) {
        (Some(true), Outcome::Found(_)) => return Outcome::Clear,
        _ if lacks_only_warps.is_none() => Confidence::Low,
        (Some(false), _) | (_, Outcome::Clear) => Confidence::Medium,
        _ => Confidence::Low,
    };
    let kept = width / WIDEST;
    // Arithmetic on the data itself stays.
    let arithmetic: f64 = [FP32, FP64, FP16]
        .iter()
        .map(|list| mix.of_opcodes(list))
        .sum();
    let stays = |all: f64| (arithmetic / all.max(arithmetic).max(1.0)).max(kept);
    let passes = case.ledger.row(Stage::Fma).map_or(0.0, |row| row.demand);
    let relief = PER_ACCESS
        .iter()
        .fold(Relief::none(), |relief, stage| relief.leave(*stage, kept))
        .leave(Stage::Issue, stays(mix.total()))
        .leave(Stage::Fma, stays(passes));
    let remedy = Remedy::new(relief).waiting(Waiting::Hidden);
    let mut title = format!("a thread moves {width:.1} bytes with an access; 16 are possible");
    if let Some(part) = in_flight::part_in_flight(case) {
        title = format!("{title}; {part}");
    }
    let several = in_flight::open_more(case);
    let draft = Draft::new(ID, title)
    .confidence(confidence)
    .seen_against(
        format!("mean width of global accesses ({})", mix.source()),
        width,
        "byte",
        WIDEST,
    )
    .seen(
        "waiting for global memory, share of all waiting",
        waiting,
        "fraction",
    )
    .seen_against(
        "busiest unit, share of the duration",
        case.busiest(),
        "fraction",
        case.ledger
            .busiest()
            .map_or(1.0, |row| attainable(row.stage).share),
    )
    .act(&[
        "load and store 8 or 16 bytes a thread: float4, uint4, half2 pairs, aligned to their size",
        several.as_deref().unwrap_or(SEVERAL),
    ])
    .rises("dram__bytes.sum.per_second")
    .falls("smsp__inst_executed.sum");
    in_flight::describe(draft, case)
        .at(in_flight::waiting_places(case))
        .weigh(case, &remedy, NEEDS)
}

/// Whether what each warp has open is enough, if only all SMs had work all the time. Absent when the input does not tell.
fn lacks_only_warps(case: &Case<'_, '_>) -> Option<bool> {
    if case.balance()? > super::BALANCED {
        return Some(false);
    }
    Some(match case.latency?.verdict? {
        LatencyVerdict::NotEnoughWarps { by_each_warp, .. } => by_each_warp < OPEN_ENOUGH,
        _ => false,
    })
}

/// Whether a warp waits for hardly more than one load at a time, again and again, or for the words of one turn of a long
/// loop. Absent when the input does not tell.
fn waits_in_turn(case: &Case<'_, '_>, width: f64) -> Option<bool> {
    let loads = case.latency?.loads.as_ref()?;
    let threads = case.number("launch__thread_count")?;
    let for_each_warp = loads.count * WARP_SIZE / threads.max(1.0);
    if for_each_warp < AGAIN {
        return Some(false);
    }
    let few = if width >= WORD && for_each_warp >= LONG_LOOP {
        FEW_OPEN
    } else {
        TWO_OPEN
    };
    loads.per_warp.map(|open| open < few)
}

/// Whether instructions are what limits. Absent when the input does not tell.
fn computes(case: &Case<'_, '_>) -> Option<bool> {
    if case.ledger.row(Stage::Issue).is_some() {
        return case
            .ledger
            .busiest()
            .map(|row| row.resource.class() == Class::Compute && row.busy_share >= BUSY);
    }
    let (compute, memory) = (case.speed_of_light.compute?, case.speed_of_light.memory?);
    Some(compute >= memory && compute >= BUSY)
}

/// What to do where the latency model gives no number.
const SEVERAL: &str =
    "let each thread take several independent elements and load them before using them";

const LOADS: &[&str] = &["LDG", "LD", "LDGSTS"];
const LOADS_AND_STORES: &[&str] = &["LDG", "LD", "LDGSTS", "STG", "ST"];

/// Mean width of accesses in bytes a thread; absent when there are none.
pub(super) fn mean_width(mix: &InstructionMix, opcodes: &[&str]) -> Option<f64> {
    let (mut count, mut bytes) = (0.0, 0.0);
    for (opcode, modifiers, executed) in mix.iter() {
        if !opcodes.contains(&opcode) {
            continue;
        }
        count += executed;
        bytes += executed * access_bytes(modifiers);
    }
    (count > 0.0).then(|| bytes / count)
}

/// Whether data passes through once, without excess sectors.
///
/// Absent when the input does not hold the hits.
fn is_stream(case: &Case<'_, '_>, width: f64) -> Option<bool> {
    let sectors = |what: &str| {
        case.number(&format!(
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld{what}.sum"
        ))
    };
    // Bytes that lie side by side are fetched with one sector, used one after the other, and hit.
    if width < WORD {
        return Some(true);
    }
    let all = sectors("")?;
    let hits = sectors("_lookup_hit")? / all.max(1.0);
    let requests = case
        .number("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum")
        .filter(|requests| *requests > 0.0);
    let of_loads = case.mix.and_then(|mix| mean_width(mix, LOADS));
    if requests
        .zip(of_loads)
        .is_some_and(|(requests, width)| all < OWN * width * requests)
    {
        return Some(false);
    }
    let actual = case
        .number("memory_l2_theoretical_sectors_global")
        .unwrap_or(0.0);
    let ideal = case
        .number("memory_l2_theoretical_sectors_global_ideal")
        .unwrap_or(actual);
    Some(hits < STREAM_HIT_RATE && actual - ideal <= EXCESS * actual)
}
