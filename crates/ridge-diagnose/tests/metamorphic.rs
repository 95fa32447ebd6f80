//! What must not change a diagnosis: the size of a launch, the clock, the order of launches, values stored twice.

mod support;

use proptest::prelude::*;
use ridge_diagnose::document::{Kernel, ReportFinding};
use ridge_diagnose::{Group, report_findings};
use support::{Counters, Sample, essence, fixtures, in_parallel, is_cycles, is_rate};

/// Kernels that are shorter are judged by their length.
const LONG_NS: f64 = 40_000.0;

fn long() -> Vec<&'static Sample> {
    fixtures()
        .iter()
        .filter(|sample| sample.counters.get("gpu__time_duration.sum") >= LONG_NS)
        .collect()
}

/// Diagnoses every sample before and after a change that must not matter.
fn assert_same(samples: &[&Sample], change: impl Fn(&mut Counters) + Sync) {
    let wrong = in_parallel(samples, |sample| {
        let mut counters = sample.counters.clone();
        change(&mut counters);
        let (before, after) = (sample.all_findings(), sample.with(counters).all_findings());
        let mut wrong = Vec::new();
        if essence(&before) != essence(&after) {
            wrong.push(format!(
                "{}: {:?}, before {:?}",
                sample.name(),
                essence(&after),
                essence(&before)
            ));
        }
        if shares(&before) != shares(&after) {
            wrong.push(format!(
                "{}: {:?}, before {:?}",
                sample.name(),
                shares(&after),
                shares(&before)
            ));
        }
        wrong
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(
        wrong.is_empty(),
        "{} cases:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The rows of the ledger and the limiter.
fn shares(kernel: &Kernel) -> Vec<(String, i64)> {
    let rounded = |share: f64| (share * 1e6).round() as i64;
    let rows = kernel.resources.iter().map(|row| {
        (
            format!("{:?} {}", row.resource, row.stage),
            rounded(row.busy_share),
        )
    });
    let limiter = kernel
        .limiter
        .iter()
        .map(|limiter| (format!("{:?}", limiter.busiest), rounded(limiter.share)));
    let mut all: Vec<_> = rows.chain(limiter).collect();
    // Rows without work share the last place.
    all.sort();
    all
}

/// Counts of work: sums over the device, and what is stored by instruction or opcode.
fn is_work(name: &str) -> bool {
    name.ends_with(".sum")
        && !name.starts_with("gpu__time_duration")
        && !name.starts_with("launch__")
        || name.starts_with("memory_") && !name.contains("_type")
        || name.starts_with("derived__memory_")
        || name.starts_with("inst_executed")
        || name.starts_with("thread_inst_executed")
        || name.starts_with("sass__")
        || name.starts_with("smsp__pcsamp_")
        // The value of a sampled counter adds up its samples.
        || name.ends_with("l1tex__data_pipe_lsu_wavefronts.avg")
}

/// The same blocks several times over, one launch's worth after the other: everything takes as many times as long.
#[test]
fn more_work_in_more_time() {
    for k in [2.0, 3.0, 8.0] {
        assert_same(&long(), |counters| {
            // Each thread does what it did; waves stay, since the launches do not overlap.
            counters.scale(
                |name| {
                    is_work(name)
                        || name.starts_with("gpu__time_duration")
                        || is_cycles(name) && !name.ends_with(".sum")
                        || name == "launch__thread_count"
                },
                k,
            );
        });
    }
}

/// A device of as many times the units, with as many times the blocks: everything takes as long as before.
#[test]
fn more_work_on_a_larger_device() {
    for k in [2.0, 3.0, 8.0] {
        assert_same(&fixtures().iter().collect::<Vec<_>>(), |counters| {
            counters.scale(
                |name| {
                    is_work(name)
                        || name.contains(".sum.peak_sustained")
                        || name.contains(".sum.per_second")
                        || matches!(
                            name,
                            "launch__grid_size"
                                | "launch__thread_count"
                                | "launch__sm_count"
                                | "device__attribute_multiprocessor_count"
                                | "device__attribute_global_memory_bus_width"
                        )
                },
                k,
            );
        });
    }
}

/// All clocks by the same factor: cycles stay, and with them every share.
#[test]
fn another_clock() {
    for factor in [0.5, 0.8, 1.25, 2.0] {
        let samples: Vec<&Sample> = long()
            .into_iter()
            .filter(|sample| sample.counters.get("gpu__time_duration.sum") / factor >= LONG_NS)
            .collect();
        assert_same(&samples, |counters| {
            counters.scale(|name| name.starts_with("gpu__time_duration"), 1.0 / factor);
            counters.scale(
                |name| name.ends_with(".per_second") || name.contains("clock_rate"),
                factor,
            );
        });
    }
}

/// Reports of 2025.1 store some metrics twice, with values of two passes: the first counts.
#[test]
fn values_that_are_stored_twice() {
    assert_same(&long(), |counters| {
        let mut again = counters.clone();
        again.scale(
            |name| is_work(name) || is_rate(name) || name.starts_with("gpu__time_duration"),
            1.7,
        );
        counters.0.extend(again.0);
    });
}

/// Several launches of the same duration are diagnosed like one, whatever the order in which they are listed.
#[test]
fn the_same_launch_several_times() {
    for sample in long().into_iter().step_by(7) {
        let duration_ns = sample.counters.number("gpu__time_duration.sum");
        let once = sample.shown();
        let mut launches: Vec<_> = [0.9, 1.0, 1.0, 1.0, 1.3]
            .iter()
            .enumerate()
            .map(|(launch, factor)| (launch, duration_ns.map(|ns| ns * factor)))
            .collect();
        let representative = Group {
            launches: launches.clone(),
            ..Group::default()
        }
        .representative();
        for _ in 0..launches.len() {
            launches.rotate_left(2);
            let group = Group {
                launches: launches.clone(),
                ..Group::default()
            };
            assert_eq!(group.representative(), representative, "{}", sample.name());
            let several = sample.diagnose_as(&group, 0.02);
            assert_eq!(several.duration_ns, once.duration_ns);
            assert_eq!(essence(&several), essence(&once), "{}", sample.name());
        }
    }
}

/// Kernels of two inputs: a chain of element-wise kernels, and a loop of tiny launches.
fn two_inputs() -> Vec<Kernel> {
    let of = |report: &'static str| {
        fixtures()
            .iter()
            .filter(move |sample| sample.report == report)
    };
    let mut kernels: Vec<Kernel> = of("elementwise_chain").map(Sample::shown).collect();
    let tiny = of("relax_sweeps")
        .next()
        .expect("the report has two kernels");
    let duration_ns = tiny.counters.number("gpu__time_duration.sum");
    for (launches, source) in [(0..3, 1), (5..9, 1)] {
        let group = Group {
            launches: launches.map(|launch| (launch, duration_ns)).collect(),
            source,
            ..Group::default()
        };
        kernels.push(tiny.diagnose_as(&group, 0.02));
    }
    kernels
}

/// A finding of a report: what it says, and of which launches of which input.
type Told = (String, String, i64, Vec<(usize, usize)>);

/// Findings of a report, by what they say of which launches.
fn told(kernels: &[Kernel]) -> Vec<Told> {
    let mut told: Vec<_> = report_findings(kernels)
        .into_iter()
        .map(
            |ReportFinding {
                 finding,
                 kernels: places,
                 ..
             }| {
                let mut launches: Vec<_> = places
                    .iter()
                    .flat_map(|place| {
                        let kernel = &kernels[*place];
                        kernel
                            .launches
                            .iter()
                            .map(|launch| (kernel.source, launch.index))
                    })
                    .collect();
                launches.sort_unstable();
                (
                    finding.id,
                    finding.title,
                    (finding.saving_expected * 1e9).round() as i64,
                    launches,
                )
            },
        )
        .collect();
    told.sort();
    told
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// The order of launches is their number, and not the place of their kernel in the list.
    #[test]
    fn the_order_of_kernels_in_the_list(order in Just((0..6_usize).collect::<Vec<_>>()).prop_shuffle()) {
        static KERNELS: std::sync::OnceLock<Vec<Kernel>> = std::sync::OnceLock::new();
        let kernels = KERNELS.get_or_init(two_inputs);
        prop_assert_eq!(kernels.len(), order.len());
        let shuffled: Vec<Kernel> = order.iter().map(|place| kernels[*place].clone()).collect();
        prop_assert_eq!(told(&shuffled), told(kernels));
    }
}

/// What the test above permutes is worth permuting.
#[test]
fn both_inputs_have_a_finding() {
    let told = told(&two_inputs());
    let ids: Vec<&str> = told.iter().map(|(id, ..)| &**id).collect();
    assert_eq!(ids, ["launch-bound", "unfused-kernels"]);
}
