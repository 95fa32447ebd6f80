//! The launch has fewer blocks than the device can hold at once.
//!
//! # What it says
//! Some SMs get no block, or each gets so few that most of its warp slots stay empty.
//!
//! # Evidence
//! Waves below one, blocks against SMs, the least active SM against the average.
//!
//! # Why it costs time
//! An SM without a block does nothing for the whole duration; one with few warps cannot hide latency.
//!
//! # What to do
//! Launch more blocks: smaller tiles, one element a thread instead of many, split the long dimension (split-K) and add
//! the parts up.
//!
//! # When it is wrong
//! When the whole problem is small, no grid fills the device: then fewer, larger launches or a smaller device are the
//! answer.
//!
//! # References
//! CUDA C++ Best Practices Guide, "Thread and Block Heuristics".

use super::draft::Draft;
use super::saving::Remedy;
use super::{Case, Outcome};
use crate::document::Confidence;

pub(super) const ID: &str = "underfilled-grid";

const NEEDS: &[&str] = &["LaunchStats", "Occupancy", "SpeedOfLight", "WarpStateStats"];

/// From this share on the SMs that have work are busy enough.
const BUSY: f64 = 0.6;
/// Part of the waiting that must be latency where every SM has a block.
const MOSTLY: f64 = 0.5;

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let (Some(waves), Some(multiprocessors)) = (case.waves(), case.multiprocessors()) else {
        return Outcome::NotChecked(NEEDS);
    };
    let Some(blocks) = case.number("launch__grid_size") else {
        return Outcome::NotChecked(NEEDS);
    };
    let leaves_idle = blocks < multiprocessors;
    let latency = case.waiting_for(&["long_scoreboard", "short_scoreboard", "wait"]);
    let is_sparse = waves < 0.5;
    let is_thin = is_sparse && latency >= MOSTLY;
    if waves >= 1.0 || case.busiest() >= BUSY {
        return Outcome::Clear;
    }
    if is_sparse && !leaves_idle && case.stalls.is_empty() {
        return Outcome::NotChecked(NEEDS);
    }
    if !leaves_idle && !is_thin {
        return Outcome::Clear;
    }
    let title = if leaves_idle {
        format!(
            "{blocks:.0} {} {:.0} of {multiprocessors:.0} SMs without work",
            if blocks > 1.0 {
                "blocks leave"
            } else {
                "block leaves"
            },
            multiprocessors - blocks
        )
    } else {
        format!(
            "{blocks:.0} blocks fill {:.0} % of what the device can hold at once",
            100.0 * waves
        )
    };
    Draft::new(ID, title)
        .confidence(if leaves_idle {
            Confidence::High
        } else {
            Confidence::Medium
        })
        .seen_against("launch__waves_per_multiprocessor", waves, "wave", 1.0)
        .seen_against("launch__grid_size", blocks, "block", multiprocessors)
        .act(&[
            "launch more and smaller blocks, fewer elements for each thread",
            "split the long dimension over several blocks and add the parts up (split-K)",
            "run independent launches at the same time in several streams",
        ])
        .rises("launch__waves_per_multiprocessor")
        .rises("sm__cycles_active.avg")
        .weigh(case, &Remedy::hiding(), NEEDS)
}
