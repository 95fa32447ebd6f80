//! The answer of `ridge bench`, as data: every renderer prints this and computes nothing.
//!
//! Fields are only ever added within a version. Fractions are 0 to 1, times are nanoseconds, absent is `null`.

mod plausible;
mod read;

use ridge_model::measured::Provenance;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::protocol::{
    CheckPoint, Failure, Floors, FunctionFacts, Mode, Rejection, SensorSummary, Settings, Spent,
    Stopped, WarmUp,
};
use crate::spec::ElementType;

pub use read::ReadError;

/// Name of the contract.
pub const SCHEMA: &str = "ridgepoint.bench";
/// Its version.
pub const VERSION: u32 = 1;

/// What the outputs of the reference are compared with: they are looked at for whether they are finite and written.
pub const ITSELF: &str = "the reference itself";

/// Times of kernels with everything that they rest on: what `ridge bench --format json` writes.
///
/// Fields are only ever added within a version. Fractions are 0 to 1, times are nanoseconds, sizes are bytes, and what is
/// not known is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Benchmark")]
pub struct Document {
    /// Always `ridgepoint.bench`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The version of the command.
    pub tool_version: String,
    /// What was measured; of several specs, their names with commas between them.
    pub benchmark: String,
    /// What the spec says has to be known; of several, each has its own.
    pub note: Option<String>,
    /// The specs, where several were measured in one run; left out for one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub specs: Vec<SpecResult>,
    /// Whether every state was measured; not so when the run was interrupted.
    pub is_complete: bool,
    /// The machine.
    pub machine: Machine,
    /// How it was measured.
    pub settings: Settings,
    /// What nothing costs there; `null` when no state came so far.
    pub floors: Option<Floors>,
    /// Where the attainable times come from; left out where no stored ceilings are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceilings: Option<Provenance>,
    /// The states in their order.
    pub states: Vec<StateResult>,
    /// The best of each group of states that solve the same problem.
    pub best: Vec<Best>,
}

/// One of several specs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpecResult {
    /// What it is called.
    pub benchmark: String,
    /// The file as it was named.
    pub file: String,
    /// What it says has to be known.
    pub note: Option<String>,
    /// Why it, or the rest of it, was not measured.
    pub error: Option<Remark>,
}

/// The machine of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// The name that the driver reports.
    pub device: String,
    /// Whether the device is a model, whose figures are no measurements.
    pub is_simulated: bool,
    /// The name in the table of devices, against whose peaks bounds are.
    pub known_as: Option<String>,
    /// The identifier of the GPU.
    pub uuid: Option<String>,
    /// Its compute capability.
    pub compute_capability: String,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Size of the L2.
    pub l2_bytes: Option<f64>,
    /// Size of the memory.
    pub memory_bytes: f64,
    /// The highest SM clock.
    pub max_sm_clock_hz: Option<f64>,
    /// The power limit.
    pub power_limit_w: Option<f64>,
    /// Whether errors of the memory are corrected.
    pub is_ecc_on: Option<bool>,
    /// Whether it is a partition (MIG).
    pub is_mig: Option<bool>,
    /// Whether the driver stays initialised without users.
    pub is_persistent: Option<bool>,
    /// The driver's version.
    pub driver: Option<String>,
    /// The version of CUDA that it is for.
    pub cuda: Option<String>,
    /// The version of the compiler.
    pub compiler: Option<String>,
    /// Shared memory of a block at most.
    pub shared_bytes_per_block: f64,
    /// The highest memory clock; data moves on both edges.
    pub max_memory_clock_hz: Option<f64>,
    /// Width of the memory interface.
    pub memory_bus_bits: Option<u32>,
    /// Whether the device drives a display, whose watchdog ends long kernels.
    pub has_display_watchdog: Option<bool>,
    /// What has to be known about it.
    pub notes: Vec<Remark>,
}

