//! JUnit's XML, which most CI servers read.

use std::fmt::Write;

use ridge_compare::check::{Document, Outcome};

use super::{headline, subject, word};
use crate::escape;

/// Writes one suite, with a case for each check: failures for what is broken, errors for what is not valid, and what cannot be
/// told as skipped.
#[must_use]
pub fn junit(document: &Document) -> String {
    let count = |outcome| {
        let checks = document.checks.iter();
        checks.filter(|check| check.outcome == outcome).count()
    };
    // Without any check a server would show nothing at all.
    let nothing = usize::from(document.checks.is_empty());
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        document.checks.len() + nothing,
        count(Outcome::Broken),
        count(Outcome::Invalid),
        count(Outcome::CannotTell) + nothing,
    );
    let _ = writeln!(out, "<testsuites name=\"ridge check\" {counts}>");
    let _ = writeln!(out, "  <testsuite name=\"ridge check\" {counts}>");
    for check in &document.checks {
        let _ = write!(
            out,
            "    <testcase classname=\"ridge.{}\" name=\"{}\"",
            check.rule.name(),
            attribute(&subject(check))
        );
        let hint = check
            .hint
            .as_ref()
            .map_or_else(String::new, |hint| format!("; try: {hint}"));
        let (element, kind) = match check.outcome {
            Outcome::Pass => {
                let _ = writeln!(
                    out,
                    ">\n      <system-out>{}</system-out>\n    </testcase>",
                    content(&check.text)
                );
                continue;
            }
            Outcome::CannotTell => ("skipped", String::new()),
            Outcome::Broken => ("failure", format!(" type=\"{}\"", word(check))),
            Outcome::Invalid => ("error", format!(" type=\"{}\"", word(check))),
        };
        let _ = writeln!(
            out,
            ">\n      <{element}{kind} message=\"{}\"/>\n    </testcase>",
            attribute(&format!("{}: {}{hint}", word(check), check.text))
        );
    }
    if document.checks.is_empty() {
        let _ = writeln!(
            out,
            "    <testcase classname=\"ridge\" name=\"check\">\n      <skipped message=\"{}\"/>\n    </testcase>",
            attribute(&headline(document))
        );
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// XML has no way to write most control characters, so they are made visible first.
fn attribute(text: &str) -> String {
    escape::html_attribute(&escape::terminal(text)).into_owned()
}

fn content(text: &str) -> String {
    escape::html_text(&escape::terminal(text)).into_owned()
}
