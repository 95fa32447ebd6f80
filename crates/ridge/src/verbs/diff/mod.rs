//! `ridge diff`: what a change did.

mod picture;
pub(crate) mod side;
mod times;

use std::ffi::OsString;

use ridge_bench::document::Document as Bench;
use ridge_compare::Verdict;
use ridge_compare::bench;
use ridge_compare::document::{Document, Note, SCHEMA, VERSION};
use ridge_compare::kernels::{self, Question};
use ridge_compare::timelines;
use ridge_diagnose::document::{Document as Diagnosis, Source, Warning};
use ridge_model::roof::MemoryLevel;
use ridge_render::diff::{html, markdown, text};
use ridge_render::kernel_name::base_name;
use ridge_render::roofline::Picture;

use crate::args::{DiffFormat, Renamed};
use crate::caveats::{CLOCK_NOT_HELD, clock_messages};
use crate::error::ExpectedError;
use crate::evidence::shown_name;
use crate::exit::{self, Code};
use crate::filter::LeftOut;
use crate::output::Output;
use crate::verbs::devices::layout;
use crate::verbs::timeline::Read;
use side::{Content, Side};

/// What to compare, and how to show it.
pub(crate) struct DiffOptions {
    pub(crate) before: OsString,
    pub(crate) after: OsString,
    /// Kernels that were renamed.
    pub(crate) matches: Vec<Renamed>,
    /// Results of `ridge bench`, before and after.
    pub(crate) times: Vec<(OsString, OsString)>,
    pub(crate) format: Option<DiffFormat>,
}

pub(crate) fn run(options: &DiffOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let format = format(options, output)?;
    let before = Side::read(&options.before, output)?;
    let after = Side::read(&options.after, output)?;
    let mut document = Document {
        schema: SCHEMA,
        version: VERSION,
        before: before.name.clone(),
        after: after.name.clone(),
        verdict: None,
        warnings: Vec::new(),
        kernels: None,
        timelines: None,
        benchmarks: None,
    };
    match (&before.content, &after.content) {
        (Content::Diagnosis(one), Content::Diagnosis(other)) => {
            compare_kernels(
                &mut document,
                one,
                other,
                before.is_same(&after),
                options,
                output,
            )?;
        }
        (Content::Bench(one), Content::Bench(other)) => {
            no_times(options)?;
            let found = compare_states(one, other, options)?;
            document.verdict = found.verdict;
            document.benchmarks = Some(found);
        }
        (Content::Trace(one), Content::Trace(other)) => {
            no_times(options)?;
            let only = [before.only()?, after.only()?];
            compare_traces(
                &mut document,
                [one, other],
                only,
                before.is_same(&after),
                options,
            )?;
        }
        (one, other) => {
            return Err(ExpectedError::usage(format!(
                "there is nothing to compare: {} holds {}, {} {}",
                before.name,
                one.words(),
                after.name,
                other.words()
            ))
            .with_hint("name two inputs of one kind; times of `ridge bench` for reports go to --times BEFORE.json AFTER.json"));
        }
    }
    let mut code = code(document.verdict);
    if !(before.is_whole && after.is_whole) {
        code = code.and(exit::UNREADABLE);
    }
    match format {
        DiffFormat::Text => output.write(&text(&document, &layout(output)))?,
        DiffFormat::Json => output.json(&document)?,
        DiffFormat::Markdown => output.write(&markdown(&document))?,
        DiffFormat::Html => {
            let roofline = picture::roofline(&before, &after, &document, output);
            let picture = Picture {
                level: MemoryLevel::Dram,
                width: None,
            };
            let drawn = roofline.as_ref().map(|roofline| (roofline, picture));
            output.write(&html(&document, drawn))?;
        }
    }
    if format != DiffFormat::Text {
        output.warn_all(document.warnings.iter().map(|note| match &note.file {
            Some(file) => format!("{file}: {}", note.message),
            None => note.message.clone(),
        }));
    }
    Ok(code)
}

fn format(options: &DiffOptions, output: &Output) -> Result<DiffFormat, ExpectedError> {
    match (options.format, output.extension().as_deref()) {
        (Some(format), _) => Ok(format),
        (None, None | Some("txt" | "text" | "log")) => Ok(DiffFormat::Text),
        (None, Some("json")) => Ok(DiffFormat::Json),
        (None, Some("md" | "markdown")) => Ok(DiffFormat::Markdown),
        (None, Some("html" | "htm")) => Ok(DiffFormat::Html),
        (None, Some(other)) => Err(ExpectedError::usage(format!(
            "the extension {other:?} of the output file names no format of `ridge diff`"
        ))
        .with_hint("say --format text, json, markdown or html")),
    }
}

