//! Where each finding fires, and where it must not: one committed report for each, and no finding without them.
//!
//! The kernels on which a finding must not fire look like it: the fixed version of a flaw, or one with the same symptom
//! and another cause.

mod support;

use std::collections::BTreeSet;

use libtest_mimic::{Arguments, Failed, Trial};
use ridge_diagnose::document::{Confidence, Kernel};
use ridge_diagnose::{is_verdict, page_ids, report_findings};
use support::{Counters, Sample, finding, root, sample};

/// A kernel to look at.
enum On {
    /// A kernel of a full report in `fixtures/gallery` or `fixtures/reports`.
    Kernel(&'static str, &'static str),
    /// The launch with this number of a report in `fixtures/reports/small`.
    Small(&'static str, usize),
    /// A real kernel with counters that were changed: how, and why.
    Made(fn() -> Sample),
}
use On::{Kernel as In, Made, Small};

/// A finding, a kernel on which it fires, and one on which it must not, with what it shares with the flaw.
struct Row {
    id: &'static str,
    fires: On,
    silent: &'static [(On, &'static str)],
}

const ROWS: &[Row] = &[
    Row {
        id: "uncoalesced-global",
        fires: In("aos", "aos_slow"),
        silent: &[
            (In("aos", "aos_fixed"), "the fix"),
            (
                In("vadd", "vadd_slow"),
                "waits for memory as long, with every sector full",
            ),
            (
                In("bin_counts", "bin_counts_slow"),
                "excess sectors of local memory only",
            ),
        ],
    },
    Row {
        id: "narrow-access",
        fires: In("vadd", "vadd_slow"),
        silent: &[
            (In("vadd", "vadd_fixed"), "the fix"),
            (
                In("aos", "aos_slow"),
                "4 bytes a thread, but it is the stride that costs",
            ),
            (
                In("wide_matvec", "wide_matvec_slow"),
                "4 bytes a thread on a device that is mostly empty",
            ),
        ],
    },
    Row {
        id: "redundant-traffic",
        fires: In("row_stats", "row_stats_slow"),
        silent: &[
            (In("row_stats", "row_stats_fixed"), "the fix"),
            (
                In("haar_inplace", "haar_inplace_fixed"),
                "phases between barriers, in shared memory",
            ),
            (In("triad", "triad_slow"), "as much traffic, each byte once"),
        ],
    },
    Row {
        id: "no-reuse",
        fires: In("tile_gemm", "tile_gemm_slow"),
        silent: &[
            (In("tile_gemm", "tile_gemm_fixed"), "the fix"),
            (
                In("scan_steps", "scan_steps_slow"),
                "a load for each addition, to exchange values",
            ),
            (
                In("bankconflict", "bankconflict_slow"),
                "shared memory is busy with conflicts",
            ),
        ],
    },
    Row {
        id: "bank-conflicts",
        fires: In("bankconflict", "bankconflict_slow"),
        silent: &[
            (In("bankconflict", "bankconflict_fixed"), "the fix"),
            (
                In("tile_gemm", "tile_gemm_slow"),
                "shared memory is as busy, without conflicts",
            ),
        ],
    },
    Row {
        id: "atomic-contention",
        fires: In("global_histogram", "global_histogram_slow"),
        silent: &[
            (In("global_histogram", "global_histogram_fixed"), "the fix"),
            (
                In("compact_counter", "compact_counter_fixed"),
                "one atomic for each block",
            ),
        ],
    },
    Row {
        id: "register-spill",
        fires: In("big_tile", "big_tile_slow"),
        silent: &[
            (In("big_tile", "big_tile_fixed"), "the fix"),
            (
                In("bin_counts", "bin_counts_slow"),
                "local memory without spills",
            ),
        ],
    },
    Row {
        id: "local-memory",
        fires: In("bin_counts", "bin_counts_slow"),
        silent: &[
            (In("bin_counts", "bin_counts_fixed"), "the fix"),
            (
                In("big_tile", "big_tile_slow"),
                "local memory by spills only",
            ),
        ],
    },
    Row {
        id: "low-occupancy-registers",
        fires: In("rare_branch", "rare_branch_slow"),
        silent: &[
            (In("rare_branch", "rare_branch_fixed"), "the fix"),
            (
                In("fma_peak", "fma_peak_slow"),
                "few warps are enough to fill the pipe",
            ),
            (
                In("worst_case_buffer", "worst_case_buffer_slow"),
                "capped by shared memory",
            ),
        ],
    },
    Row {
        id: "low-occupancy-shared",
        fires: In("worst_case_buffer", "worst_case_buffer_slow"),
        silent: &[
            (
                In("worst_case_buffer", "worst_case_buffer_fixed"),
                "the fix",
            ),
            (In("rare_branch", "rare_branch_slow"), "capped by registers"),
            (
                In("tensor_peak", "tensor_peak_slow"),
                "few warps are enough to fill the pipe",
            ),
        ],
    },
    Row {
        id: "low-occupancy-block",
        fires: In("short_rows", "short_rows_slow"),
        silent: &[
            (In("short_rows", "short_rows_fixed"), "the fix"),
            (
                In("list_walk", "list_walk_slow"),
                "few warps, because few were launched",
            ),
        ],
    },
    Row {
        id: "latency-bound",
        fires: Made(chain_on_a_full_device),
        silent: &[
            (
                In("list_walk", "list_walk_slow"),
                "the same chain: more blocks would hide it",
            ),
            (
                In("rare_branch", "rare_branch_slow"),
                "registers keep the warps away",
            ),
            (In("vadd", "vadd_fixed"), "waits for a busy interface"),
        ],
    },
    Row {
        id: "underfilled-grid",
        fires: In("wide_matvec", "wide_matvec_slow"),
        silent: &[
            (In("wide_matvec", "wide_matvec_fixed"), "the fix"),
            (
                In("short_rows", "short_rows_slow"),
                "many blocks, each of one warp",
            ),
            (
                In("tensor_peak", "tensor_peak_slow"),
                "one block an SM that fills it",
            ),
        ],
    },
    Row {
        id: "tail-effect",
        fires: In("density_wave", "density_wave_slow"),
        silent: &[
            (In("density_wave", "density_wave_fixed"), "the fix"),
            (
                In("global_histogram", "global_histogram_fixed"),
                "uneven, but not for its last wave",
            ),
        ],
    },
    Row {
        id: "load-imbalance",
        fires: In("global_histogram", "global_histogram_fixed"),
        silent: &[
            (
                In("density_wave", "density_wave_slow"),
                "uneven by its last wave",
            ),
            (In("wide_matvec", "wide_matvec_slow"), "SMs without a block"),
        ],
    },
    Row {
        id: "warp-divergence",
        fires: In("long_loops", "long_loops_slow"),
        silent: &[
            (In("long_loops", "long_loops_fixed"), "the fix"),
            (
                In("rare_branch", "rare_branch_slow"),
                "a branch that hardly any lane takes",
            ),
        ],
    },
    Row {
        id: "barrier-stall",
        fires: In("scan_steps", "scan_steps_slow"),
        silent: &[
            (
                In("bankconflict", "bankconflict_slow"),
                "warps are late at the barrier for their conflicts",
            ),
            (In("triad", "triad_slow"), "no barrier"),
        ],
    },
    Row {
        id: "memory-barrier",
        fires: In("fence_each", "fence_each_slow"),
        silent: &[
            (In("fence_each", "fence_each_fixed"), "the fix"),
            (
                In("compact_counter", "compact_counter_slow"),
                "waits for atomics",
            ),
        ],
    },
    Row {
        id: "special-function",
        fires: In("tone_curve", "tone_curve_slow"),
        silent: &[
            (In("tone_curve", "tone_curve_fixed"), "the fix"),
            (
                In("oscillator", "oscillator_slow"),
                "the XU pipe is full of conversions",
            ),
            (
                In("index_decode", "index_decode_slow"),
                "reciprocals of integer divisions",
            ),
        ],
    },
    Row {
        id: "fp64-promotion",
        fires: In("oscillator", "oscillator_slow"),
        silent: &[
            (In("oscillator", "oscillator_fixed"), "the fix"),
            (Made(double_data), "double precision is what the data is in"),
        ],
    },
    Row {
        id: "integer-alu",
        fires: In("index_decode", "index_decode_slow"),
        silent: &[
            (In("index_decode", "index_decode_fixed"), "the fix"),
            (
                In("long_loops", "long_loops_slow"),
                "integer work for idle lanes",
            ),
            (
                In("vadd", "vadd_slow"),
                "mostly integer instructions, and they cost nothing",
            ),
        ],
    },
    Row {
        id: "unfused-fp",
        fires: In("complex_rotate", "complex_rotate_slow"),
        silent: &[
            (In("complex_rotate", "complex_rotate_fixed"), "the fix"),
            (
                In("tone_curve", "tone_curve_slow"),
                "products and sums of a function's own sequence",
            ),
        ],
    },
    Row {
        id: "half-scalar",
        fires: In("half_poly", "half_poly_slow"),
        silent: &[
            (In("half_poly", "half_poly_fixed"), "the fix"),
            (
                In("bf16_linear", "bf16_linear_slow"),
                "half-precision data, calculated in FP32",
            ),
        ],
    },
    Row {
        id: "no-tensor-cores",
        fires: In("bf16_linear", "bf16_linear_slow"),
        silent: &[
            (In("bf16_linear", "bf16_linear_fixed"), "the fix"),
            (In("tile_gemm", "tile_gemm_fixed"), "a product of FP32 data"),
            (
                In("fma_peak", "fma_peak_slow"),
                "multiply-adds of no matrix",
            ),
        ],
    },
    Row {
        id: "constant-cache",
        fires: In("class_coefficients", "class_coefficients_slow"),
        silent: &[
            (
                In("class_coefficients", "class_coefficients_fixed"),
                "the fix",
            ),
            (
                In("complex_rotate", "complex_rotate_slow"),
                "every lane reads the same constants",
            ),
        ],
    },
    Row {
        id: "instruction-cache",
        fires: In("code_variants", "code_variants_slow"),
        silent: &[
            (In("code_variants", "code_variants_fixed"), "the fix"),
            (
                In("relax_sweeps", "relax_sweeps_slow"),
                "caches are cold, because it is short",
            ),
        ],
    },
    Row {
        id: "launch-bound",
        fires: In("relax_sweeps", "relax_sweeps_slow"),
        silent: &[
            (In("relax_sweeps", "relax_sweeps_fixed"), "the fix"),
            (Small("basic", 0), "a microsecond longer than a launch"),
        ],
    },
    Row {
        id: "at-dram-limit",
        fires: In("triad", "triad_slow"),
        silent: &[
            (In("vadd", "vadd_slow"), "a tenth below what is attainable"),
            (
                In("row_stats", "row_stats_slow"),
                "as busy, with bytes that need not move",
            ),
        ],
    },
    Row {
        id: "at-l2-limit",
        fires: In("l2_lines", "l2_lines_slow"),
        silent: &[(
            In("thread_chunks", "thread_chunks_slow"),
            "busy with sectors that nobody needs",
        )],
    },
    Row {
        id: "at-compute-limit",
        fires: In("fma_peak", "fma_peak_slow"),
        silent: &[
            (
                In("complex_rotate", "complex_rotate_slow"),
                "as busy, with instructions that can be fused",
            ),
            (
                In("half_poly", "half_poly_slow"),
                "as busy, with half of each instruction",
            ),
        ],
    },
    Row {
        id: "at-tensor-limit",
        fires: In("tensor_peak", "tensor_peak_slow"),
        silent: &[(
            In("bf16_linear", "bf16_linear_fixed"),
            "matrix pipes that wait for operands",
        )],
    },
];

