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

/// So much of the name of a kernel or state is shown; JSON has it whole.
const SHOWN: usize = 40;

fn short(name: &str) -> String {
    match name.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

/// A figure with its unit, what it is of, and where it is from.
fn evidence(document: &Document, evidence: &Evidence) -> String {
    let amount = |value| Amount::new(value, Unit::new(evidence.unit.clone()));
    let mut rest: Vec<String> = evidence.about.iter().map(|about| short(about)).collect();
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

#[cfg(test)]
mod tests {
    use ridge_checklist::{Line, SCHEMA, Source, SourceKind, VERSION, Warning};

    use super::*;
    use crate::charset::Charset;
    use crate::page::Layout;
    use crate::style::Painter;

    const HOSTILE: &str = "a\u{1b}[31m|<b>`\nname";

    fn document() -> Document {
        Document {
            schema: SCHEMA,
            version: VERSION,
            sources: vec![Source {
                name: HOSTILE.to_owned(),
                kind: SourceKind::Kernels,
            }],
            lines: vec![Line {
                id: "coalesced",
                group: Group::Kernels,
                question: "Is it?",
                answer: Answer::No,
                saving_expected: Some(0.5),
                reasons: vec![format!("{HOSTILE}: a flaw")],
                evidence: vec![Evidence {
                    metric: HOSTILE.to_owned(),
                    value: 3.0,
                    unit: "byte".to_owned(),
                    healthy: Some(1.0),
                    about: Some(HOSTILE.to_owned()),
                    source: "another".to_owned(),
                }],
                actions: vec!["mend it".to_owned()],
                next: vec![format!("ridge why '{HOSTILE}'")],
            }],
            warnings: vec![Warning {
                code: "x".to_owned(),
                message: HOSTILE.to_owned(),
                source: Some(HOSTILE.to_owned()),
            }],
        }
    }

    #[test]
    fn what_comes_from_inputs_is_escaped() {
        let layout = Layout {
            columns: 80,
            charset: Charset::Ascii,
            painter: Painter::plain(),
            is_verbose: true,
        };
        let page = text(&document(), &layout);
        assert!(!page.contains('\u{1b}'), "{page:?}");
        let words: Vec<&str> = page.split_whitespace().collect();
        let words = words.join(" ");
        assert!(words.contains("healthy: 1 B"), "{page}");
        assert!(words.contains("do: mend it"), "{page}");
        let review = markdown(&document());
        assert!(
            !review.contains('\u{1b}') && !review.contains("<b>"),
            "{review}"
        );
        // A row stays a row.
        let row = review
            .lines()
            .find(|line| line.starts_with("| **no**"))
            .unwrap();
        let bars = row.replace("\\|", "").matches('|').count();
        assert_eq!(bars, 5, "{row}");
        assert!(
            page.lines().all(|line| line.chars().count() <= 80),
            "{page}"
        );
    }
}
