//! Warps wait for other warps of their block at barriers.
//!
//! # What it says
//! The kernel synchronises whole blocks often: a tree reduction with a barrier for each level, or barriers around
//! little work. Or one warp works between two barriers while the rest of its block waits.
//!
//! # Evidence
//! Barrier stalls, and few shared-memory accesses for each barrier; how many warps of a block are not waiting there.
//!
//! # Why it costs time
//! At a barrier all warps of a block wait for the slowest one, and nothing of the next phase overlaps with this one.
//!
//! # What to do
//! Trees: reduce inside a warp with shuffles and use one barrier at the end. Tiles that a whole block uses: two buffers or
//! asynchronous copies, more stages, barriers split into arriving and waiting. Other exchanges: barriers of a warp or a
//! part of the block, smaller blocks. Always: let one barrier serve more work.
//!
//! # When it is wrong
//! When warps arrive late because of something else (conflicts, imbalance, long loads), that is the cause and the
//! barrier only shows it.
//!
//! # References
//! M. Harris, "Optimizing Parallel Reduction in CUDA"; CUDA C++ Programming Guide, "Warp Shuffle Functions".

use ridge_model::arch::WARP_SIZE;

use super::barrier_advice::{Around, reads_for_each_write};
use super::draft::Draft;
use super::per_instruction::places;
use super::saving::{Remedy, Waiting};
use super::{Case, Outcome};
use crate::document::Confidence;
use crate::ledger::{Relief, Stage};
use crate::mix::{FP16, FP32, FP64, GLOBAL_LOADS, GLOBAL_STORES, SHARED, TENSOR};

pub(super) const ID: &str = "barrier-stall";

const NEEDS: &[&str] = &["WarpStateStats", "InstructionStats", "SpeedOfLight"];
/// Half of the waiting at barriers is expected to go (`FEWER`): below this that is under 8 %, less than is worthwhile.
const WORTH: f64 = 0.15;
/// What warps wait for while they exchange values through shared memory.
const EXCHANGE: &[&str] = &["barrier", "short_scoreboard", "mio_throttle"];
/// Where one warp works and all take part in the steps in between, the mean of working warps lies between one and two.
const ONE_WARP: f64 = 2.0;
/// An SM has four schedulers. In a block of fewer warps even a mean below two is half of them.
const SEVERAL_WARPS: f64 = 4.0;
/// A step of a tree reads two values and writes one. One more access is allowed for a guard or a broadcast.
const SHORT_PHASE: f64 = 4.0;

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let Some(mix) = case.mix.filter(|_| !case.stalls.is_empty()) else {
        return Outcome::NotChecked(NEEDS);
    };
    let waiting = case.waiting_for(&["barrier"]);
    let barriers = mix.of_opcodes(&["BAR"]);
    if waiting < WORTH || barriers <= 0.0 {
        return Outcome::Clear;
    }
    let accesses = mix.of_opcodes(SHARED) / barriers;
    // Where warps already exchange values by shuffles, the tree across warps is what is left.
    let has_shuffles = mix.of_opcodes(&["SHFL", "REDUX"]) >= barriers;
    let is_tree = accesses <= SHORT_PHASE && !has_shuffles && mix.of_opcodes(TENSOR) <= 0.0;
    if let Some(working) = working_warps(case).filter(|working| !is_tree && *working < ONE_WARP) {
        return serial(case, working);
    }
    let title = if is_tree {
        format!(
            "{:.0} % of the waiting is at barriers, with {accesses:.1} shared accesses between two",
            100.0 * waiting
        )
    } else {
        format!("{:.0} % of the waiting is at barriers", 100.0 * waiting)
    };
    let actions: Vec<&str> = if is_tree {
        vec![
            "reduce inside each warp with shuffles, then once across warps: one barrier instead of one a level",
            "let a warp own a row, so that no barrier is needed",
        ]
    } else {
        Around::of(mix).actions(case)
    };
    let mut draft = Draft::new(ID, title)
        .confidence(if is_tree {
            Confidence::Medium
        } else {
            Confidence::Low
        })
        .seen_against(
            "barrier stalls, share of all waiting",
            waiting,
            "fraction",
            WORTH,
        );
    // Without a tree, one barrier takes the place of one for each of its levels.
    let levels = case
        .number("launch__block_size")
        .map(|threads| threads.log2().ceil())
        .filter(|levels| is_tree && *levels >= 1.0);
    draft = match levels {
        Some(levels) => draft.seen_against("BAR instructions", barriers, "inst", barriers / levels),
        None => draft.seen("BAR instructions", barriers, "inst"),
    };
    draft = draft
        .act(&actions)
        .falls("smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio")
        .at(places(
            &case.by_instruction("smsp__pcsamp_warps_issue_stalled_barrier"),
            case.code,
        ));
    if let Some(reads) = reads_for_each_write(mix) {
        draft = draft.seen(
            "shared-memory loads for each store or copy into it",
            reads,
            "inst/inst",
        );
    }
    draft.weigh(
        case,
        &if is_tree {
            without_tree(case)
        } else {
            with_fewer(waiting)
        },
        NEEDS,
    )
}

