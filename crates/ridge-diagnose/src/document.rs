//! The answer of `ridge why`, as data: every renderer prints this and computes nothing.
//!
//! Fields are only ever added within a version. Fractions are 0 to 1, times are nanoseconds, absent is `null`.

mod collected;
mod compulsory;
mod latency;
mod measured;
mod outlook;
mod ranks;
mod read;
mod totals;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::collected::{Collected, CollectedRank, CollectedTier, LaunchesFrom, Timed, Traced};
pub use self::compulsory::{Compulsory, CompulsoryBytes, CompulsoryOperations, Origin, Reading};
pub use self::latency::{Latency, LatencyLevel, LatencyVerdict, Loads, Waiting, Warps};
pub use self::measured::{AtMeasured, MeasuredPart};
pub use self::outlook::{LeftOut, Outlook};
pub use self::ranks::{RankMember, RankedKernel, Ranks};
pub use self::read::ReadError;
pub use self::totals::{Part, Totals};
pub use crate::ledger::{Class, Resource};

/// Name of the contract.
pub const SCHEMA: &str = "ridgepoint.diagnosis";
/// Its version.
pub const VERSION: u32 = 1;

/// The diagnosis of all inputs: what `ridge why --format json` writes.
///
/// Fields are only ever added within a version. Fractions are 0 to 1, times are nanoseconds, sizes are bytes, and what is
/// not known is `null`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "Diagnosis")]
pub struct Document {
    /// Always `ridgepoint.diagnosis`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The inputs.
    pub sources: Vec<Source>,
    /// One entry for each group of launches with the same name, grid, block and shared memory, in order of first launch.
    pub kernels: Vec<Kernel>,
    /// Findings about several kernels together.
    pub report_findings: Vec<ReportFinding>,
    /// For each input with known durations, what its kernels take together and how much of that could go.
    pub totals: Vec<Totals>,
    /// Collections of one program beside each other, such as those of its ranks; absent where there are not several.
    pub ranks: Option<Ranks>,
    /// What could not be read, and what makes the answer less certain.
    pub warnings: Vec<Warning>,
}

/// An input and how it was made.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// The number that kernels and warnings refer to.
    pub id: usize,
    /// The file as it was named.
    pub file: String,
    /// What it is.
    pub kind: SourceKind,
    /// Version of the profiler that made it.
    pub profiler_version: Option<String>,
    /// The GPUs in it.
    pub devices: Vec<Device>,
    /// When it was made, in seconds since 1970.
    pub created_unix_s: Option<u64>,
    /// The profiled program.
    pub program: Option<String>,
    /// How the counters were collected.
    pub collection: Collection,
    /// The runs in which Ridgepoint collected them; absent where somebody else did.
    pub collected: Option<Collected>,
}

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// A binary report of Nsight Compute.
    NcuReport,
    /// A CSV export of Nsight Compute.
    NcuCsv,
}

/// A GPU of an input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Device {
    /// Its name.
    pub name: Option<String>,
    /// Its compute capability, such as `9.0`.
    pub compute_capability: Option<String>,
    /// Its multiprocessors.
    pub multiprocessors: Option<u64>,
}

/// How the counters were collected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Collection {
    /// Whether the profiler held the clocks: `base`, `boost`, `none` or `reset`.
    pub clock_control: Option<String>,
    /// What it did with the caches before each pass: `all` (flushed) or `none`.
    pub cache_control: Option<String>,
    /// How it repeated the work: `kernel`, `application`, `range` or `app-range`.
    pub replay_mode: Option<String>,
    /// Sections found in the results, by identifier.
    pub sections: Vec<String>,
    /// Passes over each kernel: the smallest and the largest number.
    pub passes: Option<(u64, u64)>,
    /// Whether the profiler said that it held the clocks.
    pub clock_was_held: Option<bool>,
    /// Slowest and fastest SM clock of all kernels, in hertz: the profiler's "SM Frequency".
    pub sm_clock_hz: Option<(f64, f64)>,
}

