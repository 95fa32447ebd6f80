//! The same tables as Markdown, for a pull request or a page.

use std::fmt::Write;

use ridge_bench::document::Document;
use ridge_model::quantity::Nanos;

use super::part::{Part, parts};
use super::row::{Columns, best, constant_axes, remarks, short, wrong};
use crate::escape;

/// Writes the whole page.
#[must_use]
pub fn markdown(document: &Document) -> String {
    let parts = parts(document);
    if parts.is_empty() {
        return page(document);
    }
    let page = |part: &Part<'_>| {
        let safe = |text: &str| escape::markdown(text).into_owned();
        match &part.spec.error {
            Some(error) if part.document.states.is_empty() => format!(
                "## {}\n\n* **failed** {}\n",
                safe(&part.spec.benchmark),
                safe(&error.text)
            ),
            Some(error) => format!(
                "{}* **failed** {}\n",
                page(&part.document),
                safe(&error.text)
            ),
            None if part.document.states.is_empty() => format!(
                "## {}\n\n* no state of it was measured\n",
                safe(&part.spec.benchmark)
            ),
            None => page(&part.document),
        }
    };
    let pages: Vec<String> = parts.iter().map(page).collect();
    pages.join("\n")
}

fn page(document: &Document) -> String {
    let mut out = String::new();
    let constant = constant_axes(document);
    let safe = |text: &str| escape::markdown(text).into_owned();
    let _ = writeln!(
        out,
        "## {} on {}\n",
        safe(&document.benchmark),
        safe(&document.machine.device)
    );
    let columns = Columns::of(document, true);
    let headers = columns.headers();
    let names: Vec<String> = headers.iter().map(|header| safe(header.name())).collect();
    let _ = writeln!(out, "| {} |", names.join(" | "));
    let rule: Vec<&str> = headers
        .iter()
        .map(|header| if header.is_text() { "---" } else { "---:" })
        .collect();
    let _ = writeln!(out, "|{}|", rule.join("|"));
    for state in &document.states {
        if state.modes.is_empty() {
            let cells: Vec<String> = columns
                .cells(state, None)
                .iter()
                .map(|cell| safe(cell))
                .collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
        for mode in &state.modes {
            let cells: Vec<String> = columns
                .cells(state, Some(mode))
                .iter()
                .map(|cell| safe(cell))
                .collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
    }
    let mut notes = Vec::new();
    for state in &document.states {
        notes.extend(state.failure.as_ref().map(|failure| {
            format!(
                "**failed** {}: {}",
                safe(&short(&state.name, &constant)),
                safe(&failure.message)
            )
        }));
        notes.extend(wrong(state).map(|text| {
            format!(
                "**wrong** {}: {}",
                safe(&short(&state.name, &constant)),
                safe(&text)
            )
        }));
    }
    for said in remarks(document) {
        let (who, is_invalid, text) = (said.who(), said.is_invalid, said.text);
        let label = if is_invalid { "**not valid** " } else { "" };
        notes.push(format!("{label}{}: {}", safe(&who), safe(&text)));
    }
    notes.extend(document.machine.notes.iter().map(|note| safe(&note.text)));
    if let Some(floors) = &document.floors {
        notes.push(format!(
            "floors: empty kernel {}, with the wait for it {}",
            Nanos::new(floors.kernel_ns),
            Nanos::new(floors.latency_ns)
        ));
    }
    for group in &document.best {
        notes.extend(best(group, &constant).iter().map(|line| safe(line)));
    }
    if !notes.is_empty() {
        out.push('\n');
    }
    for note in notes {
        let _ = writeln!(out, "* {note}");
    }
    out
}
