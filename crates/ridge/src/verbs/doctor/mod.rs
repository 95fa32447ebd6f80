//! `ridge doctor`: what works on this machine, what does not, and what mends it.

pub(crate) mod probe;
mod survey;

pub(crate) use survey::{SURVEY, survey};

use ridge_collect::doctor::document::Document;
use ridge_collect::doctor::examine;

use crate::args::DoctorFormat;
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::output::Output;
use crate::verbs::bench::interrupts;
use crate::verbs::devices::layout;

/// How to show it.
pub(crate) struct DoctorOptions {
    pub(crate) format: Option<DoctorFormat>,
}

pub(crate) fn run(options: &DoctorOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let format = format(options, output)?;
    let is_interrupted = interrupts()?;
    output.progress("looking at the machine");
    let machine = probe::machine(&is_interrupted);
    output.progress("");
    if is_interrupted() {
        return Ok(exit::INTERRUPTED);
    }
    let document = Document::of(examine(&machine), env!("CARGO_PKG_VERSION"));
    match format {
        DoctorFormat::Text => {
            output.write(&ridge_render::doctor::text(&document, &layout(output)))?;
        }
        DoctorFormat::Json => output.json(&document)?,
    }
    Ok(if document.is_able {
        exit::FINE
    } else {
        exit::UNABLE
    })
}

fn format(options: &DoctorOptions, output: &Output) -> Result<DoctorFormat, ExpectedError> {
    match (options.format, output.extension().as_deref()) {
        (Some(format), _) => Ok(format),
        (None, None | Some("txt" | "text" | "log")) => Ok(DoctorFormat::Text),
        (None, Some("json")) => Ok(DoctorFormat::Json),
        (None, Some(other)) => Err(ExpectedError::usage(format!(
            "the extension {other:?} of the output file names no format of `ridge doctor`"
        ))
        .with_hint("say --format text or json")),
    }
}
