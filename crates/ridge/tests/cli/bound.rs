//! `ridge bound`: known answers, pages, the JSON contract, and what is refused.

use std::fmt::Write;

use serde_json::Value;

use crate::driver::{Folder, Run, ridge, root, snapshot};
use crate::schema::{named, violations};

fn bound(line: &str) -> Run {
    ridge(std::iter::once("bound").chain(line.split_whitespace())).run()
}

fn page(line: &str) -> String {
    let words = std::iter::once("bound").chain(line.split_whitespace());
    ridge(words).env("COLUMNS", "80").run().fine().stdout
}

#[track_caller]
fn document(line: &str) -> Value {
    let document = bound(&format!("{line} --format json")).fine().json();
    let found = violations(&named("bound"), &document);
    assert!(found.is_empty(), "{line}\n{}", found.join("\n"));
    assert_eq!(document["schema"], "ridgepoint.bound");
    document
}

/// The time of a kind of bound, in microseconds.
fn us(document: &Value, kind: &str) -> f64 {
    let rows = document["bounds"].as_array().unwrap();
    let row = rows.iter().find(|row| row["kind"] == kind).unwrap();
    row["time_ns"].as_f64().unwrap() / 1e3
}

#[track_caller]
fn near(value: f64, expected: f64, tolerance: f64) {
    assert!(
        (value - expected).abs() <= tolerance,
        "{value} is not within {tolerance} of {expected}"
    );
}

#[test]
fn adding_arrays_is_bandwidth_bound() {
    let document = document("vector --elements 2^24 --dtype fp32 --device h100-sxm");
    assert_eq!(document["bytes"], f64::from(192 << 20));
    near(us(&document, "bandwidth"), 60.0, 0.5);
    let compute = us(&document, "compute");
    assert!((0.25..0.5).contains(&compute), "{compute}");
    assert_eq!(document["class"], "bandwidth-bound");
}

#[test]
fn a_product_of_1024_is_compute_bound() {
    let document = document("gemm --m 1024 --n 1024 --k 1024 --dtype fp32 --device h100-sxm");
    near(us(&document, "bandwidth"), 3.8, 0.1);
    near(us(&document, "compute"), 32.0, 0.3);
    assert_eq!(document["class"], "compute-bound");
    assert_eq!(document["binding"], "compute");
    assert_eq!(document["measured"], Value::Null);
}

#[test]
fn many_short_kernels_are_launch_bound() {
    let document = document("--launches 100 --launch-cost 5us --kernel-time 2us --device h100-sxm");
    near(document["lower_bound_ns"].as_f64().unwrap(), 0.5e6, 1.0);
    assert_eq!(document["class"], "launch-bound");
    assert_eq!(document["arithmetic_intensity"], Value::Null);
}

#[test]
fn a_measured_copy_is_compared() {
    let document = document("copy --bytes 1GiB --time 1.2ms --device h100-sxm");
    let measured = &document["measured"];
    near(measured["bytes_per_s"].as_f64().unwrap(), 1.79e12, 0.01e12);
    near(measured["bandwidth_share"].as_f64().unwrap(), 0.53, 0.01);
    assert_eq!(measured["reading"], "room");
}

#[test]
fn the_ridge_point_of_a100() {
    let document = document("--bytes 1GB --flops 1G --dtype fp32 --device a100-40-sxm4");
    near(document["ridge_point"].as_f64().unwrap(), 12.5, 0.05);
}

#[test]
fn units_of_the_same_amount_give_the_same_bound() {
    let time = |bytes: &str| {
        let line = format!("--bytes {bytes} --device h200");
        document(&line)["lower_bound_ns"].as_f64().unwrap()
    };
    near(time("192MiB"), time("201326592"), 1e-6);
    near(time("201.326592MB"), time("192MiB"), 1e-6);
    // Options may stand on either side of the template.
    let behind = document("copy --bytes 1GB --device h200");
    let before = document("--device h200 copy --bytes 1GB");
    assert_eq!(behind, before);
}

