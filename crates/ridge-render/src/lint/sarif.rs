//! SARIF 2.1.0: one result for each finding, at its place in the source.

use ridge_lint::Severity;
use ridge_lint::document::{Document, FoundItem};
use serde_json::{Value, json};

use crate::sanitize::uri;

/// Writes the log.
#[must_use]
pub fn sarif(document: &Document) -> Value {
    let ids: Vec<&str> = ridge_lint::page_ids().collect();
    let rules: Vec<Value> = ids
        .iter()
        .map(|id| {
            let page = ridge_lint::page(id).unwrap_or_default();
            let first = page
                .split("\n\n")
                .nth(1)
                .unwrap_or_default()
                .replace('\n', " ");
            json!({
                "id": id,
                "shortDescription": { "text": first },
                "help": { "text": format!("`ridge explain {id}` tells more"), "markdown": page },
            })
        })
        .collect();
    let problems: Vec<Value> = document
        .inputs
        .iter()
        .filter_map(|input| Some((input, input.problem.as_ref()?)))
        .map(|(input, problem)| {
            json!({ "level": "error", "message": { "text": format!("{}: {}", input.file, problem.text) } })
        })
        .collect();
    let results: Vec<Value> = document
        .findings
        .iter()
        .map(|finding| result(finding, &ids))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "ridge lint",
                "semanticVersion": document.tool_version,
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": problems.is_empty(),
                "toolExecutionNotifications": problems,
            }],
            "results": results,
        }],
    })
}

fn result(finding: &FoundItem, ids: &[&str]) -> Value {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let mut result = json!({
        "ruleId": finding.rule,
        "ruleIndex": ids.iter().position(|id| *id == finding.rule),
        "level": level,
        "message": { "text": format!("{}; {}", finding.message, finding.advice) },
    });
    let Some(start) = finding.start else {
        return result;
    };
    let mut region = json!({ "startLine": start.line, "startColumn": start.column });
    if let Some(end) = finding.end {
        region["endLine"] = json!(end.line);
        region["endColumn"] = json!(end.column);
    }
    result["locations"] = json!([{ "physicalLocation": {
        "artifactLocation": { "uri": uri(&finding.file) },
        "region": region,
    }}]);
    result
}
