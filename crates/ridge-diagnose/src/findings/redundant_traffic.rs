//! The same data crosses the memory path several times inside one kernel.
//!
//! # What it says
//! The kernel reads its input in several passes with a barrier or an exchange between them: once for a maximum, once
//! for a sum, once for the result, or again in each turn of a loop. What does not stay on chip between the passes is read again.
//!
//! # Evidence
//! Where the compulsory bytes were given (`ridge why --bytes`), the bytes that the DRAM interface moved beyond them:
//! then it is counted. Otherwise loads before and after a barrier or a shuffle that move the same number of sectors, in
//! a kernel that is bound by DRAM or the L2.
//!
//! # Why it costs time
//! Each pass costs the bandwidth of the whole input.
//!
//! # What to do
//! Do it in one pass: online algorithms (running maximum and sum, Welford's variance), keep the row in registers or
//! shared memory between the phases, fuse the phases.
//!
//! # When it is wrong
//! Two inputs of the same size that are read in different phases look the same; the addresses are not in the report.
//! Bytes that were given can be too few: padding, tables and a second output count as well.
//!
//! # References
//! M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax"; B. P. Welford, "Note on a method for
//! calculating corrected sums of squares".

use ridge_model::quantity::Bytes;

use super::draft::Draft;
use super::passes::{Passes, SECTORS, passes};
use super::per_instruction::places;
use super::saving::Remedy;
use super::{Case, Outcome};
use crate::compulsory::EXCESS;
use crate::document::{Confidence, Location};
use crate::ledger::{Relief, Stage};
use crate::limiter::CLEARLY_MORE;
use ridge_model::arch::SECTOR_BYTES;

pub(super) const ID: &str = "redundant-traffic";

const NEEDS: &[&str] = &["SourceCounters", "MemoryWorkloadAnalysis_Tables"];
/// Bytes read and written, where those that are compulsory are known.
const COUNTED_NEEDS: &[&str] = &["MemoryWorkloadAnalysis_Tables"];

/// Less than the 60 % of other findings: at half load a request waits as long as it is served (`ρ / (1 − ρ)` = 1), and
/// the loads that make it wait are those that a single pass saves.
const BUSY: f64 = 0.5;
/// The first pass stays. Below this less than 15 % of what is loaded can go. A convention: 5 and 30 % separate the
/// labelled pairs alike.
const LARGE: f64 = 0.15;

/// What an access passes between the registers and the L2.
const PATH: &[Stage] = &[
    Stage::L1Fill,
    Stage::L1Wavefronts,
    Stage::L1Writeback,
    Stage::L2Requests,
    Stage::L2Sectors,
    Stage::L2Return,
];

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let was_given = case.compulsory.is_some_and(|known| known.bytes.is_some());
    match Excess::of(case) {
        None if was_given => Outcome::NotChecked(COUNTED_NEEDS),
        Some(excess) if excess.is_clear() => counted(case, &excess),
        // What crosses the interface is needed. The L2 may still hand out the same data again and again.
        Some(_) if case.busy(Stage::DramBytes) >= case.busy(Stage::L2Sectors) => Outcome::Clear,
        _ => inferred(case),
    }
}

/// Bytes beyond those that were given as compulsory.
pub(super) struct Excess {
    pub(super) given: f64,
    pub(super) moved: f64,
}

impl Excess {
    /// Absent where no bytes were given or none were counted.
    pub(super) fn of(case: &Case<'_, '_>) -> Option<Self> {
        let bytes = case.compulsory?.bytes.as_ref()?;
        Some(Self {
            given: bytes.given,
            moved: bytes.moved?,
        })
    }

    pub(super) fn factor(&self) -> f64 {
        self.moved / self.given
    }

    /// Whether it is no matter of rounding.
    pub(super) fn is_clear(&self) -> bool {
        self.factor() >= EXCESS
    }

    /// What is left when only compulsory bytes cross the interface. The way from the L2 to the registers has to carry
    /// these at least; as a rule it is relieved of as many bytes as the interface.
    fn remedy(&self, case: &Case<'_, '_>) -> Remedy {
        let through_l2 = case
            .ledger
            .row(Stage::L2Sectors)
            .map_or(self.moved, |row| row.demand * SECTOR_BYTES)
            .max(self.moved);
        let left = |path: f64| {
            PATH.iter()
                .fold(Relief::none(), |relief, stage| relief.leave(*stage, path))
                .leave(Stage::DramBytes, self.given / self.moved)
        };
        let likely = 1.0 - (self.moved - self.given) / through_l2;
        Remedy::new(left(self.given / through_l2)).likely(left(likely))
    }

