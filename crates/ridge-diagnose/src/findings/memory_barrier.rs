//! Device-wide memory fences drain the pipes.
//!
//! # What it says
//! Threads execute fences (`__threadfence`, release or acquire operations at device or system scope) often, and wait
//! for all their earlier writes each time.
//!
//! # Evidence
//! Membar stalls and the number of fence instructions. Where loads follow fences: the cycles that a load takes beyond an
//! unloaded one and beyond the queue that the load of the units explains.
//!
//! # Why it costs time
//! A fence ends when every earlier access of the thread has reached the scope: a round trip to the L2, or to the host's
//! memory for system scope. It also throws away the L1 of its SM, for all warps. A load that follows has to come from the
//! L2, and comes after that: where many warps fence one after the other, it waits for their turns too.
//!
//! # What to do
//! Fence once for a batch of writes, by one thread after a barrier; use the weakest scope that is right (block instead
//! of device); use atomics with release order instead of separate fences.
//!
//! # When it is wrong
//! A protocol between blocks needs its fences; only their number and scope can change. Loads that take long although no
//! unit is busy may wait for something else that no counter shows.
//!
//! # References
//! CUDA C++ Programming Guide, "Memory Fence Functions"; PTX ISA, memory consistency model.

use super::draft::Draft;
use super::per_instruction::places;
use super::saving::{Remedy, Waiting};
use super::{Case, Outcome, WORTHWHILE};
use crate::document::Confidence;
use crate::latency::QUEUED;
use crate::ledger::{Relief, Stage};
use crate::limiter::BUSY;
use crate::mix::SCOREBOARD_LOADS;

pub(super) const ID: &str = "memory-barrier";

const NEEDS: &[&str] = &["WarpStateStats", "SpeedOfLight"];
/// All of this waiting goes with the remedy. Where it is less, not even that is worthwhile.
const WORTH: f64 = WORTHWHILE;

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    if case.stalls.is_empty() {
        return Outcome::NotChecked(NEEDS);
    }
    let waiting = case.waiting_for(&["membar"]);
    if waiting < WORTH {
        return Outcome::Clear;
    }
    let held_back = HeldBack::of(case);
    let behind = held_back.as_ref().map_or(0.0, |loads| loads.waiting);
    let fences = Fences::of(case);
    let relief = fences
        .as_ref()
        .map_or_else(Relief::none, |fences| fences.gone(case));
    let remedy = Remedy::new(relief).waiting(Waiting::Removed(waiting + behind));
    let mut title = format!(
        "{:.0} % of the waiting is for memory fences",
        100.0 * waiting
    );
    if let Some(loads) = &held_back {
        title = format!(
            "{title}, and {:.0} % for loads that they hold back: each takes {:.1} times as long as an unloaded one",
            100.0 * loads.waiting,
            loads.cycles / loads.unloaded
        );
    }
    // The stalls are counted; that fences are what holds loads back is derived.
    let mut draft = Draft::new(ID, title)
        .confidence(if held_back.is_none() && tells_loads(case) {
            Confidence::High
        } else {
            Confidence::Medium
        })
        .seen_against(
            "membar stalls, share of all waiting",
            waiting,
            "fraction",
            0.0,
        );
    if let Some(fences) = fences {
        draft = draft.seen_against("MEMBAR instructions", fences.count, "inst", fences.needed);
    }
    if let Some(loads) = &held_back {
        draft = draft
            .seen_against(
                "cycles that a load takes (long-scoreboard samples by executions)",
                loads.cycles,
                "cycle",
                loads.unloaded,
            )
            .seen_against(
                "waiting for loads behind fences, share of all waiting",
                loads.waiting,
                "fraction",
                0.0,
            );
    }
    draft
        .act(&[
            "fence once for a batch of writes: one thread after a block barrier",
            "use the weakest scope that is right: __threadfence_block() inside a block",
            "replace store and fence by an atomic with release order",
        ])
        .falls("smsp__average_warps_issue_stalled_membar_per_issue_active.ratio")
        .at(places(
            &case.by_instruction("smsp__pcsamp_warps_issue_stalled_membar"),
            case.code,
        ))
        .weigh(case, &remedy, NEEDS)
}

