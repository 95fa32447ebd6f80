//! Warps wait for results, no unit is busy, and too few independent requests are under way.
//!
//! # What it says
//! Each warp has one or few requests open and waits for them before it does the next thing: a chain of dependent loads
//! or operations, a loop that is not unrolled, or few warps on each SM although more would fit. The title tells which:
//! too little in flight, results of arithmetic, or accesses that each take longer than they have to.
//!
//! # Evidence
//! Long-scoreboard, short-scoreboard or fixed-latency stalls, no unit of the ledger near its capacity, few eligible
//! warps. Where samples by instruction are there: the bytes in flight against bandwidth × latency, the cycles that a
//! load takes against an unloaded one, and the loads that a warp has open.
//!
//! # Why it costs time
//! By Little's law throughput is what is in flight over the latency. The latency is given; what is in flight is not.
//!
//! # What to do
//! Give each thread more independent work: unroll, load several elements before the first is used, keep several
//! accumulators, prefetch with asynchronous copies; launch more threads where the grid is small.
//!
//! # When it is wrong
//! A chain that follows pointers cannot be unrolled; several chains for each thread can run side by side. Where each
//! access takes much longer than an unloaded one, more of them may only queue: then the finding is less sure.
//!
//! # References
//! V. Volkov, "Better performance at lower occupancy"; CUDA C++ Best Practices Guide, "Hiding Register Dependencies";
//! `docs/design/latency.md`.

use super::draft::Draft;
use super::saving::Remedy;
use super::{Case, Outcome, in_flight};
use crate::document::{Confidence, LatencyVerdict};
use crate::limiter::BUSY;

pub(super) const ID: &str = "latency-bound";

const NEEDS: &[&str] = &["WarpStateStats", "SchedulerStats", "SpeedOfLight"];

/// A clear majority: the rest, barriers and queues of the load/store unit, is not hidden by independent work. A
/// convention: up to 75 % separates the labelled pairs alike, and at 40 % kernels are caught whose waiting has other
/// reasons.
const MOSTLY: f64 = 0.6;
/// Reasons that are plain latency: the result of an instruction that was issued.
const LATENCIES: &[&str] = &["long_scoreboard", "short_scoreboard", "wait", "gmma"];
/// A scheduler issues one instruction in a cycle. With one warp ready in each, issue is the limit and not latency.
const ELIGIBLE: f64 = 1.0;

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let eligible = case.number("smsp__warps_eligible.avg.per_cycle_active");
    let (Some(eligible), false) = (eligible, case.stalls.is_empty()) else {
        return Outcome::NotChecked(NEEDS);
    };
    let waiting = case.waiting_for(LATENCIES);
    if case.busiest() >= BUSY || waiting < MOSTLY || eligible >= ELIGIBLE {
        return Outcome::Clear;
    }
    let resident = case
        .number("smsp__warps_active.avg.per_cycle_active")
        .unwrap_or(0.0);
    let latency = case
        .number("smsp__average_warp_latency_per_inst_issued.ratio")
        .unwrap_or(0.0);
    let most = case
        .latency
        .and_then(|latency| latency.warps.as_ref()?.most);
    let verdict = case.latency.and_then(|latency| latency.verdict);
    let title = match verdict {
        Some(LatencyVerdict::DependentArithmetic { factor }) => format!(
            "{resident:.1} warps a scheduler wait for results of instructions in the SM; {factor:.1} times as many independent ones would keep a unit busy"
        ),
        Some(LatencyVerdict::AccessTooExpensive { factor }) => format!(
            "each load takes {factor:.1} times as long as an unloaded one, and {resident:.1} warps a scheduler do not hide that"
        ),
        _ => in_flight::part_in_flight(case).map_or_else(
            || format!("{resident:.1} warps a scheduler, each waiting {latency:.0} cycles for its next instruction, keep nothing busy"),
            |part| format!("{resident:.1} warps a scheduler: {part}"),
        ),
    };
    let is_expensive = matches!(verdict, Some(LatencyVerdict::AccessTooExpensive { .. }));
    let first: &[&str] = if is_expensive {
        &[
            "make each access cheaper: fewer sectors for a request, fewer atomics, addresses that spread over the memory",
        ]
    } else {
        &[]
    };
    let advice = in_flight::open_more(case).or_else(|| in_flight::more_chains(case));
    let draft = Draft::new(ID, title)
        .confidence(if is_expensive {
            Confidence::Low
        } else {
            Confidence::Medium
        })
        .seen_against(
            "smsp__warps_eligible.avg.per_cycle_active",
            eligible,
            "warp",
            ELIGIBLE,
        )
        .seen_against(
            "smsp__warps_active.avg.per_cycle_active",
            resident,
            "warp",
            most.unwrap_or(resident),
        )
        // With so many warps, a scheduler issues in each cycle when each of them is ready again after as many.
        .seen_against(
            "smsp__average_warp_latency_per_inst_issued.ratio",
            latency,
            "cycle",
            resident,
        )
        .seen(
            "waiting for results, share of all waiting",
            waiting,
            "fraction",
        )
        .act(first)
        .act(&[advice.as_deref().unwrap_or(UNROLL)])
        .act(&[
            "break chains: several accumulators, several lists side by side",
            "launch more threads, or prefetch with asynchronous copies into shared memory",
        ])
        .rises("smsp__warps_eligible.avg.per_cycle_active")
        .rises("smsp__issue_active.avg.per_cycle_active");
    in_flight::describe(draft, case)
        .at(in_flight::waiting_places(case))
        .weigh(case, &Remedy::hiding(), NEEDS)
}

/// What to do where the model gives no number.
const UNROLL: &str = "give each thread independent work: unroll the loop and load several elements before using the first";
