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
fn evidence(evidence: &Evidence) -> String {
    let amount = |value| Amount::new(value, Unit::new(evidence.unit.clone()));
    let about = evidence
        .about
        .as_ref()
        .map_or_else(String::new, |about| format!("{about}, "));
    let healthy = evidence.healthy.map_or_else(String::new, |healthy| {
        format!(", healthy: {}", amount(healthy))
    });
    format!(
        "{} = {} ({about}{}{healthy})",
        evidence.metric,
        amount(evidence.value),
        evidence.source
    )
}
