//! What JUnit's XML has to be: the schema of Ant's JUnit task (`JUnit.xsd` of Windy Road, 2011), as a table.
//!
//! The schema of Jenkins' xunit plugin (`junit-10.xsd`) takes all of it. Answers were held against both with Python's xmlschema
//! 4.3 on 2026-12-01.

/// An element, its attributes, and what is in it.
#[derive(Debug, PartialEq)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    parts: Vec<Element>,
    text: String,
}

/// An element of the schema: attributes that it must have, those that it may have, and what is in it, in order.
struct Asked {
    name: &'static str,
    required: &'static [&'static str],
    optional: &'static [&'static str],
    parts: &'static [(&'static str, usize, usize)],
}

const MANY: usize = usize::MAX;
const SCHEMA: &[Asked] = &[
    Asked {
        name: "testsuites",
        required: &[],
        optional: &[],
        parts: &[("testsuite", 0, MANY)],
    },
    Asked {
        name: "testsuite",
        required: &[
            "id",
            "package",
            "name",
            "timestamp",
            "hostname",
            "tests",
            "failures",
            "errors",
            "time",
        ],
        optional: &["skipped"],
        parts: &[
            ("properties", 1, 1),
            ("testcase", 0, MANY),
            ("system-out", 1, 1),
            ("system-err", 1, 1),
        ],
    },
    Asked {
        name: "properties",
        required: &[],
        optional: &[],
        parts: &[("property", 0, MANY)],
    },
    Asked {
        name: "property",
        required: &["name", "value"],
        optional: &[],
        parts: &[],
    },
    // One of the three, which is looked at below.
    Asked {
        name: "testcase",
        required: &["name", "classname", "time"],
        optional: &[],
        parts: &[("skipped", 0, 1), ("error", 0, 1), ("failure", 0, 1)],
    },
    Asked {
        name: "skipped",
        required: &[],
        optional: &["message"],
        parts: &[],
    },
    Asked {
        name: "error",
        required: &["type"],
        optional: &["message"],
        parts: &[],
    },
    Asked {
        name: "failure",
        required: &["type"],
        optional: &["message"],
        parts: &[],
    },
    Asked {
        name: "system-out",
        required: &[],
        optional: &[],
        parts: &[],
    },
    Asked {
        name: "system-err",
        required: &[],
        optional: &[],
        parts: &[],
    },
];

/// What of some XML does not follow the schema.
pub(crate) fn violations_of_junit(xml: &str) -> Vec<String> {
    let rest = xml
        .strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
        .unwrap();
    let (root, rest) = element(rest);
    let mut found = Vec::new();
    if root.name != "testsuites" || !rest.trim().is_empty() {
        found.push(format!("the root is {}, behind it {rest:?}", root.name));
    }
    check(&root, &mut found);
    for suite in &root.parts {
        count(suite, &mut found);
    }
    found
}

fn check(element: &Element, found: &mut Vec<String>) {
    let Element {
        name,
        attributes,
        parts,
        text,
    } = element;
    let Some(asked) = SCHEMA.iter().find(|asked| asked.name == name) else {
        found.push(format!("there is no element {name}"));
        return;
    };
    for required in asked.required {
        if !attributes.iter().any(|(name, _)| name == required) {
            found.push(format!("{name} without {required}"));
        }
    }
    for (attribute, value) in attributes {
        let is_known = asked
            .required
            .iter()
            .chain(asked.optional)
            .any(|known| known == attribute);
        let is_well = match attribute.as_str() {
            "tests" | "failures" | "errors" | "skipped" | "id" => value.parse::<i32>().is_ok(),
            "time" => value.parse::<f64>().is_ok_and(f64::is_finite),
            "timestamp" => {
                let pattern = "dddd-dd-ddTdd:dd:dd";
                value.len() == pattern.len()
                    && value
                        .chars()
                        .zip(pattern.chars())
                        .all(|(letter, like)| match like {
                            'd' => letter.is_ascii_digit(),
                            other => letter == other,
                        })
            }
            "name" | "hostname" => !value.trim().is_empty(),
            _ => true,
        };
        if !is_known || !is_well {
            found.push(format!("{name} with {attribute}={value:?}"));
        }
    }
    let mut left = parts.iter().peekable();
    for (part, least, most) in asked.parts {
        let mut number = 0;
        while left.next_if(|next| next.name == *part).is_some() {
            number += 1;
        }
        if number < *least || number > *most {
            found.push(format!("{name} with {number} of {part}"));
        }
    }
    if let Some(other) = left.next() {
        found.push(format!(
            "{} in {name}, or not at its place there",
            other.name
        ));
    }
    if name == "testcase" && parts.len() > 1 {
        found.push(format!("a case with {} outcomes", parts.len()));
    }
    if !text.trim().is_empty() && !asked.name.starts_with("system-") {
        found.push(format!("text in {name}: {text:?}"));
    }
    for part in parts {
        check(part, found);
    }
}