/// Warps of a block that are not waiting at a barrier, on average; absent for blocks of few warps.
fn working_warps(case: &Case<'_, '_>) -> Option<f64> {
    let warps = (case.number("launch__block_size")? / WARP_SIZE).ceil();
    (warps >= SEVERAL_WARPS).then(|| warps * (1.0 - case.stalled("barrier")))
}

/// One warp works while the others wait for it.
///
/// Spread over all warps of the block the same work takes the part of the time that a warp does not spend at barriers.
/// Lanes that idle while one of them works have work too, then.
fn serial(case: &Case<'_, '_>, working: f64) -> Outcome {
    let waiting = case.stalled("barrier");
    let lanes = case
        .number("smsp__thread_inst_executed_per_inst_executed.ratio")
        .map_or(1.0, |lanes| (lanes / WARP_SIZE).clamp(0.0, 1.0));
    let relief = [
        Stage::Issue,
        Stage::Alu,
        Stage::Fma,
        Stage::FmaHeavy,
        Stage::Fp64,
        Stage::Xu,
        Stage::Uniform,
        Stage::LsuInstructions,
    ]
    .iter()
    .fold(Relief::none(), |relief, stage| relief.leave(*stage, lanes));
    let remedy = Remedy::new(relief)
        .waiting(Waiting::Hidden)
        .hardly_below(1.0 - waiting);
    let title = format!(
        "on average {working:.1} warps of a block work; the others wait for them at a barrier"
    );
    Draft::new(ID, title)
        .confidence(Confidence::Medium)
        .seen_against(
            "warps of a block that are not waiting at a barrier",
            working,
            "warp",
            case.number("launch__block_size").unwrap_or(0.0) / WARP_SIZE,
        )
        .seen_against(
            "smsp__thread_inst_executed_per_inst_executed.ratio",
            WARP_SIZE * lanes,
            "thread",
            WARP_SIZE,
        )
        .act(&[
            "spread what one thread or warp does between two barriers over the whole block",
            "reduce inside each warp with shuffles, then once across warps",
            "use blocks of fewer warps, so that fewer wait",
        ])
        .falls("smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio")
        .at(places(
            &case.by_instruction("smsp__pcsamp_warps_issue_stalled_barrier"),
            case.code,
        ))
        .weigh(case, &remedy, NEEDS)
}

/// For each instruction that stays there is another one, of the shuffles and the loop around them: an estimate.
const WITH_SHUFFLES: f64 = 2.0;

/// A reduction in registers: shared memory, its instructions and the waiting between the levels go.
fn without_tree(case: &Case<'_, '_>) -> Remedy {
    let mix = case.mix;
    let count = |list: &[&str]| mix.map_or(0.0, |mix| mix.of_opcodes(list));
    let total = mix.map_or(1.0, crate::InstructionMix::total).max(1.0);
    let accesses = count(GLOBAL_LOADS) + count(GLOBAL_STORES);
    let essential = accesses + count(FP32) + count(FP64) + count(FP16);
    let kept = essential / total;
    // Each level of the tree adds what it reads from shared memory, in all warps; at most, none of that is needed.
    let kept_at_most = (essential - count(&["LDS"])).max(accesses) / total;
    let relief = |issue: f64, load_store: f64| {
        [
            Stage::Issue,
            Stage::Alu,
            Stage::Fma,
            Stage::FmaHeavy,
            Stage::Uniform,
        ]
        .iter()
        .fold(
            Relief::none().leave(Stage::SharedWavefronts, 0.0),
            |relief, stage| relief.leave(*stage, issue),
        )
        .leave(Stage::LsuInstructions, load_store)
    };
    // Barriers and accesses to shared memory enter the load/store unit too: of that, global accesses stay.
    let demand = case
        .ledger
        .row(Stage::LsuInstructions)
        .map_or(total, |row| row.demand)
        .max(1.0);
    let stays = (accesses / demand).min(1.0);
    // Shuffles and the loop around them take the place of part of what goes. Waiting for the exchange goes with it, that
    // for the data itself stays.
    Remedy::new(relief(kept_at_most, stays))
        .likely(relief(
            (WITH_SHUFFLES * kept).min(1.0),
            (stays + kept).min(1.0),
        ))
        .waiting(Waiting::Removed(case.waiting_for(EXCHANGE)))
}

/// The part of the waiting at barriers that goes when half as many warps wait for each other, or half as often. How
/// unequal they arrive is not counted: a convention in the middle between none and all.
const FEWER: f64 = 0.5;

/// Fewer or narrower barriers: part of the waiting at them goes, and nothing else.
fn with_fewer(waiting: f64) -> Remedy {
    Remedy::new(Relief::none()).waiting(Waiting::Removed(FEWER * waiting))
}
