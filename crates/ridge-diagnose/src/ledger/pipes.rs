//! Rows of the execution side: issue slots and pipes.

use ridge_model::Architecture;
use ridge_model::arch::Figure;
use ridge_model::arch::WARP_SIZE;
use ridge_model::arch::execution::Execution;

use super::opcodes::PipeCounts;
use super::{Builder, Capacity, Stage};
use crate::mix::InstructionMix;

const SCHEDULER_CYCLES: &str = "smsp__cycles_elapsed.sum";
const SM_CYCLES: &str = "sm__cycles_elapsed.sum";
const INSTRUCTION: &str = "warp instruction";

pub(super) fn add_rows(builder: &mut Builder<'_, '_>, architecture: Option<&Architecture>) {
    // One warp instruction a cycle and scheduler, from 7.0 on.
    let issue = Capacity {
        per_cycle: 1.0,
        cycles: SCHEDULER_CYCLES,
    };
    builder.add_sum(Stage::Issue, &["smsp__inst_issued.sum"], INSTRUCTION, issue);
    let (Some(architecture), Some(mix)) = (architecture, InstructionMix::of(builder.metrics()))
    else {
        return;
    };
    let execution = &architecture.execution;
    let counts = PipeCounts::of(&mix, execution);
    add_pipes(builder, execution, &counts, mix.source());
    // Reads of the thread index enter the load/store unit too.
    if let Some(Figure { value, .. }) = execution.lsu_instructions {
        let demand = counts.lsu + thread_index_reads(builder, &counts);
        let lsu = Capacity {
            per_cycle: value,
            cycles: SM_CYCLES,
        };
        let source = vec![mix.source().to_owned()];
        builder.add(Stage::LsuInstructions, demand, INSTRUCTION, lsu, source);
    }
}

fn add_pipes(
    builder: &mut Builder<'_, '_>,
    execution: &Execution,
    counts: &PipeCounts,
    histogram: &str,
) {
    let table = |figure: Option<Figure>| Some((figure?.value, None));
    let heavy = execution
        .has_split_fma
        .then_some(execution.integer_multiply_lanes)
        .flatten();
    // Where the compiler picks between two places, each has a row instead.
    let half = if execution.half_on_tensor_lanes.is_none() {
        stored_or(builder, "hfma", execution.half_lanes)
    } else {
        None
    };
    let fp32 = stored_or(builder, "ffma", execution.fp32_lanes);
    let fp64 = stored_or(builder, "dfma", execution.fp64_lanes);
    for (stage, count, lanes) in [
        (Stage::Fma, counts.fma, fp32),
        (Stage::FmaHeavy, counts.fma_heavy, table(heavy)),
        (Stage::Alu, counts.alu, table(execution.alu_lanes)),
        (Stage::Fp64, counts.fp64, fp64),
        (Stage::Xu, counts.xu, table(execution.xu_lanes)),
        (
            Stage::Uniform,
            counts.uniform,
            table(execution.uniform_lanes),
        ),
        (Stage::Half, counts.half, half),
        (
            Stage::HalfOnTensor,
            counts.half_on_tensor,
            table(execution.half_on_tensor_lanes),
        ),
    ] {
        let Some((lanes, peak)) = lanes else {
            continue;
        };
        let capacity = Capacity {
            per_cycle: Architecture::warp_instructions_per_cycle(lanes),
            cycles: SCHEDULER_CYCLES,
        };
        let source = [Some(histogram.to_owned()), peak];
        let source = source.into_iter().flatten().collect();
        builder.add(stage, count, INSTRUCTION, capacity, source);
    }
}

/// Lanes of an SM and the metric that they come from: the peak that the report stores with a counter of threads, else
/// the architecture's figure.
fn stored_or(
    builder: &Builder<'_, '_>,
    operation: &str,
    figure: Option<Figure>,
) -> Option<(f64, Option<String>)> {
    let name = format!("sm__sass_thread_inst_executed_op_{operation}_pred_on.sum.peak_sustained");
    let stored = builder.number(&name).filter(|peak| *peak > 0.0);
    if let (Some(peak), Some(units)) = (stored, builder.units("sm")) {
        return Some((peak / units, Some(name)));
    }
    Some((figure?.value, None))
}

/// Reads of the thread index: they enter the load/store unit and take a wavefront of shared memory each.
///
/// The histogram does not tell them from reads of other special registers. The wavefronts of shared memory that no
/// load, store, atomic or shuffle explains do, after those of loads and stores that were predicated off are taken away.
/// A warp reads each of the three dimensions once at most: special registers that are read again and again are others.
fn thread_index_reads(builder: &Builder<'_, '_>, counts: &PipeCounts) -> f64 {
    let wavefronts = |suffix: &str| {
        builder.number(&format!(
            "l1tex__data_pipe_lsu_wavefronts_mem_shared{suffix}.sum"
        ))
    };
    let (Some(all), Some(loads), Some(stores), Some(atomics)) = (
        wavefronts(""),
        wavefronts("_op_ld"),
        wavefronts("_op_st"),
        wavefronts("_op_atom"),
    ) else {
        return 0.0;
    };
    let explained = loads + stores + atomics;
    let predicated_off = (counts.shared - explained).max(0.0);
    let unexplained = all - explained - predicated_off - counts.shuffles;
    let most = builder
        .number("launch__thread_count")
        .map_or(f64::INFINITY, |threads| 3.0 * (threads / WARP_SIZE).ceil());
    counts
        .special_register_reads
        .min(unexplained.max(0.0))
        .min(most)
}