/// A group of launches that do the same work.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Kernel {
    /// The input that holds it.
    pub source: usize,
    /// Name without namespaces, template arguments and parameters.
    pub name: String,
    /// The whole demangled name.
    pub signature: String,
    /// Blocks in the grid: x, y, z.
    pub grid: Option<[u32; 3]>,
    /// Threads in a block: x, y, z.
    pub block: Option<[u32; 3]>,
    /// Name of the device.
    pub device: Option<String>,
    /// Compute capability of the device.
    pub compute_capability: Option<String>,
    /// All launches of the group.
    pub launches: Vec<Launch>,
    /// The launch that was diagnosed: that with the median duration.
    pub diagnosed_launch: usize,
    /// Median duration of the group in its input: under the profiler.
    #[schemars(range(min = 0.0))]
    pub duration_ns: Option<f64>,
    /// Shortest duration of the group.
    #[schemars(range(min = 0.0))]
    pub duration_min_ns: Option<f64>,
    /// Longest duration of the group.
    #[schemars(range(min = 0.0))]
    pub duration_max_ns: Option<f64>,
    /// The launches as they were timed apart from the counters; absent where they were not.
    pub timed: Option<Timed>,
    /// The part of the diagnosed launch for which no SM had a warp: launching, and what the profiler does around it. Absent
    /// when it was not collected.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub idle_share: Option<f64>,
    /// Share of the summed duration of all kernels of its input; of the launches as they were timed apart, where they were.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub time_share: Option<f64>,
    /// What binds it.
    pub limiter: Option<Limiter>,
    /// The profiler's two Speed Of Light values and their busiest members.
    pub speed_of_light: SpeedOfLight,
    /// The resource ledger: one row for each resource, busiest first.
    pub resources: Vec<ResourceRow>,
    /// SM clock of the diagnosed launch, in hertz.
    #[serde(default)]
    #[schemars(!default)]
    pub sm_clock_hz: Option<f64>,
    /// Counters by which this kernel is compared with another version of it, in the order of their names: what it is and
    /// does, and what findings ask to look at, whether or not they fire. What was not collected is left out.
    #[serde(default)]
    #[schemars(!default)]
    pub counters: Vec<Counter>,
    /// Bytes between the SMs and the L2; absent when they were not collected.
    pub traffic: Option<Traffic>,
    /// The least that the computation needs, as the user gave it, against what the launch did; absent when nothing was
    /// given.
    pub compulsory: Option<Compulsory>,
    /// What it takes at rates that were measured on such a GPU; left out where no stored ceilings are used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<AtMeasured>,
    /// What warps wait for, longest first.
    pub stalls: Vec<Stall>,
    /// How latency is hidden, and what is missing; absent when nothing of it was collected.
    pub latency: Option<Latency>,
    /// The source lines with the most samples.
    pub hot_lines: Vec<HotLine>,
    /// Flaws and verdicts, most useful first.
    pub findings: Vec<Finding>,
    /// Where there is no finding: what limits next, and why nothing is offered.
    pub outlook: Option<Outlook>,
    /// What the input does not let us check.
    pub not_checked: Vec<NotChecked>,
    /// The shortest profiler command that would settle what was not checked.
    pub settle_with: Option<String>,
}

/// One launch.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Launch {
    /// Place in the input, from 0.
    pub index: usize,
    /// Its duration.
    #[schemars(range(min = 0.0))]
    pub duration_ns: Option<f64>,
}

/// What binds a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limiter {
    /// The kind of limit.
    pub class: Class,
    /// The busiest resource; `latency` or `launch` when none is busy.
    pub resource: Resource,
    /// The share of the duration for which the busiest resource was busy.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
    /// The busiest resource, also where it does not bind.
    pub busiest: Resource,
    /// The counters or the member of the profiler's list that say so.
    pub source: Vec<String>,
}

/// The profiler's Speed Of Light.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpeedOfLight {
    /// Compute, as a share.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub compute: Option<f64>,
    /// Memory, as a share.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub memory: Option<f64>,
    /// The busiest members of both.
    pub members: Vec<SpeedOfLightMember>,
}

/// A member of a Speed Of Light value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpeedOfLightMember {
    /// The metric.
    pub metric: String,
    /// The resource that the unit belongs to.
    pub resource: Option<Resource>,
    /// Share of the unit's peak.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
}

/// A row of the resource ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceRow {
    /// The resource.
    pub resource: Resource,
    /// The stage of it that is busiest.
    pub stage: String,
    /// The share of the duration for which it was busy.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub busy_share: f64,
    /// What was asked of it.
    pub demand: f64,
    /// What the demand is counted in.
    pub unit: String,
    /// What it can do in a second at the clock of this run.
    pub capacity_per_s: f64,
    /// The counters that the row was computed from.
    pub source: Vec<String>,
}

