//! What a computation needs at least, where the user says it: lower bounds on the duration, and work that is not needed.
//!
//! Counters tell what a kernel did, never what it had to do. Where the compulsory bytes and operations are known, bytes
//! beyond them are a flaw that is counted and not guessed, and the largest lower bound tells how far the kernel is from
//! the end of what tuning can give.

use ridge_model::NumberFormat;
use ridge_model::arch::WARP_SIZE;
use ridge_model::quantity::{Bytes, Flops};

use crate::attainable::attainable;
use crate::document::{Compulsory, CompulsoryBytes, CompulsoryOperations, Origin, Reading};
use crate::ledger::{Ledger, Resource, Row, Stage};
use crate::mix::{InstructionMix, TENSOR};
use crate::profile::KernelProfile;
use crate::work::threads;

/// What the user knows of the computation of one launch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Given {
    /// Bytes that have to cross the interface of the device memory: each input read once, each output written once.
    pub bytes: Option<Bytes>,
    /// Arithmetic operations of the computation; a multiply-add is two.
    pub flops: Option<Flops>,
}

impl Given {
    /// Whether nothing was given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_none() && self.flops.is_none()
    }
}

/// From this factor on, work beyond what was given is no rounding: a count by hand leaves out padding, partial sectors
/// and tables, which are hardly ever a fifth of the whole.
pub(crate) const EXCESS: f64 = 1.2;
/// A gap up to this is good: what is left is launch, ramp-up and what no kernel attains of a peak.
const GOOD: f64 = 1.5;
/// From this gap on, the kernel does something else than its computation: waiting or moving what is not needed.
const FAR: f64 = 5.0;
/// A pipe executes the computation when it has this part of its operations. What another one did beside it makes the
/// bound too long by a tenth at most.
pub(crate) const NEARLY_ALL: f64 = 0.9;
/// Where less of what was given is counted than this, it is no bound. Outputs that stay in the L2 explain half of the bytes
/// of a kernel that reads as much as it writes; operations on integers are not counted.
const FITS: f64 = 0.5;

/// Compares what was given with what one launch did; absent when nothing was given.
pub(crate) fn compulsory(
    given: &Given,
    profile: &KernelProfile<'_>,
    ledger: &Ledger,
    mix: Option<&InstructionMix>,
) -> Option<Compulsory> {
    if given.is_empty() {
        return None;
    }
    let bytes = given
        .bytes
        .map(|bytes| bytes_of(bytes.get(), profile, ledger));
    let operations = given
        .flops
        .map(|flops| operations_of(flops.get(), profile, ledger, mix));
    let bounds = [
        bytes
            .as_ref()
            .filter(|bytes| bytes.fits)
            .and_then(|bytes| Some((bytes.at_peak_ns?, Resource::Dram))),
        operations
            .as_ref()
            .filter(|operations| operations.fits)
            .and_then(|operations| Some((operations.at_peak_ns?, operations.pipe?))),
    ];
    let bound = bounds
        .into_iter()
        .flatten()
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let gap = bound
        .zip(profile.duration_ns())
        .map(|((bound, _), duration)| duration / bound);
    Some(Compulsory {
        origin: Origin::CommandLine,
        bytes,
        operations,
        bound_ns: bound.map(|(ns, _)| ns),
        bound_by: bound.map(|(_, resource)| resource),
        gap,
        saving_ceiling: gap.map(|gap| (1.0 - 1.0 / gap).clamp(0.0, 1.0)),
        reading: gap.map(reading),
    })
}

fn reading(gap: f64) -> Reading {
    if gap < 1.0 {
        Reading::BelowBound
    } else if gap <= GOOD {
        Reading::Good
    } else if gap < FAR {
        Reading::Between
    } else {
        Reading::Far
    }
}

fn bytes_of(given: f64, profile: &KernelProfile<'_>, ledger: &Ledger) -> CompulsoryBytes {
    const COUNTERS: [&str; 2] = ["dram__bytes_read.sum", "dram__bytes_write.sum"];
    // Reports with few counters tell how long the interface was busy, but not its peak in bytes.
    let row = ledger
        .row(Stage::DramBytes)
        .filter(|row| row.unit == "byte");
    let counted = || {
        COUNTERS
            .iter()
            .map(|counter| profile.metrics.number(counter))
            .sum::<Option<f64>>()
            .filter(|bytes| *bytes >= 0.0)
    };
    let moved = row.map(|row| row.demand).or_else(counted);
    let source = match row {
        Some(row) => row.source.clone(),
        None if moved.is_some() => COUNTERS.map(str::to_owned).to_vec(),
        None => Vec::new(),
    };
    let share = attainable(Stage::DramBytes).share;
    let at_peak_ns = row.and_then(|row| time_ns(given, row.capacity_per_s));
    CompulsoryBytes {
        given,
        moved,
        factor: moved.map(|moved| moved / given),
        fits: moved.is_none_or(|moved| moved >= FITS * given),
        at_peak_ns,
        at_attainable_ns: at_peak_ns.map(|ns| ns / share),
        attainable_share: share,
        source,
    }
}

