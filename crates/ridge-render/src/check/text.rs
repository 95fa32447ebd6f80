//! The page for people.

use ridge_compare::check::{Document, Outcome};

use super::{against, headline, remarks, role, subject, word};
use crate::page::Layout;
use crate::style::Role;

/// Writes the page. Checks that hold are a line each; with `-v` they have their numbers too.
#[must_use]
pub fn text(document: &Document, layout: &Layout) -> String {
    let mut out = String::new();
    layout.heading(&mut out, &headline(document));
    for line in against(document) {
        layout.paragraph(&mut out, &line, "  ", "    ", Some(Role::Dim));
    }
    for check in &document.checks {
        let role = role(check.outcome);
        let first = format!(
            "{} {}  {}: {}",
            role.mark(),
            word(check),
            check.rule.name(),
            subject(check)
        );
        layout.paragraph(&mut out, &first, "", "    ", Some(role));
        layout.paragraph(&mut out, &check.text, "    ", "    ", None);
        if let Some(hint) = check
            .hint
            .as_ref()
            .filter(|_| check.outcome != Outcome::Pass)
        {
            layout.paragraph(
                &mut out,
                &format!("try: {hint}"),
                "    ",
                "         ",
                Some(Role::Dim),
            );
        }
    }
    for remark in remarks(document) {
        layout.paragraph(&mut out, &remark, "! ", "  ", Some(Role::Warning));
    }
    if document.is_recorded {
        layout.paragraph(&mut out, "a new baseline was recorded", "", "", None);
    }
    out
}
