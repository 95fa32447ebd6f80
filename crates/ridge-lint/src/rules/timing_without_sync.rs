//! A time is taken before the kernel has ended.
//!
//! # What it says
//! A clock of the host is read around a launch, and nothing waits for the device in between; or the time between two events is asked for,
//! and nothing waits for the second.
//!
//! # How it is seen
//! By the order of calls in a function: a reading of a clock (`std::chrono`, `clock`, `gettimeofday`, `clock_gettime`, `omp_get_wtime`), a
//! launch, the next reading, without a call between the last launch and the reading that waits. Calls of functions of which nothing is known
//! may wait: then the rule is silent.
//!
//! # Why it matters
//! A launch returns at once. What is measured is the time that the host needs to ask for the kernel, some microseconds, whatever the kernel
//! does.
//!
//! # What to do
//! Measure with `cudaEventRecord` before and behind, and `cudaEventSynchronize` on the second; or wait with `cudaDeviceSynchronize()` before
//! the clock is read. `ridge bench` measures kernels.
//!
//! # When it is wrong
//! When the time of the launch itself is what is wanted.

use super::found;
use crate::finding::{Found, Severity};
use crate::model::Model;
use crate::model::host::{Clock, Event, launches};

pub(super) const ID: &str = "timing-without-sync";

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    for function in &model.functions {
        let steps = model.steps(function);
        for region in model.regions(&steps) {
            let (from, to, message) = match region.clock {
                Clock::Host => {
                    let Some((last, _)) = launches(&steps, region).last() else { continue };
                    (last, region.end, "the clock is read before the kernel has ended: nothing waits for the device since its launch")
                }
                Clock::Events => {
                    let Some(elapsed) = region.elapsed else { continue };
                    (region.end, elapsed, "the time between the events is asked for before the second has happened: nothing waits for it")
                }
            };
            let waits = steps[from + 1..to]
                .iter()
                .any(|step| matches!(step.event, Event::Wait | Event::Copy | Event::Allocate | Event::Other));
            if waits {
                continue;
            }
            out.push(found(
                model,
                (ID, Severity::Error),
                steps[to].node,
                message,
                "wait before the clock is read: cudaEventSynchronize(stop) or cudaDeviceSynchronize()",
            ));
        }
    }
}
