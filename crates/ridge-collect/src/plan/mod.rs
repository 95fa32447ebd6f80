//! Which counters to collect: few first, and then only those that settle what is still open.
//!
//! The first tier tells the class of the limit and the ledger of resources, with instructions and accesses, but not what
//! warps wait for. The second adds that, and what tells spilled registers from arrays, for kernels in which it can change
//! the answer. The third samples instructions where a place in the source helps and was not sampled yet.

pub mod groups;
mod open;

pub use open::{needs_place, open_questions};

use groups::Group;

/// One step of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Class and ledger.
    First,
    /// What separates the findings that are left.
    Second,
    /// Where.
    Third,
}

impl Tier {
    /// Its number, from 1.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::First => 1,
            Self::Second => 2,
            Self::Third => 3,
        }
    }

    /// What it is for, in a few words.
    #[must_use]
    pub fn purpose(self) -> &'static str {
        match self {
            Self::First => "class of the limit, ledger, instructions and accesses",
            Self::Second => "what separates the findings that are left",
            Self::Third => "where in the code",
        }
    }
}

/// The groups of the first tier.
pub const FIRST: &[&Group] = &[
    &groups::CLOCKS,
    &groups::WARPS,
    &groups::MEMORY,
    &groups::L1,
    &groups::CACHES,
    &groups::INSTRUCTIONS,
    &groups::PEAKS,
];

/// What each later tier counts again, so that its own numbers can be set against a time: it costs no pass of its own.
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
