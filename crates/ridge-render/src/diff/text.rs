//! The page for the terminal.

use ridge_compare::document::Document;
use ridge_model::quantity::counted;

use super::page::Page;
use super::part::Part;
use super::{kernels, words};
use crate::page::Layout;
use crate::style::Role;
use crate::table::{Column, Table};

/// Writes the page.
#[must_use]
pub fn text(document: &Document, layout: &Layout) -> String {
    let layout = &Page(layout);
    let mut out = String::new();
    layout.heading(
        &mut out,
        &format!("{} → {}", document.before, document.after),
    );
    for note in &document.warnings {
        layout.paragraph(
            &mut out,
            &words::note(note),
            &format!("{} ", Role::Warning.mark()),
            "  ",
            Some(Role::Warning),
        );
    }
    if let Some(found) = &document.kernels {
        kernels::write(&mut out, found, layout);
    }
    for part in super::parts(document) {
        write_part(&mut out, &part, layout);
    }
    out
}

/// Rows that are shown without `-v`.
const MOST_ROWS: usize = 20;

fn write_part(out: &mut String, part: &Part, layout: &Page<'_>) {
    out.push('\n');
    layout.heading(out, &part.title);
    for line in &part.lines {
        match line.verdict.map(words::role) {
            Some(role) => {
                let text = format!("{} {}", role.mark(), line.text);
                layout.paragraph(out, &text, "  ", "    ", Some(role));
            }
            None => layout.paragraph(out, &line.text, "    ", "      ", None),
        }
    }
    let most = if layout.is_verbose {
        usize::MAX
    } else {
        MOST_ROWS
    };
    let columns = part.columns.iter().map(|(header, is_number)| {
        if *is_number {
            Column::right(header)
        } else {
            Column::left(header).truncated(1, 10)
        }
    });
    let mut table = Table::new([Column::left(" ")].into_iter().chain(columns));
    for row in part.rows.iter().take(most) {
        table.row(layout.cells([" ".to_owned()].into_iter().chain(row.iter().cloned())));
    }
    if !table.is_empty() {
        out.push_str(&table.render(layout.columns, layout.charset, layout.painter));
    }
    let more = part.rows.len().saturating_sub(most);
    if more > 0 {
        let what = format!("more {}", part.what);
        let text = format!("and {}; -v shows all", counted(more as u64, &what));
        layout.paragraph(out, &text, "  ", "    ", Some(Role::Dim));
    }
}
