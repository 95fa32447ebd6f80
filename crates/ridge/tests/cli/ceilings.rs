//! `ridge ceilings` on a simulated GPU, what it stores, and which commands use it.

use serde_json::Value;

use crate::driver::{Folder, ridge, snapshot};
use crate::schema::{named, violations};

fn document() -> Value {
    let run = ridge([
        "ceilings",
        "--quick",
        "--device",
        "sim:h200,peers=1",
        "--format",
        "json",
    ])
    .run()
    .fine();
    run.json()
}

/// The figures of a model, as if a GPU had given them; without a driver, of which a machine may have another one.
fn stored() -> (Folder, String) {
    let mut document = document();
    let machine = &mut document["machine"];
    machine["device"] = "NVIDIA H200".into();
    machine["is_simulated"] = false.into();
    machine["uuid"] = "GPU-00000000-0000-0000-0000-000000000001".into();
    machine["driver"] = Value::Null;
    document["date"] = "2026-11-30".into();
    let folder = Folder::with(
        "GPU-1.json",
        serde_json::to_string_pretty(&document).unwrap(),
    );
    let path = folder.path().to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn everything_is_measured_and_follows_the_schema() {
    let first = document();
    let found = violations(&named("ceilings"), &first);
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(first["is_complete"], true);
    assert_eq!(first["missing"], Value::Array(Vec::new()));
    let figures = first["figures"].as_array().unwrap();
    for family in [
        "launch", "link", "dram", "l2", "l1", "atomics", "vector", "tensor", "peer",
    ] {
        assert!(
            figures.iter().any(|figure| figure["family"] == family),
            "{family}"
        );
    }
    // One place does them, so that a figure for each SM would mean nothing.
    let one = figures.iter().find(|one| one["id"] == "atomic-one-address");
    assert_eq!(one.unwrap()["per_sm_cycle"], Value::Null);
}

#[test]
fn pages() {
    for (name, format, only, columns) in [
        ("ceilings_memory", "text", "link,dram,l2,atomics", "120"),
        ("ceilings_narrow", "text", "launch,vector", "80"),
        ("ceilings_markdown", "markdown", "tensor", "80"),
        ("ceilings_csv", "csv", "launch,l1,peer", "80"),
        ("ceilings_peers", "text", "peer", "100"),
    ] {
        let device = if only.contains("peer") {
            "sim:h200,peers=2"
        } else {
            "sim:h200"
        };
        let arguments = [
            "ceilings", "--quick", "--device", device, "--only", only, "--format", format,
        ];
        let is_verbose = ["ceilings_memory", "ceilings_peers"].contains(&name);
        let arguments = arguments
            .iter()
            .chain(if is_verbose { &["-v"][..] } else { &[] });
        let run = ridge(arguments).env("COLUMNS", columns).run().fine();
        snapshot(name, &run.stdout);
    }
}

#[test]
fn a_model_is_stored_only_where_a_file_is_named() {
    let folder = Folder::new();
    let kept = folder.path().join("kept");
    let quick = [
        "ceilings", "--quick", "--device", "sim:h200", "--only", "l1",
    ];
    ridge(quick)
        .env("RIDGE_CEILINGS", kept.to_str().unwrap())
        .run()
        .fine();
    assert!(!kept.exists());
    let file = folder.path().join("model.json");
    let save = ["--save", file.to_str().unwrap()];
    ridge(quick.iter().chain(&save))
        .run()
        .code(0)
        .says("kept in");
    let arguments = ["bound", "copy", "--bytes", "1GiB", "--device", "h200"];
    let named = ["--ceilings", file.to_str().unwrap()];
    // The L1 is no part of a bound.
    let with = ridge(arguments.iter().chain(&named)).run().fine().stdout;
    assert_eq!(with, ridge(arguments).run().fine().stdout);
}

#[test]
fn mistakes_are_told() {
    let run = ridge(["ceilings", "--only", "cache"]).run();
    snapshot("ceilings_unknown_family", &run.code(2).stderr);
    let run = ridge(["ceilings", "--device", "sim:h2000"]).run();
    assert!(run.code(2).stderr.contains("sim:"));
    let folder = Folder::with("other.json", "{\"schema\": \"x\"}");
    let file = folder.path().join("other.json");
    let bound = |file: &str| {
        let copy = ["bound", "copy", "--bytes", "1GiB", "--device", "h200"];
        ridge(copy.iter().chain(&["--ceilings", file])).run()
    };
    assert!(
        bound(file.to_str().unwrap())
            .code(3)
            .stderr
            .contains("cannot read the ceilings")
    );
    assert!(
        bound("nowhere.json")
            .code(3)
            .stderr
            .contains("nowhere.json")
    );
}

/// A machine with one GPU has nothing to say about others: no figure and no warning, unless nothing else was asked for.
#[test]
fn one_gpu_has_no_others() {
    let of = |only| {
        ridge([
            "ceilings", "--quick", "--device", "sim:h200", "--only", only,
        ])
        .run()
    };
    let run = of("l1,peer").fine();
    assert!(!run.stdout.contains("other GPUs"), "{}", run.stdout);
    let alone = of("peer").code(4);
    assert!(
        alone.stderr.contains("shows no other GPU"),
        "{}",
        alone.stderr
    );
    assert!(alone.stderr.contains("peers=1"), "{}", alone.stderr);
}

/// Files of version 1 are of use still; what a later version has is not read by halves.
#[test]
fn other_versions_of_the_file_are_read_or_refused() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let old = format!("{root}/fixtures/formats/ceilings-1.json");
    let bound = |file: &str| {
        let copy = ["bound", "copy", "--bytes", "1GiB", "--device", "h200"];
        ridge(copy.iter().chain(&["--ceilings", file])).run()
    };
    let run = bound(&old).fine();
    assert!(run.stdout.contains("attainable"), "{}", run.stdout);
    let newer = std::fs::read_to_string(&old).unwrap().replace(
        "\"version\": 1,",
        "\"version\": 3, \"figures\": \"something else\",",
    );
    let folder = Folder::with("newer.json", newer);
    let run = bound(folder.path().join("newer.json").to_str().unwrap()).code(3);
    assert!(
        run.stderr
            .contains("it has version 3, and this command reads up to 2"),
        "{}",
        run.stderr
    );
}

