//! Collections of one program on several ranks, beside each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ranks of one program beside each other, kernel by kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ranks {
    /// Who stands out and in what, or that nobody does, in one sentence.
    pub title: String,
    /// One for each collection, by rank where all of them tell one.
    pub members: Vec<RankMember>,
    /// Kernels that more than one rank profiled, the largest summed time first.
    pub kernels: Vec<RankedKernel>,
}

/// A rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankMember {
    /// The `id` of its input.
    pub source: usize,
    /// Its rank.
    pub rank: Option<u64>,
    /// How it is named: by its rank where each rank occurs once, else by its file.
    pub label: String,
}

/// A kernel at one size of grid and block, on all ranks that profiled it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankedKernel {
    /// Name without namespaces, template arguments and parameters.
    pub name: String,
    /// The whole demangled name.
    pub signature: String,
    /// Blocks in the grid: x, y, z.
    pub grid: Option<[u32; 3]>,
    /// Threads in a block: x, y, z.
    pub block: Option<[u32; 3]>,
    /// Places in `kernels` of the document, in the order of `members`; absent where a rank did not profile it.
    pub places: Vec<Option<usize>>,
    /// Median duration on each rank: of its launches as they were timed, where all ranks have such times, else of those
    /// that were profiled.
    pub durations_ns: Vec<Option<f64>>,
    /// The median of those.
    pub median_ns: Option<f64>,
    /// Ranks whose duration stands out, the farthest first: places in `members`.
    pub odd: Vec<usize>,
    /// Whether what binds it is not the same resource on all ranks.
    pub limiters_differ: bool,
    /// Whether the first finding is not the same on all ranks.
    pub first_findings_differ: bool,
}
