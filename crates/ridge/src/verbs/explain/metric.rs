//! Metrics: what a name says about where, what and how something was counted.

use ncu_rep::{Unit, unit_of};
use ridge_diagnose::{findings_that_name, stall_meaning, stall_reasons};

use super::known;

/// Metrics that people ask for most; offered when a name is unknown.
pub(super) const COMMON: &[&str] = &[
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "gpu__time_duration.sum",
    "l1tex__data_bank_conflicts_pipe_lsu.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "launch__occupancy_limit_registers",
    "launch__registers_per_thread",
    "lts__t_sectors.sum",
    "sm__cycles_active.avg",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "smsp__inst_executed.sum",
    "smsp__issue_active.avg.per_cycle_active",
];

/// Units of the GPU and other sources, by the start of the name.
const SOURCES: &[(&str, &str)] = &[
    ("device__attribute", "a property of the device"),
    (
        "launch__",
        "the launch: its configuration and what follows from it",
    ),
    ("gpu__", "the whole GPU"),
    ("gpc__", "a GPC, a cluster of SMs with a clock of its own"),
    (
        "smsp__",
        "a sub-partition of an SM: one of the four schedulers with its registers and pipes",
    ),
    ("sm__", "a streaming multiprocessor (SM)"),
    (
        "l1tex__",
        "the L1TEX cache of an SM: global, local, shared and texture accesses",
    ),
    ("lts__", "a slice of the L2 cache"),
    (
        "lrc__",
        "the L2 request coalescer, between the crossbar and the L2",
    ),
    ("dram__", "device memory (DRAM)"),
    ("fbpa__", "the controller of a DRAM channel"),
    ("idc__", "the indexed constant cache of an SM"),
    (
        "gcc__",
        "the constant and instruction cache that the SMs of a GPC share",
    ),
    ("pcie__", "the PCI Express link"),
    ("nvlink__", "the NVLink links"),
    ("nvlrx__", "the receiving side of NVLink"),
    ("nvltx__", "the sending side of NVLink"),
    ("c2clink__", "the link between CPU and GPU chips"),
    ("numa__", "the NUMA topology of the host"),
    (
        "sass__",
        "counts that patched code made while the kernel ran, by instruction",
    ),
    (
        "memory_",
        "addresses that patched code recorded, by instruction",
    ),
    (
        "inst_executed",
        "counts that patched code made, by instruction",
    ),
    (
        "thread_inst_executed",
        "counts that patched code made, by instruction",
    ),
    (
        "derived__",
        "the profiler's own arithmetic on other metrics",
    ),
    ("profiler__", "the profiler itself, not the kernel"),
];

/// What is counted, by a part of the name; the first that fits.
const COUNTED: &[(&str, &str)] = &[
    (
        "device__attribute",
        "nothing: it is the value of the driver's attribute of this name",
    ),
    (
        "bank_conflicts",
        "passes that shared memory needed beyond the first because lanes met in a bank",
    ),
    (
        "throughput",
        "the share of the peak of the busiest of several counters (a breakdown lists them)",
    ),
    (
        "time_duration",
        "the time from the start of the kernel to its end",
    ),
    ("cycles_elapsed", "clock cycles of the unit, busy or not"),
    ("cycles_active", "clock cycles in which the unit had work"),
    (
        "issue_active",
        "cycles in which a scheduler issued an instruction",
    ),
    (
        "inst_issued",
        "warp instructions issued; one that is replayed counts again",
    ),
    (
        "ops_path_tensor",
        "arithmetic operations of the matrix pipes; a multiply-add is two",
    ),
    (
        "thread_inst_executed",
        "instructions times lanes that took part",
    ),
    ("inst_executed", "warp instructions executed"),
    (
        "warps_eligible",
        "warps that could issue their next instruction",
    ),
    ("warps_active", "warps that reside on the unit"),
    (
        "warp_latency_per_inst_issued",
        "cycles between two instructions of a warp",
    ),
    (
        "wavefronts",
        "wavefronts: parts of requests, each served in one cycle",
    ),
    ("hit_rate", "the share of look-ups that found their data"),
    ("sectors", "sectors of 32 bytes"),
    (
        "requests",
        "requests: what one instruction of a warp asks for",
    ),
    ("bytes", "bytes"),
    (
        "occupancy_limit",
        "blocks of this kernel that an SM can hold as far as this resource goes",
    ),
    (
        "waves_per_multiprocessor",
        "blocks of the grid against the blocks that the device holds at once",
    ),
    ("registers_per_thread", "registers of each thread"),
    ("pcsamp_sample", "samples of the program counter of warps"),
    ("cycles", "clock cycles"),
];

