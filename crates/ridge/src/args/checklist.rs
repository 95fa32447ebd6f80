//! Arguments of `ridge checklist`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::error::ExpectedError;
use crate::verbs::ceilings::stored::Choice;
use crate::verbs::checklist::ChecklistOptions;

pub(super) const EXAMPLES: &str = "\
Examples:
  ridge checklist report.ncu-rep               what the counters of the kernels tell
  ridge checklist report.ncu-rep app.ridgetrace bench.json
                                               kernels, program and times together
  ridge checklist report.ncu-rep#softmax       one kernel
  ridge checklist report.ncu-rep numerics.json --flags \"-O3 --use_fast_math\"
                                               and whether results are right
  ridge checklist build/compile_commands.json  how the program is built
  ridge checklist report.ncu-rep -o review.md  for a review

`ridge explain LINE` tells how a question is answered, such as `ridge explain coalesced`.

Exit code 0: no answer is no; 10: one is; 3: an input could not be read.";

#[derive(Debug, Args)]
pub(crate) struct ChecklistArguments {
    /// Nsight Compute reports, CSV exports of ncu, saved answers of `ridge why`, the collection.json of a kept folder, traces,
    /// results of `ridge bench` and `ridge numerics`, and a compile_commands.json, told apart by what is in them; FILE#NAME
    /// is one kernel of a file
    #[arg(required_unless_present_any = ["flags", "claims"], value_name = "FILE")]
    files: Vec<OsString>,
    /// The flags that the program is compiled with: "-O3 -lineinfo --use_fast_math"
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    flags: Option<String>,
    /// A TOML file of what no input can show: the time, threads, cores and flags of the CPU's version; `ridge explain
    /// cpu-comparison` shows one
    #[arg(long, value_name = "FILE")]
    claims: Option<PathBuf>,
    /// What was measured on such a GPU: a file of `ridge ceilings`, auto for what it has stored for this device, or none; the
    /// break-even sizes are computed from it, else from the data sheet
    #[arg(long, value_name = "FILE", default_value = "auto", value_parser = str::parse::<Choice>)]
    ceilings: Choice,
    /// Format of the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<ChecklistFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChecklistFormat {
    /// A page for people
    Text,
    /// One document, described by schemas/checklist.schema.json
    Json,
    /// Tables for a review
    Markdown,
}

impl ChecklistArguments {
    pub(crate) fn options(self) -> Result<ChecklistOptions, ExpectedError> {
        Ok(ChecklistOptions {
            files: super::checked(self.files)?,
            flags: self.flags,
            claims: self.claims,
            ceilings: self.ceilings,
            format: self.format,
        })
    }
}
