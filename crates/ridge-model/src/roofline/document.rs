//! The answer of `ridge roofline`, as data: every renderer draws this and computes nothing but places on its page.
//!
//! Fields are only ever added within a version. Fractions are 0 to 1 (above 1 only where a point is above its roof),
//! times nanoseconds, sizes bytes, rates per second; absent is `null`.

use schemars::JsonSchema;
use serde::Serialize;

use super::Precision;
use crate::device::Origin;
use crate::measured::Provenance;
pub use crate::occupancy::document::{Bound as Class, Warning};
use crate::roof::MemoryLevel;

/// Name of the contract.
pub const SCHEMA: &str = "ridgepoint.roofline";
/// Its version.
pub const VERSION: u32 = 1;

/// A roofline: what `ridge roofline --format json` writes.
///
/// Fields are only ever added within a version. Times are nanoseconds, sizes bytes, rates per second, and what is not
/// known is `null`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "Roofline")]
pub struct Document {
    /// Always `ridgepoint.roofline`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The inputs; none when all points were given on the command line.
    pub sources: Vec<Source>,
    /// One chart for each device.
    pub charts: Vec<Chart>,
    /// What could not be read, and what makes the answer less certain.
    pub warnings: Vec<Warning>,
}

/// An input.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Source {
    /// The number that kernels and warnings refer to.
    pub id: usize,
    /// The file as it was named.
    pub file: String,
    /// What it is.
    pub kind: SourceKind,
    /// Whether it is from before or after a change; `null` where nothing is compared.
    pub side: Option<Side>,
}

/// What an input is. Later versions may read more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// A binary report of Nsight Compute.
    NcuReport,
    /// A CSV export of Nsight Compute.
    NcuCsv,
    /// A document of `ridge bench`.
    Bench,
}

/// A side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Before the change.
    Before,
    /// After it.
    After,
}

/// The roofs of one device and the kernels that ran on it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Chart {
    /// The device.
    pub device: ChartDevice,
    /// The sloped roofs: DRAM before L2 before L1, and for each the run before what was measured before the sheet.
    pub memory_roofs: Vec<MemoryRoofRow>,
    /// The flat roofs, those that the kernels use first.
    pub compute_roofs: Vec<ComputeRoofRow>,
    /// The kernels, those that take most time first.
    pub kernels: Vec<Kernel>,
    /// The same kernel before and after a change.
    pub pairs: Vec<Pair>,
}

/// The device of a chart.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChartDevice {
    /// The name that the driver reports, or the one of the table.
    pub name: Option<String>,
    /// The row of the table of devices that the data sheet's roofs come from; `null` where no table knows the device.
    pub sheet: Option<String>,
    /// The multiprocessors that the sheet's peaks were scaled to, for a part of a device.
    pub sheet_scaled_to: Option<u32>,
    /// Compute capability.
    pub compute_capability: Option<String>,
    /// Streaming multiprocessors.
    pub multiprocessors: Option<u32>,
    /// The lowest and the highest SM clock of the kernels, in hertz.
    pub sm_clock_hz: Option<(f64, f64)>,
    /// Where the measured roofs come from; left out where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_by: Option<Provenance>,
}

/// What a roof is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The peak at the clock of the run: of several kernels, that of the highest clock.
    Run,
    /// What was measured on the machine.
    Measured,
    /// What the data sheet promises.
    Datasheet,
}

impl Basis {
    /// The words for it in a legend.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Run => "at the clock of the run",
            Self::Measured => "measured",
            Self::Datasheet => "datasheet",
        }
    }

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Measured => "measured",
            Self::Datasheet => "datasheet",
        }
    }
}

/// A sloped roof.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryRoofRow {
    /// A word that tells the roofs of a chart apart, such as `dram-run`.
    pub id: String,
    /// The memory.
    pub level: MemoryLevel,
    /// What the roof is based on.
    pub basis: Basis,
    /// The slope.
    pub bytes_per_s: f64,
    /// Where the number comes from.
    pub origin: Origin,
    /// The counters behind it.
    pub source: Vec<String>,
    /// What a legend says.
    pub label: String,
}

