//! `ridge export --redact`: a report that is safe to share.

use ncu_rep::Report;

use crate::driver::{AOS, AOS_CSV, Folder, VADD, report, ridge};

#[test]
fn a_redacted_report_keeps_the_metrics_and_loses_the_rest() {
    let folder = Folder::new();
    let path = folder
        .path()
        .join("shared.ncu-rep")
        .to_string_lossy()
        .into_owned();
    let run = ridge(["export", AOS, "--redact", "--output", path.as_str()])
        .run()
        .code(0);
    assert!(run.stdout.is_empty());
    assert!(
        run.stderr.contains("removed: path of the program"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("kept: the names of"), "{}", run.stderr);
    let bytes = std::fs::read(&path).unwrap();
    for secret in ["/home", "192.0.2", "clinic", "fe80"] {
        let is_there = bytes
            .windows(secret.len())
            .any(|window| window == secret.as_bytes());
        assert!(!is_there, "{secret} is still in the report");
    }
    let (before, after) = (
        Report::parse(report()).unwrap(),
        Report::parse(&bytes).unwrap(),
    );
    assert!(after.problems().is_empty());
    assert_eq!(before.len(), after.len());
    for (before, after) in before.profiles().zip(after.profiles()) {
        let (before, after) = (before.metrics().value, after.metrics().value);
        let name = "gpu__time_duration.sum";
        assert_eq!(before.number(name), after.number(name));
        assert_eq!(before.len(), after.len());
    }
    // The same diagnosis, apart from the source lines that are gone.
    ridge(["why", path.as_str()]).run().fine();
}

#[test]
fn kernels_lose_their_names_on_request() {
    let folder = Folder::new();
    let path = folder
        .path()
        .join("shared.ncu-rep")
        .to_string_lossy()
        .into_owned();
    ridge([
        "export",
        AOS,
        "--redact",
        "--rename-kernels",
        "-q",
        "--output",
        path.as_str(),
    ])
    .run()
    .fine();
    let run = ridge(["why", path.as_str()]).run().fine();
    assert!(
        run.stdout.contains("kernel_1") && !run.stdout.contains("aos_slow"),
        "{}",
        run.stdout
    );
}

#[test]
fn only_one_whole_report_is_redacted() {
    for (arguments, reason) in [
        (vec!["export", "--redact", AOS, VADD], "one file"),
        (vec!["export", "--redact", AOS_CSV], "CSV"),
    ] {
        let run = ridge(arguments).run().code(2);
        assert!(run.stderr.contains(reason), "{}", run.stderr);
    }
    let run = ridge(["export", "--redact", &format!("{AOS}#aos_slow")])
        .run()
        .code(2);
    assert!(run.stderr.contains("whole report"), "{}", run.stderr);
}
