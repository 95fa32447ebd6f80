//! What a device is.

use ridge_model::ComputeCapability;
use ridge_model::device::Attributes;
use ridge_model::quantity::{Bytes, Hertz, Nanos};

use crate::error::Version;

/// What a device is. What it does not tell is absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Properties {
    /// Whether figures from this device are real.
    pub kind: DeviceKind,
    /// The name that the driver reports; of a simulated device, one that says so.
    pub name: String,
    /// The identifier, as `nvidia-smi -L` prints it: `GPU-…`, `MIG-…`; of a simulated device `SIM-…`.
    pub uuid: Option<String>,
    /// The place on the bus, as `00000000:1B:00.0`.
    pub pci_id: Option<String>,
    /// The compute capability.
    pub capability: ComputeCapability,
    /// Streaming multiprocessors; of a partition, those of the partition.
    pub multiprocessors: u32,
    /// Size of the L2; of a partition, that of the partition.
    pub l2: Option<Bytes>,
    /// What of the L2 can be set aside for persisting lines.
    pub max_persisting_l2: Option<Bytes>,
    /// Memory in total.
    pub memory: Bytes,
    /// Width of the memory interface.
    pub memory_bus_bits: Option<u32>,
    /// The highest SM clock.
    pub max_sm_clock: Option<Hertz>,
    /// The highest memory clock; data moves on both edges.
    pub max_memory_clock: Option<Hertz>,
    /// The base SM clock: what clocks are locked to for comparisons.
    pub base_sm_clock: Option<Hertz>,
    /// The power limit in watts.
    pub power_limit_watts: Option<f64>,
    /// Threads of a block at most.
    pub max_threads_per_block: u32,
    /// Shared memory of a block without and with asking for it.
    pub shared_per_block: Bytes,
    /// Shared memory of a block at most; more than [`Properties::shared_per_block`] is asked for by `prepare`.
    pub shared_per_block_opt_in: Bytes,
    /// Whether blocks can be launched in clusters.
    pub has_clusters: bool,
    /// Engines that copy beside kernels; two copy in both directions at once.
    pub copy_engines: Option<u32>,
    /// Whether errors of the memory are corrected.
    pub is_ecc_on: Option<bool>,
    /// Whether this is a partition of a GPU (MIG).
    pub is_mig: Option<bool>,
    /// Whether the driver stays initialised without users (persistence mode).
    pub is_persistent: Option<bool>,
    /// Whether the device drives a display, whose watchdog ends long kernels.
    pub has_display_watchdog: Option<bool>,
    /// The version of CUDA that the driver is for.
    pub driver: Option<Version>,
    /// The driver's own version, such as `580.95.05`.
    pub driver_release: Option<String>,
    /// The version of the compiler, where there is one.
    pub compiler: Option<Version>,
    /// Where sensors are read.
    pub sensors: SensorSource,
    /// The smallest step of the device's timer that was seen, behind [`crate::ClockReading::window`].
    pub timer_step: Option<Nanos>,
}

/// Whether figures from a device are real.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// A GPU behind NVIDIA's driver.
    Cuda {
        /// Its number among those that the driver shows to this process.
        ordinal: u32,
    },
    /// A model. Its figures are no measurements of anything.
    Simulated {
        /// The seed of its noise.
        seed: u64,
    },
}

/// Where sensors are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SensorSource {
    /// NVML.
    Nvml,
    /// A model.
    Simulated,
    /// Nowhere.
    Absent {
        /// Why.
        reason: String,
    },
}

impl Properties {
    /// Whether figures from this device are those of a model.
    #[must_use]
    pub const fn is_simulated(&self) -> bool {
        matches!(self.kind, DeviceKind::Simulated { .. })
    }

    /// What goes before the table of devices: see [`ridge_model::Device::with_attributes`].
    #[must_use]
    pub fn attributes(&self) -> Attributes {
        Attributes {
            name: Some(self.name.clone()),
            capability: Some(self.capability),
            multiprocessors: Some(self.multiprocessors),
            sm_clock: self.max_sm_clock,
            memory_clock: self.max_memory_clock,
            memory_bus_bits: self.memory_bus_bits,
            memory: Some(self.memory),
            l2: self.l2,
        }
    }
}

/// Memory of a device at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryInfo {
    /// What nobody uses.
    pub free: Bytes,
    /// All of it.
    pub total: Bytes,
}
