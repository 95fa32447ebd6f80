//! The kernel is shorter than what it costs to launch it.
//!
//! # What it says
//! Kernels launched back to back start no faster than every 2 to 4 us; this one runs for less than that. Or no SM has a
//! warp for most of what was measured: the duration is what surrounds the kernel, not its work.
//!
//! # Evidence
//! Its duration against the launch period, how little it does, and the share of the duration in which no SM has a warp.
//! Over a whole report: four and more such launches in a row, and how many of them are one kernel at one size.
//!
//! # Why it costs time
//! Whatever it computes, the next launch has to wait for the launch itself.
//!
//! # What to do
//! Do the work in one larger launch, fuse it with its neighbours, or record the sequence as a CUDA graph. One kernel that
//! is launched again and again needs only a larger grid, where its launches do not depend on each other.
//!
//! # When it is wrong
//! A single short kernel between long ones costs little: what counts is how many there are. Idle time that is longer
//! than a launch is not the launch: it comes from the measurement (nodes of a graph that are profiled one by one), from
//! waiting inside a graph, or from copies; no more than a launch is promised for it.
//!
//! # References
//! NVIDIA developer blog, "Getting Started with CUDA Graphs"; `docs/design/ledger.md`, launch period.

use super::{Case, NO_SECTIONS, Outcome};
use crate::attainable::attainable;
use crate::document::{Confidence, Direction, Evidence, Finding, Verify};
use crate::ledger::Resource;
use crate::limiter::{LAUNCH_PERIOD_NS, MOSTLY_IDLE};

pub(super) const ID: &str = "launch-bound";

/// From ten launch periods on, a launch is a tenth of the time or less: what is saved on it is not worthwhile.
const LONG_ENOUGH_NS: f64 = 10.0 * LAUNCH_PERIOD_NS;

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let Some(duration) = case.profile.duration_ns() else {
        return Outcome::NotChecked(NO_SECTIONS);
    };
    if duration < LAUNCH_PERIOD_NS {
        shorter_than_a_launch(case, duration)
    } else if case.idle() > MOSTLY_IDLE {
        idle(case, duration)
    } else {
        Outcome::Clear
    }
}

/// No SM has a warp for most of the duration. Of that, merging launches saves one launch at most.
fn idle(case: &Case<'_, '_>, duration: f64) -> Outcome {
    let idle = case.idle();
    let busy = case.busiest();
    // What is not all of it does not round to it.
    let percent = match 100.0 * idle {
        nearly if (99.5..100.0).contains(&nearly) => ">99".to_owned(),
        percent => format!("{percent:.0}"),
    };
    Outcome::Found(Box::new(Finding {
        id: ID.to_owned(),
        title: format!(
            "no SM has a warp for {percent} % of the {:.0} us: only {:.1} us are the kernel's own",
            duration / 1e3,
            (1.0 - idle) * duration / 1e3
        ),
        saving_ceiling: (1.0 - busy).clamp(0.0, 1.0),
        saving_expected: idle.min(LAUNCH_PERIOD_NS / duration).min(1.0 - busy),
        next_limit: Some(Resource::Launch),
        confidence: Confidence::Low,
        evidence: vec![seen_duration(duration), seen_idle(idle)],
        actions: vec![
            "time it without the profiler: what the profiler does around a launch may be in this duration"
                .to_owned(),
            "do the work of many launches in one, or fuse it with the kernels before and after"
                .to_owned(),
        ],
        verify: vec![Verify {
            metric: "gpu__time_duration.sum".to_owned(),
            direction: Direction::Down,
            target: None,
        }],
        locations: Vec::new(),
    }))
}

fn seen_duration(duration: f64) -> Evidence {
    Evidence {
        metric: "gpu__time_duration.sum".to_owned(),
        value: duration,
        unit: "ns".to_owned(),
        healthy: Some(LONG_ENOUGH_NS),
    }
}

fn seen_idle(idle: f64) -> Evidence {
    Evidence {
        metric: "1 - sm__cycles_active.max / sm__cycles_elapsed.max: no SM has a warp".to_owned(),
        value: idle,
        unit: "fraction".to_owned(),
        healthy: Some(0.0),
    }
}

fn shorter_than_a_launch(case: &Case<'_, '_>, duration: f64) -> Outcome {
    // Each launch takes a whole period. Its work, done in one launch with that of its neighbours, takes as long as the
    // busiest unit works.
    let busiest = case.ledger.busiest();
    let work = busiest.map_or(case.busiest(), |row| row.busy_share) * duration / LAUNCH_PERIOD_NS;
    let within_reach = busiest.map_or(1.0, |row| attainable(row.stage).share);
    Outcome::Found(Box::new(Finding {
        id: ID.to_owned(),
        title: format!(
            "it runs for {:.1} us; kernels follow each other every {:.1} us at best",
            duration / 1e3,
            LAUNCH_PERIOD_NS / 1e3
        ),
        saving_ceiling: (1.0 - work).clamp(0.0, 1.0),
        saving_expected: (1.0 - work / within_reach).clamp(0.0, 1.0),
        next_limit: busiest.map(|row| row.resource).or(Some(Resource::Launch)),
        confidence: Confidence::Medium,
        evidence: [
            seen_duration(duration),
            Evidence {
                metric: "share of a launch period that its busiest unit works".to_owned(),
                value: work,
                unit: "fraction".to_owned(),
                healthy: Some(within_reach),
            },
        ]
        .into_iter()
        .chain(case.idle_share().map(seen_idle))
        .collect(),
        actions: vec![
            "do the work of many launches in one: a larger grid, a loop in the kernel".to_owned(),
            "fuse it with the kernels before and after".to_owned(),
            "record the sequence as a CUDA graph".to_owned(),
        ],
        verify: vec![Verify {
            metric: "gpu__time_duration.sum".to_owned(),
            direction: Direction::Up,
            target: Some(LONG_ENOUGH_NS),
        }],
        locations: Vec::new(),
    }))
}
