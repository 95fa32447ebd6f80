//! Device-wide memory fences drain the pipes.
//!
//! # What it says
//! Threads execute fences (`__threadfence`, release or acquire operations at device or system scope) often, and wait
//! for all their earlier writes each time.
//!
//! # Evidence
//! Membar stalls and the number of fence instructions.
//!
//! # Why it costs time
//! A fence ends when every earlier access of the thread has reached the scope: a round trip to the L2, or to the host's
//! memory for system scope.
//!
//! # What to do
//! Fence once for a batch of writes, by one thread after a barrier; use the weakest scope that is right (block instead
//! of device); use atomics with release order instead of separate fences.
//!
//! # When it is wrong
//! A protocol between blocks needs its fences; only their number and scope can change.
//!
//! # References
//! CUDA C++ Programming Guide, "Memory Fence Functions"; PTX ISA, memory consistency model.

use super::draft::Draft;
use super::per_instruction::places;
use super::saving::{Remedy, Waiting};
use super::{Case, Outcome, WORTHWHILE};
use crate::ledger::Relief;

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
    let remedy = Remedy::new(Relief::none()).waiting(Waiting::Removed(waiting));
    Draft::new(
        ID,
        format!(
            "{:.0} % of the waiting is for memory fences",
            100.0 * waiting
        ),
    )
    .seen_against(
        "membar stalls, share of all waiting",
        waiting,
        "fraction",
        0.0,
    )
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
