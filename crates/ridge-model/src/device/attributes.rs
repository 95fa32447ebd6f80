//! What a device says about itself, which goes before every table.

use super::table::board_of;
use super::{Confidence, Device, Fact, Origin, Peak};
use crate::arch::ComputeCapability;
use crate::quantity::{Bandwidth, Bytes, Hertz};

/// Attributes of a device, from a report or from the machine. What is absent leaves the table as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes {
    /// The name that the driver reports.
    pub name: Option<String>,
    /// The compute capability.
    pub capability: Option<ComputeCapability>,
    /// Streaming multiprocessors: of a partition, those of the partition.
    pub multiprocessors: Option<u32>,
    /// The highest SM clock.
    pub sm_clock: Option<Hertz>,
    /// The memory clock, as the driver reports it: data moves on both edges.
    pub memory_clock: Option<Hertz>,
    /// Width of the memory interface.
    pub memory_bus_bits: Option<u32>,
    /// Device memory.
    pub memory: Option<Bytes>,
    /// Size of the L2.
    pub l2: Option<Bytes>,
}

impl Attributes {
    /// Peak bandwidth of the memory: two transfers a clock over the whole interface.
    #[must_use]
    pub fn bandwidth(&self) -> Option<Bandwidth> {
        let bytes = f64::from(self.memory_bus_bits?) / 8.0;
        Some(Bandwidth::new(2.0 * self.memory_clock?.get() * bytes))
    }
}

fn attribute<T>(value: T) -> Fact<T> {
    Fact {
        value,
        origin: Origin::Attribute,
    }
}

impl Device {
    /// The device as its attributes have it: they replace what the table says, and peaks follow the number of
    /// multiprocessors and the clock.
    ///
    /// The tensor clock of the table stays where it is the lower one, because it is power that sets it. Attributes of
    /// another compute capability belong to another device: then nothing of the table is left but links and power.
    #[must_use]
    pub fn with_attributes(&self, attributes: &Attributes) -> Self {
        let mut device = self.clone();
        let is_other = attributes
            .capability
            .is_some_and(|capability| capability != self.capability);
        if let Some(name) = &attributes.name
            && !device.aliases.contains(name)
        {
            device.aliases.push(name.clone());
        }
        if let Some(capability) = attributes.capability {
            device.capability = capability;
        }
        if is_other {
            device.multiprocessors = None;
            device.boost_clock = None;
            device.tensor_clock = None;
            device.l2 = None;
            device.l2_bandwidth = None;
            device.bandwidth = None;
            device.memory = None;
        }
        if let Some(count) = attributes.multiprocessors {
            device.multiprocessors = Some(attribute(count));
        }
        if let Some(clock) = attributes.sm_clock {
            device.boost_clock = Some(attribute(clock));
            device.tensor_clock = device.tensor_clock.filter(|tensor| tensor.value < clock);
        }
        device.bandwidth = attributes.bandwidth().map(attribute).or(device.bandwidth);
        device.memory = attributes.memory.map(attribute).or(device.memory);
        device.l2 = attributes.l2.map(attribute).or(device.l2);
        if is_other || self.peaks.is_empty() {
            device.derive_peaks();
        } else {
            device.peaks = self
                .peaks
                .iter()
                .map(|peak| device.rescaled(peak, self))
                .collect();
        }
        device
    }

    /// A device that stands in no table, from its attributes; absent without a compute capability.
    #[must_use]
    pub fn from_attributes(attributes: &Attributes) -> Option<Self> {
        let capability = attributes.capability?;
        let name = attributes
            .name
            .clone()
            .unwrap_or_else(|| format!("device of compute capability {capability}"));
        let bare = Self {
            board: board_of(&name, &[]),
            name,
            aliases: Vec::new(),
            pci_ids: Vec::new(),
            capability,
            multiprocessors: None,
            boost_clock: None,
            tensor_clock: None,
            memory: None,
            bandwidth: None,
            l2: None,
            l2_bandwidth: None,
            host_link: None,
            nvlink: None,
            power_limit_w: None,
            peaks: Vec::new(),
            confidence: Confidence::Medium,
            doubts: String::new(),
        };
        Some(bare.with_attributes(attributes))
    }

