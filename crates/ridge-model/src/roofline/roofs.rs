//! The roofs of a chart: of runs, measured, and of the data sheet.

use super::document::{Basis, ComputeRoofRow, Kernel, MemoryRoofRow, RidgePoint};
use super::{Precision, RunRoofs, Setting, Subject};
use crate::device::Origin;
use crate::measured::Provenance;
use crate::quantity::{Bandwidth, ComputeRate, Hertz};
use crate::roof::{ComputeRoof, MemoryLevel, MemoryRoof, RoofClock};

const LEVELS: [MemoryLevel; 3] = [MemoryLevel::Dram, MemoryLevel::L2, MemoryLevel::L1];

/// The roofs that hold whatever runs.
pub(super) struct Roofs<'s> {
    measured_memory: &'s [MemoryRoof],
    measured_compute: &'s [ComputeRoof],
    /// What the legend calls measured roofs.
    measured_name: String,
    sheet_memory: Vec<MemoryRoof>,
    sheet_compute: Vec<(Precision, ComputeRoof)>,
}

impl<'s> Roofs<'s> {
    pub(super) fn new(setting: &'s Setting) -> Self {
        let device = setting.sheet.as_ref().map(|sheet| &sheet.device);
        Self {
            measured_memory: &setting.measured_memory,
            measured_compute: &setting.measured_compute,
            measured_name: setting
                .measured_by
                .as_ref()
                .map_or_else(|| Basis::Measured.label().to_owned(), Provenance::short),
            sheet_memory: device
                .map(|device| device.memory_roofs())
                .unwrap_or_default(),
            sheet_compute: device
                .into_iter()
                .flat_map(|device| &device.peaks)
                .filter_map(|peak| {
                    Some((
                        Precision::of(peak),
                        ComputeRoof::of(peak, RoofClock::Sheet)?,
                    ))
                })
                .collect(),
        }
    }

    /// The slope that a kernel is held against.
    pub(super) fn memory(&self, run: &RunRoofs, level: MemoryLevel) -> Option<(Basis, Bandwidth)> {
        let of = |roofs: &[MemoryRoof]| {
            let roof = roofs.iter().find(|roof| roof.level == level)?;
            Some(roof.bandwidth)
        };
        let own = run.memory.iter().find(|(of, ..)| *of == level);
        own.map(|(_, bandwidth, _)| (Basis::Run, *bandwidth))
            .or_else(|| Some((Basis::Measured, of(self.measured_memory)?)))
            .or_else(|| Some((Basis::Datasheet, of(&self.sheet_memory)?)))
    }

    /// The flat roof that a kernel is held against.
    pub(super) fn compute(
        &self,
        run: &RunRoofs,
        precision: Precision,
    ) -> Option<(Basis, ComputeRate)> {
        let own = run.compute.iter().find(|(of, ..)| *of == precision);
        let measured = || {
            self.measured_compute
                .iter()
                .find(|roof| is_measured_of(roof, precision))
        };
        let sheet = || self.sheet_compute.iter().find(|(of, _)| *of == precision);
        own.map(|(_, rate, _)| (Basis::Run, *rate))
            .or_else(|| Some((Basis::Measured, measured()?.rate)))
            .or_else(|| Some((Basis::Datasheet, sheet()?.1.rate)))
    }

    pub(super) fn memory_rows(&self, subjects: &[Subject]) -> Vec<MemoryRoofRow> {
        let mut rows = Vec::new();
        for level in LEVELS {
            let row =
                |basis: Basis, bandwidth: Bandwidth, origin, source: &[String]| MemoryRoofRow {
                    id: format!("{}-{}", level.name().to_ascii_lowercase(), basis.name()),
                    level,
                    basis,
                    bytes_per_s: bandwidth.get(),
                    origin,
                    source: source.to_vec(),
                    label: format!(
                        "{} {bandwidth}, {}",
                        level.name(),
                        self.memory_basis(basis, level)
                    ),
                };
            let of_runs = subjects
                .iter()
                .flat_map(|subject| &subject.run.memory)
                .filter(|(of, ..)| *of == level)
                .max_by(|a, b| a.1.get().total_cmp(&b.1.get()));
            if let Some((_, bandwidth, source)) = of_runs {
                rows.push(row(Basis::Run, *bandwidth, Origin::Derived, source));
            }
            for (basis, roofs) in [
                (Basis::Measured, self.measured_memory),
                (Basis::Datasheet, &self.sheet_memory),
            ] {
                if let Some(roof) = roofs.iter().find(|roof| roof.level == level) {
                    rows.push(row(basis, roof.bandwidth, roof.origin, &[]));
                }
            }
        }
        rows
    }

