//! Arguments of `ridge sanitize`.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args, ValueEnum};
use ridge_collect::sanitize::{Options, Tool};
use ridge_model::quantity::{Bytes, Nanos};

use crate::error::ExpectedError;
use crate::verbs::sanitize::{SanitizeOptions, What};

pub(super) const EXAMPLES: &str = "\
Examples:
  ridge sanitize -- ./app --size 1024         run all four tools over a program, one after the other
  ridge sanitize --tool memcheck --padding 32 -- ./app
                                              one tool, with room between allocations
  ridge sanitize --timeout 600s -o faults.json -- ./app
                                              at most 10 minutes for each tool, as JSON
  ridge sanitize memcheck.txt races.xml.gz    outputs that were recorded elsewhere

The program runs once for each tool, 10 to 100 times slower than otherwise, and reads nothing from
standard input. Compile it with `nvcc -lineinfo` for source lines.
Exit code 14: faults. 0: every tool ran to its end and counted nothing. 11: neither can be said.
`ridge explain compute-sanitizer` tells what each tool finds, and what none does.";

#[derive(Debug, Args)]
pub(crate) struct SanitizeArguments {
    /// Recorded outputs of compute-sanitizer, text or XML, plain or packed with zstd or gzip; `-` is standard input
    #[arg(
        value_name = "FILE",
        required_unless_present = "command",
        conflicts_with = "command"
    )]
    files: Vec<OsString>,
    /// The program to run, and its arguments, behind `--`
    #[arg(value_name = "COMMAND", last = true)]
    command: Vec<OsString>,
    /// Only these tools: memcheck, racecheck, initcheck, synccheck
    #[arg(long, value_name = "TOOL", value_delimiter = ',', value_parser = str::parse::<Tool>, conflicts_with = "files")]
    tool: Vec<Tool>,
    /// Time after which a tool is ended; what it printed until then counts [default: none]
    #[arg(long, value_name = "TIME", value_parser = str::parse::<Nanos>, conflicts_with = "files")]
    timeout: Option<Nanos>,
    /// Bytes that memcheck puts behind each allocation, so that an overflow does not land in the next one
    #[arg(long, value_name = "AMOUNT", value_parser = str::parse::<Bytes>, conflicts_with = "files")]
    padding: Option<Bytes>,
    /// Format of the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<SanitizeFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SanitizeFormat {
    /// A page for people
    Text,
    /// The same as Markdown
    Markdown,
    /// One document, described by schemas/sanitize.schema.json
    Json,
    /// SARIF 2.1.0, which code hosts and editors show at the lines of the source
    Sarif,
}

impl SanitizeArguments {
    pub(crate) fn options(self) -> Result<SanitizeOptions, ExpectedError> {
        let what = if self.command.is_empty() {
            if self.files.iter().filter(|file| *file == "-").count() > 1 {
                return Err(ExpectedError::usage(
                    "standard input is named more than once, but can be read only once",
                )
                .with_hint("name `-` once"));
            }
            What::Recorded(self.files)
        } else {
            let tools = Tool::ALL
                .into_iter()
                .filter(|tool| self.tool.is_empty() || self.tool.contains(tool))
                .collect();
            What::Run {
                command: self.command,
                options: Options {
                    tools,
                    padding_bytes: self.padding.map(padding).transpose()?,
                },
                limit: self.timeout.map(limit).transpose()?,
            }
        };
        Ok(SanitizeOptions {
            what,
            format: self.format,
        })
    }
}

fn limit(time: Nanos) -> Result<Duration, ExpectedError> {
    Duration::try_from_secs_f64(time.seconds())
        .ok()
        .filter(|limit| !limit.is_zero())
        .ok_or_else(|| {
            ExpectedError::usage("--timeout has to be above zero").with_hint("--timeout 600s")
        })
}

fn padding(bytes: Bytes) -> Result<u64, ExpectedError> {
    /// More than any access is wide and any small overflow is long, for each allocation.
    const MOST: f64 = (1 << 30) as f64;
    let bytes = bytes.get();
    if (1.0..=MOST).contains(&bytes) && bytes.fract() == 0.0 {
        Ok(bytes as u64)
    } else {
        Err(
            ExpectedError::usage("--padding has to be a whole number of bytes from 1 to 1 GiB")
                .with_hint("--padding 32"),
        )
    }
}
