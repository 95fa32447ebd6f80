//! What one GPU reached when it was measured: rates that work can attain there, below those of a data sheet.

use std::fmt::{self, Display, Formatter};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::NumberFormat;
use crate::bound::Link;
use crate::device::{Device, Origin, Peak, PeakUnit};
use crate::quantity::{Bandwidth, ComputeRate, Hertz, Nanos};
use crate::roof::{ComputeRoof, MemoryLevel, MemoryRoof};

/// Whose figures they are, and when and with what they were measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// The name that the driver reports.
    pub device: String,
    /// Whether a model answered, so that nothing was measured.
    pub is_simulated: bool,
    /// The identifier of the GPU.
    pub uuid: Option<String>,
    /// The day in UTC, as `2026-08-14`.
    pub date: Option<String>,
    /// The version of the driver.
    pub driver: Option<String>,
    /// The version of the command.
    pub tool_version: String,
    /// The file that they were read from.
    pub file: String,
}

impl Provenance {
    /// The words for it in a legend.
    #[must_use]
    pub fn short(&self) -> String {
        match &self.date {
            _ if self.is_simulated => "of a model".to_owned(),
            Some(date) => format!("measured {date}"),
            None => "measured".to_owned(),
        }
    }
}

impl Display for Provenance {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.is_simulated {
            write!(f, "of a model of {}, not measured", self.device)?;
        } else {
            write!(f, "measured on {}", self.device)?;
        }
        if let Some(date) = &self.date {
            write!(f, ", {date}")?;
        }
        if let Some(driver) = &self.driver {
            write!(f, ", driver {driver}")?;
        }
        write!(f, ", ridge {}", self.tool_version)
    }
}

/// What a unit computed.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredPeak {
    /// The format that goes in.
    pub input: NumberFormat,
    /// What results are summed in.
    pub accumulator: NumberFormat,
    /// The unit.
    pub unit: PeakUnit,
    /// Operations a second, of a burst.
    pub rate: ComputeRate,
    /// The SM clock meanwhile.
    pub clock: Option<Hertz>,
}

/// What one GPU reached.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredCeilings {
    /// Where the figures come from.
    pub provenance: Provenance,
    /// What memories delivered, one of each level; device memory is that of a copy.
    pub memory: Vec<(MemoryLevel, Bandwidth)>,
    /// What units computed; of several ways to the same, all of them.
    pub peaks: Vec<MeasuredPeak>,
    /// What links carried.
    pub links: Vec<(Link, Bandwidth)>,
    /// What one of many launches in a row cost the host.
    pub launch: Option<Nanos>,
}

impl MeasuredCeilings {
    /// The word for where the figures are known from: those of a model are no measurements.
    #[must_use]
    pub const fn origin(&self) -> Origin {
        if self.provenance.is_simulated {
            Origin::Derived
        } else {
            Origin::Measured
        }
    }

    /// The slope of a memory.
    #[must_use]
    pub fn memory(&self, level: MemoryLevel) -> Option<MemoryRoof> {
        let (_, bandwidth) = self.memory.iter().find(|(of, _)| *of == level)?;
        Some(MemoryRoof {
            level,
            bandwidth: *bandwidth,
            origin: self.origin(),
        })
    }

    /// What was reached of a peak of the table: the best way to it. What the instructions of one warp reach, the unit
    /// reaches too.
    #[must_use]
    pub fn peak(&self, peak: &Peak) -> Option<ComputeRoof> {
        let fits = |own: &&MeasuredPeak| {
            !peak.is_sparse
                && own.input.rated_as() == peak.input.rated_as()
                && own.accumulator == peak.accumulator
                && (own.unit == peak.unit
                    || (own.unit == PeakUnit::TensorWarp && peak.unit == PeakUnit::Tensor))
        };
        let best = self
            .peaks
            .iter()
            .filter(fits)
            .max_by(|a, b| a.rate.get().total_cmp(&b.rate.get()))?;
        Some(ComputeRoof {
            label: peak.label(),
            input: peak.input,
            unit: Some(peak.unit),
            rate: best.rate,
            clock: best.clock,
            origin: self.origin(),
        })
    }

    /// What a link carried.
    #[must_use]
    pub fn link(&self, link: Link) -> Option<Bandwidth> {
        self.links
            .iter()
            .find(|(of, _)| *of == link)
            .map(|(_, bandwidth)| *bandwidth)
    }

