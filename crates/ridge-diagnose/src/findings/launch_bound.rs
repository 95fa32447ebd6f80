//! The kernel is shorter than what it costs to launch it.
//!
//! # What it says
//! Kernels launched back to back start no faster than every 2 to 4 us; this one runs for less than that.
//!
//! # Evidence
//! Its duration against the launch period, and how little it does.
//!
//! # Why it costs time
//! Whatever it computes, the next launch has to wait for the launch itself.
//!
//! # What to do
//! Do the work in one larger launch, fuse it with its neighbours, or record the sequence as a CUDA graph.
//!
//! # When it is wrong
//! A single short kernel between long ones costs little: what counts is how many there are.
//!
//! # References
//! NVIDIA developer blog, "Getting Started with CUDA Graphs"; `docs/design/ledger.md`, launch period.

use super::{Case, NO_SECTIONS, Outcome};
use crate::attainable::attainable;
use crate::document::{Confidence, Direction, Evidence, Finding, Verify};
use crate::ledger::Resource;
use crate::limiter::LAUNCH_PERIOD_NS;

pub(super) const ID: &str = "launch-bound";

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let Some(duration) = case.profile.duration_ns() else {
        return Outcome::NotChecked(NO_SECTIONS);
    };
    if duration >= LAUNCH_PERIOD_NS {
        return Outcome::Clear;
    }
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
        evidence: vec![
            Evidence {
                metric: "gpu__time_duration.sum".to_owned(),
                value: duration,
                unit: "ns".to_owned(),
                healthy: Some(10.0 * LAUNCH_PERIOD_NS),
            },
            Evidence {
                metric: "share of a launch period that its busiest unit works".to_owned(),
                value: work,
                unit: "fraction".to_owned(),
                healthy: None,
            },
        ],
        actions: vec![
            "do the work of many launches in one: a larger grid, a loop in the kernel".to_owned(),
            "fuse it with the kernels before and after".to_owned(),
            "record the sequence as a CUDA graph".to_owned(),
        ],
        verify: vec![Verify {
            metric: "gpu__time_duration.sum".to_owned(),
            direction: Direction::Up,
            target: Some(10.0 * LAUNCH_PERIOD_NS),
        }],
        locations: Vec::new(),
    }))
}
