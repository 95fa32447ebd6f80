//! A figure, where it comes from, and how far a row can be trusted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A figure and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fact<T> {
    /// The figure.
    pub value: T,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Seen on a machine: in a profiler's report or a timed run.
    Measured,
    /// Read in a vendor's document or in a named source.
    Documented,
    /// Computed from other figures.
    Derived,
    /// From one secondary source, or from nobody knows where.
    Unverified,
    /// Said by the device or the report itself.
    Attribute,
    /// Given on the command line.
    Given,
    /// What a benchmark's spec says of its kernel, beside a time that was measured.
    Declared,
}

impl Origin {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Documented => "documented",
            Self::Derived => "derived",
            Self::Unverified => "unverified",
            Self::Attribute => "attribute",
            Self::Given => "given",
            Self::Declared => "declared",
        }
    }

    /// The origin that a table names; the last three are no table's to claim.
    pub(super) fn of_table(word: &str) -> Option<Self> {
        [
            Self::Measured,
            Self::Documented,
            Self::Derived,
            Self::Unverified,
        ]
        .into_iter()
        .find(|origin| origin.name().eq_ignore_ascii_case(word))
    }
}

/// How far a row of the table can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Look at the doubts before relying on it.
    Low,
    /// Some figures are doubtful.
    Medium,
    /// Sources agree.
    High,
}

impl Confidence {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    pub(super) fn of(word: &str) -> Option<Self> {
        [Self::Low, Self::Medium, Self::High]
            .into_iter()
            .find(|confidence| confidence.name().eq_ignore_ascii_case(word))
    }
}
