//! What a comparison of kernels says, as data: every renderer prints this and computes nothing.
//!
//! Fields are only ever added within a version. Fractions are 0 to 1, times are nanoseconds, absent is `null`.

use ridge_diagnose::Resource;
use ridge_diagnose::document::{Confidence, Direction, Limiter, SourceKind};
use schemars::JsonSchema;
use serde::Serialize;

pub use super::matching::Rule;
pub use crate::verdict::Verdict;

/// Kernels before and after a change.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Kernels {
    /// The inputs before.
    pub before: Vec<Input>,
    /// The inputs after.
    pub after: Vec<Input>,
    /// Kernels that belong together, those that took most time before first.
    pub pairs: Vec<KernelPair>,
    /// Kernels before that are not after, those that take most time first.
    pub only_before: Vec<Alone>,
    /// Kernels after that were not before.
    pub only_after: Vec<Alone>,
    /// The time of everything together.
    pub totals: Totals,
}

/// An input of one side.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Input {
    /// The file as it was named.
    pub file: String,
    /// What it holds.
    pub kind: SourceKind,
    /// Version of the profiler that made it.
    pub profiler_version: Option<String>,
    /// Names of the GPUs in it.
    pub devices: Vec<String>,
}

/// A kernel of one side.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct KernelRef {
    /// Its place in the list of kernels of its side.
    pub index: usize,
    /// The place of its input in the list of its side.
    pub input: usize,
    /// Name without namespaces, template arguments and parameters.
    pub name: String,
    /// The whole demangled name.
    pub signature: String,
    /// Blocks in the grid.
    pub grid: Option<[u32; 3]>,
    /// Threads in a block.
    pub block: Option<[u32; 3]>,
    /// How many launches there are of it.
    pub launches: u64,
    /// The place of the launch whose counters are compared.
    pub launch: usize,
}

/// A kernel without a partner.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Alone {
    /// The kernel.
    pub kernel: KernelRef,
    /// The time of all its launches.
    pub total_ns: Option<f64>,
}

/// Summed times of the launches of both sides, by the profiler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Totals {
    /// All kernels before; absent where the duration of one is not known.
    pub before_ns: Option<f64>,
    /// All kernels after.
    pub after_ns: Option<f64>,
    /// Of the kernels before, those that have a partner.
    pub paired_before_ns: Option<f64>,
    /// Of the kernels after, those that have a partner.
    pub paired_after_ns: Option<f64>,
}

/// A kernel before and after.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct KernelPair {
    /// Before.
    pub before: KernelRef,
    /// After.
    pub after: KernelRef,
    /// How they were found to belong together.
    pub matched_by: Rule,
    /// How alike the names are, where that decided.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub similarity: Option<f64>,
    /// What makes conclusions of this pair less certain.
    pub warnings: Vec<Warning>,
    /// Whether it is faster.
    pub time: Time,
    /// What limits it.
    pub limiter: LimiterChange,
    /// The ledgers beside each other, the row that takes longest on either side first.
    pub ledger: Vec<LedgerRow>,
    /// What became of the flaws before, in their order.
    pub flaws: Vec<FlawChange>,
    /// What got worse, and matters.
    pub worse: Vec<Remark>,
    /// Figures of the mechanism that look worse or better: they explain, and decide nothing.
    pub mechanism: Vec<Figure>,
    /// What the launch is and does.
    pub work: Vec<Figure>,
    /// What is left to gain.
    pub left: Left,
}

/// Times before and after with a verdict.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Time {
    /// Whether it is faster.
    pub verdict: Verdict,
    /// Where the times are from.
    pub origin: TimeOrigin,
    /// The time before: one duration, or the median of several.
    pub before_ns: Option<f64>,
    /// The time after.
    pub after_ns: Option<f64>,
    /// How many durations there are before.
    pub samples_before: u64,
    /// How many there are after.
    pub samples_after: u64,
    /// After over before; absent where the times are not comparable.
    pub ratio: Option<f64>,
    /// The lower end of the 95 % interval of the ratio.
    pub lower: Option<f64>,
    /// The upper end.
    pub upper: Option<f64>,
    /// What differs by less may be the same, as a share; absent where nothing was compared.
    pub band: Option<f64>,
    /// The SM clock before, in hertz.
    pub clock_before_hz: Option<f64>,
    /// The SM clock after.
    pub clock_after_hz: Option<f64>,
    /// The ratio in cycles of the SM clock: what the ratio would be if both had run at one clock and nothing depended on
    /// memory.
    pub cycles_ratio: Option<f64>,
    /// Why the verdict is not another one.
    pub reasons: Vec<String>,
    /// What to do where nobody can tell.
    pub next_step: Option<String>,
}

/// Where times are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeOrigin {
    /// Samples of `ridge bench`.
    Benchmark,
    /// Launches that the profiler timed in a run of their own, without counters.
    TimingPass,
    /// Launches of a trace.
    Trace,
    /// Durations of launches whose counters were collected: at the profiler's clocks, with its flushes of the caches.
    Profiler,
}

impl TimeOrigin {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Benchmark => "`ridge bench`",
            Self::TimingPass => "the profiler's timing pass",
            Self::Trace => "the trace",
            Self::Profiler => "the profiler, while it counted",
        }
    }
}

