//! What the fuzz target for sources does with its input. `crates/ridge-lint/tests/hostile.rs` includes this file too.

use ridge_lint::document::Document;

/// The input as a source, a list of compile commands, a file of CMake and as flags: findings lie in the text, and none fails.
pub fn lint(input: &[u8]) {
    let lines = input.iter().filter(|byte| **byte == b'\n').count() + 1;
    let mut document = Document::new("0");
    let mut reports = vec![ridge_lint::lint_cmake(input)];
    reports.extend(ridge_lint::lint(input));
    if let Ok(commands) = ridge_lint::read_commands(input) {
        reports.push(ridge_lint::lint_commands(input, &commands));
    }
    for report in reports {
        for finding in &report.findings {
            assert!(finding.start.line as usize <= lines && finding.start <= finding.end);
            assert!(ridge_lint::page(finding.rule).is_some());
        }
        document.push("input", report);
    }
    let text = String::from_utf8_lossy(input);
    document.push_flags("flags", ridge_lint::lint_flags(&text));
}
