//! Which counters to collect: first those that every finding looks at, then only those that settle what is still open.
//!
//! What the first tier holds was chosen by its passes. Counters of different units share a pass, and the L1 and the L2 need
//! about as many passes for the ledger as the schedulers need for what warps wait for: leaving either out makes the tier
//! hardly shorter, while another run of the program takes a start and counts them alone. So the first tier has both, with
//! instructions, accesses and samples by address. The second is about local memory, for kernels that use it.
//!
//! [`cost`] tells when both are collected in one run.
//!
//! `docs/measurements/collect.md` has the passes, and tells how often the answer is that of the full set.

pub mod cost;
pub mod groups;
mod open;

pub use open::open_questions;

use groups::Group;

/// One step of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Class, ledger, waiting and places.
    First,
    /// What separates the findings that are left.
    Second,
}

impl Tier {
    /// Its number, from 1.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::First => 1,
            Self::Second => 2,
        }
    }

    /// What it is for, in a few words.
    #[must_use]
    pub fn purpose(self) -> &'static str {
        match self {
            Self::First => "class of the limit, ledger, what warps wait for and where",
            Self::Second => "what is in local memory",
        }
    }
}

/// The groups of the first tier.
pub const FIRST: &[&Group] = &[
    &groups::CLOCKS,
    &groups::WARPS,
    &groups::STALLS,
    &groups::MEMORY,
    &groups::L1,
    &groups::CACHES,
    &groups::INSTRUCTIONS,
    &groups::SAMPLES,
    &groups::PEAKS,
];

/// What the other tiers count again, so that their own numbers can be set against a time: it costs no pass of its own.
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