/// What limits a kernel, before and after.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LimiterChange {
    /// Before.
    pub before: Option<Limiter>,
    /// After.
    pub after: Option<Limiter>,
    /// Whether another resource or another class limits it now; absent where one side is not known.
    pub changed: Option<bool>,
    /// Whether both ledgers bear that out: on each side the row of the limiting resource is the busiest, or no row is busy
    /// enough to limit.
    pub is_borne_out: Option<bool>,
    /// In one sentence, with the flaws that are gone.
    pub sentence: String,
}

/// A resource before and after.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LedgerRow {
    /// The resource.
    pub resource: Resource,
    /// Before; absent where it was not counted.
    pub before: Option<Busy>,
    /// After; absent where it was not counted.
    pub after: Option<Busy>,
    /// What the demand is counted in, where it is the same stage on both sides.
    pub unit: Option<String>,
}

/// How long a resource was busy.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Busy {
    /// The stage of it that is busiest.
    pub stage: String,
    /// The share of the duration.
    #[schemars(range(min = 0.0))]
    pub share: f64,
    /// The same as a time: no launch with this work is shorter.
    pub bound_ns: Option<f64>,
    /// What was asked of it.
    pub demand: f64,
}

/// What became of a flaw.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FlawChange {
    /// The finding.
    pub id: String,
    /// What it said before, or says now where it is new.
    pub title: String,
    /// What became of it.
    pub outcome: Outcome,
    /// What the diagnosis before expected its remedy to save, as a fraction of the time before.
    pub expected_before: Option<f64>,
    /// The most that it could save.
    pub ceiling_before: Option<f64>,
    /// What the diagnosis now expects, as a fraction of the time now.
    pub expected_after: Option<f64>,
    /// The most that it can save now.
    pub ceiling_after: Option<f64>,
    /// How sure the finding is.
    pub confidence: Confidence,
    /// What had to move, and whether it did; none for one that was not found before.
    pub verify: Vec<VerifyResult>,
}

/// What became of a flaw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It is not found any more, and what had to move did.
    Gone,
    /// It is not found any more, but not all that it asked for moved: something else limits now.
    NoLongerLimits,
    /// It is found, and costs less than half of the time that it cost.
    Smaller,
    /// It is still there.
    Still,
    /// The input after does not let it be checked.
    NotChecked,
    /// It was not found before, and its counters are no worse than before: what stood before it is smaller.
    NowShows,
    /// It was not found before, and its counters got worse.
    New,
}

impl Outcome {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::NoLongerLimits => "no longer what limits; what it asked for did not all move",
            Self::Smaller => "smaller",
            Self::Still => "still there",
            Self::NotChecked => "not checked after",
            Self::NowShows => "now shows (its counters are no worse; another flaw stood before it)",
            Self::New => "new",
        }
    }
}

/// A metric that had to move.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct VerifyResult {
    /// The metric.
    pub metric: String,
    /// Which way it had to move.
    pub direction: Direction,
    /// Where to.
    pub target: Option<f64>,
    /// Its value before.
    pub before: Option<f64>,
    /// Its value after.
    pub after: Option<f64>,
    /// Its unit.
    pub unit: String,
    /// Whether it did.
    pub outcome: Held,
}

/// Whether a metric moved as it had to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Held {
    /// It did.
    Held,
    /// It did not, or by less than counters differ by from run to run.
    NotHeld,
    /// It moved, but what would tell whether that is a success was not counted: a longer time is one only with more work.
    CannotTell,
    /// One side does not have it.
    NotMeasured,
}

impl Held {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::NotHeld => "not held",
            Self::CannotTell => "cannot tell",
            Self::NotMeasured => "not measured",
        }
    }
}

/// A figure before and after.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Figure {
    /// The metric, as the profiler spells it.
    pub metric: String,
    /// What people call it.
    pub label: String,
    /// Before.
    pub before: Option<f64>,
    /// After.
    pub after: Option<f64>,
    /// Its unit, the same on both sides.
    pub unit: String,
}

/// Something to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Remark {
    /// Its stable name.
    pub code: String,
    /// What was seen, with numbers.
    pub text: String,
}

/// What is left to gain.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Left {
    /// The busiest resource after.
    pub resource: Option<Resource>,
    /// The share of the duration for which it is busy.
    pub share: Option<f64>,
    /// Upper bound on what any change saves that keeps the work of that resource.
    pub saving_ceiling: Option<f64>,
    /// The first flaw that is left.
    pub flaw: Option<String>,
    /// In one sentence.
    pub sentence: String,
}

/// What makes conclusions less certain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Warning {
    /// Stable code.
    pub code: String,
    /// What differs, and why it matters.
    pub message: String,
    /// The conclusions that it spoils.
    pub spoils: Vec<Conclusion>,
}

/// A part of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    /// Which kernels belong together.
    Matching,
    /// The time and its verdict.
    Time,
    /// The ledgers against each other.
    Ledger,
    /// The limiter before and after.
    Limiter,
    /// Whether metrics moved as they had to.
    Verify,
    /// Which flaws are gone or new.
    Flaws,
}

impl Conclusion {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Matching => "which kernels belong together",
            Self::Time => "time",
            Self::Ledger => "ledger",
            Self::Limiter => "limiter",
            Self::Verify => "what had to move",
            Self::Flaws => "which flaws are gone",
        }
    }
}
