//! What a timeline says, as every output format shows it: the contract of `ridge timeline --format json`.
//!
//! Fields are only ever added within a version. Fractions are 0 to 1, times are nanoseconds, sizes are bytes, and what is
//! not known is `null`.

mod ranks;

use ridge_model::device::Origin;
use schemars::JsonSchema;
use serde::Serialize;

pub use self::ranks::{Figure, Last, Meeting, Odd, RankKernel, RankRow, Ranks};
pub use crate::analysis::{GapClass, HostCause};
use crate::timeline::{CallClass, CopyKind, Memory, SourceKind};

/// Name of the contract.
pub const SCHEMA: &str = "ridgepoint.timeline";
/// Its version.
pub const VERSION: u32 = 1;

/// The timelines of all inputs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "Timeline")]
pub struct Document {
    /// Always `ridgepoint.timeline`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// One for each input, in the order in which they were named.
    pub traces: Vec<Trace>,
    /// The traces, or the ranks in one of them, beside each other; absent where there is only one.
    pub ranks: Option<Ranks>,
    /// What could not be read, and what makes the answer less certain.
    pub warnings: Vec<Warning>,
}

/// What one input says.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Trace {
    /// The file as it was named.
    pub file: String,
    /// What wrote it.
    pub kind: SourceKind,
    /// Version of the tool that wrote it.
    pub tool_version: Option<String>,
    /// Its place among the processes of a distributed run; absent where the trace tells none, or holds several.
    pub rank: Option<u64>,
    /// How many processes the run has.
    pub world_size: Option<u64>,
    /// What told the rank: a variable of the environment of the process, or a field of the trace.
    pub rank_told_by: Option<String>,
    /// The part of the trace that all figures are of; absent where it is the whole.
    pub range: Option<Range>,
    /// Numbers of the processes that have records.
    pub processes: Vec<u64>,
    /// What bounds the program; absent where nothing ran on a GPU.
    pub verdict: Option<Verdict>,
    /// Flaws, the largest saving first.
    pub findings: Vec<Finding>,
    /// What the trace does not let us check.
    pub not_checked: Vec<NotChecked>,
    /// One for each device on which something ran.
    pub devices: Vec<Device>,
    /// Functions of the runtime and driver, by the time spent in them.
    pub calls: Vec<CallRow>,
    /// Time that the profiler itself took, as the trace says.
    pub profiler_ns: f64,
    /// What the trace holds and what not.
    pub completeness: Completeness,
}

/// A part of a trace: a span of time. What reaches over its borders counts with its part inside.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Range {
    /// The name of the range; absent where times were asked for.
    pub name: Option<String>,
    /// Which of the ranges of that name it is, from 1.
    pub place: u64,
    /// How many ranges have the name.
    pub of: u64,
    /// When it begins, from the first record of the trace. All other times count from here.
    pub start_ns: f64,
    /// How long it is, which is the span of every device.
    pub length_ns: f64,
    /// Work that reaches over its borders.
    pub cut_work: u64,
    /// Work that was asked for in it, and ran only after it: it is left out.
    pub later_work: u64,
}

/// What bounds a program.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Verdict {
    /// What most of the span of the busiest device goes to.
    pub bound: Bound,
    /// In words, with numbers.
    pub title: String,
    /// The number of the device that it is about: the one with the longest span.
    pub device: u64,
}

/// What most of a span goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Kernels: look into them with `ridge why`.
    Kernels,
    /// Copies that no kernel hides.
    Copies,
    /// The device waits for the host.
    Host,
    /// The device is idle for other reasons.
    Idle,
}

/// What a device did. Intervals that overlap count once.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Device {
    /// The number that the trace gives it.
    pub number: u64,
    /// Its name.
    pub name: Option<String>,
    /// Its compute capability, such as `9.0`.
    pub compute_capability: Option<String>,
    /// Pieces of work.
    pub counts: Counts,
    /// From its first start to its last end; of a part of a trace its whole length.
    pub span_ns: f64,
    /// Something ran.
    pub busy_ns: f64,
    /// Nothing ran: `span_ns - busy_ns`.
    pub idle_ns: f64,
    /// A kernel ran.
    pub kernel_ns: f64,
    /// A copy ran.
    pub copy_ns: f64,
    /// Memory was set.
    pub memset_ns: f64,
    /// A copy and no kernel ran.
    pub copy_exposed_ns: f64,
    /// A copy and a kernel ran.
    pub overlap_ns: f64,
    /// Its streams, the busiest first.
    pub streams: Vec<Stream>,
    /// Times at which it had nothing to do.
    pub gaps: Gaps,
    /// From the call to the start of the work.
    pub launches: Launches,
    /// Kernels by name, the largest summed time first.
    pub kernels: Vec<Kernel>,
    /// Copies by direction and memory, the largest summed time first.
    pub transfers: Vec<Transfer>,
    /// The launch sequence that repeats most, which a graph could replay.
    pub sequence: Option<Sequence>,
}

