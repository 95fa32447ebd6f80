//! The counters by which two versions of a kernel are compared.

use ncu_rep::{Metrics, unit_of};

use crate::document::Counter;
use crate::findings::total;

/// What a launch is and what it does, whatever is wrong with it.
const WORK: &[&str] = &[
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "l1tex__m_l1tex2xbar_write_bytes.sum",
    "l1tex__m_xbar2l1tex_read_bytes.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "launch__occupancy_limit_registers",
    "launch__registers_per_thread",
    "launch__shared_mem_per_block",
    "launch__thread_count",
    "launch__waves_per_multiprocessor",
    "sm__maximum_warps_per_active_cycle_pct",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "smsp__inst_executed.sum",
    "smsp__issue_active.avg.per_cycle_active",
];

/// What findings ask to look at, if they ask for more than that. A test holds that no finding asks for another.
const VERIFIED: &[&str] = &[
    "dram__bytes.sum.per_second",
    "gcc__cache_requests_type_constant.sum",
    "gpu__time_duration.sum",
    "idc__requests.sum",
    "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
    "lts__cycles_active.max",
    "lts__t_requests.sum",
    "lts__t_sectors_srcunit_tex_op_atom.sum",
    "lts__t_sectors_srcunit_tex_op_read.sum",
    "lts__t_sectors_srcunit_tex_op_red.sum",
    "sass__inst_executed_register_spilling",
    "sm__cycles_active.max",
    "sm__icc_requests.sum",
    "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_membar_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio",
    "smsp__sass_inst_executed_op_local_ld.sum",
    "smsp__thread_inst_executed_per_inst_executed.ratio",
    "smsp__warps_active.avg.per_cycle_active",
    "smsp__warps_eligible.avg.per_cycle_active",
];

/// What is there beyond the ideal, with the two metrics that it is the difference of where it is not stored itself.
const EXCESSES: &[[&str; 3]] = &[
    [
        "derived__memory_l1_wavefronts_shared_excessive",
        "memory_l1_wavefronts_shared",
        "memory_l1_wavefronts_shared_ideal",
    ],
    [
        "derived__memory_l2_theoretical_sectors_global_excessive",
        "memory_l2_theoretical_sectors_global",
        "memory_l2_theoretical_sectors_global_ideal",
    ],
];

/// Those of a launch, in the order of their names. What was not collected is left out.
pub(crate) fn counters(metrics: &Metrics<'_>) -> Vec<Counter> {
    let counter = |name: &str, value: f64| Counter {
        metric: name.to_owned(),
        value,
        unit: unit_of(name).to_string(),
    };
    let mut found: Vec<Counter> = WORK
        .iter()
        .chain(VERIFIED)
        .filter_map(|name| Some(counter(name, total(metrics, name)?)))
        .collect();
    found.extend(EXCESSES.iter().filter_map(|[name, actual, ideal]| {
        let difference = || Some(total(metrics, actual)? - total(metrics, ideal)?);
        let value = total(metrics, name).or_else(difference)?;
        Some(counter(name, value))
    }));
    found.retain(|counter| counter.value.is_finite());
    found.sort_by(|a, b| a.metric.cmp(&b.metric));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_listed_once() {
        let mut names: Vec<&str> = WORK.iter().chain(VERIFIED).copied().collect();
        names.extend(EXCESSES.iter().map(|[name, ..]| name));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