    /// A peak of another version of this device, for its own multiprocessors and clock.
    fn rescaled(&self, peak: &Peak, from: &Self) -> Peak {
        let multiprocessors = match (self.multiprocessors, from.multiprocessors) {
            (Some(own), Some(other)) => f64::from(own.value) / f64::from(other.value),
            _ => 1.0,
        };
        let clock = self.peak_clock(peak.input, peak.unit);
        let clocks = match (clock, peak.clock) {
            (Some(own), Some(other)) if other.get() > 0.0 => own.get() / other.get(),
            _ => 1.0,
        };
        let factor = multiprocessors * clocks;
        if (factor - 1.0).abs() < f64::EPSILON {
            return Peak { clock, ..*peak };
        }
        Peak {
            rate: peak.rate * factor,
            clock,
            origin: Origin::Derived,
            ..*peak
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Devices, PeakRequest};
    use crate::{NumberFormat, quantity::ComputeRate};

    fn rate(device: &Device, format: NumberFormat) -> ComputeRate {
        device.peak(PeakRequest::of(format)).unwrap().rate
    }

    /// Attributes of an H200 as a report holds them: a 6016-bit interface at 3201 MHz makes 4814 GB/s.
    #[test]
    fn attributes_win_over_the_table() {
        let table = Devices::known().find("h200").unwrap();
        let attributes = Attributes {
            name: Some("NVIDIA H200".to_owned()),
            capability: Some(table.capability),
            multiprocessors: Some(66),
            sm_clock: Some(Hertz::new(1.98e9)),
            memory_clock: Some(Hertz::new(3.201e9)),
            memory_bus_bits: Some(6016),
            memory: Some(Bytes::new(150.1e9)),
            l2: Some(Bytes::new(30.0 * 1_048_576.0)),
        };
        let device = table.with_attributes(&attributes);
        assert_eq!(device.bandwidth.unwrap().origin, Origin::Attribute);
        assert!((device.bandwidth.unwrap().value.get() / 4814e9 - 1.0).abs() < 1e-3);
        assert_eq!(device.l2.unwrap().value.binary().to_string(), "30 MiB");
        for format in [NumberFormat::Fp32, NumberFormat::Bf16] {
            let share = rate(&device, format) / rate(table, format);
            assert!((share.get() - 0.5).abs() < 1e-9, "half of the SMs");
        }
    }

    #[test]
    fn a_lower_clock_lowers_the_peaks_that_it_limits() {
        let table = Devices::known().find("h100-sxm").unwrap();
        let at = |mhz: f64| {
            table.with_attributes(&Attributes {
                sm_clock: Some(Hertz::new(mhz * 1e6)),
                ..Attributes::default()
            })
        };
        let slower = at(1900.0);
        let share = rate(&slower, NumberFormat::Fp32) / rate(table, NumberFormat::Fp32);
        assert!((share.get() - 1900.0 / 1980.0).abs() < 1e-9);
        let tensor = rate(&slower, NumberFormat::Bf16) / rate(table, NumberFormat::Bf16);
        assert!((tensor.get() - 1.0).abs() < 1e-9, "1830 MHz is still there");
        let slowest = at(915.0);
        let tensor = rate(&slowest, NumberFormat::Bf16) / rate(table, NumberFormat::Bf16);
        assert!((tensor.get() - 0.5).abs() < 1e-9);
    }

    #[test]
    fn without_attributes_nothing_changes() {
        for device in Devices::known().iter() {
            assert_eq!(&device.with_attributes(&Attributes::default()), device);
        }
    }

    #[test]
    fn a_device_of_no_table_gets_its_peaks_from_the_architecture() {
        let attributes = Attributes {
            name: Some("NVIDIA GeForce RTX 4070".to_owned()),
            capability: Some(ComputeCapability { major: 8, minor: 9 }),
            multiprocessors: Some(46),
            sm_clock: Some(Hertz::new(2.475e9)),
            ..Attributes::default()
        };
        let device = Device::from_attributes(&attributes).unwrap();
        // 29.15 TFLOP/s of the vendor's page for this board.
        assert!((rate(&device, NumberFormat::Fp32).get() / 29.15e12 - 1.0).abs() < 0.02);
        // Half rate with FP32 accumulators, since it is a GeForce: four times FP32 in FP16 into FP16.
        let bf16 = rate(&device, NumberFormat::Bf16) / rate(&device, NumberFormat::Fp32);
        assert!((bf16.get() - 2.0).abs() < 1e-9);
        assert_eq!(Device::from_attributes(&Attributes::default()), None);
    }
}
