//! Aligned columns that fit a terminal.
//!
//! Columns are two spaces apart and as wide as their widest cell. Where that is too wide, the columns declared
//! flexible give way, those of the highest priority first; the others never lose a character. Lines have no trailing
//! spaces.

use std::borrow::Cow;

use crate::charset::Charset;
use crate::distinct;
use crate::escape;
use crate::style::{Painter, Role};
use crate::width::{push_spaces, truncate, width};
use crate::wrap::{Indent, wrap};

/// Spaces between two columns.
const GAP: usize = 2;

/// To which side a column's cells go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// What a column does when the table is too wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    Rigid,
    Truncate { priority: u8, least: usize },
    Wrap { priority: u8, least: usize },
    TellApart { priority: u8, least: usize },
}

/// A column: its header, alignment and what it does when space is short.
#[derive(Clone, Debug)]
pub struct Column {
    header: String,
    align: Align,
    fit: Fit,
}

impl Column {
    /// A rigid column of text.
    #[must_use]
    pub fn left(header: &str) -> Self {
        Self::new(header, Align::Left)
    }

    /// A rigid column of numbers.
    #[must_use]
    pub fn right(header: &str) -> Self {
        Self::new(header, Align::Right)
    }

    fn new(header: &str, align: Align) -> Self {
        Self {
            header: escape::terminal(header).into_owned(),
            align,
            fit: Fit::Rigid,
        }
    }

    /// Lets the column shrink to `least` columns by cutting its cells; a higher priority shrinks earlier.
    #[must_use]
    pub const fn truncated(mut self, priority: u8, least: usize) -> Self {
        self.fit = Fit::Truncate { priority, least };
        self
    }

    /// Lets the column shrink to `least` columns by leaving out of its cells first what does not tell them apart; a higher
    /// priority shrinks earlier. For names of things that are looked for again.
    #[must_use]
    pub const fn told_apart(mut self, priority: u8, least: usize) -> Self {
        self.fit = Fit::TellApart { priority, least };
        self
    }

    /// Lets the column shrink to `least` columns by breaking its cells into lines; a higher priority shrinks earlier.
    #[must_use]
    pub const fn wrapped(mut self, priority: u8, least: usize) -> Self {
        self.fit = Fit::Wrap { priority, least };
        self
    }
}

/// A cell: its text and, if it has one, its role.
#[derive(Clone, Debug)]
pub struct Cell {
    text: String,
    role: Option<Role>,
}

