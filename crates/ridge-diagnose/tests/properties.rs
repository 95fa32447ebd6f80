//! What holds for every diagnosis, whatever the counters are.

use std::path::Path;

use ncu_rep::{Listed, MetricTable, Report, Value};
use proptest::prelude::*;
use ridge_diagnose::document::Kernel;
use ridge_diagnose::{Group, KernelProfile, Options, diagnose};

/// Metrics of every kernel of the committed full reports, with launch sizes.
struct Sample {
    metrics: Vec<Listed>,
    grid: Option<ncu_rep::report::Dim3>,
    block: Option<ncu_rep::report::Dim3>,
}

fn samples() -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reports");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the fixtures are in the repository")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(".ncu-rep.zst"))
        .collect();
    paths.sort();
    let mut samples = Vec::new();
    for path in paths {
        let file = std::fs::read(path).expect("a fixture can be read");
        let unpacked = ncu_rep::unpack(&file, u64::MAX);
        let report = Report::parse(&unpacked.bytes).expect("a fixture is a report");
        for profile in report.profiles() {
            let launch = profile.header().value.launches.first().copied();
            samples.push(Sample {
                metrics: MetricTable::copy_of(&profile.metrics().value),
                grid: launch.map(|launch| launch.grid),
                block: launch.map(|launch| launch.block),
            });
        }
    }
    samples
}

fn run(metrics: Vec<Listed>, sample: &Sample) -> Kernel {
    let table: MetricTable = metrics.into_iter().collect();
    let profile = KernelProfile {
        name: "kernel".to_owned(),
        signature: "kernel()".to_owned(),
        mangled: None,
        is_mixture: false,
        grid: sample.grid,
        block: sample.block,
        launch_index: 0,
        sections: Vec::new(),
        metrics: table.metrics(),
    };
    let group = Group {
        launches: vec![(0, profile.duration_ns())],
        ..Group::default()
    };
    diagnose(
        &profile,
        &group,
        None,
        &Options {
            min_saving: 0.0,
            ..Options::default()
        },
    )
}

fn check_bounds(kernel: &Kernel) {
    for finding in &kernel.findings {
        let (ceiling, expected) = (finding.saving_ceiling, finding.saving_expected);
        assert!(
            (0.0..=1.0).contains(&ceiling),
            "{}: ceiling {ceiling}",
            finding.id
        );
        assert!(
            expected >= 0.0 && expected <= ceiling + 1e-9,
            "{}: {expected} of {ceiling}",
            finding.id
        );
        assert!(
            finding
                .evidence
                .iter()
                .all(|evidence| evidence.value.is_finite()),
            "{}",
            finding.id
        );
        assert!(
            !finding.actions.is_empty() && !finding.verify.is_empty(),
            "{}",
            finding.id
        );
    }
    for row in &kernel.resources {
        assert!(
            row.busy_share >= 0.0 && row.busy_share.is_finite(),
            "{:?}",
            row.resource
        );
        assert!(
            !row.source.is_empty(),
            "{:?} names no counter",
            row.resource
        );
    }
}

/// Findings by name and savings, for comparisons.
fn essence(kernel: &Kernel) -> Vec<(String, i64, i64)> {
    let rounded = |share: f64| (share * 1e9).round() as i64;
    kernel
        .findings
        .iter()
        .map(|finding| {
            (
                finding.id.clone(),
                rounded(finding.saving_ceiling),
                rounded(finding.saving_expected),
            )
        })
        .collect()
}

#[test]
fn real_kernels_keep_the_bounds() {
    for sample in samples() {
        check_bounds(&run(sample.metrics.clone(), &sample));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Metrics are found by name: their order in the file says nothing.
    #[test]
    fn order_does_not_matter(seed in any::<u64>()) {
        for sample in samples() {
            let mut shuffled = sample.metrics.clone();
            let mut state = seed | 1;
            // Duplicates keep their order, since the first of a name counts.
            shuffled.sort_by_key(|(name, _, _)| {
                let mut hash = state;
                for byte in name.bytes() {
                    hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
                }
                hash
            });
            state ^= state << 13;
            prop_assert!(state != 0);
            prop_assert_eq!(essence(&run(shuffled, &sample)), essence(&run(sample.metrics.clone(), &sample)));
        }
    }

    /// Whatever is missing, what is left is judged within bounds.
    #[test]
    fn missing_metrics_keep_the_bounds(seed in any::<u64>(), keep in 0_u64..10) {
        for sample in samples() {
            let mut state = seed | 1;
            let metrics = sample
                .metrics
                .iter()
                .filter(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (state >> 33) % 10 < keep
                })
                .cloned()
                .collect();
            check_bounds(&run(metrics, &sample));
        }
    }

    /// Counters that contradict each other give no savings outside the bounds.
    #[test]
    fn absurd_counters_keep_the_bounds(seed in any::<u64>()) {
        const FACTORS: [f64; 8] = [0.0, 1e-6, 0.1, 1.0, 3.0, 100.0, 1e12, -1.0];
        for sample in samples() {
            let mut state = seed | 1;
            let metrics = sample
                .metrics
                .iter()
                .cloned()
                .map(|(name, value, instances)| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let factor = FACTORS[(state >> 61) as usize];
                    let value = match value {
                        Some(Value::F64(number)) if (state >> 40).is_multiple_of(4) => Some(Value::F64(number * factor)),
                        other => other,
                    };
                    (name, value, instances)
                })
                .collect();
            check_bounds(&run(metrics, &sample));
        }
    }
}

/// A launch of twice the work in twice the time on the same clocks has the same flaws.
#[test]
fn scaling_a_launch_changes_nothing() {
    for sample in samples() {
        let before = run(sample.metrics.clone(), &sample);
        // Short kernels are judged by their length, which is what changes here.
        if before.duration_ns.is_none_or(|ns| ns < 40_000.0) {
            continue;
        }
        let scaled = sample
            .metrics
            .iter()
            .cloned()
            .map(|(name, value, instances)| {
                let grows = name.ends_with(".sum")
                    || name.starts_with("memory_")
                    || name.starts_with("inst_executed")
                    || name.starts_with("thread_inst")
                    // The value of a sampled counter adds up its samples.
                    || name.ends_with("l1tex__data_pipe_lsu_wavefronts.avg")
                    || (name.contains("cycles_active") || name.contains("cycles_elapsed"))
                        && [".avg", ".max", ".min"]
                            .iter()
                            .any(|roll_up| name.ends_with(roll_up));
                let histogram = name.starts_with("sass__inst_executed");
                let twice = |value: Option<Value<'static>>| match value {
                    Some(Value::F64(number)) => Some(Value::F64(2.0 * number)),
                    Some(Value::U64(number)) => Some(Value::U64(2 * number)),
                    other => other,
                };
                // Twice the threads do twice the work; how much each thread does stays.
                let value = if grows || histogram || name == "launch__thread_count" {
                    twice(value)
                } else {
                    value
                };
                let instances = if grows || histogram {
                    instances
                        .into_iter()
                        .map(|mut instance| {
                            instance.value = twice(instance.value);
                            instance
                        })
                        .collect()
                } else {
                    instances
                };
                (name, value, instances)
            })
            .collect();
        assert_eq!(essence(&run(scaled, &sample)), essence(&before));
    }
}
