//! `ridge history plot`, `ridge history changes` and the export as Parquet files.

use std::fs;

use ridge_history::{Circumstances, Record, Revision, exchange};
use serde_json::{Value, json};

use crate::driver::{Folder, Run, ridge, snapshot};

/// A result of a benchmark as a line for exchange: time and commit are in it, so that no clock and no git are asked.
pub(crate) fn line(i: u32, median: f64, branch: &str) -> Vec<u8> {
    let document = json!({
        "schema": "ridgepoint.bench", "version": 1, "tool_version": "0.1.0", "benchmark": "copy",
        "machine": {"device": "NVIDIA H200", "uuid": "GPU-1", "driver": "580.65.06"},
        "states": [{"name": "scalar", "status": "valid", "functions": [{"registers": 32}], "modes": [
            {"mode": "cold", "invalid": [], "samples": 40, "median_ns": median,
             "lower_ns": median * 0.999, "upper_ns": median * 1.001, "clock_hz": 1.98e9}]}],
    });
    let time = format!("2026-11-{:02}T{:02}:00:00Z", 1 + i / 4, 6 * (i % 4));
    let circumstances = Circumstances {
        time: Some(time.parse().unwrap()),
        host: Some("lab".to_owned()),
        revision: Revision {
            commit: Some(commit(i)),
            branch: Some(branch.to_owned()),
            is_dirty: Some(false),
        },
        ..Circumstances::default()
    };
    let record = Record::of_document(document.to_string().as_bytes(), circumstances).unwrap();
    let mut line = Vec::new();
    exchange::write(&record, &mut line).unwrap();
    line
}

fn commit(i: u32) -> String {
    let start = 0x1000_0000_u32.wrapping_add(i.wrapping_mul(0x0357_9bdf));
    format!("{start:08x}{i:032x}")
}

/// −0.5 to 0.4 in an order without a rhythm.
fn jitter(i: u32) -> f64 {
    f64::from(i * 7 % 10) / 10.0 - 0.5
}

/// A project whose results became slower with the 31st of 50 commits.
fn project() -> Folder {
    let folder = Folder::new();
    let lines: Vec<u8> = (0..50)
        .flat_map(|i| {
            let level = if i < 30 { 29_900.0 } else { 31_400.0 };
            line(i, level + 80.0 * jitter(i), "main")
        })
        .collect();
    fs::write(folder.path().join("all.jsonl"), lines).unwrap();
    ridge(["history", "import", "all.jsonl"])
        .within(&folder)
        .run()
        .fine();
    folder
}

/// What was run, without the folder that differs from run to run.
fn stable(run: &Run, project: &Folder) -> String {
    run.transcript()
        .replace(project.path().to_str().unwrap(), "[project]")
}

#[test]
fn what_became_slower_is_named() {
    let project = project();
    let plot = ridge(["history", "plot"]).within(&project).run().fine();
    snapshot("history_plot", &plot.transcript());
    let changes = ridge(["history", "changes"]).within(&project).run().fine();
    snapshot("history_changes", &changes.transcript());
    let all = ridge(["history", "changes", "--metric", "all", "-v"])
        .within(&project)
        .run()
        .fine();
    snapshot("history_changes_all", &all.transcript());
}

#[test]
fn json_names_commit_and_size() {
    let project = project();
    let run = ridge(["history", "changes", "--format", "json"])
        .within(&project)
        .run()
        .fine();
    let document = run.json();
    assert_eq!(document["schema"], "ridgepoint.history-series");
    let series = &document["series"][0];
    assert_eq!(series["points"], Value::Null);
    let change = &series["changes"][0];
    assert_eq!(change["point"], 30);
    assert_eq!(change["commit"], commit(30));
    assert_eq!(change["is_worse"], true);
    assert!((change["ratio"].as_f64().unwrap() - 1.05).abs() < 0.002);
    let run = ridge(["history", "plot", "scalar", "--format", "json"])
        .within(&project)
        .run()
        .fine();
    let document = run.json();
    assert_eq!(
        document["series"][0]["points"].as_array().unwrap().len(),
        50
    );
}

#[test]
fn the_extension_selects_the_format() {
    let project = project();
    for (file, start) in [
        ("p.svg", "<svg"),
        ("p.html", "<!doctype html>"),
        ("p.json", "{"),
    ] {
        ridge(["history", "plot", "copy", "-o", file])
            .within(&project)
            .run()
            .fine();
        let text = fs::read_to_string(project.path().join(file)).unwrap();
        assert!(text.starts_with(start), "{file}");
    }
    ridge(["history", "plot", "-o", "p.png"])
        .within(&project)
        .run()
        .code(2);
}

#[test]
fn what_is_not_there_is_told() {
    let project = project();
    let run = ridge(["history", "plot", "absent"])
        .within(&project)
        .run()
        .code(2);
    snapshot("history_plot_absent", &stable(&run, &project));
    // A pattern is none here: what there is to name is said, and not another metric.
    ridge(["history", "changes", "copy/*", "--metric", "time"])
        .within(&project)
        .run()
        .code(2)
        .says("there are: copy/scalar");
    let run = ridge(["history", "plot", "--metric", "occupancy"])
        .within(&project)
        .run()
        .code(2);
    snapshot("history_plot_metric", &stable(&run, &project));
    let run = ridge(["history", "changes", "--branch", "other"])
        .within(&project)
        .run()
        .code(2);
    snapshot("history_changes_branch", &stable(&run, &project));
}

#[test]
fn mixed_branches_are_told() {
    let project = project();
    fs::write(
        project.path().join("more.jsonl"),
        line(60, 29_000.0, "other"),
    )
    .unwrap();
    ridge(["history", "import", "more.jsonl"])
        .within(&project)
        .run()
        .fine();
    ridge(["history", "changes"])
        .within(&project)
        .run()
        .code(0)
        .says("results of 2 branches");
    ridge(["history", "changes", "--branch", "main"])
        .within(&project)
        .run()
        .fine();
}

#[cfg(feature = "parquet")]
#[test]
fn tables_go_to_a_new_folder() {
    let project = project();
    let export = ["history", "export", "--format", "parquet"];
    ridge(export).within(&project).run().code(2);
    ridge(export.into_iter().chain(["-o", "tables"]))
        .within(&project)
        .run()
        .code(0)
        .says("50 results with 100 numbers");
    let first = "tables/date=2026-11-01/gpu=NVIDIA%20H200/part-00000.parquet";
    let bytes = fs::read(project.path().join(first)).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    // A second export would mix with the first.
    ridge(export.into_iter().chain(["-o", "tables"]))
        .within(&project)
        .run()
        .code(2)
        .says("is there already");
    let left: Vec<_> = fs::read_dir(project.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(".ridge-export"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_tables_says_so() {
    let project = project();
    ridge(["history", "export", "--format", "parquet", "-o", "tables"])
        .within(&project)
        .run()
        .code(4)
        .says("--features parquet");
}
