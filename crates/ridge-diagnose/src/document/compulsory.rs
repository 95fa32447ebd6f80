//! The least that a computation needs, beside what the kernel did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ledger::Resource;

/// The least that the computation of a kernel needs, as it was given, against what one launch did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Compulsory {
    /// Where the given numbers come from.
    pub origin: Origin,
    /// Bytes that have to cross the interface of the device memory, where they were given.
    pub bytes: Option<CompulsoryBytes>,
    /// Operations of the computation, where they were given.
    pub operations: Option<CompulsoryOperations>,
    /// The largest of the lower bounds at the peaks of this run.
    #[schemars(range(min = 0.0))]
    pub bound_ns: Option<f64>,
    /// The resource that this bound belongs to.
    pub bound_by: Option<Resource>,
    /// The duration of the diagnosed launch over the bound.
    #[schemars(range(min = 0.0))]
    pub gap: Option<f64>,
    /// Upper bound on the fraction of the duration that any change saves which keeps the computation and the pipe.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub saving_ceiling: Option<f64>,
    /// What the gap says.
    pub reading: Option<Reading>,
}

/// Where a number that no counter holds comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Given on the command line.
    CommandLine,
}

/// Bytes given as compulsory against bytes moved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompulsoryBytes {
    /// The bytes that were given.
    #[schemars(range(min = 0.0))]
    pub given: f64,
    /// Bytes that crossed the interface, read and written.
    #[schemars(range(min = 0.0))]
    pub moved: Option<f64>,
    /// Moved over given.
    #[schemars(range(min = 0.0))]
    pub factor: Option<f64>,
    /// Whether the launch moved at least half of them, as far as it was counted. Otherwise they stayed in caches, or more
    /// was given than is compulsory, and they set no bound.
    pub fits: bool,
    /// The time for the given bytes at the peak of the interface in this run.
    #[schemars(range(min = 0.0))]
    pub at_peak_ns: Option<f64>,
    /// The time for the given bytes at the part of the peak that kernels attain.
    #[schemars(range(min = 0.0))]
    pub at_attainable_ns: Option<f64>,
    /// The part of the peak that kernels attain.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub attainable_share: f64,
    /// The counters behind `moved` and the peak.
    pub source: Vec<String>,
}

/// Operations given against operations counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompulsoryOperations {
    /// The operations that were given.
    #[schemars(range(min = 0.0))]
    pub given: f64,
    /// Floating-point operations that were counted; a multiply-add is two. On matrix pipes, integer operations too.
    #[schemars(range(min = 0.0))]
    pub counted: Option<f64>,
    /// Counted over given.
    #[schemars(range(min = 0.0))]
    pub factor: Option<f64>,
    /// Whether at least half of those given were executed as floating-point or matrix operations, as far as they were
    /// counted. Otherwise the computation is another one, and sets no bound.
    pub fits: bool,
    /// The time for the given operations at the peak of the pipe that the kernel uses; absent when it uses several.
    #[schemars(range(min = 0.0))]
    pub at_peak_ns: Option<f64>,
    /// That pipe.
    pub pipe: Option<Resource>,
    /// The counters behind `counted` and the peak.
    pub source: Vec<String>,
}

/// What the gap between a duration and its lower bound says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// Below 1: data stayed in caches, or more was given than is compulsory.
    BelowBound,
    /// Up to 1.5: good.
    Good,
    /// Between: the findings tell where the rest goes.
    Between,
    /// From 5 on: access pattern and occupancy come first.
    Far,
}
