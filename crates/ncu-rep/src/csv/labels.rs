//! Metric names behind the labels of the details page and the column titles of the source page.
//!
//! Each pair was checked on exports of 2025.3.1: the printed value equals the metric's value in the report (names of
//! which all values are zero there were checked against the section definitions that the report carries).

use std::borrow::Cow;

/// The section of metrics that were asked for by name.
const BY_NAME: &str = "Command line profiler metrics";

/// The metric that a label of the details page stands for; `None` if that is not known.
pub(super) fn metric_name(
    section: &str,
    label: &str,
    unit: &str,
    major: Option<u32>,
) -> Option<Cow<'static, str>> {
    // With `--print-metric-name name` or `label-name` the name is there, alone or behind the label.
    let last = label
        .split_whitespace()
        .next_back()
        .unwrap_or(label)
        .trim_matches(['(', ')', '[', ']']);
    if section == BY_NAME || is_metric_name(last) {
        return Some(Cow::Owned(last.to_owned()));
    }
    if let Some(name) = chosen_by_device(section, label, unit, major) {
        return Some(Cow::Borrowed(name));
    }
    let (_, labels) = SECTIONS.iter().find(|(name, _)| *name == section)?;
    labels
        .iter()
        .find(|(text, _)| *text == label)
        .map(|(_, name)| Cow::Borrowed(*name))
}

fn is_metric_name(text: &str) -> bool {
    text.contains("__")
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':'))
}

/// Labels that stand for another metric on other devices.
fn chosen_by_device(
    section: &str,
    label: &str,
    unit: &str,
    major: Option<u32>,
) -> Option<&'static str> {
    // From 9.0 to 10.3 the compression unit sits in front of L2.
    let is_in_front = matches!(major?, 9 | 10);
    Some(match (section, label) {
        ("Memory Workload Analysis", "L2 Compression Success Rate") if is_in_front => {
            "lrc__average_ilc_input_sector_success_rate.pct"
        }
        ("Memory Workload Analysis", "L2 Compression Success Rate") => {
            "lts__average_gcomp_input_sector_success_rate.pct"
        }
        ("Memory Workload Analysis", "L2 Compression Ratio") if is_in_front => {
            "lrc__average_ilc_output_sector_compression_achieved_rate.pct"
        }
        ("Memory Workload Analysis", "L2 Compression Ratio") => {
            "lts__average_gcomp_output_sector_compression_achieved_rate.ratio"
        }
        ("Memory Workload Analysis", "L2 Compression Input Sectors") if is_in_front => {
            "lrc__ilc_input_sectors.sum"
        }
        ("Memory Workload Analysis", "L2 Compression Input Sectors") => {
            "lts__gcomp_input_sectors.sum"
        }
        ("PM Sampling", "Maximum Sampling Interval") if unit.starts_with("cycle") => {
            "profiler__pmsampler_interval_cycles"
        }
        ("PM Sampling", "Maximum Sampling Interval") => "profiler__pmsampler_interval_time",
        _ => return None,
    })
}

type Labels = &'static [(&'static str, &'static str)];

