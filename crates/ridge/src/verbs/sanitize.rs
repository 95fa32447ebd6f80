//! `ridge sanitize`: the tools of `compute-sanitizer` over a program, or what they said elsewhere, as one summary.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ridge_collect::doctor::ToolName;
use ridge_collect::sanitize::document::{Document, Sanitizer, Source};
use ridge_collect::sanitize::{self, End, NoticeKind, Options, Outcome, Ran, Run, Tool};

use crate::args::SanitizeFormat;
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::filter::Address;
use crate::input::Input;
use crate::output::Output;
use crate::process;
use crate::tools;
use crate::verbs::bench::interrupts;
use crate::verbs::devices::layout;

/// What to look at, and how.
pub(crate) struct SanitizeOptions {
    pub(crate) what: What,
    pub(crate) format: Option<SanitizeFormat>,
}

/// Where the records come from.
pub(crate) enum What {
    /// Outputs that were recorded.
    Recorded(Vec<OsString>),
    /// A program to run.
    Run {
        command: Vec<OsString>,
        options: Options,
        limit: Option<Duration>,
    },
}

/// How long the tool may take to tell its version.
const VERSION_LIMIT: Duration = Duration::from_secs(20);

pub(crate) fn run(options: &SanitizeOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let format = format(options, output)?;
    let (document, code) = match &options.what {
        What::Recorded(files) => recorded(files, output)?,
        What::Run {
            command,
            options,
            limit,
        } => live(command, options, *limit, output)?,
    };
    match format {
        SanitizeFormat::Text => {
            output.write(&ridge_render::sanitize::text(&document, &layout(output)))?;
        }
        SanitizeFormat::Markdown => output.write(&ridge_render::sanitize::markdown(&document))?,
        SanitizeFormat::Json => output.json(&document)?,
        SanitizeFormat::Sarif => output.json(&ridge_render::sanitize::sarif(&document))?,
    }
    Ok(code)
}

/// The code of an outcome.
const fn code(outcome: Outcome) -> Code {
    match outcome {
        Outcome::Clean => exit::FINE,
        Outcome::Faults => exit::FAULTS,
        Outcome::Inconclusive => exit::UNDECIDED,
        Outcome::TargetFailed => exit::TARGET_FAILED,
        Outcome::NotSupported => exit::UNABLE,
    }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn recorded(files: &[OsString], output: &Output) -> Result<(Document, Code), ExpectedError> {
    let mut sources = Vec::new();
    let mut errors = Vec::new();
    for file in files {
        match read(file, output) {
            Ok((mut found, problem)) => {
                sources.append(&mut found);
                errors.extend(problem);
            }
            // One that is named wrongly is a mistake, also beside others that are not.
            Err(error) if error.exit == exit::USAGE => return Err(error),
            Err(error) => errors.push(error),
        }
    }
    if sources.is_empty()
        && let Some(first) = errors.pop()
    {
        // All of them are told: those before the last here.
        for error in &errors {
            output.complain(error);
        }
        return Err(first);
    }
    for error in &errors {
        output.complain(error);
    }
    let document = Document::of(&sources, None, VERSION, errors.is_empty());
    let own = code(document.outcome);
    let code = if errors.is_empty() {
        own
    } else {
        exit::UNREADABLE
    };
    Ok((document, code))
}

/// The runs in an input, and why it was not read as a whole.
fn read(
    file: &OsStr,
    output: &Output,
) -> Result<(Vec<Source>, Option<ExpectedError>), ExpectedError> {
    let name = if file == "-" {
        "standard input".to_owned()
    } else {
        Path::new(file).display().to_string()
    };
    let input = Input::open(&Address::whole(file), output).map_err(|error| {
        if error.exit == exit::UNREADABLE {
            error.with_hint("name what `compute-sanitizer` printed or wrote with --log-file, or with --save FILE --xml; a program to run stands behind `--`")
        } else {
            error
        }
    })?;
    let unreadable = |error: &sanitize::Error, what: &str| {
        let code = error.code();
        ExpectedError::unreadable(format!("cannot read {what}{name}: {error} ({code})"))
            .with_hint(error.hint())
    };
    let reading = match sanitize::read(input.bytes()) {
        Ok(reading) => reading,
        Err(error) => return Err(unreadable(&error, "")),
    };
    let problem = match (&reading.problem, &input.problem) {
        (Some(problem), _) => Some(unreadable(problem, "all of ")),
        (None, Some(problem)) => Some(ExpectedError::unreadable(format!(
            "cannot read all of {name}: {problem}"
        ))),
        (None, None) => None,
    };
    let source = |run| Source {
        run,
        input: Some(name.clone()),
        ran: None,
    };
    Ok((reading.runs.into_iter().map(source).collect(), problem))
}

fn live(
    command: &[OsString],
    options: &Options,
    limit: Option<Duration>,
    output: &Output,
) -> Result<(Document, Code), ExpectedError> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(ExpectedError::usage("there is no program behind `--`"));
    };
    let program = target(program)?;
    let tool = sanitizer()?;
    let is_interrupted = interrupts()?;
    let version = process::run(
        &tool,
        &["--version".into()],
        Some(VERSION_LIMIT),
        &is_interrupted,
    )
    .ok()
    .and_then(|told| sanitize::version(&told.output).map(str::to_owned));
    let mut sources: Vec<Source> = Vec::new();
    let mut is_complete = true;
    let count = options.tools.len();
    for (place, which) in options.tools.iter().copied().enumerate() {
        if is_interrupted() {
            is_complete = false;
            break;
        }
        output.progress(&format!("[{}/{count}] {}", place + 1, which.name()));
        let source = one(
            &tool,
            which,
            options,
            (&program, arguments),
            limit,
            &is_interrupted,
        )?;
        let has_no_cuda = source
            .run
            .notices
            .iter()
            .any(|notice| notice.kind == NoticeKind::NoCuda);
        let is_ended = matches!(
            source.ran,
            Some(Ran {
                end: End::Interrupted,
                ..
            })
        );
        sources.push(source);
        if is_ended || has_no_cuda {
            // What never calls CUDA does so under no tool.
            is_complete = place + 1 == count && !is_ended;
            break;
        }
    }
    output.progress("");
    let mut document = Document::of(&sources, Some(options), VERSION, is_complete);
    document.sanitizer = Some(Sanitizer {
        path: tool.display().to_string(),
        version,
    });
    let words = command
        .iter()
        .map(|word| word.to_string_lossy().into_owned());
    document.command = Some(words.collect());
    if is_interrupted() {
        output.warn("interrupted: the tools that had come to their end are in the answer");
        return Ok((document, exit::INTERRUPTED));
    }
    for source in &sources {
        let Some(ran) = &source.ran else { continue };
        if document.outcome == Outcome::TargetFailed
            && let End::Code(code @ 1..) | End::Signal(code) = ran.end
        {
            let what = if matches!(ran.end, End::Signal(_)) {
                "was ended by signal"
            } else {
                "ended with its own exit code"
            };
            output.warn(&format!("{} {what} {code}", program.display()));
            break;
        }
    }
    let code = code(document.outcome);
    Ok((document, code))
}