/// A walk along a list, as in `list_walk`, by twice as many blocks as the device holds, through lists that stay in the
/// L1: every warp slot is taken, nothing streams, and each warp still waits for one load after the other. No committed
/// report holds a chain that fills the device.
fn chain_on_a_full_device() -> Sample {
    let mut made = sample("list_walk", "list_walk_slow");
    let counters = &mut made.counters;
    let more = 2.0 / counters.get("launch__waves_per_multiprocessor");
    for metric in [
        "launch__waves_per_multiprocessor",
        "launch__grid_size",
        "launch__thread_count",
    ] {
        counters.scale(|name| name == metric, more);
    }
    let loads = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld";
    let sectors = counters.get(&format!("{loads}.sum"));
    counters.set(&format!("{loads}_lookup_hit.sum"), 0.9 * sectors);
    counters.set(&format!("{loads}_lookup_miss.sum"), 0.1 * sectors);
    made
}

/// The arithmetic of `oscillator_slow` on data in double precision: loads and stores of 8 bytes, no conversion.
fn double_data() -> Sample {
    let mut made = sample("oscillator", "oscillator_slow");
    let counters = &mut made.counters;
    let conversions = counters.executed("F2F");
    for opcode in counters.opcodes("F2F") {
        counters.execute(&opcode, -counters.executed_exactly(&opcode));
    }
    counters.show("sm__inst_executed_pipe_xu", -1.0);
    assert!(conversions > 0.0, "the kernel converts");
    made
}

