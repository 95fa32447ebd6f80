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

use super::Outcome;
use super::per_instruction::{excess, places, total};
use super::saving::saving;
use crate::document::{Confidence, Direction, Evidence, Finding, Verify};
use crate::ledger::{Relief, Stage};
use crate::profile::Case;

pub(super) const ID: &str = "bank-conflicts";

const ACTUAL: &str = "memory_l1_wavefronts_shared";
const IDEAL: &str = "memory_l1_wavefronts_shared_ideal";
const NEEDS: &[&str] = &["SourceCounters", "MemoryWorkloadAnalysis_Tables"];

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let metrics = &case.profile.metrics;
    let (Some(actual), Some(ideal)) = (total(metrics, ACTUAL), total(metrics, IDEAL)) else {
        return Outcome::NotChecked(NEEDS);
    };
    let excess_wavefronts = actual - ideal;
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
    let Some(saving) = saving(case.ledger, &relief, &relief) else {
        return Outcome::NotChecked(NEEDS);
    };
    Outcome::Found(Box::new(Finding {
        id: ID.to_owned(),
        title: format!(
            "shared-memory accesses take {:.1} times the wavefronts that their pattern needs",
            actual / ideal.max(1.0)
        ),
        saving_ceiling: saving.ceiling,
        saving_expected: saving.expected,
        next_limit: saving.next_limit,
        confidence: Confidence::High,
        evidence: vec![
            Evidence {
                metric: ACTUAL.to_owned(),
                value: actual,
                unit: "wavefront".to_owned(),
                healthy: Some(ideal),
            },
            Evidence {
                metric: IDEAL.to_owned(),
                value: ideal,
                unit: "wavefront".to_owned(),
                healthy: None,
            },
            Evidence {
                metric: "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum".to_owned(),
                value: row.demand,
                unit: "wavefront".to_owned(),
                healthy: None,
            },
        ],
        actions: vec![
            "pad each row of the tile by one element, so that a column walks over all banks"
                .to_owned(),
            "swizzle: combine the column with the row number by exclusive or".to_owned(),
            "map lanes to another dimension of the tile".to_owned(),
        ],
        verify: vec![
            Verify {
                metric: "derived__memory_l1_wavefronts_shared_excessive".to_owned(),
                direction: Direction::To,
                target: Some(0.0),
            },
            Verify {
                metric: "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum".to_owned(),
                direction: Direction::Down,
                target: Some(row.demand - excess_wavefronts),
            },
        ],
        locations: places(&excess(metrics, ACTUAL, IDEAL), case.code),
    }))
}