#[test]
fn stored_figures_stand_beside_the_bound() {
    let (_folder, path) = stored();
    let words = "bound gemm --m 8192 --n 8192 --k 8192 --dtype bf16 --device h200 --time 1.5ms";
    let run = |more: &[&'static str]| {
        ridge(words.split(' ').chain(more.iter().copied()))
            .env("RIDGE_CEILINGS", &path)
            .env("COLUMNS", "80")
            .run()
            .fine()
    };
    snapshot("bound_attainable", &run(&[]).stdout);
    let with = run(&["--format", "json"]).json();
    let found = violations(&named("bound"), &with);
    assert!(found.is_empty(), "{}", found.join("\n"));
    let attainable = with["attainable"]["time_ns"].as_f64().unwrap();
    assert!(attainable > with["lower_bound_ns"].as_f64().unwrap());
    assert_eq!(with["attainable"]["ceilings"]["date"], "2026-11-30");
    // Without them, the answer is the one of a machine that has none; the bound is the same.
    let without = run(&["--ceilings", "none", "--format", "json"]).json();
    assert_eq!(without.get("attainable"), None);
    assert_eq!(without["lower_bound_ns"], with["lower_bound_ns"]);
    // Those of one device are not those of another.
    let other = ridge([
        "bound",
        "copy",
        "--bytes",
        "1GiB",
        "--device",
        "a100-80-sxm",
    ])
    .env("RIDGE_CEILINGS", &path)
    .run()
    .fine();
    assert!(!other.stdout.contains("attainable"));
    let file = format!("{path}/GPU-1.json");
    let named = [
        "bound",
        "copy",
        "--bytes",
        "1GiB",
        "--device",
        "a100-80-sxm",
    ];
    let refused = ridge(named.iter().chain(&["--ceilings", &file])).run();
    assert!(
        refused
            .code(2)
            .stderr
            .contains("holds ceilings of NVIDIA H200")
    );
}

#[test]
fn measured_roofs_go_before_the_sheet() {
    let (_folder, path) = stored();
    let point = [
        "--device",
        "h200",
        "--point",
        "gemm,137GFLOP,805MB,215us,bf16",
    ];
    let run = |more: &[&'static str]| {
        ridge(["roofline"].iter().chain(&point).chain(more))
            .env("RIDGE_CEILINGS", &path)
            .env("COLUMNS", "100")
            .run()
            .fine()
    };
    snapshot("roofline_measured", &run(&[]).stdout);
    let with = run(&["--format", "json"]).json();
    let found = violations(&named("roofline"), &with);
    assert!(found.is_empty(), "{}", found.join("\n"));
    let chart = &with["charts"][0];
    assert_eq!(chart["memory_roofs"][0]["basis"], "measured");
    assert_eq!(chart["device"]["measured_by"]["date"], "2026-11-30");
    let without = run(&["--ceilings", "none", "--format", "json"]).json();
    assert_eq!(
        without["charts"][0]["memory_roofs"][0]["basis"],
        "datasheet"
    );
}

