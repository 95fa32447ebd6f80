//! A launch at rates that were measured on a GPU of its kind.

use ridge_model::Device;
use ridge_model::measured::MeasuredCeilings;
use ridge_model::roof::MemoryLevel;
use ridge_model::roofline::{Amounts, Moved, Precision};

use crate::compulsory::{Given, NEARLY_ALL};
use crate::document::{AtMeasured, MeasuredPart};
use crate::profile::KernelProfile;
use crate::roofline::amounts;

/// What a launch did, and what was given of its computation, at measured rates. `device` is its row of the table. Absent where
/// nothing of it was measured or counted.
#[must_use]
pub fn at_measured(
    profile: &KernelProfile<'_>,
    given: &Given,
    device: &Device,
    ceilings: &MeasuredCeilings,
) -> Option<AtMeasured> {
    let (operations, moved) = amounts(profile);
    let memory = |level: MemoryLevel, bytes: f64, source: &[String]| {
        let roof = ceilings.memory(level)?;
        part(MeasuredPart {
            what: level.name().to_owned(),
            amount: bytes,
            unit: "byte".to_owned(),
            per_s: roof.bandwidth.get(),
            sm_clock_hz: None,
            time_ns: 0.0,
            origin: roof.origin,
            source: source.to_vec(),
        })
    };
    let compute = |precision: Precision, operations: f64, source: &[String]| {
        let mut peaks = device.peaks.iter();
        let peak = peaks.find(|peak| Precision::of(peak) == precision)?;
        let roof = ceilings.peak(peak)?;
        part(MeasuredPart {
            what: precision.label(),
            amount: operations,
            unit: "operation".to_owned(),
            per_s: roof.rate.get(),
            sm_clock_hz: roof.clock.map(ridge_model::quantity::Hertz::get),
            time_ns: 0.0,
            origin: roof.origin,
            source: source.to_vec(),
        })
    };
    let of_memory = |moved: &Moved| memory(moved.level, moved.bytes.get(), &moved.source);
    let of_units =
        |amounts: &Amounts| compute(amounts.precision, amounts.operations.get(), &amounts.source);
    let certain = operations.iter().filter(|amounts| !amounts.may_be_moves);
    let parts = sorted(
        moved
            .iter()
            .filter_map(of_memory)
            .chain(certain.filter_map(of_units)),
    );
    let total: f64 = operations
        .iter()
        .map(|amounts| amounts.operations.get())
        .sum();
    // Of a mixture there is no rate: each unit could take over from the other.
    let main = operations
        .iter()
        .find(|amounts| total > 0.0 && amounts.operations.get() >= NEARLY_ALL * total);
    let compulsory = sorted(
        given
            .bytes
            .and_then(|bytes| memory(MemoryLevel::Dram, bytes.get(), &[]))
            .into_iter()
            .chain(
                given
                    .flops
                    .zip(main)
                    .and_then(|(flops, main)| compute(main.precision, flops.get(), &[])),
            ),
    );
    if parts.is_empty() && compulsory.is_empty() {
        return None;
    }
    let attainable_ns = parts.first().map(|part| part.time_ns);
    let duration = profile.duration_ns().filter(|duration| *duration > 0.0);
    Some(AtMeasured {
        by: ceilings.provenance.clone(),
        share: attainable_ns
            .zip(duration)
            .map(|(attainable, duration)| attainable / duration),
        attainable_ns,
        compulsory_attainable_ns: compulsory.first().map(|part| part.time_ns),
        parts,
        compulsory,
    })
}

/// A part with its time; absent where damaged counters or rates make none.
fn part(part: MeasuredPart) -> Option<MeasuredPart> {
    let time_ns = part.amount / part.per_s * 1e9;
    (time_ns.is_finite() && time_ns > 0.0).then_some(MeasuredPart { time_ns, ..part })
}

fn sorted(parts: impl Iterator<Item = MeasuredPart>) -> Vec<MeasuredPart> {
    let mut parts: Vec<MeasuredPart> = parts.collect();
    parts.sort_by(|a, b| b.time_ns.total_cmp(&a.time_ns));
    parts
}
