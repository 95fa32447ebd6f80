//! Partial reports: what a finding needs it states, and without it the finding is quieter, never louder.

mod support;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use ridge_diagnose::document::{Confidence, Finding, Kernel};
use ridge_diagnose::{Options, is_verdict};
use support::{MATRIX, Sample, finding, fixtures, in_parallel};

/// Which sections of the profiler collect a metric.
///
/// From the section definitions that every full report holds, and, for the memory chart and tables, whose metrics no
/// definition lists, from reports of one section each (`fixtures/reports/small`). A metric that is not here is stored
/// with every report: what describes launch and device, theoretical occupancy, the duration.
const SECTIONS: &[(&str, &[&str])] = &[
    ("breakdown:", &["SpeedOfLight"]),
    ("dram__bytes.sum.peak_sustained", ROOFLINES),
    (
        "dram__bytes.sum.per_second",
        &[
            "MemoryWorkloadAnalysis",
            "MemoryWorkloadAnalysis_Chart",
            "SpeedOfLight_RooflineChart",
        ],
    ),
    ("dram__bytes_", MEMORY),
    ("dram__cycles_", &["WorkloadDistribution"]),
    ("dram__sectors_", &["MemoryWorkloadAnalysis_Tables"]),
    ("gcc__", &["MemoryWorkloadAnalysis_Chart"]),
    ("idc__requests", &["MemoryWorkloadAnalysis_Chart"]),
    ("sm__icc_", &["MemoryWorkloadAnalysis_Chart"]),
    ("smsp__imc_", &["MemoryWorkloadAnalysis_Chart"]),
    ("gpc__cycles_elapsed", &["SpeedOfLight", "SourceCounters"]),
    (
        "l1tex__cycles_",
        &["WorkloadDistribution", "SourceCounters"],
    ),
    (
        "l1tex__data_pipe_lsu_wavefronts_mem_shared",
        &["MemoryWorkloadAnalysis_Tables"],
    ),
    (
        "l1tex__lsu_writeback_active_mem_lgds",
        &["MemoryWorkloadAnalysis_Tables"],
    ),
    (
        "l1tex__m_xbar2l1tex_read_bytes",
        &["MemoryWorkloadAnalysis_Chart"],
    ),
    (
        "l1tex__m_l1tex2xbar_write_bytes",
        &["MemoryWorkloadAnalysis_Chart"],
    ),
    ("l1tex__t_requests_pipe_lsu_mem_global", MEMORY),
    ("l1tex__t_", &["MemoryWorkloadAnalysis_Tables"]),
    ("lts__cycles_", &["WorkloadDistribution", "SourceCounters"]),
    ("lts__lts2xbar_cycles_active.sum.pe", HIERARCHIES),
    ("lts__t_sectors.sum", MEMORY),
    ("lts__t_sectors_srcunit_tex_op_", MEMORY),
    ("lts__t_", &["MemoryWorkloadAnalysis_Tables"]),
    ("smsp__sass_inst_executed_op_local", MEMORY),
    ("smsp__sass_inst_executed_op_global", MEMORY),
    (
        "derived__local_spilling_requests",
        &["MemoryWorkloadAnalysis"],
    ),
    (
        "sass__inst_executed_register_spilling_mem",
        &["MemoryWorkloadAnalysis"],
    ),
    ("sass__inst_executed_register_spilling", PATCHED),
    ("sass__inst_executed_per_opcode", PATCHED),
    (
        "sm__cycles_active",
        &["SpeedOfLight", "WorkloadDistribution"],
    ),
    ("sm__cycles_elapsed", &["WorkloadDistribution"]),
    ("smsp__cycles_", &["WorkloadDistribution"]),
    ("smsp__inst_issued", &["InstructionStats"]),
    (
        "smsp__inst_executed.",
        &["InstructionStats", "SourceCounters"],
    ),
    (
        "smsp__issue_active.avg.per_cycle_active",
        &["SchedulerStats", "WarpStateStats"],
    ),
    ("smsp__warps_eligible", &["SchedulerStats"]),
    ("smsp__warps_active", &["SchedulerStats"]),
    ("smsp__average_warp", &["WarpStateStats"]),
    (
        "smsp__thread_inst_executed_per_inst_executed",
        &["WarpStateStats"],
    ),
    (
        "sm__warps_active.avg.pct_of_peak_sustained_active",
        &["LaunchStats", "Occupancy"],
    ),
    (
        "sm__ops_path_tensor",
        &["SpeedOfLight_HierarchicalTensorRooflineChart"],
    ),
    ("memory_", &["SourceCounters"]),
    ("derived__memory_", &["SourceCounters"]),
    (
        "inst_executed",
        &[
            "SourceCounters",
            "InstructionStats",
            "MemoryWorkloadAnalysis",
        ],
    ),
    ("thread_inst_executed", &["SourceCounters"]),
    ("smsp__pcsamp_", &["SourceCounters"]),
    (
        "l1tex__throughput.avg.pct_of_peak_sustained_active",
        &["SpeedOfLight"],
    ),
];
/// Tables and chart share their metrics.
const MEMORY: &[&str] = &[
    "MemoryWorkloadAnalysis_Tables",
    "MemoryWorkloadAnalysis_Chart",
];
/// Instrumented once, and stored with each section that asks for any of them.
const PATCHED: &[&str] = &[
    "InstructionStats",
    "SourceCounters",
    "MemoryWorkloadAnalysis",
];
const HIERARCHIES: &[&str] = &[
    "SpeedOfLight_HierarchicalSingleRooflineChart",
    "SpeedOfLight_HierarchicalDoubleRooflineChart",
    "SpeedOfLight_HierarchicalHalfRooflineChart",
    "SpeedOfLight_HierarchicalTensorRooflineChart",
];
const ROOFLINES: &[&str] = &[
    "SpeedOfLight_RooflineChart",
    "SpeedOfLight_HierarchicalSingleRooflineChart",
    "SpeedOfLight_HierarchicalDoubleRooflineChart",
    "SpeedOfLight_HierarchicalHalfRooflineChart",
    "SpeedOfLight_HierarchicalTensorRooflineChart",
];
const CLOCKS: &[&str] = &[
    "SpeedOfLight",
    "SpeedOfLight_RooflineChart",
    "SpeedOfLight_HierarchicalSingleRooflineChart",
    "SpeedOfLight_HierarchicalDoubleRooflineChart",
    "SpeedOfLight_HierarchicalHalfRooflineChart",
    "SpeedOfLight_HierarchicalTensorRooflineChart",
];

