//! The page for the browser: one file that loads nothing and runs nothing.

use std::fmt::Write;

use ridge_numerics::document::Document;
use ridge_numerics::words::{grouped, percent};

use super::rows::{ELEMENT, digits, element, rows, sizes};
use super::text::limits;
use super::{sentence, side, svg, word};
use crate::escape;

const STYLE: &str = include_str!("page.css");

/// Nothing is loaded and no script runs.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

fn safe(text: &str) -> String {
    escape::html_text(text).into_owned()
}

/// A table: headers, and rows of which the first cell is text and the others are numbers.
fn table(out: &mut String, headers: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
    out.push_str("<table><thead><tr>");
    for header in headers {
        let _ = write!(out, "<th>{}</th>", safe(header));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (place, cell) in row.iter().enumerate() {
            let class = if place == 0 { "" } else { " class=\"num\"" };
            let _ = write!(out, "<td{class}>{}</td>", safe(cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table>\n");
}

/// Writes the page.
#[must_use]
pub fn html(document: &Document) -> String {
    let verdict = &document.verdict;
    let name = word(verdict.outcome);
    let title = format!("{name}: {}", document.output.name);
    let mut out = [
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
        "<meta http-equiv=\"Content-Security-Policy\" content=\"",
        POLICY,
        "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
        "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
        &safe(&title),
        "</title>\n<style>",
        STYLE,
        "</style>\n</head>\n<body>\n<header><h1><strong class=\"",
        &name.to_ascii_lowercase().replace(' ', "-"),
        "\">",
        name,
        "</strong> ",
        &safe(sentence(document)),
        "</h1>\n<p>",
        &safe(&side(&document.output)),
        " against ",
        &safe(&side(&document.reference)),
        "</p></header>\n",
    ]
    .concat();
    let actions = verdict.causes.iter().map(|cause| &cause.action);
    let lines: Vec<&String> = verdict
        .notes
        .iter()
        .chain(actions)
        .chain(&verdict.next)
        .collect();
    if !lines.is_empty() {
        out.push_str("<ul>\n");
        for line in lines {
            let _ = writeln!(out, "<li>{}</li>", safe(line));
        }
        out.push_str("</ul>\n");
    }
    if let (Some(measures), Some(tolerance)) = (&document.measures, &document.tolerance) {
        let _ = writeln!(
            out,
            "<section><h2>Tolerance</h2>\n<p>{}</p>",
            safe(&limits(tolerance))
        );
        for reason in &tolerance.reasons {
            let _ = writeln!(out, "<p>{}</p>", safe(reason));
        }
        out.push_str("</section>\n<section><h2>Where</h2>\n<figure>");
        out.push_str(&svg(document).unwrap_or_default());
        out.push_str("</figure></section>\n<section><h2>Measures</h2>\n");
        let all = rows(measures, true).into_iter();
        table(
            &mut out,
            &["measure", "value", ""],
            all.map(|row| vec![row.what.to_owned(), row.value, row.about]),
        );
        out.push_str("</section>\n<section><h2>Errors by size</h2>\n");
        table(
            &mut out,
            &["error in ULP", "elements", "share"],
            sizes(measures)
                .into_iter()
                .map(|(bound, count, share)| vec![bound, grouped(count), percent(share)]),
        );
        out.push_str("</section>\n");
        let digits = digits(&document.output.format);
        for (what, elements) in [("First", &measures.first), ("Worst", &measures.worst)] {
            if elements.is_empty() {
                continue;
            }
            let _ = writeln!(out, "<section><h2>{what} elements</h2>");
            table(
                &mut out,
                &ELEMENT,
                elements.iter().map(|one| element(one, digits).to_vec()),
            );
            out.push_str("</section>\n");
        }
    }
    out.push_str("</body>\n</html>\n");
    out
}
