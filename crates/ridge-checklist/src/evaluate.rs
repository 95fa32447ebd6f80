//! From what each input says to one answer for each question.

use crate::document::{Answer, Document, Line, SCHEMA, Source, SourceKind, VERSION};
use crate::inputs::Inputs;
use crate::lines::{Check, LINES};
use crate::part::Part;

/// Answers every question.
#[must_use]
pub fn checklist(inputs: &Inputs) -> Document {
    Document {
        schema: SCHEMA,
        version: VERSION,
        sources: sources(inputs),
        lines: LINES.iter().map(|check| line(check, inputs)).collect(),
        warnings: inputs.warnings.clone(),
    }
}

fn sources(inputs: &Inputs) -> Vec<Source> {
    let mut sources = Vec::new();
    let mut add = |name: &str, kind| {
        sources.push(Source {
            name: name.to_owned(),
            kind,
        });
    };
    for diagnosis in &inputs.diagnoses {
        add(&diagnosis.name, SourceKind::Kernels);
    }
    for program in &inputs.programs {
        add(&program.name, SourceKind::Trace);
    }
    for bench in &inputs.benches {
        add(&bench.name, SourceKind::Bench);
    }
    for comparison in &inputs.comparisons {
        add(&comparison.name, SourceKind::Comparison);
    }
    for repeat in &inputs.repeats {
        add(&repeat.name, SourceKind::Repeat);
    }
    for arithmetic in &inputs.arithmetic {
        add(&arithmetic.name, SourceKind::Arithmetic);
    }
    for build in &inputs.builds {
        add(&build.name, SourceKind::Build);
    }
    if let Some(claims) = &inputs.claims {
        add(&claims.name, SourceKind::Claims);
    }
    sources
}

/// Puts together what inputs say: one that shows a fault decides; else what one of them leaves open stays open.
fn line(check: &Check, inputs: &Inputs) -> Line {
    let mut parts = (check.look)(inputs);
    if parts.is_empty() {
        let (reason, next) = (check.ask)(inputs);
        let mut part = Part::new(Answer::Unknown, reason);
        part.next = next;
        parts.push(part);
    }
    let order = [
        Answer::No,
        Answer::Unknown,
        Answer::Yes,
        Answer::NotApplicable,
    ];
    let place = |answer| order.iter().position(|known| *known == answer);
    parts.sort_by_key(|part| place(part.answer));
    let answer = parts.first().map_or(Answer::Unknown, |part| part.answer);
    let mut line = Line {
        id: check.id,
        group: check.group,
        question: check.question,
        answer,
        saving_expected: None,
        reasons: Vec::new(),
        evidence: Vec::new(),
        actions: Vec::new(),
        next: Vec::new(),
    };
    for part in parts {
        if part.answer == Answer::No {
            let larger = [line.saving_expected, part.saving].into_iter().flatten();
            line.saving_expected = larger.reduce(f64::max);
        }
        push_new(&mut line.reasons, part.reason);
        for evidence in part.evidence {
            push_new(&mut line.evidence, evidence);
        }
        for action in part.actions {
            push_new(&mut line.actions, action);
        }
        // What is answered well needs no command.
        if matches!(part.answer, Answer::No | Answer::Unknown) {
            for next in part.next {
                push_new(&mut line.next, next);
            }
        }
    }
    line
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}