/// Inputs that hold clean times themselves.
fn no_times(options: &DiffOptions) -> Result<(), ExpectedError> {
    if options.times.is_empty() {
        return Ok(());
    }
    Err(ExpectedError::usage("--times is not for such inputs")
        .with_hint("the inputs hold clean times themselves: leave it out"))
}

/// Two results of `ridge bench`. Where each has one kernel, these two belong together whatever they are called.
fn compare_states(
    before: &Bench,
    after: &Bench,
    options: &DiffOptions,
) -> Result<bench::Comparison, ExpectedError> {
    let mut renamed = given(options);
    for (one, other) in &renamed {
        for (name, word, document) in [(one, "before", before), (other, "after", after)] {
            let mut names = document.states.iter().map(|state| state.kernel.as_str());
            if !names.clone().any(|known| known == *name) {
                return Err(side::no_such(name, word, &mut names));
            }
        }
    }
    if renamed.is_empty()
        && let (Some(one), Some(other)) = (only_kernel(before), only_kernel(after))
        && one != other
    {
        renamed.push((one, other));
    }
    let options = bench::Options {
        renamed: &renamed,
        ..bench::Options::default()
    };
    Ok(bench::compare(&[before], &[after], &options))
}

fn only_kernel(document: &Bench) -> Option<&str> {
    let first = document.states.first()?.kernel.as_str();
    let mut others = document.states.iter();
    others.all(|state| state.kernel == first).then_some(first)
}

fn compare_traces(
    document: &mut Document,
    [before, after]: [&Read; 2],
    only: [Option<&str>; 2],
    is_same_input: bool,
    options: &DiffOptions,
) -> Result<(), ExpectedError> {
    let given = given(options);
    let side = |read: &'_ Read| -> Vec<String> {
        let kernels = ridge_trace::kernels(&read.timeline);
        kernels.into_iter().map(|kernel| kernel.name).collect()
    };
    for (read, only) in [before, after].into_iter().zip(only) {
        let Some(only) = only else { continue };
        let names = side(read);
        if names
            .iter()
            .any(|name| timelines::is_named(name, only, base_name))
        {
            continue;
        }
        let mut left_out = LeftOut::default();
        for name in &names {
            left_out.add(base_name(name), 0);
        }
        return Err(left_out.no_kernel_of(&shown_name(&read.trace.file), only));
    }
    let answer = timelines::compare(
        &timelines::Side {
            timeline: &before.timeline,
            trace: &before.trace,
            only: only[0],
        },
        &timelines::Side {
            timeline: &after.timeline,
            trace: &after.trace,
            only: only[1],
        },
        is_same_input,
        &given,
        base_name,
        &bench::Options::default().rules,
    );
    if let Some((place, is_before)) = answer.not_found.first() {
        let (one, other) = given[*place];
        let (name, word, read) = if *is_before {
            (one, "before", before)
        } else {
            (other, "after", after)
        };
        let names = side(read);
        return Err(side::no_such(name, word, names.iter().map(String::as_str)));
    }
    for (word, read) in [("before", before), ("after", after)] {
        document
            .warnings
            .extend(read.warnings.iter().map(|warning| Note {
                file: Some(format!("{word} ({})", read.trace.file)),
                ..Note::remark(&warning.code, warning.message.clone())
            }));
    }
    if answer.is_limited {
        document.warnings.push(Note::too_many_names());
    }
    let found = answer.timelines;
    let kernels = found.kernels.iter().map(|kernel| kernel.time.verdict);
    document.verdict = Verdict::worst(kernels.chain(found.span.as_ref().map(|span| span.verdict)));
    document.timelines = Some(found);
    Ok(())
}

fn given(options: &DiffOptions) -> Vec<(&str, &str)> {
    options
        .matches
        .iter()
        .map(|renamed| (renamed.before.as_str(), renamed.after.as_str()))
        .collect()
}

