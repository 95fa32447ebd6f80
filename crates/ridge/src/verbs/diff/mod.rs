//! `ridge diff`: what a change did.

mod picture;
mod side;
mod times;

use std::ffi::OsString;

use ridge_compare::Verdict;
use ridge_compare::bench;
use ridge_compare::document::{Document, Note, SCHEMA, VERSION};
use ridge_compare::kernels::{self, Question};
use ridge_diagnose::document::Document as Diagnosis;
use ridge_model::roof::MemoryLevel;
use ridge_render::diff::{html, markdown, text};
use ridge_render::roofline::Picture;

use crate::args::{DiffFormat, Renamed};
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::output::Output;
use crate::verbs::devices::layout;
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

fn compare_kernels(
    document: &mut Document,
    before: &Diagnosis,
    after: &Diagnosis,
    is_same_input: bool,
    options: &DiffOptions,
    output: &Output,
) -> Result<(), ExpectedError> {
    let given: Vec<(&str, &str)> = options
        .matches
        .iter()
        .map(|renamed| (renamed.before.as_str(), renamed.after.as_str()))
        .collect();
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
        return Err(side::no_such(name, side, kernels));
    }
    document.warnings.extend(clean.notes);
    for (side, diagnosis) in [("before", before), ("after", after)] {
        document
            .warnings
            .extend(diagnosis.warnings.iter().map(|warning| {
                let source = warning.source.and_then(|id| diagnosis.sources.get(id));
                Note {
                    file: source.map(|source| format!("{} ({side})", source.file)),
                    ..Note::remark(&warning.code, warning.message.clone())
                }
            }));
    }
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

/// The worst decides; where nothing is in common, nobody can tell.
const fn code(verdict: Option<Verdict>) -> Code {
    match verdict {
        Some(Verdict::Same | Verdict::Faster) => exit::FINE,
        Some(Verdict::Slower) => exit::SLOWER,
        Some(Verdict::Invalid) => exit::INVALID,
        Some(Verdict::Ambiguous) | None => exit::UNDECIDED,
    }
}
