//! The command line of Ridgepoint: arguments become plain options, options become calls of the crates below.
//!
//! This is the only crate that opens files, looks at the terminal and prints. Each verb has a file of its own in
//! `verbs/`; exit codes are in [`exit`].

mod args;
mod caveats;
mod demangle;
mod disassembler;
mod error;
mod evidence;
pub mod exit;
mod filter;
pub mod gallery;
mod git;
mod gpu;
mod history;
mod input;
mod markdown;
mod nvrtc;
mod output;
pub mod pages;
mod pattern;
mod process;
mod project;
mod recorder;
mod small_file;
mod tools;
mod verbs;
mod worker;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use args::{Arguments, Verb};
use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use error::ExpectedError;
use output::Output;

/// Runs the command line and reports what became of it.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = arguments.into_iter().collect();
    if let Some(code) = hidden(&words) {
        return code;
    }
    let arguments = match Arguments::try_parse_from(&words) {
        Ok(arguments) => arguments,
        Err(error) => {
            let error = with_subcommands(error, &words);
            let is_help = !error.use_stderr();
            // Help goes to standard output, mistakes to standard error; neither can be reported any better.
            let _ = error.print();
            return if is_help {
                exit::FINE.into()
            } else {
                exit::USAGE.into()
            };
        }
    };
    let mut output = Output::new(&arguments.common);
    let outcome = without_panic(|| dispatch(arguments.verb, &mut output));
    match outcome {
        Ok(code) => code.into(),
        Err(error) => {
            output.complain(&error);
            error.exit.into()
        }
    }
}

/// The verbs by which this command starts itself. Nobody else uses them, so that no help lists them.
fn hidden(words: &[OsString]) -> Option<ExitCode> {
    let words: Vec<&str> = words
        .iter()
        .skip(1)
        .filter_map(|word| word.to_str())
        .collect();
    match words.as_slice() {
        [worker::WORKER] => worker::serve(),
        [verbs::doctor::SURVEY, file] => Some(verbs::doctor::survey(file).into()),
        [worker::KEEPER, uuid, clock] => Some(match worker::keep_clocks(uuid, clock) {
            Ok(code) => code.into(),
            Err(error) => error.exit.into(),
        }),
        _ => None,
    }
}

/// Where a command or template is not known, the known ones are listed.
fn with_subcommands(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return error;
    }
    let whole = command();
    let inner = words
        .iter()
        .skip(1)
        .find_map(|word| whole.find_subcommand(word))
        .filter(|inner| inner.has_subcommands());
    let parent = inner.unwrap_or(&whole);
    let names: Vec<&str> = parent
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect();
    let what = parent
        .get_subcommand_help_heading()
        .unwrap_or("commands")
        .to_ascii_lowercase();
    let list = format!("{what}: {}", names.join(", "));
    error.insert(
        ContextKind::Suggested,
        ContextValue::StyledStrs(vec![list.into()]),
    );
    error
}

/// A panic is a fault of Ridgepoint: its place has been printed, and the exit code says what it is.
fn without_panic(
    run: impl FnOnce() -> Result<exit::Code, ExpectedError>,
) -> Result<exit::Code, ExpectedError> {
    // What the closure leaves half done is not looked at again.
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|_| Err(ExpectedError::internal("the answer was given up half-way")))
}

fn dispatch(verb: Verb, output: &mut Output) -> Result<exit::Code, ExpectedError> {
    match verb {
        Verb::Why(arguments) => verbs::why::run(&arguments.options()?, output),
        Verb::Bench(arguments) => verbs::bench::run(&arguments.options()?, output),
        Verb::Bound(arguments) => verbs::bound::run(&arguments.options()?, output),
        Verb::Ceilings(arguments) => verbs::ceilings::run(&arguments.options()?, output),
        Verb::Diff(arguments) => verbs::diff::run(&arguments.options()?, output),
        Verb::Check(arguments) => verbs::check::run(&arguments.options(), output),
        Verb::Checklist(arguments) => verbs::checklist::run(&arguments.options()?, output),
        Verb::Devices(arguments) => verbs::devices::run(&arguments.options(), output),
        Verb::Export(arguments) => verbs::export::run(&arguments.options()?, output),
        Verb::Occupancy(arguments) => verbs::occupancy::run(&arguments.options()?, output),
        Verb::Numerics(arguments) => verbs::numerics::run(&arguments.options()?, output),
        Verb::Roofline(arguments) => verbs::roofline::run(&arguments.options()?, output),
        Verb::Lint(arguments) => verbs::lint::run(&arguments.options()?, output),
        Verb::Sanitize(arguments) => verbs::sanitize::run(&arguments.options()?, output),
        Verb::Doctor(arguments) => verbs::doctor::run(&arguments.options(), output),
        Verb::Timeline(arguments) => verbs::timeline::run(&arguments.options()?, output),
        Verb::Trace(arguments) => verbs::trace::run(&arguments.options()?, output),
        Verb::History(arguments) => verbs::history::run(&arguments.options()?, output),
        Verb::Learn(arguments) => verbs::learn::run(&arguments.options(), output),
        Verb::Gallery(arguments) => verbs::gallery::run(&arguments.options(), output),
        Verb::Explain(arguments) => verbs::explain::run(&arguments.options(), output),
    }
}

/// The definition of the command line, for the generators of reference pages.
#[must_use]
pub fn command() -> clap::Command {
    <Arguments as clap::CommandFactory>::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_internal_error() {
        let error = without_panic(|| panic!("on purpose")).unwrap_err();
        assert_eq!(error.exit, exit::INTERNAL);
        assert!(error.hint.unwrap().contains("report"));
    }
}
