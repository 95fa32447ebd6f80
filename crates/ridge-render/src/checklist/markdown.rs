//! The same for a review.

use std::fmt::Write;

use ridge_checklist::{Answer, Document, Line};

use super::{GROUPS, evidence, group, headline};
use crate::escape;

/// Figures that are shown of a line.
const FIGURES: usize = 3;

/// Writes a table for each part of the list.
#[must_use]
pub fn markdown(document: &Document) -> String {
    let mut out = String::new();
    let safe = |text: &str| escape::markdown(text).into_owned();
    let _ = writeln!(out, "## GPU checklist: {}", safe(&headline(document)));
    for part in GROUPS {
        let lines: Vec<&Line> = document.lines.iter().filter(|l| l.group == part).collect();
        if lines.is_empty() {
            continue;
        }
        let _ = writeln!(
            out,
            "\n### {}\n\n| | question | why | next |\n|---|---|---|---|",
            group(part)
        );
        for line in lines {
            let mut why: Vec<String> = line.reasons.iter().map(|text| safe(text)).collect();
            why.extend(
                line.evidence
                    .iter()
                    .take(FIGURES)
                    .map(|figure| format!("<sub>{}</sub>", safe(&evidence(document, figure)))),
            );
            let mut next: Vec<String> = line.actions.iter().map(|text| safe(text)).collect();
            next.extend(line.next.iter().map(|text| escape::markdown_code(text)));
            let word = match line.answer {
                Answer::Yes => line.answer.word().to_owned(),
                answer => format!("**{}**", answer.word()),
            };
            let _ = writeln!(
                out,
                "| {word} | {} | {} | {} |",
                safe(line.question),
                why.join("<br>"),
                next.join("<br>")
            );
        }
    }
    if !document.warnings.is_empty() {
        out.push('\n');
    }
    for warning in &document.warnings {
        let source = warning.source.as_ref();
        let source = source.map_or_else(String::new, |source| format!("{source}: "));
        let _ = writeln!(out, "* {}", safe(&format!("{source}{}", warning.message)));
    }
    out
}
