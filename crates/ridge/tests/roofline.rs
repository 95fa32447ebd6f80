//! The roofline against what is known of kernels: operations of products are 2·n³, bytes are those of the DRAM counters,
//! and every kernel is below the roof of its own precision.
//!
//! The corpus is looked for in `RIDGE_CORPUS`, then in `../shared/corpus`; without it its tests are reported as ignored.

mod cases;
#[path = "cases/files.rs"]
mod files;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use cases::{corpus, root, without_corpus};
use files::files;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

/// A kernel, its operations, the precision of its main point, and the lowest and the highest part of the flat roof.
type Known = (&'static str, f64, &'static str, (f64, f64));

const N: f64 = 2048.0;

/// Operations of the gallery are those of `labels.jsonl`, which counts them by hand: 2·m·n·k for products.
const GALLERY: &[(&str, &[Known])] = &[
    (
        "fma_peak",
        &[("fma_peak_slow", 17_716_740_096.0, "fp32-vector", (0.9, 1.0))],
    ),
    (
        "tensor_peak",
        &[(
            "tensor_peak_slow",
            425_201_762_304.0,
            "bf16-tensor-fp32",
            (0.9, 1.0),
        )],
    ),
    (
        "oscillator",
        &[
            (
                "oscillator_slow",
                3_221_225_472.0,
                "fp64-vector",
                (0.1, 0.2),
            ),
            (
                "oscillator_fixed",
                3_221_225_472.0,
                "fp32-vector",
                (0.6, 0.8),
            ),
        ],
    ),
    (
        "bf16_linear",
        &[
            (
                "bf16_linear_slow",
                2.0 * N * N * N,
                "fp32-vector",
                (0.5, 0.7),
            ),
            (
                "bf16_linear_fixed",
                2.0 * N * N * N,
                "bf16-tensor-warp-fp32",
                (0.2, 0.4),
            ),
        ],
    ),
    (
        "tile_gemm",
        &[
            ("tile_gemm_slow", 2.0 * N * N * N, "fp32-vector", (0.1, 0.2)),
            (
                "tile_gemm_fixed",
                2.0 * N * N * N,
                "fp32-vector",
                (0.5, 0.7),
            ),
        ],
    ),
];

/// The pairs of the corpus; its labels tell the operations.
const PAIRS: &[(&str, &[Known])] = &[
    (
        "gemm",
        &[
            ("gemm_slow", 2.0 * N * N * N, "fp32-vector", (0.05, 0.2)),
            ("gemm_fixed", 2.0 * N * N * N, "fp32-vector", (0.5, 0.7)),
        ],
    ),
    (
        "tensor",
        &[
            ("tensor_slow", 2.0 * N * N * N, "fp32-vector", (0.2, 0.4)),
            (
                "tensor_fixed",
                2.0 * N * N * N,
                "fp16-tensor-warp-fp32",
                (0.1, 0.2),
            ),
        ],
    ),
    (
        "fp64",
        &[
            ("fp64_slow", 4_294_967_296.0, "fp64-vector", (0.05, 0.2)),
            ("fp64_fixed", 4_294_967_296.0, "fp32-vector", (0.6, 0.8)),
        ],
    ),
];