/// `l1_distances_slow`, which loads both operands of each step from the caches, by a quarter of its warps, as a small image
/// has them: they take two and a half times as long, so that no stage of the load path is half busy. Queues are empty
/// then, less than one warp of a scheduler is ready in a cycle, and what is left of the latency is waiting for loads. No committed
/// report holds one.
fn re_reads_below_half_load(change: impl FnOnce(&mut Counters)) -> Sample {
    const LATENCY: &str = "smsp__average_warp_latency_per_inst_issued.ratio";
    let stall =
        |reason: &str| format!("smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio");
    let (slower, fewer) = (2.5, 4.0);
    let mut made = sample("l1_distances", "l1_distances_slow");
    let counters = &mut made.counters;
    // Clearly a load for each operation.
    for opcode in counters.opcodes("LDG") {
        let count = counters.executed_exactly(&opcode);
        counters.execute(&opcode, 0.1 * count);
    }
    counters.stretch(slower);
    for metric in [
        "smsp__warps_active.avg.per_cycle_active",
        "smsp__warps_eligible.avg.per_cycle_active",
    ] {
        counters.scale(|name| name == metric, 1.0 / fewer);
    }
    // Resident warps times cycles, over what they issue.
    let (before, latency) = (
        counters.get(LATENCY),
        counters.get(LATENCY) * slower / fewer,
    );
    counters.set(LATENCY, latency);
    let mut gone = 0.0;
    for reason in ["lg_throttle", "not_selected"] {
        gone += counters.get(&stall(reason));
        counters.set(&stall(reason), 0.0);
    }
    counters.add(&stall("long_scoreboard"), gone - (before - latency));
    change(counters);
    made
}

