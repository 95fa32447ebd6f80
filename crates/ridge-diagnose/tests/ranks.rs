//! Collections of ranks beside each other.

mod committed;

use ridge_diagnose::document::{
    Collected, CollectedRank, Collection, Kernel, LaunchesFrom, Ranks, Resource, Source,
    SourceKind, Timed,
};
use ridge_diagnose::ranks;

fn source(id: usize, rank: Option<u64>, target: &str) -> Source {
    Source {
        id,
        file: format!("run/{id}/collection.json"),
        kind: SourceKind::NcuReport,
        profiler_version: None,
        devices: Vec::new(),
        created_unix_s: None,
        program: None,
        collection: Collection::default(),
        collected: Some(Collected {
            target: vec![target.to_owned()],
            target_code: None,
            target_signal: None,
            launches_from: LaunchesFrom::TimingPass,
            traced: None,
            launches: 10,
            kernels_seen: 1,
            kernels_profiled: 1,
            covered: 1.0,
            tiers: Vec::new(),
            rank: rank.map(|number| CollectedRank {
                number,
                local: None,
                size: None,
                told_by: "PMI_RANK".to_owned(),
            }),
        }),
    }
}

/// A kernel of a committed report, as it was timed on a rank.
fn kernel(source: usize, median_ns: f64) -> Kernel {
    let mut kernel = committed::kernel("vadd.ncu-rep.zst", 1);
    kernel.source = source;
    kernel.timed = Some(Timed {
        launches: 10,
        total_ns: 10.0 * median_ns,
        median_ns,
    });
    kernel
}

fn of(medians_ns: &[f64]) -> (Vec<Source>, Vec<Kernel>) {
    let sources = (0..medians_ns.len()).map(|id| source(id, Some(id as u64), "./app"));
    let kernels = medians_ns
        .iter()
        .enumerate()
        .map(|(id, ns)| kernel(id, *ns));
    (sources.collect(), kernels.collect())
}

fn compared(medians_ns: &[f64]) -> Ranks {
    let (sources, kernels) = of(medians_ns);
    ranks(&sources, &kernels).unwrap()
}

#[test]
fn a_slow_rank_is_named() {
    let ranks = compared(&[100_000.0, 100_400.0, 99_800.0, 131_000.0, 100_200.0]);
    assert_eq!(ranks.kernels.len(), 1);
    assert_eq!(ranks.kernels[0].odd, [3]);
    assert_eq!(ranks.kernels[0].median_ns, Some(100_200.0));
    assert!(
        ranks.title.starts_with(
            "rank 3 stands out: kernel takes 131 us there, 31 % more than the median of 100 us"
        ),
        "{}",
        ranks.title
    );
}

#[test]
fn equal_ranks_and_two_ranks() {
    let ranks = compared(&[100_000.0, 100_400.0, 99_800.0, 103_000.0, 100_200.0]);
    assert_eq!(ranks.title, "none of 5 stands out");
    let ranks = compared(&[100_000.0, 200_000.0]);
    assert_eq!(ranks.kernels[0].odd, Vec::<usize>::new());
    assert!(
        ranks.title.starts_with("two are compared"),
        "{}",
        ranks.title
    );
}

#[test]
fn other_limits_on_one_rank_are_said() {
    let (sources, mut kernels) = of(&[100_000.0; 3]);
    let same = ranks(&sources, &kernels).unwrap();
    assert!(!same.kernels[0].limiters_differ && !same.kernels[0].first_findings_differ);
    kernels[1].limiter.as_mut().unwrap().resource = Resource::L2;
    kernels[1].findings.clear();
    let ranks = ranks(&sources, &kernels).unwrap();
    assert!(ranks.kernels[0].limiters_differ && ranks.kernels[0].first_findings_differ);
    assert!(
        ranks
            .title
            .ends_with("what limits kernel is not the same on all of them"),
        "{}",
        ranks.title
    );
}

#[test]
fn what_is_no_rank_is_not_compared() {
    let (mut sources, kernels) = of(&[100_000.0; 3]);
    // One collection is none, and a report that somebody else made is no rank.
    assert_eq!(ranks(&sources[..1], &kernels), None);
    sources[1].collected = None;
    sources[2].collected = None;
    assert_eq!(ranks(&sources, &kernels), None);
    // Nor are collections of two programs.
    let sources = [source(0, Some(0), "./app"), source(1, Some(1), "./other")];
    assert_eq!(ranks(&sources, &kernels), None);
    // Without ranks they are told by their files.
    let sources = [source(0, None, "./app"), source(1, Some(1), "./app")];
    let ranks = ranks(&sources, &kernels).unwrap();
    assert_eq!(ranks.members[0].label, "run/0/collection.json");
}

/// A rank that did not profile a kernel has no figure of it, and no zero.
#[test]
fn a_kernel_of_some_ranks() {
    let (sources, mut kernels) = of(&[100_000.0; 4]);
    kernels.remove(2);
    let ranks = ranks(&sources, &kernels).unwrap();
    let kernel = &ranks.kernels[0];
    assert_eq!(kernel.places, [Some(0), Some(1), None, Some(2)]);
    assert_eq!(kernel.durations_ns[2], None);
}
