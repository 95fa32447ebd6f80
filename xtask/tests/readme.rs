//! The commands that the README promises are the ones that are checked.

use std::fs;

/// The only line of the code block that follows a marker.
fn command<'a>(page: &'a str, marker: &str) -> &'a str {
    let (_, rest) = page
        .split_once(marker)
        .unwrap_or_else(|| panic!("README.md lacks {marker}"));
    let mut lines = rest.lines().skip_while(|line| !line.starts_with("```"));
    let command = lines.nth(1).expect("a line in the code block");
    assert_eq!(
        lines.next(),
        Some("```"),
        "the code block after {marker} holds one command"
    );
    command
}

#[test]
fn the_test_command_is_the_last_step_of_the_checks() {
    let readme = fs::read_to_string(xtask::root().join("README.md")).unwrap();
    let checks = fs::read_to_string(xtask::root().join(".ci/run")).unwrap();
    let last = checks
        .lines()
        .rfind(|line| !line.trim().is_empty() && !line.starts_with('#'));
    assert_eq!(Some(command(&readme, "<!-- test command -->")), last);
}

#[test]
fn the_first_command_is_one_of_the_checks() {
    let readme = fs::read_to_string(xtask::root().join("README.md")).unwrap();
    let checks = fs::read_to_string(xtask::root().join(".ci/run")).unwrap();
    let first = command(&readme, "<!-- first command -->");
    assert!(checks.lines().any(|line| line == first), "{first}");
}
