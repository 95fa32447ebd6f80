//! Partial reports: which sections of the profiler would answer what this report cannot.

use crate::document::NotChecked;
use crate::profile::KernelProfile;

/// What a reader gets from a section that is missing.
const LAYERS: &[(&str, &str)] = &[
    ("speed-of-light", "SpeedOfLight"),
    ("stalls", "WarpStateStats"),
    ("resource-ledger", "MemoryWorkloadAnalysis_Tables"),
    ("hot-lines", "SourceCounters"),
];

/// Layers of the answer that are empty because a section was not collected.
pub(crate) fn missing_layers(
    sections: &[String],
    is_empty: impl Fn(&str) -> bool,
) -> Vec<NotChecked> {
    LAYERS
        .iter()
        .filter(|(layer, section)| {
            is_empty(layer) && !sections.iter().any(|known| known == section)
        })
        .map(|(layer, section)| NotChecked {
            id: (*layer).to_owned(),
            needs: vec![(*section).to_owned()],
        })
        .collect()
}

/// The shortest profiler command that collects what is missing, for one launch of the kernel.
///
/// Sections that were collected and still lack what is needed are no help: then the workload mixes kernels, and each
/// of them has to be profiled by itself.
pub(crate) fn command(
    not_checked: &[NotChecked],
    profile: &KernelProfile<'_>,
    program: Option<&str>,
) -> Option<String> {
    let mut sections: Vec<&str> = Vec::new();
    for section in not_checked.iter().flat_map(|check| &check.needs) {
        let is_new = !profile.sections.iter().any(|known| known == section);
        if (is_new || profile.is_mixture) && !sections.contains(&section.as_str()) {
            sections.push(section);
        }
    }
    if sections.is_empty() {
        return None;
    }
    let sections: Vec<String> = sections
        .iter()
        .map(|section| format!("--section {section}"))
        .collect();
    let sections = sections.join(" ");
    let program = program.map_or_else(|| "PROGRAM".to_owned(), quote);
    Some(if profile.is_mixture {
        format!("ncu {sections} --graph-profiling node -o report {program} ...")
    } else {
        format!(
            "ncu {sections} --kernel-name {} --launch-count 1 -o report {program} ...",
            quote(&profile.name)
        )
    })
}

/// Quotes a word for a shell when it needs it.
fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=+,@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell_when_they_need_it() {
        assert_eq!(quote("./app"), "./app");
        assert_eq!(quote("k<1>"), "'k<1>'");
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote(""), "''");
    }
}
