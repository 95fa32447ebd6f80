//! SARIF 2.1.0: one result for each group, at the line of the source where there is one.

use std::fmt::Write;

use ridge_collect::sanitize::document::{Document, FoundGroup};
use ridge_collect::sanitize::{FaultKind, Outcome, Place, Severity};
use serde_json::{Value, json};

use super::{subject, times, what};

/// Writes the log.
#[must_use]
pub fn sarif(document: &Document) -> Value {
    let rules: Vec<Value> = FaultKind::ALL
        .into_iter()
        .map(|kind| {
            let mut rule = json!({
                "id": kind.name(),
                "shortDescription": { "text": kind.name().replace('-', " ") },
            });
            if let Some(advice) = kind.advice() {
                rule["help"] = json!({ "text": advice });
            }
            rule
        })
        .collect();
    let results: Vec<Value> = document.groups.iter().map(result).collect();
    let is_done = document.is_complete
        && !matches!(
            document.outcome,
            Outcome::NotSupported | Outcome::TargetFailed
        );
    let notifications: Vec<Value> = document
        .runs
        .iter()
        .flat_map(|run| &run.reasons)
        .map(|reason| json!({ "level": "warning", "message": { "text": reason.text } }))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "ridge sanitize",
                "semanticVersion": document.tool_version,
                "rules": rules,
            }},
            "invocations": [{
                "executionSuccessful": is_done,
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    })
}

fn result(group: &FoundGroup) -> Value {
    let level = match (group.noise.is_some(), group.severity) {
        (false, Severity::Error) => "error",
        (false, Severity::Warning) => "warning",
        _ => "note",
    };
    let place = place_of(FaultKind::ALL, group.kind);
    let mut result = json!({
        "ruleId": group.kind.name(),
        "ruleIndex": place,
        "level": level,
        "message": { "text": format!("{}: {}; {}", subject(group), what(group), times(group)) },
        "properties": { "count": group.count, "tool": group.tool },
    });
    let own = group.first.place.as_ref().and_then(location);
    let Some(own) = own else { return result };
    result["locations"] = json!([own]);
    let others = group.first.accesses.iter().skip(1);
    let related: Vec<Value> = others
        .map(|access| &access.place)
        .chain(&group.first.device_frames)
        .filter_map(location)
        .collect();
    if !related.is_empty() {
        result["relatedLocations"] = json!(related);
    }
    result
}

fn place_of(kinds: impl IntoIterator<Item = FaultKind>, kind: FaultKind) -> Option<usize> {
    kinds.into_iter().position(|one| one == kind)
}

/// A place in a file; without a file there is none that anything could show.
fn location(place: &Place) -> Option<Value> {
    let file = place.file.as_deref()?;
    let mut physical = json!({ "artifactLocation": { "uri": uri(file) } });
    // Tools say 0 where they do not know it, and the format counts from 1.
    if let Some(line) = place.line.filter(|line| *line > 0) {
        physical["region"] = json!({ "startLine": line });
    }
    let mut location = json!({ "physicalLocation": physical });
    if let Some(function) = &place.function {
        location["logicalLocations"] = json!([{ "fullyQualifiedName": function }]);
    }
    Some(location)
}

/// A path as an address: a relative one stays relative.
pub(crate) fn uri(path: &str) -> String {
    let mut out = String::new();
    if path.starts_with('/') {
        out.push_str("file://");
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' | b'+' => {
                out.push(char::from(byte));
            }
            other => {
                let _ = write!(out, "%{other:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_0_is_no_region() {
        let place = |line| Place {
            file: Some("k.cu".to_owned()),
            line,
            ..Place::default()
        };
        let region = |line| location(&place(line)).unwrap()["physicalLocation"]["region"].clone();
        assert_eq!(region(Some(7)), json!({ "startLine": 7 }));
        assert!(region(Some(0)).is_null() && region(None).is_null());
    }

    #[test]
    fn paths_become_addresses() {
        assert_eq!(uri("a b/ä.cu"), "a%20b/%C3%A4.cu");
        assert_eq!(uri("/src/k.cu"), "file:///src/k.cu");
        assert_eq!(uri("x:y"), "x%3Ay");
    }
}
