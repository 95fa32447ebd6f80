//! What changed in many series, for a terminal.

use ridge_history::changes::document::Document;
use ridge_model::quantity::grouped;

use super::text::{found, left_out};
use super::words;
use crate::page::Layout;
use crate::style::Role;

/// Writes the series in which something changed, and counts the others.
#[must_use]
pub fn changes(document: &Document, layout: &Layout) -> String {
    let mut out = String::new();
    let (mut steady, mut short) = (0, 0);
    let mut least = 0;
    for series in &document.series {
        let has_drift = series.segments.iter().any(|part| part.drift.is_some());
        if series.changes.is_empty() && !has_drift {
            if series.count < series.least_points {
                short += 1;
                least = series.least_points;
            } else {
                steady += 1;
            }
            if !layout.is_verbose {
                continue;
            }
        }
        layout.heading(&mut out, &words::title(series));
        layout.paragraph(
            &mut out,
            &words::extent(series),
            "  ",
            "  ",
            Some(Role::Dim),
        );
        found(&mut out, series, layout);
        out.push('\n');
    }
    if steady > 0 {
        let text = format!("{} without a change", counted_series(steady));
        layout.paragraph(&mut out, &text, "", "", Some(Role::Dim));
    }
    if short > 0 {
        let text = format!(
            "{} with fewer than {least} results, in which no change can be found",
            counted_series(short)
        );
        layout.paragraph(&mut out, &text, "", "", Some(Role::Dim));
    }
    left_out(&mut out, document, layout);
    out
}

/// The plural is the same word.
fn counted_series(count: u64) -> String {
    format!("{} series", grouped(count))
}
