//! Findings about several kernels: what a sequence of launches gives away.
//!
//! The order of launches in a report is the order in which the program ran them. Two facts can be seen in it: a kernel
//! writes an array that the next one reads back from device memory, and many launches follow each other that are each
//! shorter than a launch.

mod unfused_kernels;

use std::collections::HashMap;

use crate::document::{
    Confidence, Direction, Evidence, Finding, Kernel, ReportFinding, Resource, Verify,
};
use crate::limiter::LAUNCH_PERIOD_NS;

/// A launch in the order of the report.
struct Step<'k> {
    /// Place of its group in the list of kernels.
    group: usize,
    kernel: &'k Kernel,
    duration_ns: f64,
}

/// The findings that only a sequence can have, each with the source whose head describes it.
pub(crate) const SOURCES: &[(&str, &str)] = &[(
    unfused_kernels::ID,
    include_str!("sequence/unfused_kernels.rs"),
)];

/// Looks at the launches of each input.
#[must_use]
pub fn report_findings(kernels: &[Kernel]) -> Vec<ReportFinding> {
    let mut sources: Vec<usize> = kernels.iter().map(|kernel| kernel.source).collect();
    sources.sort_unstable();
    sources.dedup();
    let mut findings = Vec::new();
    for source in sources {
        let steps = steps(kernels, source);
        findings.extend(unfused_kernels::chains(&steps));
        findings.extend(tiny_launches(&steps));
    }
    findings.sort_by(|a, b| {
        b.finding
            .saving_expected
            .total_cmp(&a.finding.saving_expected)
    });
    findings
}

fn steps(kernels: &[Kernel], source: usize) -> Vec<Step<'_>> {
    let mut steps: Vec<(usize, Step<'_>)> = Vec::new();
    for (group, kernel) in kernels
        .iter()
        .enumerate()
        // Launches that were chosen from a program are in no row.
        .filter(|(_, kernel)| kernel.source == source && kernel.timed.is_none())
    {
        for launch in &kernel.launches {
            if let Some(duration_ns) = launch.duration_ns {
                steps.push((
                    launch.index,
                    Step {
                        group,
                        kernel,
                        duration_ns,
                    },
                ));
            }
        }
    }
    steps.sort_by_key(|(index, _)| *index);
    steps.into_iter().map(|(_, step)| step).collect()
}

/// Launches in a row from which a graph or one larger launch pays: a node of a graph saves 1.2 us against a launch in
/// a stream (H200: 1.26 instead of 2.43 us), so that four save more than the launch of the graph itself costs (3.9
/// us).
const MANY: usize = 4;

/// Runs of launches that are each shorter than a launch.
fn tiny_launches(steps: &[Step<'_>]) -> Vec<ReportFinding> {
    let mut findings = Vec::new();
    let mut start = 0;
    while start < steps.len() {
        let is_tiny = |step: &Step<'_>| step.duration_ns < LAUNCH_PERIOD_NS;
        let length = steps[start..]
            .iter()
            .take_while(|step| is_tiny(step))
            .count();
        if length >= MANY {
            findings.push(tiny(&steps[start..start + length]));
        }
        start += length.max(1);
    }
    findings
}

fn tiny(steps: &[Step<'_>]) -> ReportFinding {
    let launches = steps.len() as f64;
    let period: f64 = launches * LAUNCH_PERIOD_NS;
    // Work of the busiest unit: what one launch for all of it would take at least.
    let work: f64 = steps
        .iter()
        .map(|step| {
            step.kernel
                .resources
                .first()
                .map_or(1.0, |row| row.busy_share)
                * step.duration_ns
        })
        .sum();
    let floor = ((work + LAUNCH_PERIOD_NS) / period).min(1.0);
    let mut counts: HashMap<usize, usize> = HashMap::new();
    for step in steps {
        *counts.entry(step.group).or_default() += 1;
    }
    let repeated = counts.values().copied().max().unwrap_or(0);
    let mut kernels: Vec<usize> = counts.into_keys().collect();
    kernels.sort_unstable();
    let mut seen = vec![
        against("launches in a row", launches, "launch", 1.0),
        evidence("launch period", LAUNCH_PERIOD_NS, "ns"),
        evidence("time for which their busiest units work", work, "ns"),
    ];
    let mut title = format!(
        "{} launches in a row are each shorter than what a launch costs",
        steps.len()
    );
    // A graph keeps the kernels and starts each about a microsecond after the other.
    let mut actions = vec![
        "do their work in one launch, or fuse them with their neighbours".to_owned(),
        "record the sequence as a CUDA graph".to_owned(),
    ];
    if repeated >= MANY {
        title = if repeated == steps.len() {
            format!("{title}; all of them are one kernel at one size")
        } else {
            format!("{title}; {repeated} of them are one kernel at one size")
        };
        seen.push(against(
            "launches of one kernel at one size among them",
            repeated as f64,
            "launch",
            1.0,
        ));
        // The kernel exists already: only its index has to span the inputs of all launches.
        actions.insert(
            0,
            "batch the repeated launches: where they do not depend on each other, one launch with a larger grid does the \
             work of all (batched or multi-tensor operations of a library)"
                .to_owned(),
        );
    }
    ReportFinding {
        finding: Finding {
            id: "launch-bound".to_owned(),
            title,
            saving_ceiling: (1.0 - work / period).clamp(0.0, 1.0),
            saving_expected: 1.0 - floor,
            next_limit: Some(Resource::Launch),
            confidence: Confidence::Medium,
            evidence: seen,
            actions,
            verify: vec![Verify {
                metric: "gpu__time_duration.sum".to_owned(),
                direction: Direction::Up,
                target: None,
            }],
            locations: Vec::new(),
        },
        kernels,
        time_share: time_share(steps),
    }
}

/// The part of the time of the whole input that these launches take.
fn time_share(steps: &[Step<'_>]) -> Option<f64> {
    let kernel = steps.first()?.kernel;
    let of_kernel: f64 = kernel
        .launches
        .iter()
        .filter_map(|launch| launch.duration_ns)
        .sum();
    let of_steps: f64 = steps.iter().map(|step| step.duration_ns).sum();
    let share = of_steps * kernel.time_share? / of_kernel;
    share.is_finite().then(|| share.clamp(0.0, 1.0))
}

/// A number, and what it would be without the flaw.
fn against(metric: &str, value: f64, unit: &str, healthy: f64) -> Evidence {
    Evidence {
        healthy: Some(healthy),
        ..evidence(metric, value, unit)
    }
}

fn evidence(metric: &str, value: f64, unit: &str) -> Evidence {
    Evidence {
        metric: metric.to_owned(),
        value,
        unit: unit.to_owned(),
        healthy: None,
    }
}
