//! The page for the browser: one file that loads nothing. A script draws the picture from the document that the page
//! carries; names from inputs reach the page as text only.

use std::borrow::Cow;

use ridge_model::quantity::counted;
use ridge_model::roofline::document::{Document, Warning};

use super::view::{MOST_WARNINGS, Shown};
use super::{Picture, picture};
use crate::escape;
use crate::svg;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const BODY: &str = include_str!("page.html");

/// Nothing is loaded, not even from where the page comes from.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:";

/// Writes the page.
///
/// # Errors
/// When a value cannot be written as JSON, which no document can cause.
pub fn html(document: &Document, picture: Picture) -> serde_json::Result<String> {
    let (document, left_out) = &of_shown(document);
    let data = serde_json::to_string(&**document)?;
    let names: Vec<&str> = document
        .charts
        .iter()
        .filter_map(|chart| chart.device.name.as_deref())
        .collect();
    let title = format!("Roofline of {}", names.join(" and "));
    Ok([
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
        "<meta http-equiv=\"Content-Security-Policy\" content=\"",
        POLICY,
        "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
        "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
        &escape::html_text(&title),
        "</title>\n<style id=\"picture-style\">",
        svg::STYLE,
        picture::STYLE,
        "</style>\n<style>",
        STYLE,
        "</style>\n</head>\n<body data-level=\"",
        &picture.level.name().to_ascii_lowercase(),
        "\">\n",
        &BODY.replacen("</header>", &[left_out.as_str(), "</header>"].concat(), 1),
        "<noscript>\n",
        &picture::svg(document, picture),
        "</noscript>\n<script type=\"application/json\" id=\"data\">",
        &escape::json_in_script(&data),
        "</script>\n<script>\n",
        SCRIPT,
        "</script>\n</body>\n</html>\n",
    ]
    .concat())
}

/// The document with no more charts and warnings than a page has room for, and what is said about the others.
fn of_shown(document: &Document) -> (Cow<'_, Document>, String) {
    let shown = Shown::of(document);
    let left_out = shown.left_out.map_or_else(String::new, |text| {
        format!("<p id=\"left-out\">{}</p>", escape::html_text(&text))
    });
    if left_out.is_empty() && document.warnings.len() <= MOST_WARNINGS {
        return (Cow::Borrowed(document), left_out);
    }
    let mut warnings: Vec<Warning> = document
        .warnings
        .iter()
        .take(MOST_WARNINGS)
        .cloned()
        .collect();
    if document.warnings.len() > MOST_WARNINGS {
        warnings.push(Warning {
            code: "more-warnings".to_owned(),
            message: format!(
                "and {}; --format json lists all",
                counted(
                    (document.warnings.len() - MOST_WARNINGS) as u64,
                    "more warning"
                )
            ),
            source: None,
            offset: None,
        });
    }
    let shown = Document {
        charts: shown.charts.into_iter().cloned().collect(),
        sources: document.sources.clone(),
        warnings,
        ..*document
    };
    (Cow::Owned(shown), left_out)
}
