//! `ridge numerics`: whether outputs are right, whether they repeat, and what may make them differ.

pub(crate) mod flags;
pub(crate) mod operation;
pub(crate) mod repeat;
pub(crate) mod sum;
mod values;

use crate::args::OperationFormat;
use crate::error::ExpectedError;
use crate::exit::Code;
use crate::output::Output;

/// What to do.
pub(crate) enum NumericsOptions {
    /// Hold an output against its inputs.
    Operation(operation::OperationOptions),
    /// Sum in several orders.
    Sum(sum::SumOptions),
    /// Run a program again and again.
    Repeat(repeat::RepeatOptions),
    /// Look at flags and code.
    Flags(flags::FlagsOptions),
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn run(options: &NumericsOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    match options {
        NumericsOptions::Operation(options) => operation::run(options, output),
        NumericsOptions::Sum(options) => sum::run(options, output),
        NumericsOptions::Repeat(options) => repeat::run(options, output),
        NumericsOptions::Flags(options) => flags::run(options, output),
    }
}

/// The format that is asked for, or that the output file's extension names.
fn format(
    asked: Option<OperationFormat>,
    output: &Output,
) -> Result<OperationFormat, ExpectedError> {
    match (asked, output.extension().as_deref()) {
        (Some(format), _) => Ok(format),
        (None, None | Some("txt" | "text" | "log")) => Ok(OperationFormat::Text),
        (None, Some("md" | "markdown")) => Ok(OperationFormat::Markdown),
        (None, Some("json")) => Ok(OperationFormat::Json),
        (None, Some(other)) => Err(ExpectedError::usage(format!(
            "the extension {other:?} of the output file names no format of this answer"
        ))
        .with_hint("say --format text, markdown or json")),
    }
}
