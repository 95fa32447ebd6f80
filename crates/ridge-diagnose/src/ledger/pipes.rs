//! Rows of the execution side: issue slots and pipes.

use ridge_model::{Architecture, ComputeCapability};

use super::opcodes::PipeCounts;
use super::{Builder, Capacity, Stage};
use crate::mix::InstructionMix;

const SCHEDULER_CYCLES: &str = "smsp__cycles_elapsed.sum";
const SM_CYCLES: &str = "sm__cycles_elapsed.sum";
const INSTRUCTION: &str = "warp instruction";

/// Tensor paths: what counts the operations, and the peak in operations a cycle of one SM.
///
/// Operations come from the counter of the instruction family, since the total's own peak is the sparse one. Peaks
/// are those stored with the counters on an H200; they belong to compute capability 9.0.
const TENSOR_PATHS_9_0: &[(&str, f64)] = &[
    (
        "sm__ops_path_tensor_op_hgmma_src_fp16_sparsity_off.sum",
        4096.0,
    ),
    (
        "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum",
        4096.0,
    ),
    (
        "sm__ops_path_tensor_op_hgmma_src_tf32_dst_fp32_sparsity_off.sum",
        2048.0,
    ),
    (
        "sm__ops_path_tensor_op_igmma_src_int8_sparsity_off.sum",
        8192.0,
    ),
    (
        "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32_sparsity_off.sum",
        8192.0 / 3.0,
    ),
    (
        "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp16_sparsity_off.sum",
        8192.0 / 3.0,
    ),
    (
        "sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32_sparsity_off.sum",
        8192.0 / 3.0,
    ),
    (
        "sm__ops_path_tensor_op_hmma_src_tf32_dst_fp32_sparsity_off.sum",
        4096.0 / 3.0,
    ),
    (
        "sm__ops_path_tensor_op_imma_src_int8_sparsity_off.sum",
        16384.0 / 3.0,
    ),
    ("sm__ops_path_tensor_src_fp8_sparsity_off.sum", 8192.0),
    ("sm__ops_path_tensor_src_fp64.sum", 256.0),
];

/// Half-precision multiply-adds a cycle and scheduler on the matrix pipe of 9.0: it is busy for two cycles with each.
const HALF_ON_TENSOR_9_0: f64 = 0.5;

pub(super) fn add_rows(builder: &mut Builder<'_, '_>, architecture: Option<&Architecture>) {
    // One warp instruction a cycle and scheduler, from 7.0 on.
    let issue = Capacity {
        per_cycle: 1.0,
        cycles: SCHEDULER_CYCLES,
    };
    builder.add_sum(Stage::Issue, &["smsp__inst_issued.sum"], INSTRUCTION, issue);
    let Some(architecture) = architecture else {
        return;
    };
    if let Some(mix) = InstructionMix::of(builder.metrics) {
        add_pipes(builder, architecture, &PipeCounts::of(&mix), mix.source());
    }
    if architecture.capability == (ComputeCapability { major: 9, minor: 0 }) {
        add_tensor(builder);
    }
}

fn add_pipes(
    builder: &mut Builder<'_, '_>,
    architecture: &Architecture,
    counts: &PipeCounts,
    histogram: &str,
) {
    let mut add = |stage, count, lanes| {
        let capacity = Capacity {
            per_cycle: Architecture::warp_instructions_per_cycle(lanes),
            cycles: SCHEDULER_CYCLES,
        };
        builder.add(
            stage,
            count,
            INSTRUCTION,
            capacity,
            vec![histogram.to_owned()],
        );
    };
    add(Stage::Fma, counts.fma, architecture.fp32_lanes);
    if architecture.has_split_fma {
        add(
            Stage::FmaHeavy,
            counts.fma_heavy,
            architecture.fp32_lanes / 2.0,
        );
    }
    add(Stage::Alu, counts.alu, architecture.alu_lanes);
    add(Stage::Fp64, counts.fp64, architecture.fp64_lanes);
    add(Stage::Xu, counts.xu, architecture.xu_lanes);
    if let Some(lanes) = architecture.uniform_lanes {
        add(Stage::Uniform, counts.uniform, lanes);
    }
    if architecture.capability == (ComputeCapability { major: 9, minor: 0 }) {
        let capacity = Capacity {
            per_cycle: HALF_ON_TENSOR_9_0,
            cycles: SCHEDULER_CYCLES,
        };
        let source = vec![histogram.to_owned()];
        builder.add(
            Stage::HalfOnTensor,
            counts.half_on_tensor,
            INSTRUCTION,
            capacity,
            source,
        );
    }
    // One instruction a cycle and SM enters the load/store unit.
    let lsu = Capacity {
        per_cycle: 1.0,
        cycles: SM_CYCLES,
    };
    let demand = counts.lsu + thread_index_reads(builder, counts);
    builder.add(
        Stage::LsuInstructions,
        demand,
        INSTRUCTION,
        lsu,
        vec![histogram.to_owned()],
    );
}

/// Reads of the thread index: they enter the load/store unit and take a wavefront of shared memory each.
///
/// The histogram does not tell them from reads of other special registers. The wavefronts of shared memory that no
/// load, store or atomic explains do, after those of loads and stores that were predicated off are taken away.
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
    counts
        .special_register_reads
        .min((all - explained - predicated_off).max(0.0))
}

/// Adds up the busy time of all paths: they share the pipe, and each has its own peak.
fn add_tensor(builder: &mut Builder<'_, '_>) {
    let (mut operations, mut cycles, mut source) = (0.0, 0.0, Vec::new());
    let mut is_known = false;
    for (counter, peak) in TENSOR_PATHS_9_0 {
        let Some(count) = builder.number(counter) else {
            continue;
        };
        is_known = true;
        if count > 0.0 {
            operations += count;
            cycles += count / peak;
            source.push((*counter).to_owned());
        }
    }
    if !is_known {
        return;
    }
    // With work on several paths the capacity is their mean, weighted with the work.
    let per_cycle = if cycles > 0.0 {
        operations / cycles
    } else {
        4096.0
    };
    builder.add(
        Stage::Tensor,
        operations,
        "operation",
        Capacity {
            per_cycle,
            cycles: SM_CYCLES,
        },
        source,
    );
}