/// What the loads of `re_reads_below_half_load` find in the caches: this part of them.
fn hit(counters: &mut Counters, part: f64) {
    let loads = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld";
    let sectors = counters.get(&format!("{loads}.sum"));
    counters.set(&format!("{loads}_lookup_hit.sum"), part * sectors);
    counters.set(&format!("{loads}_lookup_miss.sum"), (1.0 - part) * sectors);
    let requests = counters.get("lts__t_sectors.sum");
    counters.set("lts__t_sectors_lookup_hit.sum", part * requests);
    counters.set("lts__t_sectors_lookup_miss.sum", (1.0 - part) * requests);
}

/// Loads that hit and are waited for lack re-use where the load path is not half busy, too; a guess, since the caches
/// serve each of them at once.
fn re_use_below_half_load() -> Result<(), Failed> {
    const ID: &str = "no-reuse";
    let kernel = re_reads_below_half_load(|_| {}).shown();
    let found = finding(&kernel, ID).ok_or("does not fire")?;
    if found.confidence != Confidence::Low {
        return Err(format!("is {:?}", found.confidence).into());
    }
    let path = found
        .evidence
        .iter()
        .find(|seen| seen.metric.contains("load path"));
    let path = path.ok_or("does not tell how busy the path is")?.value;
    if !(0.25..0.5).contains(&path) {
        return Err(format!("the load path is busy for {path}").into());
    }
    /// What it looks like, and how the counters differ.
    type Alike = (&'static str, fn(&mut Counters));
    let silent: [Alike; 4] = [
        ("each byte once: nothing hits", |counters| {
            hit(counters, 0.1)
        }),
        ("warps wait at barriers", |counters| {
            counters.wait(counters.cycles(), "barrier");
        }),
        ("a chain: the load path is idle", |counters| {
            counters.wait(counters.cycles(), "long_scoreboard");
        }),
        ("other warps have work meanwhile", |counters| {
            counters.set("smsp__warps_eligible.avg.per_cycle_active", 1.5);
        }),
    ];
    for (alike, change) in silent {
        let kernel = re_reads_below_half_load(change).shown();
        if finding(&kernel, ID).is_some() {
            return Err(format!("fires where it must not: {alike}").into());
        }
        if kernel.not_checked.iter().any(|check| check.id == ID) {
            return Err(format!("is not checked: {alike}").into());
        }
    }
    Ok(())
}

impl On {
    fn sample(&self) -> Sample {
        match self {
            In(report, kernel) => sample(report, kernel),
            Small(report, launch) => {
                let path = format!("fixtures/reports/small/{report}.ncu-rep.zst");
                support::read(&root().join(path)).swap_remove(*launch)
            }
            Made(make) => make(),
        }
    }
}

/// Kernels of one report, in the order of their launches.
type InARow = fn() -> Vec<Kernel>;

/// Findings of reports: kernels in a row on which they fire, and on which they must not.
struct ReportRow {
    id: &'static str,
    fires: InARow,
    silent: &'static [(InARow, &'static str)],
}

