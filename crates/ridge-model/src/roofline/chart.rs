//! From kernels and a device to points under roofs.

use super::document::{
    Basis, Beside, Chart, ChartDevice, ComputeRoofRow, Kernel, MemoryRoofRow, Placement, Point,
    RidgePoint, RidgeSide, RoofHeight, Traffic,
};
use super::{Amounts, Precision, RunRoofs, Setting, Subject, flag, pair};
use crate::device::Origin;
use crate::quantity::{Bandwidth, ComputeRate, Flops, Hertz, Intensity, Nanos};
use crate::roof::{ComputeRoof, MemoryLevel, MemoryRoof, RoofClock};

const LEVELS: [MemoryLevel; 3] = [MemoryLevel::Dram, MemoryLevel::L2, MemoryLevel::L1];

impl Chart {
    /// Puts kernels that ran on one device under its roofs.
    #[must_use]
    pub fn new(setting: &Setting, mut subjects: Vec<Subject>) -> Self {
        let total = |subject: &Subject| subject.total_time.map_or(0.0, Nanos::get);
        subjects.sort_by(|a, b| total(b).total_cmp(&total(a)));
        let roofs = Roofs::new(setting);
        let whole = |subject: &Subject| -> f64 {
            let same = |other: &&Subject| other.side == subject.side;
            subjects.iter().filter(same).map(total).sum()
        };
        let kernels: Vec<Kernel> = subjects
            .iter()
            .enumerate()
            .map(|(id, subject)| {
                let share = Some(whole(subject))
                    .filter(|whole| *whole > 0.0)
                    .and_then(|whole| Some(subject.total_time?.get() / whole));
                kernel(id, subject, share, &roofs)
            })
            .collect();
        let clocks = subjects.iter().filter_map(|subject| subject.run.sm_clock);
        let sm_clock_hz = clocks.map(Hertz::get).fold(None, |range, hz| match range {
            Some((low, high)) => Some((hz.min(low), hz.max(high))),
            None => Some((hz, hz)),
        });
        let memory_roofs = roofs.memory_rows(&subjects);
        let compute_roofs = roofs.compute_rows(&subjects, &kernels, &memory_roofs);
        Self {
            device: ChartDevice {
                name: setting.device.clone(),
                sheet: setting
                    .sheet
                    .as_ref()
                    .map(|sheet| sheet.device.name.clone()),
                sheet_scaled_to: setting.sheet.as_ref().and_then(|sheet| sheet.scaled_to),
                compute_capability: setting.compute_capability.clone(),
                multiprocessors: setting.multiprocessors,
                sm_clock_hz,
            },
            memory_roofs,
            compute_roofs,
            pairs: pair::pairs(&subjects, &kernels),
            kernels,
        }
    }
}

/// The roofs that hold whatever runs.
struct Roofs<'s> {
    measured_memory: &'s [MemoryRoof],
    measured_compute: &'s [ComputeRoof],
    sheet_memory: Vec<MemoryRoof>,
    sheet_compute: Vec<(Precision, ComputeRoof)>,
}

