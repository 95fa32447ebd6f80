//! What the latency model says of a kernel, as evidence and advice for the findings about waiting.

use ridge_model::quantity::Bytes;

use super::Case;
use super::draft::Draft;
use super::per_instruction::places;
use crate::document::{Latency, LatencyLevel, LatencyVerdict, Location};

/// By how much what is in flight has to grow, and how much of that more warps and each warp supply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Missing {
    pub(super) factor: f64,
    pub(super) by_warps: f64,
    pub(super) by_each_warp: f64,
}

/// What is missing in flight; absent where nothing is, and where something else is wrong.
pub(super) fn missing(case: &Case<'_, '_>) -> Option<Missing> {
    match case.latency?.verdict? {
        LatencyVerdict::NotEnoughInFlight {
            factor,
            by_warps,
            by_each_warp,
        }
        | LatencyVerdict::NotEnoughWarps {
            factor,
            by_warps,
            by_each_warp,
        } => Some(Missing {
            factor,
            by_warps,
            by_each_warp,
        }),
        _ => None,
    }
}

/// The level that loads wait for, where less is in flight than it needs.
fn hungry(latency: &Latency) -> Option<&LatencyLevel> {
    let waits_for = latency.loads.as_ref()?.waits_for?;
    let level = latency
        .levels
        .iter()
        .find(|level| level.level == waits_for)?;
    (level.in_flight_bytes_per_sm < level.needed_bytes_per_sm).then_some(level)
}

/// How much of what the level needs is in flight, in words: a part of a title.
pub(super) fn part_in_flight(case: &Case<'_, '_>) -> Option<String> {
    let level = hungry(case.latency?)?;
    Some(format!(
        "{} of the {} that the {} needs are in flight on an SM",
        Bytes::new(level.in_flight_bytes_per_sm),
        Bytes::new(level.needed_bytes_per_sm),
        level.level.label()
    ))
}

/// Advice with a number: how many loads a warp should have open at once. Absent where the model does not tell.
pub(super) fn open_more(case: &Case<'_, '_>) -> Option<String> {
    let now = case.latency?.loads.as_ref()?.per_warp?;
    let missing = missing(case)?;
    let wanted = (now * missing.factor).ceil();
    let with_warps = (now * missing.by_each_warp).ceil();
    let full = if with_warps < wanted {
        format!(", or {with_warps:.0} with full SMs")
    } else {
        String::new()
    };
    Some(format!(
        "have about {wanted:.0} loads open in each warp instead of {now:.1}{full}: load that many elements before using the first"
    ))
}

/// Advice with a number for warps that wait for results of the SM itself. Absent where they wait for something else.
pub(super) fn more_chains(case: &Case<'_, '_>) -> Option<String> {
    let LatencyVerdict::DependentArithmetic { factor } = case.latency?.verdict? else {
        return None;
    };
    Some(format!(
        "work on {:.0} independent results side by side in each thread where it is one now: several accumulators",
        factor.ceil()
    ))
}

/// Where warps wait: for loads where these are most of the waiting, else for anything.
pub(super) fn waiting_places(case: &Case<'_, '_>) -> Vec<Location> {
    const LOADS: &str = "smsp__pcsamp_warps_issue_stalled_long_scoreboard";
    if case.waiting_for(&["long_scoreboard"]) >= 0.5 {
        places(&case.by_instruction(LOADS), case.code)
    } else {
        case.sampled_places()
    }
}

/// Adds what the model measured.
pub(super) fn describe(mut draft: Draft, case: &Case<'_, '_>) -> Draft {
    let Some(latency) = case.latency else {
        return draft;
    };
    let waits_for = latency.loads.as_ref().and_then(|loads| loads.waits_for);
    let level = latency
        .levels
        .iter()
        .find(|level| Some(level.level) == waits_for);
    if let Some(level) = level {
        draft = draft.seen_against(
            format!(
                "bytes in flight on an SM for the {} (throughput x latency)",
                level.level.label()
            ),
            level.in_flight_bytes_per_sm,
            "byte",
            level.needed_bytes_per_sm,
        );
    }
    if let Some(loads) = &latency.loads {
        if let Some((cycles, unloaded)) = loads.cycles.zip(loads.unloaded_cycles) {
            draft = draft.seen_against(
                "cycles that a load takes (long-scoreboard samples by executions)",
                cycles,
                "cycle",
                unloaded,
            );
        }
        if let Some(per_warp) = loads.per_warp {
            const OPEN: &str = "loads that a waiting warp has open";
            // With full SMs, as many more as each warp still lacks.
            draft = match missing(case) {
                Some(missing) => {
                    draft.seen_against(OPEN, per_warp, "load", per_warp * missing.by_each_warp)
                }
                None => draft.seen(OPEN, per_warp, "load"),
            };
        }
    }
    match missing(case) {
        Some(missing) => draft
            .seen_against(
                "growth of what is in flight until a unit is busy",
                missing.factor,
                "",
                1.0,
            )
            .seen_against(
                "part of that growth from full SMs",
                missing.by_warps,
                "",
                1.0,
            ),
        None => draft,
    }
}
