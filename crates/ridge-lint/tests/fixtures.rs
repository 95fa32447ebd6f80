//! Every rule finds what its fixture marks with `// expect`, on that line, and nothing in what is fine.

use std::fs;
use std::path::{Path, PathBuf};

fn folder(rule: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(rule)
}

/// Lines on which a rule finds something.
fn found(rule: &str, source: &str) -> Vec<u32> {
    let report = ridge_lint::lint(source.as_bytes()).unwrap();
    assert_eq!(
        report.not_understood, 0,
        "{rule}: the fixture is not understood"
    );
    let of_rule = report
        .findings
        .iter()
        .filter(|finding| finding.rule == rule);
    let mut lines: Vec<u32> = of_rule.map(|finding| finding.start.line).collect();
    lines.dedup();
    lines
}

/// Rules that look at sources.
fn rules() -> impl Iterator<Item = &'static str> {
    ridge_lint::page_ids().filter(|rule| *rule != "debug-flags")
}

#[test]
fn rules_find_what_is_wrong() {
    for rule in rules() {
        let source = fs::read_to_string(folder(rule).join("fires.cu")).unwrap();
        let expected: Vec<u32> = source
            .lines()
            .zip(1..)
            .filter(|(line, _)| line.ends_with("// expect"))
            .map(|(_, number)| number)
            .collect();
        assert!(!expected.is_empty(), "{rule}");
        assert_eq!(found(rule, &source), expected, "{rule}");
    }
}

#[test]
fn rules_are_silent_about_what_is_fine() {
    for rule in rules() {
        let source = fs::read_to_string(folder(rule).join("quiet.cu")).unwrap();
        assert!(source.len() > 200, "{rule}");
        assert!(
            found(rule, &source).is_empty(),
            "{rule}: lines {:?}",
            found(rule, &source)
        );
    }
}

#[test]
fn every_folder_belongs_to_a_rule() {
    for entry in fs::read_dir(folder("")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(rules().any(|rule| rule == name), "{name}");
    }
}