#[test]
fn a_benchmark_has_attainable_times() {
    let (_folder, path) = stored();
    let file = format!("{path}/GPU-1.json");
    let words = "bench examples/copy.toml --device sim:h200 --format json";
    let run = |more: &[&str]| {
        ridge(words.split(' ').chain(more.iter().copied()))
            .env("RIDGE_CEILINGS", &path)
            .run()
            .json()
    };
    let with = run(&["--ceilings", &file]);
    assert_eq!(with["ceilings"]["date"], "2026-11-30");
    let placement = &with["states"][0]["modes"][0]["placement"];
    let attainable = placement["attainable_ns"].as_f64().unwrap();
    assert!(attainable > placement["bound_ns"].as_f64().unwrap());
    // A model has no file of its own.
    assert_eq!(run(&[]).get("ceilings"), None);
}

const GEMM: &str = "fixtures/gallery/bf16_linear.ncu-rep.zst";
const VADD: &str = crate::driver::VADD;

/// Measured rates stand beside the diagnosis, and change none of it.
#[test]
fn a_diagnosis_has_attainable_times() {
    let (_folder, path) = stored();
    let run = |more: &[&str]| {
        ridge(["why", GEMM].iter().chain(more))
            .env("RIDGE_CEILINGS", &path)
            .env("COLUMNS", "100")
            .run()
    };
    let mut with = run(&["--format", "json"]).code(0).json();
    let found = violations(&named("diagnosis"), &with);
    assert!(found.is_empty(), "{}", found.join("\n"));
    for kernel in with["kernels"].as_array_mut().unwrap() {
        let measured = kernel.as_object_mut().unwrap().remove("measured").unwrap();
        assert_eq!(measured["by"]["date"], "2026-11-30");
        let parts = measured["parts"].as_array().unwrap();
        let of = |what: &str| parts.iter().find(|part| part["what"] == what).unwrap();
        let dram = of("DRAM");
        let (amount, rate) = (
            dram["amount"].as_f64().unwrap(),
            dram["per_s"].as_f64().unwrap(),
        );
        assert!((dram["time_ns"].as_f64().unwrap() / (amount / rate * 1e9) - 1.0).abs() < 1e-12);
        assert_eq!(dram["origin"], "measured");
        assert!(!dram["source"].as_array().unwrap().is_empty());
        assert_eq!(measured["attainable_ns"], parts[0]["time_ns"]);
        assert!(measured["compulsory"].as_array().unwrap().is_empty());
        let share = measured["share"].as_f64().unwrap();
        assert!(share > 0.01 && share < 1.0, "{share}");
    }
    let without = run(&["--ceilings", "none", "--format", "json"])
        .code(0)
        .json();
    assert_eq!(with, without);
    let given = ["--launch", "1", "--bytes", "200MB", "--flops", "100G", "-v"];
    let page = run(&given).code(0).stdout;
    let lines: Vec<&str> = page
        .lines()
        .skip_while(|line| !line.contains("attainable in"))
        .take_while(|line| !line.trim().is_empty())
        .collect();
    snapshot("why_measured", &lines.join("\n"));
}

/// What is of another device, or was measured with another driver, follows the rules of the other commands.
#[test]
fn a_diagnosis_uses_only_what_is_of_its_device() {
    let (folder, path) = stored();
    let file = format!("{path}/GPU-1.json");
    let other = std::fs::read_to_string(&file).unwrap().replace(
        "\"known_as\": \"H200 SXM\"",
        "\"known_as\": \"A100 80 SXM4\"",
    );
    folder.write("other.json", other);
    let other = format!("{path}/other.json");
    ridge(["why", VADD, "--ceilings", &other])
        .run()
        .code(2)
        .says("--ceilings none does without them");
    ridge(["why", VADD, "--ceilings", "nowhere.json"])
        .run()
        .code(3)
        .says("cannot read the ceilings nowhere.json");
    let plain = ridge(["why", VADD]).run().fine().stdout;
    assert!(!plain.contains("attainable in"));
    let with = ridge(["why", VADD, "--ceilings", &file])
        .run()
        .fine()
        .stdout;
    assert!(
        with.contains("at rates measured on NVIDIA H200, 2026-11-30"),
        "{with}"
    );
}
