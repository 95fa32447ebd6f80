//! `ridge doctor` on whatever machine the tests run on: states are tested in `crates/ridge-render/tests/doctor.rs`.

use crate::driver::{Folder, ridge, root};
use crate::schema::{named, violations};

#[test]
fn the_document_follows_the_schema_and_the_code_is_its_verdict() {
    let run = ridge(["doctor", "--format", "json"]).run();
    let document = run.json();
    let found = violations(&named("doctor"), &document);
    assert!(found.is_empty(), "{}", found.join("\n"));
    let code = if document["is_able"] == true { 0 } else { 4 };
    assert_eq!(run.code, Some(code));
    let lines = document["lines"].as_array().unwrap();
    for id in [
        "driver",
        "nvrtc",
        "ncu",
        "counters",
        "compute-sanitizer",
        "nvdisasm",
        "disk",
    ] {
        assert!(lines.iter().any(|line| line["id"] == id), "{id}");
    }
    // What does not work says how to mend it.
    for line in lines.iter().filter(|line| line["state"] == "fails") {
        assert!(!line["remedies"].as_array().unwrap().is_empty(), "{line}");
    }
}

#[cfg(unix)]
#[test]
fn tools_are_found_where_they_are() {
    let folder = root().join("crates/ridge/tests/cli/compute_sanitizer");
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let document = ridge(["doctor", "--format", "json"])
        .env("PATH", &path)
        .run()
        .json();
    let lines = document["lines"].as_array().unwrap();
    let line = lines
        .iter()
        .find(|line| line["id"] == "compute-sanitizer")
        .unwrap();
    assert_eq!(line["state"], "works");
    let file = folder.join("compute-sanitizer");
    assert_eq!(line["text"], format!("2025.3.1.0, {}", file.display()));
}

#[cfg(unix)]
#[test]
fn a_tool_that_does_not_start_is_told() {
    let folder = Folder::with(
        "ncu",
        "#!/bin/sh\necho 'ncu: libfoo.so is missing' >&2\nexit 127\n",
    );
    let file = folder.path().join("ncu");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(file, mode).unwrap();
    let run = ridge(["doctor", "--format", "json"])
        .env("PATH", folder.path().to_str().unwrap())
        .run()
        .code(4);
    let document = run.json();
    let lines = document["lines"].as_array().unwrap();
    let ncu = lines.iter().find(|line| line["id"] == "ncu").unwrap();
    assert_eq!(ncu["state"], "fails");
    let text = ncu["text"].as_str().unwrap();
    assert!(
        text.ends_with("does not start: ncu: libfoo.so is missing"),
        "{text}"
    );
}

#[test]
fn other_formats_are_refused() {
    ridge(["doctor", "-o", "here.csv"])
        .run()
        .code(2)
        .says("names no format of `ridge doctor`");
}
