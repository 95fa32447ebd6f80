//! Many atomic operations meet at few addresses and take turns.
//!
//! # What it says
//! Atomic adds, minima or compare-and-swap loops of many threads go to the same few words, in the L2 or in shared
//! memory.
//!
//! # Evidence
//! The busiest L2 slice against the average one together with the number of atomic requests; in shared memory,
//! wavefronts of atomics. A slice that is active all the time while the others sleep holds the contended address.
//!
//! # Why it costs time
//! Operations on one address are done one after the other: about one every three cycles of an L2 slice, one wavefront
//! for each colliding lane in shared memory. More warps do not help.
//!
//! # What to do
//! Add up in registers, then across the warp with shuffles, then across the block in shared memory, and use one atomic
//! for each block; keep several copies of a counter and add them at the end.
//!
//! # When it is wrong
//! Atomics that spread over many addresses run at full rate; then the traffic itself is the cost and the ledger shows
//! it.
//!
//! # References
//! CUDA C++ Programming Guide, "Atomic Functions"; NVIDIA developer blog, "Warp-aggregated atomics".

use super::draft::Draft;
use super::per_instruction::places;
use super::saving::{Remedy, Waiting};
use super::{Case, Outcome};
use crate::document::Confidence;
use crate::ledger::{Relief, Stage};
use crate::limiter::BUSY;

pub(super) const ID: &str = "atomic-contention";

const NEEDS: &[&str] = &[
    "WorkloadDistribution",
    "MemoryWorkloadAnalysis_Tables",
    "InstructionStats",
    "SpeedOfLight",
    "WarpStateStats",
];

/// Addresses are hashed over the slices and over banks, so that accesses to many of them load all about equally. At
/// twice the mean as much waits for one slice, or one lane, as would pass if they were spread.
const HOT: f64 = 2.0;
/// At 20 % a request waits for a quarter of its service time (`ρ / (1 − ρ)`): below, neither the unit nor its queue is
/// worth a change.
const SHARED_BUSY: f64 = 0.2;
/// Twice as busy as anything else: what is served next after it could be half done in its time.
const ONLY: f64 = 2.0;
/// Of the waiting, more than for everything else together.
const HALF: f64 = 0.5;
/// Waiting that contention explains: for the L2 to answer or to take the next request, and at the end of the kernel.
const WAITS: &[&str] = &[
    "long_scoreboard",
    "lg_throttle",
    "drain",
    "short_scoreboard",
    "mio_throttle",
    "membar",
];

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    match (global(case), shared(case)) {
        // Where both contend, the one that costs more is told of.
        (Some(Outcome::Found(a)), Some(Outcome::Found(b))) => {
            Outcome::Found(if a.saving_expected >= b.saving_expected {
                a
            } else {
                b
            })
        }
        (Some(found @ Outcome::Found(_)), _) | (_, Some(found @ Outcome::Found(_))) => found,
        (Some(Outcome::Clear), Some(Outcome::Clear)) => Outcome::Clear,
        _ => Outcome::NotChecked(NEEDS),
    }
}

