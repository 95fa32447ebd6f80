//! `ridge check`: results against a baseline and budgets, with an exit code for each outcome.

mod baselines;
mod measured;
mod names;
mod past;
mod project;
mod results;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ridge_compare::check::{Asked, Document, Named, Outcome, Rule, evaluate};
use ridge_model::quantity::Nanos;

use crate::args::CheckFormat;
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::output::Output;
use crate::verbs::bench::interrupts;
use crate::verbs::devices::layout;
use baselines::{Against, Folder, Wanted};
use measured::Measurer;
use project::Project;
use results::{Kind, Loaded, Spec};

/// What to check and how.
pub(crate) struct CheckOptions {
    pub(crate) results: Vec<OsString>,
    pub(crate) baseline: Option<String>,
    pub(crate) config: Option<PathBuf>,
    pub(crate) is_update: bool,
    pub(crate) device: Option<String>,
    pub(crate) max_time: Option<Nanos>,
    pub(crate) allows_ambiguous: bool,
    pub(crate) is_subset: bool,
    pub(crate) format: Option<CheckFormat>,
}

/// How long specs are measured again while a verdict is AMBIGUOUS, where nobody says.
const MAX_TIME: Duration = Duration::from_secs(60);
/// Runs of a new baseline: as many as it takes for them to show by how much equal ones differ.
const RUNS_OF_BASELINE: usize = 3;
/// Runs of a spec at most: more would only narrow what processes differ by, which they do not share with the baseline.
const MOST_RUNS: usize = 9;
/// The baseline where neither the command line nor the file names one.
const DEFAULT: &str = "default";

pub(crate) fn run(options: &CheckOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let format = format(options, output)?;
    if let [file] = options.results.as_slice()
        && let Some(document) = results::earlier(file, output)?
    {
        // What was checked before is written in another form, and comes to what it came to.
        write(&document, format, output)?;
        return Ok(code_of(&document, options.allows_ambiguous));
    }
    let project = Project::find(options.config.as_deref())?;
    let mut code = exit::FINE;
    let (mut results, specs) = inputs(options, &project, output, &mut code)?;
    if results.is_empty() && specs.is_empty() {
        return if code == exit::FINE {
            Err(nothing_named(&project))
        } else {
            Ok(code)
        };
    }
    let folder = Folder::of(&project);
    let wanted = wanted(options, &project)?;
    let baseline = match &wanted {
        Some(wanted) if !options.is_update => Some(folder.find(wanted, output)?),
        _ => None,
    };
    let is_interrupted = interrupts()?;
    let device = options
        .device
        .as_deref()
        .or(project.config.device.as_deref());
    let mut measurer = Measurer::new(&specs, device.unwrap_or("0"), &is_interrupted)?;
    let mut document = if options.is_update {
        for _ in 0..RUNS_OF_BASELINE {
            results.extend(measurer.run(None, output)?);
        }
        check(&results, &project, None, options)
    } else {
        results.extend(measurer.run(None, output)?);
        settle(
            &mut results,
            &project,
            baseline.as_ref(),
            &mut measurer,
            options,
            output,
        )?
    };
    document.measured_runs = measurer.runs();
    if options.is_update {
        if document.outcome == Outcome::Invalid {
            output.warn("no baseline was recorded: a result is not valid");
        } else if document
            .checks
            .iter()
            .any(|check| check.rule == Rule::Completeness)
        {
            // Later results would be held against a part of what was to be measured.
            output.warn("no baseline was recorded: a run did not come to its end");
        } else {
            let wanted = wanted.unwrap_or_else(|| Wanted::Label(DEFAULT.to_owned()));
            let path = folder.record(&wanted, &results, measurer.runs() > 0, output)?;
            document.is_recorded = true;
            output.say_kept(&path);
        }
    }
    write(&document, format, output)?;
    Ok(code.and(code_of(&document, options.allows_ambiguous)))
}

/// Measures until nothing is AMBIGUOUS that more runs could settle, or the time is over.
fn settle(
    results: &mut Vec<Loaded>,
    project: &Project,
    baseline: Option<&Against>,
    measurer: &mut Measurer<'_>,
    options: &CheckOptions,
    output: &Output,
) -> Result<Document, ExpectedError> {
    let asked = options.max_time.or(project.config.max_time);
    let limit = asked.map_or(MAX_TIME, |time| Duration::from_nanos(time.get() as u64));
    let start = Instant::now();
    loop {
        let document = check(results, project, baseline, options);
        let open: Vec<String> = document
            .checks
            .iter()
            .filter(|check| check.rule == Rule::Baseline && check.outcome == Outcome::CannotTell)
            .filter(|check| check.value.is_some() && check.mode.is_some())
            .map(|check| check.subject.clone())
            .collect();
        // Where something is broken already, no further run changes the outcome.
        let is_open = !open.is_empty() && document.outcome == Outcome::CannotTell;
        if !is_open
            || measurer.runs() == 0
            || measurer.runs() >= MOST_RUNS
            || start.elapsed() >= limit
        {
            return Ok(document);
        }
        let more = measurer.run(Some(&open), output)?;
        if more.is_empty() {
            return Ok(document);
        }
        results.extend(more);
    }
}

