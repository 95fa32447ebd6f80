//! The command line. Types of the argument parser end here: each verb gets a plain struct of options.

mod bench;
mod bound;
mod ceilings;
mod check;
mod checklist;
mod devices;
mod diff;
mod doctor;
mod gallery;
mod history;
mod learn;
mod lint;
mod numerics;
mod occupancy;
mod roofline;
mod sanitize;
mod timeline;
mod trace;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use bench::{BenchArguments, BenchFormat};
pub(crate) use bound::{BoundArguments, BoundFormat};
pub(crate) use ceilings::{CeilingsArguments, CeilingsFormat};
pub(crate) use check::{CheckArguments, CheckFormat};
pub(crate) use checklist::{ChecklistArguments, ChecklistFormat};
pub(crate) use devices::{DevicesArguments, DevicesFormat};
pub(crate) use diff::{DiffArguments, DiffFormat, Renamed};
pub(crate) use doctor::{DoctorArguments, DoctorFormat};
pub(crate) use gallery::{GalleryArguments, GalleryFormat};
pub(crate) use history::{ExportedAs, HistoryArguments, HistoryFormat, PlotFormat};
pub(crate) use learn::{LearnArguments, LearnFormat};
pub(crate) use lint::{LintArguments, LintFormat};
pub(crate) use numerics::{NumericsArguments, NumericsFormat, OperationFormat};
pub(crate) use occupancy::{OccupancyArguments, OccupancyFormat};
use ridge_collect::ncu::Replay;
use ridge_diagnose::Given;
use ridge_model::quantity::{Bytes, Flops};
pub(crate) use roofline::{RooflineArguments, RooflineFormat};
pub(crate) use sanitize::{SanitizeArguments, SanitizeFormat};
pub(crate) use timeline::{TimelineArguments, TimelineFormat};
pub(crate) use trace::{TraceArguments, TraceFormat};

use crate::error::ExpectedError;
use crate::filter::{Launches, NameFilter, Selection};
use crate::verbs::bench::BenchOptions;
use crate::verbs::ceilings::stored::Choice;
use crate::verbs::collect::CollectOptions;
use crate::verbs::explain::ExplainOptions;
use crate::verbs::export::ExportOptions;
use crate::verbs::why::WhyOptions;

/// How fast a CUDA kernel is, how fast it could be, and what stands in between.
#[derive(Debug, Parser)]
#[command(
    name = "ridge",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = "Start with `ridge why REPORT.ncu-rep`; `ridge help COMMAND` tells what a command can do.",
    after_long_help = exit_codes()
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Tell what limits each kernel of a report, what is wrong with it, and what a fix can save
    #[command(after_help = WHY_EXAMPLES)]
    Why(WhyArguments),
    /// Measure kernels, check their outputs, and tell how far they are from their lower bounds
    #[command(after_help = bench::EXAMPLES)]
    Bench(Box<BenchArguments>),
    /// Tell how fast work could be on a device, from bytes, operations, launches and dependencies
    #[command(after_help = bound::EXAMPLES)]
    Bound(Box<BoundArguments>),
    /// Measure what this GPU reaches: memory, caches, arithmetic, matrix units, launches and the link to the host
    #[command(after_help = ceilings::EXAMPLES)]
    Ceilings(CeilingsArguments),
    /// Tell what a change did: which kernels are faster, what limits them now, and which flaws are gone
    #[command(after_help = diff::EXAMPLES)]
    Diff(DiffArguments),
    /// Hold results against a baseline and budgets: a gate for CI, with an exit code for each outcome
    #[command(after_help = check::EXAMPLES)]
    Check(CheckArguments),
    /// Ask whether a port is worth a GPU and done well: yes, no or unknown to each question, with figures and what to do next
    #[command(after_help = checklist::EXAMPLES)]
    Checklist(ChecklistArguments),
    /// List the GPUs that Ridgepoint knows, with peaks, sources and doubts
    #[command(after_help = devices::EXAMPLES)]
    Devices(DevicesArguments),
    /// Write the metrics of a report as CSV or JSON lines, a report that is safe to share, or a trace for Perfetto
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(ExportArguments),
    /// Tell how many warps of a kernel fit on an SM, what limits them, and which launch would have more
    #[command(after_help = occupancy::EXAMPLES)]
    Occupancy(OccupancyArguments),
    /// Tell whether an output is right within what its formats allow, whether it repeats, and what may make it differ
    #[command(after_help = numerics::EXAMPLES)]
    Numerics(Box<NumericsArguments>),
    /// Draw kernels under the roofs of their device: how much they compute in a second and for each byte
    #[command(after_help = roofline::EXAMPLES)]
    Roofline(Box<RooflineArguments>),
    /// Find mistakes that are visible in CUDA source and build flags: timing, access patterns, errors nobody checks
    #[command(after_help = lint::EXAMPLES)]
    Lint(LintArguments),
    /// Run compute-sanitizer's four tools over a program, or read what they said, and sum up the faults
    #[command(after_help = sanitize::EXAMPLES)]
    Sanitize(SanitizeArguments),
    /// Tell what works on this machine, what does not, and what mends it
    #[command(after_help = doctor::EXAMPLES)]
    Doctor(DoctorArguments),
    /// Tell what bounds a program: kernels, copies, or a host that is late, from a trace of it
    #[command(after_help = timeline::EXAMPLES)]
    Timeline(TimelineArguments),
    /// Run a program and record what it does on the GPU: kernels, copies, calls, waits and ranges
    #[command(after_help = trace::EXAMPLES)]
    Trace(TraceArguments),
    /// List, show, compare and exchange the results of earlier runs
    #[command(after_help = history::EXAMPLES)]
    History(Box<HistoryArguments>),
    /// Learn to tell what limits a kernel: short lessons, each with questions about your device and about real reports
    #[command(after_help = learn::EXAMPLES)]
    Learn(LearnArguments),
    /// Look at kernels that are slow for one reason, with the fix, what it saved, and what the diagnosis says
    #[command(after_help = gallery::EXAMPLES)]
    Gallery(Box<GalleryArguments>),
    /// Explain a finding, a rule of lint, a line of the checklist, a metric, a stall reason or a term
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArguments),
}

