//! Findings about several kernels: what a sequence of launches gives away.
//!
//! The order of launches in a report is the order in which the program ran them. Two facts can be seen in it: a kernel
//! writes an array that the next one reads back from device memory, and many launches follow each other that are each
//! shorter than a launch.

use std::collections::HashMap;

use crate::attainable::attainable;
use crate::document::{
    Class, Confidence, Direction, Evidence, Finding, Kernel, ReportFinding, Resource, Verify,
};
use crate::findings::WORTHWHILE;
use crate::ledger::Stage;
use crate::limiter::LAUNCH_PERIOD_NS;

/// A launch in the order of the report.
struct Step<'k> {
    /// Place of its group in the list of kernels.
    group: usize,
    kernel: &'k Kernel,
    duration_ns: f64,
}

/// Looks at the launches of each input.
#[must_use]
pub fn report_findings(kernels: &[Kernel]) -> Vec<ReportFinding> {
    let mut sources: Vec<usize> = kernels.iter().map(|kernel| kernel.source).collect();
    sources.dedup();
    let mut findings = Vec::new();
    for source in sources {
        let steps = steps(kernels, source);
        findings.extend(chains(&steps));
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
        .filter(|(_, kernel)| kernel.source == source)
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

/// What a producer wrote and its consumer read have to agree this closely to be the same array.
const SAME_SIZE: f64 = 0.1;
/// An array has to be at least this large: smaller ones stay in the L2 and cost little.
const LARGE_BYTES: f64 = 4e6;
/// Memory has to be the busiest unit of both, and busy for this share of the time at least.
const MOVES_DATA: f64 = 0.3;

/// Runs of kernels that pass large arrays through memory.
fn chains(steps: &[Step<'_>]) -> Vec<ReportFinding> {
    let mut findings = Vec::new();
    let mut start = 0;
    while start < steps.len() {
        let mut end = start;
        while end + 1 < steps.len() && passes(steps[end].kernel, steps[end + 1].kernel).is_some() {
            end += 1;
        }
        if end > start {
            findings.extend(chain(&steps[start..=end]));
        }
        start = end + 1;
    }
    findings
}

/// The bytes of an array that one kernel writes and the next reads, where it looks like one.
fn passes(producer: &Kernel, consumer: &Kernel) -> Option<f64> {
    let (written, read) = (producer.traffic.as_ref()?, consumer.traffic.as_ref()?);
    let (size, inputs) = (written.written_bytes, read.read_bytes);
    // The consumer may read several arrays of the same size; one of them is enough.
    let arrays = (inputs / size).round();
    let is_whole =
        (1.0..=4.0).contains(&arrays) && (inputs / (arrays * size) - 1.0).abs() <= SAME_SIZE;
    let moves_data = |kernel: &Kernel| {
        kernel.limiter.as_ref().is_some_and(|limiter| {
            matches!(limiter.busiest, Resource::Dram | Resource::L2)
                && limiter.share >= MOVES_DATA
                && limiter.class != Class::Launch
        })
    };
    (size >= LARGE_BYTES && is_whole && moves_data(producer) && moves_data(consumer))
        .then_some(size)
}

fn chain(steps: &[Step<'_>]) -> Option<ReportFinding> {
    let total_ns: f64 = steps.iter().map(|step| step.duration_ns).sum();
    // Each array between two kernels is written once and read once for nothing.
    let between: f64 = steps
        .windows(2)
        .filter_map(|pair| passes(pair[0].kernel, pair[1].kernel))
        .sum();
    let moved: f64 = steps
        .iter()
        .filter_map(|step| step.kernel.traffic.as_ref())
        .map(|traffic| traffic.read_bytes + traffic.written_bytes)
        .sum();
    let kept = (1.0 - 2.0 * between / moved).clamp(0.0, 1.0);
    // One kernel does all the work: its data path has less to do, its arithmetic stays.
    let busy = |resources: &[Resource]| -> f64 {
        let of = |kernel: &Kernel| {
            let rows = kernel
                .resources
                .iter()
                .filter(|row| resources.contains(&row.resource));
            rows.map(|row| row.busy_share).fold(0.0, f64::max)
        };
        steps
            .iter()
            .map(|step| of(step.kernel) * step.duration_ns)
            .sum::<f64>()
            / total_ns
    };
    let data = kept * busy(&[Resource::Dram]);
    let compute = busy(&[
        Resource::Fma,
        Resource::Fp64,
        Resource::Xu,
        Resource::Tensor,
    ]);
    let floor = data.max(compute);
    // What each kernel loses beside its busiest unit, the fused kernel loses too, once for what it moves.
    let today = busy(&[Resource::Dram]);
    let expected = (kept * (1.0 - today) + data)
        .max(data / attainable(Stage::DramBytes).share)
        .max(compute);
    let saving_expected = (1.0 - expected).clamp(0.0, 1.0 - floor);
    if saving_expected < WORTHWHILE {
        return None;
    }
    let mut groups: Vec<usize> = steps.iter().map(|step| step.group).collect();
    groups.sort_unstable();
    groups.dedup();
    Some(ReportFinding {
        finding: Finding {
            id: "unfused-kernels".to_owned(),
            title: format!(
                "{} kernels in a row pass {:.0} MB through memory that the next one reads back",
                steps.len(),
                between / 1e6
            ),
            saving_ceiling: (1.0 - floor).clamp(0.0, 1.0),
            saving_expected,
            next_limit: Some(if data >= compute { Resource::Dram } else { Resource::Issue }),
            confidence: Confidence::Low,
            evidence: vec![
                evidence("bytes written by a kernel and read by the next", between, "byte"),
                evidence("bytes read and written by all of them", moved, "byte"),
                evidence("summed duration", total_ns, "ns"),
            ],
            actions: vec![
                "fuse the kernels: keep each element in registers from the first operation to the last".to_owned(),
                "let a compiler fuse them (torch.compile, XLA), or write the epilogue into the producer".to_owned(),
            ],
            verify: vec![Verify {
                metric: "dram__bytes_read.sum".to_owned(),
                direction: Direction::Down,
                target: None,
            }],
            locations: Vec::new(),
        },
        kernels: groups,
    })
}

/// Launches in a row from which a graph or one larger launch pays.
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
    // A graph keeps the kernels and starts each about a microsecond after the other.
    let mut counts: HashMap<usize, usize> = HashMap::new();
    for step in steps {
        *counts.entry(step.group).or_default() += 1;
    }
    let mut kernels: Vec<usize> = counts.into_keys().collect();
    kernels.sort_unstable();
    ReportFinding {
        finding: Finding {
            id: "launch-bound".to_owned(),
            title: format!(
                "{} launches in a row are each shorter than what a launch costs",
                steps.len()
            ),
            saving_ceiling: (1.0 - work / period).clamp(0.0, 1.0),
            saving_expected: 1.0 - floor,
            next_limit: Some(Resource::Launch),
            confidence: Confidence::Medium,
            evidence: vec![
                evidence("launches in a row", launches, "launch"),
                evidence("launch period", LAUNCH_PERIOD_NS, "ns"),
                evidence("time for which their busiest units work", work, "ns"),
            ],
            actions: vec![
                "do their work in one launch, or fuse them with their neighbours".to_owned(),
                "record the sequence as a CUDA graph".to_owned(),
            ],
            verify: vec![Verify {
                metric: "gpu__time_duration.sum".to_owned(),
                direction: Direction::Up,
                target: None,
            }],
            locations: Vec::new(),
        },
        kernels,
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