/// A flat roof.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ComputeRoofRow {
    /// A word that tells the roofs of a chart apart, such as `fp32-vector-run`.
    pub id: String,
    /// What it is the roof of.
    pub precision: Precision,
    /// The word of the precision, such as `fp32-vector`.
    pub precision_id: String,
    /// What the roof is based on.
    pub basis: Basis,
    /// The height.
    pub ops_per_s: f64,
    /// FLOP/s, or OP/s for integers.
    pub unit: &'static str,
    /// The SM clock that it holds for, in hertz.
    pub sm_clock_hz: Option<f64>,
    /// Where the number comes from.
    pub origin: Origin,
    /// The counters behind it.
    pub source: Vec<String>,
    /// Whether a kernel of the chart has a point of this precision.
    pub is_used: bool,
    /// What a legend says.
    pub label: String,
    /// Where it meets the memory roofs of its own basis, or of the best one there is.
    pub ridge_points: Vec<RidgePoint>,
}

/// Where a flat roof meets a slope.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RidgePoint {
    /// The memory.
    pub level: MemoryLevel,
    /// The roof of that memory.
    pub memory_roof: String,
    /// Operations for each byte.
    pub intensity: f64,
}

/// A kernel: a number of launches of one function at one size.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Kernel {
    /// Its number in the chart, which pairs refer to.
    pub id: usize,
    /// Name without namespaces, template arguments and parameters; of a benchmark, the state.
    pub name: String,
    /// The whole name, where it is another.
    pub signature: Option<String>,
    /// The input that holds it; `null` for a point of the command line.
    pub source: Option<usize>,
    /// Whether it is from before or after a change.
    pub side: Option<Side>,
    /// Places of all launches in their input.
    pub launches: Vec<usize>,
    /// The launch that the amounts are of: the one with the median time.
    pub launch: Option<usize>,
    /// Where bytes and operations come from: measured by counters, given on the command line, or declared by the spec of a
    /// benchmark, whose time is measured.
    pub origin: Origin,
    /// Time of that launch in nanoseconds; of a benchmark, the median.
    pub time_ns: Option<f64>,
    /// Time of all launches in nanoseconds.
    pub total_time_ns: Option<f64>,
    /// Share of the time of all kernels of the chart, of the same side.
    pub time_share: Option<f64>,
    /// What limits it, as the diagnosis says; `null` where there was none.
    pub class: Option<Class>,
    /// SM clock of the run in hertz.
    pub sm_clock_hz: Option<f64>,
    /// Bytes by level of memory.
    pub traffic: Vec<Traffic>,
    /// Its points, one for each kind of arithmetic, the main one first.
    pub points: Vec<Point>,
    /// Kinds of operations that were not counted.
    pub not_counted: Vec<&'static str>,
    /// Why it has no point.
    pub left_out: Option<Beside>,
}

/// Bytes of a launch at a level of memory.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Traffic {
    /// The level.
    pub level: MemoryLevel,
    /// Bytes in both directions.
    pub bytes: f64,
    /// The same in a second.
    pub bytes_per_s: Option<f64>,
    /// The part of the roof of that memory; absent where no roof is known.
    pub roof_share: Option<f64>,
    /// The counters behind the number.
    pub source: Vec<String>,
}

/// Why a kernel stands beside the chart instead of in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Beside {
    /// It computes nothing that a roof is for: its intensity is zero.
    NoOperations,
    /// Nobody counted its operations.
    OperationsNotCounted,
    /// Its bytes are not known, or there are none.
    NoBytes,
    /// Its time is not known.
    NoTime,
    /// Its time, its operations or its bytes are a number that they cannot be, as of a damaged input.
    Implausible,
    /// The spec of the benchmark declares no operations.
    OperationsNotDeclared,
    /// The spec declares no bytes.
    BytesNotDeclared,
    /// The spec declares neither.
    NothingDeclared,
    /// The measurement is not valid, so that there is no time.
    NotValid,
    /// The outputs are wrong: it is not the time of this computation.
    WrongOutputs,
    /// It did not run.
    DidNotRun,
    /// The time is that of the host with launch and wait, not the kernel's.
    HostTime,
}