fn sections_of(metric: &str) -> Option<&'static [&'static str]> {
    // Whatever the roll-up: clocks, and shares of a peak over all cycles.
    if metric.starts_with("smsp__warps_active.") && metric.ends_with(".peak_sustained") {
        return Some(&["SchedulerStats", "Occupancy"]);
    }
    if metric.contains("__cycles_elapsed.") && metric.ends_with(".per_second") {
        return Some(match metric.split("__").next() {
            Some("dram") => CLOCKS,
            Some("gpc") => &["SpeedOfLight"],
            Some("lts" | "l1tex") => HIERARCHIES,
            _ => ROOFLINES,
        });
    }
    let is_share = metric.ends_with(".pct_of_peak_sustained_elapsed");
    if is_share && !metric.starts_with("breakdown:") && !metric.starts_with("sm__ops_") {
        return Some(&["SpeedOfLight"]);
    }
    SECTIONS
        .iter()
        .find(|(start, _)| metric.starts_with(start))
        .map(|(_, sections)| *sections)
}

/// The launch as the profiler would have stored it with these sections only.
fn with_sections(sample: &Sample, sections: &BTreeSet<&str>) -> Sample {
    let mut partial = sample.clone();
    partial.counters.remove(|metric| {
        sections_of(metric)
            .is_some_and(|known| !known.iter().any(|section| sections.contains(section)))
    });
    partial.sections = sections.iter().map(|&section| section.to_owned()).collect();
    partial
}

