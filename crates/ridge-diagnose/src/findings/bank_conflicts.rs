//! Lanes of a warp address the same bank of shared memory, and the accesses take turns.
//!
//! # What it says
//! A shared-memory instruction takes one wavefront when its lanes use different banks (or the same word). Lanes that
//! need different words of one bank make it take several.
//!
//! # Evidence
//! `memory_l1_wavefronts_shared` against `memory_l1_wavefronts_shared_ideal`, by instruction: the profiler computes
//! both from the addresses. The hardware's conflict counter also counts arbitration with other traffic and is no
//! evidence of a bad pattern.
//!
//! # Why it costs time
//! Shared memory delivers one wavefront a cycle in each SM; each excess wavefront is a cycle that others wait for.
//!
//! # What to do
//! Pad rows of a tile by one element, or swizzle the column with the row, so that a column walks over all banks.
//!
//! # When it is wrong
//! Table look-ups at random places conflict whatever the layout; fewer look-ups or wider entries help then.
//!
//! # References
//! CUDA C++ Programming Guide, "Shared Memory" of the compute capabilities.

use super::draft::Draft;
use super::per_instruction::{excess, places, total};
use super::saving::Remedy;
use super::{Case, Outcome};
use crate::ledger::{Relief, Stage};

pub(super) const ID: &str = "bank-conflicts";

const ACTUAL: &str = "memory_l1_wavefronts_shared";
const IDEAL: &str = "memory_l1_wavefronts_shared_ideal";
/// The first holds the access patterns, the second the ledger that they are weighed with.
const NEEDS: &[&str] = &["SourceCounters", "MemoryWorkloadAnalysis_Tables"];

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let metrics = &case.profile.metrics;
    let (Some(actual), Some(ideal)) = (total(metrics, ACTUAL), total(metrics, IDEAL)) else {
        return Outcome::NotChecked(NEEDS);
    };
    // Lanes of an atomic collide on an address, which no other layout mends: that is a finding of its own.
    let excess_wavefronts = actual - ideal - from_atomics(case);
    if excess_wavefronts <= 0.0 {
        return Outcome::Clear;
    }
    let Some(row) = case
        .ledger
        .row(Stage::SharedWavefronts)
        .filter(|row| row.demand > 0.0)
    else {
        return Outcome::NotChecked(NEEDS);
    };
    let kept = (1.0 - excess_wavefronts / row.demand).clamp(0.0, 1.0);
    let relief = Relief::none().leave(Stage::SharedWavefronts, kept);
    let title = format!(
        "shared-memory accesses take {:.1} times the wavefronts that their pattern needs",
        (ideal + excess_wavefronts) / ideal.max(1.0)
    );
    Draft::new(ID, title)
        .seen_against(ACTUAL, actual, "wavefront", ideal)
        .seen(IDEAL, ideal, "wavefront")
        .seen_against(
            "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
            row.demand,
            "wavefront",
            kept * row.demand,
        )
        .act(&[
            "pad each row of the tile by one element, so that a column walks over all banks",
            "swizzle: combine the column with the row number by exclusive or",
            "map lanes to another dimension of the tile",
        ])
        .reaches("derived__memory_l1_wavefronts_shared_excessive", 0.0)
        .falls("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum")
        .at(places(&excess(metrics, ACTUAL, IDEAL), case.code))
        .weigh(case, &Remedy::new(relief), NEEDS)
}

/// Wavefronts of atomics beyond one for each.
fn from_atomics(case: &Case<'_, '_>) -> f64 {
    let atomics = case.mix.map_or(0.0, |mix| mix.of_opcodes(&["ATOMS"]));
    let wavefronts = case
        .ledger
        .row(Stage::AtomicsShared)
        .map_or(0.0, |row| row.demand);
    (wavefronts - atomics).max(0.0)
}
