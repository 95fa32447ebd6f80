//! The ledger against the profiler's own percentages: rows are computed from demand and capacity, and where the report
//! also stores the percentage of the same unit, the two agree within two points.

use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Failed, Trial};
use ncu_rep::Report;
use ridge_diagnose::{Ledger, Stage};
use ridge_model::{Architecture, ComputeCapability};

/// How far a row may be from the stored percentage.
const TOLERANCE: f64 = 0.02;

/// Stages whose unit has a percentage of its own.
const PAIRS: &[(Stage, &str)] = &[
    (Stage::DramBytes, "dram__cycles_active"),
    (Stage::L2Requests, "lts__t_tag_requests"),
    (Stage::L2Sectors, "lts__t_sectors"),
    (Stage::L2Return, "lts__lts2xbar_cycles_active"),
    (Stage::L1Writeback, "l1tex__lsu_writeback_active_mem_lgds"),
    (Stage::L1Data, "l1tex__data_pipe_lsu_wavefronts"),
    (
        Stage::SharedWavefronts,
        "l1tex__data_pipe_lsu_wavefronts_mem_shared",
    ),
    (Stage::L1Store, "l1tex__m_l1tex2xbar_write_bytes"),
    (Stage::L2Write, "lts__t_sectors_srcunit_tex_op_write"),
    (Stage::L1Fill, "l1tex__m_xbar2l1tex_read_sectors"),
    (Stage::LsuInstructions, "sm__inst_executed_pipe_lsu"),
    (Stage::Issue, "sm__issue_active"),
    (Stage::Fma, "sm__pipe_fma_cycles_active"),
    (Stage::Alu, "sm__pipe_alu_cycles_active"),
    (Stage::Fp64, "sm__pipe_fp64_cycles_active"),
    (Stage::Xu, "sm__inst_executed_pipe_xu"),
    (Stage::Uniform, "sm__inst_executed_pipe_uniform"),
    (Stage::Tensor, "sm__pipe_tensor_cycles_active"),
    (Stage::AtomicsL2, "lts__d_atomic_input_cycles_active"),
];

/// Stages whose row counts a part of what the profiler's percentage counts: it is never above it.
const PARTS: &[(Stage, &str)] = &[
    // The row holds what only the heavy half executes. What either half could take is in the percentage as well, as far as
    // it went there.
    (Stage::FmaHeavy, "sm__pipe_fmaheavy_cycles_active"),
    // A request whose lanes have different addresses is busy again for each; those passes show in the row of the GPC.
    (Stage::ConstantRequests, "idc__request_cycles_active"),
];

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found: Vec<PathBuf> = ["fixtures/reports", "fixtures/gallery"]
        .iter()
        .flat_map(|folder| reports(&root.join(folder)))
        .collect();
    let corpus = std::env::var_os("RIDGE_CORPUS")
        .map_or_else(|| root.join("../shared/corpus"), PathBuf::from);
    let corpus_reports: Vec<PathBuf> = ["pairs", "reports"]
        .iter()
        .flat_map(|folder| reports(&corpus.join(folder)))
        .collect();
    let is_missing = corpus_reports.is_empty();
    found.extend(corpus_reports);
    let mut trials: Vec<Trial> = found
        .into_iter()
        .map(|path| {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            Trial::test(format!("ledger_agrees::{name}"), move || check(&path))
        })
        .collect();
    if is_missing {
        trials.push(
            Trial::test(
                "ledger_agrees::corpus (not found: set RIDGE_CORPUS)",
                || Ok(()),
            )
            .with_ignored_flag(true),
        );
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn reports(folder: &Path) -> Vec<PathBuf> {
    let mut list: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(".ncu-rep.zst"))
        .collect();
    list.sort();
    list
}

fn check(path: &Path) -> Result<(), Failed> {
    let file = std::fs::read(path)?;
    let unpacked = ncu_rep::unpack(&file, u64::MAX);
    let report = Report::parse(&unpacked.bytes)?;
    let architecture = Architecture::of(ComputeCapability { major: 9, minor: 0 });
    let mut wrong = Vec::new();
    for (index, profile) in report.profiles().enumerate() {
        let metrics = profile.metrics().value;
        let ledger = Ledger::new(&metrics, architecture.as_ref());
        for (stage, metric) in PAIRS.iter().chain(PARTS) {
            let is_part = PARTS.iter().any(|(part, _)| part == stage);
            let stored = ["avg", "sum"].iter().find_map(|roll_up| {
                metrics.number(&format!("{metric}.{roll_up}.pct_of_peak_sustained_elapsed"))
            });
            let (Some(row), Some(stored)) = (ledger.row(*stage), stored) else {
                continue;
            };
            let stored = stored / 100.0;
            // The matrix pipe has one percentage for both kinds of work.
            let other = (*stage == Stage::Tensor)
                .then(|| ledger.row(Stage::HalfOnTensor))
                .flatten();
            let computed = row.busy_share + other.map_or(0.0, |row| row.busy_share);
            let is_wrong =
                computed - stored > TOLERANCE || (!is_part && stored - computed > TOLERANCE);
            if is_wrong {
                wrong.push(format!(
                    "launch {index} ({:.1} us), {stage:?}: {:.3} computed, {stored:.3} stored",
                    metrics.number("gpu__time_duration.sum").unwrap_or(0.0) / 1e3,
                    computed
                ));
            }
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n").into())
    }
}
