//! Partial reports: which sections of the profiler would answer what this report cannot.

use crate::document::NotChecked;

/// What a reader gets from a section that is missing.
const LAYERS: &[(&str, &str)] = &[
    ("speed-of-light", "SpeedOfLight"),
    ("stalls", "WarpStateStats"),
    ("resource-ledger", "MemoryWorkloadAnalysis_Tables"),
    ("hot-lines", "SourceCounters"),
];

/// Layers of the answer that are empty because a section was not collected.
pub(crate) fn missing_layers(sections: &[String], is_empty: impl Fn(&str) -> bool) -> Vec<NotChecked> {
    LAYERS
        .iter()
        .filter(|(layer, section)| is_empty(layer) && !sections.iter().any(|known| known == section))
        .map(|(layer, section)| NotChecked {
            id: (*layer).to_owned(),
            needs: vec![(*section).to_owned()],
        })
        .collect()
}

/// The shortest profiler command that collects what is missing, for one launch of the kernel.
pub(crate) fn command(
    not_checked: &[NotChecked],
    kernel: &str,
    program: Option<&str>,
) -> Option<String> {
    let mut sections: Vec<&str> = Vec::new();
    for section in not_checked.iter().flat_map(|check| &check.needs) {
        if !sections.contains(&section.as_str()) {
            sections.push(section);
        }
    }
    if sections.is_empty() {
        return None;
    }
    let sections: Vec<String> =
        sections.iter().map(|section| format!("--section {section}")).collect();
    let program = program.map_or_else(|| "PROGRAM".to_owned(), quote);
    Some(format!(
        "ncu {} --kernel-name {} --launch-count 1 -o report {program} …",
        sections.join(" "),
        quote(kernel),
    ))
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
    fn the_command_names_each_section_once_and_quotes() {
        let check = |id: &str, needs: &[&str]| NotChecked {
            id: id.to_owned(),
            needs: needs.iter().map(|need| (*need).to_owned()).collect(),
        };
        let checks = [check("a", &["SourceCounters"]), check("b", &["SourceCounters", "SpeedOfLight"])];
        assert_eq!(
            command(&checks, "k<1>", Some("./my app")).as_deref(),
            Some(
                "ncu --section SourceCounters --section SpeedOfLight --kernel-name 'k<1>' --launch-count 1 -o report './my app' …"
            )
        );
        assert_eq!(command(&[], "k", None), None);
    }
}