fn compare_kernels(
    document: &mut Document,
    before: &Diagnosis,
    after: &Diagnosis,
    is_same_input: bool,
    options: &DiffOptions,
    output: &Output,
) -> Result<(), ExpectedError> {
    let given = given(options);
    let clean = times::read(&options.times, output)?;
    let answer = kernels::compare(&Question {
        before,
        after,
        is_same_input,
        given: &given,
        clean: &clean.times,
        rules: bench::Options::default().rules,
    });
    if let Some((place, is_before)) = answer.not_found.first() {
        let (one, other) = given[*place];
        let (name, side, kernels) = if *is_before {
            (one, "before", &before.kernels)
        } else {
            (other, "after", &after.kernels)
        };
        let names = kernels.iter().map(|kernel| kernel.name.as_str());
        return Err(side::no_such(name, side, names));
    }
    document.warnings.extend(clean.notes);
    document.warnings.extend(caveats(before, after));
    document.warnings.extend(answer.warnings);
    if !options.times.is_empty() {
        let is_used = answer
            .kernels
            .pairs
            .iter()
            .any(|pair| pair.time.origin == kernels::document::TimeOrigin::Benchmark);
        if !is_used {
            document.warnings.push(Note::remark(
                "times-not-used",
                "no kernel is in the results of --times on both sides: names of kernels there are those in the source, and states of several launches are left out".to_owned(),
            ));
        }
    }
    if answer.kernels.pairs.is_empty() {
        document.warnings.push(Note::remark(
            "nothing-in-common",
            "no kernel before has its like after: name those that belong together with --match BEFORE=AFTER, or one of each side as FILE#NAME".to_owned(),
        ));
    }
    document.verdict = Verdict::worst(answer.kernels.pairs.iter().map(|pair| pair.time.verdict));
    document.kernels = Some(answer.kernels);
    Ok(())
}

/// What makes either side less certain; what is true of both is said once.
fn caveats(before: &Diagnosis, after: &Diagnosis) -> Vec<Note> {
    // The same thing may be said of both with other figures, such as another clock: then each side has its own.
    let has = |diagnosis: &Diagnosis, warning: &Warning| {
        diagnosis
            .warnings
            .iter()
            .any(|other| other.code == warning.code && other.message == warning.message)
    };
    let note = |diagnosis: &Diagnosis, warning: &Warning, side: &str| {
        let source = warning.source.and_then(|id| diagnosis.sources.get(id));
        Note {
            file: Some(source.map_or_else(
                || side.to_owned(),
                |source| format!("{side} ({})", source.file),
            )),
            ..Note::remark(&warning.code, warning.message.clone())
        }
    };
    let mut notes: Vec<Note> = Vec::new();
    let is_clock = |warning: &&Warning| warning.code == CLOCK_NOT_HELD;
    let source = |diagnosis: &'_ Diagnosis| -> Option<Source> {
        let mut of_clock = diagnosis.warnings.iter().filter(is_clock);
        match (of_clock.next(), of_clock.next()) {
            (Some(only), None) => diagnosis.sources.get(only.source?).cloned(),
            _ => None,
        }
    };
    // What both have in common is said once, with the figure of each.
    let clocks = source(before)
        .zip(source(after))
        .and_then(|(one, other)| clock_messages(&one, &other))
        .filter(|_| {
            let mut of_clock = before.warnings.iter().filter(is_clock);
            of_clock.any(|warning| !has(after, warning))
        });
    if let Some(message) = &clocks {
        notes.push(Note {
            file: Some("before and after".to_owned()),
            ..Note::remark(CLOCK_NOT_HELD, message.clone())
        });
    }
    let is_told = |warning: &Warning| clocks.is_some() && is_clock(&warning);
    for warning in before.warnings.iter().filter(|warning| !is_told(warning)) {
        if !has(after, warning) {
            notes.push(note(before, warning, "before"));
            continue;
        }
        let of_both = Note {
            file: Some("before and after".to_owned()),
            ..Note::remark(&warning.code, warning.message.clone())
        };
        if !notes.contains(&of_both) {
            notes.push(of_both);
        }
    }
    let of_after = after
        .warnings
        .iter()
        .filter(|warning| !has(before, warning) && !is_told(warning));
    notes.extend(of_after.map(|warning| note(after, warning, "after")));
    notes
}

/// The worst decides; where nothing is in common, nobody can tell.
const fn code(verdict: Option<Verdict>) -> Code {
    match verdict {
        Some(Verdict::Same | Verdict::Faster) => exit::FINE,
        Some(Verdict::Slower) => exit::SLOWER,
        Some(Verdict::Invalid) => exit::INVALID,
        Some(Verdict::Ambiguous) | None => exit::UNDECIDED,
    }
}