/// Absent where damaged counters make a peak of nearly nothing.
fn time_ns(work: f64, per_second: f64) -> Option<f64> {
    Some(work / per_second * 1e9).filter(|ns| ns.is_finite() && *ns > 0.0)
}

/// Operations on one pipe.
struct OnPipe {
    operations: f64,
    pipe: Resource,
    /// Its peak in operations a second, where it is known.
    peak_per_s: Option<f64>,
    source: Vec<String>,
}

fn operations_of(
    given: f64,
    profile: &KernelProfile<'_>,
    ledger: &Ledger,
    mix: Option<&InstructionMix>,
) -> CompulsoryOperations {
    let pipes = pipes(profile, ledger, mix).map_or_else(Vec::new, Vec::from);
    let total: f64 = pipes.iter().map(|pipe| pipe.operations).sum();
    let counted = (total > 0.0 && total.is_finite()).then_some(total);
    // With work on several pipes each could take over from the other: there is no peak of the mixture.
    let main = pipes
        .iter()
        .find(|pipe| total > 0.0 && pipe.operations >= NEARLY_ALL * total);
    let peak = main.and_then(|main| main.peak_per_s);
    let source = pipes
        .iter()
        .filter(|pipe| pipe.operations > 0.0)
        .flat_map(|pipe| pipe.source.iter().cloned())
        .collect();
    CompulsoryOperations {
        given,
        counted,
        factor: counted.map(|counted| counted / given),
        fits: counted.is_none_or(|counted| counted >= FITS * given),
        at_peak_ns: peak.and_then(|peak| time_ns(given, peak)),
        pipe: main.map(|main| main.pipe),
        source,
    }
}

/// Floating-point operations by pipe; absent unless all kinds were counted.
fn pipes(
    profile: &KernelProfile<'_>,
    ledger: &Ledger,
    mix: Option<&InstructionMix>,
) -> Option<[OnPipe; 4]> {
    let lanes = |stage| {
        // A multiply-add in each lane of each warp instruction that the pipe can start.
        let row: &Row = ledger.row(stage)?;
        Some(2.0 * WARP_SIZE * row.capacity_per_s)
    };
    let threads = |format, pipe, peak_per_s| {
        let counted = threads::operations(format, &profile.metrics, mix)?;
        Some(OnPipe {
            operations: counted.count,
            pipe,
            peak_per_s,
            source: counted.source,
        })
    };
    let tensor = match ledger.row(Stage::Tensor) {
        Some(row) => OnPipe {
            operations: row.demand,
            pipe: Resource::Tensor,
            peak_per_s: Some(row.capacity_per_s),
            source: row.source.clone(),
        },
        // Where operations of the matrix pipes are not counted, there have to be none.
        None if mix?.of_opcodes(TENSOR) <= 0.0 => OnPipe {
            operations: 0.0,
            pipe: Resource::Tensor,
            peak_per_s: None,
            source: Vec::new(),
        },
        None => return None,
    };
    Some([
        threads(NumberFormat::Fp32, Resource::Fma, lanes(Stage::Fma))?,
        threads(NumberFormat::Fp64, Resource::Fp64, lanes(Stage::Fp64))?,
        // Packed arithmetic runs on several pipes, whose share of it no counter tells.
        threads(NumberFormat::Fp16, Resource::Fp16, None)?,
        tensor,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_is_read_at_its_borders() {
        for (gap, expected) in [
            (0.99, Reading::BelowBound),
            (1.0, Reading::Good),
            (1.5, Reading::Good),
            (1.51, Reading::Between),
            (4.99, Reading::Between),
            (5.0, Reading::Far),
            (1e9, Reading::Far),
        ] {
            assert_eq!(reading(gap), expected, "{gap}");
        }
    }

    #[test]
    fn bytes_at_a_peak_take_their_time() {
        // 4.8 GB at 4.8 TB/s, the datasheet's bandwidth of an H200, take a millisecond.
        assert!((time_ns(4.8e9, 4.8e12).unwrap() - 1e6).abs() < 1e-3);
        assert_eq!(time_ns(1e9, 1e-300), None);
    }
}
