//! The line of source of a finding, with a mark below.

use ridge_lint::document::FoundItem;

use super::role;
use crate::escape;
use crate::page::Layout;
use crate::style::Role;
use crate::width::{prefix, push_spaces, width};

/// Columns that a tab takes at most.
const TAB: usize = 4;
/// What is shown before the mark where a line is too long.
const BEFORE: usize = 20;

/// Writes the line with its number, and the mark.
pub(super) fn write(out: &mut String, finding: &FoundItem, layout: &Layout) {
    let (Some(source), Some(start)) = (&finding.source, finding.start) else {
        return;
    };
    let column = |column: u32| {
        usize::try_from(column)
            .unwrap_or(usize::MAX)
            .saturating_sub(1)
    };
    let from = column(start.column);
    // Of very long lines only the beginning is kept.
    if from > 0 && source.chars().nth(from - 1).is_none() {
        return;
    }
    // What ends on a later line is marked to the end of this one.
    let to = finding
        .end
        .filter(|end| end.line == start.line)
        .map_or(usize::MAX, |end| column(end.column))
        .max(from + 1);
    let mut parts = [String::new(), String::new(), String::new()];
    for (at, c) in source.chars().enumerate() {
        let part = if at < from {
            0
        } else if at < to {
            1
        } else {
            2
        };
        match c {
            '\t' => push_spaces(&mut parts[part], TAB),
            c => parts[part].push_str(&escape::terminal(c.encode_utf8(&mut [0; 4]))),
        }
    }
    let [mut before, marked, after] = parts;
    let number = start.line.to_string();
    let gutter = width(&number) + 5;
    let room = layout.columns.saturating_sub(gutter).max(BEFORE + 10);
    // Common indentation carries nothing.
    let indent = before.len() - before.trim_start_matches(' ').len();
    before.replace_range(..indent, "");
    let marked = marked.trim_end();
    if width(&before) + width(marked) > room && width(&before) > BEFORE {
        let keep: Vec<char> = before.chars().rev().take(BEFORE).collect();
        before = format!(
            "{}{}",
            layout.charset.ellipsis(),
            keep.into_iter().rev().collect::<String>()
        );
    }
    let line = format!("{before}{marked}{after}");
    let line = prefix(&line, room).trim_end();
    let frame = |text: &str| layout.painter.paint(Role::Dim, text).to_string();
    out.push_str(&frame(&format!("  {number} | ")));
    out.push_str(line);
    out.push('\n');
    out.push_str(&frame(&format!("  {} | ", " ".repeat(width(&number)))));
    push_spaces(out, width(&before));
    let length = width(marked)
        .min(room.saturating_sub(width(&before)))
        .max(1);
    out.push_str(
        &layout
            .painter
            .paint(role(finding.severity), &"^".repeat(length))
            .to_string(),
    );
    out.push('\n');
}
