//! Annotations of GitHub's workflows: commands that a job prints.

use std::fmt::Write;

use ridge_compare::check::{Document, Outcome};

use super::{headline, subject, word};
use crate::escape;

/// Writes one command a line: `::error file=…,line=…,title=…::text`. Errors for what is broken or not valid, warnings for what
/// cannot be told, and one notice with the headline: GitHub shows ten of a kind for each step, so that what holds is not listed.
#[must_use]
pub fn github(document: &Document) -> String {
    let mut out = String::new();
    for check in &document.checks {
        let level = match check.outcome {
            Outcome::Pass => continue,
            Outcome::CannotTell => "warning",
            Outcome::Broken | Outcome::Invalid => "error",
        };
        let mut properties = String::new();
        if let (Some(file), Some(line)) = (&check.file, check.line) {
            let _ = write!(properties, "file={},line={line},", property(file));
        }
        let title = format!("{} {}: {}", word(check), check.rule.name(), subject(check));
        let hint = check
            .hint
            .as_ref()
            .map_or_else(String::new, |hint| format!("; try: {hint}"));
        let _ = writeln!(
            out,
            "::{level} {properties}title={}::{}",
            property(&title),
            message(&format!("{}{hint}", check.text))
        );
    }
    let level = if document.checks.is_empty() {
        "warning"
    } else {
        "notice"
    };
    let _ = writeln!(
        out,
        "::{level} title=ridge check::{}",
        message(&headline(document))
    );
    out
}

/// What a command's message may hold: the workflow commands of GitHub's runner escape these.
fn message(text: &str) -> String {
    escape::terminal(text)
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// What a property of a command may hold beside that.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
