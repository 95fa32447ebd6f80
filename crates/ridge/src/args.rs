//! The command line. Types of the argument parser end here: each verb gets a plain struct of options.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::error::ExpectedError;
use crate::filter::{Launches, NameFilter};
use crate::verbs::export::ExportOptions;
use crate::verbs::why::WhyOptions;

/// How fast a CUDA kernel is, how fast it could be, and what stands in between.
#[derive(Debug, Parser)]
#[command(
    name = "ridge",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Say what limits each kernel of a report, what is wrong with it and what a fix can save at most
    Why(WhyArguments),
    /// Write all metrics as CSV or JSON lines, or a report that is safe to share
    Export(ExportArguments),
}

/// Options that mean the same everywhere.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Write the answer to this file; its extension selects the format when --format is absent
    #[arg(long, short, global = true, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub(crate) color: Colour,
    /// Print no warnings
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Print more: every finding, counter and line; twice: what is being read
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Read files into memory instead of mapping them; for files that others write to
    #[arg(long, global = true)]
    pub(crate) no_mmap: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

/// What part of the inputs to look at.
#[derive(Debug, Args)]
struct Selection {
    /// Reports (.ncu-rep, .ncu-repz) or CSV exports of ncu, also inside zstd or gzip; `-` is standard input,
    /// FILE#NAME[@LAUNCH] one kernel of a file
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Only kernels whose name matches this regular expression
    #[arg(long, short, value_name = "REGEX")]
    kernel: Option<String>,
    /// Only this launch, counted from 0 in each file
    #[arg(long, value_name = "N")]
    launch: Option<usize>,
}

impl Selection {
    fn names(&self) -> Result<NameFilter, ExpectedError> {
        NameFilter::new(self.kernel.as_deref())
    }
}

#[derive(Debug, Args)]
pub(crate) struct WhyArguments {
    #[command(flatten)]
    selection: Selection,
    /// Explain this many kernels, those with the largest share of time first
    #[arg(long, value_name = "N", default_value_t = 3)]
    top: usize,
    /// Also show findings that promise less than 2 % of a kernel's time
    #[arg(long)]
    all: bool,
    /// Format of the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<WhyFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhyFormat {
    /// For people
    Text,
    /// One document, described by schemas/diagnosis.schema.json
    Json,
}

impl WhyArguments {
    pub(crate) fn options(self) -> Result<WhyOptions, ExpectedError> {
        Ok(WhyOptions {
            names: self.selection.names()?,
            launches: Launches::new(self.selection.launch),
            files: self.selection.files,
            top: self.top,
            all: self.all,
            format: self.format,
        })
    }
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    #[command(flatten)]
    selection: Selection,
    /// Only metrics whose name matches this regular expression
    #[arg(long, short, value_name = "REGEX")]
    metric: Option<String>,
    /// Also write the instances of metrics: values by instruction, opcode or time
    #[arg(long)]
    instances: bool,
    /// Write a report without host names, addresses, paths, environment, command line, source text and code
    #[arg(long, conflicts_with_all = ["metric", "instances", "format", "kernel", "launch"])]
    redact: bool,
    /// With --redact: also replace kernel names
    #[arg(long, requires = "redact")]
    rename_kernels: bool,
    /// Format of the metrics [default: csv]
    #[arg(long, value_enum)]
    format: Option<ExportFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One row a metric
    Csv,
    /// One JSON object a line
    Json,
}

impl ExportArguments {
    pub(crate) fn options(self) -> Result<ExportOptions, ExpectedError> {
        Ok(ExportOptions {
            names: self.selection.names()?,
            launches: Launches::new(self.selection.launch),
            metrics: NameFilter::new(self.metric.as_deref())?,
            files: self.selection.files,
            instances: self.instances,
            redact: self.redact,
            rename_kernels: self.rename_kernels,
            format: self.format,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        <Arguments as clap::CommandFactory>::command().debug_assert();
    }
}
