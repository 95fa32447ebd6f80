//! Answers as one JSON document.

use ridge_diagnose::document::Document;

/// Writes a diagnosis, indented, with a newline at the end.
///
/// # Errors
/// When a value cannot be written, which no document can cause.
pub fn document(document: &Document) -> serde_json::Result<String> {
    serde_json::to_string_pretty(document).map(ended)
}

/// Writes lower bounds, indented, with a newline at the end.
///
/// # Errors
/// When a value cannot be written, which no document can cause.
pub fn bound(document: &ridge_model::bound::document::Document) -> serde_json::Result<String> {
    serde_json::to_string_pretty(document).map(ended)
}

/// Writes devices, indented, with a newline at the end.
///
/// # Errors
/// When a value cannot be written, which no document can cause.
pub fn devices(document: &ridge_model::device::document::Document) -> serde_json::Result<String> {
    serde_json::to_string_pretty(document).map(ended)
}

/// Writes the occupancy of launches, indented, with a newline at the end.
///
/// # Errors
/// When a value cannot be written, which no document can cause.
pub fn occupancy(
    document: &ridge_model::occupancy::document::Document,
) -> serde_json::Result<String> {
    serde_json::to_string_pretty(document).map(ended)
}

/// Writes a roofline, indented, with a newline at the end.
///
/// # Errors
/// When a value cannot be written, which no document can cause.
pub fn roofline(
    document: &ridge_model::roofline::document::Document,
) -> serde_json::Result<String> {
    serde_json::to_string_pretty(document).map(ended)
}

/// Writes a benchmark, indented, with a newline at the end.
///
/// # Errors
/// When a value cannot be written, which no document can cause.
pub fn bench(document: &ridge_bench::document::Document) -> serde_json::Result<String> {
    serde_json::to_string_pretty(document).map(ended)
}

/// Writes ceilings, indented, with a newline at the end.
///
/// # Errors
/// When a value cannot be written, which no document can cause.
pub fn ceilings(
    document: &ridge_bench::ceilings::document::Document,
) -> serde_json::Result<String> {
    serde_json::to_string_pretty(document).map(ended)
}

fn ended(mut text: String) -> String {
    text.push('\n');
    text
}