impl Cell {
    /// A cell in a style of its own.
    #[must_use]
    pub fn styled(role: Role, text: &str) -> Self {
        Self {
            text: escape::terminal(text).into_owned(),
            role: Some(role),
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self {
            text: escape::terminal(text).into_owned(),
            role: None,
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

/// A table in the making.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows. Where no column has a header, there is no header line.
    #[must_use]
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self {
            columns: columns.into_iter().collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row. Cells that are missing are empty, cells beyond the last column are not shown.
    pub fn row<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Whether the table has no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table's lines, each with its newline, in `columns` of width where the rigid columns allow that.
    #[must_use]
    pub fn render(&self, columns: usize, charset: Charset, painter: Painter) -> String {
        let widths = self.widths(columns);
        let mut out = String::new();
        if self.columns.iter().any(|column| !column.header.is_empty()) {
            let header: Vec<Cell> = self
                .columns
                .iter()
                .map(|column| Cell::styled(Role::Heading, &column.header))
                .collect();
            self.push_row(&mut out, &header, &widths, charset, painter);
        }
        let mut rows = Cow::Borrowed(&self.rows);
        for (index, (column, &columns)) in self.columns.iter().zip(&widths).enumerate() {
            if matches!(column.fit, Fit::TellApart { .. }) {
                tell_apart(rows.to_mut(), index, columns, charset);
            }
        }
        for row in rows.iter() {
            self.push_row(&mut out, row, &widths, charset, painter);
        }
        out
    }

    /// The columns' widths: natural ones, shrunk until the table fits or nothing flexible is left.
    fn widths(&self, columns: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = (0..self.columns.len())
            .map(|index| self.natural_width(index))
            .collect();
        let gaps = GAP * self.columns.len().saturating_sub(1);
        let mut excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(columns);
        let mut flexible: Vec<(u8, usize, usize)> = self
            .columns
            .iter()
            .enumerate()
            .filter_map(|(index, column)| match column.fit {
                Fit::Rigid => None,
                Fit::Truncate { priority, least }
                | Fit::Wrap { priority, least }
                | Fit::TellApart { priority, least } => Some((priority, index, least.max(1))),
            })
            .collect();
        flexible.sort_by_key(|&(priority, index, _)| (std::cmp::Reverse(priority), index));
        for peers in flexible.chunk_by(|a, b| a.0 == b.0) {
            excess = shrink(&mut widths, peers, excess);
        }
        widths
    }

    fn natural_width(&self, index: usize) -> usize {
        let header = self.columns.get(index).map_or(0, |c| width(&c.header));
        let cells = self.rows.iter().filter_map(|row| row.get(index));
        cells.map(|cell| width(&cell.text)).fold(header, usize::max)
    }

    fn push_row(
        &self,
        out: &mut String,
        row: &[Cell],
        widths: &[usize],
        charset: Charset,
        painter: Painter,
    ) {
        let cells: Vec<Vec<Cow<'_, str>>> = self
            .columns
            .iter()
            .zip(widths)
            .enumerate()
            .map(|(index, (column, &columns))| {
                let text = row.get(index).map_or("", |cell| cell.text.as_str());
                cell_lines(text, column.fit, columns, charset)
            })
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
        for line in 0..height {
            // Spaces are written only before a cell that follows, so none are left at the end.
            let mut pending = 0;
            for (index, (column, &columns)) in self.columns.iter().zip(widths).enumerate() {
                let text = cells
                    .get(index)
                    .and_then(|lines| lines.get(line))
                    .map_or("", |text| text.trim_end());
                let padding = columns.saturating_sub(width(text));
                let (before, after) = match column.align {
                    Align::Left => (0, padding),
                    Align::Right => (padding, 0),
                };
                pending += before;
                if !text.is_empty() {
                    push_spaces(out, pending);
                    pending = 0;
                    match row.get(index).and_then(|cell| cell.role) {
                        Some(role) => out.push_str(&painter.paint(role, text).to_string()),
                        None => out.push_str(text),
                    }
                }
                pending += after + GAP;
            }
            out.push('\n');
        }
    }
}

/// Takes `excess` columns away from `peers`, always from the widest, and returns what is left of it.
fn shrink(widths: &mut [usize], peers: &[(u8, usize, usize)], mut excess: usize) -> usize {
    while excess > 0 {
        let widest = peers
            .iter()
            .filter_map(|&(_, index, least)| {
                let width = *widths.get(index)?;
                (width > least).then_some((width, index, least))
            })
            .max_by_key(|&(width, index, _)| (width, std::cmp::Reverse(index)));
        let Some((width, index, least)) = widest else {
            break;
        };
        // Down to the next widest at once, so that one huge cell does not take as many steps as it has columns.
        let next = peers
            .iter()
            .filter(|&&(_, other, _)| other != index)
            .filter_map(|&(_, other, _)| widths.get(other).copied())
            .filter(|&other| other < width)
            .max()
            .unwrap_or(0);
        let step = (width - next.max(least)).min(excess).max(1);
        let is_tied = peers
            .iter()
            .any(|&(_, other, _)| other != index && widths.get(other) == Some(&width));
        let step = if is_tied { 1 } else { step };
        if let Some(width) = widths.get_mut(index) {
            *width -= step;
        }
        excess -= step;
    }
    excess
}

/// Cuts the cells of a column, all of which are looked at for that.
fn tell_apart(rows: &mut [Vec<Cell>], index: usize, columns: usize, charset: Charset) {
    let texts: Vec<String> = rows
        .iter()
        .map(|row| {
            row.get(index)
                .map_or_else(String::new, |cell| cell.text.clone())
        })
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let cut = distinct::cut(&texts, columns, charset);
    for (row, text) in rows.iter_mut().zip(cut) {
        if let (Some(cell), Cow::Owned(text)) = (row.get_mut(index), text) {
            cell.text = text;
        }
    }
}

fn cell_lines(text: &str, fit: Fit, columns: usize, charset: Charset) -> Vec<Cow<'_, str>> {
    match fit {
        Fit::Rigid => vec![Cow::Borrowed(text)],
        // Cells of the latter fit, and a header may not.
        Fit::Truncate { .. } | Fit::TellApart { .. } => vec![truncate(text, columns, charset)],
        Fit::Wrap { .. } if width(text) <= columns => vec![Cow::Borrowed(text)],
        Fit::Wrap { .. } => wrap(text, columns, Indent::default())
            .into_iter()
            .map(Cow::Owned)
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::testing::any_text;

    fn kernels() -> Table {
        let mut table = Table::new([
            Column::left("kernel").truncated(2, 10),
            Column::right("time"),
            Column::right("share"),
            Column::left("what stands in between").wrapped(1, 16),
        ]);
        table.row([
            "vectorized_elementwise_kernel<4, FillFunctor<float>>",
            "12.3 us",
            "31.0 %",
            "DRAM is busy for 93.1 % of the time",
        ]);
        table.row(["gemm", "402 us", "–", ""]);
        table.row(["行列積", "1.00 ms", "7.00 %", "waits at barriers"]);
        table
    }

    fn text(columns: usize) -> String {
        kernels().render(columns, Charset::Unicode, Painter::plain())
    }

    #[test]
    fn a_wide_terminal_shows_all() {
        insta::assert_snapshot!(text(120), @"
        kernel                                                   time   share  what stands in between
        vectorized_elementwise_kernel<4, FillFunctor<float>>  12.3 us  31.0 %  DRAM is busy for 93.1 % of the time
        gemm                                                   402 us       –
        行列積                                                1.00 ms  7.00 %  waits at barriers
        ");
    }

    #[test]
    fn the_first_to_shrink_is_the_highest_priority() {
        insta::assert_snapshot!(text(80), @"
        kernel                         time   share  what stands in between
        vectorized_elementwise_ke…  12.3 us  31.0 %  DRAM is busy for 93.1 % of the time
        gemm                         402 us       –
        行列積                      1.00 ms  7.00 %  waits at barriers
        ");
    }

    #[test]
    fn then_the_next_wraps() {
        insta::assert_snapshot!(text(50), @"
        kernel         time   share  what stands in
                                     between
        vectorize…  12.3 us  31.0 %  DRAM is busy for
                                     93.1 % of the time
        gemm         402 us       –
        行列積      1.00 ms  7.00 %  waits at barriers
        ");
    }

    #[test]
    fn rigid_columns_never_lose_a_character() {
        insta::assert_snapshot!(text(20), @"
        kernel         time   share  what stands in
                                     between
        vectorize…  12.3 us  31.0 %  DRAM is busy for
                                     93.1 % of the
                                     time
        gemm         402 us       –
        行列積      1.00 ms  7.00 %  waits at
                                     barriers
        ");
    }

    #[test]
    fn peers_shrink_to_the_same_width() {
        let mut table = Table::new([
            Column::left("").truncated(1, 4),
            Column::left("").truncated(1, 4),
        ]);
        table.row(["aaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbb"]);
        let text = table.render(18, Charset::Ascii, Painter::plain());
        assert_eq!(text, "aaaaa...  bbbbb...\n");
    }

    #[test]
    fn without_headers_there_is_no_header_line() {
        let mut table = Table::new([Column::left(""), Column::right("")]);
        table.row(["SMs", "132"]);
        table.row(["L2", "50 MiB"]);
        table.row(["empty"]);
        let text = table.render(80, Charset::Unicode, Painter::plain());
        assert_eq!(text, "SMs       132\nL2     50 MiB\nempty\n");
    }

    #[test]
    fn colour_does_not_move_columns() {
        let mut table = Table::new([Column::left("verdict"), Column::right("n")]);
        table.row([Cell::styled(Role::Bad, "SLOWER"), Cell::from("5")]);
        let text = table.render(80, Charset::Unicode, Painter::coloured());
        insta::assert_snapshot!(text.escape_debug().to_string().replace("\\n", "\n"), @r"
        \u{1b}[1mverdict\u{1b}[0m  \u{1b}[1mn\u{1b}[0m
        \u{1b}[1m\u{1b}[31mSLOWER\u{1b}[0m   5
        ");
    }

    #[test]
    fn cells_cannot_leave_their_line() {
        let mut table = Table::new([Column::left("a\nb"), Column::left("")]);
        table.row(["x\r\n\u{1b}[2J", "y"]);
        let text = table.render(80, Charset::Unicode, Painter::plain());
        assert_eq!(text, "a\\nb\nx\\r\\n\\x1b[2J  y\n");
    }

    proptest! {
        #[test]
        fn flexible_tables_fit(rows in prop::collection::vec(prop::collection::vec(any_text(), 0..4), 0..5), columns in 12..90usize) {
            let mut table = Table::new([
                Column::left("h").truncated(1, 1),
                Column::right("head").wrapped(3, 2),
                Column::right("x").truncated(1, 3),
            ]);
            for row in &rows {
                table.row(row.iter().map(String::as_str));
            }
            for line in table.render(columns, Charset::Ascii, Painter::plain()).lines() {
                prop_assert!(width(line) <= columns, "{line}");
                prop_assert_eq!(line.trim_end(), line);
            }
        }
    }
}