/// Endings of a name, in the order in which they appear.
const ENDINGS: &[(&str, &str)] = &[
    ("sum", "added up over all instances of the unit"),
    ("avg", "the average of all instances of the unit"),
    ("min", "the instance of the unit with the smallest value"),
    ("max", "the instance of the unit with the largest value"),
    ("pct", "in percent"),
    ("ratio", "one count divided by another"),
    ("max_rate", "the largest value that the ratio can have"),
    ("per_second", "divided by the duration"),
    (
        "per_cycle_elapsed",
        "divided by the cycles of the unit, busy or not",
    ),
    (
        "per_cycle_active",
        "divided by the cycles in which the unit had work",
    ),
    (
        "pct_of_peak_sustained_elapsed",
        "percent of what the unit can sustain in all cycles of the kernel",
    ),
    (
        "pct_of_peak_sustained_active",
        "percent of what the unit can sustain in the cycles in which it had work",
    ),
    (
        "peak_sustained",
        "not measured: what the unit can sustain in each cycle",
    ),
    (
        "peak_sustained_elapsed",
        "not measured: what the unit can sustain in all cycles of the kernel",
    ),
    (
        "peak_sustained_active",
        "not measured: what the unit can sustain in the cycles in which it had work",
    ),
];

/// Short names of stall reasons, as the columns of the profiler's source page and its documentation carry them behind
/// `stall_`, with the name in metrics. The others differ by nothing but that start.
const SHORT: &[(&str, &str)] = &[
    ("branch_resolving", "branch_resolving"),
    ("branch_resolve", "branch_resolving"),
    ("dispatch", "dispatch_stall"),
    ("imc", "imc_miss"),
    ("lg", "lg_throttle"),
    ("long_sb", "long_scoreboard"),
    ("math", "math_pipe_throttle"),
    ("mio", "mio_throttle"),
    ("no_inst", "no_instruction"),
    ("no_instructions", "no_instruction"),
    ("short_sb", "short_scoreboard"),
    ("sleeping", "sleeping"),
    ("sleep", "sleeping"),
    ("tex", "tex_throttle"),
];

/// The name that metrics have for a stall reason, under whatever name the profiler shows it.
fn reason_of(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase().replace([' ', '-'], "_");
    let (plain, has_start) = ["stalled_", "stall_"]
        .into_iter()
        .find_map(|start| name.strip_prefix(start))
        .map_or((name.as_str(), false), |plain| (plain, true));
    let known = |wanted: &str| stall_reasons().find(|known| *known == wanted);
    known(plain).or_else(|| {
        // Without the start, short names such as `tex` and `math` may mean anything.
        let (_, reason) = SHORT
            .iter()
            .find(|(short, _)| *short == plain)
            .filter(|(short, _)| has_start || short.contains('_'))?;
        known(reason)
    })
}

/// The page of a stall reason, as Markdown.
pub(super) fn stall_reason(name: &str) -> Option<String> {
    reason_of(name).map(|reason| {
        // The first short name is the one of the source page.
        let short = SHORT
            .iter()
            .find(|(_, of)| *of == reason)
            .map_or(reason, |(short, _)| short);
        format!(
            "# {reason}\n\nA stall reason: warps wait for {}.\n\n\
             The metric `smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio` gives the cycles that a warp \
             spends so between two of its instructions, and `smsp__pcsamp_warps_issue_stalled_{reason}` counts samples; the profiler's source page calls it `stall_{short}`.\n\n\
             A stall is a symptom: see `ridge explain stall reasons`.\n",
            stall_meaning(reason)
        )
    })
}

/// The page of a metric, as Markdown; nothing for what is no name of a metric.
///
/// There are many thousands of names, other ones for each architecture. One that starts as a metric does is taken for
/// one, and the page says when it is not known and which known ones look like it.
pub(super) fn page(name: &str) -> Option<String> {
    let is_name = name
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || "_.:".contains(letter));
    // Sampled metrics carry a prefix that ends in a colon or a dot.
    let plain = name.rsplit_once(':').map_or(name, |(_, plain)| plain);
    let plain = plain
        .split_once("Triage")
        .and_then(|(_, rest)| rest.split_once('.'))
        .map_or(plain, |(_, plain)| plain);
    let (prefix, source) = SOURCES
        .iter()
        .find(|(prefix, _)| plain.starts_with(prefix))?;
    if !is_name || plain.len() == prefix.len() && prefix.ends_with('_') {
        return None;
    }
    let mut parts = plain.split('.');
    let base = parts.next().unwrap_or(plain);

    let mut page = format!("# {name}\n\n");
    if name.starts_with("breakdown:") || name.starts_with("group:") {
        page.push_str("A list of metrics, not a value.\n\n");
    } else if plain.len() < name.len() {
        page.push_str("Sampled over time: its instances are values at successive moments.\n\n");
    }
    if !known::is_known(base) && findings_that_name(base).next().is_none() {
        page.push_str(&unknown_name(base));
    }
    let mut bullet = |label: &str, text: &str| {
        page.push_str("* ");
        page.push_str(label);
        page.push_str(": ");
        page.push_str(text);
        page.push('\n');
    };
    bullet("Where", source);
    bullet("Counts", &counted(base));
    for part in parts {
        let meaning = ENDINGS
            .iter()
            .find(|(ending, _)| *ending == part)
            .map_or_else(
                || unknown_ending(part),
                |(_, meaning)| (*meaning).to_owned(),
            );
        bullet(&format!("`.{part}`"), &meaning);
    }
    let unit = unit_of(name);
    if unit == Unit::NONE {
        bullet("Unit", "none, or none that is known");
    } else {
        bullet("Unit", &unit.to_string());
    }
    let findings: Vec<String> = findings_that_name(base)
        .map(|id| format!("`{id}`"))
        .collect();
    if !findings.is_empty() {
        bullet("Named by", &findings.join(", "));
    }
    Some(page)
}

