//! Rows of the side paths: atomics, constants, instructions.

use ridge_model::Architecture;

use super::{Builder, Capacity, Stage};

const SM_CYCLES: &str = "sm__cycles_elapsed.sum";
const GPC_CYCLES: &str = "gpc__cycles_elapsed.sum";
const L2_CYCLES: &str = "lts__cycles_elapsed.sum";

/// Requests a cycle of the caches for constants and instructions, in an SM and in a GPC: one every other cycle, exact
/// quotients of counters and stored percentages on an H200.
const CACHE_REQUESTS: f64 = 0.5;

pub(super) fn add_rows(builder: &mut Builder<'_, '_>, architecture: Option<&Architecture>) {
    // One wavefront a cycle in each SM, as for every access to shared memory.
    builder.add_sum(
        Stage::AtomicsShared,
        &["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"],
        "wavefront",
        Capacity {
            per_cycle: 1.0,
            cycles: "l1tex__cycles_elapsed.sum",
        },
    );
    // The figures below were measured on 9.0 only.
    if architecture.is_none_or(|architecture| architecture.l2_slice.is_none()) {
        return;
    }
    let mut add = |stage, counters: &[&str], unit, per_cycle, cycles| {
        builder.add_sum(stage, counters, unit, Capacity { per_cycle, cycles });
    };
    // `.peak_sustained` of both counters is one a cycle and slice.
    let atomics = [
        "lts__t_sectors_srcunit_tex_op_red.sum",
        "lts__t_sectors_srcunit_tex_op_atom.sum",
    ];
    add(Stage::AtomicsL2, &atomics, "sector", 1.0, L2_CYCLES);
    add(
        Stage::ConstantRequests,
        &["idc__requests.sum"],
        "request",
        CACHE_REQUESTS,
        SM_CYCLES,
    );
    let fills = ["gcc__cache_requests_type_constant.sum"];
    add(
        Stage::ConstantFills,
        &fills,
        "request",
        CACHE_REQUESTS,
        GPC_CYCLES,
    );
    add(
        Stage::InstructionRequests,
        &["sm__icc_requests.sum"],
        "request",
        CACHE_REQUESTS,
        SM_CYCLES,
    );
    let fills = ["gcc__cache_requests_type_instruction.sum"];
    add(
        Stage::InstructionFills,
        &fills,
        "request",
        CACHE_REQUESTS,
        GPC_CYCLES,
    );
}
