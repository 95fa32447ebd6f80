//! The page for the terminal.

use ridge_compare::document::Document;

use super::{kernels, words};
use crate::page::Layout;
use crate::style::Role;

/// Writes the page.
#[must_use]
pub fn text(document: &Document, layout: &Layout) -> String {
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
    out
}
