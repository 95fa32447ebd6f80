//! A private array lives in local memory.
//!
//! # What it says
//! An array of a thread is indexed by something that is known only at run time, or is too large for registers; the
//! compiler puts it into local memory, which is device memory behind the L1.
//!
//! # Evidence
//! Local loads and stores that are no register spills.
//!
//! # Why it costs time
//! Each access passes the L1, and what does not stay there the L2 and DRAM, as global memory does.
//!
//! # What to do
//! Unroll, so that indices are constants; put the array into shared memory; replace look-ups by selects; make it
//! smaller.
//!
//! # When it is wrong
//! Reports of profilers before 2025.3 cannot tell such arrays from spills.
//!
//! # References
//! CUDA C++ Best Practices Guide, "Local Memory".

use super::draft::Draft;
use super::per_instruction::places;
use super::saving::{Remedy, Waiting};
use super::{Case, Outcome};
use crate::document::Confidence;
use crate::ledger::{Relief, Stage};

pub(super) const ID: &str = "local-memory";

pub(super) const NEEDS: &[&str] = &[
    "MemoryWorkloadAnalysis_Tables",
    "InstructionStats",
    "WarpStateStats",
];

/// Most local accesses are spills: one of the two findings, this one or `register-spill`, holds.
pub(super) const SPILLS: f64 = 0.5;

/// Instructions for each access by an index: the access, its address and the step or wrap of the index.
const WITH_INDEX: f64 = 3.0;

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let Some(traffic) = Traffic::of(case) else {
        return Outcome::NotChecked(NEEDS);
    };
    if traffic.instructions <= 0.0 || traffic.spilled.is_some_and(|spilled| spilled >= SPILLS) {
        return Outcome::Clear;
    }
    let title = format!(
        "{:.0} % of the loads and stores go to arrays in local memory",
        100.0 * traffic.access_share
    );
    Draft::new(ID, title)
        .confidence(if traffic.spilled.is_some() { Confidence::High } else { Confidence::Medium })
        .seen_against("local loads and stores", traffic.instructions, "inst", 0.0)
        .seen_against("share of local sectors in the traffic beyond the L1", traffic.beyond_l1, "fraction", 0.0)
        .act(&[
            "unroll the loop over the array, so that its indices are constants and it stays in registers",
            "put the array into shared memory, one column for each thread",
            "replace the indexed look-up by selects or arithmetic",
        ])
        .falls("smsp__sass_inst_executed_op_local_ld.sum")
        .at(places(&case.by_instruction("memory_l2_theoretical_sectors_local"), case.code))
        .weigh(case, &without_array(case, &traffic), NEEDS)
}

/// At most, the arithmetic of its indices goes with the array: with constant indices there is none.
fn without_array(case: &Case<'_, '_>, traffic: &Traffic) -> Remedy {
    let remedy = traffic.remedy(case);
    let total = case
        .mix
        .map_or(f64::INFINITY, crate::InstructionMix::total)
        .max(1.0);
    let kept = 1.0 - (WITH_INDEX * traffic.instructions / total).min(1.0);
    let at_most = [Stage::Issue, Stage::Alu, Stage::Fma, Stage::FmaHeavy]
        .iter()
        .fold(remedy.at_most.clone(), |relief, stage| {
            relief.leave(*stage, kept)
        });
    Remedy { at_most, ..remedy }
}

/// What local memory causes.
#[derive(Default)]
pub(super) struct Traffic {
    /// Local loads and stores.
    pub(super) instructions: f64,
    /// Their part of all global and local accesses.
    pub(super) access_share: f64,
    /// Their part of the wavefronts in the L1.
    wavefronts: f64,
    /// Their part of the sectors that go beyond the L1.
    pub(super) beyond_l1: f64,
    /// The same of the sectors that come from beyond, and of those that go there.
    loaded: f64,
    stored: f64,
    /// The part of them that are register spills; absent when the report does not tell.
    pub(super) spilled: Option<f64>,
}

impl Traffic {
    pub(super) fn of(case: &Case<'_, '_>) -> Option<Self> {
        let wavefronts = |space: &str| {
            let name = |operation| {
                format!("l1tex__t_output_wavefronts_pipe_lsu_mem_{space}_op_{operation}.sum")
            };
            Some(case.number(&name("ld"))? + case.number(&name("st"))?)
        };
        let instructions = case
            .sum(&[
                "smsp__sass_inst_executed_op_local_ld.sum",
                "smsp__sass_inst_executed_op_local_st.sum",
            ])
            // What never passed the L1 was not executed either.
            .or_else(|| wavefronts("local").filter(|count| *count <= 0.0))?;
        if instructions <= 0.0 {
            return Some(Self::default());
        }
        let global = case.sum(&[
            "smsp__sass_inst_executed_op_global_ld.sum",
            "smsp__sass_inst_executed_op_global_st.sum",
        ])?;
        let share = |part: f64, rest: f64| {
            if part + rest > 0.0 {
                part / (part + rest)
            } else {
                0.0
            }
        };
        // Stores go through to the L2; loads only when they miss.
        let sectors = |what: &str| {
            let of = |space: &str| {
                case.number(&format!(
                    "l1tex__t_sectors_pipe_lsu_mem_{space}_op_{what}.sum"
                ))
                .unwrap_or(0.0)
            };
            (of("local"), of("global"))
        };
        let (loads, stores) = (sectors("ld_lookup_miss"), sectors("st"));
        let spilled = case
            .number("sass__inst_executed_register_spilling")
            .map(|spills| {
                if instructions > 0.0 {
                    (spills / instructions).min(1.0)
                } else {
                    0.0
                }
            })
            .or_else(|| {
                case.number("derived__local_spilling_requests_pct")
                    .map(|percent| percent / 100.0)
            });
        Some(Self {
            instructions,
            access_share: share(instructions, global),
            wavefronts: share(
                wavefronts("local").unwrap_or(0.0),
                wavefronts("global").unwrap_or(0.0),
            ),
            beyond_l1: share(loads.0 + stores.0, loads.1 + stores.1),
            loaded: share(loads.0, loads.1),
            stored: share(stores.0, stores.1),
            spilled,
        })
    }

    /// All local accesses go: their instructions, their sectors, and the waiting for them.
    pub(super) fn remedy(&self, case: &Case<'_, '_>) -> Remedy {
        let total = case
            .mix
            .map_or(f64::INFINITY, crate::InstructionMix::total)
            .max(1.0);
        let relief = [
            (Stage::L1Fill, self.loaded),
            (Stage::L2Return, self.loaded),
            (Stage::L1Store, self.stored),
            (Stage::L2Write, self.stored),
            (Stage::L2Requests, self.beyond_l1),
            (Stage::L2Sectors, self.beyond_l1),
            (Stage::DramBytes, self.beyond_l1),
        ]
        .iter()
        .fold(Relief::none(), |relief, (stage, part)| {
            relief.leave(*stage, 1.0 - part)
        })
        .leave(Stage::LocalWavefronts, 0.0)
        .leave(Stage::L1Wavefronts, 1.0 - self.wavefronts)
        .leave(Stage::L1Writeback, 1.0 - self.wavefronts)
        .leave(Stage::LsuInstructions, 1.0 - self.access_share)
        .leave(Stage::Issue, 1.0 - (self.instructions / total).min(1.0));
        let waiting =
            case.waiting_for(&["long_scoreboard", "lg_throttle", "drain"]) * self.access_share;
        Remedy::new(relief).waiting(Waiting::Removed(waiting))
    }
}
