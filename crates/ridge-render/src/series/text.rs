//! Series for a terminal: a chart of each, and what changed below it.

use ridge_history::changes::document::{Document, SeriesRow};
use ridge_model::quantity::grouped;

use super::{characters, words};
use crate::escape;
use crate::page::Layout;
use crate::style::Role;

/// Writes the charts of all series.
#[must_use]
pub fn text(document: &Document, layout: &Layout) -> String {
    let mut out = String::new();
    for (place, series) in document.series.iter().enumerate() {
        if place > 0 {
            out.push('\n');
        }
        write_series(&mut out, series, layout);
    }
    left_out(&mut out, document, layout);
    out
}

fn write_series(out: &mut String, series: &SeriesRow, layout: &Layout) {
    layout.heading(out, &words::title(series));
    layout.paragraph(out, &words::extent(series), "", "", Some(Role::Dim));
    for line in characters::plot(series, layout) {
        // Units come from the store.
        out.push_str(&escape::terminal(&line));
        out.push('\n');
    }
    found(out, series, layout);
}

/// The changes and drifts of a series, or that there are none.
pub(super) fn found(out: &mut String, series: &SeriesRow, layout: &Layout) {
    for (place, change) in series.changes.iter().enumerate() {
        let role = match change.is_worse {
            Some(true) => Some(Role::Bad),
            Some(false) => Some(Role::Good),
            None => None,
        };
        let text = words::sentence(change, &series.unit);
        let first = format!("{} ", characters::mark(place));
        layout.paragraph(out, &text, &first, "  ", role);
    }
    let mut has_drift = false;
    for segment in &series.segments {
        if let Some(drift) = &segment.drift {
            has_drift = true;
            let text = words::drift(series, segment, drift);
            layout.paragraph(out, &text, "~ ", "  ", Some(Role::Warning));
        }
    }
    if series.changes.is_empty() && !has_drift {
        layout.paragraph(out, &words::nothing(series), "", "", Some(Role::Dim));
    }
}

/// What is not shown.
pub(super) fn left_out(out: &mut String, document: &Document, layout: &Layout) {
    if document.left_out > 0 {
        let text = format!(
            "and {} more series; narrow it down with --subject, --metric or --gpu",
            grouped(document.left_out)
        );
        out.push('\n');
        layout.paragraph(out, &text, "", "", Some(Role::Dim));
    }
}
