//! What each finding means: the doc comment of its file, as a page.

use ridge_model::pages::of_doc_comment;

use crate::findings;

/// The identifiers of all findings about timelines.
pub fn page_ids() -> impl Iterator<Item = &'static str> {
    findings::sources().map(|(id, _)| id)
}

/// The page of a finding in Markdown: what it means, how it is seen, what to do, and when it is wrong.
///
/// ```
/// let page = ridge_trace::page("pageable-transfer").expect("a finding");
/// assert!(page.starts_with("# pageable-transfer\n\n"));
/// assert!(page.contains("\n## When it is wrong\n\n"));
/// ```
#[must_use]
pub fn page(id: &str) -> Option<String> {
    let (id, source) = findings::sources().find(|(known, _)| *known == id)?;
    Some(of_doc_comment(id, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_has_a_page_with_all_headings() {
        for id in page_ids() {
            let page = page(id).unwrap();
            let headings: Vec<&str> = page
                .lines()
                .filter_map(|line| line.strip_prefix("## "))
                .collect();
            assert_eq!(
                headings,
                [
                    "What it says",
                    "Evidence",
                    "Why it costs time",
                    "What to do",
                    "When it is wrong",
                    "References"
                ],
                "{id}"
            );
            assert!(!page.contains("\n\n\n"), "{id}: empty section or lines");
        }
        assert_eq!(page("nothing"), None);
    }
}
