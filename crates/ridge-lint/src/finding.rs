//! What is found, with its place in the source.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It is wrong, whatever the data: results, times or the program cannot be trusted.
    Error,
    /// It costs time, or makes a time worth less.
    Warning,
    /// It is worth a look.
    Note,
}

impl Severity {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A finding, before its place has lines and columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) rule: &'static str,
    pub(crate) severity: Severity,
    pub(crate) range: Range<usize>,
    pub(crate) message: String,
    pub(crate) advice: &'static str,
}

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Place {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// Where lines start.
pub(crate) struct Lines<'s> {
    bytes: &'s [u8],
    starts: Vec<usize>,
    /// Offsets within long lines, with the characters of the line before.
    marks: Vec<(usize, usize)>,
}

/// Bytes between two marks in a long line.
const BETWEEN_MARKS: usize = 4096;

impl<'s> Lines<'s> {
    pub(crate) fn of(bytes: &'s [u8]) -> Self {
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let starts: Vec<usize> = std::iter::once(0)
            .chain(ends.map(|(at, _)| at + 1))
            .collect();
        let mut marks = Vec::new();
        for (which, start) in starts.iter().enumerate() {
            let end = starts.get(which + 1).copied().unwrap_or(bytes.len());
            let (mut at, mut characters) = (*start, 0);
            while end - at > 2 * BETWEEN_MARKS {
                // A character is not cut.
                let next = (at + BETWEEN_MARKS..end)
                    .find(|next| bytes[*next] & 0xc0 != 0x80)
                    .unwrap_or(end);
                characters += count(&bytes[at..next]);
                at = next;
                marks.push((at, characters));
            }
        }
        Self {
            bytes,
            starts,
            marks,
        }
    }

    /// How many lines there are; an end of line begins no new one.
    pub(crate) fn count(&self) -> usize {
        let last = self.starts.last().copied().unwrap_or_default();
        self.starts.len() - usize::from(last == self.bytes.len())
    }

    /// The line of an offset, from 0.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.starts
            .partition_point(|start| *start <= offset)
            .saturating_sub(1)
    }

    pub(crate) fn place(&self, offset: usize) -> Place {
        let line = self.line(offset);
        let start = self.starts.get(line).copied().unwrap_or_default();
        let mark = self.marks.partition_point(|(at, _)| *at <= offset);
        let (from, before) = mark
            .checked_sub(1)
            .map(|mark| self.marks[mark])
            .filter(|(at, _)| *at >= start)
            .unwrap_or((start, 0));
        let column = before + count(self.bytes.get(from..offset).unwrap_or_default());
        Place {
            line: u32::try_from(line + 1).unwrap_or(u32::MAX),
            column: u32::try_from(column + 1).unwrap_or(u32::MAX),
        }
    }

    /// The text of a line, without its end.
    pub(crate) fn text(&self, line: usize) -> String {
        let start = self.starts.get(line).copied().unwrap_or(self.bytes.len());
        let end = self
            .starts
            .get(line + 1)
            .map_or(self.bytes.len(), |next| next - 1);
        let bytes = self.bytes.get(start..end).unwrap_or_default();
        // Nobody writes lines of this length; what generators write is cut.
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]).into_owned();
        text.trim_end_matches('\r').to_owned()
    }
}

/// Characters, with a replacement for what is none.
fn count(bytes: &[u8]) -> usize {
    String::from_utf8_lossy(bytes).chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_long_lines_are_characters_too() {
        let text = format!(
            "short\n{}\n{}x",
            "a\u{e4}\u{20ac}".repeat(10_000),
            "\u{e4}".repeat(20_000)
        );
        let lines = Lines::of(text.as_bytes());
        for line in [1, 2] {
            let start = lines.starts[line];
            for (column, (at, _)) in text[start..]
                .char_indices()
                .enumerate()
                .step_by(997)
                .take(20)
            {
                let place = lines.place(start + at);
                assert_eq!(
                    (place.line, place.column as usize),
                    (u32::try_from(line).unwrap() + 1, column + 1)
                );
            }
        }
    }

    #[test]
    fn columns_are_characters() {
        let lines = Lines::of("a\näöb\n".as_bytes());
        assert_eq!(lines.place(0), Place { line: 1, column: 1 });
        assert_eq!(lines.place(6), Place { line: 2, column: 3 });
        assert_eq!(lines.text(1), "äöb");
    }
}
