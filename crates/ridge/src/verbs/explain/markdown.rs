//! The little Markdown of our own pages, as text for a terminal.

use ridge_render::charset::Charset;
use ridge_render::style::{Painter, Role};
use ridge_render::wrap::{Indent, wrap};

/// A page as text: headings, paragraphs and bullets, broken into lines of at most `columns`.
pub(super) fn text(page: &str, columns: usize, charset: Charset, painter: Painter) -> String {
    let mut out = String::new();
    for block in page.trim().split("\n\n") {
        if !out.is_empty() {
            out.push('\n');
        }
        for line in lines(block, columns, charset, painter) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    out
}

fn lines(block: &str, columns: usize, charset: Charset, painter: Painter) -> Vec<String> {
    let block = spelled(block, charset);
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
    wrap(&block.replace('\n', " "), columns, Indent::all("  "))
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
        let page = "# Title\n\nSome `code` and\nmore words.\n\n* one item\n* two\n";
        assert_eq!(
            text(page, 16, Charset::Unicode, Painter::plain()),
            "Title\n\n  Some code and\n  more words.\n\n  - one item\n  - two\n"
        );
    }

    #[test]
    fn ascii_pages_are_ascii() {
        let page = text("8 × 8 are n³ – “so”", 80, Charset::Ascii, Painter::plain());
        assert_eq!(page, "  8 x 8 are n^3 - ?so?\n");
    }
}
