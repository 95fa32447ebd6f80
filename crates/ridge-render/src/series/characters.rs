//! A series in characters: a point for each result, a line for each level, and numbers where it changed.

use ridge_history::changes::document::SeriesRow;

use super::scale::{Scale, along};
use super::words;
use crate::charset::Charset;
use crate::page::Layout;
use crate::width::{push_spaces, truncate, width};

/// Rows of the chart.
const HEIGHT: usize = 12;
/// Columns of values left of the chart at least, and at most.
const LABEL: (usize, usize) = (9, 24);
/// Narrower charts tell nothing.
const LEAST_WIDTH: usize = 24;
/// Names of changes in the chart, as in the list below it.
const MARKS: &[u8] = b"123456789abcdefghijklmnopqrstuvwxyz";

/// The character of a change.
pub(super) fn mark(place: usize) -> char {
    MARKS.get(place).map_or('*', |mark| char::from(*mark))
}

/// Draws a series, a line for each row, with axes.
pub(super) fn plot(series: &SeriesRow, layout: &Layout) -> Vec<String> {
    let points = series.points.as_deref().unwrap_or_default();
    let scale = Scale::of(series);
    let ticks = scale.ticks(5.0, &series.unit);
    let longest = ticks.iter().map(|(_, label)| width(label)).max();
    let left = longest.unwrap_or(0).clamp(LABEL.0, LABEL.1) + 1;
    let columns = layout.columns.saturating_sub(left + 1).max(LEAST_WIDTH);
    let (dot, line, step, above, below, side, corner, under) = match layout.charset {
        Charset::Unicode => ('•', '─', '┊', '▲', '▼', '│', '└', '─'),
        Charset::Ascii => ('o', '-', ':', '^', 'v', '|', '+', '-'),
    };
    let mut grid = vec![vec![' '; columns]; HEIGHT];
    let column_of = |at: usize| {
        let place = along(at, series.count) * (columns - 1) as f64;
        (place.round() as usize).min(columns - 1)
    };
    let row_of = |value: f64| {
        let place = (1.0 - scale.place(value)) * (HEIGHT - 1) as f64;
        place.round()
    };
    for (place, change) in series.changes.iter().enumerate() {
        let column = column_of(change.point);
        for (row, cells) in grid.iter_mut().enumerate() {
            if let Some(cell) = cells.get_mut(column) {
                *cell = if row == 0 { mark(place) } else { step };
            }
        }
    }
    for segment in &series.segments {
        // A drift has no level.
        if segment.drift.is_some() {
            continue;
        }
        let row = row_of(segment.level);
        if let Some(cells) = grid.get_mut(row.max(0.0) as usize) {
            for cell in cells
                .iter_mut()
                .take(column_of(segment.last) + 1)
                .skip(column_of(segment.first))
            {
                if *cell == ' ' {
                    *cell = line;
                }
            }
        }
    }
    for (at, point) in points.iter().enumerate() {
        let row = row_of(point.value);
        let (row, character) = match row {
            _ if row < 0.0 => (0, above),
            _ if row > (HEIGHT - 1) as f64 => (HEIGHT - 1, below),
            _ => (row as usize, dot),
        };
        let cell = grid
            .get_mut(row)
            .and_then(|cells| cells.get_mut(column_of(at)));
        if let Some(cell) = cell
            && !(row == 0 && cell.is_ascii_alphanumeric())
        {
            *cell = character;
        }
    }
    let mut labels = vec![String::new(); HEIGHT];
    for (tick, text) in ticks {
        if let Some(label) = labels.get_mut(row_of(tick).max(0.0) as usize) {
            *label = truncate(&text, LABEL.1, layout.charset).into_owned();
        }
    }
    let mut lines: Vec<String> = grid
        .iter()
        .zip(&labels)
        .map(|(cells, label)| {
            let cells: String = cells.iter().collect();
            let mut line = String::new();
            push_spaces(&mut line, (left - 1).saturating_sub(width(label)));
            line.push_str(label);
            line.push(' ');
            line.push(side);
            line.push_str(cells.trim_end());
            line
        })
        .collect();
    let mut axis = " ".repeat(left);
    axis.push(corner);
    axis.extend(std::iter::repeat_n(under, columns));
    lines.push(axis);
    lines.push(ends(series, left, columns));
    lines
}

/// The first and the last commit below the axis.
fn ends(series: &SeriesRow, left: usize, columns: usize) -> String {
    let points = series.points.as_deref().unwrap_or_default();
    let name = |commit: Option<&str>, time: &str| match commit {
        Some(_) => words::commit(commit),
        None => words::day(time).to_owned(),
    };
    let mut line = " ".repeat(left + 1);
    let Some((first, last)) = points.first().zip(points.last()) else {
        return line;
    };
    let first = name(first.commit.as_deref(), &first.time);
    line.push_str(&first);
    if series.count > 1 {
        let last = name(last.commit.as_deref(), &last.time);
        let used = first.chars().count() + last.chars().count();
        push_spaces(&mut line, columns.saturating_sub(used).max(2));
        line.push_str(&last);
    }
    line
}
