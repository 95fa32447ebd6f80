//! Roofs of a roofline: the rates that memory and arithmetic cannot pass, and the points where they meet.

use schemars::JsonSchema;
use serde::Serialize;

use crate::NumberFormat;
use crate::device::{Device, Fact, Origin, Peak, PeakUnit};
use crate::quantity::{Bandwidth, ComputeRate, Hertz, Intensity};

/// A place of data, nearest to the SM last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MemoryLevel {
    /// Device memory.
    Dram,
    /// The cache that all SMs share.
    L2,
    /// The cache and shared memory of each SM, all together.
    L1,
}

impl MemoryLevel {
    /// The name, as people write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dram => "DRAM",
            Self::L2 => "L2",
            Self::L1 => "L1",
        }
    }
}

/// A sloped roof: what a memory delivers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryRoof {
    /// The memory.
    pub level: MemoryLevel,
    /// What it delivers at most.
    pub bandwidth: Bandwidth,
    /// Where that is known from.
    pub origin: Origin,
}

/// For which clock a flat roof holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RoofClock {
    /// The clock behind the data sheet's number.
    Sheet,
    /// The SM clock of a run: the roof that this run could reach.
    Run(Hertz),
}

/// A flat roof: what a unit computes.
#[derive(Clone, Debug, PartialEq)]
pub struct ComputeRoof {
    /// What kind of peak it is, such as `FP32 vector`.
    pub label: String,
    /// The format that goes in.
    pub input: NumberFormat,
    /// The unit; absent for a measured roof.
    pub unit: Option<PeakUnit>,
    /// Operations a second at most.
    pub rate: ComputeRate,
    /// The SM clock that it holds for.
    pub clock: Option<Hertz>,
    /// Where that is known from.
    pub origin: Origin,
}

impl MemoryRoof {
    /// A roof that was measured on the machine, which goes before one of a sheet.
    #[must_use]
    pub const fn measured(level: MemoryLevel, bandwidth: Bandwidth) -> Self {
        Self {
            level,
            bandwidth,
            origin: Origin::Measured,
        }
    }

    fn of(level: MemoryLevel, fact: Option<Fact<Bandwidth>>) -> Option<Self> {
        fact.map(|fact| Self {
            level,
            bandwidth: fact.value,
            origin: fact.origin,
        })
    }
}

impl ComputeRoof {
    /// A roof that was measured on the machine, which goes before one of a sheet.
    #[must_use]
    pub fn measured(input: NumberFormat, rate: ComputeRate, clock: Option<Hertz>) -> Self {
        Self {
            label: format!("{} measured", input.peak_name()),
            input,
            unit: None,
            rate,
            clock,
            origin: Origin::Measured,
        }
    }

    /// The roof of a peak; absent where the peak is asked for at a clock, but its own is not known.
    #[must_use]
    pub fn of(peak: &Peak, clock: RoofClock) -> Option<Self> {
        let sheet = Self {
            label: peak.label(),
            input: peak.input,
            unit: Some(peak.unit),
            rate: peak.rate,
            clock: peak.clock,
            origin: peak.origin,
        };
        match clock {
            RoofClock::Sheet => Some(sheet),
            RoofClock::Run(clock) => Some(Self {
                rate: peak.at(clock)?,
                clock: Some(clock),
                origin: Origin::Derived,
                ..sheet
            }),
        }
    }

    /// Where this roof meets the slope of a memory.
    #[must_use]
    pub const fn ridge_point(&self, memory: &MemoryRoof) -> Intensity {
        self.rate.ridge_point(memory.bandwidth)
    }
}

impl Device {
    /// The sloped roofs that are known, DRAM first.
    #[must_use]
    pub fn memory_roofs(&self) -> Vec<MemoryRoof> {
        [
            MemoryRoof::of(MemoryLevel::Dram, self.bandwidth),
            MemoryRoof::of(MemoryLevel::L2, self.l2_bandwidth),
            MemoryRoof::of(MemoryLevel::L1, self.l1_bandwidth()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// The flat roofs that are known, at the sheet's clocks or at that of a run.
    #[must_use]
    pub fn compute_roofs(&self, clock: RoofClock) -> Vec<ComputeRoof> {
        self.peaks
            .iter()
            .filter_map(|peak| ComputeRoof::of(peak, clock))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Devices, PeakRequest};

    /// 19.49 TFLOP/s over 1555 GB/s.
    #[test]
    fn the_ridge_point_of_a100_in_single_precision() {
        let a100 = Devices::known().find("A100 40 SXM4").unwrap();
        let peak = a100.peak(PeakRequest::of(NumberFormat::Fp32)).unwrap();
        let roof = ComputeRoof::of(peak, RoofClock::Sheet).unwrap();
        let ridge = roof.ridge_point(&a100.memory_roofs()[0]);
        assert!((ridge.get() - 12.53).abs() < 0.01, "{ridge}");
    }

    /// 132 SMs × 128 bytes × 1.98 GHz, as docs of others have it.
    #[test]
    fn nearer_memories_are_faster() {
        let h200 = Devices::known().find("h200").unwrap();
        let roofs = h200.memory_roofs();
        let levels: Vec<MemoryLevel> = roofs.iter().map(|roof| roof.level).collect();
        assert_eq!(
            levels,
            [MemoryLevel::Dram, MemoryLevel::L2, MemoryLevel::L1]
        );
        assert!(roofs.is_sorted_by(|a, b| a.bandwidth < b.bandwidth));
        assert_eq!(roofs[2].bandwidth.to_string(), "33.5 TB/s");
    }

    /// A copy that reached 4209 GB/s on H200, and a loop that reached 61.6 TFLOP/s.
    #[test]
    fn measured_roofs_have_ridge_points_too() {
        let slope = MemoryRoof::measured(MemoryLevel::Dram, Bandwidth::from_gb_per_s(4209.0));
        let roof = ComputeRoof::measured(NumberFormat::Fp32, ComputeRate::from_tera(61.6), None);
        assert_eq!(roof.ridge_point(&slope).to_string(), "14.6 FLOP/byte");
        assert_eq!(
            (slope.origin, roof.origin),
            (Origin::Measured, Origin::Measured)
        );
    }

    #[test]
    fn a_run_below_the_clock_of_the_sheet_has_a_lower_roof() {
        let h200 = Devices::known().find("h200").unwrap();
        let roofs = h200.compute_roofs(RoofClock::Run(Hertz::new(0.915e9)));
        let sheet = h200.compute_roofs(RoofClock::Sheet);
        let of = |roofs: &[ComputeRoof]| {
            let is_bf16 = |roof: &&ComputeRoof| roof.label == "BF16 tensor, FP32 accumulate";
            roofs.iter().find(is_bf16).unwrap().rate
        };
        assert!(((of(&roofs) / of(&sheet)).get() - 0.5).abs() < 1e-9);
        assert_eq!(roofs.len(), sheet.len());
        let b300 = Devices::known().find("b300").unwrap();
        assert_eq!(b300.compute_roofs(RoofClock::Run(Hertz::new(1e9))), []);
    }
}