/// The value of a counter over the launch that was diagnosed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counter {
    /// The metric, as the profiler spells it.
    pub metric: String,
    /// Its value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
}

/// Bytes between the SMs and the L2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Traffic {
    /// Bytes read by the SMs.
    pub read_bytes: f64,
    /// Bytes written by the SMs.
    pub written_bytes: f64,
    /// The counters of the two.
    pub source: Vec<String>,
}

/// A reason for which warps wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stall {
    /// The profiler's name of the reason.
    pub reason: String,
    /// What warps wait for, in words.
    pub meaning: String,
    /// Cycles for each instruction.
    pub cycles: f64,
    /// Share of the time between two instructions of a warp.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
}

/// A source line with its samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HotLine {
    /// Where it is.
    pub location: Location,
    /// Samples in it.
    pub samples: f64,
    /// The reason that most of its samples show.
    pub top_stall: Option<String>,
    /// The text of the line, where the input holds it.
    pub text: Option<String>,
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Counted directly.
    High,
    /// Derived.
    Medium,
    /// Inferred from absence, or from stalls alone.
    Low,
}

impl Confidence {
    /// One step less sure.
    #[must_use]
    pub fn lowered(self) -> Self {
        match self {
            Self::High => Self::Medium,
            Self::Medium | Self::Low => Self::Low,
        }
    }
}

/// A flaw and what its remedy can save, or a verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Its stable name.
    pub id: String,
    /// What it says, with the numbers that matter.
    pub title: String,
    /// Upper bound on the fraction of the duration that the complete usual remedy can save.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub saving_ceiling: f64,
    /// Best estimate of it.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub saving_expected: f64,
    /// The resource that binds after the remedy.
    pub next_limit: Option<Resource>,
    /// How sure it is.
    pub confidence: Confidence,
    /// The counters that it rests on.
    pub evidence: Vec<Evidence>,
    /// What to change, most likely first.
    pub actions: Vec<String>,
    /// Which metrics must move, and how, if the change worked.
    pub verify: Vec<Verify>,
    /// Where it is.
    pub locations: Vec<Location>,
}

/// A finding about several kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportFinding {
    /// The finding; its savings are fractions of the summed time of its kernels.
    #[serde(flatten)]
    pub finding: Finding,
    /// Places in the list of kernels.
    pub kernels: Vec<usize>,
    /// Share of the launches that it is about in the summed duration of all kernels of the input: it saves no more of
    /// that.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub time_share: Option<f64>,
}

/// A counter that a finding rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// The metric, or how it was derived from metrics.
    pub metric: String,
    /// Its value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// What a healthy kernel shows.
    pub healthy: Option<f64>,
}

/// A metric that must move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verify {
    /// The metric.
    pub metric: String,
    /// Which way.
    pub direction: Direction,
    /// Where to.
    pub target: Option<f64>,
}

/// Which way a metric must move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// It must grow.
    Up,
    /// It must fall.
    Down,
    /// It must come near its target.
    To,
}

/// A place in the code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Location {
    /// Source file, where the code has line data.
    pub file: Option<String>,
    /// Line in it.
    pub line: Option<u32>,
    /// Function, mangled where no other name is known.
    pub function: Option<String>,
    /// Offset of the instruction in the function's code, or its address where the function is not known.
    pub pc: Option<u64>,
    /// Share of what the finding counts that this place has.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: Option<f64>,
    /// The instruction, where a disassembler was found.
    pub sass: Option<String>,
    /// Call sites that the line was inlined through, innermost first, each as `file:line`.
    pub inlined_at: Vec<String>,
}

/// A check that the input does not allow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotChecked {
    /// The finding.
    pub id: String,
    /// The sections of the profiler that would allow it, all of them together.
    pub needs: Vec<String>,
}

/// What could not be read, or makes the answer less certain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// Stable code.
    pub code: String,
    /// What was seen, why it matters, what to try.
    pub message: String,
    /// The input.
    pub source: Option<usize>,
    /// Byte in the unpacked input.
    pub offset: Option<u64>,
    /// What was being read.
    pub field: Option<String>,
}