impl Beside {
    /// The reason in words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::NoOperations => "no floating-point or matrix operations",
            Self::OperationsNotCounted => "operations were not counted",
            Self::NoBytes => "no bytes were counted",
            Self::NoTime => "its time is not known",
            Self::Implausible => "a counter holds a number that cannot be",
            Self::OperationsNotDeclared => {
                "its spec declares no operations: add flops, unless it computes nothing"
            }
            Self::BytesNotDeclared => "its spec declares no bytes: add bytes",
            Self::NothingDeclared => {
                "its spec declares neither bytes nor operations: add bytes and flops"
            }
            Self::NotValid => "its measurement is not valid",
            Self::WrongOutputs => "its outputs are wrong",
            Self::DidNotRun => "it did not run",
            Self::HostTime => {
                "its time has launch and wait in it: measure with --mode cold, hot, batch or graph"
            }
        }
    }
}

/// What is said where points come from a benchmark.
pub const DECLARED: &str = "bytes and operations of benchmarks are those that their specs declare, not counted: what a kernel moves or computes beyond them does not show";

/// What a kernel does with one kind of arithmetic.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Point {
    /// The kind.
    pub precision: Precision,
    /// A word for it, such as `fp32-vector`.
    pub precision_id: String,
    /// What people read.
    pub label: String,
    /// Operations of the launch; a multiply-add is two.
    pub operations: f64,
    /// Operations a second.
    pub ops_per_s: f64,
    /// FLOP/s, or OP/s for integers.
    pub unit: &'static str,
    /// The counters behind the number.
    pub source: Vec<String>,
    /// Whether the kernel uses more of this roof than of those of its other kinds.
    pub is_main: bool,
    /// Whether the operations may be none: compilers also load constants with packed half-precision multiply-adds, which
    /// no counter tells apart, and there are so few of them for each thread that all may be of that kind.
    pub may_be_moves: bool,
    /// The flat roof at the clock of its own run, or the best one that is known.
    pub roof: Option<RoofHeight>,
    /// Its places, one for each level of memory.
    pub placements: Vec<Placement>,
    /// What cannot be as it seems.
    pub flags: Vec<Flag>,
}

/// The height of a flat roof over a point.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RoofHeight {
    /// What it is based on.
    pub basis: Basis,
    /// Operations a second.
    pub ops_per_s: f64,
    /// The part of it that the point reaches.
    pub share: f64,
}

/// The place of a point for one level of memory.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Placement {
    /// The level.
    pub level: MemoryLevel,
    /// Operations for each byte at that level.
    pub intensity: f64,
    /// What could be attained there under the slope of the level and the flat roof.
    pub attainable_ops_per_s: Option<f64>,
    /// The part of it that the point reaches.
    pub share: Option<f64>,
    /// What bounds it there: memory left of the ridge point, compute right of it.
    pub bound: Option<RidgeSide>,
}

/// The side of the ridge point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RidgeSide {
    /// Left of it: the slope.
    Memory,
    /// Right of it: the flat roof.
    Compute,
}

/// A point above a roof.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Flag {
    /// Which kind of roof.
    pub code: FlagCode,
    /// The memory, where it is a sloped roof.
    pub level: Option<MemoryLevel>,
    /// What the roof is based on.
    pub basis: Basis,
    /// How far above it is, as a factor of the roof.
    pub factor: f64,
    /// What is likely to have caused it, most likely first.
    pub causes: Vec<FlagCause>,
}

/// Which kind of roof a point is above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlagCode {
    /// More bytes a second than the memory has.
    AboveMemoryRoof,
    /// More operations a second than the unit has.
    AboveComputeRoof,
}

/// A likely cause of a point above its roof.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FlagCause {
    /// A stable code.
    pub code: super::Cause,
    /// What it means and what to look at.
    pub text: &'static str,
}

/// A kernel before and after a change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Pair {
    /// The kernel before, by its number.
    pub before: usize,
    /// The kernel after.
    pub after: usize,
    /// Time before over time after, of the launches that were looked at.
    pub speedup: Option<f64>,
}