const REPORT_ROWS: &[ReportRow] = &[
    ReportRow {
        id: "unfused-kernels",
        fires: || report("elementwise_chain"),
        silent: &[
            (
                || report("row_stats"),
                "two kernels read the same input, and write little",
            ),
            (
                || report("bf16_linear"),
                "products, which no kernel before them feeds",
            ),
            (|| report("tile_gemm"), "bound by other units than memory"),
        ],
    },
    ReportRow {
        id: "launch-bound",
        fires: || tiny(8),
        silent: &[
            (|| tiny(3), "three short launches are no sequence"),
            (|| report("vadd"), "long launches"),
        ],
    },
];

/// The kernels of a report, each launch by itself.
fn report(name: &str) -> Vec<Kernel> {
    support::fixtures()
        .iter()
        .filter(|sample| sample.report == name)
        .map(Sample::shown)
        .collect()
}

/// The kernel of `relax_sweeps_slow`, which lasts 2.3 us, several times in a row: no committed report holds a loop of
/// launches, since a profiler that repeats each of them makes them no different.
fn tiny(launches: usize) -> Vec<Kernel> {
    let sample = sample("relax_sweeps", "relax_sweeps_slow");
    let duration_ns = sample.counters.number("gpu__time_duration.sum");
    let group = ridge_diagnose::Group {
        launches: (0..launches).map(|launch| (launch, duration_ns)).collect(),
        ..ridge_diagnose::Group::default()
    };
    vec![sample.diagnose_as(&group, 0.02)]
}

fn main() {
    let arguments = Arguments::from_args();
    let mut trials: Vec<Trial> = ROWS
        .iter()
        .map(|row| Trial::test(format!("kernel::{}", row.id), || check(row)))
        .collect();
    trials.extend(
        REPORT_ROWS
            .iter()
            .map(|row| Trial::test(format!("report::{}", row.id), || check_report(row))),
    );
    trials.push(Trial::test(
        "evidence_says_what_is_healthy",
        evidence_says_what_is_healthy,
    ));
    trials.push(Trial::test(
        "re_use_below_half_load",
        re_use_below_half_load,
    ));
    trials.push(Trial::test(
        "every_finding_has_a_row",
        every_finding_has_a_row,
    ));
    libtest_mimic::run(&arguments, trials).exit();
}

