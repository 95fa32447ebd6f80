//! Bytes and operations of library kernels against what their shapes demand.
//!
//! `programs/pytorch_step.py` and `programs/triton_kernels.py` of the corpus give the shapes; grids and names of the
//! kernels give the tiles. What the SMs read and write follows from both. `docs/diagnosis-accuracy.md` shows the table.
//!
//! The corpus is looked for in `RIDGE_CORPUS`, then in `../shared/corpus`; without it the tests are reported as ignored.

mod cases;

use std::path::Path;
use std::process::{Command, ExitCode};

use cases::{corpus, without_corpus};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

/// Counters and shapes have to agree this closely.
const WITHIN: f64 = 0.05;

/// A launch and what its shapes demand.
#[derive(Clone, Copy)]
struct Expected {
    what: &'static str,
    launch: usize,
    /// Bytes that the SMs read.
    read: f64,
    /// Bytes that the SMs write.
    written: f64,
    /// Floating-point operations, for kernels made of multiply-adds.
    operations: Option<f64>,
}

/// Order of the square matrices.
const N: f64 = 4096.0;
const MATRIX: f64 = N * N;
const PRODUCT: Option<f64> = Some(2.0 * N * N * N);

/// Elements that a matrix product reads: each tile of the result needs a band of both operands.
const fn bands(rows: f64, columns: f64) -> f64 {
    (N / rows) * (N / columns) * (rows + columns) * N
}

/// Attention: 4 × 16 heads with 2048 queries and keys of 64 values in bfloat16.
const ATTENTION: f64 = 64.0 * 2048.0 * 64.0 * 2.0;
/// Tiles of 128 queries and 128 keys on and below the diagonal, in all heads.
const ATTENTION_TILES: f64 = 64.0 * 136.0;
/// Convolution: pixels of 32 images, and values under a filter of 3 × 3 over 64 channels.
const PIXELS: f64 = 32.0 * 112.0 * 112.0;
const FILTER: f64 = 64.0 * 9.0;
/// Elements of the gather.
const GATHERED: f64 = 4_194_304.0;
/// A sector.
const SECTOR: f64 = 32.0;

const TRITON: &[Expected] = &[
    Expected {
        what: "softmax",
        launch: 0,
        read: 4.0 * 8192.0 * 3000.0,
        written: 4.0 * 8192.0 * 3000.0,
        operations: None,
    },
    Expected {
        what: "product, tiles of 128",
        launch: 1,
        read: 2.0 * bands(128.0, 128.0),
        written: 2.0 * MATRIX,
        operations: PRODUCT,
    },
    Expected {
        what: "product, tiles of 32",
        launch: 2,
        read: 2.0 * bands(32.0, 32.0),
        written: 2.0 * MATRIX,
        operations: PRODUCT,
    },
];

