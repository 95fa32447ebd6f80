//! The launch has fewer blocks than the device can hold at once.
//!
//! # What it says
//! Some SMs get no block, or each gets so few that most of its warp slots stay empty.
//!
//! # Evidence
//! Waves below one, blocks against SMs; where latency is the reason, the bytes in flight against bandwidth × latency.
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
use super::{Case, Outcome, in_flight};
use crate::document::Confidence;
use crate::limiter::BUSY;

pub(super) const ID: &str = "underfilled-grid";

const NEEDS: &[&str] = &["LaunchStats", "Occupancy", "SpeedOfLight", "WarpStateStats"];

/// Most of the waiting is for results, which more warps hide; barriers and full queues they do not.
const MOSTLY: f64 = 0.5;
/// Below half of a wave a grid twice as large still fits at once: it takes no longer, where latency is what it waits for.
const SPARSE: f64 = 0.5;
/// Fills below a tenth are printed with a decimal, so that two digits are seen.
const ONE_DECIMAL: f64 = 0.1;

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let (Some(waves), Some(multiprocessors)) = (case.waves(), case.multiprocessors()) else {
        return Outcome::NotChecked(NEEDS);
    };
    let Some(blocks) = case.number("launch__grid_size") else {
        return Outcome::NotChecked(NEEDS);
    };
    let leaves_idle = blocks < multiprocessors;
    let latency = case.waiting_for(&["long_scoreboard", "short_scoreboard", "wait"]);
    let is_sparse = waves < SPARSE;
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
    // A few SMs without a block are not what makes the grid small: the empty slots of the others are.
    let leaves_many = blocks < super::BALANCED * multiprocessors;
    let plural = if blocks > 1.0 { "s" } else { "" };
    let fills = if blocks > 1.0 { "fill" } else { "fills" };
    let part = format!(
        "{fills} {:.*} % of what the device can hold at once",
        usize::from(waves < ONE_DECIMAL),
        100.0 * waves
    );
    let title = if leaves_many {
        format!(
            "{blocks:.0} block{plural} leave{} {:.0} of {multiprocessors:.0} SMs without work and {part}",
            if blocks > 1.0 { "" } else { "s" },
            multiprocessors - blocks
        )
    } else {
        format!("{blocks:.0} block{plural} {part}")
    };
    // Where every SM has a block, more work for each warp does what more warps do.
    let advice = in_flight::open_more(case).or_else(|| in_flight::more_chains(case));
    let in_each_thread = advice.as_deref().filter(|_| !leaves_many);
    let draft = Draft::new(ID, title)
        .confidence(if leaves_many {
            Confidence::High
        } else {
            Confidence::Medium
        })
        .seen_against("launch__waves_per_multiprocessor", waves, "wave", 1.0)
        .seen_against("launch__grid_size", blocks, "block", multiprocessors)
        .act(&["launch more and smaller blocks, fewer elements for each thread"])
        .act(in_each_thread.as_slice())
        .act(&[
            "split the long dimension over several blocks and add the parts up (split-K)",
            "run independent launches at the same time in several streams",
        ])
        .rises("launch__waves_per_multiprocessor");
    in_flight::describe(draft, case).weigh(case, &Remedy::hiding(), NEEDS)
}