    /// The roofs of a chart: slopes, and for each format and unit of a device its best flat roof.
    #[must_use]
    pub fn roofs(&self, device: Option<&Device>) -> (Vec<MemoryRoof>, Vec<ComputeRoof>) {
        let levels = [MemoryLevel::Dram, MemoryLevel::L2, MemoryLevel::L1];
        let slopes = levels.into_iter().filter_map(|level| self.memory(level));
        let mut flats: Vec<ComputeRoof> = Vec::new();
        for peak in device.into_iter().flat_map(|device| &device.peaks) {
            let Some(roof) = self.peak(peak) else {
                continue;
            };
            let same =
                |known: &&mut ComputeRoof| (known.input, known.unit) == (roof.input, roof.unit);
            match flats.iter_mut().find(same) {
                Some(known) if known.rate.get() < roof.rate.get() => *known = roof,
                Some(_) => {}
                None => flats.push(roof),
            }
        }
        (slopes.collect(), flats)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::{Arithmetic, Bounds, Ceilings, Work};
    use crate::device::{Devices, PeakRequest};
    use crate::quantity::{Bytes, Flops};

    fn measured() -> MeasuredCeilings {
        let peak = |input, accumulator, unit, tera| MeasuredPeak {
            input,
            accumulator,
            unit,
            rate: ComputeRate::from_tera(tera),
            clock: None,
        };
        MeasuredCeilings {
            provenance: Provenance {
                device: "NVIDIA H200".to_owned(),
                is_simulated: false,
                uuid: None,
                date: Some("2026-11-30".to_owned()),
                driver: Some("580.1".to_owned()),
                tool_version: "0.1.0".to_owned(),
                file: "h200.json".to_owned(),
            },
            memory: vec![(MemoryLevel::Dram, Bandwidth::from_gb_per_s(4000.0))],
            peaks: vec![
                peak(
                    NumberFormat::Bf16,
                    NumberFormat::Fp32,
                    PeakUnit::Tensor,
                    800.0,
                ),
                peak(
                    NumberFormat::Bf16,
                    NumberFormat::Fp32,
                    PeakUnit::TensorWarp,
                    640.0,
                ),
                peak(
                    NumberFormat::Fp64,
                    NumberFormat::Fp64,
                    PeakUnit::Tensor,
                    62.0,
                ),
                peak(
                    NumberFormat::Fp64,
                    NumberFormat::Fp64,
                    PeakUnit::TensorWarp,
                    66.0,
                ),
            ],
            links: vec![(Link::HostToDevice, Bandwidth::from_gb_per_s(55.0))],
            launch: Some(Nanos::new(3e3)),
        }
    }

    /// 4 GB at 4 TB/s is a millisecond; 8 TFLOP at 800 TFLOP/s are ten.
    #[test]
    fn what_is_attainable_takes_longer_than_the_bound() {
        let h200 = Devices::known().find("h200").unwrap();
        let work = Work {
            bytes: Some(Bytes::new(4e9)),
            arithmetic: vec![Arithmetic::matrix(Flops::new(8e12), NumberFormat::Bf16)],
            ..Work::default()
        };
        let sheet = Bounds::of(&work, &Ceilings::of(h200)).unwrap();
        let measured = measured();
        let ceilings = Ceilings {
            measured: Some(&measured),
            ..Ceilings::of(h200)
        };
        let own = Bounds::of(&work, &ceilings).unwrap();
        let times: Vec<f64> = own.rows().iter().map(|row| row.time.get()).collect();
        assert!(
            (times[0] - 1e6).abs() < 1.0 && (times[1] - 1e7).abs() < 1.0,
            "{times:?}"
        );
        assert!(own.time() > sheet.time());
        assert!(own.rows().iter().all(|row| row.origin == Origin::Measured));
    }

    /// What nobody measured is that of the table, and says so.
    #[test]
    fn what_was_not_measured_is_the_tables() {
        let h200 = Devices::known().find("h200").unwrap();
        let measured = measured();
        let ceilings = Ceilings {
            measured: Some(&measured),
            ..Ceilings::of(h200)
        };
        let part = Arithmetic::matrix(Flops::new(1.0), NumberFormat::Fp16);
        let (roof, _) = ceilings.compute(&part).unwrap();
        assert_ne!(roof.origin, Origin::Measured);
        // At another clock than the one it was measured at, nobody measured it either.
        let part = Arithmetic::matrix(Flops::new(1.0), NumberFormat::Bf16);
        let at = Ceilings {
            clock: Some(Hertz::new(1e9)),
            ..ceilings
        };
        assert_eq!(at.compute(&part).unwrap().0.origin, Origin::Derived);
    }

    /// FP64 products of a warp were faster than the library's.
    #[test]
    fn the_best_way_to_a_peak_counts() {
        let h200 = Devices::known().find("h200").unwrap();
        let request = PeakRequest::of(NumberFormat::Fp64).on(PeakUnit::Tensor);
        let roof = measured().peak(h200.peak(request).unwrap()).unwrap();
        assert_eq!(roof.rate, ComputeRate::from_tera(66.0));
        let (slopes, flats) = measured().roofs(Some(h200));
        assert_eq!(slopes.len(), 1);
        let bf16: Vec<f64> = flats
            .iter()
            .filter(|roof| roof.input == NumberFormat::Bf16)
            .map(|roof| roof.rate.get() / 1e12)
            .collect();
        assert_eq!(bf16, [800.0, 640.0]);
    }
}
