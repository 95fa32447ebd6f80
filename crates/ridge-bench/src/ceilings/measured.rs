//! What other commands need of a document: rates by memory, unit and link.

use ridge_model::NumberFormat;
use ridge_model::bound::Link;
use ridge_model::device::PeakUnit;
use ridge_model::measured::{MeasuredCeilings, MeasuredPeak, Provenance};
use ridge_model::quantity::{Bandwidth, ComputeRate, Hertz, Nanos};
use ridge_model::roof::MemoryLevel;

use super::document::{Document, Family, Figure, Path};

impl Document {
    /// The figures as rates. Those of device memory are of a copy, which reads as much as it writes.
    #[must_use]
    pub fn measured(&self, file: &str) -> MeasuredCeilings {
        let median = |id: &str| {
            self.figure(id)
                .map(|figure| figure.burst.median)
                .filter(|median| *median > 0.0)
        };
        let bandwidth = |id: &str| median(id).map(Bandwidth::new);
        let levels = [
            (MemoryLevel::Dram, "dram-copy"),
            (MemoryLevel::L2, "l2-read"),
            (MemoryLevel::L1, "l1-read-16"),
        ];
        let links = [
            (Link::HostToDevice, "link-h2d-pinned"),
            (Link::DeviceToHost, "link-d2h-pinned"),
        ];
        MeasuredCeilings {
            provenance: Provenance {
                device: self.machine.device.clone(),
                is_simulated: self.machine.is_simulated,
                uuid: self.machine.uuid.clone(),
                date: self.date.clone(),
                driver: self.machine.driver.clone(),
                tool_version: self.tool_version.clone(),
                file: file.to_owned(),
            },
            memory: levels
                .into_iter()
                .filter_map(|(level, id)| Some((level, bandwidth(id)?)))
                .collect(),
            peaks: self.figures.iter().filter_map(peak).collect(),
            links: links
                .into_iter()
                .filter_map(|(link, id)| Some((link, bandwidth(id)?)))
                .collect(),
            launch: median("launch-in-a-row").map(Nanos::new),
        }
    }
}

/// A figure as the peak of a unit.
fn peak(figure: &Figure) -> Option<MeasuredPeak> {
    let input: NumberFormat = figure.format.as_deref()?.parse().ok()?;
    let unit = match (figure.family, figure.path) {
        (Family::Vector, _) => PeakUnit::Vector,
        (Family::Tensor, Path::Loop) => PeakUnit::TensorWarp,
        (Family::Tensor, _) => PeakUnit::Tensor,
        _ => return None,
    };
    let accumulator = match unit {
        PeakUnit::Vector => input,
        _ if figure.id.ends_with("sum16") => NumberFormat::Fp16,
        _ => input.usual_accumulator(),
    };
    Some(MeasuredPeak {
        input,
        accumulator,
        unit,
        rate: ComputeRate::new(figure.burst.median),
        clock: figure.burst.sm_clock_hz.map(Hertz::new),
    })
}
