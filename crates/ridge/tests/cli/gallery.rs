//! `ridge gallery`: the list, a case, its sources, and measuring it.

use std::fs;

use serde_json::Value;

use crate::driver::{Folder, ridge, root, snapshot};
use crate::schema::{named, violations};

fn document(arguments: &[&str]) -> Value {
    let all = ["gallery", "--format", "json"].iter().chain(arguments);
    let document = ridge(all).run().fine().json();
    let found = violations(&named("gallery"), &document);
    assert!(found.is_empty(), "{arguments:?}\n{}", found.join("\n"));
    document
}

#[test]
fn pages() {
    for (name, arguments, columns) in [
        ("gallery_list_120", &["gallery"][..], "120"),
        (
            "gallery_finding_80",
            &["gallery", "--finding", "bank-conflicts"],
            "80",
        ),
        ("gallery_case", &["gallery", "conv9"], "100"),
        ("gallery_limit", &["gallery", "triad"], "80"),
        (
            "gallery_markdown",
            &["gallery", "short_rows", "--source", "--format", "markdown"],
            "80",
        ),
    ] {
        let page = ridge(arguments).env("COLUMNS", columns).run().fine().stdout;
        snapshot(name, &page);
        let columns = columns.parse().unwrap();
        let is_page = !arguments.contains(&"markdown");
        assert!(
            !is_page || page.lines().all(|line| line.chars().count() <= columns),
            "{page}"
        );
    }
}

#[test]
fn documents_hold_every_case() {
    let all = document(&[]);
    let folders = fs::read_dir(root().join("gallery"))
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().join("bench.toml").is_file());
    assert_eq!(all["cases"].as_array().unwrap().len(), folders.count());
    let one = document(&["conv9", "--source"]);
    let case = &one["cases"][0];
    assert_eq!(case["finding"], "no-reuse");
    assert_eq!(case["slow"]["limiter"], "l1");
    assert_eq!(case["slow"]["findings"][0]["id"], "no-reuse");
    let source = fs::read_to_string(root().join("gallery/conv9/kernels.cu")).unwrap();
    assert_eq!(case["source"], source);
    // What is not there is null, not zero.
    let limit = &document(&["triad"])["cases"][0];
    assert!(limit["fixed"].is_null() && limit["measured"]["saved"].is_null());
}

#[test]
fn a_finding_chooses() {
    let chosen = document(&["--finding", "warp-divergence"]);
    let names: Vec<&str> = chosen["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["name"].as_str().unwrap())
        .collect();
    // Those that have it as a second flaw too.
    assert!(
        names.contains(&"long_loops") && names.contains(&"mosaic_stack"),
        "{names:?}"
    );
}

#[test]
fn what_is_written_can_be_measured() {
    let folder = Folder::new();
    let write = || {
        ridge(["gallery", "haar_inplace", "--write", "mine/new"])
            .within(&folder)
            .run()
    };
    write()
        .code(0)
        .shows("mine/new/bench.toml")
        .says("`ridge bench mine/new/bench.toml`");
    for name in ["kernels.cu", "bench.toml"] {
        let written = fs::read(folder.path().join("mine/new").join(name)).unwrap();
        let ours = fs::read(root().join("gallery/haar_inplace").join(name)).unwrap();
        assert_eq!(written, ours, "{name}");
    }
    write().code(2).says("is there already");
    let file = Folder::with("file", "");
    let run = ridge(["gallery", "conv9", "--write", "file/below"])
        .within(&file)
        .run();
    run.code(4).says("cannot write");
}

#[test]
fn a_case_is_measured_by_the_code_of_bench() {
    let folder = Folder::new();
    let arguments = [
        "gallery",
        "short_rows",
        "--bench",
        "--device",
        "sim:h200",
        "--format",
        "json",
    ];
    let measured = ridge(arguments).within(&folder).run().code(0).json();
    assert_eq!(measured["schema"], "ridgepoint.bench");
    let text = measured.to_string();
    for state in ["slow", "fixed"] {
        assert!(text.contains(&format!("\"{state}\"")), "{text}");
    }
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        0,
        "nothing is left behind"
    );
}

#[test]
fn what_cannot_be_is_refused_with_what_to_do() {
    let refused = |arguments: &[&str], text: &str| {
        ridge(arguments).run().code(2).says(text).shows_nothing();
    };
    refused(&["gallery", "conv8"], "`ridge gallery conv9`");
    refused(
        &["gallery", "xyzzyxyzzy"],
        "`ridge gallery` lists all cases",
    );
    refused(
        &["gallery", "--finding", "bank-conflict"],
        "--finding bank-conflicts",
    );
    refused(
        &["gallery", "--finding", "pageable-transfer"],
        "`ridge explain pageable-transfer`",
    );
    refused(&["gallery", "--finding", "xyzzyxyzzy"], "is no finding");
    refused(&["gallery", "conv9", "-o", "a.svg"], "names no format");
    refused(&["gallery", "--source"], "CASE");
    refused(
        &["gallery", "conv9", "--bench", "--device", "sim:h300"],
        "h300",
    );
}
