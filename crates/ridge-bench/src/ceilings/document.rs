//! The answer of `ridge ceilings`, as data: what is stored for each GPU, and what other commands read.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{Machine, Remark};
use crate::protocol::Failure;

/// Name of the contract.
pub const SCHEMA: &str = "ridgepoint.ceilings";
/// Its version. 2 brought the family of links to other GPUs, which a reader of version 1 does not know.
pub const VERSION: u32 = 2;

/// What one GPU reaches, measured on it: what `ridge ceilings --format json` writes.
///
/// Fields are only ever added within a version. Fractions are 0 to 1, times are nanoseconds, sizes are bytes, and what is
/// not known is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Ceilings")]
pub struct Document {
    /// Always `ridgepoint.ceilings`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The version of the command.
    pub tool_version: String,
    /// The day of the measurement in UTC, as `2026-08-14`; `null` for a simulated device.
    pub date: Option<String>,
    /// How long it took.
    pub took_ns: f64,
    /// Whether every family that was asked for was measured.
    pub is_complete: bool,
    /// The machine.
    pub machine: Machine,
    /// How it was measured.
    pub settings: Settings,
    /// What was measured.
    pub figures: Vec<Figure>,
    /// What was not measured, and why.
    pub missing: Vec<Missing>,
    /// What is outside of the band in which such a figure is expected.
    pub warnings: Vec<Remark>,
}

/// How ceilings are measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// The families, in their order.
    pub families: Vec<Family>,
    /// Timed repeats of each figure; at least 20 unless the run is a quick one.
    pub repeats: u32,
    /// How long one repeat is to take.
    pub repeat_ns: f64,
    /// For how long the figures with a sustained value are kept going; 0 for none.
    pub sustained_ns: f64,
    /// How long one repeat may take at most.
    pub timeout_ns: f64,
}

impl Settings {
    /// A whole run: below a minute.
    #[must_use]
    pub fn whole() -> Self {
        Self {
            families: Family::ALL.to_vec(),
            repeats: 25,
            repeat_ns: 2e6,
            sustained_ns: 2e9,
            timeout_ns: 20e9,
        }
    }

    /// A quick one: fewer and shorter repeats, nothing sustained.
    #[must_use]
    pub fn quick() -> Self {
        Self {
            repeats: 20,
            repeat_ns: 1e6,
            sustained_ns: 0.0,
            ..Self::whole()
        }
    }
}

/// Figures that are measured together.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Device memory.
    Dram,
    /// The L2.
    L2,
    /// The L1, and shared memory.
    L1,
    /// Arithmetic of threads.
    Vector,
    /// Matrix units.
    Tensor,
    /// Atomic additions.
    Atomics,
    /// Launches, events and graphs.
    Launch,
    /// The link to the host.
    Link,
    /// Links to other GPUs of the machine.
    Peer,
}

impl Family {
    /// All of them, in the order in which they are measured: what does not heat the GPU first. Once the contexts of other
    /// GPUs are open, nothing else is measured.
    pub const ALL: [Self; 9] = [
        Self::Launch,
        Self::Link,
        Self::Dram,
        Self::L2,
        Self::L1,
        Self::Atomics,
        Self::Vector,
        Self::Tensor,
        Self::Peer,
    ];

    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dram => "dram",
            Self::L2 => "l2",
            Self::L1 => "l1",
            Self::Vector => "vector",
            Self::Tensor => "tensor",
            Self::Atomics => "atomics",
            Self::Launch => "launch",
            Self::Link => "link",
            Self::Peer => "peer",
        }
    }

    /// What people read above its figures.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Dram => "Device memory",
            Self::L2 => "L2",
            Self::L1 => "L1 and shared memory",
            Self::Vector => "Arithmetic of threads",
            Self::Tensor => "Matrix units",
            Self::Atomics => "Atomic additions",
            Self::Launch => "Launches",
            Self::Link => "Link to the host",
            Self::Peer => "Links to other GPUs",
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name of no family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFamily(String);

impl fmt::Display for UnknownFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Family::ALL.iter().map(|family| family.name()).collect();
        write!(
            f,
            "{:?} is no family of ceilings; there are {}",
            self.0,
            names.join(", ")
        )
    }
}

impl std::error::Error for UnknownFamily {}

impl FromStr for Family {
    type Err = UnknownFamily;

    fn from_str(text: &str) -> Result<Self, UnknownFamily> {
        Self::ALL
            .into_iter()
            .find(|family| family.name().eq_ignore_ascii_case(text.trim()))
            .ok_or_else(|| UnknownFamily(text.to_owned()))
    }
}

