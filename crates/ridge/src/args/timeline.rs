//! Arguments of `ridge timeline`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::error::ExpectedError;
use crate::verbs::ceilings::stored::Choice;
use crate::verbs::timeline::TimelineOptions;

pub(super) const EXAMPLES: &str = "\
Examples:
  ridge timeline trace.json.gz                what bounds the program: kernels, copies, gaps, flaws
  ridge timeline trace.json.gz -v             every kernel, gap, call and figure
  ridge timeline report.sqlite -o page.html   a page to zoom, pan and search in
  ridge timeline rank0.json rank1.json        ranks of one run, beside each other
  ridge timeline trace.json -o kernels.csv    a row for each kernel
  ridge explain pageable-transfer             what a finding means

Traces: recordings of `ridge trace -- COMMAND`; what `torch.profiler` exports (export_chrome_trace),
other files of Chrome's trace events that hold GPU events of Kineto's kinds; and databases:
`nsys export --type sqlite report.nsys-rep`.";

#[derive(Debug, Args)]
pub(crate) struct TimelineArguments {
    /// Traces: recordings of `ridge trace`, JSON of the PyTorch profiler or databases of `nsys export --type sqlite`,
    /// plain or packed with zstd or gzip; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<OsString>,
    /// A table of devices as CSV that goes before the one that is built in
    #[arg(long, value_name = "FILE")]
    devices: Option<PathBuf>,
    /// What was measured on the machine, for the rate of the link: a file of `ridge ceilings`, auto for what it has stored
    /// for this device, or none
    #[arg(long, value_name = "FILE", default_value = "auto", value_parser = str::parse::<Choice>)]
    ceilings: Choice,
    /// Format of the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<TimelineFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimelineFormat {
    /// A page for people
    Text,
    /// One document, described by schemas/timeline.schema.json
    Json,
    /// A row for each kernel
    Csv,
    /// A picture
    Svg,
    /// A page in one file: zoom, pan, search
    Html,
}

impl TimelineArguments {
    pub(crate) fn options(self) -> Result<TimelineOptions, ExpectedError> {
        if self.files.iter().filter(|file| *file == "-").count() > 1 {
            return Err(ExpectedError::usage(
                "standard input is named more than once, but can be read only once",
            )
            .with_hint("name `-` once"));
        }
        Ok(TimelineOptions {
            files: self.files,
            table: self.devices,
            ceilings: self.ceilings,
            format: self.format,
        })
    }
}