/// Reports, packed or not.
const REPORTS: &[&str] = &[".ncu-rep"];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let gallery = root().join("fixtures/gallery");
    let mut trials: Vec<Trial> = GALLERY
        .iter()
        .map(|(case, known)| known_answers(&format!("gallery::{case}"), &gallery, case, known))
        .collect();
    for folder in [
        "fixtures/gallery",
        "fixtures/reports",
        "fixtures/reports/small",
    ] {
        trials.extend(
            files(&root().join(folder), REPORTS)
                .into_iter()
                .map(below_roofs),
        );
    }
    assert!(trials.len() > 40, "the fixtures were not found");
    match corpus() {
        Some(corpus) => {
            let pairs = corpus.join("pairs");
            trials.extend(PAIRS.iter().map(|(case, known)| {
                known_answers(&format!("pairs::{case}"), &pairs, case, known)
            }));
            for folder in ["pairs", "reports"] {
                trials.extend(
                    files(&corpus.join(folder), REPORTS)
                        .into_iter()
                        .map(below_roofs),
                );
            }
        }
        None => trials.push(without_corpus("corpus")),
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn ridge(arguments: &[&str]) -> Result<String, Failed> {
    let output = Command::new(env!("CARGO_BIN_EXE_ridge"))
        .args(arguments)
        .env_clear()
        .output()?;
    // A damaged fixture is read in part.
    if !matches!(output.status.code(), Some(0 | 3)) {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn kernels(report: &Path) -> Result<Vec<Value>, Failed> {
    let report = report.to_string_lossy();
    let text = ridge(&["roofline", &report, "--format", "json"])?;
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let document: Value = serde_json::from_str(&text)?;
    let charts = document["charts"].as_array().ok_or("no charts")?;
    Ok(charts
        .iter()
        .flat_map(|chart| chart["kernels"].as_array().into_iter().flatten())
        .cloned()
        .collect())
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn near(found: f64, expected: f64) -> bool {
    (found / expected - 1.0).abs() < 1e-9
}

fn known_answers(name: &str, folder: &Path, case: &str, known: &'static [Known]) -> Trial {
    let report = folder.join(format!("{case}.ncu-rep.zst"));
    Trial::test(name, move || {
        let kernels = kernels(&report)?;
        for (name, operations, precision, (low, high)) in known {
            let kernel = kernels
                .iter()
                .find(|kernel| kernel["name"] == *name)
                .ok_or(format!("{name} is missing"))?;
            let point = &kernel["points"][0];
            // Counters of operations a cycle times cycles; a fast kernel does a few hundred operations beside.
            let counted = number(&point["operations"]);
            if (counted / operations - 1.0).abs() > 1e-3 || point["precision_id"] != *precision {
                return Err(format!("{name}: {counted} of {}", point["precision_id"]).into());
            }
            let seconds = number(&kernel["time_ns"]) * 1e-9;
            let share = number(&point["roof"]["share"]);
            if !near(number(&point["ops_per_s"]), counted / seconds)
                || point["roof"]["basis"] != "run"
                || !(*low..=*high).contains(&share)
            {
                return Err(format!("{name}: {share} of the roof of {}", point["roof"]).into());
            }
            let bytes = dram_bytes(&report, kernel)?;
            let dram = &point["placements"][0];
            if dram["level"] != "dram"
                || !near(number(&kernel["traffic"][0]["bytes"]), bytes)
                || !near(number(&dram["intensity"]), counted / bytes)
            {
                return Err(format!("{name}: {bytes} bytes and {dram}").into());
            }
        }
        Ok(())
    })
}

/// What the counters of the device memory hold, as another verb reads them.
fn dram_bytes(report: &Path, kernel: &Value) -> Result<f64, Failed> {
    let launch = kernel["launch"].to_string();
    let report = report.to_string_lossy();
    let rows = ridge(&[
        "export",
        &report,
        "--launch",
        &launch,
        "--metric",
        "^dram__bytes_(read|write)\\.sum$",
    ])?;
    let values: Vec<f64> = rows
        .lines()
        .skip(1)
        .filter_map(|row| row.rsplit(',').next()?.parse().ok())
        .collect();
    match values.as_slice() {
        [read, written] => Ok(read + written),
        other => Err(format!("{other:?} for two counters").into()),
    }
}

/// What was counted on a machine cannot be above the machine's roofs, and what it is made of has to agree.
fn below_roofs(report: PathBuf) -> Trial {
    let name = report.file_name().unwrap_or_default().to_string_lossy();
    Trial::test(format!("below its roofs::{name}"), move || {
        for kernel in kernels(&report)? {
            let points = kernel["points"].as_array().ok_or("no points")?;
            if points.is_empty() == kernel["left_out"].is_null() {
                return Err(format!("{} is in the chart and beside it", kernel["name"]).into());
            }
            for point in points {
                let has_flags = point["flags"]
                    .as_array()
                    .is_some_and(|list| !list.is_empty());
                if has_flags || number(&point["roof"]["share"]) > 1.02 {
                    return Err(format!("{} is above a roof: {point}", kernel["name"]).into());
                }
            }
            let mains = points.iter().filter(|point| point["is_main"] == true);
            if mains.count() != usize::from(!points.is_empty()) {
                return Err(format!("{} has no main point, or several", kernel["name"]).into());
            }
        }
        named_in_the_picture(&report)
    })
}

/// The points with most time have a name in the picture.
fn named_in_the_picture(report: &Path) -> Result<(), Failed> {
    const IMPORTANT: usize = 8;
    let report = report.to_string_lossy();
    for width in ["480", "960"] {
        let picture = ridge(&["roofline", &report, "--format", "svg", "--width", width])?;
        if picture.matches("Roofline of ").count() > 1 {
            continue;
        }
        let texts = picture.split("<text class=\"lab\"").skip(1);
        let texts = texts.filter_map(|part| part.split_once("</text>")?.0.split_once('>'));
        let labels: Vec<&str> = texts.map(|(_, text)| text).collect();
        let dots = picture.split("<path class=\"dot ").skip(1);
        // Those of the legend tell no rate.
        let titles = dots.filter_map(|dot| {
            let title = dot.split_once("<title>")?.1.split_once("</title>")?.0;
            Some(title.split_once(": ")?.0)
        });
        for title in titles.take(IMPORTANT) {
            let start: String = title.chars().take(6).collect();
            if !labels.iter().any(|label| label.starts_with(&start)) {
                return Err(format!("{title} has no label at {width}: {labels:?}").into());
            }
        }
    }
    Ok(())
}
