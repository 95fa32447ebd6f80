//! GPUs: what their data sheets promise, with the source of each figure and what is doubtful about it.
//!
//! The table is one file, `gpus.csv`, in a form that users can write too: [`Devices::parse`] reads it, and
//! `Devices::with` lets one table go before another. What a report or a machine says about itself goes before every
//! table: [`Device::with_attributes`].
//!
//! ```
//! use ridge_model::{Devices, NumberFormat, PeakRequest};
//!
//! let devices = Devices::known();
//! let h200 = devices.find("h200").unwrap();
//! assert_eq!(h200.name, "H200 SXM");
//! assert_eq!(h200.bandwidth.unwrap().value.to_string(), "4.81 TB/s");
//! let bf16 = h200.peak(PeakRequest::of(NumberFormat::Bf16)).unwrap();
//! assert_eq!(bf16.rate.to_string(), "989 TFLOP/s");
//! ```

mod attributes;
mod csv;
pub mod document;

mod error;
mod fact;
mod lookup;
mod pci;
mod peak;
mod table;

pub use attributes::Attributes;
pub use error::{DeviceError, TableError};
pub use fact::{Confidence, Fact, Origin};
pub use pci::PciId;
pub(crate) use peak::rate_amount;
pub use peak::{Peak, PeakRequest, PeakUnit};
pub use table::Devices;

use crate::arch::tensor::Board;
use crate::arch::{Architecture, ComputeCapability};
use crate::quantity::{Bandwidth, Bytes, Hertz};

/// A GPU. What is not known is absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// The short name that people use.
    pub name: String,
    /// Names that the driver reports.
    pub aliases: Vec<String>,
    /// The ids that boards of this kind have on the PCI bus, from the PCI ID Repository (version 2026.08.22). Only ids whose
    /// name there tells model and memory are taken: others may be another board.
    pub pci_ids: Vec<PciId>,
    /// The compute capability.
    pub capability: ComputeCapability,
    /// The class, which changes tensor rates on some architectures.
    pub board: Board,
    /// Streaming multiprocessors.
    pub multiprocessors: Option<Fact<u32>>,
    /// The SM clock behind the vector peaks: the highest that the sheet promises.
    pub boost_clock: Option<Fact<Hertz>>,
    /// The SM clock behind the tensor peaks, where it is another one.
    pub tensor_clock: Option<Fact<Hertz>>,
    /// Device memory, as it is sold.
    pub memory: Option<Fact<Bytes>>,
    /// Peak bandwidth of the device memory.
    pub bandwidth: Option<Fact<Bandwidth>>,
    /// Size of the L2.
    pub l2: Option<Fact<Bytes>>,
    /// What loads from the L2 reach at most, where somebody measured it; no sheet promises it.
    pub l2_bandwidth: Option<Fact<Bandwidth>>,
    /// Link to the host, one direction, before the overhead of packets.
    pub host_link: Option<Fact<Bandwidth>>,
    /// NVLink in total, one direction.
    pub nvlink: Option<Fact<Bandwidth>>,
    /// Board power limit in watts.
    pub power_limit_w: Option<Fact<f64>>,
    /// Peaks, dense before sparse.
    pub peaks: Vec<Peak>,
    /// How far the row can be trusted.
    pub confidence: Confidence,
    /// What to check before relying on it; empty where nothing is known to be doubtful.
    pub doubts: String,
}

/// Bytes that an SM can load from its L1 in a cycle: the width of the memory that serves L1 and shared memory.
const L1_BYTES_PER_CYCLE: f64 = 128.0;

impl Device {
    /// What one SM of this device can do in a cycle; absent for a compute capability that this version does not know.
    #[must_use]
    pub fn architecture(&self) -> Option<Architecture> {
        Architecture::of(self.capability)
    }

    /// What is doubtful about the SM clock of a run: above the highest that is known, or so low that a unit is likely to
    /// be wrong.
    #[must_use]
    pub fn doubt_of_clock(&self, clock: Hertz) -> Option<String> {
        /// SMs that work do not run below this.
        const LOW: f64 = 100e6;
        /// Clocks are rounded when they are read and written.
        const ROUNDED: f64 = 1.001;
        if clock.get() < LOW {
            return Some(format!(
                "an SM clock of {clock:.4} is implausibly low, below 100 MHz: check its unit"
            ));
        }
        let clocks = [self.boost_clock, self.tensor_clock];
        let known = clocks.into_iter().flatten().map(|fact| fact.value.get());
        let highest = known.reduce(f64::max)?;
        (clock.get() > highest * ROUNDED).then(|| {
            format!(
                "an SM clock of {clock:.4} is above the highest that is known for {}, {:.4}: peaks scaled to it are higher \
                 than the device promises",
                self.name,
                Hertz::new(highest)
            )
        })
    }

    /// What all L1 caches together can deliver at the boost clock.
    #[must_use]
    pub fn l1_bandwidth(&self) -> Option<Fact<Bandwidth>> {
        self.architecture()?;
        let bytes = f64::from(self.multiprocessors?.value) * L1_BYTES_PER_CYCLE;
        Some(Fact {
            value: Bandwidth::new(bytes * self.boost_clock?.value.get()),
            origin: Origin::Derived,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_that_cannot_be_are_doubted() {
        let h200 = Devices::known().find("h200").unwrap();
        let doubt = |hertz| h200.doubt_of_clock(Hertz::new(hertz));
        assert!(doubt(99e9).unwrap().contains("1.980 GHz"));
        assert!(doubt(2.0e9).is_some());
        assert!(doubt(1.0).unwrap().contains("implausibly low"));
        assert!(doubt(99.9e6).is_some());
        for fine in [100e6, 210e6, 1.755e9, 1.98e9] {
            assert_eq!(doubt(fine), None, "{fine}");
        }
        // Where no clock is known, none is too high.
        let b300 = Devices::known().find("b300").unwrap();
        assert_eq!(b300.doubt_of_clock(Hertz::new(9e9)), None);
        assert!(b300.doubt_of_clock(Hertz::new(1.0)).is_some());
    }
}