/// By which way a figure was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Path {
    /// A loop of one instruction.
    Loop,
    /// The vendor's library: what is reachable, and no peak of the hardware.
    Library,
    /// The engines that copy beside kernels.
    CopyEngine,
    /// Calls of the driver.
    Driver,
}

impl Path {
    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::Library => "cuBLASLt",
            Self::CopyEngine => "copy engine",
            Self::Driver => "driver",
        }
    }
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Unit {
    /// Bytes a second.
    #[serde(rename = "B/s")]
    BytesPerSecond,
    /// Floating-point operations a second.
    #[serde(rename = "FLOP/s")]
    FlopsPerSecond,
    /// Other operations a second.
    #[serde(rename = "OP/s")]
    OperationsPerSecond,
    /// Nanoseconds: less is better.
    #[serde(rename = "ns")]
    Nanoseconds,
}

impl Unit {
    /// The symbol.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::BytesPerSecond => "B/s",
            Self::FlopsPerSecond => "FLOP/s",
            Self::OperationsPerSecond => "OP/s",
            Self::Nanoseconds => "ns",
        }
    }
}

/// A figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Its stable name, such as `dram-copy`.
    pub id: String,
    /// The family that it belongs to.
    pub family: Family,
    /// What people call it.
    pub name: String,
    /// By which way it was reached.
    pub path: Path,
    /// The number format, as `ridge bound --dtype` takes it; `null` where there is none.
    pub format: Option<String>,
    /// The unit of all its values.
    pub unit: Unit,
    /// What is counted.
    pub counts: String,
    /// The variant that was the best: shape of the launch, algorithm.
    pub variant: String,
    /// A burst: the first milliseconds after a pause.
    pub burst: Spread,
    /// Kept going, where it was asked for.
    pub sustained: Option<Spread>,
    /// The burst for one SM in one cycle of its clock.
    pub per_sm_cycle: Option<f64>,
    /// What the architecture has for one SM in one cycle.
    pub architecture_per_sm_cycle: Option<f64>,
    /// The peak of the data sheet.
    pub peak: Option<f64>,
    /// A number that all outputs went into, which proves that the work was done.
    pub checksum: Option<String>,
    /// Values for other sizes, and what was fitted to them.
    pub details: Vec<Detail>,
    /// The other GPU, where the figure is about the way to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<Peer>,
}

/// Another GPU of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Peer {
    /// Its number on that day: what the driver showed to the process.
    pub ordinal: u32,
    /// The name that the driver reports.
    pub name: String,
    /// Its identifier.
    pub uuid: Option<String>,
    /// Whether copies went there without the host.
    pub has_access: bool,
    /// What lies between, where NVML tells.
    pub link: Option<PeerLink>,
    /// How many NVLinks of the GPU that was measured were up, to this one and to others.
    pub nvlinks: Option<u32>,
}

/// What lies between two GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PeerLink {
    /// NVLink, directly or through switches.
    NvLink,
    /// PCIe.
    Pcie,
}

impl PeerLink {
    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NvLink => "nvlink",
            Self::Pcie => "pcie",
        }
    }
}

/// Values of repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The best: the highest rate, or the shortest time.
    pub best: f64,
    /// What nine of ten repeats reached.
    pub p90: f64,
    /// How many there were.
    pub repeats: u32,
    /// How long one took, in the middle.
    pub repeat_ns: f64,
    /// The SM clock over the repeats, in the middle.
    pub sm_clock_hz: Option<f64>,
    /// What the sensors said while it ran.
    pub state: State,
}

/// What the sensors said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct State {
    /// The memory clock.
    pub memory_clock_hz: Option<f64>,
    /// The power of the board: a mean over about a second, so that a burst shows only a part of it.
    pub power_w: Option<f64>,
    /// The temperature in degrees Celsius.
    pub temperature_c: Option<f64>,
    /// What held the clocks down.
    pub throttle: Vec<String>,
}

/// A value beside a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Detail {
    /// What it is.
    pub name: String,
    /// The value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
}

/// What was not measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Missing {
    /// The family.
    pub family: Family,
    /// The figure; `null` for the whole family.
    pub name: Option<String>,
    /// Why.
    pub failure: Failure,
}

/// The figures of one family.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// What was measured.
    pub figures: Vec<Figure>,
    /// What was not.
    pub missing: Vec<Missing>,
}

impl Document {
    /// The figure of a name.
    #[must_use]
    pub fn figure(&self, id: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.id == id)
    }
}
