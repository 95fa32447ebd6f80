//! Arguments of `ridge check`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ridge_model::quantity::Nanos;

use crate::verbs::check::CheckOptions;

pub(super) const EXAMPLES: &str = "\
Examples:
  ridge check new.json --baseline old.json     is anything slower than it was
  ridge check bench/gemm.toml --update         measure it three times and record the baseline `default`
  ridge check                                  measure the specs of ridge.toml and hold them against it
  ridge check new.json report.ncu-rep          times from a result, findings from a report
  ridge check new.json#gemm --baseline old.json
                                               one kernel only
  ridge check --baseline branch:main -o check.json
                                               against the newest baseline of a branch
  ridge check check.json --format github       the same answer in another form, without measuring

ridge.toml is looked for from the working folder upwards:
  [check]
  spec = \"bench/gemm.toml\"         # what to measure where nothing is named
  baseline = \"default\"             # FILE, LABEL, COMMIT or branch:NAME
  [[budget]]
  kernel = \"gemm*\"                 # * is any text, ? any character
  time = \"1.2 ms\"                  # also: share_of_bound, registers, local_memory, occupancy, slowdown
  findings = [\"register-spill\"]    # must not come back

Exit code 0: all holds; 10: slower, or a budget is broken; 11: cannot tell; 12: not valid.";

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Results of `ridge bench` or `ridge why` (JSON), reports of Nsight Compute, or specs to measure; several results of one
    /// benchmark are runs of it. An earlier answer (JSON) alone is written in another form
    #[arg(value_name = "RESULT")]
    results: Vec<OsString>,
    /// What to compare with: a file, or a recorded baseline by LABEL, COMMIT or branch:NAME
    #[arg(long, value_name = "BASELINE")]
    baseline: Option<String>,
    /// The file with budgets [default: ridge.toml in the working folder or above]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Record the results as the new baseline in place of comparing with it; budgets are still checked
    #[arg(long)]
    update: bool,
    /// The GPU to measure on: a number, or sim:NAME for a simulated one [default: that of ridge.toml, else 0]
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// How long to go on measuring specs while a verdict is AMBIGUOUS; 0s for once [default: that of ridge.toml, else 60s]
    #[arg(long, value_name = "TIME", value_parser = time)]
    max_time: Option<Nanos>,
    /// Return 0 where nothing is broken and something cannot be told; what is not valid still fails
    #[arg(long)]
    allow_ambiguous: bool,
    /// The results are meant to be a part of the baseline: what else it has is listed, and fails nothing. RESULT#KERNEL
    /// chooses one kernel of both
    #[arg(long)]
    subset: bool,
    /// Format of the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<CheckFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// A page for people
    Text,
    /// One document, described by schemas/check.schema.json
    Json,
    /// A summary for a pull request
    Markdown,
    /// SARIF 2.1.0 for code scanning
    Sarif,
    /// JUnit's XML
    Junit,
    /// Annotations for GitHub's workflows
    Github,
}

/// A time that may be zero: then nothing is measured a second time.
fn time(text: &str) -> Result<Nanos, String> {
    if ["0", "0s", "0ms", "0us", "0ns"].contains(&text.trim()) {
        return Ok(Nanos::new(0.0));
    }
    text.parse::<Nanos>().map_err(|error| error.to_string())
}

impl CheckArguments {
    pub(crate) fn options(self) -> CheckOptions {
        CheckOptions {
            results: self.results,
            baseline: self.baseline,
            config: self.config,
            is_update: self.update,
            device: self.device,
            max_time: self.max_time,
            allows_ambiguous: self.allow_ambiguous,
            is_subset: self.subset,
            format: self.format,
        }
    }
}