/// Every template at a small shape follows the schema and says how it counts.
#[test]
fn every_template_answers() {
    for line in [
        "vector --elements 1Mi --inputs 1 --ops 2 --dtype bf16",
        "copy --elements 1Mi --dtype fp4",
        "transpose --rows 1024 --cols 512",
        "reduce --elements 1e6 --dtype fp64",
        "gemm --m 64 --n 64 --k 64 --dtype fp8 --output-dtype bf16 --accumulate",
        "batched-gemm --batch 8 --m 64 --n 64 --k 64 --shared-b --dtype fp16 --accumulator fp16",
        "conv2d --channels 64 --height 56 --width 56 --filters 64 --kernel 3x3 --padding 1",
        "stencil --nx 256 --ny 256 --points 5 --dtype fp64 --sweeps 10",
        "softmax --rows 128 --cols 4096 --dtype fp16",
        "layernorm --rows 128 --cols 4096 --dtype bf16",
        "attention --heads 8 --kv-heads 2 --seq 1 --kv-seq 4096 --head-dim 128",
        "spmv --rows 1000 --nonzeros 5000",
    ] {
        let document = document(&format!("{line} --device h200"));
        let template = &document["template"];
        assert_eq!(template["name"], line.split(' ').next().unwrap());
        let traffic = template["traffic"].as_array().unwrap();
        let bytes: f64 = traffic
            .iter()
            .map(|part| part["bytes"].as_f64().unwrap())
            .sum();
        near(document["bytes"].as_f64().unwrap(), bytes, 1e-9 * bytes);
        let rows = document["bounds"].as_array().unwrap();
        let longest = rows
            .iter()
            .map(|row| row["time_ns"].as_f64().unwrap())
            .fold(0.0, f64::max);
        near(
            document["lower_bound_ns"].as_f64().unwrap(),
            longest,
            1e-9 * longest,
        );
        assert_eq!(
            rows.iter().filter(|row| row["is_binding"] == true).count(),
            1
        );
    }
}