fn collected(sample: &Sample) -> BTreeSet<&str> {
    sample.sections.iter().map(String::as_str).collect()
}

fn without(sample: &Sample, section: &str) -> Sample {
    let mut sections = collected(sample);
    sections.remove(section);
    with_sections(sample, &sections)
}

/// The sections that something is computed from.
fn used() -> BTreeSet<&'static str> {
    SECTIONS
        .iter()
        .flat_map(|(_, sections)| sections.iter().copied())
        .collect()
}

fn needs<'k>(kernel: &'k Kernel, id: &str) -> Option<&'k [String]> {
    kernel
        .not_checked
        .iter()
        .find(|check| check.id == id)
        .map(|check| &check.needs[..])
}

fn rank(confidence: Confidence) -> u8 {
    match confidence {
        Confidence::High => 2,
        Confidence::Medium => 1,
        Confidence::Low => 0,
    }
}

/// A launch of a full report without one section, and with all of them.
struct Lost {
    name: String,
    section: &'static str,
    before: &'static Kernel,
    after: Kernel,
}

/// Every launch of the full reports with its diagnosis.
fn full() -> &'static [(&'static Sample, Kernel)] {
    static FULL: OnceLock<Vec<(&Sample, Kernel)>> = OnceLock::new();
    FULL.get_or_init(|| {
        let samples: Vec<&Sample> = fixtures().iter().collect();
        in_parallel(&samples, |sample| (*sample, sample.all_findings()))
    })
}

/// Every launch without each section that it can lose.
fn lost() -> &'static [Lost] {
    static LOST: OnceLock<Vec<Lost>> = OnceLock::new();
    LOST.get_or_init(|| {
        let launches: Vec<_> = full().iter().collect();
        let lost = in_parallel(&launches, |(sample, before)| {
            used()
                .into_iter()
                .filter_map(|section| {
                    let partial = without(sample, section);
                    // What another section collects too is not lost.
                    (partial.counters.0.len() < sample.counters.0.len()).then(|| Lost {
                        name: format!("{} without {section}", sample.name()),
                        section,
                        before,
                        after: partial.all_findings(),
                    })
                })
                .collect::<Vec<_>>()
        });
        lost.into_iter().flatten().collect()
    })
}

