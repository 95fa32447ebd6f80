//! What the kernels of one input take together, and how much of that could go.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kernels of one input together: where the time goes, and how much of it the findings could save at most.
///
/// Savings are fractions of `duration_ns`. Each kernel counts with its largest ceiling only, since remedies of one kernel
/// relieve the same resources; what kernels without findings could save is not known and counts as nothing.
/// Findings about several kernels are about the same time and are not added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// The input.
    pub source: usize,
    /// Summed duration of all its launches, also of those that were not selected.
    #[schemars(range(min = 0.0))]
    pub duration_ns: f64,
    /// The kernels that matter: the fewest that take four fifths of the time, or all that were selected if these take
    /// less. An infinitely fast version of everything else saves less than a fifth.
    pub main: Part,
    /// All kernels that were selected.
    pub all: Part,
}

/// Some kernels of an input.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// Places in the list of kernels, those that take most time first.
    pub kernels: Vec<usize>,
    /// Share of the time of the input: no change to these kernels saves more.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub time_share: f64,
    /// Upper bound on what the findings of these kernels save.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub saving_ceiling: f64,
    /// Best estimate of it; verdicts (`at-…`) count for the bound only, since they know of no remedy.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub saving_expected: f64,
}
