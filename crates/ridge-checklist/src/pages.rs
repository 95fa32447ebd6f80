//! What each line means: the doc comment of its file, as a page.

use ridge_model::pages::of_doc_comment;

use crate::lines::LINES;

/// The identifiers of all lines, in the order of the list.
pub fn ids() -> impl Iterator<Item = &'static str> {
    LINES.iter().map(|check| check.id)
}

/// The question of a line.
#[must_use]
pub fn title(id: &str) -> Option<&'static str> {
    let check = LINES.iter().find(|check| check.id == id)?;
    Some(check.question)
}

/// The page of a line in Markdown: what it asks, how it is answered, and when the answer is wrong.
///
/// ```
/// let page = ridge_checklist::page("coalesced").expect("a line");
/// assert!(page.starts_with("# coalesced\n\n"));
/// assert!(page.contains("\n## How it is answered\n\n"));
/// ```
#[must_use]
pub fn page(id: &str) -> Option<String> {
    let check = LINES.iter().find(|check| check.id == id)?;
    Some(of_doc_comment(id, check.source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_a_page_with_all_headings() {
        for id in ids() {
            let page = page(id).unwrap();
            let headings: Vec<&str> = page
                .lines()
                .filter_map(|line| line.strip_prefix("## "))
                .collect();
            assert_eq!(
                headings,
                ["How it is answered", "What to do", "When it is wrong"],
                "{id}"
            );
            assert!(!page.contains("\n\n\n"), "{id}: empty section or lines");
            assert!(title(id).is_some_and(|title| title.ends_with('?')), "{id}");
        }
        assert_eq!(page("nothing"), None);
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = ids().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
