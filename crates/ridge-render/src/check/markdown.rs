//! A summary for a pull request, or for `$GITHUB_STEP_SUMMARY`.

use std::fmt::Write;

use ridge_compare::check::{Document, Outcome};

use super::{against, headline, remarks, subject, word};
use crate::escape;

/// Writes the summary: what does not hold in a table, what holds folded away below it.
#[must_use]
pub fn markdown(document: &Document) -> String {
    let mut out = String::new();
    let safe = |text: &str| escape::markdown(text).into_owned();
    let _ = writeln!(out, "## ridge check: {}\n", safe(&headline(document)));
    for line in against(document) {
        let _ = writeln!(out, "* {}", safe(&line));
    }
    for (is_fine, title) in [(false, None), (true, Some("What holds"))] {
        let checks: Vec<_> = document
            .checks
            .iter()
            .filter(|check| (check.outcome == Outcome::Pass) == is_fine)
            .collect();
        if checks.is_empty() {
            continue;
        }
        if let Some(title) = title {
            let _ = writeln!(
                out,
                "\n<details><summary>{title} ({})</summary>",
                checks.len()
            );
        }
        let _ = writeln!(out, "\n| | check | kernel | found |\n|---|---|---|---|");
        for check in checks {
            let hint = check
                .hint
                .as_ref()
                .filter(|_| !is_fine)
                .map_or_else(String::new, |hint| format!("<br>{}", safe(hint)));
            let _ = writeln!(
                out,
                "| **{}** | {} | {} | {}{hint} |",
                word(check),
                check.rule.name(),
                escape::markdown_code(&subject(check)),
                safe(&check.text)
            );
        }
        if title.is_some() {
            let _ = writeln!(out, "\n</details>");
        }
    }
    let mut remarks = remarks(document);
    if document.is_recorded {
        remarks.push("a new baseline was recorded".to_owned());
    }
    if !remarks.is_empty() {
        out.push('\n');
    }
    for remark in remarks {
        let _ = writeln!(out, "* {}", safe(&remark));
    }
    out
}
