//! What is said where the compulsory bytes and operations of a kernel are known: against the gallery, whose labels hold
//! both, counted by hand from the sources of its kernels.

use std::path::PathBuf;

use ncu_rep::Report;
use proptest::prelude::*;
use ridge_diagnose::document::{Confidence, Kernel, Reading, Resource};
use ridge_diagnose::{CodeMap, Given, Group, KernelProfile, Options, diagnose};
use ridge_model::quantity::{Bytes, Flops};
use serde_json::Value;

fn gallery() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/gallery")
}

fn label(case: &str) -> Value {
    let labels = std::fs::read_to_string(gallery().join("labels.jsonl")).unwrap();
    labels
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|label| label["case"] == case)
        .unwrap()
}

/// The kernel of a case in its version `slow` or `fixed`.
fn kernel(case: &str, version: &str, given: Given) -> Kernel {
    let file = std::fs::read(gallery().join(format!("{case}.ncu-rep.zst"))).unwrap();
    let unpacked = ncu_rep::unpack(&file, u64::MAX);
    let report = Report::parse(&unpacked.bytes).unwrap();
    let name = label(case)[version].as_str().unwrap().to_owned();
    let (launch_index, found) = report
        .profiles()
        .enumerate()
        .find(|(_, profile)| profile.header().value.function_name.as_deref() == Some(&name))
        .unwrap();
    let header = found.header().value;
    let code = header.sources.first().and_then(|key| report.source(*key));
    let code = code.map(|source| CodeMap::new(&source.value));
    let profile = KernelProfile {
        name: name.clone(),
        signature: name,
        mangled: None,
        is_mixture: false,
        grid: header.launches.first().map(|launch| launch.grid),
        block: header.launches.first().map(|launch| launch.block),
        launch_index,
        sections: Vec::new(),
        metrics: found.metrics().value,
    };
    let group = Group {
        launches: vec![(launch_index, profile.duration_ns())],
        ..Group::default()
    };
    let options = Options {
        given,
        ..Options::default()
    };
    diagnose(&profile, &group, code.as_ref(), &options)
}

/// What the label of a case says of its computation.
fn given(case: &str) -> Given {
    let label = label(case);
    Given {
        bytes: label["min_bytes"].as_f64().map(Bytes::new),
        flops: label["flops"].as_f64().map(Flops::new),
    }
}

#[test]
fn nothing_given_says_nothing() {
    let kernel = kernel("triad", "slow", Given::default());
    assert_eq!(kernel.compulsory, None);
    assert!(!kernel.findings[0].title.contains("compulsory"));
}

#[test]
fn operations_are_counted_as_by_hand() {
    for (case, version, pipe) in [
        ("triad", "slow", Resource::Fma),
        ("fma_peak", "slow", Resource::Fma),
        ("complex_rotate", "slow", Resource::Fma),
        ("tile_gemm", "fixed", Resource::Fma),
        ("oscillator", "slow", Resource::Fp64),
        ("half_poly", "fixed", Resource::Fp16),
        ("tensor_peak", "slow", Resource::Tensor),
        ("bf16_linear", "fixed", Resource::Tensor),
    ] {
        let known = kernel(case, version, given(case)).compulsory.unwrap();
        let operations = known.operations.unwrap();
        let factor = operations.factor.unwrap();
        assert!((factor - 1.0).abs() < 0.01, "{case}: {factor}");
        assert_eq!(operations.pipe, Some(pipe), "{case}");
    }
}

#[test]
fn the_gap_of_a_kernel_at_its_roof_is_good() {
    for case in ["triad", "fma_peak", "tensor_peak"] {
        let known = kernel(case, "slow", given(case)).compulsory.unwrap();
        assert_eq!(
            known.reading,
            Some(Reading::Good),
            "{case}: {:?}",
            known.gap
        );
    }
    let far = kernel("global_histogram", "slow", given("global_histogram"));
    assert_eq!(far.compulsory.unwrap().reading, Some(Reading::Far));
}

/// No remedy that keeps the computation on its pipe saves more than the bound says.
#[test]
fn the_bound_holds_against_what_fixes_saved() {
    for case in [
        "row_stats",
        "gather_order",
        "haar_inplace",
        "rgb_gray",
        "triad",
        "tile_gemm",
        "complex_rotate",
    ] {
        let label = label(case);
        let real = 1.0 - label["fixed_us"].as_f64().unwrap() / label["slow_us"].as_f64().unwrap();
        let known = kernel(case, "slow", given(case)).compulsory.unwrap();
        let at_most = known.saving_ceiling.unwrap();
        assert!(at_most + 0.02 >= real, "{case}: {at_most} against {real}");
    }
}

#[test]
fn traffic_beyond_the_compulsory_is_counted() {
    let label = label("row_stats");
    let slow = kernel("row_stats", "slow", given("row_stats"));
    let found = &slow.findings[0];
    assert_eq!(found.id, "redundant-traffic");
    assert_eq!(found.confidence, Confidence::High);
    assert!(found.title.contains("3.00 times"), "{}", found.title);
    let real = 1.0 - label["fixed_us"].as_f64().unwrap() / label["slow_us"].as_f64().unwrap();
    assert!(
        found.saving_ceiling >= real && found.saving_ceiling < real + 0.1,
        "{} against {real}",
        found.saving_ceiling
    );
    assert!((found.saving_expected - real).abs() < 0.05);
}

