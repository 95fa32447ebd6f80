//! Several traces of one program beside each other, such as those of the ranks of a distributed run.

use schemars::JsonSchema;
use serde::Serialize;

/// Ranks of one program beside each other.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Ranks {
    /// Who stands out and in what, or that nobody does, in one sentence.
    pub title: String,
    /// One for each rank, by rank where all of them tell one.
    pub members: Vec<RankRow>,
    /// What stands out, what costs most first.
    pub odd: Vec<Odd>,
    /// Kernels that at least one rank launches, the largest summed time first.
    pub kernels: Vec<RankKernel>,
    /// Who comes last where ranks wait for each other; absent where nobody waits, or the traces do not tell.
    pub last: Option<Last>,
    /// Whether half of the summed time of kernels is in kernels which all launch; else nothing is judged.
    pub is_one_program: bool,
    /// That share.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub common_share: f64,
    /// What limits the comparison.
    pub remarks: Vec<String>,
}

/// What one rank did. Times of several devices are added, and shares are of the span of all of them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RankRow {
    /// A place in `traces`.
    pub trace: usize,
    /// Numbers of its processes, where the trace holds several ranks.
    pub processes: Vec<u64>,
    /// Its rank.
    pub rank: Option<u64>,
    /// How it is named: by its rank where each rank occurs once, else by its file.
    pub label: String,
    /// Devices on which something of it ran.
    pub devices: u64,
    /// From its first start to its last end.
    pub span_ns: f64,
    /// Something ran: a share of the span of its devices.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub busy_share: f64,
    /// Nothing ran.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub idle_share: f64,
    /// A kernel ran.
    pub kernel_ns: f64,
    /// In kernels that wait for other ranks: from its start of a launch to that of the rank that starts last. Absent where
    /// the traces do not tell.
    pub wait_ns: Option<f64>,
    /// A copy ran.
    pub copy_ns: f64,
}

/// A figure in which a rank can stand out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// From first start to last end.
    Span,
    /// Time of kernels, less that of waiting for other ranks.
    KernelTime,
    /// Time of copies.
    CopyTime,
    /// Share of the span in which nothing ran.
    IdleShare,
    /// The median duration of one kernel.
    KernelMedian,
    /// Launches of one kernel.
    Launches,
}

/// A rank that stands out in a figure: farther from the median of all ranks than `limit`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Odd {
    /// A place in `members`.
    pub member: usize,
    /// The figure.
    pub figure: Figure,
    /// The kernel that it is of; a place in `kernels`.
    pub kernel: Option<usize>,
    /// The same in words, with the numbers.
    pub title: String,
    /// Its value: nanoseconds, a share, or a count.
    pub value: f64,
    /// The median of all ranks.
    pub median: f64,
    /// How far from the median a value may lie, as `docs/design/timeline.md` defines it.
    pub limit: f64,
    /// What the difference amounts to, as a share of the median span of the ranks.
    #[schemars(range(min = 0.0))]
    pub span_share: f64,
}

/// A kernel on all ranks.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RankKernel {
    /// The whole name.
    pub name: String,
    /// Median duration on each rank, in the order of `members`; absent where it was not launched.
    pub medians_ns: Vec<Option<f64>>,
    /// Launches on each rank.
    pub launches: Vec<u64>,
    /// The median of the medians.
    pub median_ns: f64,
    /// Share of the summed time of all kernels of all ranks.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub time_share: f64,
    /// How ranks wait for each other in it; absent where they do not, or the traces do not tell.
    pub meeting: Option<Meeting>,
}

/// Launches of a kernel in which all ranks wait for the one that comes last, as collectives do: they begin apart and end
/// together.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Meeting {
    /// Launches that were compared.
    pub launches: u64,
    /// Median time between the first and the last start of a launch.
    pub starts_apart_ns: f64,
    /// The same of its ends.
    pub ends_apart_ns: f64,
    /// How long each rank waited for the last one, all launches together.
    pub waits_ns: Vec<f64>,
    /// In how many launches each rank came last.
    pub came_last: Vec<u64>,
}

/// The rank for which the others wait.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Last {
    /// A place in `members`; absent where ranks take turns.
    pub member: Option<usize>,
    /// Launches of all kernels that wait for other ranks.
    pub launches: u64,
    /// In how many of them it came last.
    pub came_last: u64,
    /// Median of the waits of the other ranks, all launches together; where ranks take turns, of all of them.
    pub wait_ns: f64,
    /// The same as a share of the median span.
    #[schemars(range(min = 0.0))]
    pub span_share: f64,
}
