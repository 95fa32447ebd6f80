//! What holds for every diagnosis, whatever the counters are.

use std::path::Path;

use ncu_rep::{Listed, MetricTable, Report, Value};
use proptest::prelude::*;
use ridge_diagnose::document::{Kernel, LatencyVerdict};
use ridge_diagnose::{Group, KernelProfile, Options, diagnose};

/// Metrics of every kernel of the committed full reports, with launch sizes.
struct Sample {
    metrics: Vec<Listed>,
    grid: Option<ncu_rep::report::Dim3>,
    block: Option<ncu_rep::report::Dim3>,
}

fn samples() -> &'static [Sample] {
    static SAMPLES: std::sync::OnceLock<Vec<Sample>> = std::sync::OnceLock::new();
    SAMPLES.get_or_init(read)
}

fn read() -> Vec<Sample> {
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
    check_latency(kernel);
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

/// What is in flight is a finite amount, and what is missing is no less than nothing.
fn check_latency(kernel: &Kernel) {
    let Some(latency) = &kernel.latency else {
        return;
    };
    let is_amount = |value: f64| value.is_finite() && value >= 0.0;
    for level in &latency.levels {
        assert!(is_amount(level.in_flight_bytes_per_sm), "{level:?}");
        assert!(is_amount(level.needed_bytes_per_sm), "{level:?}");
        assert!(!level.source.is_empty(), "{level:?} names no counter");
    }
    if let Some(loads) = &latency.loads {
        let amounts = [
            Some(loads.exposed_cycles),
            loads.bytes,
            loads.cycles,
            loads.per_sm,
        ];
        assert!(amounts.into_iter().flatten().all(is_amount), "{loads:?}");
        assert!(
            loads
                .per_warp
                .is_none_or(|open| open >= 1.0 && open.is_finite()),
            "{loads:?}"
        );
    }
    let factors = match latency.verdict {
        Some(
            LatencyVerdict::NotEnoughInFlight {
                factor,
                by_warps,
                by_each_warp,
            }
            | LatencyVerdict::NotEnoughWarps {
                factor,
                by_warps,
                by_each_warp,
            },
        ) => vec![factor, by_warps, by_each_warp],
        Some(
            LatencyVerdict::AccessTooExpensive { factor }
            | LatencyVerdict::DependentArithmetic { factor },
        ) => vec![factor],
        _ => Vec::new(),
    };
    assert!(
        factors
            .iter()
            .all(|factor| *factor >= 1.0 && factor.is_finite()),
        "{factors:?}"
    );
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
        check_bounds(&run(sample.metrics.clone(), sample));
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
            prop_assert_eq!(essence(&run(shuffled, sample)), essence(&run(sample.metrics.clone(), sample)));
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
            check_bounds(&run(metrics, sample));
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
            check_bounds(&run(metrics, sample));
        }
    }
}
