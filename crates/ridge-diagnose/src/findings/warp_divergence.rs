//! Lanes of a warp take different paths.
//!
//! # What it says
//! A branch sends some lanes of a warp one way and some another; the warp executes both, with part of its lanes idle
//! each time.
//!
//! # Evidence
//! Threads per executed instruction against 32, divergent branches, lanes lost by instruction.
//!
//! # Why it costs time
//! An instruction takes an issue slot and a pass through its pipe whether one lane takes part or all of them.
//!
//! # What to do
//! Group work so that lanes of a warp take the same path: sort or bin by path, let whole warps take a path, replace
//! branches by selects or tables.
//!
//! # When it is wrong
//! Lanes beyond the end of the data are idle too; that is a rounding of the grid and costs a warp or two.
//!
//! # References
//! CUDA C++ Best Practices Guide, "Branching and Divergence".

use super::draft::Draft;
use super::per_instruction::places;
use super::saving::Remedy;
use super::{Case, Outcome, WORTHWHILE};
use crate::ledger::{Relief, Stage};
use ridge_model::arch::WARP_SIZE;

pub(super) const ID: &str = "warp-divergence";

const NEEDS: &[&str] = &["WarpStateStats", "SourceCounters", "InstructionStats"];
const THREADS: &str = "smsp__thread_inst_executed_per_inst_executed.ratio";
/// Above this, idle lanes are the rounding of loops and edges, and filling them saves no more than is worthwhile.
const NEARLY_ALL: f64 = (1.0 - WORTHWHILE) * WARP_SIZE;

/// Stages whose work shrinks when the same lanes' work is done by full warps.
const PER_INSTRUCTION: &[Stage] = &[
    Stage::Issue,
    Stage::Fma,
    Stage::FmaHeavy,
    Stage::Alu,
    Stage::Fp64,
    Stage::Xu,
    Stage::HalfOnTensor,
    Stage::Half,
    Stage::LsuInstructions,
    Stage::Uniform,
];

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let Some(threads) = case.number(THREADS) else {
        return Outcome::NotChecked(NEEDS);
    };
    if threads <= 0.0 || threads >= NEARLY_ALL {
        return Outcome::Clear;
    }
    let kept = threads / WARP_SIZE;
    let relief = PER_INSTRUCTION
        .iter()
        .fold(Relief::none(), |relief, stage| relief.leave(*stage, kept));
    Draft::new(
        ID,
        format!("{threads:.1} of 32 lanes take part in an instruction"),
    )
    .seen_against(THREADS, threads, "thread", WARP_SIZE)
    .act(&[
        "let lanes of a warp take the same path: sort or bin the work, or choose the path by warp",
        "replace short branches by selects, tables or arithmetic",
        "take lanes that are done out of the loop and refill the warp",
    ])
    .reaches(THREADS, WARP_SIZE)
    .falls("smsp__inst_executed.sum")
    .at(places(&lost_lanes(case), case.code))
    .weigh(case, &Remedy::new(relief), NEEDS)
}

/// Lanes that took no part, by instruction.
fn lost_lanes(case: &Case<'_, '_>) -> Vec<(u64, f64)> {
    let threads = case.by_instruction("thread_inst_executed");
    let executed: std::collections::HashMap<u64, f64> =
        case.by_instruction("inst_executed").into_iter().collect();
    threads
        .into_iter()
        .filter_map(|(address, threads)| {
            let lost = executed.get(&address)? * WARP_SIZE - threads;
            (lost > 0.0).then_some((address, lost))
        })
        .collect()
}
