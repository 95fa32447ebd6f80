//! Which counters to collect, and what they cost.
//!
//! What is in the list was chosen by its passes. Counters of different units share a pass, and the L1 and the L2 need about as
//! many passes for the ledger as the schedulers need for what warps wait for: leaving either out makes the list hardly
//! shorter, while another run of the program takes a start and counts them alone. What is in local memory, which few kernels
//! ask, takes one pass more. So there is one list, for one run.
//!
//! `docs/measurements/collect.md` has the passes, and tells how often the answer is that of the full set.

pub mod groups;

use groups::Group;

/// How often the profiler runs a launch, as counted on compute capability 9.0 (`docs/measurements/collect.md`).
pub mod passes {
    /// For the counters of a diagnosis.
    pub const OF_COUNTERS: u64 = 12;
    /// For the full set.
    pub const OF_FULL_SET: u64 = 38;
}

/// What a diagnosis needs of a kernel.
pub const COUNTERS: &[&Group] = &[
    &groups::CLOCKS,
    &groups::WARPS,
    &groups::STALLS,
    &groups::MEMORY,
    &groups::L1,
    &groups::CACHES,
    &groups::INSTRUCTIONS,
    &groups::SAMPLES,
    &groups::LOCAL,
    &groups::PEAKS,
];

/// What comes first in every list, so that its numbers can be set against a time: it costs no pass of its own.
const TIME: &[&str] = &[
    "gpu__time_duration.sum",
    "gpc__cycles_elapsed.avg.per_second",
];

/// The metrics of groups, each once, with the time first.
#[must_use]
pub fn metrics(groups: &[&Group]) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = TIME.to_vec();
    for name in groups.iter().flat_map(|group| group.metrics) {
        if !names.contains(name) {
            names.push(name);
        }
    }
    names
}
