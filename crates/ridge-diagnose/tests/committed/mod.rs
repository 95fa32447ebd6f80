//! A launch of a committed report, diagnosed without a name and a size of its own.

use std::path::Path;

use ncu_rep::Report;
use ridge_diagnose::document::Kernel;
use ridge_diagnose::{Group, KernelProfile, Options, diagnose};

/// The diagnosis of a launch of a report in `fixtures/reports`.
pub(crate) fn kernel(report: &str, launch: usize) -> Kernel {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reports");
    let file = std::fs::read(folder.join(report)).unwrap();
    let unpacked = ncu_rep::unpack(&file, u64::MAX);
    let report = Report::parse(&unpacked.bytes).unwrap();
    let profile = KernelProfile {
        name: "kernel".to_owned(),
        signature: "kernel()".to_owned(),
        mangled: None,
        is_mixture: false,
        grid: None,
        block: None,
        launch_index: 0,
        sections: Vec::new(),
        metrics: report.profile(launch).unwrap().metrics().value,
    };
    diagnose(&profile, &Group::default(), None, &Options::default())
}
