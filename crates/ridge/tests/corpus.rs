//! Every report of the corpus through the command: an answer, no warning that is not true, a valid document.
//!
//! The corpus is looked for in `RIDGE_CORPUS`, then in `../shared/corpus`; without it the test is reported as ignored.

#[path = "cli/schema.rs"]
mod schema;

mod cases;
#[path = "cases/files.rs"]
mod files;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use cases::{corpus, root, without_corpus};
use files::files;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

/// What every report may say about itself. Anything else, above all a part that could not be read, is a fault.
const CAVEATS: &[&str] = &[
    "clock-not-held",
    "partial-set",
    "caches-not-flushed",
    "mixture",
    "no-samples",
    "csv-input",
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let inputs: Vec<PathBuf> = corpus()
        .iter()
        .flat_map(|corpus| {
            ["pairs", "reports", "text"]
                .map(|folder| files(&corpus.join(folder), &[".ncu-rep", ".csv"]))
                .concat()
        })
        .collect();
    let mut trials: Vec<Trial> = inputs
        .into_iter()
        .map(|path| {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            Trial::test(format!("corpus::{name}"), move || check(&path))
        })
        .collect();
    if trials.is_empty() {
        trials.push(without_corpus("corpus"));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn ridge(arguments: &[&str], file: &Path) -> Result<Output, Failed> {
    let output = Command::new(env!("CARGO_BIN_EXE_ridge"))
        .args(arguments)
        .arg(file)
        .env_clear()
        .output()?;
    if output.status.code() == Some(0) {
        Ok(output)
    } else {
        let message = String::from_utf8_lossy(&output.stderr);
        Err(format!("ridge {arguments:?}: {}\n{message}", output.status).into())
    }
}

fn check(file: &Path) -> Result<(), Failed> {
    let output = ridge(&["why", "--all", "--format", "json"], file)?;
    let document: Value = serde_json::from_slice(&output.stdout)?;
    let violations = schema::violations(&schema::diagnosis(), &document);
    let list = |name: &str| document[name].as_array().cloned().unwrap_or_default();
    let mut faults = violations;
    for warning in list("warnings") {
        let code = warning["code"].as_str().unwrap_or_default();
        let is_true = match code {
            "csv-input" => document["sources"][0]["kind"] == "ncu-csv",
            "clock-not-held" => document["sources"][0]["collection"]["clock_control"] == "none",
            "partial-set" => document["sources"][0]["collection"]["sections"]
                .as_array()
                .is_some_and(|sections| sections.len() < 15),
            "launches-differ" => list("kernels").iter().any(|kernel| {
                let duration = |name: &str| kernel[name].as_f64().unwrap_or(0.0);
                duration("duration_min_ns") < 0.75 * duration("duration_max_ns")
            }),
            other => CAVEATS.contains(&other),
        };
        if !is_true {
            faults.push(format!("a warning that does not fit: {warning}"));
        }
    }
    for totals in list("totals") {
        for part in ["main", "all"] {
            let of_part = |name: &str| totals[part][name].as_f64().unwrap_or(f64::NAN);
            let ceiling = of_part("saving_ceiling");
            let is_bound = ceiling <= of_part("time_share") + 1e-9
                && (0.0..=ceiling).contains(&of_part("saving_expected"));
            if !is_bound {
                faults.push(format!("totals outside their bounds: {totals}"));
            }
        }
    }
    if list("kernels").is_empty() {
        faults.push("no kernel".to_owned());
    }
    let page = ridge(&["why", "-v", "--all", "--top", "99"], file)?;
    if !page.stderr.is_empty() {
        faults.push(String::from_utf8_lossy(&page.stderr).into_owned());
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults.join("\n").into())
    }
}