/// Labels by section.
///
/// Left out on purpose: "Issue Slots Busy" and "SM Busy" of the compute section, which are percentages of elapsed
/// cycles in 2025.3 and of active cycles in earlier versions; an export does not say which version wrote it.
const SECTIONS: &[(&str, Labels)] = &[
    (
        "GPU Speed Of Light Throughput",
        &[
            ("DRAM Frequency", "dram__cycles_elapsed.avg.per_second"),
            ("SM Frequency", "gpc__cycles_elapsed.avg.per_second"),
            ("Elapsed Cycles", "gpc__cycles_elapsed.max"),
            (
                "Memory Throughput",
                "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
            ),
            (
                "DRAM Throughput",
                "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
            ),
            ("Duration", "gpu__time_duration.sum"),
            (
                "L1/TEX Cache Throughput",
                "l1tex__throughput.avg.pct_of_peak_sustained_active",
            ),
            (
                "L2 Cache Throughput",
                "lts__throughput.avg.pct_of_peak_sustained_elapsed",
            ),
            ("SM Active Cycles", "sm__cycles_active.avg"),
            (
                "Compute (SM) Throughput",
                "sm__throughput.avg.pct_of_peak_sustained_elapsed",
            ),
        ],
    ),
    (
        "PM Sampling",
        &[
            (
                "Maximum Buffer Size",
                "profiler__pmsampler_buffer_size_bytes",
            ),
            ("# Pass Groups", "profiler__pmsampler_pass_groups"),
        ],
    ),
    (
        "Compute Workload Analysis",
        &[
            (
                "Executed Ipc Active",
                "sm__inst_executed.avg.per_cycle_active",
            ),
            (
                "Executed Ipc Elapsed",
                "sm__inst_executed.avg.per_cycle_elapsed",
            ),
            ("Issued Ipc Active", "sm__inst_issued.avg.per_cycle_active"),
        ],
    ),
    (
        "Memory Workload Analysis",
        &[
            (
                "Local Memory Spilling Requests",
                "derived__local_spilling_requests",
            ),
            (
                "Local Memory Spilling Request Overhead",
                "derived__local_spilling_requests_pct",
            ),
            ("Memory Throughput", "dram__bytes.sum.per_second"),
            (
                "Mem Busy",
                "gpu__compute_memory_access_throughput.avg.pct_of_peak_sustained_elapsed",
            ),
            (
                "Max Bandwidth",
                "gpu__compute_memory_request_throughput.avg.pct_of_peak_sustained_elapsed",
            ),
            ("L1/TEX Hit Rate", "l1tex__t_sector_hit_rate.pct"),
            ("L2 Persisting Size", "launch__persisting_l2_cache_size"),
            ("L2 Hit Rate", "lts__t_sector_hit_rate.pct"),
            (
                "Mem Pipes Busy",
                "sm__memory_throughput.avg.pct_of_peak_sustained_elapsed",
            ),
        ],
    ),
    (
        "Scheduler Statistics",
        &[
            (
                "One or More Eligible",
                "smsp__issue_active.avg.pct_of_peak_sustained_active",
            ),
            (
                "Issued Warp Per Scheduler",
                "smsp__issue_active.avg.per_cycle_active",
            ),
            (
                "No Eligible",
                "smsp__issue_inst0.avg.pct_of_peak_sustained_active",
            ),
            (
                "Active Warps Per Scheduler",
                "smsp__warps_active.avg.per_cycle_active",
            ),
            (
                "Eligible Warps Per Scheduler",
                "smsp__warps_eligible.avg.per_cycle_active",
            ),
        ],
    ),
    (
        "Warp State Statistics",
        &[
            (
                "Warp Cycles Per Issued Instruction",
                "smsp__average_warp_latency_per_inst_issued.ratio",
            ),
            (
                "Warp Cycles Per Executed Instruction",
                "smsp__average_warps_active_per_inst_executed.ratio",
            ),
            (
                "Avg. Active Threads Per Warp",
                "smsp__thread_inst_executed_per_inst_executed.ratio",
            ),
            (
                "Avg. Not Predicated Off Threads Per Warp",
                "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
            ),
        ],
    ),
    (
        "Instruction Statistics",
        &[
            (
                "Avg. Executed Instructions Per Scheduler",
                "smsp__inst_executed.avg",
            ),
            ("Executed Instructions", "smsp__inst_executed.sum"),
            (
                "Avg. Issued Instructions Per Scheduler",
                "smsp__inst_issued.avg",
            ),
            ("Issued Instructions", "smsp__inst_issued.sum"),
        ],
    ),
    (
        "Launch Statistics",
        &[
            ("Block Size", "launch__block_size"),
            (
                "Cluster Scheduling Policy",
                "launch__cluster_scheduling_policy",
            ),
            ("Cluster Size", "launch__cluster_size"),
            ("Preferred Cluster Size", "launch__preferred_cluster_size"),
            ("Function Cache Configuration", "launch__func_cache_config"),
            ("Grid Size", "launch__grid_size"),
            ("Registers Per Thread", "launch__registers_per_thread"),
            (
                "Shared Memory Configuration Size",
                "launch__shared_mem_config_size",
            ),
            (
                "Driver Shared Memory Per Block",
                "launch__shared_mem_per_block_driver",
            ),
            (
                "Dynamic Shared Memory Per Block",
                "launch__shared_mem_per_block_dynamic",
            ),
            (
                "Static Shared Memory Per Block",
                "launch__shared_mem_per_block_static",
            ),
            ("# SMs", "launch__sm_count"),
            ("Stack Size", "launch__stack_size"),
            ("Threads", "launch__thread_count"),
            ("# TPCs", "launch__tpc_count"),
            ("Enabled TPC IDs", "launch__tpc_enabled"),
            ("Uses Green Context", "launch__uses_green_context"),
            ("Waves Per SM", "launch__waves_per_multiprocessor"),
        ],
    ),
    (
        "Occupancy",
        &[
            ("Max Active Clusters", "launch__cluster_max_active"),
            ("Max Cluster Size", "launch__cluster_max_potential_size"),
            ("Overall GPU Occupancy", "launch__occupancy_cluster_gpu_pct"),
            ("Cluster Occupancy", "launch__occupancy_cluster_pct"),
            ("Block Limit Barriers", "launch__occupancy_limit_barriers"),
            ("Block Limit SM", "launch__occupancy_limit_blocks"),
            ("Block Limit Registers", "launch__occupancy_limit_registers"),
            (
                "Block Limit Shared Mem",
                "launch__occupancy_limit_shared_mem",
            ),
            ("Block Limit Warps", "launch__occupancy_limit_warps"),
            (
                "Theoretical Active Warps per SM",
                "sm__maximum_warps_avg_per_active_cycle",
            ),
            (
                "Theoretical Occupancy",
                "sm__maximum_warps_per_active_cycle_pct",
            ),
            (
                "Achieved Occupancy",
                "sm__warps_active.avg.pct_of_peak_sustained_active",
            ),
            (
                "Achieved Active Warps Per SM",
                "sm__warps_active.avg.per_cycle_active",
            ),
        ],
    ),
    (
        "GPU and Memory Workload Distribution",
        &[
            ("Average DRAM Active Cycles", "dram__cycles_active.avg"),
            ("Total DRAM Elapsed Cycles", "dram__cycles_elapsed.sum"),
            ("Average L1 Active Cycles", "l1tex__cycles_active.avg"),
            ("Total L1 Elapsed Cycles", "l1tex__cycles_elapsed.sum"),
            ("Average L2 Active Cycles", "lts__cycles_active.avg"),
            ("Total L2 Elapsed Cycles", "lts__cycles_elapsed.sum"),
            ("Average SM Active Cycles", "sm__cycles_active.avg"),
            ("Total SM Elapsed Cycles", "sm__cycles_elapsed.sum"),
            ("Average SMSP Active Cycles", "smsp__cycles_active.avg"),
            ("Total SMSP Elapsed Cycles", "smsp__cycles_elapsed.sum"),
        ],
    ),
    (
        "Source Counters",
        &[
            (
                "Branch Instructions Ratio",
                "derived__smsp__inst_executed_op_branch_pct",
            ),
            ("Branch Instructions", "smsp__inst_executed_op_branch.sum"),
            (
                "Branch Efficiency",
                "smsp__sass_average_branch_targets_threads_uniform.pct",
            ),
            (
                "Avg. Divergent Branches",
                "smsp__sass_branch_targets_threads_divergent.avg",
            ),
        ],
    ),
];

