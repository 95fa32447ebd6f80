//! Rows of the side paths: atomics, constants, instructions.

use ridge_model::Architecture;
use ridge_model::arch::WAVEFRONTS_PER_CYCLE;

use super::{Builder, Capacity, Stage};

const SM_CYCLES: &str = "sm__cycles_elapsed.sum";
const GPC_CYCLES: &str = "gpc__cycles_elapsed.sum";

pub(super) fn add_rows(builder: &mut Builder<'_, '_>, architecture: Option<&Architecture>) {
    builder.add_sum(
        Stage::AtomicsShared,
        &["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"],
        "wavefront",
        Capacity {
            per_cycle: WAVEFRONTS_PER_CYCLE,
            cycles: "l1tex__cycles_elapsed.sum",
        },
    );
    let Some(memory) = architecture.map(|architecture| architecture.memory) else {
        return;
    };
    builder.add_figure(
        Stage::AtomicsL2,
        &[
            "lts__t_sectors_srcunit_tex_op_red.sum",
            "lts__t_sectors_srcunit_tex_op_atom.sum",
        ],
        "sector",
        memory.l2_atomic_sectors,
        "lts__cycles_elapsed.sum",
    );
    for (stage, requests, figure, cycles) in [
        (
            Stage::ConstantRequests,
            "idc__requests.sum",
            memory.constant_requests,
            SM_CYCLES,
        ),
        (
            Stage::ConstantFills,
            "gcc__cache_requests_type_constant.sum",
            memory.constant_requests,
            GPC_CYCLES,
        ),
        (
            Stage::InstructionRequests,
            "sm__icc_requests.sum",
            memory.instruction_requests,
            SM_CYCLES,
        ),
        (
            Stage::InstructionFills,
            "gcc__cache_requests_type_instruction.sum",
            memory.instruction_requests,
            GPC_CYCLES,
        ),
    ] {
        builder.add_figure(stage, &[requests], "request", figure, cycles);
    }
}
