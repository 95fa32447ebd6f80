//! From kernels and a device to points under roofs.

use super::document::{
    Basis, Beside, Chart, ChartDevice, Kernel, Placement, Point, RidgeSide, RoofHeight, Side,
    Traffic,
};
use super::roofs::Roofs;
use super::{Amounts, Setting, Subject, flag, pair};
use crate::quantity::{Bandwidth, ComputeRate, Flops, Hertz, Intensity, Nanos};
use crate::roof::MemoryLevel;

impl Chart {
    /// Puts kernels that ran on one device under its roofs.
    #[must_use]
    pub fn new(setting: &Setting, mut subjects: Vec<Subject>) -> Self {
        let total = |subject: &Subject| subject.total_time.map_or(0.0, Nanos::get);
        let is_damaged: Vec<bool> = subjects.iter_mut().map(Subject::leave_out).collect();
        let mut subjects: Vec<(Subject, bool)> = subjects.into_iter().zip(is_damaged).collect();
        subjects.sort_by(|(a, _), (b, _)| total(b).total_cmp(&total(a)));
        let (subjects, is_damaged): (Vec<Subject>, Vec<bool>) = subjects.into_iter().unzip();
        let roofs = Roofs::new(setting);
        let of_side = |side: Option<Side>| -> f64 {
            let same = subjects.iter().filter(|subject| subject.side == side);
            same.map(total).sum()
        };
        let wholes =
            [None, Some(Side::Before), Some(Side::After)].map(|side| (side, of_side(side)));
        let whole = |subject: &Subject| {
            let own = wholes.iter().find(|(side, _)| *side == subject.side);
            own.map_or(0.0, |(_, whole)| *whole)
        };
        let kernels: Vec<Kernel> = subjects
            .iter()
            .enumerate()
            .map(|(id, subject)| {
                let share = Some(whole(subject))
                    .filter(|whole| *whole > 0.0)
                    .and_then(|whole| Some(subject.total_time?.get() / whole));
                kernel(id, subject, share, &roofs, is_damaged[id])
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
                measured_by: setting.measured_by.clone(),
            },
            memory_roofs,
            compute_roofs,
            pairs: pair::pairs(&subjects, &kernels),
            kernels,
        }
    }
}

fn kernel(
    id: usize,
    subject: &Subject,
    time_share: Option<f64>,
    roofs: &Roofs<'_>,
    is_damaged: bool,
) -> Kernel {
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
    let timed_s = time_s.filter(|_| subject.left_out.is_none());
    let mut points: Vec<Point> = timed_s.map_or_else(Vec::new, |seconds| {
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
    } else if subject.left_out.is_some() {
        subject.left_out
    } else if is_damaged {
        Some(Beside::Implausible)
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
