//! The little Markdown of our own pages, as text for a terminal.

use ridge_render::charset::Charset;
use ridge_render::style::{Painter, Role};
use ridge_render::table::{Column, Table};
use ridge_render::wrap::{Indent, wrap};

/// Marks the begin and the end of lines that are kept as they are.
const FENCE: &str = "```";

/// A page as text: headings, paragraphs, bullets and tables, broken into lines of at most `columns`; drawings as they are.
pub(crate) fn text(page: &str, columns: usize, charset: Charset, painter: Painter) -> String {
    let mut out = String::new();
    for block in blocks(page) {
        if !out.is_empty() {
            out.push('\n');
        }
        for line in lines(&block, columns, charset, painter) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    out
}

/// Parts of a page between empty lines; empty lines of a drawing belong to it.
fn blocks(page: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut block = String::new();
    let mut is_drawing = false;
    for line in page.trim().lines() {
        is_drawing ^= line.starts_with(FENCE);
        if line.is_empty() && !is_drawing {
            blocks.push(std::mem::take(&mut block));
        } else {
            if !block.is_empty() {
                block.push('\n');
            }
            block.push_str(line);
        }
    }
    blocks.push(block);
    blocks.retain(|block| !block.is_empty());
    blocks
}

/// A table, its cells broken into lines where it is too wide.
fn table(block: &str, columns: usize, charset: Charset, painter: Painter) -> Vec<String> {
    let cells = |line: &str| -> Vec<String> {
        let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
        inner
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect()
    };
    let mut rows = block.lines().map(cells);
    let heads = rows.next().unwrap_or_default();
    let mut table = Table::new(heads.iter().map(|head| Column::left(head).wrapped(1, 8)));
    // The second line tells alignments.
    for row in rows.skip(1) {
        table.row(row);
    }
    table
        .render(columns.saturating_sub(2), charset, painter)
        .lines()
        .map(|line| format!("  {line}"))
        .collect()
}

fn lines(block: &str, columns: usize, charset: Charset, painter: Painter) -> Vec<String> {
    if let Some(drawing) = block.strip_prefix(FENCE) {
        return drawing
            .trim_end_matches(FENCE)
            .lines()
            .skip(1)
            .map(|line| {
                format!("  {}", spelled(line, charset))
                    .trim_end()
                    .to_owned()
            })
            .collect();
    }
    let block = spelled(block, charset);
    if block.starts_with('|') {
        return table(&block, columns, charset, painter);
    }
    if block.starts_with('#') {
        let title = block.trim_start_matches('#').trim_start();
        return wrap(title, columns, Indent::default())
            .iter()
            .map(|line| painter.paint(Role::Heading, line).to_string())
            .collect();
    }
    if block.starts_with("* ") {
        let hanging = Indent {
            first: "  - ",
            rest: "    ",
        };
        return format!("\n{block}")
            .split("\n* ")
            .skip(1)
            .flat_map(|item| wrap(&item.replace('\n', " "), columns, hanging))
            .collect();
    }
    if block.starts_with("1. ") {
        return numbered(&block, columns);
    }
    wrap(&block.replace('\n', " "), columns, Indent::all("  "))
}

/// A numbered list of at most nine items.
fn numbered(block: &str, columns: usize) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in block.lines() {
        let next = format!("{}. ", items.len() + 1);
        match (line.strip_prefix(&next), items.last_mut()) {
            (Some(text), _) => items.push(text.to_owned()),
            (None, Some(item)) => {
                item.push(' ');
                item.push_str(line.trim());
            }
            (None, None) => items.push(line.to_owned()),
        }
    }
    items
        .iter()
        .enumerate()
        .flat_map(|(place, item)| {
            let first = format!("  {}. ", place + 1);
            let indent = Indent {
                first: &first,
                rest: "     ",
            };
            wrap(item, columns, indent)
        })
        .collect()
}

/// Without the marks of code, and without characters that the terminal may not have.
fn spelled(text: &str, charset: Charset) -> String {
    let text = text.replace('`', "");
    match charset {
        Charset::Unicode => text,
        Charset::Ascii => text
            .chars()
            .map(|letter| match letter {
                '×' => "x".to_owned(),
                '²' => "^2".to_owned(),
                '³' => "^3".to_owned(),
                '–' | '−' => "-".to_owned(),
                other if other.is_ascii() => other.to_string(),
                _ => "?".to_owned(),
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_become_lines() {
        let page = "1. one and\n   a half\n2. two\n";
        assert_eq!(
            text(page, 16, Charset::Unicode, Painter::plain()),
            "  1. one and a\n     half\n  2. two\n"
        );
        let page = "# Title\n\nSome `code` and\nmore words.\n\n* one item\n* two\n";
        assert_eq!(
            text(page, 16, Charset::Unicode, Painter::plain()),
            "Title\n\n  Some code and\n  more words.\n\n  - one item\n  - two\n"
        );
    }

    #[test]
    fn drawings_and_tables_keep_their_form() {
        let page =
            "Bits:\n\n```text\ns  e\n\n1  2\n```\n\n| name | what |\n|---|---|\n| a | `b` c |\n";
        assert_eq!(
            text(page, 30, Charset::Unicode, Painter::plain()),
            "  Bits:\n\n  s  e\n\n  1  2\n\n  name  what\n  a     b c\n"
        );
        let wide = "| name | what |\n|---|---|\n| a | one two three four |\n";
        assert_eq!(
            text(wide, 20, Charset::Unicode, Painter::plain()),
            "  name  what\n  a     one two\n        three four\n"
        );
    }

    #[test]
    fn ascii_pages_are_ascii() {
        let page = text("8 × 8 are n³ – “so”", 80, Charset::Ascii, Painter::plain());
        assert_eq!(page, "  8 x 8 are n^3 - ?so?\n");
    }
}
