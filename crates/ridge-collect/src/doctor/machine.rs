//! Facts about a machine. What is not known is absent.

use serde::{Deserialize, Serialize};

/// Facts about a machine, as somebody found them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The driver; or why there is none, where somebody looked.
    pub driver: Option<Result<Driver, Failure>>,
    /// The GPUs that NVML sees; or why it sees none.
    pub gpus: Option<Result<Vec<Gpu>, String>>,
    /// The GPUs that the driver shows to this process, with what came of computing on each.
    pub devices: Vec<Result<Device, Failure>>,
    /// Libraries.
    pub libraries: Vec<Library>,
    /// Programs.
    pub tools: Vec<Tool>,
    /// Who may read counters.
    pub counters: Counters,
    /// Processes that may hold the counters; absent where processes cannot be listed.
    pub holders: Option<Vec<Process>>,
    /// Where reports and temporary files go.
    pub disks: Vec<Disk>,
}

/// Why something does not work, with what mends it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What happened.
    pub message: String,
    /// What mends it.
    pub hint: Option<String>,
}

/// The driver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Driver {
    /// Its own version, such as `580.95.05`.
    pub release: Option<String>,
    /// The version of CUDA that it is for, such as `13.0`.
    pub cuda: Option<String>,
    /// How many GPUs it shows to this process.
    pub devices: u32,
}

/// A GPU that the driver shows to this process, on which a kernel ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Its compute capability, major and minor.
    pub capability: (u32, u32),
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Whether it is a partition (MIG).
    pub is_mig: Option<bool>,
    /// Whether it drives a display, whose watchdog ends long kernels.
    pub has_display_watchdog: Option<bool>,
}

/// A GPU that NVML sees.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gpu {
    /// Its name.
    pub name: Option<String>,
    /// Its compute capability, major and minor.
    pub capability: Option<(u32, u32)>,
    /// The SM clock.
    pub sm_clock_hz: Option<f64>,
    /// The highest SM clock.
    pub max_sm_clock_hz: Option<f64>,
    /// The temperature.
    pub temperature_c: Option<f64>,
    /// The power that it draws.
    pub power_w: Option<f64>,
    /// Names of what holds its clocks down; absent where that is not told.
    pub throttle: Option<Vec<String>>,
    /// Whether one of these slows work down, rather than telling that there is none.
    pub is_throttled: Option<bool>,
    /// Whether the driver stays initialised without users.
    pub is_persistent: Option<bool>,
    /// Whether it is cut into partitions.
    pub is_mig_on: Option<bool>,
    /// Whether errors of its memory are corrected.
    pub is_ecc_on: Option<bool>,
    /// Processes that compute on it, without this one; absent where that is not told.
    pub processes: Option<Vec<Process>>,
}

/// A process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number; inside a container it may be that of the host.
    pub pid: u32,
    /// Its name.
    pub name: Option<String>,
    /// The memory that it holds on the GPU.
    pub memory_bytes: Option<u64>,
}

/// A library that Ridgepoint loads where it is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LibraryName {
    /// The driver's library.
    Driver,
    /// The library of the sensors.
    Nvml,
    /// The compiler.
    Nvrtc,
    /// Matrix products.
    CublasLt,
    /// Traces and counters.
    Cupti,
}

/// Where a library is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Library {
    /// Which.
    pub name: LibraryName,
    /// The file; absent where none of the candidates can be loaded.
    pub path: Option<String>,
}

/// A program that Ridgepoint starts where it is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolName {
    /// Nsight Compute.
    Ncu,
    /// The checker of memory and races.
    ComputeSanitizer,
    /// The disassembler.
    Nvdisasm,
}

impl ToolName {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Ncu, Self::ComputeSanitizer, Self::Nvdisasm];

    /// The name of the program.
    #[must_use]
    pub const fn program(self) -> &'static str {
        match self {
            Self::Ncu => "ncu",
            Self::ComputeSanitizer => "compute-sanitizer",
            Self::Nvdisasm => "nvdisasm",
        }
    }

    /// The variables of the environment that name another place of it.
    #[must_use]
    pub const fn variables(self) -> &'static str {
        match self {
            Self::Ncu => "RIDGE_NCU, PATH or CUDA_HOME",
            Self::ComputeSanitizer | Self::Nvdisasm => "PATH or CUDA_HOME",
        }
    }
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Which.
    pub name: ToolName,
    /// Whether it is there.
    pub state: ToolState,
}

/// Whether a program is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolState {
    /// It is, and told its version if it has one.
    Found {
        /// The file.
        path: String,
        /// The version.
        version: Option<String>,
    },
    /// It is there and does not start.
    Broken {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// It is in none of these folders.
    Missing {
        /// The folders.
        looked_in: Vec<String>,
    },
}

/// Who may read the counters of the GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Whether the driver keeps them for administrators (`RmProfilingAdminOnly`); absent where it does not tell.
    pub is_restricted: Option<bool>,
    /// Whether this process is root's.
    pub is_root: Option<bool>,
    /// The effective capabilities of this process, as bits.
    pub capabilities: Option<u64>,
    /// Whether it is in a user namespace of its own, whose capabilities mean nothing to the driver.
    pub is_user_namespace: Option<bool>,
    /// What kind of container it is in.
    pub container: Option<String>,
    /// What kind of sandbox stands between it and the kernel.
    pub sandbox: Option<String>,
}

/// A file system with what is left on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disk {
    /// What goes there.
    pub purpose: String,
    /// The folder.
    pub path: String,
    /// What this user may still write; absent where the file system does not tell.
    pub free_bytes: Option<u64>,
}