fn check(
    results: &[Loaded],
    project: &Project,
    baseline: Option<&Against>,
    options: &CheckOptions,
) -> Document {
    // As people see it from where they are.
    let baseline_file = baseline.and_then(|against| {
        let file = against.file.as_deref()?;
        let working = std::env::current_dir().ok();
        let shown = working.and_then(|working| file.strip_prefix(working).ok());
        Some(shown.unwrap_or(file).display().to_string())
    });
    let named: Vec<Named> = results.iter().map(|result| result.named.clone()).collect();
    evaluate(
        &named,
        &Asked {
            config: &project.config,
            config_file: project.file.as_deref(),
            baseline_file: baseline_file.as_deref(),
            baseline: baseline.map(|against| (against.name.as_str(), &against.baseline)),
            is_subset: options.is_subset,
            tool_version: env!("CARGO_PKG_VERSION"),
        },
    )
}

/// Results that were named, and specs that are to be measured.
fn inputs(
    options: &CheckOptions,
    project: &Project,
    output: &Output,
    code: &mut Code,
) -> Result<(Vec<Loaded>, Vec<Spec>), ExpectedError> {
    let (mut results, mut specs) = (Vec::new(), Vec::new());
    if options.results.is_empty() {
        specs.extend(project.specs());
    }
    for file in &options.results {
        match results::open(file, output) {
            Ok(Kind::Result(result)) => results.push(*result),
            Ok(Kind::Spec(spec)) => specs.push(spec),
            Err(error) if options.results.len() == 1 => return Err(error),
            Err(error) => {
                // The others are still worth an answer.
                output.complain(&error);
                *code = code.and(error.exit);
            }
        }
    }
    Ok((results, specs))
}

fn nothing_named(project: &Project) -> ExpectedError {
    let error = ExpectedError::usage("there is nothing to check: no result and no spec is named");
    error.with_hint(match &project.file {
        Some(file) => format!("name a result, or write spec = \"…\" under [check] in {file}"),
        None => "name a result or a spec, or write a ridge.toml: `ridge check --help` has one"
            .to_owned(),
    })
}

fn wanted(options: &CheckOptions, project: &Project) -> Result<Option<Wanted>, ExpectedError> {
    if let Some(named) = &options.baseline {
        return Wanted::of(named).map(Some);
    }
    let Some(named) = project.config.baseline.as_deref() else {
        return Ok(None);
    };
    Ok(Some(match Wanted::of(named)? {
        // What the file says is relative to the file.
        Wanted::File(path) => Wanted::File(project.folder.join(path)),
        other => other,
    }))
}

fn format(options: &CheckOptions, output: &Output) -> Result<CheckFormat, ExpectedError> {
    match (options.format, output.extension().as_deref()) {
        (Some(format), _) => Ok(format),
        (None, None | Some("txt" | "text" | "log")) => Ok(CheckFormat::Text),
        (None, Some("md" | "markdown")) => Ok(CheckFormat::Markdown),
        (None, Some("json")) => Ok(CheckFormat::Json),
        (None, Some("sarif")) => Ok(CheckFormat::Sarif),
        (None, Some("xml")) => Ok(CheckFormat::Junit),
        (None, Some(other)) => Err(ExpectedError::usage(format!(
            "the extension {other:?} of the output file names no format of `ridge check`"
        ))
        .with_hint("say --format text, json, markdown, sarif, junit or github")),
    }
}

fn write(document: &Document, format: CheckFormat, output: &Output) -> Result<(), ExpectedError> {
    let text = match format {
        CheckFormat::Json => return output.json(document),
        CheckFormat::Text => ridge_render::check::text(document, &layout(output)),
        CheckFormat::Markdown => ridge_render::check::markdown(document),
        CheckFormat::Sarif => ridge_render::check::sarif(document),
        CheckFormat::Junit => ridge_render::check::junit(document, crate::history::now()),
        CheckFormat::Github => ridge_render::check::github(document),
    };
    output.write(&text)
}

fn code_of(document: &Document, allows_ambiguous: bool) -> Code {
    // A baseline that was recorded is an answer, even where no budget was asked for.
    let is_only_recorded = document.is_recorded && document.checks.is_empty();
    match document.outcome {
        Outcome::Pass => exit::FINE,
        Outcome::CannotTell if allows_ambiguous || is_only_recorded => exit::FINE,
        Outcome::CannotTell => exit::UNDECIDED,
        Outcome::Broken => exit::SLOWER,
        Outcome::Invalid => exit::INVALID,
    }
}
