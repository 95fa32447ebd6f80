//! The same as Markdown.

use std::fmt::Write;

use ridge_collect::sanitize::document::Document;
use ridge_model::quantity::{Nanos, grouped};

use super::{counts, ended, first_seen, headline, place_text, subject, times, tool_name, what};
use crate::escape;

/// Writes two tables and what has to be known.
#[must_use]
pub fn markdown(document: &Document) -> String {
    let mut out = String::new();
    let cell = |text: &str| escape::markdown(text).into_owned();
    let _ = writeln!(out, "## {}\n", cell(&headline(document)));
    let _ = writeln!(
        out,
        "| tool | verdict | counted | printed | time | ended with | input |"
    );
    let _ = writeln!(out, "|---|---|---:|---:|---:|---|---|");
    for run in &document.runs {
        let time = run.took_ns.map(|time| Nanos::new(time).to_string());
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} |",
            tool_name(run.tool),
            run.verdict.name(),
            counts(run).unwrap_or_else(|| "-".to_owned()),
            grouped(run.records),
            time.unwrap_or_else(|| "-".to_owned()),
            run.end.map_or_else(|| "-".to_owned(), ended),
            cell(run.input.as_deref().unwrap_or("-")),
        );
    }
    if !document.groups.is_empty() {
        let _ = writeln!(
            out,
            "\n| tool | where | source | what | times | first | do |"
        );
        let _ = writeln!(out, "|---|---|---|---|---|---|---|");
    }
    for group in &document.groups {
        let place = group.first.place.as_ref().and_then(place_text);
        let likely = group
            .noise
            .as_ref()
            .map(|noise| format!(" (likely no fault: {})", noise.text));
        let advice = group
            .noise
            .as_ref()
            .map(|noise| &noise.hint)
            .or(group.advice.as_ref());
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} |",
            tool_name(group.tool),
            cell(&subject(group)),
            cell(place.as_deref().unwrap_or("-")),
            cell(&format!("{}{}", what(group), likely.unwrap_or_default())),
            times(group),
            cell(first_seen(&group.first).as_deref().unwrap_or("-")),
            cell(advice.map_or("-", |advice| advice)),
        );
    }
    let mut remarks = Vec::new();
    for run in &document.runs {
        for reason in &run.reasons {
            let hint = reason.hint.as_ref().map(|hint| format!("; {hint}"));
            remarks.push(format!(
                "{}: {}{}",
                tool_name(run.tool),
                reason.text,
                hint.unwrap_or_default()
            ));
        }
    }
    for note in &document.notes {
        let hint = note.hint.as_ref().map(|hint| format!("; {hint}"));
        remarks.push(format!("{}{}", note.text, hint.unwrap_or_default()));
    }
    if !remarks.is_empty() {
        out.push('\n');
    }
    for remark in remarks {
        let _ = writeln!(out, "- {}", cell(&remark));
    }
    out
}
