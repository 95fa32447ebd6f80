//! The gallery: computations written twice, slow and fixed, with what was measured and what the diagnosis says.
//!
//! Sources and explanations are those of the folder `gallery/`, byte for byte. Figures and diagnoses are those of
//! `fixtures/gallery/`, condensed by `cargo xtask gen` to `index.jsonl`, so that an installed command needs no repository.

mod cases;
pub mod document;
mod index;

use std::sync::LazyLock;

use ridge_model::spelling::{distance, plain};

pub use index::{Diagnosed, Entry, Found, LabelError, Row, Wait};

/// What the folder of a case holds.
#[derive(Clone, Copy, Debug)]
struct Files {
    name: &'static str,
    kernels: &'static str,
    spec: &'static str,
    readme: &'static str,
}

/// A case: its explanation, its sources, what was measured, and both diagnoses.
#[derive(Clone, Debug)]
pub struct Case {
    /// Title in words.
    pub title: &'static str,
    /// Its explanation: what is wrong, how to see it, the fix. Heading and text, which is Markdown.
    pub sections: Vec<(&'static str, &'static str)>,
    /// `kernels.cu`: both versions.
    pub kernels: &'static str,
    /// `bench.toml`: how to run them.
    pub spec: &'static str,
    /// Figures and diagnoses.
    pub entry: Entry,
}

impl Case {
    /// Whether it has a finding as its own, or as one that is right too.
    #[must_use]
    pub fn shows(&self, finding: &str) -> bool {
        self.entry.label == finding || self.entry.accept.iter().any(|also| also == finding)
    }

    /// The part of the hot time that the fix was measured to save; absent where there is no fixed version.
    #[must_use]
    pub fn saved(&self) -> Option<f64> {
        let fixed = self.entry.fixed_hot_us?;
        (self.entry.slow_hot_us > 0.0).then(|| 1.0 - fixed / self.entry.slow_hot_us)
    }
}

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    // Both are part of the build, and a test reads them.
    let entry = |line: &str| -> Entry {
        serde_json::from_str(line).expect("the index was written by `cargo xtask gen`")
    };
    include_str!("index.jsonl")
        .lines()
        .map(entry)
        .filter_map(|entry| {
            let files = cases::FILES.iter().find(|files| files.name == entry.name)?;
            Some(Case {
                title: title(files.readme),
                sections: sections(files.readme),
                kernels: files.kernels,
                spec: files.spec,
                entry,
            })
        })
        .collect()
});

/// All cases, in order of their names.
#[must_use]
pub fn cases() -> &'static [Case] {
    &CASES
}

/// The case of a name; case, hyphens and underscores do not matter.
#[must_use]
pub fn find(name: &str) -> Option<&'static Case> {
    let wanted = plain(name);
    cases()
        .iter()
        .find(|case| plain(&case.entry.name) == wanted)
}

/// Names of cases that may have been meant, nearest first: those that contain the name or differ from it in few letters.
#[must_use]
pub fn nearest(name: &str) -> Vec<&'static str> {
    nearest_of(name, cases().iter().map(|case| case.entry.name.as_str()))
}

/// The same among other names.
#[must_use]
pub fn nearest_of<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    /// So many are offered.
    const MOST: usize = 3;
    let wanted = plain(name);
    let allowed = (wanted.chars().count() / 3).max(1);
    let mut near: Vec<(usize, &str)> = known
        .filter_map(|known| {
            let letters = plain(known);
            let is_part = wanted.chars().count() >= 3 && letters.contains(&wanted);
            let far = distance(&wanted, &letters);
            (is_part || far <= allowed).then_some((if is_part { 0 } else { far }, known))
        })
        .collect();
    near.sort_unstable();
    near.into_iter().take(MOST).map(|(_, name)| name).collect()
}

/// The title of a page.
fn title(page: &'static str) -> &'static str {
    page.lines()
        .find_map(|line| line.strip_prefix("# "))
        .unwrap_or_default()
}

/// The headings of a page with the texts below them; figures are known as numbers.
fn sections(page: &'static str) -> Vec<(&'static str, &'static str)> {
    page.split("\n## ")
        .skip(1)
        .filter_map(|section| section.split_once('\n'))
        .map(|(heading, text)| (heading.trim(), text.trim()))
        .filter(|(heading, _)| *heading != "Figures")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_whole() {
        assert_eq!(cases().len(), cases::FILES.len());
        for case in cases() {
            let name = &case.entry.name;
            assert!(!case.title.is_empty(), "{name}");
            assert_eq!(
                case.sections.len(),
                3,
                "{name}: what is wrong, how to see it, the fix"
            );
            for (heading, text) in &case.sections {
                assert!(
                    !heading.is_empty() && text.ends_with(['.', ')']),
                    "{name}: {text}"
                );
                assert!(!text.contains("\n#"), "{name}: {text}");
            }
            assert!(case.kernels.contains("__global__"), "{name}");
            assert!(case.spec.contains("[[slow]]"), "{name}");
            assert!(case.entry.slow_hot_us > 0.0, "{name}");
            assert_eq!(
                case.entry.fixed.is_some(),
                case.spec.contains("[[fixed]]"),
                "{name}"
            );
        }
    }

    /// Slow and fixed stand in one report and are in no row.
    #[test]
    fn one_kernel_has_no_flaw_of_several() {
        for case in cases() {
            let fixed = case.entry.fixed.iter();
            let mut found = fixed.flat_map(|fixed| &fixed.findings);
            assert!(
                found.all(|found| found.id != "unfused-kernels"),
                "{}",
                case.entry.name
            );
        }
    }

    #[test]
    fn names_are_found_as_people_type_them() {
        assert_eq!(find("Tile-GEMM").unwrap().entry.name, "tile_gemm");
        assert!(find("gemm").is_none());
        assert_eq!(nearest("gemm"), ["tile_gemm"]);
        assert_eq!(nearest("conv8"), ["conv9"]);
        assert!(nearest("xyzzyxyzzy").is_empty());
    }

    #[test]
    fn cases_without_a_flaw_save_nothing() {
        assert_eq!(find("triad").unwrap().saved(), None);
        let saved = find("conv9").unwrap().saved().unwrap();
        assert!((0.5..0.6).contains(&saved), "{saved}");
    }
}
