//! `ridge numerics --repeat N -- CMD`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use ridge_model::quantity::Nanos;
use ridge_numerics::format::Format;

use super::OperationFormat;
use crate::error::ExpectedError;
use crate::verbs::numerics::NumericsOptions;
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
    /// The format of elements, where the file does not say it: of outputs without a head too
    #[arg(id = "repeat_dtype", long = "dtype", value_name = "FORMAT", requires = "repeat")]
    dtype: Option<Format>,
    /// The program and its arguments, behind `--`; {output} stands for a file that it is to write
    #[arg(value_name = "COMMAND", last = true, requires = "repeat")]
    command: Vec<OsString>,
    /// Format of the answer [default: text]
    #[arg(id = "repeat_format", long = "format", value_name = "FORMAT", value_enum)]
    format: Option<OperationFormat>,
}

impl RepeatArguments {
    pub(super) fn options(self) -> Result<NumericsOptions, ExpectedError> {
        let Some(count) = self.repeat else {
            return Err(ExpectedError::usage("there is nothing to look at").with_hint(
                "name an operation such as `gemm A B C`, or --repeat 10 -- PROGRAM; `ridge numerics --help` has examples",
            ));
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
        Ok(NumericsOptions::Repeat(RepeatOptions {
            count: usize::from(count),
            command: self.command,
            written,
            limit,
            dtype: self.dtype,
            format: self.format,
        }))
    }
}
