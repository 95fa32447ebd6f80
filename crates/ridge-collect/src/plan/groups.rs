//! Counters by what they tell, with what they cost.
//!
//! Passes were counted on an H200 with ncu 2025.3.1 (`docs/measurements/collect.md`). Groups share passes, so that the
//! costs of two groups do not add up: what a tier costs is counted as a whole.

/// Counters that are collected together.
#[derive(Debug)]
pub struct Group {
    /// A short name.
    pub id: &'static str,
    /// What it tells.
    pub tells: &'static str,
    /// Metrics by the profiler's names.
    pub metrics: &'static [&'static str],
}

/// Time, clocks, and how evenly units were active.
pub const CLOCKS: Group = Group {
    id: "clocks",
    tells: "time, clocks, and how evenly the units were active",
    metrics: &[
        "gpu__time_duration.sum",
        "gpc__cycles_elapsed.sum",
        "gpc__cycles_elapsed.avg.per_second",
        "sm__cycles_elapsed.sum",
        "sm__cycles_elapsed.avg",
        "sm__cycles_elapsed.max",
        "sm__cycles_active.avg",
        "sm__cycles_active.max",
        "sm__cycles_active.sum",
        "smsp__cycles_elapsed.sum",
        "smsp__cycles_active.sum",
        "l1tex__cycles_elapsed.sum",
        "l1tex__cycles_elapsed.avg",
        "lts__cycles_elapsed.sum",
        "lts__cycles_elapsed.avg",
        "lts__cycles_elapsed.avg.per_second",
        "lts__cycles_active.avg",
        "lts__cycles_active.max",
        "dram__cycles_elapsed.avg.per_second",
    ],
};

/// Warps and issue slots.
pub const WARPS: Group = Group {
    id: "warps",
    tells: "warps, issue slots, and threads for each instruction",
    metrics: &[
        "smsp__inst_issued.sum",
        "smsp__issue_active.avg.per_cycle_active",
        "smsp__warps_active.avg.per_cycle_active",
        "smsp__warps_eligible.avg.per_cycle_active",
        "smsp__average_warp_latency_per_inst_issued.ratio",
        "smsp__thread_inst_executed_per_inst_executed.ratio",
        "sm__warps_active.avg.pct_of_peak_sustained_active",
    ],
};

/// Device memory and the L2.
pub const MEMORY: Group = Group {
    id: "memory",
    tells: "bytes of device memory, requests and sectors of the L2",
    metrics: &[
        "dram__bytes_read.sum",
        "dram__bytes_write.sum",
        "dram__sectors_read.sum",
        "lts__t_requests.sum",
        "lts__t_sectors.sum",
        "lts__t_sectors_lookup_hit.sum",
        "lts__t_sectors_lookup_miss.sum",
        "lts__lts2xbar_cycles_active.sum.per_second",
        "lts__t_sectors_srcunit_tex_op_read.sum",
        "lts__t_sectors_srcunit_tex_op_write.sum",
        "lts__t_sectors_srcunit_tex_op_red.sum",
        "lts__t_sectors_srcunit_tex_op_atom.sum",
        "lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed",
    ],
};

/// The L1 and shared memory.
pub const L1: Group = Group {
    id: "l1",
    tells: "requests, sectors and wavefronts of the L1 and of shared memory",
    metrics: &[
        "l1tex__data_pipe_lsu_wavefronts.sum",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        "l1tex__m_l1tex2xbar_write_bytes.sum",
        "l1tex__m_xbar2l1tex_read_bytes.sum",
        "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_st.sum",
        "l1tex__t_output_wavefronts_pipe_lsu_mem_local_op_ld.sum",
        "l1tex__t_output_wavefronts_pipe_lsu_mem_local_op_st.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    ],
};

/// Caches of constants and instructions.
pub const CACHES: Group = Group {
    id: "caches",
    tells: "requests of the constant and instruction caches",
    metrics: &[
        "idc__requests.sum",
        "sm__icc_requests.sum",
        "gcc__cache_requests_type_constant.sum",
        "gcc__cache_requests_type_instruction.sum",
    ],
};

/// Instructions by opcode and by address, and the accesses that they make. They are counted by patched code, all of them
/// in one pass.
pub const INSTRUCTIONS: Group = Group {
    id: "instructions",
    tells: "instructions by opcode, threads and accesses by instruction",
    metrics: &[
        "sass__inst_executed_per_opcode_with_modifier_all",
        "inst_executed",
        "thread_inst_executed",
        "memory_l1_wavefronts_shared",
        "memory_l1_wavefronts_shared_ideal",
        "memory_l2_theoretical_sectors_global",
        "memory_l2_theoretical_sectors_global_ideal",
        "memory_l2_theoretical_sectors_local",
        "memory_type",
        "memory_access_type",
    ],
};

/// Peaks and limits, which cost no pass.
pub const PEAKS: Group = Group {
    id: "peaks",
    tells: "peaks and limits of the device; no pass",
    metrics: &[
        "dram__bytes.sum.peak_sustained",
        "lts__lts2xbar_cycles_active.sum.peak_sustained",
        "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained",
        "sm__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained",
        "smsp__warps_active.avg.peak_sustained",
        "smsp__maximum_warps_avg_per_active_cycle",
        "sm__maximum_warps_per_active_cycle_pct",
    ],
};

/// What warps wait for.
pub const STALLS: Group = Group {
    id: "stalls",
    tells: "what warps wait for",
    metrics: &[
        "smsp__average_warp_latency_per_inst_issued.ratio",
        "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_drain_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_membar_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_misc_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_tex_throttle_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",
    ],
};

/// Where warps were seen, and what they waited for there.
pub const SAMPLES: Group = Group {
    id: "samples",
    tells: "where warps were seen, and what they waited for there",
    metrics: &["group:smsp__pcsamp_warp_stall_reasons"],
};

/// What is in local memory, and what it costs beyond the L1.
pub const LOCAL: Group = Group {
    id: "local-memory",
    tells: "whether local memory holds spilled registers or arrays, and how much of it leaves the L1",
    metrics: &[
        "sass__inst_executed_register_spilling",
        "smsp__sass_inst_executed_op_global_ld.sum",
        "smsp__sass_inst_executed_op_global_st.sum",
        "smsp__sass_inst_executed_op_local_ld.sum",
        "smsp__sass_inst_executed_op_local_st.sum",
        "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
        "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
        "l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_hit.sum",
        "l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_miss.sum",
        "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
    ],
};
