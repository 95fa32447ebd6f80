//! The answer of `ridge diff`: a page for the terminal, Markdown for a pull request, and a page for the browser.

mod html;
mod kernels;
mod markdown;
mod page;
mod part;
mod text;
mod words;

pub use html::html;
pub use markdown::markdown;
pub use text::text;

use ridge_compare::document::Document;

/// Timelines and benchmarks of a document.
fn parts(document: &Document) -> Vec<part::Part> {
    let mut parts = Vec::new();
    if let Some(found) = &document.timelines {
        parts.extend(part::timelines(found));
    }
    if let Some(found) = &document.benchmarks {
        parts.extend(part::benchmarks(found));
    }
    parts
}
