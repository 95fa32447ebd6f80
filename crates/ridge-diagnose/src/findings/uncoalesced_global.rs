//! Global accesses of a warp touch more 32-byte sectors than their bytes need.
//!
//! # What it says
//! The lanes of a warp read or write addresses that are far apart (a stride, an array of structures, an index array, a
//! row that does not start at a sector boundary), so that one instruction moves more sectors than its bytes fill.
//!
//! # Evidence
//! `memory_l2_theoretical_sectors_global` against `memory_l2_theoretical_sectors_global_ideal`, by instruction: the
//! profiler computes both from the addresses. Excess is their difference; a broadcast has none.
//!
//! # Why it costs time
//! Every sector passes the tag stage of the L1, the crossbar, the L2 and, when it is not cached, the DRAM interface,
//! whether its bytes are used or not.
//!
//! # What to do
//! Let neighbouring lanes touch neighbouring addresses: walk along rows, turn an array of structures into a structure
//! of arrays, stage through shared memory, sort indices, align rows to 32 bytes.
//!
//! # When it is wrong
//! A gather through indices that nobody can sort has no better pattern; then the ceiling is out of reach. Excess
//! sectors that the L1 serves cost little: then the expected saving is small.
//!
//! # References
//! CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory".

use ridge_model::arch::SECTOR_BYTES;

use super::draft::Draft;
use super::narrow_access::mean_width;
use super::per_instruction::{excess, places, total};
use super::saving::{Remedy, Waiting};
use super::{Case, Outcome};
use crate::attainable::SCATTERED_DRAM;
use crate::document::{Confidence, LatencyVerdict};
use crate::ledger::{Relief, Stage};
use crate::mix::access_bytes;

pub(super) const ID: &str = "uncoalesced-global";

/// From this many sectors for each that is needed on, accesses are scattered and not only misaligned.
const SCATTERED: f64 = 3.0;

/// Sectors of 32 bytes in a cache line of 128.
const SECTORS_OF_A_LINE: f64 = 4.0;

const ACTUAL: &str = "memory_l2_theoretical_sectors_global";
const IDEAL: &str = "memory_l2_theoretical_sectors_global_ideal";
const LOCAL: &str = "memory_l2_theoretical_sectors_local";
/// The first holds the access patterns, the second the ledger that they are weighed with.
const NEEDS: &[&str] = &["SourceCounters", "MemoryWorkloadAnalysis_Tables"];

const LOADS: &[&str] = &["LDG", "LD"];
const STORES: &[&str] = &["STG", "ST"];

