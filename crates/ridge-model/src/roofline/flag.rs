//! Points above a roof: nothing is faster than its roof, so something is not as it seems.

use schemars::JsonSchema;
use serde::Serialize;

use super::document::{Basis, Flag, FlagCause, FlagCode};
use super::{Precision, Subject};
use crate::device::PeakUnit;
use crate::roof::MemoryLevel;

/// How far a point may be above its roof: counters of different passes of a profiler disagree by about as much.
pub const TOLERANCE: f64 = 0.02;

/// Clocks of one device hardly make more of a difference: boards are sold with a boost clock of up to so many times what
/// they hold under load.
const MOST_BY_CLOCK: f64 = 1.3;

/// What is likely to have put a point above a roof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The bytes did not come from that memory.
    CacheResident,
    /// The device ran at another clock than the roof is for.
    OtherClock,
    /// Sparse products are held against a dense peak.
    SparsePeak,
    /// Operations or bytes are counted otherwise than they are done.
    Counting,
    /// They ran on another unit than the roof is of.
    OtherUnit,
    /// Counters of different passes, or of a time that belongs to another run.
    DifferentPasses,
    /// The slope is that of loads, and stores have a path of their own.
    OtherDirection,
    /// What was measured is not the most that can be.
    LowMeasurement,
}

impl Cause {
    const fn text(self) -> &'static str {
        match self {
            Self::CacheResident => {
                "the data is resident in a cache: the bytes were given or requested, but did not all cross this memory"
            }
            Self::OtherClock => {
                "the device ran at a higher clock than the roof is for: give the clock of the run, or take the roof at that clock"
            }
            Self::SparsePeak => {
                "2:4 sparse products count the zeros that they skip: hold them against the sparse peak"
            }
            Self::Counting => {
                "the operations are those of the textbook and not those that were executed, such as with Winograd, Strassen or skipped zeros, or a multiply-add was counted as more than two"
            }
            Self::OtherUnit => {
                "the work ran on another unit or in another format than the roof is of, such as TF32 or BF16 tensor units for FP32"
            }
            Self::DifferentPasses => {
                "counters and time come from different passes of the profiler, between which caches or clocks differed"
            }
            Self::OtherDirection => {
                "the roof is that of loads, and the bytes count stores too, which have a path of their own"
            }
            Self::LowMeasurement => {
                "the roof was measured with a program that does not reach what the device can do"
            }
        }
    }
}

/// The flag of a point that reaches this part of its flat roof.
pub(super) fn compute(
    subject: &Subject,
    precision: Precision,
    basis: Basis,
    share: f64,
) -> Option<Flag> {
    let is_given = subject.is_told();
    let is_dense_matrix = precision.unit != PeakUnit::Vector && !precision.is_sparse;
    // The clock of a run that was given may be wrong too.
    let clock = (basis != Basis::Run || is_given).then_some(Cause::OtherClock);
    let is_far = share > MOST_BY_CLOCK;
    let causes = [
        (basis == Basis::Measured).then_some(Cause::LowMeasurement),
        clock.filter(|_| !is_far),
        is_given.then_some(Cause::OtherUnit),
        is_dense_matrix.then_some(Cause::SparsePeak),
        if is_given {
            Some(Cause::Counting)
        } else {
            Some(Cause::DifferentPasses)
        },
        clock.filter(|_| is_far),
    ];
    flag(FlagCode::AboveComputeRoof, None, basis, share, causes)
}

/// The flag of a kernel that reaches this part of the bandwidth of a memory.
pub(super) fn memory(
    subject: &Subject,
    level: MemoryLevel,
    basis: Basis,
    share: f64,
) -> Option<Flag> {
    let is_given = subject.is_told();
    let causes = [
        is_given.then_some(Cause::CacheResident),
        (level == MemoryLevel::L2).then_some(Cause::OtherDirection),
        (basis == Basis::Measured).then_some(Cause::LowMeasurement),
        (basis == Basis::Datasheet && level != MemoryLevel::Dram).then_some(Cause::OtherClock),
        (!is_given).then_some(Cause::DifferentPasses),
        is_given.then_some(Cause::Counting),
    ];
    flag(FlagCode::AboveMemoryRoof, Some(level), basis, share, causes)
}

fn flag(
    code: FlagCode,
    level: Option<MemoryLevel>,
    basis: Basis,
    share: f64,
    causes: [Option<Cause>; 6],
) -> Option<Flag> {
    (share > 1.0 + TOLERANCE).then(|| Flag {
        code,
        level,
        basis,
        factor: share,
        causes: causes
            .into_iter()
            .flatten()
            .map(|code| FlagCause {
                code,
                text: code.text(),
            })
            .collect(),
    })
}
