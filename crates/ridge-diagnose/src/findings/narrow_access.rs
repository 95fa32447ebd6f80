//! Each thread moves so few bytes with an instruction that too few bytes are on their way at a time.
//!
//! # What it says
//! The kernel streams through memory in small pieces: one to eight bytes a thread and instruction. Device memory is far
//! from its roof although warps wait for nothing else.
//!
//! # Evidence
//! The widths of global accesses in the opcode histogram, long-scoreboard stalls, DRAM or L2 as the busiest unit below
//! what is attainable.
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
//! CUDA C++ Best Practices Guide, "Device Memory Spaces"; `docs/design/ledger.md`.

use super::draft::Draft;
use super::saving::{Remedy, Waiting};
use super::{Case, Outcome};
use crate::document::Confidence;
use crate::ledger::{Class, Relief, Stage};
use crate::mix::{FP16, FP32, FP64, InstructionMix};

pub(super) const ID: &str = "narrow-access";

const NEEDS: &[&str] = &[
    "InstructionStats",
    "MemoryWorkloadAnalysis_Tables",
    "WarpStateStats",
];

/// The widest access of a thread in bytes.
const WIDEST: f64 = 16.0;
/// Accesses of this mean width are wide enough: most of the gain is had.
const WIDE: f64 = 12.0;
/// Warps must spend at least this part of their waiting on memory.
const MOSTLY: f64 = 0.5;
/// A kernel whose L1 serves more than this re-uses data, and is no stream.
const STREAM_HIT_RATE: f64 = 0.5;
/// More excess sectors than this are a finding of their own.
const EXCESS: f64 = 0.2;

/// Fewer resident warps than this cannot keep memory busy, however wide their accesses.
const OCCUPIED: f64 = 0.6;
/// Narrower accesses than this share words between lanes.
const WORD: f64 = 3.0;
/// A kernel that fills its pipes to this share is limited by them, however wide its accesses.
const COMPUTES: f64 = 0.6;

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
    let Some(width) = mean_width(mix) else {
        return Outcome::Clear;
    };
    let waiting = case.waiting_for(&["long_scoreboard", "lg_throttle"]);
    // With few warps on an SM it is they that are missing, not bytes.
    let is_filled = case.waves().is_some_and(|waves| waves >= 1.0)
        && case
            .theoretical_occupancy()
            .is_none_or(|occupancy| occupancy >= OCCUPIED);
    let computes = case
        .ledger
        .busiest()
        .is_some_and(|row| row.resource.class() == Class::Compute && row.busy_share >= COMPUTES);
    if width >= WIDE || waiting < MOSTLY || !is_filled || computes || !is_stream(case, width) {
        return Outcome::Clear;
    }
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
    Draft::new(
        ID,
        format!("a thread moves {width:.1} bytes with an access; 16 are possible"),
    )
    .confidence(Confidence::Medium)
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
    .seen(
        "busiest unit, share of the duration",
        case.busiest(),
        "fraction",
    )
    .act(&[
        "load and store 8 or 16 bytes a thread: float4, uint4, half2 pairs, aligned to their size",
        "let each thread take several independent elements and load them before using them",
    ])
    .rises("dram__bytes.sum.per_second")
    .falls("smsp__inst_executed.sum")
    .weigh(case, &remedy, NEEDS)
}

/// Mean width of global loads and stores in bytes a thread; absent when there are none.
fn mean_width(mix: &InstructionMix) -> Option<f64> {
    let (mut count, mut bytes) = (0.0, 0.0);
    for (opcode, modifiers, executed) in mix.iter() {
        if !matches!(opcode, "LDG" | "STG" | "LD" | "ST" | "LDGSTS") {
            continue;
        }
        let width = modifiers.split('.').find_map(|modifier| match modifier {
            "U8" | "S8" => Some(1.0),
            "U16" | "S16" => Some(2.0),
            "64" => Some(8.0),
            "128" => Some(16.0),
            _ => None,
        });
        count += executed;
        bytes += executed * width.unwrap_or(4.0);
    }
    (count > 0.0).then(|| bytes / count)
}

/// Whether data passes through once, without excess sectors.
fn is_stream(case: &Case<'_, '_>, width: f64) -> bool {
    let sectors = |what: &str| {
        case.number(&format!(
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld{what}.sum"
        ))
        .unwrap_or(0.0)
    };
    let hits = sectors("_lookup_hit") / sectors("").max(1.0);
    let actual = case
        .number("memory_l2_theoretical_sectors_global")
        .unwrap_or(0.0);
    let ideal = case
        .number("memory_l2_theoretical_sectors_global_ideal")
        .unwrap_or(actual);
    // Bytes that lie side by side are fetched with one sector, used one after the other, and hit.
    width < WORD || (hits < STREAM_HIT_RATE && actual - ideal <= EXCESS * actual)
}
