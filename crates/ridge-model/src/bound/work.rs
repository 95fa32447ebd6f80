//! What has to be done, whatever the implementation.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Bound, BoundKind, Ceiling};
use crate::NumberFormat;
use crate::device::{Fact, Origin};
use crate::quantity::{Amount, Bytes, Cycles, Flops, Nanos, Unit};
use crate::roof::MemoryLevel;

/// What has to be done. What is absent is not needed, or not known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// Bytes that have to cross the border of device memory.
    pub bytes: Option<Bytes>,
    /// Operations, one entry for each kind of unit; the units can be busy at the same time.
    pub arithmetic: Vec<Arithmetic>,
    /// Kernel launches from one host thread.
    pub launches: Option<Launches>,
    /// Times at which the host waits for the device.
    pub synchronizations: Option<Synchronizations>,
    /// The time that each launched kernel is known to take on the device.
    pub kernel_time: Option<Nanos>,
    /// Steps that wait for each other.
    pub chain: Option<Chain>,
    /// Bytes over links.
    pub transfers: Vec<Transfer>,
}

/// Operations of one format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arithmetic {
    /// How many; a multiply-add is two.
    pub operations: Flops,
    /// Their format.
    pub format: NumberFormat,
    /// What they are.
    pub kind: ArithmeticKind,
}

/// Whether operations can run on tensor units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArithmeticKind {
    /// Sums of products, which tensor units compute where they take the format.
    Matrix,
    /// Anything else: it runs on the ordinary lanes.
    Elementwise,
}

impl Arithmetic {
    /// Operations of matrix products.
    #[must_use]
    pub const fn matrix(operations: Flops, format: NumberFormat) -> Self {
        Self {
            operations,
            format,
            kind: ArithmeticKind::Matrix,
        }
    }

    /// Other operations.
    #[must_use]
    pub const fn elementwise(operations: Flops, format: NumberFormat) -> Self {
        Self {
            operations,
            format,
            kind: ArithmeticKind::Elementwise,
        }
    }

    /// The number with its unit: FLOP, or OP for integers.
    #[must_use]
    pub fn amount(&self) -> Amount {
        let unit = if self.format.is_integer() {
            Unit::from_static("OP")
        } else {
            Unit::FLOPS
        };
        Amount::new(self.operations.get(), unit)
    }
}

/// Launches from one host thread, one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Launches {
    /// How many.
    pub count: u64,
    /// What each costs when many are queued.
    pub cost: Fact<Nanos>,
}

impl Launches {
    /// What a launch costs when many are queued in a stream: published measurements have 1.6 us (L40) to 2.6 us (A100)
    /// for small kernels. A slower host, or a profiler, makes it more.
    pub const TYPICAL_COST: Fact<Nanos> = Fact {
        value: Nanos::new(2_000.0),
        origin: Origin::Documented,
    };
}

/// Times at which the host waits for the device and then goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Synchronizations {
    /// How many.
    pub count: u64,
    /// What each costs: the queue runs empty, so the next launch is not hidden.
    pub cost: Fact<Nanos>,
}

impl Synchronizations {
    /// A launch and the wait for it: published measurements have 5.7 us (A100) and 6.7 us (a board of 12.0).
    pub const TYPICAL_COST: Fact<Nanos> = Fact {
        value: Nanos::new(6_000.0),
        origin: Origin::Documented,
    };
}

/// Steps of which each needs the result of the one before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chain {
    /// How many.
    pub steps: u64,
    /// How long each takes.
    pub latency: StepLatency,
}

/// How long a step takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepLatency {
    /// So long.
    Time(Nanos),
    /// So many SM cycles.
    Cycles(Cycles),
    /// As long as a load from this memory.
    Load(MemoryLevel),
}

/// Bytes over a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// The link and the direction.
    pub link: Link,
    /// How many.
    pub bytes: Bytes,
}

/// A link and a direction; different ones can be busy at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// From the host to the device.
    HostToDevice,
    /// From the device to the host.
    DeviceToHost,
    /// To other devices over NVLink.
    NvLink,
}

impl Link {
    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HostToDevice => "PCIe, host to device",
            Self::DeviceToHost => "PCIe, device to host",
            Self::NvLink => "NVLink, one direction",
        }
    }
}

/// A count as a factor.
pub(super) fn times(count: u64) -> f64 {
    Cycles::from_count(count).get()
}

impl Work {
    /// Operations of all kinds together; absent where there are none.
    #[must_use]
    pub fn operations(&self) -> Option<Flops> {
        (!self.arithmetic.is_empty())
            .then(|| self.arithmetic.iter().map(|part| part.operations).sum())
    }

    /// The rows of what the host does, and of the kernels that it starts.
    pub(super) fn host_rows(&self) -> Vec<Bound> {
        let each = |kind, resource: &str, count: u64, cost: Fact<Nanos>, unit| Bound {
            kind,
            demand: Amount::new(times(count), Unit::from_static(unit)),
            ceiling: Ceiling::Each(cost.value),
            resource: resource.to_owned(),
            origin: cost.origin,
            time: cost.value * times(count),
        };
        let mut rows = Vec::new();
        if let Some(launches) = self.launches {
            rows.push(each(
                BoundKind::Launch,
                "one host thread",
                launches.count,
                launches.cost,
                "launch",
            ));
        }
        if let Some(waits) = self.synchronizations {
            rows.push(each(
                BoundKind::Launch,
                "host waits for device",
                waits.count,
                waits.cost,
                "wait",
            ));
        }
        if let Some(value) = self.kernel_time {
            let count = self.launches.map_or(1, |launches| launches.count);
            let origin = Origin::Given;
            rows.push(each(
                BoundKind::Kernels,
                "device, one after the other",
                count,
                Fact { value, origin },
                "kernel",
            ));
        }
        rows
    }
}
