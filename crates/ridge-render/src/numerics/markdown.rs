//! The answer as Markdown, for issues and reviews.

use std::fmt::Write;

use ridge_numerics::document::Document;

use super::rows::{ELEMENT, digits, element, rows};
use super::text::limits;
use super::{sentence, side, word};
use crate::escape::{markdown as safe, markdown_code};

/// Writes the answer.
#[must_use]
pub fn markdown(document: &Document) -> String {
    let verdict = &document.verdict;
    let mut out = format!(
        "**{}**: {}\n\n",
        word(verdict.outcome),
        safe(sentence(document))
    );
    let _ = writeln!(
        out,
        "{} against {}\n",
        markdown_code(&side(&document.output)),
        markdown_code(&side(&document.reference))
    );
    let actions = verdict.causes.iter().map(|cause| &cause.action);
    for line in verdict.notes.iter().chain(actions).chain(&verdict.next) {
        let _ = writeln!(out, "- {}", safe(line));
    }
    let (Some(measures), Some(tolerance)) = (&document.measures, &document.tolerance) else {
        return out;
    };
    out.push_str("\n| measure | value | |\n|---|---:|---|\n");
    for row in rows(measures, false) {
        let _ = writeln!(
            out,
            "| {} | {} | {} |",
            row.what,
            safe(&row.value),
            safe(&row.about)
        );
    }
    let _ = writeln!(out, "\nTolerance: {}.", safe(&limits(tolerance)));
    for reason in &tolerance.reasons {
        let _ = writeln!(out, "{}", safe(reason));
    }
    if measures.failing > 0 {
        let digits = digits(&document.output.format);
        let _ = writeln!(
            out,
            "\n| {} |\n|---|---:|---:|---:|---:|---:|---:|",
            ELEMENT.join(" | ")
        );
        for one in &measures.worst {
            let cells = element(one, digits).map(|cell| safe(&cell).into_owned());
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
    }
    out
}
