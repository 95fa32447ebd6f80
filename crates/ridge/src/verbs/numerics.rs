//! `ridge numerics`: whether an output is right within what its formats and its computation allow, whether it repeats, and what may
//! make it differ.

pub(crate) mod flags;
pub(crate) mod operation;
pub(crate) mod repeat;
pub(crate) mod sum;
mod tensor;
mod values;

use std::ffi::OsString;
use std::thread;

use ridge_numerics::document::{Document, compare};
use ridge_numerics::format::{Endian, Format};
use ridge_numerics::tolerance::{Computation, ToleranceError, function};
use ridge_numerics::verdict::Outcome;

use crate::args::{NumericsFormat, OperationFormat};
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::output::Output;
use crate::verbs::devices::layout;
use tensor::Source;

/// What to do.
pub(crate) enum Task {
    /// Hold an output against a reference.
    Comparison(NumericsOptions),
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

/// What is compared with what, and how.
pub(crate) struct NumericsOptions {
    pub(crate) reference: OsString,
    pub(crate) output: OsString,
    /// The type of elements that have none in their file.
    pub(crate) elements: Option<Format>,
    /// What files without a head hold.
    pub(crate) raw: Option<Raw>,
    pub(crate) computation: Computation,
    pub(crate) function: Option<String>,
    pub(crate) format: Option<NumericsFormat>,
}

/// What a file without a head holds.
#[derive(Clone, Debug)]
pub(crate) struct Raw {
    pub(crate) format: Format,
    pub(crate) shape: Vec<u64>,
    pub(crate) endian: Endian,
}

pub(crate) fn run(task: &Task, output: &mut Output) -> Result<Code, ExpectedError> {
    match task {
        Task::Comparison(options) => compared(options, output),
        Task::Operation(options) => operation::run(options, output),
        Task::Sum(options) => sum::run(options, output),
        Task::Repeat(options) => repeat::run(options, output),
        Task::Flags(options) => flags::run(options, output),
    }
}

fn compared(options: &NumericsOptions, output: &Output) -> Result<Code, ExpectedError> {
    let format = format(options.format, output)?;
    if options.reference == "-" && options.output == "-" {
        return Err(ExpectedError::usage(
            "standard input is named more than once, but can be read only once",
        )
        .with_hint("write one of both to a file"));
    }
    let expected = Source::open(&options.reference, output)?;
    let found = Source::open(&options.output, output)?;
    let expected = expected.tensor(options.elements, options.raw.as_ref())?;
    let found = found.tensor(options.elements, options.raw.as_ref())?;
    let (reference, result) = (expected.view()?, found.view()?);
    let mut computation = options.computation;
    if let Some(name) = &options.function {
        computation.function = function(name, result.format());
        if computation.function.is_none() {
            return Err(ExpectedError::usage(format!(
                "no bound is known for {name:?} in the precision of {}",
                result.format()
            ))
            .with_hint("leave out the f of a function of single precision, or give --ulp"));
        }
    }
    let threads = thread::available_parallelism().map_or(1, |count| count.get());
    let document = compare(
        [&expected.name, &found.name],
        &reference,
        &result,
        None,
        &computation,
        threads,
    )
    .map_err(|error| usage(&error))?;
    write(&document, format, output)
}

/// Writes the answer, and tells the code that goes with it.
fn write(
    document: &Document,
    format: NumericsFormat,
    output: &Output,
) -> Result<Code, ExpectedError> {
    let page = layout(output);
    match format {
        NumericsFormat::Json => output.json(document)?,
        NumericsFormat::Text => output.write(&ridge_render::numerics::text(document, &page))?,
        NumericsFormat::Markdown => output.write(&ridge_render::numerics::markdown(document))?,
        NumericsFormat::Html => output.write(&ridge_render::numerics::html(document))?,
        NumericsFormat::Svg => match ridge_render::numerics::svg(document) {
            Some(picture) => output.write(&picture)?,
            None => {
                return Err(ExpectedError::usage(format!(
                    "there is no map of errors, since no element was compared: {}",
                    document.verdict.sentence
                ))
                .with_hint("--format text tells what is known"));
            }
        },
    }
    Ok(match document.verdict.outcome {
        Outcome::Right => exit::FINE,
        Outcome::Wrong => exit::DIFFERS,
        Outcome::CannotTell => exit::UNDECIDED,
    })
}

fn usage(error: &ToleranceError) -> ExpectedError {
    let hint = match error {
        ToleranceError::NoReduction(_) => "say how long the reduction is, with --k",
        ToleranceError::NoRoundoff(_) => "name a type with a mantissa, such as f32, or an integer",
        _ => "choose another preset, or give limits with --rtol, --atol or --ulp",
    };
    ExpectedError::usage(error.to_string()).with_hint(hint)
}

fn format(asked: Option<NumericsFormat>, output: &Output) -> Result<NumericsFormat, ExpectedError> {
    Ok(match (asked, output.extension().as_deref()) {
        (Some(format), _) => format,
        (None, None | Some("txt" | "text" | "log")) => NumericsFormat::Text,
        (None, Some("md" | "markdown")) => NumericsFormat::Markdown,
        (None, Some("json")) => NumericsFormat::Json,
        (None, Some("svg")) => NumericsFormat::Svg,
        (None, Some("html" | "htm")) => NumericsFormat::Html,
        (None, Some(other)) => {
            return Err(ExpectedError::usage(format!(
                "the extension {other:?} of the output file names no format of `ridge numerics`"
            ))
            .with_hint("say --format text, markdown, json, svg or html"));
        }
    })
}

/// The format of an answer without a map of errors.
fn plain_format(
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