    /// Of today's duration, what the busiest unit takes when only compulsory bytes cross the interface.
    pub(super) fn bound_without(&self, case: &Case<'_, '_>) -> Option<f64> {
        let (_, bound) = case.ledger.bound_after(&self.remedy(case).at_most)?;
        Some(bound.max(case.idle()))
    }
}

fn counted(case: &Case<'_, '_>, excess: &Excess) -> Outcome {
    Draft::new(
        ID,
        format!(
            "device memory moves {:.2} times the compulsory bytes: {} instead of {}",
            excess.factor(),
            Bytes::new(excess.moved),
            Bytes::new(excess.given)
        ),
    )
    .seen_against(
        "dram__bytes_read.sum + dram__bytes_write.sum, against the bytes given on the command line",
        excess.moved,
        "byte",
        excess.given,
    )
    .act(&[
        "read each input once and write each output once: one pass, tiles that neighbouring blocks share",
        "keep what is used again in registers, shared memory or, if it fits, in the L2",
    ])
    .falls("dram__bytes_read.sum")
    .falls("lts__t_sectors_srcunit_tex_op_read.sum")
    .at(loads(case))
    .weigh(case, &excess.remedy(case), COUNTED_NEEDS)
}

fn loads(case: &Case<'_, '_>) -> Vec<Location> {
    places(&case.by_instruction(SECTORS), case.code)
}

/// Without knowledge of what is compulsory: phases that move the same number of sectors.
fn inferred(case: &Case<'_, '_>) -> Outcome {
    let path = [
        Stage::DramBytes,
        Stage::L2Requests,
        Stage::L2Sectors,
        Stage::L2Return,
    ];
    let busy = path
        .iter()
        .map(|stage| case.busy(*stage))
        .fold(0.0, f64::max);
    let is_seen = path.iter().any(|stage| case.ledger.row(*stage).is_some());
    if is_seen && (busy < BUSY || busy < case.busiest() - CLEARLY_MORE) {
        return Outcome::Clear;
    }
    // Where the accesses of each instruction are, and where the barriers between them.
    let has_accesses = !case.by_instruction(SECTORS).is_empty();
    let Some(code) = case.code.filter(|_| is_seen && has_accesses) else {
        return Outcome::NotChecked(NEEDS);
    };
    let (all, passes) = passes(case, code);
    let Some(Passes {
        count,
        sectors: one,
    }) = passes
    else {
        return Outcome::Clear;
    };
    let again = one * (count - 1.0);
    if again < LARGE * all {
        return Outcome::Clear;
    }
    // Smaller phases may read a part of the same data again: one pass does without them as well.
    let again_at_most = all - one;
    let sectors = case.number(SECTORS).unwrap_or(all).max(all);
    // What the L2 kept between the passes did not cross the DRAM interface again.
    let Some(read) = case.number("dram__sectors_read.sum").or_else(|| {
        let bytes = case.number("dram__bytes_read.sum")?;
        Some(bytes / SECTOR_BYTES)
    }) else {
        return Outcome::NotChecked(NEEDS);
    };
    let from_dram = (read / all).min(1.0);
    let dram = case
        .ledger
        .row(Stage::DramBytes)
        .filter(|row| row.unit == "byte" && row.demand > 0.0);
    let without = |again: f64| {
        let dram_kept = dram.map_or(1.0, |row| {
            1.0 - again * from_dram * SECTOR_BYTES / row.demand
        });
        let kept = 1.0 - again / sectors;
        PATH.iter()
            .fold(Relief::none(), |relief, stage| relief.leave(*stage, kept))
            .leave(Stage::DramBytes, dram_kept.clamp(0.0, 1.0))
    };
    let remedy = Remedy::new(without(again_at_most)).likely(without(again));
    Draft::new(
        ID,
        format!(
            "{count:.0} passes with barriers between them each read the same number of sectors"
        ),
    )
    .confidence(Confidence::Low)
    .seen_against("sectors read by all passes", all, "sector", all - again)
    .seen("sectors read by one pass", one, "sector")
    .seen_against(
        "dram__sectors_read.sum",
        read,
        "sector",
        (read - again * from_dram).max(0.0),
    )
    .act(&[
        "do it in one pass: a running maximum and sum, Welford's variance",
        "keep the row in registers or shared memory between the phases",
    ])
    .falls("dram__bytes_read.sum")
    .falls("lts__t_sectors_srcunit_tex_op_read.sum")
    .at(loads(case))
    .weigh(case, &remedy, NEEDS)
}
