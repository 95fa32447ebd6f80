//! How Ridgepoint itself collected an input: in tiers, from a program that it ran.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A collection in tiers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Collected {
    /// The program and its arguments.
    pub target: Vec<String>,
    /// The code that the program returned, where it was not zero; that of a signal is its number.
    pub target_code: Option<i32>,
    /// The signal that ended the program, where the recording saw it.
    #[serde(default)]
    #[schemars(!default)]
    pub target_signal: Option<i32>,
    /// Where launches and their times are from.
    pub launches_from: LaunchesFrom,
    /// What the recording of the first run says about the program as a whole; absent where there is none.
    #[serde(default)]
    #[schemars(!default)]
    pub traced: Option<Traced>,
    /// Launches that were seen.
    pub launches: u64,
    /// Kernels that were seen, each size of grid and block for itself.
    pub kernels_seen: u64,
    /// Kernels that were profiled.
    pub kernels_profiled: u64,
    /// The share of the time of all launches that those take.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub covered: f64,
    /// What was run, in order.
    pub tiers: Vec<CollectedTier>,
    /// Which process of a distributed run it is, where the environment told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<CollectedRank>,
}

/// The place of a process among those of a distributed run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CollectedRank {
    /// Its place among all processes, from 0.
    pub number: u64,
    /// Its place among those of its host.
    pub local: Option<u64>,
    /// How many processes there are.
    pub size: Option<u64>,
    /// The variable of the environment that told it.
    pub told_by: String,
}

/// Where launches and their times are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LaunchesFrom {
    /// A run of the profiler that timed every launch once and counted nothing: launches one after the other, caches as they
    /// were. No trace of a run without a profiler.
    TimingPass,
    /// A recording of a run without the profiler, in which launches ran as they always do.
    Trace,
}

/// What the recording of a program says about it as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Traced {
    /// The recording, beside the file that tells of it; absent where it was not kept.
    pub file: Option<String>,
    /// From the first start to the last end of what ran on the GPU with the longest span.
    #[schemars(range(min = 0.0))]
    pub span_ns: Option<f64>,
    /// The share of that in which something ran there.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub busy_share: Option<f64>,
    /// What bounds the program, in words; absent where that is not told.
    pub verdict: Option<String>,
    /// Whether most of the span is kernels, so that kernels are what to look at first.
    pub is_bound_by_kernels: bool,
    /// The first finding about the program, by its name; absent where there is none.
    pub finding: Option<String>,
    /// Why the profiler may count launches otherwise than the recording, in sentences.
    pub differences: Vec<String>,
}

/// One run of the program: recorded, or under the profiler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CollectedTier {
    /// Its number: 0 is the look at the launches.
    pub tier: u8,
    /// What it was for.
    pub purpose: String,
    /// The command, as a shell takes it.
    pub command: String,
    /// The recording or report, beside the file that tells of it; absent where none was written.
    pub report: Option<String>,
    /// Launches that were recorded or profiled.
    pub launches: u64,
    /// Passes over a launch: the smallest and the largest number; absent for a recording.
    pub passes: Option<(u64, u64)>,
    /// How long the program and what looked at it took together.
    #[schemars(range(min = 0.0))]
    pub wall_s: f64,
    /// What went wrong.
    pub failure: Option<String>,
}

/// The launches of a kernel as they were timed apart from the counters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timed {
    /// How many.
    pub launches: u64,
    /// GPU time of all of them.
    #[schemars(range(min = 0.0))]
    pub total_ns: f64,
    /// Their median.
    #[schemars(range(min = 0.0))]
    pub median_ns: f64,
}
