//! SARIF 2.1.0, which code scanning reads.

use ridge_compare::check::{Check, Document, Outcome, Rule};
use serde_json::{Value, json};

use super::{subject, word};
use crate::escape;
use crate::sanitize::uri;

/// Writes one run. What holds is not in it: results are what a person should look at.
#[must_use]
pub fn sarif(document: &Document) -> String {
    let rules: Vec<Value> = Rule::ALL
        .iter()
        .map(|rule| {
            json!({
                "id": rule.name(),
                "shortDescription": { "text": rule.explanation() },
                "fullDescription": { "text": rule.explanation() },
                "help": { "text": "`ridge check --help` tells what can be asked, and `ridge why` what limits a kernel." },
            })
        })
        .collect();
    let results: Vec<Value> = document
        .checks
        .iter()
        .filter(|check| check.outcome != Outcome::Pass)
        .map(|check| result(check, document))
        .collect();
    let run = json!({
        "tool": {
            "driver": {
                "name": "ridge",
                "version": document.tool_version,
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            }
        },
        "results": results,
    });
    let whole = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    });
    // A tree of values has nothing that cannot be written.
    let mut text = serde_json::to_string_pretty(&whole).unwrap_or_default();
    text.push('\n');
    text
}

fn result(check: &Check, document: &Document) -> Value {
    let level = match check.outcome {
        Outcome::Pass => "none",
        Outcome::CannotTell => "warning",
        Outcome::Broken | Outcome::Invalid => "error",
    };
    let hint = check
        .hint
        .as_ref()
        .map_or_else(String::new, |hint| format!("; try: {hint}"));
    let message = format!("{} {}: {}{hint}", word(check), subject(check), check.text);
    // Code scanning wants a file: the budget's, else the configuration's, else the result's.
    let file = check
        .file
        .as_ref()
        .or(document.config.as_ref())
        .or_else(|| document.results.get(check.result.unwrap_or(0)));
    let mut value = json!({
        "ruleId": check.rule.name(),
        "ruleIndex": Rule::ALL.iter().position(|rule| *rule == check.rule),
        "partialFingerprints": { "primaryLocationLineHash": fingerprint(check) },
        "level": level,
        "message": { "text": escape::terminal(&message) },
    });
    if let Some(file) = file {
        value["locations"] = json!([{
            "physicalLocation": {
                "artifactLocation": { "uri": uri(&file.replace('\\', "/")) },
                "region": { "startLine": check.line.unwrap_or(1) },
            }
        }]);
    }
    value
}

/// What makes a result the same one as before, wherever its line has moved to: the rule and what it is about (FNV-1a, as several
/// results stand at one line).
fn fingerprint(check: &Check) -> String {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let text = format!("{}\0{}", check.rule.name(), subject(check));
    let hash = text.bytes().fold(START, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    });
    format!("{hash:016x}:1")
}
