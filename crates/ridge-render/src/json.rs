//! The diagnosis as one JSON document.

use ridge_diagnose::document::Document;

/// Writes the document, indented, with a newline at the end.
///
/// # Errors
/// When a value cannot be written, which no document can cause.
pub fn document(document: &Document) -> serde_json::Result<String> {
    let mut text = serde_json::to_string_pretty(document)?;
    text.push('\n');
    Ok(text)
}