/// Each block reads the whole image for one class. No counter tells that they read the same one: only who knows the
/// size of the image sees that it crosses the interface eight times.
#[test]
fn passes_of_different_blocks_show_with_their_bytes_only() {
    let unknown = kernel("band_scores", "slow", Given::default());
    assert_eq!(unknown.findings[0].id, "at-dram-limit");
    let known = kernel("band_scores", "slow", given("band_scores"));
    let first = &known.findings[0];
    assert_eq!(first.id, "redundant-traffic");
    assert_eq!(first.confidence, Confidence::High);
    // What the fix saved, without a profiler.
    let label = label("band_scores");
    let real = 1.0 - label["fixed_us"].as_f64().unwrap() / label["slow_us"].as_f64().unwrap();
    assert!(first.saving_ceiling + 0.02 >= real);
    assert!((first.saving_expected - real).abs() < 0.1);
}

#[test]
fn at_the_limit_with_compulsory_bytes_no_traffic_is_left() {
    let fixed = kernel("row_stats", "fixed", given("row_stats"));
    let verdict = &fixed.findings[0];
    assert_eq!(verdict.id, "at-dram-limit");
    assert!(
        verdict.title.contains("no traffic is left"),
        "{}",
        verdict.title
    );
    assert!(verdict.saving_ceiling < 0.15);
    assert!(verdict.actions[0].contains("compulsory"));
    assert!(
        fixed
            .findings
            .iter()
            .all(|found| found.id != "redundant-traffic")
    );
}

/// A kernel at its limit of which half the traffic is said to be needless is told so, however it was found.
#[test]
fn at_the_limit_with_half_the_bytes_the_traffic_is_the_flaw() {
    let half = Given {
        bytes: given("triad").bytes.map(|bytes| bytes / 2.0),
        flops: None,
    };
    let found = kernel("triad", "slow", half).findings;
    assert_eq!(found[0].id, "redundant-traffic");
    // The least is half of today's time on the interface, and no bound is below it.
    assert!((0.4..0.6).contains(&found[0].saving_ceiling));
    assert!(found.iter().all(|found| !found.id.starts_with("at-")));
}

#[test]
fn needless_sectors_are_their_own_cause() {
    let slow = kernel("gather_order", "slow", given("gather_order"));
    assert_eq!(slow.findings[0].id, "uncoalesced-global");
    assert!(
        slow.findings
            .iter()
            .all(|found| found.id != "redundant-traffic")
    );
}

#[test]
fn a_verdict_about_execution_tells_operations_that_are_not_needed() {
    let operations = given("fma_peak").flops.unwrap();
    let verdict = |flops| {
        let given = Given {
            bytes: None,
            flops: Some(flops),
        };
        kernel("fma_peak", "slow", given).findings[0].clone()
    };
    let (all, half) = (verdict(operations), verdict(operations / 2.0));
    assert_eq!(
        (&*all.id, &*half.id),
        ("at-compute-limit", "at-compute-limit")
    );
    assert!(
        half.actions[0].contains("17.7 GFLOP are counted"),
        "{}",
        half.actions[0]
    );
    assert!(
        !all.actions[0].contains("are counted"),
        "{}",
        all.actions[0]
    );
    assert!(
        all.evidence
            .iter()
            .any(|seen| seen.healthy == Some(operations.get()))
    );
    // What was given is no remedy by itself: the bound of the same work stays.
    assert_eq!(all.saving_ceiling.to_bits(), half.saving_ceiling.to_bits());
}

#[test]
fn bytes_that_stay_in_caches_set_no_bound() {
    let given = Given {
        bytes: Some(Bytes::new(1e12)),
        flops: None,
    };
    let known = kernel("fma_peak", "slow", given).compulsory.unwrap();
    assert!(!known.bytes.unwrap().fits);
    assert_eq!(
        (known.bound_ns, known.gap, known.reading),
        (None, None, None)
    );
}

#[test]
fn other_arithmetic_than_was_given_has_no_bound() {
    // The operations of the label are those on bytes.
    let known = kernel("int8_dot", "fixed", given("int8_dot"))
        .compulsory
        .unwrap();
    assert!(!known.operations.unwrap().fits);
    assert_eq!(known.bound_by, Some(Resource::Dram));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// Whatever is given, savings stay within their bounds, and no number is absurd.
    #[test]
    fn any_amount_keeps_the_bounds(bytes in 0.0..64.0_f64, flops in 0.0..64.0_f64, case in prop::sample::select(vec!["triad", "row_stats", "tile_gemm", "tensor_peak"])) {
        let given = Given {
            bytes: Some(Bytes::new(bytes.exp2())),
            flops: Some(Flops::new(flops.exp2())),
        };
        let kernel = kernel(case, "slow", given);
        for finding in &kernel.findings {
            prop_assert!((0.0..=1.0).contains(&finding.saving_ceiling), "{}", finding.id);
            prop_assert!(finding.saving_expected >= 0.0, "{}", finding.id);
            prop_assert!(finding.saving_expected <= finding.saving_ceiling + 1e-9, "{}", finding.id);
        }
        let known = kernel.compulsory.unwrap();
        let bytes = known.bytes.unwrap();
        prop_assert!(bytes.factor.unwrap() > 0.0 && bytes.factor.unwrap().is_finite());
        prop_assert!(bytes.at_peak_ns.unwrap() < bytes.at_attainable_ns.unwrap());
        prop_assert!(known.bound_ns.is_none_or(|bound| !bytes.fits || bound >= bytes.at_peak_ns.unwrap()));
        prop_assert!(known.gap.is_none_or(|gap| gap > 0.0 && gap.is_finite()));
    }
}