/// Runs one tool over the program.
fn one(
    tool: &Path,
    which: Tool,
    options: &Options,
    (program, own): (&Path, &[OsString]),
    limit: Option<Duration>,
    is_interrupted: &dyn Fn() -> bool,
) -> Result<Source, ExpectedError> {
    let unable =
        |what: &str, error: std::io::Error| ExpectedError::unable(format!("{what}: {error}"));
    let folder = tempfile::Builder::new()
        .prefix("ridge-sanitize-")
        .tempdir()
        .map_err(|error| unable("there is no temporary folder", error))?;
    let log = folder.path().join("log");
    let mut arguments = sanitize::arguments(which, options, &log);
    arguments.push(program.into());
    arguments.extend_from_slice(own);
    let finished = process::run(tool, &arguments, limit, is_interrupted)
        .map_err(|error| unable(&format!("{} does not start", tool.display()), error))?;
    // Without a log the tool failed before it had one, and says why where the program prints.
    let log = std::fs::read(&log).unwrap_or_default();
    let read = |bytes: &[u8]| sanitize::read(bytes).ok().map(|reading| reading.runs);
    let mut runs = read(&log)
        .or_else(|| read(finished.output.as_bytes()))
        .unwrap_or_default();
    let mut run = merged(&mut runs);
    run.tool = Some(which);
    // The tool hands on the number of a signal as if it were a code.
    let is_crash = run
        .notices
        .iter()
        .any(|notice| notice.kind == NoticeKind::Crashed);
    let end = match finished.end {
        End::Code(signal @ 1..=64) if is_crash => End::Signal(signal),
        end => end,
    };
    Ok(Source {
        run,
        input: None,
        ran: Some(Ran {
            end,
            took_ns: finished.took.as_nanos() as f64,
            log,
            output: finished.output,
        }),
    })
}

/// Processes that the program starts may write banners of their own into the same log.
fn merged(runs: &mut Vec<Run>) -> Run {
    let mut whole = Run::default();
    for run in runs.drain(..) {
        whole.has_banner |= run.has_banner;
        whole.not_kept += run.not_kept;
        whole.records.extend(run.records);
        whole.notices.extend(run.notices);
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (one, other) => one.or(other),
        };
        let (own, more) = (whole.summary, run.summary);
        whole.summary.errors = sum(own.errors, more.errors);
        whole.summary.warnings = sum(own.warnings, more.warnings);
        whole.summary.not_printed = sum(own.not_printed, more.not_printed);
        whole.summary.leaked_bytes = sum(own.leaked_bytes, more.leaked_bytes);
    }
    whole
}

/// The program to look at, by its path or as the shell would find it.
fn target(program: &OsStr) -> Result<PathBuf, ExpectedError> {
    let shown = Path::new(program).display();
    process::find(program, &[]).map_err(|looked| {
        if looked.is_empty() {
            ExpectedError::usage(format!("there is no program {shown}"))
                .with_hint("check the path; it is taken from the current folder")
        } else {
            ExpectedError::usage(format!("there is no program {shown} in PATH"))
                .with_hint(format!("./{shown} for one in the current folder"))
        }
    })
}

fn sanitizer() -> Result<PathBuf, ExpectedError> {
    tools::find(ToolName::ComputeSanitizer).map_err(|looked| {
        ExpectedError::unable(format!(
            "compute-sanitizer is not installed; looked in {}",
            looked.join(", ")
        ))
        .with_hint(
            "it comes with the CUDA toolkit (package cuda-sanitizer-VERSION, in conda cuda-sanitizer-api); CUDA_HOME names a toolkit in another place",
        )
    })
}

fn format(options: &SanitizeOptions, output: &Output) -> Result<SanitizeFormat, ExpectedError> {
    match (options.format, output.extension().as_deref()) {
        (Some(format), _) => Ok(format),
        (None, None | Some("txt" | "text" | "log")) => Ok(SanitizeFormat::Text),
        (None, Some("md" | "markdown")) => Ok(SanitizeFormat::Markdown),
        (None, Some("json")) => Ok(SanitizeFormat::Json),
        (None, Some("sarif")) => Ok(SanitizeFormat::Sarif),
        (None, Some(other)) => Err(ExpectedError::usage(format!(
            "the extension {other:?} of the output file names no format of `ridge sanitize`"
        ))
        .with_hint("say --format text, markdown, json or sarif")),
    }
}
