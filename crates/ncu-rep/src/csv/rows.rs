//! Splits text into rows and cells, tolerating what real exports contain.
//!
//! Our own instead of the `csv` crate: a table starts in the middle of other output, so rows have to be tried at a
//! place and taken back; a row must not grow without bound; and broken quoting must cost one line, not the rest.

use std::borrow::Cow;
use std::ops::Range;

/// Cells kept per row. Full exports have about 2 300 columns; cells beyond the limit are left out.
pub(super) const MAX_CELLS: usize = 1 << 16;

/// Where a cell stands in the text, without its quotes.
#[derive(Clone, Debug)]
struct Cell {
    range: Range<usize>,
    /// Whether doubled quotes have to be undone.
    has_quotes: bool,
}

/// One row: cells by place. The buffer is used again for the next row.
#[derive(Debug, Default)]
pub(super) struct Row {
    cells: Vec<Cell>,
    /// Where the row starts.
    pub(super) start: usize,
    /// Where the next row starts.
    pub(super) end: usize,
    /// Whether the text ends inside a quoted cell; that cell is left out.
    pub(super) is_cut: bool,
    /// Whether the text ends with the row, without a line end.
    pub(super) is_last: bool,
    /// Whether there were more cells than are kept.
    pub(super) is_too_long: bool,
}

impl Row {
    /// The number of cells.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// A cell without the space around it; empty if the row is too short.
    pub(super) fn get<'t>(&self, text: &'t str, index: usize) -> Cow<'t, str> {
        let Some(cell) = self.cells.get(index) else {
            return Cow::Borrowed("");
        };
        let content = text.get(cell.range.clone()).unwrap_or("").trim();
        match cell.has_quotes {
            true => Cow::Owned(content.replace("\"\"", "\"")),
            false => Cow::Borrowed(content),
        }
    }

    /// A cell that may be absent: no such column, or a row too short.
    pub(super) fn cell<'t>(&self, text: &'t str, index: Option<usize>) -> Cow<'t, str> {
        index.map_or(Cow::Borrowed(""), |index| self.get(text, index))
    }

    /// Reads the row at a place, replacing this one. Time is linear in the length of the row.
    pub(super) fn read(&mut self, text: &str, start: usize, separator: u8) {
        self.cells.clear();
        self.start = start;
        self.is_cut = false;
        self.is_last = false;
        self.is_too_long = false;
        let bytes = text.as_bytes();
        let mut place = start;
        loop {
            let (cell, next) = match quoted(bytes, place, separator) {
                Some(Quoted::Closed(cell, next)) => (cell, next),
                Some(Quoted::Open) => {
                    self.is_cut = true;
                    self.end = bytes.len();
                    return;
                }
                None => {
                    let end = find(bytes, place, |byte| byte == separator || is_line_end(byte));
                    (
                        Cell {
                            range: place..end,
                            has_quotes: false,
                        },
                        end,
                    )
                }
            };
            if self.cells.len() < MAX_CELLS {
                self.cells.push(cell);
            } else {
                self.is_too_long = true;
            }
            match bytes.get(next) {
                Some(&byte) if byte == separator => place = next.saturating_add(1),
                Some(_) => {
                    self.end = after_line_end(bytes, next);
                    return;
                }
                None => {
                    self.is_last = true;
                    self.end = bytes.len();
                    return;
                }
            }
        }
    }

    /// Leaves out the last cell, when the text may have been cut inside it.
    pub(super) fn drop_last(&mut self) {
        self.cells.pop();
    }
}

enum Quoted {
    Closed(Cell, usize),
    Open,
}

