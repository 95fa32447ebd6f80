//! `ridge numerics --repeat N -- CMD`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use ridge_model::quantity::Nanos;
use ridge_numerics::format::Format;

use super::{NumericsFormat, OperationFormat};
use crate::error::ExpectedError;
use crate::verbs::numerics::Task;
use crate::verbs::numerics::repeat::{PLACEHOLDER, RepeatOptions, Written};

#[derive(Debug, Args)]
#[command(next_help_heading = "Determinism")]
pub(super) struct RepeatArguments {
    /// Run a program this many times and compare its outputs, bit by bit
    #[arg(long, value_name = "COUNT", requires = "command", value_parser = clap::value_parser!(u16).range(2..=1000))]
    repeat: Option<u16>,
    /// The file that the program writes, where no argument of it is {output}
    #[arg(long, value_name = "FILE", requires = "repeat")]
    output_of: Option<PathBuf>,
    /// Time after which a run is ended [default: none]
    #[arg(long, value_name = "TIME", value_parser = str::parse::<Nanos>, requires = "repeat")]
    timeout: Option<Nanos>,
    /// The program and its arguments, behind `--`; {output} stands for a file that it is to write
    #[arg(value_name = "COMMAND", last = true, requires = "repeat")]
    command: Vec<OsString>,
}

impl RepeatArguments {
    /// Whether runs are asked for.
    pub(super) const fn is_asked(&self) -> bool {
        self.repeat.is_some()
    }

    /// `dtype` is the format of elements, where outputs do not say it.
    pub(super) fn options(
        self,
        dtype: Option<Format>,
        format: Option<NumericsFormat>,
    ) -> Result<Task, ExpectedError> {
        let Some(count) = self.repeat else {
            return Err(
                ExpectedError::usage("nothing says how often to run the program")
                    .with_hint("--repeat 10"),
            );
        };
        let format = match format {
            None => None,
            Some(NumericsFormat::Text) => Some(OperationFormat::Text),
            Some(NumericsFormat::Markdown) => Some(OperationFormat::Markdown),
            Some(NumericsFormat::Json) => Some(OperationFormat::Json),
            Some(NumericsFormat::Svg | NumericsFormat::Html) => {
                return Err(ExpectedError::usage("runs of a program have no picture")
                    .with_hint("say --format text, markdown or json"));
            }
        };
        let has_placeholder = self
            .command
            .iter()
            .any(|word| word.to_string_lossy().contains(PLACEHOLDER));
        let written = match (self.output_of, has_placeholder) {
            (None, true) => Written::Placeholder,
            (Some(file), false) => Written::File(file),
            (Some(_), true) => {
                return Err(ExpectedError::usage(
                    "both {output} and --output-of say what the program writes",
                )
                .with_hint("keep one of them"));
            }
            (None, false) => {
                return Err(ExpectedError::usage("nothing says what the program writes").with_hint(
                    "put {output} in place of its output file, as in `-- ./app --out {output}`, or name the file with --output-of FILE",
                ));
            }
        };
        let limit = self
            .timeout
            .map(|time| {
                Duration::try_from_secs_f64(time.seconds())
                    .ok()
                    .filter(|limit| !limit.is_zero())
                    .ok_or_else(|| {
                        ExpectedError::usage("--timeout has to be above zero")
                            .with_hint("--timeout 600s")
                    })
            })
            .transpose()?;
        Ok(Task::Repeat(RepeatOptions {
            count: usize::from(count),
            command: self.command,
            written,
            limit,
            dtype,
            format,
        }))
    }
}
