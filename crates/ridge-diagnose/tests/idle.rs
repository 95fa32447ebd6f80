//! A duration in which no SM has a warp for most of the time is not the kernel's own, and the diagnosis says so.

use ncu_rep::{MetricTable, Report, Value};
use ridge_diagnose::document::{Class, Confidence, Kernel};
use ridge_diagnose::{Group, KernelProfile, Options, diagnose};

/// A kernel of a committed report as if it ran for so long, with SMs that are active for a part of that.
fn with(duration_ns: f64, active: f64) -> Kernel {
    let file = include_bytes!("../../../fixtures/gallery/list_walk.ncu-rep.zst");
    let unpacked = ncu_rep::unpack(file, u64::MAX);
    let report = Report::parse(&unpacked.bytes).expect("a fixture is a report");
    let profile = report.profile(0).expect("it holds kernels");
    let mut metrics = MetricTable::copy_of(&profile.metrics().value);
    for (name, value, _) in &mut metrics {
        match name.as_str() {
            "gpu__time_duration.sum" => *value = Some(Value::F64(duration_ns)),
            "sm__cycles_elapsed.max" => *value = Some(Value::F64(1e6)),
            "sm__cycles_active.max" => *value = Some(Value::F64(1e6 * active)),
            _ => {}
        }
    }
    let table: MetricTable = metrics.into_iter().collect();
    let profile = KernelProfile {
        name: "kernel".to_owned(),
        signature: "kernel()".to_owned(),
        mangled: None,
        is_mixture: false,
        grid: None,
        block: None,
        launch_index: 0,
        sections: Vec::new(),
        metrics: table.metrics(),
    };
    let group = Group {
        launches: vec![(0, Some(duration_ns))],
        ..Group::default()
    };
    let options = Options {
        min_saving: 0.0,
        ..Options::default()
    };
    diagnose(&profile, &group, None, &options)
}

#[test]
fn a_mostly_idle_duration_is_bound_by_its_launch() {
    let kernel = with(200_000.0, 0.04);
    let limiter = kernel.limiter.expect("the report tells");
    assert_eq!(limiter.class, Class::Launch);
    assert!((kernel.idle_share.unwrap() - 0.96).abs() < 1e-9);
    let finding = kernel
        .findings
        .iter()
        .find(|finding| finding.id == "launch-bound")
        .expect("it is said");
    assert_eq!(finding.confidence, Confidence::Low);
    assert!(finding.title.contains("96 %"), "{}", finding.title);
    // A launch costs 3.9 us at most: that is what merging saves of 200 us, whatever else is idle.
    assert!((finding.saving_expected - 3.9 / 200.0).abs() < 1e-9);
}

#[test]
fn a_busy_duration_is_not() {
    let kernel = with(200_000.0, 0.96);
    assert_ne!(
        kernel.limiter.expect("the report tells").class,
        Class::Launch
    );
    assert!(
        kernel
            .findings
            .iter()
            .all(|finding| finding.id != "launch-bound")
    );
}