fn listed(kernel: &Kernel) -> String {
    kernel
        .findings
        .iter()
        .map(|found| format!("{} {:.2}", found.id, found.saving_expected))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Findings that a person is shown: those below are left out by default, and verdicts are not.
fn shown(kernel: &Kernel) -> impl Iterator<Item = &Finding> {
    kernel.findings.iter().filter(|found| {
        is_verdict(&found.id) || found.saving_expected >= Options::default().min_saving
    })
}

/// A finding that goes with a section is listed as not checked, and the section is among what it needs.
#[test]
fn what_is_lost_with_a_section_is_said() {
    let mut wrong = Vec::new();
    for Lost {
        name,
        section,
        before,
        after,
    } in lost()
    {
        for found in shown(before) {
            let is_said = needs(after, &found.id)
                .is_some_and(|needs| needs.iter().any(|need| need == section));
            if finding(after, &found.id).is_none() && !is_said {
                wrong.push(format!(
                    "{name}: {} ({:.2}) is gone, needs {:?}; left: {}",
                    found.id,
                    found.saving_expected,
                    needs(after, &found.id),
                    listed(after)
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} cases:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// No finding becomes surer with less evidence. One that only appears because its cause could not be looked for is a
/// guess; a verdict that appears so is not counted directly.
#[test]
fn less_evidence_is_no_reason_for_more_confidence() {
    let mut wrong = Vec::new();
    for Lost {
        name,
        before,
        after,
        ..
    } in lost()
    {
        for found in shown(after) {
            let at_most = match finding(before, &found.id) {
                Some(was) => was.confidence,
                None if is_verdict(&found.id) => Confidence::Medium,
                None => Confidence::Low,
            };
            if rank(found.confidence) > rank(at_most) {
                wrong.push(format!(
                    "{name}: {} is {:?}; before: {}",
                    found.id,
                    found.confidence,
                    listed(before)
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} cases:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// How far an estimate may move by itself.
const SAME: f64 = 0.1;

/// A finding that is weighed with less, and comes out otherwise, says that it is less sure.
#[test]
fn an_estimate_on_less_evidence_is_less_sure() {
    let mut wrong = Vec::new();
    for Lost {
        name,
        before,
        after,
        ..
    } in lost()
    {
        for found in &after.findings {
            let Some(was) = finding(before, &found.id) else {
                continue;
            };
            let moved = (found.saving_expected - was.saving_expected)
                .abs()
                .max((found.saving_ceiling - was.saving_ceiling).abs());
            let is_less_sure = rank(found.confidence) < rank(was.confidence)
                || found.confidence == Confidence::Low;
            if moved > SAME && !is_less_sure {
                wrong.push(format!(
                    "{name}: {} is {:?}, {:.2} of {:.2}; before {:.2} of {:.2}",
                    found.id,
                    found.confidence,
                    found.saving_expected,
                    found.saving_ceiling,
                    was.saving_expected,
                    was.saving_ceiling
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} cases:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The profiler's basic set.
const BASIC: &[&str] = &[
    "SpeedOfLight",
    "WorkloadDistribution",
    "LaunchStats",
    "Occupancy",
];

/// The sections that a command asks for.
fn asked(kernel: &Kernel) -> BTreeSet<&str> {
    let command = kernel.settle_with.as_deref().unwrap_or_default();
    let words: Vec<&str> = command.split(' ').collect();
    words
        .windows(2)
        .filter(|pair| pair[0] == "--section")
        .map(|pair| pair[1])
        .collect()
}

/// What the command asks for is what is missing: with it everything is found that a full report shows.
///
/// No section is asked for in vain: without it something stays open on at least one of the kernels that it is asked for.
/// (On a single kernel a section can turn out to hold nothing new, which nobody knows before.)
#[test]
fn the_command_settles_a_basic_report() {
    let basic: BTreeSet<&str> = BASIC.iter().copied().collect();
    let launches: Vec<_> = full().iter().collect();
    let answers = in_parallel(&launches, |(sample, before)| {
        let partial = with_sections(sample, &basic).all_findings();
        let asked = asked(&partial);
        let mut wrong = Vec::new();
        let needed: BTreeSet<&str> = partial
            .not_checked
            .iter()
            .flat_map(|check| check.needs.iter().map(String::as_str))
            .filter(|section| !basic.contains(section))
            .collect();
        if asked != needed {
            wrong.push(format!("asks for {asked:?}, needs {needed:?}"));
        }
        let both: BTreeSet<&str> = basic.union(&asked).copied().collect();
        let settled = with_sections(sample, &both).all_findings();
        if !settled.not_checked.is_empty() || settled.settle_with.is_some() {
            wrong.push(format!("still open: {:?}", settled.not_checked));
        }
        let (now, full) = (answer(&settled), answer(before));
        if !agree(&now, &full) {
            wrong.push(format!("settled {now:?}, full {full:?}"));
        }
        let wrong: Vec<String> = wrong
            .iter()
            .map(|what| format!("{}: {what}", sample.name()))
            .collect();
        let telling: Vec<String> = asked
            .iter()
            .filter(|section| {
                let fewer = both.iter().copied().filter(|other| other != *section);
                let open = with_sections(sample, &fewer.collect()).all_findings();
                open.not_checked
                    .iter()
                    .any(|check| check.needs.iter().any(|need| need == *section))
            })
            .map(|section| (*section).to_owned())
            .collect();
        let asked: Vec<String> = asked.into_iter().map(str::to_owned).collect();
        (wrong, asked, telling)
    });
    let wrong: Vec<&String> = answers.iter().flat_map(|(wrong, _, _)| wrong).collect();
    assert!(wrong.is_empty(), "{} cases:\n{wrong:#?}", wrong.len());
    let asked: BTreeSet<&String> = answers.iter().flat_map(|(_, asked, _)| asked).collect();
    let telling: BTreeSet<&String> = answers.iter().flat_map(|(_, _, telling)| telling).collect();
    // Each of the hierarchical rooflines holds what is needed of the others.
    let in_vain: Vec<_> = asked
        .difference(&telling)
        .filter(|section| !HIERARCHIES.contains(&section.as_str()))
        .collect();
    assert!(in_vain.is_empty(), "asked for in vain: {in_vain:?}");
    // Operations of the matrix pipes are asked for where these work, be it only for half-precision multiply-adds.
    for ((sample, _), (_, asked, _)) in full().iter().zip(&answers) {
        let chart = "SpeedOfLight_HierarchicalTensorRooflineChart";
        let is_asked = asked.iter().any(|section| section == chart);
        let (matrix, half) = (
            sample.counters.executed_any(MATRIX),
            sample.counters.executed("HFMA2"),
        );
        assert!(is_asked || matrix <= 0.0, "{} lacks {chart}", sample.name());
        assert!(
            !is_asked || matrix + half > 0.0,
            "{} asks for {chart}",
            sample.name()
        );
    }
}

/// What a person is told: findings with their savings and how sure they are.
fn answer(kernel: &Kernel) -> Vec<(String, u8, i64, i64)> {
    let rounded = |share: f64| (share * 1e6).round() as i64;
    shown(kernel)
        .map(|found| {
            (
                found.id.clone(),
                rank(found.confidence),
                rounded(found.saving_ceiling),
                rounded(found.saving_expected),
            )
        })
        .collect()
}

/// The same findings in the same order, as sure, with savings within half a point: one stage, the data path of the L1, is
/// counted by samples over time only, which no finding asks for by itself.
fn agree(now: &[(String, u8, i64, i64)], full: &[(String, u8, i64, i64)]) -> bool {
    const HALF_A_POINT: i64 = 5_000;
    now.len() == full.len()
        && now.iter().zip(full).all(|(now, full)| {
            now.0 == full.0
                && now.1 == full.1
                && (now.2 - full.2).abs() <= HALF_A_POINT
                && (now.3 - full.3).abs() <= HALF_A_POINT
        })
}

/// Nothing is left open by a full report.
#[test]
fn a_full_report_is_checked_for_everything() {
    for (sample, kernel) in full() {
        assert_eq!(kernel.not_checked, [], "{}", sample.name());
    }
}

/// The table above against reports that were made with one section or set.
#[test]
fn the_table_of_sections_is_that_of_the_profiler() {
    let small = support::root().join("fixtures/reports/small");
    let read = |name: &str| support::read(&small.join(format!("{name}.ncu-rep.zst"))).remove(0);
    let names = |sample: &Sample, lists: &BTreeSet<&str>| -> BTreeSet<String> {
        let names = sample.counters.0.iter().map(|(name, _, _)| name.clone());
        names
            // Other sections store shares too; those that the Speed Of Light lists are its own.
            .filter(|name| {
                !name.ends_with(".pct_of_peak_sustained_elapsed") || lists.contains(&**name)
            })
            .filter(|name| sections_of(name).is_some())
            .collect()
    };
    let full = read("full");
    let lists: String = full
        .counters
        .0
        .iter()
        .filter(|(name, _, _)| name.starts_with("breakdown:"))
        .filter_map(|(_, value, _)| Some(value.as_ref()?.text()?.to_owned() + ","))
        .collect();
    let lists: BTreeSet<&str> = lists.split(',').collect();
    let names = |sample: &Sample| names(sample, &lists);
    for (report, sections) in [
        ("sol", &["SpeedOfLight"][..]),
        ("sourcecounters", &["SourceCounters"]),
        ("basic", BASIC),
    ] {
        let by_table = names(&with_sections(&full, &sections.iter().copied().collect()));
        let real = names(&read(report));
        let differ: Vec<_> = by_table.symmetric_difference(&real).collect();
        assert!(differ.is_empty(), "{report}: {differ:?}");
    }
}