    pub(super) fn compute_rows(
        &self,
        subjects: &[Subject],
        kernels: &[Kernel],
        memory: &[MemoryRoofRow],
    ) -> Vec<ComputeRoofRow> {
        let mut used: Vec<Precision> = kernels
            .iter()
            .flat_map(|kernel| &kernel.points)
            .map(|point| point.precision)
            .collect();
        used.sort_unstable();
        used.dedup();
        let mut known: Vec<Precision> = used.clone();
        known.extend(self.sheet_compute.iter().map(|(precision, _)| *precision));
        known.extend(subjects.iter().flat_map(|subject| {
            let compute = subject.run.compute.iter();
            compute.map(|(precision, ..)| *precision)
        }));
        known.sort_by_key(|precision| (!used.contains(precision), precision.is_sparse, *precision));
        known.dedup();
        let mut rows = Vec::new();
        for precision in known {
            let mut add = |basis: Basis,
                           rate: ComputeRate,
                           clock: Option<Hertz>,
                           origin,
                           source: &[String]| {
                rows.push(ComputeRoofRow {
                    id: format!("{}-{}", precision.id(), basis.name()),
                    precision,
                    precision_id: precision.id(),
                    basis,
                    ops_per_s: rate.get(),
                    unit: precision.rate_unit(),
                    sm_clock_hz: clock.map(Hertz::get),
                    origin,
                    source: source.to_vec(),
                    is_used: used.contains(&precision),
                    label: self.compute_label(precision, rate, basis, clock),
                    ridge_points: ridge_points(rate, basis, memory),
                });
            };
            let of_runs = subjects
                .iter()
                .flat_map(|subject| {
                    let compute = subject.run.compute.iter();
                    compute.map(|roof| (subject.run.sm_clock, roof))
                })
                .filter(|(_, (of, ..))| *of == precision)
                .max_by(|a, b| a.1.1.get().total_cmp(&b.1.1.get()));
            if let Some((clock, (_, rate, source))) = of_runs {
                add(Basis::Run, *rate, clock, Origin::Derived, source);
            }
            let measured = self.measured_compute.iter();
            for roof in measured.filter(|roof| is_measured_of(roof, precision)) {
                add(Basis::Measured, roof.rate, roof.clock, roof.origin, &[]);
            }
            if let Some((_, roof)) = self.sheet_compute.iter().find(|(of, _)| *of == precision) {
                add(Basis::Datasheet, roof.rate, roof.clock, roof.origin, &[]);
            }
        }
        rows
    }
}

impl Roofs<'_> {
    fn basis(&self, basis: Basis) -> &str {
        match basis {
            Basis::Measured => &self.measured_name,
            other => other.label(),
        }
    }

    fn memory_basis(&self, basis: Basis, level: MemoryLevel) -> &str {
        match (basis, level) {
            (Basis::Run, MemoryLevel::Dram) => "at the memory clock of the run",
            (Basis::Run, MemoryLevel::L2) => "loads, at the L2 clock of the run",
            (Basis::Run, MemoryLevel::L1) => "at the SM clock of the run",
            // No sheet promises it: it is what somebody measured.
            (Basis::Datasheet, MemoryLevel::L2) => "loads, device table",
            (basis, _) => self.basis(basis),
        }
    }

    fn compute_label(
        &self,
        precision: Precision,
        rate: ComputeRate,
        basis: Basis,
        clock: Option<Hertz>,
    ) -> String {
        let clock = clock.map_or_else(String::new, |clock| format!(" ({clock})"));
        format!(
            "{}: {}, {}{clock}",
            precision.label(),
            precision.amount(rate),
            self.basis(basis)
        )
    }
}

/// Where a measured roof does not name its unit, it is that of matrix products of its format, or of FP32's and FP64's
/// threads.
fn is_measured_of(roof: &ComputeRoof, precision: Precision) -> bool {
    roof.input.rated_as() == precision.input
        && !precision.is_sparse
        && roof.unit.is_none_or(|unit| unit == precision.unit)
}

fn ridge_points(rate: ComputeRate, basis: Basis, memory: &[MemoryRoofRow]) -> Vec<RidgePoint> {
    LEVELS
        .into_iter()
        .filter_map(|level| {
            let mut of_level = memory.iter().filter(|roof| roof.level == level);
            let roof = of_level
                .clone()
                .find(|roof| roof.basis == basis)
                .or_else(|| of_level.next())?;
            Some(RidgePoint {
                level,
                memory_roof: roof.id.clone(),
                intensity: rate.ridge_point(Bandwidth::new(roof.bytes_per_s)).get(),
            })
        })
        .collect()
}