/// Reads a quoted cell, if one starts at the place. A quote that is followed by other text is part of the cell.
fn quoted(bytes: &[u8], place: usize, separator: u8) -> Option<Quoted> {
    let start = find(bytes, place, |byte| byte != b' ');
    if bytes.get(start) != Some(&b'"') {
        return None;
    }
    let start = start.saturating_add(1);
    let mut has_quotes = false;
    let mut from = start;
    loop {
        let quote = find(bytes, from, |byte| byte == b'"');
        if quote >= bytes.len() {
            return Some(Quoted::Open);
        }
        let after = quote.saturating_add(1);
        match bytes.get(after) {
            Some(b'"') => {
                has_quotes = true;
                from = after.saturating_add(1);
                continue;
            }
            Some(b' ') | None => {}
            Some(&byte) if byte == separator || is_line_end(byte) => {}
            Some(_) => {
                from = after;
                continue;
            }
        }
        let next = find(bytes, after, |byte| byte != b' ');
        match bytes.get(next) {
            Some(&byte) if byte != separator && !is_line_end(byte) => from = after,
            _ => {
                return Some(Quoted::Closed(
                    Cell {
                        range: start..quote,
                        has_quotes,
                    },
                    next,
                ));
            }
        }
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// The first place from `start` on whose byte is wanted; the end of the text if there is none.
fn find(bytes: &[u8], start: usize, wanted: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(start..).unwrap_or(&[]);
    let found = rest
        .iter()
        .position(|byte| wanted(*byte))
        .unwrap_or(rest.len());
    start.saturating_add(found)
}

/// The place behind a line end: `\n`, `\r\n`, or the lone `\r` of a progress bar.
fn after_line_end(bytes: &[u8], place: usize) -> usize {
    let is_pair =
        bytes.get(place) == Some(&b'\r') && bytes.get(place.saturating_add(1)) == Some(&b'\n');
    place
        .saturating_add(if is_pair { 2 } else { 1 })
        .min(bytes.len())
}

/// The line at a place, without its end, and where the next one starts.
pub(super) fn line(text: &str, start: usize) -> (&str, usize) {
    let bytes = text.as_bytes();
    let end = find(bytes, start, is_line_end);
    (
        text.get(start..end).unwrap_or(""),
        if end < bytes.len() {
            after_line_end(bytes, end)
        } else {
            end
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str, separator: u8) -> (Vec<String>, Row) {
        let mut row = Row::default();
        row.read(text, 0, separator);
        (
            (0..row.len())
                .map(|i| row.get(text, i).into_owned())
                .collect(),
            row,
        )
    }

    #[test]
    fn quotes_separators_and_line_ends_inside_cells() {
        let text = "\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",plain , \"x\" ,\nnext";
        let (list, row) = cells(text, b',');
        assert_eq!(list, ["a,b", "say \"hi\"", "two\nlines", "plain", "x", ""]);
        assert!(!row.is_cut && !row.is_last);
        assert_eq!(text.get(row.end..), Some("next"));
    }

    #[test]
    fn every_line_end_counts() {
        for text in ["a,b\nc", "a,b\r\nc", "a,b\rc"] {
            let (list, row) = cells(text, b',');
            assert_eq!(list, ["a", "b"]);
            assert_eq!(text.get(row.end..), Some("c"));
        }
    }

    #[test]
    fn the_end_inside_a_quoted_cell_is_a_cut() {
        let (list, row) = cells("\"a\",\"1,2", b',');
        assert_eq!(list, ["a"]);
        assert!(row.is_cut);
        let (list, row) = cells("\"a\",\"12\"", b',');
        assert_eq!(list, ["a", "12"]);
        assert!(!row.is_cut && row.is_last);
    }

    #[test]
    fn a_quote_inside_a_word_is_text() {
        assert_eq!(
            cells("5\" disk;\"a \"b\" c\";\"d\"", b';').0,
            ["5\" disk", "a \"b\" c", "d"]
        );
    }

    #[test]
    fn a_row_is_kept_up_to_a_limit() {
        let (list, row) = cells(&",".repeat(10 * MAX_CELLS), b',');
        assert_eq!(list.len(), MAX_CELLS);
        assert!(row.is_too_long);
    }
}