const WHY_EXAMPLES: &str = "\
Examples:
  ridge why report.ncu-rep                    the three kernels that take most time
  ridge why report.ncu-rep --kernel gemm -v   everything about kernels with gemm in their name
  ridge why a.ncu-rep b.ncu-rep -o why.json   two reports as one JSON document
  ridge why report.ncu-rep#softmax@4          the kernel softmax at launch 4
  ridge why report.ncu-rep#triad --bytes 384MiB --flops 67M
                                              how far triad is from the least that it needs
  ridge why -- ./app --size 4096              run a program under the profiler, in tiers
  ridge why --keep run --kernel gemm -- python3 train.py
                                              and keep the reports of kernels with gemm in their name
  mpirun -n 8 ridge why --keep 'run/%q{OMPI_COMM_WORLD_RANK}' -- ./app
                                              each rank in a folder of its own
  ridge why run/*/collection.json             ranks beside each other

The whole answer needs a report that was made with `ncu --set full --import-source yes`.
A program is run under the `ncu` that RIDGE_NCU names, or that `ridge doctor` finds.";

const EXPORT_EXAMPLES: &str = "\
Examples:
  ridge export report.ncu-rep                    every metric of every launch as CSV
  ridge export report.ncu-rep --metric '^dram'   metrics whose name starts with dram
  ridge export report.ncu-rep --instances -o m.jsonl
                                                 with values by address and opcode
  ridge export app.ridgetrace --format chrome -o app.json
                                                 a recording for Perfetto";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  ridge explain                            the list of what can be explained
  ridge explain uncoalesced-global         a finding
  ridge explain dram__bytes_read.sum       a metric, by the profiler's name
  ridge explain long_scoreboard            a reason for which warps wait
  ridge explain wavefront                  a term";

/// Options of `ridge bench` for a spec, as its command line gives them.
pub(crate) fn bench_options(
    spec: &Path,
    device: &str,
    format: Option<&str>,
) -> Result<BenchOptions, ExpectedError> {
    let mut words: Vec<OsString> = ["ridge", "bench", "--device", device]
        .map(OsString::from)
        .into();
    words.extend(format.map(|format| OsString::from(format!("--format={format}"))));
    words.extend([OsString::from("--"), spec.as_os_str().to_owned()]);
    match Arguments::try_parse_from(words).map(|arguments| arguments.verb) {
        Ok(Verb::Bench(arguments)) => arguments.options(),
        _ => Err(ExpectedError::internal(
            "`ridge bench` does not take its own options",
        )),
    }
}

/// The exit codes for the long help.
fn exit_codes() -> String {
    let mut text = "Exit codes:".to_owned();
    for code in crate::exit::ALL {
        text.push_str("\n  ");
        text.push_str(&code.number.to_string());
        text.push_str("  ");
        text.push_str(code.meaning);
    }
    text.push_str("\n\nStart with `ridge why REPORT.ncu-rep`; `ridge help COMMAND` tells what a command can do.");
    text
}

/// Options that mean the same everywhere.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Common {
    /// Write the answer to this file instead of standard output; without --format, its extension selects the format
    #[arg(long, short, global = true, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Whether to colour the answer
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub(crate) color: Colour,
    /// Print no warnings on standard error; errors are still printed
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Show more: every kernel, resource, stall reason, counter, place and action
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Read files into memory instead of mapping them, for files that something still writes to
    #[arg(long, global = true)]
    pub(crate) no_mmap: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Also in a file or pipe
    Always,
    /// Not even on a terminal
    Never,
}

/// A count or a place, with a message that says what is meant.
fn whole_number(text: &str) -> Result<usize, &'static str> {
    text.parse()
        .map_err(|_| "expected a whole number such as 0 or 12")
}

/// What part of the inputs to look at.
#[derive(Debug, Args)]
struct Inputs {
    /// Nsight Compute reports (.ncu-rep, .ncu-repz) or CSV exports of ncu, plain or packed with zstd or gzip; `-` is
    /// standard input (which, like pipes, may hold up to 1 GiB), FILE#NAME or FILE#NAME@LAUNCH is one kernel of a file
    #[arg(required = true, value_name = "FILE")]
    files: Vec<OsString>,
    #[command(flatten)]
    wanted: Wanted,
}

/// Which kernels and launches are meant.
#[derive(Debug, Args)]
struct Wanted {
    /// Only kernels whose name contains a match of this regular expression
    #[arg(long, short, value_name = "REGEX")]
    kernel: Option<String>,
    /// Only the launch with this number; launches are counted from 0 in each file
    #[arg(long, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    launch: Option<usize>,
}

/// The files as they were named.
fn checked(files: Vec<OsString>) -> Result<Vec<OsString>, ExpectedError> {
    let of_stdin = |file: &&OsString| {
        file.to_str()
            .is_some_and(|file| file == "-" || file.starts_with("-#"))
    };
    if files.iter().filter(of_stdin).count() > 1 {
        return Err(ExpectedError::usage(
            "standard input is named more than once, but can be read only once",
        )
        .with_hint("name `-` once and select kernels with --kernel REGEX"));
    }
    Ok(files)
}

impl Wanted {
    fn selection(&self) -> Result<Selection, ExpectedError> {
        Ok(Selection {
            names: NameFilter::new(self.kernel.as_deref())?,
            launches: Launches::new(self.launch),
        })
    }
}

#[derive(Debug, Args)]
pub(crate) struct WhyArguments {
    /// Nsight Compute reports (.ncu-rep, .ncu-repz), CSV exports of ncu or the collection.json of a kept folder, plain or
    /// packed with zstd or gzip; `-` is standard input (which, like pipes, may hold up to 1 GiB), FILE#NAME or
    /// FILE#NAME@LAUNCH is one kernel of a file. Reports of one program that hold only metrics asked for by name complete
    /// each other
    #[arg(
        required_unless_present = "target",
        conflicts_with = "target",
        value_name = "FILE"
    )]
    files: Vec<OsString>,
    #[command(flatten)]
    wanted: Wanted,
    /// Explain this many kernels in text, those that take most time first; JSON holds all of them. With a program: profile
    /// at most this many [default: 3; with a program, those with nine tenths of the time are profiled]
    #[arg(long, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    top: Option<usize>,
    /// Also show findings that save less than 2 % of a kernel's time
    #[arg(long)]
    all: bool,
    /// The bytes that the computation of one launch of the chosen kernel has to move to or from device memory, each input
    /// read once and each output written once: 192MiB, 1.5GB
    #[arg(long, value_name = "AMOUNT", value_parser = str::parse::<Bytes>, allow_hyphen_values = true)]
    bytes: Option<Bytes>,
    /// The operations of that computation, where a multiply-add is two: 2.1G, 137GFLOP
    #[arg(long, value_name = "AMOUNT", value_parser = str::parse::<Flops>, allow_hyphen_values = true)]
    flops: Option<Flops>,
    /// What was measured on such a GPU: a file of `ridge ceilings`, auto for what it has stored for this device, or none;
    /// it stands beside the diagnosis and changes none of it
    #[arg(long, value_name = "FILE", default_value = "auto", value_parser = str::parse::<Choice>)]
    ceilings: Choice,
    #[command(flatten)]
    record: history::RecordArgument,
    /// Format of the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<WhyFormat>,
    /// Print the commands that would be run, with their passes, and run nothing
    #[arg(long, requires = "target", help_heading = "With a program")]
    dry_run: bool,
    /// Keep the recording and the reports, and what tells how they belong together, in this new folder; %q{NAME} in it stands for the
    /// variable NAME, such as a rank
    #[arg(
        long,
        value_name = "DIR",
        requires = "target",
        help_heading = "With a program"
    )]
    keep: Option<PathBuf>,
    /// Whether launches before cudaProfilerStart are looked at
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = FromStart::On, requires = "target", help_heading = "With a program")]
    profile_from_start: FromStart,
    /// What is run again for the next pass: one launch with its memory put back, or the whole program
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = ReplayArgument::Kernel, requires = "target", help_heading = "With a program")]
    replay: ReplayArgument,
    /// The program to record and then to run under the profiler, with its arguments
    #[arg(last = true, value_name = "PROGRAM", help_heading = "With a program")]
    target: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FromStart {
    /// All launches
    On,
    /// Only those between cudaProfilerStart and cudaProfilerStop
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReplayArgument {
    /// Each launch
    Kernel,
    /// The program, which has to launch the same each time
    Application,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhyFormat {
    /// A page for people
    Text,
    /// One document, described by schemas/diagnosis.schema.json
    Json,
}

/// So many kernels are explained in text.
const TOP: usize = 3;

impl WhyArguments {
    pub(crate) fn options(self) -> Result<WhyOptions, ExpectedError> {
        // No program is named so: `-- -#softmax` is a kernel of standard input.
        let is_file = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
        let (files, target) = if self.target.first().is_some_and(is_file) {
            (self.target, Vec::new())
        } else {
            (self.files, self.target)
        };
        let collect = (!target.is_empty()).then(|| CollectOptions {
            target,
            keep: self.keep,
            is_dry: self.dry_run,
            from_start: self.profile_from_start == FromStart::On,
            replay: match self.replay {
                ReplayArgument::Kernel => Replay::Kernel,
                ReplayArgument::Application => Replay::Application,
            },
            most: self.top,
        });
        Ok(WhyOptions {
            selection: self.wanted.selection()?,
            files: checked(files)?,
            top: self.top.unwrap_or(TOP),
            collect,
            all: self.all,
            given: Given {
                bytes: self.bytes,
                flops: self.flops,
            },
            ceilings: self.ceilings,
            recording: self.record.recording()?,
            format: self.format,
        })
    }
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    #[command(flatten)]
    inputs: Inputs,
    /// Only metrics whose name contains a match of this regular expression
    #[arg(long, short, value_name = "REGEX")]
    metric: Option<String>,
    /// Also write the instances of metrics: values by instruction address, opcode or time
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
    /// A header, then one row for each value
    Csv,
    /// One JSON object on each line
    Json,
    /// A trace, such as a recording of `ridge trace`, as Chrome's trace events, which https://ui.perfetto.dev shows
    Chrome,
}

impl ExportArguments {
    pub(crate) fn options(self) -> Result<ExportOptions, ExpectedError> {
        Ok(ExportOptions {
            selection: self.inputs.wanted.selection()?,
            metrics: NameFilter::new(self.metric.as_deref())?,
            files: checked(self.inputs.files)?,
            instances: self.instances,
            redact: self.redact,
            rename_kernels: self.rename_kernels,
            format: self.format,
        })
    }
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The identifier of a finding, the name of a metric or a stall reason, or a term; without it, all are listed
    #[arg(value_name = "NAME")]
    name: Vec<String>,
    /// Format of the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<ExplainFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainFormat {
    /// A page for people
    Text,
    /// The same as Markdown
    Markdown,
}

impl ExplainArguments {
    pub(crate) fn options(self) -> ExplainOptions {
        ExplainOptions {
            // `ridge explain issue slot` needs no quotes.
            name: Some(self.name.join(" ")).filter(|name| !name.is_empty()),
            format: self.format,
        }
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