const PYTORCH: &[Expected] = &[
    Expected {
        what: "BF16 product",
        launch: 0,
        read: 2.0 * bands(256.0, 128.0),
        written: 2.0 * MATRIX,
        operations: PRODUCT,
    },
    Expected {
        what: "softmax",
        launch: 3,
        read: 2.0 * MATRIX,
        written: 2.0 * MATRIX,
        operations: None,
    },
    // Queries once; keys and values of each tile. Both products of a tile.
    Expected {
        what: "attention",
        launch: 4,
        read: ATTENTION + ATTENTION_TILES * 2.0 * 128.0 * 64.0 * 2.0,
        written: ATTENTION,
        operations: Some(ATTENTION_TILES * 2.0 * 2.0 * 128.0 * 128.0 * 64.0),
    },
    // Tiles of 128 pixels and all 128 filters: each reads as much of the filters as of the image.
    Expected {
        what: "convolution",
        launch: 8,
        read: 2.0 * PIXELS * FILTER * 2.0,
        written: PIXELS * 128.0 * 2.0,
        operations: Some(2.0 * PIXELS * FILTER * 128.0),
    },
    Expected {
        what: "layout change",
        launch: 9,
        read: PIXELS * 128.0 * 2.0,
        written: PIXELS * 128.0 * 2.0,
        operations: None,
    },
    // Read along columns: a sector for each element of 4 bytes.
    Expected {
        what: "transposition",
        launch: 11,
        read: MATRIX * SECTOR,
        written: 4.0 * MATRIX,
        operations: None,
    },
    Expected {
        what: "FP32 product",
        launch: 12,
        read: 4.0 * bands(256.0, 128.0),
        written: 4.0 * MATRIX,
        operations: PRODUCT,
    },
    Expected {
        what: "cumulative sum",
        launch: 16,
        read: 4.0 * MATRIX,
        written: 4.0 * MATRIX,
        operations: None,
    },
    Expected {
        what: "BF16 to FP32",
        launch: 17,
        read: 2.0 * MATRIX,
        written: 4.0 * MATRIX,
        operations: None,
    },
    // Indices of 8 bytes, and a sector for each element.
    Expected {
        what: "gather",
        launch: 20,
        read: GATHERED * (8.0 + SECTOR),
        written: 4.0 * GATHERED,
        operations: None,
    },
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for (report, table) in [("triton", TRITON), ("pytorch_step", PYTORCH)] {
        let Some(file) =
            corpus().map(|corpus| corpus.join(format!("reports/{report}.ncu-rep.zst")))
        else {
            trials.push(without_corpus(report));
            continue;
        };
        for &expected in table {
            let file = file.clone();
            trials.push(Trial::test(
                format!("{report}::{}", expected.what),
                move || check(&file, &expected),
            ));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn ridge(arguments: &[&str], file: &Path, launch: usize) -> Result<String, Failed> {
    let output = Command::new(env!("CARGO_BIN_EXE_ridge"))
        .args(arguments)
        .args(["--format", "json", "--launch", &launch.to_string()])
        .arg(file)
        .env_clear()
        .output()?;
    if output.status.success() {
        Ok(String::from_utf8(output.stdout)?)
    } else {
        Err(format!(
            "{}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )
        .into())
    }
}

fn check(file: &Path, expected: &Expected) -> Result<(), Failed> {
    let document: Value = serde_json::from_str(&ridge(&["why"], file, expected.launch)?)?;
    let traffic = &document["kernels"][0]["traffic"];
    agrees(
        "bytes read by the SMs",
        traffic["read_bytes"].as_f64(),
        expected.read,
    )?;
    agrees(
        "bytes written by the SMs",
        traffic["written_bytes"].as_f64(),
        expected.written,
    )?;
    match expected.operations {
        Some(operations) => agrees(
            "operations",
            counted_operations(file, expected.launch)?,
            operations,
        ),
        None => Ok(()),
    }
}

fn agrees(what: &str, counted: Option<f64>, expected: f64) -> Result<(), Failed> {
    let counted = counted.ok_or_else(|| format!("{what}: not counted"))?;
    if (counted / expected - 1.0).abs() <= WITHIN {
        Ok(())
    } else {
        Err(format!("{what}: counted {counted:e}, expected {expected:e}").into())
    }
}

/// Operations of the matrix pipes, and two for each fused multiply-add of the FP32 pipe.
///
/// The multiply-adds are stored as a rate only: a mean for each elapsed cycle.
fn counted_operations(file: &Path, launch: usize) -> Result<Option<f64>, Failed> {
    const FFMA: &str = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed";
    let lines = ridge(&["export"], file, launch)?;
    let (mut tensor, mut rate, mut cycles) = (0.0_f64, None, None);
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line)?;
        let name = line["metric"].as_str().unwrap_or_default();
        let value = line["value"].as_f64();
        match name {
            FFMA => rate = value,
            "smsp__cycles_elapsed.avg" => cycles = value,
            // Totals of a source type; counts of one instruction family repeat a part of them.
            _ if name.starts_with("sm__ops_path_tensor_src_")
                && name.ends_with(".sum")
                && !name.contains("sparsity") =>
            {
                tensor = tensor.max(value.unwrap_or(0.0));
            }
            _ => {}
        }
    }
    let fused = rate.zip(cycles).map(|(rate, cycles)| 2.0 * rate * cycles);
    Ok(if tensor > 0.0 { Some(tensor) } else { fused })
}