/// The metric that a column of the source page holds; `None` if that is not known.
pub(super) fn source_metric(title: &str) -> Option<Cow<'static, str>> {
    if is_metric_name(title) {
        return Some(Cow::Owned(title.to_owned()));
    }
    if let Some((_, name)) = SOURCE.iter().find(|(text, _)| *text == title) {
        return Some(Cow::Borrowed(*name));
    }
    let stall = title.strip_prefix("stall_")?;
    let (stall, suffix) = match stall.strip_suffix(" (Not Issued)") {
        Some(stall) => (stall, "_not_issued"),
        None => (stall, ""),
    };
    let (_, reason) = STALLS.iter().find(|(short, _)| *short == stall)?;
    Some(Cow::Owned(format!(
        "smsp__pcsamp_warps_issue_stalled_{reason}{suffix}"
    )))
}

const SOURCE: Labels = &[
    ("# Samples", "smsp__pcsamp_sample_count"),
    ("Instructions Executed", "inst_executed"),
    ("Thread Instructions Executed", "thread_inst_executed"),
    (
        "Predicated-On Thread Instructions Executed",
        "thread_inst_executed_true",
    ),
    ("Avg. Threads Executed", "derived__avg_thread_executed"),
    (
        "Avg. Predicated-On Threads Executed",
        "derived__avg_thread_executed_true",
    ),
    (
        "Derivative Avg. Predicated-On Threads Executed",
        "derived__derivative_avg_thread_executed_true",
    ),
    (
        "Avg. Predicated-On Threads Unexecuted",
        "derived__avg_thread_unexecuted_true",
    ),
    (
        "Divergent Branches",
        "smsp__branch_targets_threads_divergent",
    ),
    ("Address Space", "memory_type"),
    ("Access Operation", "memory_access_type"),
    ("Access Size", "memory_access_size_type"),
    ("L1 Tag Requests Global", "memory_l1_tag_requests_global"),
    (
        "L1 Conflicts Shared N-Way",
        "derived__memory_l1_conflicts_shared_nway",
    ),
    (
        "L1 Wavefronts Shared Excessive",
        "derived__memory_l1_wavefronts_shared_excessive",
    ),
    ("L1 Wavefronts Shared", "memory_l1_wavefronts_shared"),
    (
        "L1 Wavefronts Shared Ideal",
        "memory_l1_wavefronts_shared_ideal",
    ),
    (
        "L2 Theoretical Sectors Global Excessive",
        "derived__memory_l2_theoretical_sectors_global_excessive",
    ),
    (
        "L2 Theoretical Sectors Global",
        "memory_l2_theoretical_sectors_global",
    ),
    (
        "L2 Theoretical Sectors Global Ideal",
        "memory_l2_theoretical_sectors_global_ideal",
    ),
    (
        "L2 Theoretical Sectors Local",
        "memory_l2_theoretical_sectors_local",
    ),
    (
        "L2 Explicit Evict Policies",
        "smsp__sass_inst_executed_memdesc_explicit_evict_type",
    ),
    (
        "L2 Explicit Hit Policy Evict First",
        "smsp__sass_inst_executed_memdesc_explicit_hitprop_evict_first",
    ),
    (
        "L2 Explicit Hit Policy Evict Last",
        "smsp__sass_inst_executed_memdesc_explicit_hitprop_evict_last",
    ),
    (
        "L2 Explicit Hit Policy Evict Normal",
        "smsp__sass_inst_executed_memdesc_explicit_hitprop_evict_normal",
    ),
    (
        "L2 Explicit Hit Policy Evict Normal Demote",
        "smsp__sass_inst_executed_memdesc_explicit_hitprop_evict_normal_demote",
    ),
    (
        "L2 Explicit Miss Policy Evict First",
        "smsp__sass_inst_executed_memdesc_explicit_missprop_evict_first",
    ),
    (
        "L2 Explicit Miss Policy Evict Normal",
        "smsp__sass_inst_executed_memdesc_explicit_missprop_evict_normal",
    ),
];

