//! The page of `ridge doctor`: one line for each thing, with what mends it below those that need it.

use ridge_collect::doctor::document::Document;
use ridge_collect::doctor::{Line, State};
use ridge_model::quantity::counted;

use crate::page::Layout;
use crate::style::Role;
use crate::width::width;

const fn mark(state: State) -> (&'static str, Option<Role>) {
    match state {
        State::Works => (Role::Good.mark(), Some(Role::Good)),
        State::Limited => (Role::Warning.mark(), Some(Role::Warning)),
        State::Fails => (Role::Bad.mark(), Some(Role::Bad)),
        State::Unknown => ("?", Some(Role::Warning)),
    }
}

fn headline(document: &Document) -> String {
    let count = |state| {
        let count = document
            .lines
            .iter()
            .filter(|line| line.state == state)
            .count();
        u64::try_from(count).unwrap_or(u64::MAX)
    };
    let mut parts = vec![format!("{} work", count(State::Works))];
    for (state, what) in [
        (State::Limited, "with care"),
        (State::Fails, "do not"),
        (State::Unknown, "unknown"),
    ] {
        if count(state) > 0 {
            parts.push(format!("{} {what}", count(state)));
        }
    }
    let total = u64::try_from(document.lines.len()).unwrap_or(u64::MAX);
    format!("{}: {}", counted(total, "check"), parts.join(", "))
}

/// What goes without a line that does not work.
fn consequence(line: &Line) -> Option<String> {
    if !matches!(line.state, State::Fails | State::Unknown) || line.needed_for.is_empty() {
        return None;
    }
    let needs: Vec<&str> = line.needed_for.iter().map(|need| need.text()).collect();
    let word = if line.is_optional {
        "of use for"
    } else {
        "needed for"
    };
    Some(format!("{word} {}", needs.join(", ")))
}

/// Writes the page.
#[must_use]
pub fn text(document: &Document, layout: &Layout) -> String {
    let mut out = String::new();
    layout.heading(&mut out, &headline(document));
    out.push('\n');
    let widest = document
        .lines
        .iter()
        .map(|line| width(&line.subject))
        .max()
        .unwrap_or(0);
    let rest = " ".repeat(widest + 6);
    for line in &document.lines {
        let (mark, role) = mark(line.state);
        let pad = " ".repeat(widest.saturating_sub(width(&line.subject)));
        let first = format!("  {mark} {}{pad}  ", line.subject);
        let role = role.filter(|role| *role != Role::Good);
        layout.paragraph(&mut out, &line.text, &first, &rest, role);
        if let Some(consequence) = consequence(line) {
            layout.paragraph(&mut out, &consequence, &rest, &rest, Some(Role::Dim));
        }
        for remedy in &line.remedies {
            let indent = format!("{rest}do: ");
            let hanging = format!("{rest}    ");
            layout.paragraph(&mut out, remedy, &indent, &hanging, None);
        }
    }
    out
}
