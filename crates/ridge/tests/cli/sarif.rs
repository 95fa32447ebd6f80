//! What SARIF 2.1.0 asks of the objects that ridge writes, in the words of the standard (OASIS, sections 3.13 to 3.58).
//!
//! A property that is not among those below is a violation here, though the standard may have it: who writes another one says
//! what it has to be. Logs of all three verbs were held against the standard's own schema as well, on 2026-12-01 with Python's
//! jsonschema 4.26.

use serde_json::{Value, json};

use crate::schema::violations;

/// What of a log does not follow the standard.
pub(crate) fn violations_of_sarif(log: &Value) -> Vec<String> {
    let mut found = violations(&schema(), log);
    addresses(log, &mut found);
    for run in log["runs"].as_array().into_iter().flatten() {
        let rules = &run["tool"]["driver"]["rules"];
        for result in run["results"].as_array().into_iter().flatten() {
            // Section 3.27.6: the index is that of the rule's description.
            let index = result["ruleIndex"].as_u64().unwrap_or(u64::MAX);
            let index = usize::try_from(index).unwrap_or(usize::MAX);
            if rules
                .get(index)
                .is_none_or(|rule| rule["id"] != result["ruleId"])
            {
                found.push(format!("no rule of {index}: {result}"));
            }
            // Section 3.30: a region does not end before it begins.
            for location in result["locations"].as_array().into_iter().flatten() {
                let region = &location["physicalLocation"]["region"];
                let place = |line: &str, column: &str| {
                    Some((region[line].as_u64()?, region[column].as_u64().unwrap_or(1)))
                };
                if let (Some(start), Some(end)) = (
                    place("startLine", "startColumn"),
                    place("endLine", "endColumn"),
                ) && end < start
                {
                    found.push(format!("a region ends before it begins: {region}"));
                }
            }
        }
    }
    found
}

/// Every address is a reference as RFC 3986 has it: what else a path holds is written as percent codes.
fn addresses(value: &Value, found: &mut Vec<String>) {
    for (name, value) in value.as_object().into_iter().flatten() {
        if let (true, Some(uri)) = (name.ends_with("ri"), value.as_str()) {
            let parts = uri.split('%').enumerate();
            let is_well = !uri.is_empty()
                && parts.into_iter().all(|(place, part)| {
                    let is_code = |code: &str| code.bytes().all(|byte| byte.is_ascii_hexdigit());
                    let is_code = place == 0 || part.get(..2).is_some_and(is_code);
                    let plain =
                        |byte: u8| byte.is_ascii_alphanumeric() || b"/.:_~+-".contains(&byte);
                    is_code && part.bytes().all(plain)
                });
            if !is_well {
                found.push(format!("{uri:?} is no address"));
            }
        }
        addresses(value, found);
    }
    for value in value.as_array().into_iter().flatten() {
        addresses(value, found);
    }
}

fn schema() -> Value {
    let text = json!({ "type": "string" });
    let from_one = json!({ "type": "integer", "minimum": 1 });
    let level = json!({ "enum": ["none", "note", "warning", "error"] });
    let list = |name: &str| json!({ "type": "array", "items": reference(name) });
    json!({
        "type": "object",
        "required": ["version", "runs"],
        "properties": {
            "$schema": text,
            "version": { "const": "2.1.0" },
            "runs": list("run"),
        },
        "$defs": {
            "run": object(&["tool", "results"], json!({
                "tool": object(&["driver"], json!({ "driver": reference("component") })),
                "columnKind": { "enum": ["utf16CodeUnits", "unicodeCodePoints"] },
                "invocations": list("invocation"),
                "results": list("result"),
            })),
            "component": object(&["name"], json!({
                "name": text,
                "version": text,
                "semanticVersion": text,
                "informationUri": text,
                "rules": list("rule"),
            })),
            "rule": object(&["id"], json!({
                "id": text,
                "shortDescription": reference("description"),
                "fullDescription": reference("description"),
                "help": reference("description"),
            })),
            // Plain text always, Markdown beside it.
            "description": object(&["text"], json!({ "text": text, "markdown": text })),
            "invocation": object(&["executionSuccessful"], json!({
                "executionSuccessful": { "type": "boolean" },
                "toolExecutionNotifications": list("notification"),
            })),
            "notification": object(&["message"], json!({ "level": level, "message": reference("message") })),
            "result": object(&["ruleId", "message"], json!({
                "ruleId": text,
                "ruleIndex": { "type": "integer", "minimum": 0 },
                "level": level,
                "message": reference("message"),
                "locations": list("location"),
                "relatedLocations": list("location"),
                "partialFingerprints": object(&[], json!({ "primaryLocationLineHash": text })),
                "properties": { "type": "object" },
            })),
            "message": object(&["text"], json!({ "text": text })),
            "location": object(&["physicalLocation"], json!({
                "physicalLocation": object(&["artifactLocation"], json!({
                    "artifactLocation": object(&["uri"], json!({ "uri": text })),
                    "region": object(&["startLine"], json!({
                        "startLine": from_one,
                        "startColumn": from_one,
                        "endLine": from_one,
                        "endColumn": from_one,
                    })),
                })),
                "logicalLocations": {
                    "type": "array",
                    "items": object(&[], json!({ "fullyQualifiedName": text })),
                },
            })),
        },
    })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn object(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}