/// Stall reasons as the source page shortens them.
const STALLS: Labels = &[
    ("barrier", "barrier"),
    ("branch_resolving", "branch_resolving"),
    ("dispatch", "dispatch_stall"),
    ("drain", "drain"),
    ("imc", "imc_miss"),
    ("lg", "lg_throttle"),
    ("long_sb", "long_scoreboard"),
    ("math", "math_pipe_throttle"),
    ("membar", "membar"),
    ("mio", "mio_throttle"),
    ("misc", "misc"),
    ("no_inst", "no_instructions"),
    ("not_selected", "not_selected"),
    ("selected", "selected"),
    ("short_sb", "short_scoreboard"),
    ("sleep", "sleeping"),
    ("sleeping", "sleeping"),
    ("tex", "tex_throttle"),
    ("wait", "wait"),
];

/// The code that the report stores where the source page prints a word; `None` if the word is not known.
pub(super) fn code(metric: &str, word: &str) -> Option<u64> {
    Some(match (metric, word) {
        ("memory_type", "Global") => 4,
        ("memory_type", "Local") => 8,
        ("memory_type", "Shared") => 16,
        ("memory_access_type", "Load") => 2,
        ("memory_access_type", "Store") => 4,
        ("memory_access_size_type", "8") => 2,
        ("memory_access_size_type", "16") => 8,
        ("memory_access_size_type", "32") => 32,
        ("memory_access_size_type", "64") => 64,
        ("memory_access_size_type", "128") => 128,
        _ => return None,
    })
}

/// Whether a metric of the source page is a code, which has no total.
pub(super) fn is_code(metric: &str) -> bool {
    metric.ends_with("_type")
}
