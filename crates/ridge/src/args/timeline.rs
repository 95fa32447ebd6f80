//! Arguments of `ridge timeline`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ridge_trace::range::Wanted;

use crate::error::ExpectedError;
use crate::verbs::ceilings::stored::Choice;
use crate::verbs::timeline::TimelineOptions;

pub(super) const EXAMPLES: &str = "\
Examples:
  ridge timeline trace.json.gz                what bounds the program: kernels, copies, gaps, flaws
  ridge timeline trace.json.gz -v             every kernel, gap, call and figure
  ridge timeline report.sqlite -o page.html   a page to zoom, pan and search in
  ridge timeline rank*.json                   ranks of one run: which one stands out, and in what
  ridge timeline trace.json --range 'ProfilerStep#12'
                                              only a step; a range of NVTX by name, forward#3 for the
                                              third of its name, or a span such as 12ms..40ms
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
    /// Only this part of each trace: a range by its name (NAME#3 for the third of that name), or a span of time from the
    /// first record such as 12ms..40ms
    #[arg(long, value_name = "PART", value_parser = str::parse::<Wanted>)]
    range: Option<Wanted>,
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
    /// The same in short as Markdown
    Markdown,
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
            range: self.range,
            table: self.devices,
            ceilings: self.ceilings,
            format: self.format,
        })
    }
}
