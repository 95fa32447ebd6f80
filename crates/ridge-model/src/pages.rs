//! Pages that are written as the doc comment of the source that they are about: findings, rules of lint, lines of the checklist.

/// A doc comment of a file as a page in Markdown, below a title; its headings go down by one.
///
/// ```
/// let source = "//! It waits.\n//!\n//! # What to do\n//! Do not wait.\n\nfn find() {}\n";
/// let page = ridge_model::pages::of_doc_comment("waits", source);
/// assert_eq!(page, "# waits\n\nIt waits.\n\n## What to do\n\nDo not wait.\n");
/// ```
#[must_use]
pub fn of_doc_comment(title: &str, source: &str) -> String {
    let mut page = format!("# {title}\n\n");
    for line in source.lines().map_while(|line| line.strip_prefix("//!")) {
        let line = line.strip_prefix(' ').unwrap_or(line);
        if line.starts_with('#') {
            page.push('#');
            page.push_str(line);
            page.push('\n');
        } else {
            page.push_str(line);
        }
        page.push('\n');
    }
    page
}
