//! Arguments of `ridge checklist`.

use std::ffi::OsString;

use clap::{Args, ValueEnum};

use crate::error::ExpectedError;
use crate::verbs::checklist::ChecklistOptions;

pub(super) const EXAMPLES: &str = "\
Examples:
  ridge checklist report.ncu-rep               what the counters of the kernels tell
  ridge checklist report.ncu-rep app.ridgetrace bench.json
                                               kernels, program and times together
  ridge checklist report.ncu-rep#softmax       one kernel
  ridge checklist report.ncu-rep -o review.md  for a review

`ridge explain LINE` tells how a question is answered, such as `ridge explain coalesced`.

Exit code 0: no answer is no; 10: one is; 3: an input could not be read.";

#[derive(Debug, Args)]
pub(crate) struct ChecklistArguments {
    /// Nsight Compute reports, CSV exports of ncu, saved answers of `ridge why`, the collection.json of a kept folder, traces,
    /// and results of `ridge bench`, told apart by what is in them; FILE#NAME is one kernel of a file
    #[arg(required = true, value_name = "FILE")]
    files: Vec<OsString>,
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
            format: self.format,
        })
    }
}
