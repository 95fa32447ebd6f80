//! `ridge checklist`: is a port worth a GPU, and is it done well.

mod read;

use std::ffi::OsString;
use std::path::PathBuf;

use ridge_checklist::{Answer, checklist};

use crate::args::ChecklistFormat;
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::output::Output;
use crate::verbs::ceilings::stored::{Choice, Stored, driver_of_machine};
use crate::verbs::collect::input_sets;
use crate::verbs::devices::layout;
use read::Reader;

/// What to look at, and how to show the answers.
pub(crate) struct ChecklistOptions {
    pub(crate) files: Vec<OsString>,
    /// Flags of the compiler.
    pub(crate) flags: Option<String>,
    /// A file of what the user states.
    pub(crate) claims: Option<PathBuf>,
    pub(crate) ceilings: Choice,
    pub(crate) format: Option<ChecklistFormat>,
}

pub(crate) fn run(options: &ChecklistOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let format = format(options, output)?;
    let mut reader = Reader::default();
    let mut code = exit::FINE;
    for set in input_sets(&options.files, output) {
        if let Err(error) = reader.add(set, output) {
            // The other inputs are still worth an answer.
            output.complain(&error);
            code = code.and(error.exit);
        }
    }
    if let Some(path) = &options.claims
        && let Err(error) = reader.add_claims(path)
    {
        output.complain(&error);
        code = code.and(error.exit);
    }
    if let Some(flags) = &options.flags {
        reader.add_flags(flags);
    }
    if reader.is_empty() && code != exit::FINE {
        return Ok(code);
    }
    if !reader.is_whole {
        code = code.and(exit::UNREADABLE);
    }
    let stored = Stored::read(&options.ceilings, driver_of_machine(), output)?;
    reader.add_ceilings(&stored, output)?;
    let document = checklist(&reader.inputs);
    match format {
        ChecklistFormat::Text => {
            output.write(&ridge_render::checklist::text(&document, &layout(output)))?
        }
        ChecklistFormat::Markdown => {
            output.write(&ridge_render::checklist::markdown(&document))?;
        }
        ChecklistFormat::Json => output.json(&document)?,
    }
    if document.count(Answer::No) > 0 {
        code = code.and(exit::SLOWER);
    }
    Ok(code)
}

fn format(options: &ChecklistOptions, output: &Output) -> Result<ChecklistFormat, ExpectedError> {
    match (options.format, output.extension().as_deref()) {
        (Some(format), _) => Ok(format),
        (None, None | Some("txt" | "text" | "log")) => Ok(ChecklistFormat::Text),
        (None, Some("json")) => Ok(ChecklistFormat::Json),
        (None, Some("md" | "markdown")) => Ok(ChecklistFormat::Markdown),
        (None, Some(other)) => Err(ExpectedError::usage(format!(
            "the extension {other:?} of the output file names no format of `ridge checklist`"
        ))
        .with_hint("say --format text, json or markdown")),
    }
}