/// Pieces of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counts {
    /// Kernels.
    pub kernels: u64,
    /// Copies.
    pub copies: u64,
    /// Settings of memory.
    pub memsets: u64,
    /// Graphs that the trace has as a whole.
    pub graphs: u64,
}

/// What a stream did.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Stream {
    /// Its number.
    pub number: u64,
    /// Its context.
    pub context: Option<u64>,
    /// The number of its process.
    pub process: Option<u64>,
    /// Pieces of work.
    pub work: u64,
    /// Something of it ran.
    pub busy_ns: f64,
    /// From the end of each piece of work to the start of the next one of the stream.
    pub gaps: Option<Distribution>,
}

/// A few figures of many durations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Distribution {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub sum_ns: f64,
    /// The shortest.
    pub min_ns: f64,
    /// A tenth is shorter.
    pub p10_ns: f64,
    /// The median.
    pub median_ns: f64,
    /// A tenth is longer.
    pub p90_ns: f64,
    /// The longest.
    pub max_ns: f64,
}

/// Times at which a device had nothing to do.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Gaps {
    /// All of them.
    pub all: Option<Distribution>,
    /// By class, in a fixed order; classes without a gap are left out.
    pub classes: Vec<GapsOfClass>,
    /// Those that the host caused, by what it did; the largest sum first.
    pub causes: Vec<GapsOfCause>,
    /// The longest ones.
    pub longest: Vec<Gap>,
}

/// Gaps of one class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GapsOfClass {
    /// The class.
    pub class: GapClass,
    /// Their lengths.
    pub lengths: Distribution,
}

/// Gaps in which the host did the same.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GapsOfCause {
    /// What it did.
    pub cause: HostCause,
    /// The function that it was in.
    pub call: Option<String>,
    /// How many.
    pub count: u64,
    /// Their sum.
    pub sum_ns: f64,
}

/// A time at which a device had nothing to do.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Gap {
    /// When it began, from the first record of the trace, or from the start of the range.
    pub start_ns: f64,
    /// How long it was.
    pub length_ns: f64,
    /// Its class.
    pub class: GapClass,
    /// What the host did.
    pub cause: Option<HostCause>,
    /// The function that it was in.
    pub call: Option<String>,
    /// The work before it.
    pub before: String,
    /// The work behind it.
    pub behind: String,
}

/// From calls to the work that they asked for.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Launches {
    /// Work whose call is in the trace.
    pub matched: u64,
    /// How long the calls took.
    pub call: Option<Distribution>,
    /// From the end of the call to the start of the work, at least 0. Under a full queue this is backlog and no overhead.
    pub queue: Option<Distribution>,
    /// From the start of the call to the start of the work, where the device waited for it: what a launch costs.
    pub latency: Option<Distribution>,
    /// Work that began before its call was over.
    pub began_in_call: u64,
    /// Kernels that ran for less time than their call took.
    pub kernels_below_call: u64,
    /// What these ran for together.
    pub kernels_below_call_ns: f64,
}

/// Kernels of one name.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Kernel {
    /// The whole name.
    pub name: String,
    /// Their durations.
    pub durations: Distribution,
    /// Share in the summed time of all kernels of the device.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub time_share: f64,
    /// Blocks of the grid: x, y, z; where it is the same for all.
    pub grid: Option<[u32; 3]>,
    /// Threads of a block: x, y, z; where it is the same for all.
    pub block: Option<[u32; 3]>,
    /// Launch configurations.
    pub configurations: u64,
    /// Registers of a thread; where it is the same for all.
    pub registers: Option<u32>,
    /// Shared memory of a block; where it is the same for all.
    pub shared_bytes: Option<u64>,
}

