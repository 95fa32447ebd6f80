//! Programs as people write them: each mistake is found on its line, and nothing else is. `fine.cu` has what looks like a mistake.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut list: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    list.sort();
    assert!(list.len() >= 4);
    list
}

/// Lines with the rules that `// expect: rule, rule` names.
fn expected(source: &str) -> BTreeSet<(u32, String)> {
    let marked = source.lines().zip(1..).filter_map(|(line, number)| {
        let (_, rules) = line.split_once("// expect: ")?;
        Some((number, rules))
    });
    marked
        .flat_map(|(number, rules)| rules.split(", ").map(move |rule| (number, rule.to_owned())))
        .collect()
}

fn found(source: &str) -> BTreeSet<(u32, String)> {
    let report = ridge_lint::lint(source.as_bytes()).unwrap();
    assert_eq!(report.not_understood, 0);
    report
        .findings
        .iter()
        .map(|finding| (finding.start.line, finding.rule.to_owned()))
        .collect()
}

#[test]
fn mistakes_are_found_and_their_right_twins_are_not() {
    for program in programs() {
        let source = fs::read_to_string(&program).unwrap();
        assert_eq!(found(&source), expected(&source), "{}", program.display());
    }
}

#[test]
fn every_rule_has_a_mistake_in_a_program() {
    let mut seen = BTreeSet::new();
    for program in programs() {
        let source = fs::read_to_string(program).unwrap();
        seen.extend(expected(&source).into_iter().map(|(_, rule)| rule));
    }
    for rule in ridge_lint::page_ids().filter(|rule| *rule != "debug-flags") {
        assert!(seen.contains(rule), "{rule}");
    }
}
