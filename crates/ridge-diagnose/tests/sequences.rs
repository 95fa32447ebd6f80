//! Findings about several launches: what fires, and what stays silent.

mod committed;

use ridge_diagnose::document::{Kernel, Launch, Limiter, ReportFinding, Resource, Traffic};
use ridge_diagnose::report_findings;

/// A kernel of a committed report that is bound by device memory.
fn model() -> Kernel {
    committed::kernel("vadd.ncu-rep.zst", 1)
}

/// The model with launches at these places, each as long.
fn at(places: &[usize], duration_ns: f64) -> Kernel {
    let mut kernel = model();
    kernel.launches = places
        .iter()
        .map(|&index| Launch {
            index,
            duration_ns: Some(duration_ns),
        })
        .collect();
    // It reads what it writes, so that its neighbours look like a chain.
    kernel.traffic = Some(Traffic {
        read_bytes: 2e8,
        written_bytes: 2e8,
        source: vec!["made".to_owned()],
    });
    kernel
}

fn named<'f>(findings: &'f [ReportFinding], id: &str) -> Option<&'f ReportFinding> {
    findings.iter().find(|found| found.finding.id == id)
}

#[test]
fn repeated_tiny_launches_are_to_be_batched() {
    let findings = report_findings(&[at(&[0, 1, 2, 3, 4, 5], 2_000.0), at(&[6], 2_000.0)]);
    let found = &named(&findings, "launch-bound").unwrap().finding;
    assert!(
        found.title.contains("7 launches in a row"),
        "{}",
        found.title
    );
    assert!(
        found.title.contains("6 of them are one kernel"),
        "{}",
        found.title
    );
    assert!(found.actions[0].contains("batch"), "{}", found.actions[0]);
    assert!((0.0..=found.saving_ceiling).contains(&found.saving_expected));

    let findings = report_findings(&[at(&[0, 1, 2, 3], 2_000.0)]);
    let found = &named(&findings, "launch-bound").unwrap().finding;
    assert!(found.title.contains("all of them"), "{}", found.title);
}

#[test]
fn different_tiny_launches_are_not_called_repeated() {
    let kernels: Vec<Kernel> = (0..5).map(|place| at(&[place], 2_000.0)).collect();
    let findings = report_findings(&kernels);
    let found = &named(&findings, "launch-bound").unwrap().finding;
    assert!(!found.title.contains("one kernel"), "{}", found.title);
    assert!(!found.actions[0].contains("batch"));
}

#[test]
fn long_repeated_launches_are_no_flaw() {
    // A benchmark repeats its kernel; nothing in the counters tells it from work that is done again for nothing.
    assert!(report_findings(&[at(&[0, 1, 2, 3, 4, 5], 200_000.0)]).is_empty());
    // Few short launches may be all that there is to do.
    assert!(report_findings(&[at(&[0, 1, 2], 2_000.0)]).is_empty());
}

#[test]
fn kernels_that_pass_an_array_on_are_a_chain() {
    let (first, second) = (at(&[0], 200_000.0), at(&[1], 200_000.0));
    let findings = report_findings(&[first.clone(), second.clone()]);
    let found = named(&findings, "unfused-kernels").unwrap();
    assert_eq!(found.kernels, [0, 1]);
    assert_eq!(found.time_share, None);
    let (mut third, mut rest) = (first.clone(), second.clone());
    (third.time_share, rest.time_share) = (Some(0.3), Some(0.3));
    let findings = report_findings(&[third, rest]);
    let share = named(&findings, "unfused-kernels").unwrap().time_share;
    assert!((share.unwrap() - 0.6).abs() < 1e-9);

    // Launches of another input do not follow these.
    let mut elsewhere = second.clone();
    elsewhere.source = 1;
    assert!(report_findings(&[first.clone(), elsewhere]).is_empty());

    // A kernel that hardly uses the memory has nothing to gain from it.
    let mut computes = second.clone();
    for row in &mut computes.resources {
        row.busy_share *= 0.2;
    }
    assert!(report_findings(&[first.clone(), computes]).is_empty());

    // One that something else keeps busy longer keeps its time.
    let mut busy = second;
    busy.limiter = busy.limiter.map(|limiter| Limiter {
        busiest: Resource::Fma,
        ..limiter
    });
    let findings = report_findings(&[first, busy.clone()]);
    let found = &named(&findings, "unfused-kernels").unwrap().finding;
    assert!(
        (0.1..=0.5).contains(&found.saving_expected),
        "{}",
        found.saving_expected
    );

    // One that exchanges elements between threads cannot keep them in registers.
    let mut exchanges = busy.clone();
    exchanges.limiter = exchanges.limiter.map(|limiter| Limiter {
        busiest: Resource::Shared,
        ..limiter
    });
    assert!(report_findings(&[at(&[0], 200_000.0), exchanges]).is_empty());

    // Two of them are bound by what they do, whatever they pass on.
    let mut other = busy.clone();
    other.launches[0].index = 2;
    assert!(report_findings(&[busy, other]).is_empty());
}

/// Launches of one kernel at one size are repetitions or an iteration.
#[test]
fn repetitions_are_no_chain() {
    assert!(report_findings(&[at(&[0, 1, 2, 3], 200_000.0)]).is_empty());
}

/// More of the flaw never makes it look smaller: here a larger array that passes through memory between two kernels, each
/// of which reads or writes another array of its own. Both are bound by memory, so that their durations follow the bytes.
#[test]
fn a_larger_array_that_is_passed_on_looks_no_smaller() {
    const OWN_BYTES: f64 = 1e8;
    const BYTES_FOR_EACH_NS: f64 = 4e3;
    let moves = |place: usize, read_bytes: f64, written_bytes: f64| {
        let mut kernel = at(&[place], (read_bytes + written_bytes) / BYTES_FOR_EACH_NS);
        kernel.traffic = kernel.traffic.map(|traffic| Traffic {
            read_bytes,
            written_bytes,
            ..traffic
        });
        kernel
    };
    let mut before: Option<(f64, f64)> = None;
    for passed in [0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0].map(|strength| strength * OWN_BYTES) {
        let kernels = [moves(0, OWN_BYTES, passed), moves(1, passed, OWN_BYTES)];
        let findings = report_findings(&kernels);
        let now = findings.first().map(|found| {
            assert_eq!(found.finding.id, "unfused-kernels");
            (found.finding.saving_ceiling, found.finding.saving_expected)
        });
        if let Some(before) = before {
            let now = now.expect("it does not go away");
            assert!(
                now.0 >= before.0 && now.1 >= before.1,
                "{now:?} after {before:?}"
            );
        }
        before = now;
    }
    // Four fifths of what is moved is the array: as much may go, and the estimate is near it.
    let (ceiling, expected) = before.expect("it is found at last");
    assert!(ceiling > 0.8 && expected > 0.6, "{ceiling} {expected}");
}

/// Each kernel more in a row has one more array in between.
#[test]
fn a_longer_chain_looks_no_smaller() {
    let mut before = (0.0, 0.0);
    for length in 2..8 {
        let kernels: Vec<Kernel> = (0..length).map(|place| at(&[place], 200_000.0)).collect();
        let findings = report_findings(&kernels);
        let found = named(&findings, "unfused-kernels").expect("a chain");
        assert_eq!(found.kernels.len(), length);
        let now = (found.finding.saving_ceiling, found.finding.saving_expected);
        assert!(
            now.0 > before.0 && now.1 > before.1,
            "{now:?} after {before:?}"
        );
        before = now;
    }
}
