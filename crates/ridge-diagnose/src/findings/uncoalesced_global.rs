//! Global accesses of a warp touch more 32-byte sectors than their bytes need.
//!
//! # What it says
//! The lanes of a warp read or write addresses that are far apart (a stride, an array of structures, an index array,
//! a row that does not start at a sector boundary), so that one instruction fetches more sectors than its bytes fill.
//!
//! # Evidence
//! `memory_l2_theoretical_sectors_global` against `memory_l2_theoretical_sectors_global_ideal`, by instruction: the
//! profiler computes both from the addresses. Excess is their difference; a broadcast has none.
//!
//! # Why it costs time
//! Every sector passes the tag stage of the L1, the crossbar, the L2 and, when it is not cached, the DRAM interface,
//! whether its bytes are used or not.
//!
//! # What to do
//! Let neighbouring lanes touch neighbouring addresses: walk along rows, turn an array of structures into a structure
//! of arrays, stage through shared memory, sort indices, align rows to 32 bytes.
//!
//! # When it is wrong
//! A gather through indices that nobody can sort has no better pattern; then the ceiling is out of reach. Excess
//! sectors that the L1 serves cost little: then the expected saving is small.
//!
//! # References
//! CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory".

use super::Outcome;
use super::per_instruction::{excess, places, total};
use super::saving::saving;
use crate::document::{Confidence, Direction, Evidence, Finding, Verify};
use crate::ledger::{Relief, Stage};
use crate::profile::Case;
use ridge_model::arch::SECTOR_BYTES;

pub(super) const ID: &str = "uncoalesced-global";

const ACTUAL: &str = "memory_l2_theoretical_sectors_global";
const IDEAL: &str = "memory_l2_theoretical_sectors_global_ideal";
/// The first holds the access patterns, the second the ledger that they are weighed with.
const NEEDS: &[&str] = &["SourceCounters", "MemoryWorkloadAnalysis_Tables"];

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let metrics = &case.profile.metrics;
    let (Some(actual), Some(ideal)) = (total(metrics, ACTUAL), total(metrics, IDEAL)) else {
        return Outcome::NotChecked(NEEDS);
    };
    if actual <= 0.0 || ideal >= actual {
        return Outcome::Clear;
    }
    let kept = ideal / actual;
    // At most, every stage that sectors pass shrinks in proportion.
    let at_most = SECTOR_STAGES
        .iter()
        .fold(Relief::none(), |relief, stage| relief.leave(*stage, kept));
    // As a rule DRAM moves each sector that is needed once: no more than that can fall away, and nothing when the
    // caches already catch the excess.
    let dram_sectors = case
        .ledger
        .row(Stage::DramBytes)
        .filter(|row| row.unit == "byte");
    let dram_kept = dram_sectors.map_or(kept, |row| {
        (ideal / (row.demand / SECTOR_BYTES)).clamp(kept, 1.0)
    });
    let likely = SECTOR_STAGES.iter().fold(Relief::none(), |relief, stage| {
        relief.leave(
            *stage,
            if *stage == Stage::DramBytes {
                dram_kept
            } else {
                kept
            },
        )
    });
    let Some(saving) = saving(case.ledger, &at_most, &likely) else {
        return Outcome::NotChecked(NEEDS);
    };
    let ratio = actual / ideal;
    Outcome::Found(Box::new(Finding {
        id: ID.to_owned(),
        title: format!(
            "global accesses touch {ratio:.1} times the sectors that their bytes need ({:.0} % of the sectors are excess)",
            100.0 * (1.0 - kept)
        ),
        saving_ceiling: saving.ceiling,
        saving_expected: saving.expected,
        next_limit: saving.next_limit,
        confidence: Confidence::High,
        evidence: evidence(case, actual, ideal),
        actions: vec![
            "let neighbouring lanes of a warp touch neighbouring addresses: walk along rows, not columns".to_owned(),
            "store fields that are used together in arrays of their own (structure of arrays)".to_owned(),
            "where the pattern has to stay, load whole rows into shared memory and pick from there".to_owned(),
            "sort or group indices of gathers; align rows to 32 bytes".to_owned(),
        ],
        verify: vec![
            Verify {
                metric: "derived__memory_l2_theoretical_sectors_global_excessive".to_owned(),
                direction: Direction::To,
                target: Some(0.0),
            },
            Verify { metric: "lts__t_requests.sum".to_owned(), direction: Direction::Down, target: None },
        ],
        locations: places(&excess(metrics, ACTUAL, IDEAL), case.code),
    }))
}

/// The stages that a sector of a global access passes.
const SECTOR_STAGES: &[Stage] = &[
    Stage::L1Wavefronts,
    Stage::L1Fill,
    Stage::L1Store,
    Stage::L2Requests,
    Stage::L2Sectors,
    Stage::L2Return,
    Stage::L2Write,
    Stage::DramBytes,
];

fn evidence(case: &Case<'_, '_>, actual: f64, ideal: f64) -> Vec<Evidence> {
    let mut list = vec![
        Evidence {
            metric: ACTUAL.to_owned(),
            value: actual,
            unit: "sector".to_owned(),
            healthy: Some(ideal),
        },
        Evidence {
            metric: IDEAL.to_owned(),
            value: ideal,
            unit: "sector".to_owned(),
            healthy: None,
        },
    ];
    for operation in ["ld", "st"] {
        let number = |what: &str| {
            case.profile.metrics.number(&format!(
                "l1tex__t_{what}_pipe_lsu_mem_global_op_{operation}.sum"
            ))
        };
        if let (Some(sectors), Some(requests)) = (number("sectors"), number("requests"))
            && requests > 0.0
        {
            list.push(Evidence {
                metric: format!(
                    "l1tex__t_sectors_pipe_lsu_mem_global_op_{operation}.sum / l1tex__t_requests_pipe_lsu_mem_global_op_{operation}.sum"
                ),
                value: sectors / requests,
                unit: "sector/request".to_owned(),
                healthy: None,
            });
        }
    }
    list
}
