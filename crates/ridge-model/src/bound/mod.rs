//! Lower bounds of the time that work takes on a device.
//!
//! Each resource that the work needs gives one bound: what is needed, over the most that the resource does in a second.
//! The resources can be busy at the same time, so the largest bound is the one that binds, and no implementation of this
//! work on this device is faster than it.
//!
//! ```
//! use ridge_model::bound::{Arithmetic, Bounds, Ceilings, Work};
//! use ridge_model::quantity::{Bytes, Flops};
//! use ridge_model::{Devices, NumberFormat};
//!
//! let h100 = Devices::known().find("h100-sxm").unwrap();
//! let work = Work {
//!     bytes: Some(Bytes::from_count(192 << 20)),
//!     arithmetic: vec![Arithmetic::elementwise(Flops::from_count(1 << 24), NumberFormat::Fp32)],
//!     ..Work::default()
//! };
//! let bounds = Bounds::of(&work, &Ceilings::of(h100)).unwrap();
//! assert_eq!(bounds.time().to_string(), "60.1 us");
//! assert_eq!(bounds.binding().kind.class(), "bandwidth-bound");
//! ```

mod ceilings;
pub mod document;
mod error;
mod gap;
mod work;

pub use ceilings::Ceilings;
pub use error::BoundError;
pub use gap::{FAR, GOOD, Gap, Reading};
pub use work::{
    Arithmetic, ArithmeticKind, Chain, Launches, Link, StepLatency, Synchronizations, Transfer,
    Work,
};

use schemars::JsonSchema;
use serde::Serialize;

use crate::device::{Origin, rate_amount};
use crate::quantity::{Amount, Intensity, Nanos, Unit};
use crate::roof::ComputeRoof;

/// The resource that a bound is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BoundKind {
    /// Bytes over the bandwidth of device memory.
    Bandwidth,
    /// Operations over the peak of their format.
    Compute,
    /// Launches and synchronizations, each at what it costs the host.
    Launch,
    /// Steps of a chain, each of which waits for the one before.
    Latency,
    /// Bytes over a link.
    Transfer,
    /// The time of the kernels on the device, where it is known.
    Kernels,
}

impl BoundKind {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bandwidth => "bandwidth",
            Self::Compute => "compute",
            Self::Launch => "launch",
            Self::Latency => "latency",
            Self::Transfer => "transfer",
            Self::Kernels => "kernels",
        }
    }

    /// What work is that this bound binds.
    #[must_use]
    pub const fn class(self) -> &'static str {
        match self {
            Self::Bandwidth => "bandwidth-bound",
            Self::Compute => "compute-bound",
            Self::Launch => "launch-bound",
            Self::Latency => "latency-bound",
            Self::Transfer => "transfer-bound",
            Self::Kernels => "kernel-bound",
        }
    }
}

/// The most that a resource does.
#[derive(Clone, Debug, PartialEq)]
pub enum Ceiling {
    /// So much in a second.
    Rate(Amount),
    /// So long for each.
    Each(Nanos),
}

/// The time below which one resource cannot do the work.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The resource.
    pub kind: BoundKind,
    /// What is needed of it.
    pub demand: Amount,
    /// The most that it does.
    pub ceiling: Ceiling,
    /// What the ceiling is, such as `DRAM` or `FP32 vector`.
    pub resource: String,
    /// Where the ceiling is known from.
    pub origin: Origin,
    /// What the need takes at the ceiling.
    pub time: Nanos,
}

/// All bounds of some work on a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    rows: Vec<Bound>,
    binding: usize,
    intensity: Option<Intensity>,
    ridge_point: Option<Intensity>,
    remarks: Vec<String>,
}

impl Bounds {
    /// The bounds of work under ceilings.
    ///
    /// # Errors
    /// When nothing is needed, or the device has no such unit or link, or the table does not know its rate.
    pub fn of(work: &Work, ceilings: &Ceilings<'_>) -> Result<Self, BoundError> {
        let mut rows = Vec::new();
        let mut remarks = Vec::new();
        let slope = work.bytes.map(|_| ceilings.memory()).transpose()?;
        if let (Some(bytes), Some(slope)) = (work.bytes, &slope) {
            rows.push(Bound {
                kind: BoundKind::Bandwidth,
                demand: Amount::new(bytes.get(), Unit::BYTES),
                ceiling: Ceiling::Rate(Amount::new(slope.bandwidth.get(), Unit::BYTES_PER_SECOND)),
                resource: slope.level.name().to_owned(),
                origin: slope.origin,
                time: bytes.at(slope.bandwidth),
            });
        }
        let mut busiest: Option<(Nanos, ComputeRoof)> = None;
        for part in &work.arithmetic {
            let (roof, remark) = ceilings.compute(part)?;
            remarks.extend(remark);
            let time = part.operations.at(roof.rate);
            rows.push(Bound {
                kind: BoundKind::Compute,
                demand: part.amount(),
                ceiling: Ceiling::Rate(rate_amount(roof.rate, roof.input)),
                resource: roof.label.clone(),
                origin: roof.origin,
                time,
            });
            if busiest.as_ref().is_none_or(|(most, _)| *most < time) {
                busiest = Some((time, roof));
            }
        }
        rows.extend(work.host_rows());
        if let Some(chain) = &work.chain {
            rows.push(ceilings.chain(chain)?);
        }
        for transfer in &work.transfers {
            rows.push(ceilings.transfer(transfer)?);
        }
        let binding = rows
            .iter()
            .enumerate()
            .max_by(|(_, a), (_, b)| a.time.get().total_cmp(&b.time.get()))
            .map(|(place, _)| place)
            .ok_or(BoundError::NothingToDo)?;
        Ok(Self {
            binding,
            rows,
            intensity: work
                .operations()
                .zip(work.bytes)
                .map(|(operations, bytes)| operations.for_each(bytes)),
            ridge_point: busiest
                .zip(slope)
                .map(|((_, roof), slope)| roof.ridge_point(&slope)),
            remarks,
        })
    }

    /// One row for each resource; at least one.
    #[must_use]
    pub fn rows(&self) -> &[Bound] {
        &self.rows
    }

    /// The place of the row that binds.
    #[must_use]
    pub const fn binding_row(&self) -> usize {
        self.binding
    }

    /// The row that binds.
    #[must_use]
    pub fn binding(&self) -> &Bound {
        &self.rows[self.binding]
    }

    /// The lower bound: no implementation is faster.
    #[must_use]
    pub fn time(&self) -> Nanos {
        self.binding().time
    }

    /// Operations for each byte of device memory; absent without either.
    #[must_use]
    pub const fn intensity(&self) -> Option<Intensity> {
        self.intensity
    }

    /// The intensity at which memory and the busiest unit would take equally long.
    #[must_use]
    pub const fn ridge_point(&self) -> Option<Intensity> {
        self.ridge_point
    }

    /// What has to be known about the choice of peaks.
    #[must_use]
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }
}
