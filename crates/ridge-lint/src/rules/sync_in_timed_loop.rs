//! A loop that is timed waits, allocates or copies in each round.
//!
//! # What it says
//! Inside a timed part there is a loop that launches a kernel, and in the same loop the host waits for the device, allocates memory or
//! copies.
//!
//! # How it is seen
//! By the calls between two readings of a clock or two events: a launch and a call such as `cudaDeviceSynchronize`, `cudaMalloc`,
//! `cudaFree` or `cudaMemcpy` in one loop.
//!
//! # Why it matters
//! The time contains what the host does: each wait adds the cost of a launch to the time of a kernel, some microseconds, and allocations
//! and copies add their own. Short kernels seem many times slower than they are.
//!
//! # What to do
//! Launch all rounds, then wait once. Allocate before the loop. Or take the time of each round with events of its own.
//!
//! # When it is wrong
//! When the whole of it is to be measured, as an application does it.

use super::found;
use crate::finding::{Found, Severity};
use crate::model::Model;
use crate::model::host::{Event, launches};

pub(super) const ID: &str = "sync-in-timed-loop";

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    let tree = &model.tree;
    for function in &model.functions {
        let steps = model.steps(function);
        for region in model.regions(&steps) {
            let begin = steps[region.begin].node;
            let loops: Vec<_> = launches(&steps, region)
                .filter_map(|(at, _)| model.loop_since(steps[at].node, begin))
                .collect();
            for step in &steps[region.begin + 1..region.end.max(region.begin + 1)] {
                let what = match step.event {
                    Event::Wait => "waits for the device",
                    Event::Allocate => "allocates or frees memory",
                    Event::Copy => "copies and waits for the copy",
                    _ => continue,
                };
                if !loops.iter().any(|around| tree.is_within(step.node, *around)) {
                    continue;
                }
                out.push(found(
                    model,
                    (ID, Severity::Warning),
                    step.node,
                    format!("each round of the timed loop {what}: that is part of the time"),
                    "move it out of the loop that is timed",
                ));
            }
        }
    }
}