fn check(row: &Row) -> Result<(), Failed> {
    let on = row.fires.sample();
    let kernel = on.shown();
    let found = |kernel: &Kernel| {
        let names: Vec<&str> = kernel.findings.iter().map(|found| &*found.id).collect();
        names.join(", ")
    };
    if finding(&kernel, row.id).is_none() {
        return Err(format!("does not fire on {}: {}", on.name(), found(&kernel)).into());
    }
    for (on, alike) in row.silent {
        let on = on.sample();
        let kernel = on.shown();
        if finding(&kernel, row.id).is_some() {
            return Err(format!("fires on {} ({alike}): {}", on.name(), found(&kernel)).into());
        }
        // Silent because all is well, not because nobody could look.
        if kernel.not_checked.iter().any(|check| check.id == row.id) {
            return Err(format!("{} is not checked on {}", row.id, on.name()).into());
        }
    }
    Ok(())
}

/// Numbers that stand beside others and have no healthy value: sizes of the work, limits that are not in force, parts that
/// any kernel may have.
const CONTEXT: &[&str] = &[
    "BAR instructions",
    "MUFU and F2I.NTZ instructions",
    "half-precision instructions, share of all",
    "launch__occupancy_limit_blocks",
    "launch__occupancy_limit_registers",
    "launch__occupancy_limit_shared_mem",
    "launch__registers_per_thread",
    "launch__waves_per_multiprocessor",
    "loads that a waiting warp has open",
    "memory_l1_wavefronts_shared_ideal",
    "memory_l2_theoretical_sectors_global_ideal",
    "multiply-adds for each global load",
    "sectors read by one pass",
    "shared-memory loads for each store or copy into it",
    "waiting for global memory, share of all waiting",
    "waiting for results, share of all waiting",
];

/// All else that a flaw rests on says what a healthy kernel shows.
fn evidence_says_what_is_healthy() -> Result<(), Failed> {
    for row in ROWS.iter().filter(|row| !is_verdict(row.id)) {
        let kernel = row.fires.sample().all_findings();
        let found = finding(&kernel, row.id).ok_or("does not fire")?;
        let bare: Vec<&str> = found
            .evidence
            .iter()
            .filter(|seen| seen.healthy.is_none() && !CONTEXT.contains(&seen.metric.as_str()))
            .map(|seen| seen.metric.as_str())
            .collect();
        if !bare.is_empty() {
            return Err(format!("{} does not tell what is healthy: {bare:?}", row.id).into());
        }
        let mut told = found
            .evidence
            .iter()
            .filter_map(|seen| Some((seen, seen.healthy?)));
        if let Some((seen, healthy)) =
            told.find(|(_, healthy)| !healthy.is_finite() || *healthy < 0.0)
        {
            return Err(format!("{}: {} against {healthy}", row.id, seen.metric).into());
        }
        // Something is clearly not as it should be.
        let differs = found.evidence.iter().any(|seen| {
            let healthy = seen.healthy.unwrap_or(seen.value);
            (seen.value - healthy).abs() >= 0.1 * seen.value.abs().max(healthy.abs())
        });
        if !differs {
            return Err(format!("{} shows nothing that is unhealthy", row.id).into());
        }
    }
    Ok(())
}

fn check_report(row: &ReportRow) -> Result<(), Failed> {
    let found = |kernels: &[Kernel]| {
        report_findings(kernels)
            .iter()
            .any(|found| found.finding.id == row.id)
    };
    if !found(&(row.fires)()) {
        return Err("does not fire".into());
    }
    for (kernels, alike) in row.silent {
        if found(&kernels()) {
            return Err(format!("fires on kernels that it must not ({alike})").into());
        }
    }
    Ok(())
}

/// A new finding comes with a kernel on which it fires and one on which it must not.
fn every_finding_has_a_row() -> Result<(), Failed> {
    let pages: BTreeSet<&str> = page_ids().collect();
    let rows: BTreeSet<&str> = ROWS
        .iter()
        .map(|row| row.id)
        .chain(REPORT_ROWS.iter().map(|row| row.id))
        .collect();
    let kernels: BTreeSet<&str> = ridge_diagnose::ids().collect();
    let kernel_rows: BTreeSet<&str> = ROWS.iter().map(|row| row.id).collect();
    if rows != pages || kernels != kernel_rows {
        return Err(format!("{:?}", rows.symmetric_difference(&pages)).into());
    }
    if ROWS.iter().any(|row| row.silent.is_empty()) {
        return Err("a finding must stay silent somewhere".into());
    }
    Ok(())
}
