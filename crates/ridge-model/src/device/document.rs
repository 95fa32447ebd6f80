//! The answer of `ridge devices`, as data: every renderer prints this and computes nothing.
//!
//! Fields are only ever added within a version. Fractions are 0 to 1, times are nanoseconds, absent is `null`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Confidence, Fact, Origin, PeakUnit};
use crate::NumberFormat;
use crate::quantity::Bandwidth;

/// Name of the contract.
pub const SCHEMA: &str = "ridgepoint.devices";
/// Its version.
pub const VERSION: u32 = 1;

/// Devices and what they can do: what `ridge devices --format json` writes.
///
/// Fields are only ever added within a version. Sizes are bytes, rates are per second, and what is not known is `null`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "Devices")]
pub struct Document {
    /// Always `ridgepoint.devices`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The devices, in the order of the table.
    pub devices: Vec<Device>,
}

/// A device.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Device {
    /// The short name.
    pub name: String,
    /// Names that the driver reports.
    pub aliases: Vec<String>,
    /// Ids on the PCI bus, such as `10de:2335`.
    pub pci_ids: Vec<String>,
    /// The compute capability, such as `9.0`.
    pub compute_capability: String,
    /// Whether it is a GeForce board, which changes tensor rates on some architectures.
    pub is_geforce: bool,
    /// Streaming multiprocessors.
    pub multiprocessors: Option<Value>,
    /// The SM clock behind the vector peaks.
    pub boost_clock_hz: Option<Value>,
    /// The SM clock behind the tensor peaks, where it is another one.
    pub tensor_clock_hz: Option<Value>,
    /// Device memory, as it is sold.
    pub memory_bytes: Option<Value>,
    /// Peak bandwidth of the device memory.
    pub bandwidth_bytes_per_s: Option<Value>,
    /// Size of the L2.
    pub l2_bytes: Option<Value>,
    /// What loads from the L2 reach at most, where somebody measured it.
    pub l2_bandwidth_bytes_per_s: Option<Value>,
    /// What all L1 caches together deliver at the boost clock.
    pub l1_bandwidth_bytes_per_s: Option<Value>,
    /// Link to the host, one direction.
    pub host_link_bytes_per_s: Option<Value>,
    /// NVLink in total, one direction.
    pub nvlink_bytes_per_s: Option<Value>,
    /// Board power limit in watts.
    pub power_limit_w: Option<Value>,
    /// Peaks.
    pub peaks: Vec<Peak>,
    /// How far the row can be trusted.
    pub confidence: Confidence,
    /// What is doubtful.
    pub doubts: Option<String>,
}

/// A figure with its source.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Value {
    /// The figure.
    #[schemars(range(min = 0.0))]
    pub value: f64,
    /// Where it comes from.
    pub origin: Origin,
}

/// A peak.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Peak {
    /// What kind of peak it is, such as `BF16 tensor, FP32 accumulate`.
    pub label: String,
    /// What goes in; `fp8-e4m3` stands for both kinds of 8-bit floating point.
    pub input: NumberFormat,
    /// What results are summed in.
    pub accumulator: NumberFormat,
    /// The unit.
    pub unit: PeakUnit,
    /// Whether this is the rate with 2:4 structured sparsity.
    pub is_sparse: bool,
    /// Operations a second; a multiply-add is two.
    #[schemars(range(min = 0.0))]
    pub operations_per_s: f64,
    /// The unit of the rate.
    pub rate_unit: String,
    /// The SM clock that it holds for.
    #[schemars(range(min = 0.0))]
    pub clock_hz: Option<f64>,
    /// Operations of one SM in a cycle, from the table of architectures.
    #[schemars(range(min = 0.0))]
    pub operations_per_cycle: Option<f64>,
    /// Operations for each byte at which this unit and the device memory take equally long.
    #[schemars(range(min = 0.0))]
    pub ridge_point: Option<f64>,
    /// Where the rate comes from.
    pub origin: Origin,
}

impl Document {
    /// The document of some devices.
    #[must_use]
    pub fn of<'d>(devices: impl IntoIterator<Item = &'d super::Device>) -> Self {
        Self {
            schema: SCHEMA,
            version: VERSION,
            devices: devices.into_iter().map(device).collect(),
        }
    }
}

fn device(device: &super::Device) -> Device {
    let rate = |fact: Option<Fact<Bandwidth>>| value(fact, |rate| rate.get());
    Device {
        name: device.name.clone(),
        aliases: device.aliases.clone(),
        pci_ids: device.pci_ids.iter().map(ToString::to_string).collect(),
        compute_capability: device.capability.to_string(),
        is_geforce: device.board == crate::arch::tensor::Board::GeForce,
        multiprocessors: value(device.multiprocessors, f64::from),
        boost_clock_hz: value(device.boost_clock, |clock| clock.get()),
        tensor_clock_hz: value(device.tensor_clock, |clock| clock.get()),
        memory_bytes: value(device.memory, |bytes| bytes.get()),
        bandwidth_bytes_per_s: rate(device.bandwidth),
        l2_bytes: value(device.l2, |bytes| bytes.get()),
        l2_bandwidth_bytes_per_s: rate(device.l2_bandwidth),
        l1_bandwidth_bytes_per_s: rate(device.l1_bandwidth()),
        host_link_bytes_per_s: rate(device.host_link),
        nvlink_bytes_per_s: rate(device.nvlink),
        power_limit_w: value(device.power_limit_w, |watts| watts),
        peaks: device.peaks.iter().map(|own| peak(device, own)).collect(),
        confidence: device.confidence,
        doubts: Some(device.doubts.clone()).filter(|doubts| !doubts.is_empty()),
    }
}

fn value<T>(fact: Option<Fact<T>>, number: impl FnOnce(T) -> f64) -> Option<Value> {
    fact.map(|fact| Value {
        value: number(fact.value),
        origin: fact.origin,
    })
}

fn peak(device: &super::Device, peak: &super::Peak) -> Peak {
    Peak {
        label: peak.label(),
        input: peak.input,
        accumulator: peak.accumulator,
        unit: peak.unit,
        is_sparse: peak.is_sparse,
        operations_per_s: peak.rate.get(),
        rate_unit: peak.amount().unit().name().to_owned(),
        clock_hz: peak.clock.map(|clock| clock.get()),
        operations_per_cycle: device.operations_per_cycle(peak),
        ridge_point: device
            .bandwidth
            .map(|bandwidth| peak.rate.ridge_point(bandwidth.value).get()),
        origin: peak.origin,
    }
}