/// A state of a kernel: one point of the axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StateResult {
    /// The place of its spec in `specs`; left out where there is one only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<usize>,
    /// Its name: the kernel, and the axes in brackets.
    pub name: String,
    /// The kernel.
    pub kernel: String,
    /// The axes.
    pub axes: Vec<AxisValue>,
    /// What became of it.
    pub status: Status,
    /// Why there are no times.
    pub failure: Option<Failure>,
    /// Launches of one run.
    pub launches: Vec<LaunchFacts>,
    /// How often they are repeated in a run.
    pub repeat: u32,
    /// What the kernels need.
    pub functions: Vec<FunctionFacts>,
    /// The data that it works on: generator, seed and size of each buffer.
    pub buffers: Vec<BufferFacts>,
    /// Bytes that have to cross the border of device memory.
    pub bytes: Option<f64>,
    /// Operations of the computation.
    pub flops: Option<f64>,
    /// Format of the operations.
    pub flops_format: Option<String>,
    /// The unit that they are of: `vector` or `tensor`; left out where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flops_unit: Option<String>,
    /// One result for each mode.
    pub modes: Vec<ModeResult>,
    /// How outputs compare.
    pub checked: Checked,
    /// What the compiler printed.
    pub compiler_log: Option<String>,
    /// What time went to before the modes; `null` where there are no times, and in documents of older versions.
    #[serde(default)]
    #[schemars(!default)]
    pub spent: Option<Spent>,
}

impl StateResult {
    /// Bytes of all buffers; absent where the type of one is not known.
    #[must_use]
    pub fn memory_bytes(&self) -> Option<f64> {
        let size = |buffer: &BufferFacts| {
            let kind = ElementType::named(&buffer.kind)?;
            Some(kind.size() as f64 * buffer.length as f64)
        };
        self.buffers.iter().map(size).sum()
    }
}

impl Machine {
    /// Whether what a mode works on stays in the L2 from one launch to the next.
    #[must_use]
    pub fn keeps_in_l2(&self, mode: Mode, memory_bytes: f64) -> bool {
        mode != Mode::Cold && self.l2_bytes.is_some_and(|l2| memory_bytes < l2)
    }
}

/// What became of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Times are valid.
    Valid,
    /// Times are not valid.
    Invalid,
    /// Outputs are wrong.
    Differs,
    /// It did not run.
    Failed,
}

/// A value of an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AxisValue {
    /// The axis.
    pub name: String,
    /// The value.
    pub value: f64,
}

/// A launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchFacts {
    /// Name of the kernel in the source.
    pub entry: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Blocks of a cluster.
    pub cluster: Option<[u32; 3]>,
    /// Dynamic shared memory of a block.
    pub shared_bytes: u32,
}

/// A buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BufferFacts {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    #[serde(rename = "type")]
    pub kind: String,
    /// How many.
    pub length: u64,
    /// How they are made.
    pub init: String,
    /// The seed.
    pub seed: u32,
    /// Whether it is compared.
    pub is_output: bool,
}

/// How the outputs of a state compare.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Checked {
    /// With what: `expression`, `file`, the name of a state, `the reference itself`, or `null` where there was nothing to compare with.
    pub with: Option<String>,
    /// Launches whose outputs were looked at, in all modes.
    pub launches: u64,
    /// The first of them that was wrong, else the last.
    pub shown: Option<CheckPoint>,
}