/// Copies of one direction between the same kinds of memory.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Transfer {
    /// From where to where.
    pub kind: CopyKind,
    /// What they read.
    pub from: Memory,
    /// What they wrote.
    pub to: Memory,
    /// Their durations.
    pub durations: Distribution,
    /// Bytes of all; absent where the trace does not tell them.
    pub bytes: Option<u64>,
    /// Bytes a second: of the large ones where there are some, else of all.
    pub rate_bytes_per_s: Option<f64>,
    /// What the rate is of: copies of at least 1 MiB, whose time is not mostly that of starting them.
    pub is_rate_of_large: bool,
    /// What the link carries.
    pub link: Option<Link>,
    /// The rate against it.
    pub link_share: Option<f64>,
}

/// What a link carries.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Link {
    /// Bytes a second in one direction.
    pub bytes_per_s: f64,
    /// Where the figure comes from.
    pub origin: Origin,
    /// In words.
    pub source: String,
}

/// A launch sequence that repeats.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Sequence {
    /// The number of its stream.
    pub stream: u64,
    /// Pieces of work in it.
    pub length: u64,
    /// How often it follows itself.
    pub times: u64,
    /// From the first start to the last end of all of them.
    pub span_ns: f64,
    /// In that time the device waited for the host, and no call of the host waited for the device.
    pub host_wait_ns: f64,
    /// The work of one of them, in order; only the beginning of a long one.
    pub names: Vec<String>,
    /// Whether waits or copies from pageable memory stand in it, which no graph can hold.
    pub has_waits: bool,
}

/// A function of the runtime or driver.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CallRow {
    /// Its name.
    pub name: String,
    /// What it does.
    pub class: CallClass,
    /// How long its calls took. Those within another call are left out.
    pub durations: Distribution,
    /// For calls that wait: how long a device was busy meanwhile, which is the wait itself.
    pub while_busy_ns: Option<f64>,
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Counted directly.
    High,
    /// Derived.
    Medium,
    /// Inferred.
    Low,
}

/// A flaw and what its remedy can save.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// Its stable name.
    pub id: String,
    /// What it says, with the numbers that matter.
    pub title: String,
    /// The number of the device that it is about.
    pub device: u64,
    /// Upper bound on the fraction of the device's span that the complete usual remedy can save.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub saving_ceiling: f64,
    /// Best estimate of it.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub saving_expected: f64,
    /// The same bound as a time.
    pub saving_ceiling_ns: f64,
    /// How sure it is.
    pub confidence: Confidence,
    /// The figures that it rests on.
    pub evidence: Vec<Evidence>,
    /// What to change, most likely first.
    pub actions: Vec<String>,
    /// Which figures must move, and how, if the change worked.
    pub verify: Vec<Verify>,
}

/// A figure that a finding rests on.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Evidence {
    /// What it is of.
    pub metric: String,
    /// Its value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// What a healthy program shows.
    pub healthy: Option<f64>,
    /// Where the figure comes from.
    pub origin: Origin,
}

/// A figure that must move.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Verify {
    /// What it is of.
    pub metric: String,
    /// Which way.
    pub direction: Direction,
}

/// Which way a figure must move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// It must grow.
    Up,
    /// It must fall.
    Down,
}

/// A check that the trace does not allow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotChecked {
    /// The finding.
    pub id: String,
    /// What the trace would have to hold.
    pub needs: String,
}

/// What a trace holds and what not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Completeness {
    /// Records of work on GPUs.
    pub work: u64,
    /// Records of calls.
    pub calls: u64,
    /// Records that the profiler says it lost; absent where it does not say.
    pub dropped: Option<u64>,
    /// Work whose call is not in the trace.
    pub unmatched: u64,
    /// How much of it more than one process could have asked for.
    pub ambiguous: u64,
    /// Records that contradict themselves and were left out.
    pub contradictory: u64,
    /// Processes whose recording stops before they ended in an orderly way.
    pub unended: u64,
    /// Whether graphs are in the trace as a whole, without their kernels.
    pub has_whole_graphs: bool,
    /// Records of kinds that are not known, by kind.
    pub skipped: Vec<Skipped>,
}

/// Records of a kind that is not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Skipped {
    /// The kind, as the input spells it.
    pub kind: String,
    /// How many.
    pub count: u64,
}

/// What could not be read, or makes the answer less certain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Warning {
    /// Stable code.
    pub code: String,
    /// What was seen, why it matters, what to try.
    pub message: String,
    /// The input: a place in `traces`, where it has one.
    pub trace: Option<usize>,
    /// Byte in the unpacked input.
    pub offset: Option<u64>,
}