/// Fences that throw away the L1, as instructions.
fn thrown_away(case: &Case<'_, '_>) -> Option<f64> {
    Some(case.mix?.with_modifier(&["CCTL"], "IVALL"))
}

/// Whether the input tells how long loads take, or that none can be held back.
fn tells_loads(case: &Case<'_, '_>) -> bool {
    let has_none = thrown_away(case).is_some_and(|fences| fences <= 0.0)
        || case
            .mix
            .is_some_and(|mix| mix.of_opcodes(SCOREBOARD_LOADS) <= 0.0);
    let loads = case.latency.and_then(|latency| latency.loads.as_ref());
    has_none || loads.is_some_and(|loads| loads.cycles.is_some() && loads.unloaded_cycles.is_some())
}

/// What each fence puts on units besides the waiting: its instruction is followed by `ERRBAR`, `CGAERRBAR` and `CCTL`, and
/// these take wavefronts of the L1, of which some are counted as shared memory. Measured on an H200 as the difference of
/// kernels with and without fences in a loop: 5.0 and 5.3 wavefronts, of these 1.9 to 2.0 of shared memory
/// (`knapsack_tables`, `photon_log`, `fence_each`).
const EACH: &[(Stage, f64)] = &[
    (Stage::Issue, 4.0),
    (Stage::L1Wavefronts, 5.0),
    (Stage::SharedWavefronts, 1.9),
];

/// Fences as instructions, and how many are needed: one thread of each block fences for a batch of writes.
struct Fences {
    count: f64,
    needed: f64,
}

impl Fences {
    /// Absent without the instructions.
    fn of(case: &Case<'_, '_>) -> Option<Self> {
        let count = case.mix?.of_opcodes(&["MEMBAR"]);
        let blocks = case.number("launch__grid_size").unwrap_or(count);
        Some(Self {
            count,
            needed: blocks.min(count),
        })
    }

    /// The units without those that are not needed.
    fn gone(&self, case: &Case<'_, '_>) -> Relief {
        let gone = self.count - self.needed;
        EACH.iter().fold(Relief::none(), |relief, &(stage, each)| {
            match case.ledger.row(stage).filter(|row| row.demand > 0.0) {
                Some(row) => relief.leave(stage, (1.0 - each * gone / row.demand).clamp(0.0, 1.0)),
                None => relief,
            }
        })
    }
}

/// Loads that start late, because a fence is in front of them.
struct HeldBack {
    /// Cycles that a load takes.
    cycles: f64,
    /// Cycles that it takes when nothing is in its way.
    unloaded: f64,
    /// What fences add to that, as a part of all waiting.
    waiting: f64,
}

impl HeldBack {
    /// Absent where loads take no longer than queues of the ledger explain, and where nobody knows how long they take.
    ///
    /// A fence of the device's scope ends with an instruction that throws away the L1 (`CCTL.IVALL`), and the next load of
    /// the warp waits until that is done; on an H200 for ten times an unloaded latency, with no unit busier than 13 %
    /// (`photon_log_slow`). So where no unit is busy, what a load takes beyond its unloaded latency and the queue of a unit
    /// at that limit is the fence's. That holds for one load for each fence: later ones may find the L1 as they left it.
    fn of(case: &Case<'_, '_>) -> Option<Self> {
        let loads = case.latency?.loads.as_ref()?;
        let thrown_away = thrown_away(case)?;
        let (cycles, unloaded) = (
            loads.cycles.unwrap_or(loads.exposed_cycles),
            loads.unloaded_cycles?,
        );
        let explained = QUEUED * unloaded;
        if case.busiest() >= BUSY || cycles <= explained || loads.count <= 0.0 {
            return None;
        }
        let behind = (thrown_away / loads.count).min(1.0);
        let waiting = case.waiting_for(&["long_scoreboard"]) * behind * (1.0 - explained / cycles);
        (waiting > 0.0).then_some(Self {
            cycles,
            unloaded,
            waiting,
        })
    }
}