impl<'s> Roofs<'s> {
    fn new(setting: &'s Setting) -> Self {
        let device = setting.sheet.as_ref().map(|sheet| &sheet.device);
        Self {
            measured_memory: &setting.measured_memory,
            measured_compute: &setting.measured_compute,
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
    fn memory(&self, run: &RunRoofs, level: MemoryLevel) -> Option<(Basis, Bandwidth)> {
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
    fn compute(&self, run: &RunRoofs, precision: Precision) -> Option<(Basis, ComputeRate)> {
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

    fn memory_rows(&self, subjects: &[Subject]) -> Vec<MemoryRoofRow> {
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
                        memory_basis(basis, level)
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

    fn compute_rows(
        &self,
        subjects: &[Subject],
        kernels: &[Kernel],
        memory: &[MemoryRoofRow],
    ) -> Vec<ComputeRoofRow> {
        let used: Vec<Precision> = kernels
            .iter()
            .flat_map(|kernel| &kernel.points)
            .map(|point| point.precision)
            .collect();
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
                    label: compute_label(precision, rate, basis, clock),
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

/// Where a measured roof does not name its unit, it is that of matrix products of its format, or of FP32's and FP64's
/// threads.
fn is_measured_of(roof: &ComputeRoof, precision: Precision) -> bool {
    roof.input.rated_as() == precision.input
        && !precision.is_sparse
        && roof.unit.is_none_or(|unit| unit == precision.unit)
}

fn memory_basis(basis: Basis, level: MemoryLevel) -> &'static str {
    match (basis, level) {
        (Basis::Run, MemoryLevel::Dram) => "at the memory clock of the run",
        (Basis::Run, MemoryLevel::L2) => "loads, at the L2 clock of the run",
        (Basis::Run, MemoryLevel::L1) => "at the SM clock of the run",
        // No sheet promises it: it is what somebody measured.
        (Basis::Datasheet, MemoryLevel::L2) => "loads, device table",
        (basis, _) => basis.label(),
    }
}

fn compute_label(
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
        basis.label()
    )
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

fn kernel(id: usize, subject: &Subject, time_share: Option<f64>, roofs: &Roofs<'_>) -> Kernel {
    let time_s = subject
        .time
        .map(Nanos::seconds)
        .filter(|seconds| *seconds > 0.0);
    let traffic: Vec<Traffic> = subject
        .moved
        .iter()
        .map(|moved| {
            let rate = time_s.map(|seconds| moved.bytes.get() / seconds);
            let roof = roofs.memory(&subject.run, moved.level);
            Traffic {
                level: moved.level,
                bytes: moved.bytes.get(),
                bytes_per_s: rate,
                roof_share: rate.zip(roof).map(|(rate, (_, roof))| rate / roof.get()),
                source: moved.source.clone(),
            }
        })
        .collect();
    let mut points: Vec<Point> = time_s.map_or_else(Vec::new, |seconds| {
        subject
            .operations
            .iter()
            .filter(|amounts| amounts.operations.get() > 0.0)
            .filter_map(|amounts| point(subject, amounts, seconds, roofs))
            .collect()
    });
    // The kind that is nearest to its roof; without roofs, the one with most operations.
    let weight = |point: &Point| {
        let share = point.roof.as_ref().map_or(0.0, |roof| roof.share);
        (share, point.operations)
    };
    points.sort_by(|a, b| {
        let (first, second) = (weight(a), weight(b));
        a.may_be_moves
            .cmp(&b.may_be_moves)
            .then(second.0.total_cmp(&first.0))
            .then(second.1.total_cmp(&first.1))
    });
    if let Some(main) = points.first_mut() {
        main.is_main = true;
    }
    let has_operations = subject
        .operations
        .iter()
        .any(|amounts| amounts.operations.get() > 0.0);
    let left_out = if !points.is_empty() {
        None
    } else if !has_operations && (subject.operations.is_empty() || !subject.not_counted.is_empty())
    {
        Some(Beside::OperationsNotCounted)
    } else if !has_operations {
        Some(Beside::NoOperations)
    } else if time_s.is_none() {
        Some(Beside::NoTime)
    } else {
        Some(Beside::NoBytes)
    };
    Kernel {
        id,
        name: subject.name.clone(),
        signature: subject.signature.clone(),
        source: subject.source,
        side: subject.side,
        launches: subject.launches.clone(),
        launch: subject.launch,
        origin: subject.origin,
        time_ns: subject.time.map(Nanos::get),
        total_time_ns: subject.total_time.map(Nanos::get),
        time_share,
        class: subject.class,
        sm_clock_hz: subject.run.sm_clock.map(Hertz::get),
        traffic,
        points,
        not_counted: subject.not_counted.clone(),
        left_out,
    }
}

/// A point; absent where it has no place, because no bytes are known.
fn point(subject: &Subject, amounts: &Amounts, seconds: f64, roofs: &Roofs<'_>) -> Option<Point> {
    let precision = amounts.precision;
    let rate = ComputeRate::new(amounts.operations.get() / seconds);
    let roof = roofs.compute(&subject.run, precision);
    let mut flags: Vec<_> = roof
        .and_then(|(basis, roof)| flag::compute(subject, precision, basis, (rate / roof).get()))
        .into_iter()
        .collect();
    let mut placements = Vec::new();
    for moved in &subject.moved {
        let intensity = Flops::for_each(amounts.operations, moved.bytes);
        if !(moved.bytes.get() > 0.0 && intensity.get() > 0.0 && intensity.get().is_finite()) {
            continue;
        }
        let slope = roofs.memory(&subject.run, moved.level);
        if let Some((basis, slope)) = slope {
            let share = moved.bytes.get() / seconds / slope.get();
            flags.extend(flag::memory(subject, moved.level, basis, share));
        }
        placements.push(placement(moved.level, intensity, rate, slope, roof));
    }
    if placements.is_empty() || !rate.get().is_finite() {
        return None;
    }
    Some(Point {
        precision,
        precision_id: precision.id(),
        label: precision.label(),
        operations: amounts.operations.get(),
        ops_per_s: rate.get(),
        unit: precision.rate_unit(),
        source: amounts.source.clone(),
        is_main: false,
        may_be_moves: amounts.may_be_moves,
        roof: roof.map(|(basis, roof)| RoofHeight {
            basis,
            ops_per_s: roof.get(),
            share: (rate / roof).get(),
        }),
        placements,
        flags,
    })
}

fn placement(
    level: MemoryLevel,
    intensity: Intensity,
    rate: ComputeRate,
    slope: Option<(Basis, Bandwidth)>,
    roof: Option<(Basis, ComputeRate)>,
) -> Placement {
    // With one of the two only, what the other allows is not known.
    let both = slope.zip(roof).map(|((_, slope), (_, roof))| (slope, roof));
    let attainable = both.map(|(slope, roof)| intensity.attainable(slope, roof));
    Placement {
        level,
        intensity: intensity.get(),
        attainable_ops_per_s: attainable.map(ComputeRate::get),
        share: attainable.map(|attainable| (rate / attainable).get()),
        bound: both.map(|(slope, roof)| {
            if intensity < roof.ridge_point(slope) {
                RidgeSide::Memory
            } else {
                RidgeSide::Compute
            }
        }),
    }
}
