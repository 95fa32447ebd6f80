//! `ridge lint`: mistakes that are visible in CUDA source and build flags.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use ridge_lint::document::Document;

use crate::args::LintFormat;
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::filter::Address;
use crate::input::Input;
use crate::output::Output;
use crate::verbs::devices::layout;

/// What to look at.
pub(crate) struct LintOptions {
    pub(crate) files: Vec<OsString>,
    pub(crate) flags: Option<String>,
    pub(crate) format: Option<LintFormat>,
}

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Where findings about `--flags` are said to be.
const FLAGS: &str = "--flags";

pub(crate) fn run(options: &LintOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let format = format(options, output)?;
    let mut document = Document::new(VERSION);
    if let Some(flags) = &options.flags {
        document.push_flags(FLAGS, ridge_lint::lint_flags(flags));
    }
    let mut seen = HashSet::new();
    let mut problems = Vec::new();
    for file in &options.files {
        if seen.insert(same(Path::new(file))) {
            problems.extend(look(file, &mut document, &mut seen, output));
        }
    }
    let is_everything_unreadable = problems.len() == document.inputs.len();
    if is_everything_unreadable
        && document.findings.is_empty()
        && format == LintFormat::Text
        && let Some(last) = problems.pop()
    {
        for problem in &problems {
            output.complain(problem);
        }
        return Err(last);
    }
    for problem in &problems {
        output.complain(problem);
    }
    match format {
        LintFormat::Text => output.write(&ridge_render::lint::text(&document, &layout(output)))?,
        LintFormat::Json => output.json(&document)?,
        LintFormat::Sarif => output.json(&ridge_render::lint::sarif(&document))?,
    }
    Ok(if !problems.is_empty() {
        exit::UNREADABLE
    } else if document.counts.errors > 0 {
        exit::FAULTS
    } else {
        exit::FINE
    })
}

/// Looks at a file, and at those that a list of compile commands names. Returns why something could not be read.
fn look(
    file: &OsStr,
    document: &mut Document,
    seen: &mut HashSet<PathBuf>,
    output: &Output,
) -> Vec<ExpectedError> {
    let path = Path::new(file);
    let name = path.display().to_string();
    let mut problems = Vec::new();
    let bytes = match read(file, &name, output) {
        Ok(input) => input,
        Err(problem) => {
            document.push_problem(&name, None, problem.message.clone());
            return vec![problem];
        }
    };
    let bytes = bytes.bytes();
    let mut unreadable = |document: &mut Document, error: &ridge_lint::Error| {
        document.push_error(&name, error);
        let message = format!("cannot read {name}: {error} ({})", error.code());
        problems.push(ExpectedError::unreadable(message).with_hint(error.hint()));
    };
    match kind(path) {
        Kind::Source => match ridge_lint::lint(bytes) {
            Ok(report) => document.push(&name, report),
            Err(error) => unreadable(document, &error),
        },
        Kind::CMake => document.push(&name, ridge_lint::lint_cmake(bytes)),
        Kind::Commands => match ridge_lint::read_commands(bytes) {
            Err(error) => unreadable(document, &error),
            Ok(commands) => {
                document.push(&name, ridge_lint::lint_commands(bytes, &commands));
                for command in &commands {
                    let source = Path::new(&command.folder).join(&command.file);
                    if command.is_cuda && seen.insert(same(&source)) {
                        problems.extend(look(source.as_os_str(), document, seen, output));
                    }
                }
            }
        },
    }
    problems
}

/// A path without `.`, so that one file is looked at once. What `..` leads to depends on links, and stays.
fn same(path: &Path) -> PathBuf {
    path.components().collect()
}

enum Kind {
    Source,
    CMake,
    Commands,
}

fn kind(path: &Path) -> Kind {
    let has = |wanted: &str| {
        path.extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
    };
    if has("json") {
        Kind::Commands
    } else if has("cmake")
        || path
            .file_name()
            .is_some_and(|name| name == "CMakeLists.txt")
    {
        Kind::CMake
    } else {
        Kind::Source
    }
}

fn read(file: &OsStr, name: &str, output: &Output) -> Result<Input, ExpectedError> {
    const HINT: &str = "name CUDA sources (.cu, .cuh), compile_commands.json, or files of CMake";
    let input = Input::open(&Address::whole(file), output).map_err(|error| {
        if error.exit == exit::UNREADABLE {
            error.with_hint(HINT)
        } else {
            error
        }
    })?;
    match &input.problem {
        Some(problem) => Err(ExpectedError::unreadable(format!(
            "cannot read all of {name}: {problem}"
        ))
        .with_hint(HINT)),
        None => Ok(input),
    }
}

fn format(options: &LintOptions, output: &Output) -> Result<LintFormat, ExpectedError> {
    match (options.format, output.extension().as_deref()) {
        (Some(format), _) => Ok(format),
        (None, None | Some("txt" | "text" | "log")) => Ok(LintFormat::Text),
        (None, Some("json")) => Ok(LintFormat::Json),
        (None, Some("sarif")) => Ok(LintFormat::Sarif),
        (None, Some(other)) => Err(ExpectedError::usage(format!(
            "the extension {other:?} of the output file names no format of `ridge lint`"
        ))
        .with_hint("say --format text, json or sarif")),
    }
}
