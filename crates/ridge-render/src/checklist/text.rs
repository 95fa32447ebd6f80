//! The page for people.

use ridge_checklist::{Answer, Document, Line};

use super::{GROUPS, evidence, group, headline, role};
use crate::page::Layout;
use crate::style::Role;

/// Figures that are shown of a line without `-v`.
const FIGURES: usize = 3;
/// Actions that are shown of a line without `-v`.
const ACTIONS: usize = 2;
/// Commands that are shown of a line without `-v`.
const COMMANDS: usize = 1;

/// Writes the page: each question with its answer, the figures behind it, and what settles it.
#[must_use]
pub fn text(document: &Document, layout: &Layout) -> String {
    let mut out = String::new();
    layout.heading(&mut out, &headline(document));
    for part in GROUPS {
        let lines: Vec<&Line> = document.lines.iter().filter(|l| l.group == part).collect();
        if lines.is_empty() {
            continue;
        }
        out.push('\n');
        layout.heading(&mut out, group(part));
        for line in lines {
            one(&mut out, document, line, layout);
        }
    }
    if !document.warnings.is_empty() {
        out.push('\n');
    }
    for warning in &document.warnings {
        let source = warning.source.as_ref();
        let message = source.map_or_else(
            || warning.message.clone(),
            |source| format!("{source}: {}", warning.message),
        );
        layout.paragraph(&mut out, &message, "! ", "  ", Some(Role::Warning));
    }
    out
}

fn one(out: &mut String, document: &Document, line: &Line, layout: &Layout) {
    let most = |few: usize| if layout.is_verbose { usize::MAX } else { few };
    let role = role(line.answer);
    let first = format!(
        "{} {}  {} ({})",
        role.mark(),
        line.answer.word(),
        line.question,
        line.id
    );
    layout.paragraph(out, &first, "", "    ", Some(role));
    for reason in &line.reasons {
        layout.paragraph(out, reason, "    ", "    ", None);
    }
    // Figures of what is well are for those who ask.
    let figures = match line.answer {
        Answer::No => most(FIGURES),
        _ => most(1),
    };
    for figure in line.evidence.iter().take(figures) {
        let text = format!("seen: {}", evidence(document, figure));
        layout.paragraph(out, &text, "    ", "          ", Some(Role::Dim));
    }
    for action in line.actions.iter().take(most(ACTIONS)) {
        layout.paragraph(out, &format!("do: {action}"), "    ", "        ", None);
    }
    for next in line.next.iter().take(most(COMMANDS)) {
        layout.paragraph(out, &format!("next: {next}"), "    ", "          ", None);
    }
}