/// The counts of a suite are those of its cases.
fn count(suite: &Element, found: &mut Vec<String>) {
    let cases = || suite.parts.iter().filter(|part| part.name == "testcase");
    let with = |name: &str| {
        cases()
            .filter(|case| case.parts.iter().any(|part| part.name == name))
            .count()
    };
    for (attribute, number) in [
        ("tests", cases().count()),
        ("failures", with("failure")),
        ("errors", with("error")),
        ("skipped", with("skipped")),
    ] {
        let said = suite.attributes.iter().find(|(name, _)| name == attribute);
        if said.is_none_or(|(_, value)| *value != number.to_string()) {
            found.push(format!("{number} {attribute}, and the suite says {said:?}"));
        }
    }
}

/// Reads an element that stands at the start of a text, and what is behind it. What is not well formed fails the test.
fn element(text: &str) -> (Element, &str) {
    let text = text.trim_start().strip_prefix('<').unwrap();
    let end = text.find([' ', '/', '>']).unwrap();
    let (name, mut rest) = text.split_at(end);
    let mut element = Element {
        name: name.to_owned(),
        attributes: Vec::new(),
        parts: Vec::new(),
        text: String::new(),
    };
    while let Some(behind) = rest.strip_prefix(' ') {
        let (attribute, behind) = behind.split_once("=\"").unwrap();
        let (value, behind) = behind.split_once('"').unwrap();
        assert!(!element.attributes.iter().any(|(name, _)| name == attribute));
        element
            .attributes
            .push((attribute.to_owned(), characters(value)));
        rest = behind;
    }
    if let Some(behind) = rest.strip_prefix("/>") {
        return (element, behind);
    }
    rest = rest.strip_prefix('>').unwrap();
    loop {
        let (text, _) = rest.split_once('<').unwrap();
        element.text.push_str(&characters(text));
        rest = &rest[text.len()..];
        if let Some(behind) = rest.strip_prefix("</") {
            let (closed, behind) = behind.split_once('>').unwrap();
            assert_eq!(closed, element.name);
            return (element, behind);
        }
        let (part, behind) = self::element(rest);
        element.parts.push(part);
        rest = behind;
    }
}

/// Characters of which XML 1.0 has none are no XML, and neither is an ampersand that begins nothing.
fn characters(text: &str) -> String {
    assert!(
        text.chars()
            .all(|letter| matches!(letter, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{1_0000}'..)),
        "{text:?}"
    );
    assert!(!text.contains("]]>") && !text.contains('<'), "{text:?}");
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('&') {
        out.push_str(before);
        let (entity, behind) = behind.split_once(';').unwrap();
        out.push(match entity {
            "lt" => '<',
            "gt" => '>',
            "amp" => '&',
            "quot" => '"',
            "#39" => '\'',
            "#10" => '\n',
            "#9" => '\t',
            other => panic!("no entity {other}"),
        });
        rest = behind;
    }
    out + rest
}
