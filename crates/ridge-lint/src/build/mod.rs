//! How code is compiled: flags as words, lists of compile commands, and files of CMake.

pub(crate) mod cmake;
mod commands;

use crate::finding::{Found, Lines};
use crate::rules::debug_flags;
use crate::{Finding, Report, placed};
pub use commands::{Command, read as read_commands};

/// Looks at flags of nvcc.
#[must_use]
pub fn lint_flags(flags: &str) -> Option<Finding> {
    let words: Vec<&str> = flags.split_whitespace().collect();
    let word = debug_flags::offending(&words)?;
    let start = flags.find(word).unwrap_or_default();
    let found = debug_flags::found(word, start..start + word.len());
    Some(placed(found, &Lines::of(flags.as_bytes())))
}

/// Looks at a file of CMake.
#[must_use]
pub fn lint_cmake(source: &[u8]) -> Report {
    let text = String::from_utf8_lossy(source);
    let found = cmake::flags(&text)
        .into_iter()
        .map(|(word, range)| debug_flags::found(word, range))
        .collect();
    report(text.as_bytes(), found)
}

/// Looks at the flags of a list of compile commands.
#[must_use]
pub fn lint_commands(source: &[u8], commands: &[Command]) -> Report {
    let found = commands
        .iter()
        .filter_map(|command| {
            let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
            let word =
                debug_flags::offending(&words).filter(|_| debug_flags::is_of_nvcc(&words))?;
            Some(debug_flags::found(word, command.range.clone()))
        })
        .collect();
    report(source, found)
}

fn report(bytes: &[u8], found: Vec<Found>) -> Report {
    let lines = Lines::of(bytes);
    Report {
        findings: found
            .into_iter()
            .map(|found| placed(found, &lines))
            .collect(),
        lines: lines.count(),
        ..Report::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_the_command_line() {
        let finding = lint_flags("-O3 -G -arch=sm_90").unwrap();
        assert_eq!((finding.rule, finding.start.column), ("debug-flags", 5));
        assert_eq!(lint_flags("-O3 -lineinfo"), None);
    }
    #[test]
    fn flags_count_where_nvcc_gets_them() {
        let source = br#"[{"file": "a.cu", "command": "nvcc -G a.cu"}, {"file": "b.cc", "command": "g++ -G b.cc"}]"#;
        let commands = read_commands(source).unwrap();
        assert_eq!(lint_commands(source, &commands).findings.len(), 1);
    }
}
