//! JUnit's XML, which most CI servers read.

use std::fmt::Write;

use ridge_compare::check::{Check, Document, Outcome};
use ridge_history::Timestamp;

use super::{headline, subject, word};
use crate::escape;

/// Writes one suite, with a case for each check: failures for what is broken, errors for what is not valid, and what cannot be
/// told as skipped. What holds has its sentence in the output of the suite.
///
/// It keeps to the schema of Ant's JUnit task, which is the strictest in use: a case has one element at most, the root no
/// attributes, and a suite has a time and a host. A check takes no time of its own, and who measured is not in a document, so
/// that the host is the one that the schema has for that.
#[must_use]
pub fn junit(document: &Document, written: Timestamp) -> String {
    let count = |outcome| {
        let checks = document.checks.iter();
        checks.filter(|check| check.outcome == outcome).count()
    };
    // Without any check a server would show nothing at all.
    let nothing = usize::from(document.checks.is_empty());
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    let _ = writeln!(
        out,
        "  <testsuite id=\"0\" package=\"ridge\" name=\"ridge check\" timestamp=\"{}\" hostname=\"localhost\" \
         tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"0\">",
        timestamp(written),
        document.checks.len() + nothing,
        count(Outcome::Broken),
        count(Outcome::Invalid),
        count(Outcome::CannotTell) + nothing,
    );
    properties(document, &mut out);
    for check in &document.checks {
        case(check, &mut out);
    }
    if document.checks.is_empty() {
        let _ = writeln!(
            out,
            "    <testcase classname=\"ridge\" name=\"check\" time=\"0\">\n      <skipped message=\"{}\"/>\n    </testcase>",
            attribute(&headline(document))
        );
    }
    out.push_str("    <system-out>");
    for check in &document.checks {
        if check.outcome == Outcome::Pass {
            let line = format!("{}: {}", subject(check), check.text);
            let _ = writeln!(out, "{}", content(&line));
        }
    }
    out.push_str("</system-out>\n    <system-err/>\n  </testsuite>\n</testsuites>\n");
    out
}

fn properties(document: &Document, out: &mut String) {
    let baseline = document.baseline.as_ref().map(|baseline| &baseline.name);
    out.push_str("    <properties>\n");
    for (name, value) in [
        ("version", Some(&document.tool_version)),
        ("baseline", baseline),
        ("config", document.config.as_ref()),
    ] {
        if let Some(value) = value {
            let value = attribute(value);
            let _ = writeln!(
                out,
                "      <property name=\"ridge.{name}\" value=\"{value}\"/>"
            );
        }
    }
    out.push_str("    </properties>\n");
}

fn case(check: &Check, out: &mut String) {
    let _ = write!(
        out,
        "    <testcase classname=\"ridge.{}\" name=\"{}\" time=\"0\"",
        check.rule.name(),
        attribute(&subject(check))
    );
    let (element, kind) = match check.outcome {
        Outcome::Pass => {
            out.push_str("/>\n");
            return;
        }
        Outcome::CannotTell => ("skipped", String::new()),
        Outcome::Broken => ("failure", format!(" type=\"{}\"", word(check))),
        Outcome::Invalid => ("error", format!(" type=\"{}\"", word(check))),
    };
    let hint = check
        .hint
        .as_ref()
        .map_or_else(String::new, |hint| format!("; try: {hint}"));
    let _ = writeln!(
        out,
        ">\n      <{element}{kind} message=\"{}\"/>\n    </testcase>",
        attribute(&format!("{}: {}{hint}", word(check), check.text))
    );
}

/// The schema takes whole seconds without a zone, and says so of UTC and of local time alike.
fn timestamp(time: Timestamp) -> String {
    let text = time.to_string();
    text.split(['.', 'Z']).next().unwrap_or_default().to_owned()
}

/// XML has no way to write most control characters, so they are made visible first.
fn attribute(text: &str) -> String {
    escape::html_attribute(&escape::terminal(text)).into_owned()
}

fn content(text: &str) -> String {
    escape::html_text(&escape::terminal(text)).into_owned()
}
