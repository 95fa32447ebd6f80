//! Comma-separated cells with quotes, as spreadsheets write them.

use super::TableError;

/// A row that is not empty, and the line where it starts, from 1.
pub(super) struct Row {
    pub(super) line: usize,
    pub(super) cells: Vec<String>,
}

/// Rows of a table. Empty lines and lines that start with `#` are left out; cells are without space around them.
pub(super) fn rows(text: &str) -> Result<Vec<Row>, TableError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rows = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, first)) = lines.next() {
        let line = index + 1;
        if first.trim().is_empty() || first.starts_with('#') {
            continue;
        }
        let mut cells = Cells::default();
        cells.push_line(first);
        // A quoted cell may go over several lines.
        while cells.is_quoted {
            let Some((_, next)) = lines.next() else {
                return Err(TableError::OpenQuote { line });
            };
            cells.cell.push('\n');
            cells.push_line(next);
        }
        cells.end_cell();
        rows.push(Row {
            line,
            cells: cells.done,
        });
    }
    Ok(rows)
}

#[derive(Default)]
struct Cells {
    done: Vec<String>,
    cell: String,
    is_quoted: bool,
}

impl Cells {
    fn push_line(&mut self, line: &str) {
        let mut letters = line.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '"' if self.is_quoted => {
                    if letters.next_if_eq(&'"').is_some() {
                        self.cell.push('"');
                    } else {
                        self.is_quoted = false;
                    }
                }
                '"' if self.cell.trim().is_empty() => {
                    self.cell.clear();
                    self.is_quoted = true;
                }
                ',' if !self.is_quoted => self.end_cell(),
                other => self.cell.push(other),
            }
        }
    }

    fn end_cell(&mut self) {
        self.done.push(self.cell.trim().to_owned());
        self.cell.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str) -> Vec<Vec<String>> {
        rows(text)
            .unwrap()
            .into_iter()
            .map(|row| row.cells)
            .collect()
    }

    #[test]
    fn quotes_hold_commas_quotes_and_lines() {
        assert_eq!(
            cells("a, b ,\n# a remark\n\n\"x, \"\"y\"\"\",\"two\r\nlines\",z\r\n"),
            [vec!["a", "b", ""], vec!["x, \"y\"", "two\nlines", "z"],]
        );
        assert_eq!(rows("a\n\n# b\nc").unwrap()[1].line, 4);
    }

    #[test]
    fn a_quote_without_end_is_an_error() {
        assert!(matches!(
            rows("a,b\n1,\"2\n3"),
            Err(TableError::OpenQuote { line: 2 })
        ));
    }
}