/// The stages that a sector of a global access passes.
const SECTOR_STAGES: &[Stage] = &[
    Stage::L1Wavefronts,
    Stage::L1Writeback,
    Stage::L1Fill,
    Stage::L1Store,
    Stage::L2Requests,
    Stage::L2Sectors,
    Stage::L2Return,
    Stage::L2Write,
    Stage::DramBytes,
];

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let metrics = &case.profile.metrics;
    let (Some(actual), Some(ideal)) = (total(metrics, ACTUAL), total(metrics, IDEAL)) else {
        return Outcome::NotChecked(NEEDS);
    };
    if actual <= 0.0 || ideal >= actual {
        return Outcome::Clear;
    }
    // Sectors of local memory take the same way and stay.
    let all = actual + total(metrics, LOCAL).unwrap_or(0.0);
    let kept = 1.0 - (actual - ideal) / all;
    // At most, every stage that sectors pass shrinks in proportion.
    let writeback = writeback_kept(case, kept);
    let relieve = |dram: f64, requests: f64| {
        SECTOR_STAGES.iter().fold(Relief::none(), |relief, stage| {
            let kept = match stage {
                Stage::DramBytes => dram,
                Stage::L1Writeback => writeback,
                Stage::L2Requests => requests,
                _ => kept,
            };
            relief.leave(*stage, kept)
        })
    };
    // As a rule DRAM moves each sector that is needed once: no more than that can fall away, and nothing when the
    // caches already catch the excess.
    let dram = case
        .ledger
        .row(Stage::DramBytes)
        .filter(|row| row.unit == "byte" && row.demand > 0.0);
    let dram_kept = dram.map_or(kept, |row| {
        let sectors = row.demand / SECTOR_BYTES;
        (kept * all / sectors).clamp(kept, 1.0)
    });
    // Far apart, each sector opens a row of the memory of its own: it is saturated earlier.
    let scattered = if actual >= SCATTERED * ideal {
        case.busy(Stage::DramBytes) / SCATTERED_DRAM.share
    } else {
        0.0
    };
    let requests = requests_kept(case, kept * all).unwrap_or(kept);
    let remedy = Remedy::new(relieve(kept, requests.min(kept)))
        .likely(relieve(dram_kept, requests))
        .saturated(scattered);
    // Bound by something else, the kernel may be bound by its accesses in a part.
    let is_busiest = case
        .ledger
        .busiest()
        .is_some_and(|row| SECTOR_STAGES.contains(&row.stage));
    let verdict = case.latency.and_then(|latency| latency.verdict);
    let (remedy, confidence) = match verdict {
        _ if is_busiest => (remedy, Confidence::High),
        Some(LatencyVerdict::AccessTooExpensive { factor }) => (
            remedy.waiting(Waiting::Removed(queued(case, factor) * (1.0 - kept))),
            Confidence::High,
        ),
        Some(_) => (remedy, Confidence::High),
        None => (remedy, Confidence::Medium),
    };
    let title = format!(
        "global accesses touch {:.1} times the sectors that their bytes need ({:.0} % of the sectors are excess)",
        actual / ideal.max(1.0),
        100.0 * (1.0 - ideal / actual)
    );
    let mut draft = Draft::new(ID, title)
        .confidence(confidence)
        .seen_against(ACTUAL, actual, "sector", ideal)
        .seen(IDEAL, ideal, "sector");
    for operation in ["ld", "st"] {
        let name = |what: &str| format!("l1tex__t_{what}_pipe_lsu_mem_global_op_{operation}.sum");
        if let (Some(sectors), Some(requests)) = (
            case.number(&name("sectors")),
            case.number(&name("requests")),
        ) && requests > 0.0
        {
            let metric = format!("{} / {}", name("sectors"), name("requests"));
            // Lanes side by side fill as many sectors as each of them moves bytes.
            let opcodes = if operation == "ld" { LOADS } else { STORES };
            draft = match case.mix.and_then(|mix| mean_width(mix, opcodes)) {
                Some(width) => draft.seen_against(
                    metric,
                    sectors / requests,
                    "sector/request",
                    width.min(sectors / requests),
                ),
                None => draft.seen(metric, sectors / requests, "sector/request"),
            };
        }
    }
    draft
        .act(&[
            "let neighbouring lanes of a warp touch neighbouring addresses: walk along rows, not columns",
            "store fields that are used together in arrays of their own (structure of arrays)",
            "where the pattern has to stay, load whole rows into shared memory and pick from there",
            "sort or group indices of gathers; align rows to 32 bytes",
        ])
        .reaches("derived__memory_l2_theoretical_sectors_global_excessive", 0.0)
        .falls("lts__t_requests.sum")
        .at(places(&excess(metrics, ACTUAL, IDEAL), case.code))
        .weigh(case, &remedy, NEEDS)
}

/// The part of the requests to the L2 that is left. A request asks for sectors of one line of 128 bytes: lanes that touch
/// lines far apart need one for each sector, neighbouring ones one for four.
fn requests_kept(case: &Case<'_, '_>, sectors: f64) -> Option<f64> {
    let requests = case.number("lts__t_requests_srcunit_tex.sum")?;
    Some((sectors / SECTORS_OF_A_LINE / requests.max(1.0)).min(1.0))
}

/// Of the waiting, the part that loads spend in queues.
///
/// A kernel that is bound by its accesses in one part and by something else in another shows neither unit as busy. What
/// tells is that a load takes longer than an unloaded one, by this factor: the rest of its time it queued.
fn queued(case: &Case<'_, '_>, factor: f64) -> f64 {
    let queueing = (1.0 - 1.0 / factor).clamp(0.0, 1.0);
    case.waiting_for(&["long_scoreboard"]) * queueing + case.waiting_for(&["lg_throttle"])
}

/// The part of the way from the L1 to the registers that is left.
///
/// The data of a warp comes back in as many cycles as it has pieces; in one piece it takes a cycle for 4 bytes a lane.
fn writeback_kept(case: &Case<'_, '_>, kept: f64) -> f64 {
    let row = case
        .ledger
        .row(Stage::L1Writeback)
        .filter(|row| row.demand > 0.0);
    let (Some(row), Some(mix)) = (row, case.mix) else {
        return 1.0;
    };
    let in_one_piece: f64 = mix
        .iter()
        .filter(|(opcode, ..)| matches!(*opcode, "LDG" | "LD"))
        .map(|(_, modifiers, count)| count * (access_bytes(modifiers) / 4.0).max(1.0))
        .sum();
    (in_one_piece / row.demand).clamp(kept, 1.0)
}
