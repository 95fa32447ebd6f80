//! The answers of `ridge checklist`, for people and for reviews.

mod markdown;
mod text;

pub use markdown::markdown;
pub use text::text;

use ridge_checklist::{Answer, Document, Evidence, Group};
use ridge_model::quantity::{Amount, Unit, counted};

use crate::style::Role;

const GROUPS: [Group; 4] = [
    Group::Worth,
    Group::Kernels,
    Group::Results,
    Group::Measurement,
];

const fn group(group: Group) -> &'static str {
    match group {
        Group::Worth => "Worth a GPU",
        Group::Kernels => "Kernels",
        Group::Results => "Results",
        Group::Measurement => "Measurement",
    }
}

const fn role(answer: Answer) -> Role {
    match answer {
        Answer::Yes => Role::Good,
        Answer::No => Role::Bad,
        Answer::Unknown => Role::Warning,
        Answer::NotApplicable => Role::Dim,
    }
}

/// One sentence on the whole.
fn headline(document: &Document) -> String {
    let count = |answer| document.count(answer);
    let parts: Vec<String> = [
        Answer::No,
        Answer::Unknown,
        Answer::Yes,
        Answer::NotApplicable,
    ]
    .into_iter()
    .filter(|answer| count(*answer) > 0)
    .map(|answer| format!("{} {}", count(answer), answer.word()))
    .collect();
    format!(
        "{}: {}",
        counted(document.lines.len() as u64, "question"),
        parts.join(", ")
    )
}

/// A figure with its unit, what it is of, and where it is from.
fn evidence(document: &Document, evidence: &Evidence) -> String {
    let amount = |value| Amount::new(value, Unit::new(evidence.unit.clone()));
    let mut rest: Vec<String> = evidence.about.iter().cloned().collect();
    // Of one input everything is, unless something else is said.
    let is_only = document.sources.len() == 1
        && document
            .sources
            .iter()
            .any(|source| source.name.starts_with(&evidence.source));
    if !is_only {
        rest.push(evidence.source.clone());
    }
    rest.extend(
        evidence
            .healthy
            .map(|healthy| format!("healthy: {}", amount(healthy))),
    );
    let rest = if rest.is_empty() {
        String::new()
    } else {
        format!(" ({})", rest.join(", "))
    };
    format!("{} = {}{rest}", evidence.metric, amount(evidence.value))
}