/// A paragraph for a name that may be misspelt, or of another device or version.
fn unknown_name(base: &str) -> String {
    let near: Vec<String> = known::nearest(base)
        .into_iter()
        .map(|name| format!("`{name}`"))
        .collect();
    let meant = if near.is_empty() {
        String::new()
    } else {
        format!(" Did you mean {}?", near.join(" or "))
    };
    format!(
        "This name is not among the metrics that are known here: it may belong to another device or version of the \
         profiler, or be misspelt.{meant}\n\n"
    )
}

fn unknown_ending(part: &str) -> String {
    ENDINGS
        .iter()
        .map(|(ending, _)| (super::distance(part, ending), ending))
        .filter(|(distance, _)| *distance <= (part.len() / 3).max(2))
        .min()
        .map_or_else(
            || "not known here".to_owned(),
            |(_, near)| format!("not known here; did you mean `.{near}`?"),
        )
}

/// What is counted, as far as the name tells.
fn counted(base: &str) -> String {
    let reason = base
        .split_once("_issue_stalled_")
        .map(|(_, rest)| rest.trim_end_matches("_not_issued"))
        .map(|rest| {
            rest.trim_end_matches("_per_issue_active")
                .trim_end_matches("_per_warp_active")
        });
    if let Some(reason) = reason {
        let waits = format!("for {} (`{reason}`)", stall_meaning(reason));
        return if base.contains("pcsamp") {
            format!("samples of warps that wait {waits}")
        } else if base.ends_with("_per_issue_active") {
            format!("cycles between two instructions of a warp in which it waits {waits}")
        } else {
            format!("warps that wait {waits}")
        };
    }
    COUNTED
        .iter()
        .find(|(part, _)| base.contains(part))
        .map_or_else(
            || "not known here; NVIDIA's metrics reference may tell".to_owned(),
            |(_, meaning)| (*meaning).to_owned(),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_a_unit_of_the_gpu_are_no_metrics() {
        assert_eq!(page("bytes"), None);
        assert_eq!(page("dram__"), None);
        assert_eq!(page("dram__bytes read"), None);
        assert_eq!(page("foo__bytes.sum"), None);
    }

    #[test]
    fn prefixes_of_sampled_metrics_are_passed_over() {
        for name in [
            "pmsampling:dram__bytes_read.sum",
            "TPC.TriageCompute.sm__inst_executed.sum",
        ] {
            assert!(page(name).unwrap().contains("Sampled over time"), "{name}");
        }
    }

    #[test]
    fn misspelt_names_are_told() {
        let page = page("dram__bytes_raed.smu").unwrap();
        assert!(page.contains("Did you mean `dram__bytes_read`"), "{page}");
        assert!(page.contains("did you mean `.sum`?"), "{page}");
    }

    #[test]
    fn short_names_of_stall_reasons_are_known() {
        for (short, reason) in SHORT {
            assert_eq!(
                reason_of(&format!("stall_{short}")),
                Some(*reason),
                "{short}"
            );
        }
        assert_eq!(reason_of("stall_long_sb"), Some("long_scoreboard"));
        assert_eq!(reason_of("long_sb"), Some("long_scoreboard"));
        assert_eq!(reason_of("Stall Long Scoreboard"), Some("long_scoreboard"));
        assert_eq!(reason_of("stall_barrier"), Some("barrier"));
        assert_eq!(reason_of("dispatch_stall"), Some("dispatch_stall"));
        assert_eq!(reason_of("tex"), None);
        assert_eq!(reason_of("stall"), None);
    }

    #[test]
    fn every_stall_reason_has_a_meaning() {
        for reason in stall_reasons() {
            assert_ne!(stall_meaning(reason), "something else", "{reason}");
        }
    }
}
