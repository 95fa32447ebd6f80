//! `ridge export --redact`: a report that is safe to share.

use std::ffi::OsString;
use std::io;

use ncu_rep::redact::{Options, Redaction, redact};
use ncu_rep::{Report, csv};
use ridge_model::quantity::counted;

use crate::error::ExpectedError;
use crate::evidence::shown_name;
use crate::exit::{self, Code};
use crate::filter::Address;
use crate::input::Input;
use crate::output::Output;

pub(crate) fn run(
    files: &[OsString],
    rename_kernels: bool,
    output: &Output,
) -> Result<Code, ExpectedError> {
    let [file] = files else {
        return Err(
            ExpectedError::usage("--redact writes one report, so it takes one file")
                .with_hint("redact one file after the other, each with an --output of its own"),
        );
    };
    if output.is_terminal() {
        return Err(
            ExpectedError::usage("a report is binary and does not go to a terminal")
                .with_hint("name a file: --output shared.ncu-rep"),
        );
    }
    let address = Address::of_argument(file)?;
    if address.kernel.is_some() {
        return Err(
            ExpectedError::usage("--redact takes a whole report, not one kernel of it")
                .with_hint("leave out what stands behind the #"),
        );
    }
    let input = Input::open(&address, output)?;
    let bytes = input.bytes();
    if !Report::looks_like(bytes) && csv::looks_like(bytes) {
        return Err(
            ExpectedError::usage("--redact takes a report; this is a CSV export")
                .with_hint("pass the .ncu-rep file that it was exported from"),
        );
    }
    let options = Options {
        rename_kernels,
        metrics: None,
    };
    let mut outcome = None;
    output.stream(|sink| {
        let mut sink = Sink {
            inner: sink,
            failure: None,
        };
        let redaction = redact(bytes, &options, &mut sink);
        if let Some(failure) = sink.failure {
            return Err(failure);
        }
        let is_written = redaction.is_ok();
        outcome = Some(redaction);
        Ok(is_written)
    })?;
    match outcome {
        // The reader of the pipe has seen enough.
        None => Ok(exit::FINE),
        Some(Ok(redaction)) => Ok(report(&redaction, &input, &address, output)),
        Some(Err(error)) => {
            let cause = input.problem.as_ref().unwrap_or(&error);
            let file = address.text();
            Err(ExpectedError::unreadable(format!(
                "cannot redact {}: {cause}",
                shown_name(&file)
            )))
        }
    }
}

/// Says what was removed and what was not, so that a person can decide whether that is enough.
fn report(redaction: &Redaction, input: &Input, address: &Address, output: &Output) -> Code {
    for removal in &redaction.removed {
        let consequence = removal
            .subject
            .consequence()
            .map(|text| format!("; {text}"))
            .unwrap_or_default();
        output.note(&format!(
            "removed: {} ({}){consequence}",
            removal.subject,
            counted(removal.count, "time")
        ));
    }
    match redaction.kernel_names.len() {
        0 => {}
        1 => output.note("kept: the name of one kernel; --rename-kernels replaces it"),
        count => output.note(&format!(
            "kept: the names of {count} kernels; --rename-kernels replaces them"
        )),
    }
    let mut code = exit::FINE;
    for problem in input.problem.iter().chain(&redaction.problems) {
        let file = address.text();
        output.warn(&format!(
            "{}: {problem}; it was left out",
            shown_name(&file)
        ));
        if !problem.is_remark() {
            code = exit::UNREADABLE;
        }
    }
    code
}

/// Keeps the failure of the output as it is: the library wraps it into an error of its own.
struct Sink<'s> {
    inner: &'s mut dyn io::Write,
    failure: Option<io::Error>,
}

impl Sink<'_> {
    fn keep<T>(&mut self, outcome: io::Result<T>) -> io::Result<T> {
        outcome.map_err(|error| {
            let kind = error.kind();
            self.failure = Some(error);
            io::Error::from(kind)
        })
    }
}

impl io::Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let outcome = self.inner.write(bytes);
        self.keep(outcome)
    }

    fn flush(&mut self) -> io::Result<()> {
        let outcome = self.inner.flush();
        self.keep(outcome)
    }
}
