//! Amdahl's bound: what holds for any report.

mod committed;

use proptest::prelude::*;
use ridge_diagnose::document::{Collection, Kernel, Launch, Source, SourceKind};
use ridge_diagnose::totals;

/// A kernel with a finding, of a committed report.
fn kernel() -> Kernel {
    let kernel = committed::kernel("aos.ncu-rep.zst", 0);
    assert!(!kernel.findings.is_empty());
    kernel
}

fn source(id: usize) -> Source {
    Source {
        id,
        file: "report".to_owned(),
        kind: SourceKind::NcuReport,
        profiler_version: None,
        devices: Vec::new(),
        created_unix_s: None,
        program: None,
        collection: Collection::default(),
        collected: None,
    }
}

/// Duration in ns, and ceilings with estimates of its findings.
type Plan = (f64, Vec<(f64, f64)>);

/// A report of such kernels; of the whole time, those listed take `selected`.
fn report(plans: &[Plan], selected: f64) -> Vec<Kernel> {
    let model = kernel();
    let total: f64 = plans.iter().map(|(ns, _)| ns).sum();
    plans
        .iter()
        .enumerate()
        .map(|(index, (ns, savings))| {
            let mut kernel = model.clone();
            kernel.launches = vec![Launch {
                index,
                duration_ns: Some(*ns),
            }];
            kernel.time_share = Some(selected * ns / total);
            kernel.findings = savings
                .iter()
                .map(|(ceiling, part)| {
                    let mut finding = model.findings[0].clone();
                    finding.saving_ceiling = *ceiling;
                    finding.saving_expected = ceiling * part;
                    finding
                })
                .collect();
            kernel
        })
        .collect()
}

#[test]
fn one_slow_kernel_bounds_the_report() {
    // Hand calculation: 70 % of the time could fall by 20 %, 20 % by half, and the rest is unknown.
    let kernels = report(
        &[
            (200.0, vec![(0.5, 1.0), (0.4, 1.0)]),
            (700.0, vec![(0.2, 0.5)]),
            (100.0, vec![]),
        ],
        1.0,
    );
    let totals = totals(&[source(0)], &kernels);
    let [totals] = &totals[..] else {
        panic!("one input")
    };
    assert!((totals.duration_ns - 1000.0).abs() < 1e-6);
    assert_eq!(totals.main.kernels, [1, 0]);
    assert_eq!(totals.all.kernels, [1, 0, 2]);
    assert!((totals.main.time_share - 0.9).abs() < 1e-9);
    assert!((totals.all.saving_ceiling - (0.7 * 0.2 + 0.2 * 0.5)).abs() < 1e-9);
    assert!((totals.all.saving_expected - (0.7 * 0.1 + 0.2 * 0.5)).abs() < 1e-9);
}

#[test]
fn a_verdict_bounds_and_promises_nothing() {
    let mut kernels = report(&[(1.0, vec![(0.2, 0.5)])], 1.0);
    kernels[0].findings[0].id = "at-l2-limit".to_owned();
    let part = &totals(&[source(0)], &kernels)[0].all;
    assert!((part.saving_ceiling - 0.2).abs() < 1e-9);
    assert!(part.saving_expected.abs() < 1e-9);
}

#[test]
fn four_fifths_are_enough() {
    let kernels = report(&[(800.0, vec![]), (200.0, vec![])], 1.0);
    assert_eq!(totals(&[source(0)], &kernels)[0].main.kernels, [0]);
    let kernels = report(&[(799.0, vec![]), (201.0, vec![])], 1.0);
    assert_eq!(totals(&[source(0)], &kernels)[0].main.kernels, [0, 1]);
}

#[test]
fn a_selection_counts_against_the_whole() {
    let kernels = report(&[(300.0, vec![(1.0, 1.0)]), (100.0, vec![])], 0.4);
    let totals = &totals(&[source(0)], &kernels)[0];
    assert!((totals.duration_ns - 1000.0).abs() < 1e-6);
    assert!((totals.all.time_share - 0.4).abs() < 1e-9);
    assert!((totals.all.saving_ceiling - 0.3).abs() < 1e-9);
    assert_eq!(totals.main.kernels, [0, 1]);
}

#[test]
fn inputs_without_durations_have_no_totals() {
    let mut kernels = report(&[(300.0, vec![])], 1.0);
    kernels[0].launches[0].duration_ns = None;
    kernels[0].time_share = None;
    assert!(totals(&[source(0)], &kernels).is_empty());
    assert!(totals(&[source(7)], &report(&[(1.0, vec![])], 1.0)).is_empty());
    assert!(totals(&[], &[]).is_empty());
}

fn plan() -> impl Strategy<Value = Plan> {
    (
        1e-3..1e9_f64,
        prop::collection::vec((0.0..=1.0_f64, 0.0..=1.0_f64), 0..4),
    )
}

proptest! {
    #[test]
    fn the_bound_lies_between_one_kernel_and_all(plans in prop::collection::vec(plan(), 1..12), selected in 0.01..=1.0_f64) {
        let kernels = report(&plans, selected);
        let totals = &totals(&[source(0)], &kernels)[0];
        for part in [&totals.main, &totals.all] {
            prop_assert!((0.0..=1.0).contains(&part.saving_ceiling));
            prop_assert!((0.0..=part.saving_ceiling).contains(&part.saving_expected));
            // No change saves more than the time of the kernels that it is about.
            prop_assert!(part.saving_ceiling <= part.time_share + 1e-9);
            prop_assert!(part.time_share <= selected + 1e-9);
            for place in &part.kernels {
                let share = kernels[*place].time_share.unwrap();
                for finding in &kernels[*place].findings {
                    prop_assert!(part.saving_ceiling >= share * finding.saving_ceiling - 1e-9);
                }
            }
        }
        prop_assert!(totals.main.saving_ceiling <= totals.all.saving_ceiling + 1e-12);
        prop_assert_eq!(totals.all.kernels.len(), kernels.len());
        // The main kernels are the fewest: without the last of them four fifths are not reached.
        let without_last: f64 = totals.main.kernels[..totals.main.kernels.len() - 1]
            .iter()
            .map(|place| kernels[*place].time_share.unwrap())
            .sum();
        prop_assert!(without_last < 0.8);
        // Making every finding's remedy work on its own kernel, one at a time, ends at the bound and not below it.
        let total: f64 = totals.duration_ns;
        let left: f64 = plans
            .iter()
            .map(|(ns, savings)| ns * (1.0 - savings.iter().map(|(c, _)| *c).fold(0.0, f64::max)))
            .sum();
        let unselected = total * (1.0 - selected);
        prop_assert!((left + unselected - total * (1.0 - totals.all.saving_ceiling)).abs() <= 1e-6 * total);
    }
}
