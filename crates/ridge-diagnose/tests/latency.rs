//! Verdicts of the latency model over the gallery: what is missing on slow kernels, what is hidden on those at a limit,
//! and how latencies come out that are known from elsewhere.

use std::path::Path;

use ncu_rep::Report;
use ridge_diagnose::document::{Kernel, Latency, LatencyVerdict};
use ridge_diagnose::{Group, KernelProfile, Options, diagnose};

/// The latency of a kernel of the gallery.
fn latency(pair: &str, version: &str) -> Latency {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/gallery")
        .join(format!("{pair}.ncu-rep.zst"));
    let file = std::fs::read(path).expect("the gallery is in the repository");
    let unpacked = ncu_rep::unpack(&file, u64::MAX);
    let report = Report::parse(&unpacked.bytes).expect("a fixture is a report");
    let wanted = format!("{pair}_{version}");
    let kernel = report
        .profiles()
        .map(|profile| kernel(&profile))
        .find(|kernel| kernel.name == wanted)
        .expect("the report holds both versions");
    kernel.latency.expect("a full report tells")
}

fn kernel(profile: &ncu_rep::report::Profile<'_>) -> Kernel {
    let header = profile.header().value;
    let profile = KernelProfile {
        name: header
            .function_name
            .as_deref()
            .unwrap_or_default()
            .to_owned(),
        signature: String::new(),
        mangled: None,
        is_mixture: false,
        grid: None,
        block: None,
        launch_index: 0,
        sections: Vec::new(),
        metrics: profile.metrics().value,
    };
    diagnose(&profile, &Group::default(), None, &Options::default())
}

fn verdict(pair: &str, version: &str) -> LatencyVerdict {
    latency(pair, version).verdict.expect("a full report tells")
}

/// What full SMs and each warp have to supply.
fn missing(verdict: LatencyVerdict) -> Option<(f64, f64)> {
    match verdict {
        LatencyVerdict::NotEnoughInFlight {
            by_warps,
            by_each_warp,
            ..
        }
        | LatencyVerdict::NotEnoughWarps {
            by_warps,
            by_each_warp,
            ..
        } => Some((by_warps, by_each_warp)),
        _ => None,
    }
}

#[test]
fn few_warps_are_what_is_missing_where_occupancy_is_low() {
    for pair in [
        "rare_branch",
        "worst_case_buffer",
        "short_rows",
        "wide_matvec",
        "list_walk",
    ] {
        let found = verdict(pair, "slow");
        assert!(
            matches!(found, LatencyVerdict::NotEnoughWarps { .. }),
            "{pair}: {found:?}"
        );
        // The remedy supplies warps: less is missing, and less of it from them.
        let (warps, _) = missing(found).unwrap();
        if let Some((still, _)) = missing(verdict(pair, "fixed")) {
            assert!(still < warps, "{pair}: {warps} before, {still} after");
        }
    }
}

#[test]
fn narrow_accesses_have_too_little_in_flight_with_all_warps_there() {
    for pair in ["int8_dot", "rgb_gray"] {
        let found = verdict(pair, "slow");
        assert!(
            matches!(found, LatencyVerdict::NotEnoughInFlight { .. }),
            "{pair}: {found:?}"
        );
        assert_eq!(verdict(pair, "fixed"), LatencyVerdict::Hidden, "{pair}");
    }
}

#[test]
fn a_chain_of_arithmetic_is_no_chain_of_loads() {
    let factor = |version| match verdict("horner_chain", version) {
        LatencyVerdict::DependentArithmetic { factor } => factor,
        other => panic!("{other:?}"),
    };
    assert!(factor("fixed") < factor("slow"));
}

#[test]
fn latency_is_hidden_at_a_limit() {
    for pair in ["triad", "fma_peak", "l2_lines", "tensor_peak"] {
        assert_eq!(verdict(pair, "slow"), LatencyVerdict::Hidden, "{pair}");
    }
    // More is in flight at the roof than the memory needs: the rest of it queues.
    let triad = latency("triad", "slow");
    let dram = triad.levels.last().unwrap();
    assert!(dram.in_flight_bytes_per_sm > dram.needed_bytes_per_sm);
}

#[test]
fn atomics_on_one_address_make_each_access_expensive() {
    for pair in ["global_histogram", "compact_counter"] {
        let found = verdict(pair, "slow");
        assert!(
            matches!(found, LatencyVerdict::AccessTooExpensive { factor } if factor > 10.0),
            "{pair}: {found:?}"
        );
    }
}

/// The walk has one load open for each warp, and about half of its loads miss the L2: a load takes between the
/// 265 cycles of the L2 and the 658 of device memory that pointer chases measure. Four lists side by side have more open.
#[test]
fn open_loads_of_a_warp_are_counted() {
    let walk = |version| latency("list_walk", version).loads.unwrap();
    let (slow, fixed) = (walk("slow"), walk("fixed"));
    assert!((slow.per_warp.unwrap() - 1.0).abs() < 0.05);
    assert!((265.0..658.0).contains(&slow.cycles.unwrap()));
    assert!(fixed.per_warp.unwrap() > 2.0);
}
