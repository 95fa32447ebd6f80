//! What each finding means: the doc comment of its file, as a page.

use ridge_model::pages::of_doc_comment;

use crate::{findings, sequence};

/// The headings of every page, in this order.
#[cfg(test)]
const HEADINGS: [&str; 6] = [
    "What it says",
    "Evidence",
    "Why it costs time",
    "What to do",
    "When it is wrong",
    "References",
];

/// Every finding with the source that describes it.
fn sources() -> impl Iterator<Item = (&'static str, &'static str)> {
    findings::sources().chain(sequence::SOURCES.iter().copied())
}

/// The identifiers of all findings that have a page: those of kernels, then those of sequences of kernels.
pub fn page_ids() -> impl Iterator<Item = &'static str> {
    sources().map(|(id, _)| id)
}

/// The page of a finding in Markdown: what it means, how it is seen, what to do, and when it is wrong.
///
/// ```
/// let page = ridge_diagnose::page("bank-conflicts").expect("a finding");
/// assert!(page.starts_with("# bank-conflicts\n\n"));
/// assert!(page.contains("\n## When it is wrong\n\n"));
/// ```
#[must_use]
pub fn page(id: &str) -> Option<String> {
    let (id, source) = sources().find(|(known, _)| *known == id)?;
    let mut page = of_doc_comment(id, source);
    let of_same_source: Vec<String> = sources()
        .filter(|(other, text)| *other != id && *text == source)
        .map(|(other, _)| format!("`{other}`"))
        .collect();
    if !of_same_source.is_empty() {
        page.push_str("\nDescribed together with ");
        page.push_str(&of_same_source.join(" and "));
        page.push_str(".\n");
    }
    Some(page)
}

/// The findings whose checks look at a metric themselves, by its name without roll-up. What they take from the ledger is
/// not among it.
pub fn findings_that_name(metric: &str) -> impl Iterator<Item = &'static str> {
    let with_ending = format!("\"{metric}.");
    let whole = format!("\"{metric}\"");
    sources()
        .filter(move |(_, source)| source.contains(&with_ending) || source.contains(&whole))
        .map(|(id, _)| id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_has_a_page_with_all_headings() {
        for id in crate::ids().chain(["unfused-kernels"]) {
            let page = page(id).unwrap_or_else(|| panic!("{id} has no page"));
            let headings: Vec<&str> = page
                .lines()
                .filter_map(|line| line.strip_prefix("## "))
                .collect();
            assert_eq!(headings, HEADINGS, "{id}");
            assert!(!page.contains("\n\n\n"), "{id}: empty section or lines");
        }
    }

    #[test]
    fn an_unknown_finding_has_no_page() {
        assert_eq!(page("nothing"), None);
    }
}
