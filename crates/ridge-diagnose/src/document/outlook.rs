//! What limits next where no finding is offered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Resource, Stall};

/// What limits a kernel about which there is no finding, and why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outlook {
    /// All of it in words.
    pub summary: String,
    /// What limits next: the busiest resource, or `latency` where none is busy.
    pub next_limit: Resource,
    /// The busiest resource, also where it does not bind.
    pub busiest: Resource,
    /// The share of the duration for which that was busy: nothing that leaves its work makes the kernel shorter.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub busy_share: f64,
    /// The share that kernels attain on that unit; absent where the ledger has no row for it.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub attainable_share: Option<f64>,
    /// Where that share comes from.
    pub attainable_source: Option<String>,
    /// What warps wait for longest; absent when it was not collected, and where they hardly wait.
    pub waits_for: Option<Stall>,
    /// Flaws that are left out because they promise too little, those that promise most first.
    pub left_out: Vec<LeftOut>,
}

/// A flaw that promises less than what is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// The finding.
    pub id: String,
    /// What its remedy is expected to save.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub saving_expected: f64,
}
