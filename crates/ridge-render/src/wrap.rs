//! Paragraphs broken into lines that fit, with a hanging indent.

use std::borrow::Cow;

use crate::escape;
use crate::width::{prefix, width};

/// What stands at the start of a paragraph's lines, such as a bullet and the spaces below it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Indent<'t> {
    /// Before the first line.
    pub first: &'t str,
    /// Before every other line.
    pub rest: &'t str,
}

impl<'t> Indent<'t> {
    /// The same start for every line.
    #[must_use]
    pub const fn all(indent: &'t str) -> Self {
        Self {
            first: indent,
            rest: indent,
        }
    }
}

/// Breaks `text` at white space into lines of at most `columns`, indent included.
///
/// A newline in `text` starts a new line, a percent sign is not parted from its number, and words that do not fit are broken. The text is made safe for a terminal, so
/// styles go around the resulting lines, not into the text. Every line has room for at least one column of text, even
/// where the indent leaves none. No line ends in white space, and empty text has no lines.
#[must_use]
pub fn wrap(text: &str, columns: usize, indent: Indent<'_>) -> Vec<String> {
    let mut lines = Lines {
        columns,
        indent,
        done: Vec::new(),
        line: String::new(),
        used: 0,
    };
    for paragraph in text.lines() {
        let mut words = paragraph.split_whitespace().peekable();
        while let Some(word) = words.next() {
            let mut word = escape::terminal(word);
            // A percent sign stays with its number.
            while let Some(sign) = words.next_if(|next| next.starts_with('%')) {
                word = Cow::Owned(format!("{word} {}", escape::terminal(sign)));
            }
            lines.push_word(&word);
        }
        lines.end();
    }
    lines.done
}

struct Lines<'t> {
    columns: usize,
    indent: Indent<'t>,
    done: Vec<String>,
    line: String,
    used: usize,
}

impl Lines<'_> {
    fn start(&self) -> &str {
        if self.done.is_empty() {
            self.indent.first
        } else {
            self.indent.rest
        }
    }

    /// The columns that a line has for text.
    fn room(&self) -> usize {
        self.columns.saturating_sub(width(self.start())).max(1)
    }

    fn push_word(&mut self, word: &str) {
        let mut word = word;
        if !self.line.is_empty() {
            if self.used + 1 + width(word) <= self.room() {
                self.line.push(' ');
                self.line.push_str(word);
                self.used += 1 + width(word);
                return;
            }
            self.end();
        }
        while width(word) > self.room() {
            let mut head = prefix(word, self.room());
            if head.is_empty() {
                // One character wider than the line: it goes in all the same, or this would never end.
                let first = word.chars().next().map_or(0, char::len_utf8);
                head = &word[..first];
            }
            self.line.push_str(head);
            word = &word[head.len()..];
            if word.is_empty() {
                self.used = width(&self.line);
                return;
            }
            self.end();
        }
        self.line.push_str(word);
        self.used = width(word);
    }

    fn end(&mut self) {
        let line = format!("{}{}", self.start(), self.line);
        self.done.push(line.trim_end().to_owned());
        self.line.clear();
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::testing::any_text;

    const BULLET: Indent<'_> = Indent {
        first: "  * ",
        rest: "    ",
    };

    #[test]
    fn paragraphs_hang_below_their_bullet() {
        let text = "Stage the tile in shared memory, so that each element is read from DRAM once per block.\n\
                    See also: https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/index.html";
        insta::assert_snapshot!(wrap(text, 40, BULLET).join("\n"), @"
        * Stage the tile in shared memory, so
          that each element is read from DRAM
          once per block.
          See also:
          https://docs.nvidia.com/cuda/cuda-c-
          best-practices-guide/index.html
        ");
    }

    #[test]
    fn empty_lines_stay_and_have_no_spaces() {
        assert_eq!(wrap("a\n\nb", 10, BULLET), ["  * a", "", "    b"]);
        assert!(wrap("", 10, BULLET).is_empty());
    }

    #[test]
    fn no_width_still_makes_progress() {
        assert_eq!(wrap("ab 行", 0, Indent::default()), ["a", "b", "行"]);
    }

    #[test]
    fn escape_sequences_do_not_pass() {
        assert_eq!(
            wrap("\u{1b}[31mred", 20, Indent::default()),
            ["\\x1b[31mred"]
        );
    }

    proptest! {
        #[test]
        fn lines_fit_and_lose_no_letters(text in any_text(), columns in 6..60usize) {
            let lines = wrap(&text, columns, BULLET);
            for line in &lines {
                prop_assert!(width(line) <= columns);
                prop_assert_eq!(line.trim_end(), line);
            }
            let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).collect::<String>();
            let safe: String = text.split_whitespace().map(escape::terminal).collect();
            prop_assert_eq!(letters(&lines.concat()), letters(&safe));
        }
    }
}