/// What one mode gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModeResult {
    /// The mode.
    pub mode: Mode,
    /// Why the time is not valid; empty where it is.
    pub invalid: Vec<Remark>,
    /// What has to be known about it.
    pub notes: Vec<Remark>,
    /// Samples that count.
    pub samples: u64,
    /// Samples that do not.
    pub rejected: u64,
    /// Samples before which an element of each output, chosen at random, was overwritten, and after which it was looked at;
    /// `null` in documents from before that was done.
    #[serde(default)]
    #[schemars(!default)]
    pub canaries: Option<u64>,
    /// How often the launches run in a sample.
    pub runs_per_sample: u64,
    /// The median; `null` without samples that count.
    pub median_ns: Option<f64>,
    /// The lower end of its 95 % interval.
    pub lower_ns: Option<f64>,
    /// The upper end.
    pub upper_ns: Option<f64>,
    /// The least.
    pub min_ns: Option<f64>,
    /// A tenth of the samples is below, from 30 samples on.
    pub p10_ns: Option<f64>,
    /// A tenth is above.
    pub p90_ns: Option<f64>,
    /// A hundredth is above, from 300 samples on.
    pub p99_ns: Option<f64>,
    /// How many independent samples would tell as much about the median.
    pub effective_samples: Option<f64>,
    /// The autocorrelation of neighbouring samples.
    pub autocorrelation: Option<f64>,
    /// Why sampling stopped.
    pub stopped: Stopped,
    /// How warming up went.
    pub warm_up: WarmUp,
    /// The clock at its end: what samples have to have.
    pub held_clock_hz: Option<f64>,
    /// The median clock of the samples that count.
    pub clock_hz: Option<f64>,
    /// How far a sample may be off, as a share.
    pub clock_tolerance: f64,
    /// What the harness takes between two samples, without flush and waiting.
    pub overhead_ns: Option<f64>,
    /// The flush and the wait before a sample.
    pub preparation_ns: Option<f64>,
    /// From the first sample to the last, without what is beside them; `null` in documents of older versions.
    #[serde(default)]
    #[schemars(!default)]
    pub sampling_ns: Option<f64>,
    /// What was beside samples: outputs that were looked at, and inputs that were made anew.
    #[serde(default)]
    #[schemars(!default)]
    pub beside_ns: Option<f64>,
    /// What sensors said.
    pub sensors: SensorSummary,
    /// Against the lower bound.
    pub placement: Option<Placement>,
    /// All samples, in their order.
    pub raw: Raw,
}

/// Something to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Remark {
    /// Its stable name.
    pub id: String,
    /// What was seen, and why it matters.
    pub text: String,
    /// What to try.
    pub hint: Option<String>,
}

/// A time against its lower bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Placement {
    /// The lower bound.
    pub bound_ns: f64,
    /// The share of the bound that is reached: bound over time.
    pub share: f64,
    /// What the work is: `bandwidth-bound` or `compute-bound`.
    pub class: String,
    /// The resource that binds, such as `DRAM`.
    pub resource: String,
    /// Where its peak is known from.
    pub origin: String,
    /// Needed bytes over the time.
    pub bytes_per_s: Option<f64>,
    /// Needed operations over the time.
    pub flops_per_s: Option<f64>,
    /// The time at the rates that were measured on this GPU before; left out where no stored ceilings are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attainable_ns: Option<f64>,
}

/// All samples of a mode, rejected ones too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Raw {
    /// Times.
    pub times_ns: Vec<f64>,
    /// Windows of the host.
    pub host_ns: Vec<f64>,
    /// Clocks.
    pub clocks_hz: Vec<Option<f64>>,
    /// Why a sample does not count; `null` where it does.
    pub rejected: Vec<Option<Rejection>>,
}

/// The best of states that solve the same problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Best {
    /// The place of its spec in `specs`; left out where there is one only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<usize>,
    /// The mode that was compared.
    pub mode: Mode,
    /// The problem: values of the axes that all of them share.
    pub problem: String,
    /// The state with the least median.
    pub state: String,
    /// Its median.
    pub median_ns: f64,
    /// The others against it, best first.
    pub others: Vec<Against>,
}

/// A state against the best one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Against {
    /// The state.
    pub state: String,
    /// Its median over that of the best.
    pub ratio: f64,
    /// The lower end of the 95 % interval of the ratio.
    pub lower: Option<f64>,
    /// The upper end.
    pub upper: Option<f64>,
    /// `slower`, `same` or `cannot-tell`.
    pub verdict: String,
}