/// Contention in the L2; absent when the input does not tell.
fn global(case: &Case<'_, '_>) -> Option<Outcome> {
    let atomics = case.sum(&[
        "lts__t_sectors_srcunit_tex_op_red.sum",
        "lts__t_sectors_srcunit_tex_op_atom.sum",
    ])?;
    let (average, most) = (
        case.number("lts__cycles_active.avg")?,
        case.number("lts__cycles_active.max")?,
    );
    let elapsed = case
        .number("lts__cycles_elapsed.avg")
        .or_else(|| case.number("lts__cycles_elapsed.max"))?;
    if atomics <= 0.0 || average <= 0.0 {
        return Some(Outcome::Clear);
    }
    // The hot slice has to have more atomics than the rest of the traffic would explain.
    let hot = most / average;
    let atomic_unit = case
        .number("lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed")
        .map(|percent| percent / 100.0);
    // A hot spot that moves from slice to slice keeps none of them busy all the time. Then it tells that the hottest is
    // busier by far than any unit of the ledger, and that warps wait for what atomics make them wait for.
    let is_only_busy_unit = most >= ONLY * case.busiest().max(average / elapsed) * elapsed
        && case.waiting_for(WAITS) >= HALF;
    let is_hot = hot >= HOT && (most >= BUSY * elapsed || is_only_busy_unit);
    // On one address the unit takes a floating-point addition every three cycles, an integer one every cycle.
    let is_float = case.mix.is_none_or(|mix| {
        mix.sum(|opcode, modifiers| {
            matches!(opcode, "RED" | "REDG" | "ATOM" | "ATOMG") && modifiers.contains('F')
        }) > 0.0
    });
    let serial = atomic_unit.unwrap_or(0.0) * if is_float { 3.0 } else { 1.0 };
    let is_serial = serial >= BUSY && most >= BUSY * elapsed;
    if !is_hot && !is_serial {
        return atomic_unit.map(|_| Outcome::Clear);
    }
    // The slice is one of many, so that no row of the ledger shows what contention costs: the waiting does.
    if case.stalls.is_empty() {
        return None;
    }
    let relief = ATOMIC_STAGES
        .iter()
        .fold(Relief::none(), |relief, stage| relief.leave(*stage, 0.0));
    let remedy = Remedy::new(relief).waiting(Waiting::Removed(case.waiting_for(WAITS)));
    let title = format!(
        "atomics meet in one L2 slice: it is active {hot:.1} times as long as the average one, for {:.0} % of the duration",
        100.0 * (most / elapsed).min(1.0)
    );
    // Combined in each block, one of them is left for it.
    let blocks = case.number("launch__grid_size").unwrap_or(atomics);
    let mut draft = Draft::new(ID, title)
        .seen_against(
            "lts__t_sectors_srcunit_tex_op_red.sum + lts__t_sectors_srcunit_tex_op_atom.sum",
            atomics,
            "sector",
            blocks.min(atomics),
        )
        .seen_against(
            "lts__cycles_active.max / lts__cycles_active.avg",
            hot,
            "ratio",
            1.0,
        );
    if let Some(atomic_unit) = atomic_unit {
        // Spread over all slices, the busiest one has as much as the average.
        draft = draft.seen_against(
            "lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed",
            100.0 * atomic_unit,
            "%",
            100.0 * atomic_unit / hot.max(1.0),
        );
    }
    Some(
        draft
            .act(ACTIONS)
            .falls(which(case))
            .reaches("lts__cycles_active.max", average)
            .at(case.sampled_places())
            .weigh(case, &remedy, NEEDS),
    )
}

/// The counter of those that there are more of: atomics that return a value, or reductions.
fn which(case: &Case<'_, '_>) -> &'static str {
    const REDUCTIONS: &str = "lts__t_sectors_srcunit_tex_op_red.sum";
    const ATOMICS: &str = "lts__t_sectors_srcunit_tex_op_atom.sum";
    if case.number(ATOMICS) > case.number(REDUCTIONS) {
        ATOMICS
    } else {
        REDUCTIONS
    }
}

/// Contention in shared memory; absent when the input does not tell.
fn shared(case: &Case<'_, '_>) -> Option<Outcome> {
    // Either tells that there are none; both are needed where there are some.
    let row = case.ledger.row(Stage::AtomicsShared);
    let instructions = case.mix.map(|mix| mix.of_opcodes(&["ATOMS"]));
    if instructions.is_some_and(|count| count <= 0.0) || row.is_some_and(|row| row.demand <= 0.0) {
        return Some(Outcome::Clear);
    }
    let (row, instructions) = (row?, instructions?);
    let passes = row.demand / instructions;
    if row.busy_share < SHARED_BUSY || passes < HOT {
        return Some(Outcome::Clear);
    }
    // Wavefronts of other accesses to shared memory stay.
    let all = case
        .ledger
        .row(Stage::SharedWavefronts)
        .map_or(row.demand, |row| row.demand)
        .max(row.demand);
    let relief = Relief::none()
        .leave(Stage::AtomicsShared, 1.0 / passes)
        .leave(
            Stage::SharedWavefronts,
            1.0 - row.demand / all * (1.0 - 1.0 / passes),
        );
    let remedy = Remedy::new(relief).waiting(Waiting::Removed(
        case.waiting_for(&["short_scoreboard", "mio_throttle"]) * (1.0 - 1.0 / passes),
    ));
    Some(
        Draft::new(
            ID,
            format!("an atomic in shared memory takes {passes:.1} wavefronts: lanes collide"),
        )
        .confidence(Confidence::Medium)
        .seen_against(
            "wavefronts of shared atomics / ATOMS",
            passes,
            "wavefront/inst",
            1.0,
        )
        .seen_against(
            "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
            row.demand,
            "wavefront",
            instructions,
        )
        .act(ACTIONS)
        .falls("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum")
        .at(places(
            &case.by_instruction("memory_l1_wavefronts_shared"),
            case.code,
        ))
        .weigh(case, &remedy, NEEDS),
    )
}

const ACTIONS: &[&str] = &[
    "add up in registers and across the warp with shuffles before any atomic",
    "combine in shared memory and use one atomic for each block",
    "keep several copies of a counter, one for each warp or block, and add them at the end",
];

const ATOMIC_STAGES: &[Stage] = &[
    Stage::AtomicsL2,
    Stage::L2Requests,
    Stage::L1Wavefronts,
    Stage::LsuInstructions,
];