#[test]
fn the_unit_and_the_clock_of_a_peak_can_be_chosen() {
    let gemm = "gemm --m 4096 --n 4096 --k 4096 --dtype bf16 --device h200";
    let time = |options: &str| us(&document(&format!("{gemm} {options}")), "compute");
    let usual = time("");
    near(time("--unit mma-sync") / usual, 1.5, 1e-9);
    near(time("--sparse") / usual, 0.5, 1e-9);
    near(time("--clock 915MHz") / usual, 2.0, 1e-9);
    near(time("--peak 98.94TFLOP/s") / usual, 10.0, 1e-3);
    // Plain numbers count as matrix products unless the unit says otherwise.
    let plain = |options: &str| {
        let document = document(&format!("--flops 1T --dtype bf16 --device h200 {options}"));
        document["bounds"][0]["resource"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(plain(""), "BF16 tensor, FP32 accumulate");
    assert_eq!(plain("--unit vector"), "FP32 vector");
    // FP64 has tensor units here, and FP32 has none.
    let resource = |dtype: &str| {
        let document = document(&format!(
            "gemm --m 64 --n 64 --k 64 --dtype {dtype} --device h200"
        ));
        document["bounds"][1]["resource"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(resource("fp64"), "FP64 tensor");
    assert_eq!(resource("fp32"), "FP32 vector");
    assert_eq!(resource("tf32"), "TF32 tensor, FP32 accumulate");
    assert_eq!(resource("e5m2"), "FP8 tensor, FP32 accumulate");
    assert_eq!(resource("int8"), "INT8 tensor, INT32 accumulate");
}

#[test]
fn pages() {
    for (name, line) in [
        (
            "bound_gemm",
            "gemm --m 8192 --n 8192 --k 8192 --dtype bf16 --device h200 -v",
        ),
        (
            "bound_gemm_time",
            "gemm --m 1024 --n 1024 --k 1024 --device h100-sxm --time 50us",
        ),
        (
            "bound_copy_time",
            "copy --bytes 1GiB --time 1.2ms --device h100-sxm",
        ),
        (
            "bound_too_fast",
            "copy --bytes 16MiB --time 1us --device h200",
        ),
        ("bound_far", "--bytes 1GB --time 20ms --device h200"),
        (
            "bound_all",
            "--bytes 1MB --flops 2GFLOP --dtype int8 --launches 10 --syncs 1 --chain 1000 --h2d 1MiB --nvlink 1MiB --device b200 --step 500ns",
        ),
        ("bound_chain", "--chain 1 --device h200"),
    ] {
        let page = page(line);
        snapshot(name, &page);
        assert!(
            page.lines().all(|line| line.chars().count() <= 80),
            "{page}"
        );
    }
}

#[test]
fn without_unicode_pages_are_ascii() {
    for line in [
        "conv2d --channels 64 --height 56 --width 56 --filters 64 -v --device b200",
        "attention --heads 8 --seq 64 --head-dim 64 --causal -v --device t4 --dtype fp16",
    ] {
        let words = std::iter::once("bound").chain(line.split_whitespace());
        let page = ridge(words).env("LC_ALL", "C").run().fine().stdout;
        assert!(page.is_ascii(), "{page}");
    }
}

#[test]
fn the_extension_selects_the_format() {
    let folder = Folder::new();
    let words = |file: &'static str| {
        [
            "bound", "copy", "--bytes", "1GB", "--device", "t4", "-o", file,
        ]
    };
    ridge(words("a.json")).within(&folder).run().fine();
    assert!(folder.read("a.json").starts_with("{\n"));
    ridge(words("a.csv"))
        .within(&folder)
        .run()
        .code(2)
        .says("--format json");
}

/// What is wrong, and what to do about it, in one place to read.
#[test]
fn mistakes() {
    let mut text = String::new();
    for line in [
        "",
        "--device h200",
        "--bytes 1GB",
        "--bytes 1GB --device h300",
        "--bytes 1GB --device h100",
        "--bytes 1GB --device xyzzyxyzzy",
        "foo --device h200",
        "gem --device h200",
        "gemm --device h200",
        "gemm --m 0 --n 1 --k 1 --device h200",
        "gemm --m -5 --n 1 --k 1 --device h200",
        "gemm --m NaN --n 1 --k 1 --device h200",
        "gemm --m 1.5 --n 1 --k 1 --device h200",
        "gemm --m 1e30 --n 1 --k 1 --device h200",
        "gemm --m 2^40 --n 2^40 --k 2^40 --device h200",
        "--bytes 0 --device h200",
        "--bytes -5MB --device h200",
        "--bytes inf --device h200",
        "--bytes 1e300GB --device h200",
        "--bytes 12GFLOP --device h200",
        "--flops 12GB --device h200",
        "--flops 12GFLOP/s --device h200",
        "--bytes 1GB --time 0us --device h200",
        "--bytes 1GB --time 5 --device h200",
        "--bytes 1GB --time 5MB --device h200",
        "--bytes 1GB --bandwidth 3TFLOP/s --device h200",
        "--launches 0 --device h200",
        "--launches 5 --launch-cost -1us --device h200",
        "--chain 5 --step 3furlongs --device h200",
        "--chain 5 --device t4",
        "--nvlink 1GB --device l4",
        "--flops 1T --dtype fp7 --device h200",
        "--flops 1T --dtype fp8 --device a30",
        "--flops 1T --dtype bf16 --clock 1GHz --device b300",
        "gemm --m 64 --n 64 --k 64 --dtype bf16 --unit vector --device h200",
        "gemm --m 64 --n 64 --k 64 --dtype bf16 --sparse --device v100-pcie",
        "--bytes 1GB gemm --m 64 --n 64 --k 64 --device h200",
        "reduce --elements 10 --results 20 --device h200",
        "conv2d --channels 3 --height 2 --width 2 --filters 4 --device h200",
        "conv2d --channels 3 --height 9 --width 9 --filters 4 --groups 2 --device h200",
        "attention --heads 8 --kv-heads 3 --seq 64 --head-dim 64 --device h200",
        "spmv --rows 10 --nonzeros 1000 --device h200",
        "softmax --rows 10 --cols 10 --unit tensor --device h200",
        "--bytes 1GB --sparse --device h200",
        "copy --device h200",
        "copy --bytes 1GB --elements 5 --device h200",
    ] {
        let run = bound(line).code(2).shows_nothing();
        writeln!(text, "$ ridge bound {line}\n{}", run.stderr).unwrap();
    }
    snapshot("bound_mistakes", &text);
}

/// Each example of the help is a command that works.
#[test]
fn the_examples_of_the_help_work() {
    let help = ridge(["bound", "--help"]).run().fine().stdout;
    let examples: Vec<&str> = help
        .lines()
        .filter_map(|line| line.strip_prefix("  ridge bound "))
        .collect();
    assert!(examples.len() >= 5, "{help}");
    assert!(
        examples
            .iter()
            .any(|line| line.contains("gemm") && line.contains("bf16") && line.contains("h200")),
        "{help}"
    );
    for line in examples {
        bound(line).fine();
    }
    assert!(root().join("schemas/bound.schema.json").exists());
}

/// A clock that cannot be is used, and told.
#[test]
fn doubtful_clocks_are_told() {
    for (clock, told) in [
        ("99GHz", Some("above the highest")),
        ("2MHz", Some("implausibly low")),
        ("1.7GHz", None),
    ] {
        let line = format!("gemm --m 64 --n 64 --k 64 --dtype bf16 --device h200 --clock {clock}");
        let page = bound(&line).fine();
        let document = bound(&format!("{line} --format json")).fine().json();
        let is_told = |text: &str| text.contains("SM clock of");
        let remarks = document["remarks"].as_array().unwrap();
        let mut remarks = remarks.iter().map(|remark| remark.as_str().unwrap());
        assert_eq!(remarks.any(is_told), told.is_some());
        assert_eq!(is_told(&page.stdout), told.is_some());
        if let Some(told) = told {
            page.shows(told);
        }
    }
}

/// A prefix belongs to the number, not to what is counted.
#[test]
fn counted_things_have_a_plural() {
    let line = |count: &str| format!("--launches {count} --syncs 1 --chain 2 --device l4");
    bound(&line("1000000"))
        .code(0)
        .shows("1.00 M launches")
        .shows("1 wait ")
        .shows("2 steps");
    bound(&line("1")).code(0).shows("1 launch ");
}
