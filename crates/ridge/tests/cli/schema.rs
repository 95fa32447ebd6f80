//! The committed JSON Schemas, and a checker of the part of the language that it uses.

use std::fs;

use serde_json::Value;

use crate::root;

/// The schema of the diagnosis.
pub(crate) fn diagnosis() -> Value {
    named("diagnosis")
}

/// The schema of a document.
pub(crate) fn named(document: &str) -> Value {
    let file = root().join(format!("schemas/{document}.schema.json"));
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// What of a value does not follow the schema; a property that the schema does not know counts too.
pub(crate) fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, schema, value, "$", &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    let keywords = schema.as_object().unwrap();
    for (keyword, rule) in keywords {
        let is_met = match keyword.as_str() {
            // Said about the value, not asked of it.
            "$schema" | "$defs" | "title" | "description" => true,
            // Looked at with another keyword.
            "prefixItems" | "format" => true,
            "$ref" => {
                let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                check(root, &root["$defs"][name], value, path, found);
                true
            }
            "anyOf" | "oneOf" => {
                let fitting = rule
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter(|option| {
                        let mut inner = Vec::new();
                        check(root, option, value, path, &mut inner);
                        inner.is_empty()
                    })
                    .count();
                fitting == 1
            }
            "const" => value == rule,
            "enum" => rule.as_array().unwrap().contains(value),
            "type" => match rule {
                Value::Array(types) => types.iter().any(|kind| is_a(value, kind)),
                kind => is_a(value, kind),
            },
            "minimum" => value
                .as_f64()
                .is_none_or(|number| number >= rule.as_f64().unwrap()),
            "maximum" => value
                .as_f64()
                .is_none_or(|number| number <= rule.as_f64().unwrap()),
            "minItems" => value
                .as_array()
                .is_none_or(|list| list.len() as u64 >= rule.as_u64().unwrap()),
            "maxItems" => value
                .as_array()
                .is_none_or(|list| list.len() as u64 <= rule.as_u64().unwrap()),
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, rule, item, &format!("{path}[{index}]"), found);
                }
                true
            }
            "required" => {
                for name in rule.as_array().unwrap() {
                    let name = name.as_str().unwrap();
                    if value.is_object() && value.get(name).is_none() {
                        found.push(format!("{path}.{name} is missing"));
                    }
                }
                true
            }
            "properties" => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    match rule.get(name) {
                        Some(rule) => check(root, rule, value, &format!("{path}.{name}"), found),
                        None => found.push(format!("{path}.{name} is not in the schema")),
                    }
                }
                true
            }
            other => panic!("the checker does not know the keyword {other}"),
        };
        if !is_met {
            found.push(format!("{path} is {value}, against {keyword}: {rule}"));
        }
    }
}

fn is_a(value: &Value, kind: &Value) -> bool {
    match kind.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the checker does not know the type {other}"),
    }
}
