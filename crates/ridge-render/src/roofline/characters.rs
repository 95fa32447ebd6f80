//! The chart in characters.

use super::scale::{Decades, axes};
use super::view::View;
use crate::charset::Charset;
use crate::page::Layout;

/// Rows of the chart.
const HEIGHT: usize = 18;
/// What stands left of the chart.
const LEFT: usize = 8;
/// Narrower charts tell nothing.
const LEAST_WIDTH: usize = 30;
/// Names of points in the chart, those that take most time first; more of them share the last.
const MARKS: &[u8] = b"123456789abcdefghijklmnopqrstuvwxyz";

/// The character of a point.
pub(super) fn mark(place: usize) -> char {
    MARKS.get(place).map_or('.', |mark| char::from(*mark))
}

/// Draws the roofs and the points, a line for each row, with axes.
pub(super) fn plot(view: &View<'_>, layout: &Layout) -> Vec<String> {
    let width = layout.columns.saturating_sub(LEFT + 1).max(LEAST_WIDTH);
    let (x, y) = axes(view);
    let (slope, flat, side, corner, under) = match layout.charset {
        Charset::Unicode => ('╱', '─', '│', '└', '─'),
        Charset::Ascii => ('/', '-', '|', '+', '-'),
    };
    let mut grid = vec![vec![' '; width]; HEIGHT];
    let row_of = |rate: f64| {
        let place = (1.0 - y.place(rate)) * (HEIGHT - 1) as f64;
        (place.is_finite() && place >= -0.5 && place < HEIGHT as f64 - 0.5)
            .then(|| place.round().max(0.0) as usize)
    };
    let column_of = |intensity: f64| {
        let place = x.place(intensity) * (width - 1) as f64;
        (place.is_finite() && place >= -0.5 && place < width as f64 - 0.5)
            .then(|| place.round().max(0.0) as usize)
    };
    let bandwidth = view.own_slope().map(|roof| roof.bytes_per_s);
    let top = view
        .flats
        .iter()
        .map(|roof| roof.ops_per_s)
        .fold(0.0, f64::max);
    let mut set = |row: Option<usize>, column: usize, character: char| {
        let cell = row.and_then(|row| grid.get_mut(row)?.get_mut(column));
        if let Some(cell) = cell {
            *cell = character;
        }
    };
    for column in 0..width {
        let intensity = x.value(column as f64 / (width - 1) as f64);
        for roof in &view.flats {
            let is_right =
                bandwidth.is_none_or(|bandwidth| intensity * bandwidth >= roof.ops_per_s);
            if is_right {
                set(row_of(roof.ops_per_s), column, flat);
            }
        }
        if let Some(bandwidth) = bandwidth
            && intensity * bandwidth <= top
        {
            set(row_of(intensity * bandwidth), column, slope);
        }
    }
    // Those that take most time are drawn last, and so on top.
    for (place, dot) in view.dots.iter().enumerate().rev() {
        if let Some(column) = column_of(dot.placement.intensity) {
            set(row_of(dot.point.ops_per_s), column, mark(place));
        }
    }
    let mut lines = Vec::with_capacity(HEIGHT + 2);
    let mut labelled = Vec::new();
    for power in y.ticks(6) {
        if let Some(row) = row_of(10_f64.powi(power)) {
            labelled.push((row, tick(power, "")));
        }
    }
    for (row, cells) in grid.iter().enumerate() {
        let label = labelled
            .iter()
            .find(|(of, _)| *of == row)
            .map_or("", |(_, label)| label.as_str());
        let cells: String = cells.iter().collect();
        lines.push(format!("{label:>7} {side}{cells}").trim_end().to_owned());
    }
    let line: String = std::iter::repeat_n(under, width).collect();
    lines.push(format!("{:>7} {corner}{line}", unit(view)));
    lines.push(bottom(x, width, per_byte(view)));
    lines
}

/// FLOP/s, or OP/s where integers are among the points.
pub(super) fn unit(view: &View<'_>) -> &'static str {
    if has_integers(view) { "OP/s" } else { "FLOP/s" }
}

/// The same of intensities.
pub(super) fn per_byte(view: &View<'_>) -> &'static str {
    if has_integers(view) {
        "OP/byte"
    } else {
        "FLOP/byte"
    }
}

fn has_integers(view: &View<'_>) -> bool {
    let mut precisions = view.dots.iter().map(|dot| dot.point.precision);
    precisions.any(|precision| precision.is_integer())
}

/// A power of ten with a prefix, such as `100 G`.
pub(super) fn tick(power: i32, unit: &str) -> String {
    const PREFIXES: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];
    let group = power.div_euclid(3);
    let digits = ["1", "10", "100"][power.rem_euclid(3) as usize];
    match usize::try_from(group)
        .ok()
        .and_then(|group| PREFIXES.get(group))
    {
        Some(prefix) => format!("{digits} {prefix}{unit}").trim_end().to_owned(),
        None if (-4..0).contains(&power) => {
            let decimals = usize::try_from(-power).unwrap_or(0);
            format!("{:.decimals$} {unit}", 10_f64.powi(power))
                .trim_end()
                .to_owned()
        }
        None => format!("1e{power} {unit}").trim_end().to_owned(),
    }
}

/// Intensities below the axis.
fn bottom(x: Decades, width: usize, title: &str) -> String {
    let mut line = " ".repeat(LEFT + 1);
    for power in x.ticks(7) {
        let label = tick(power, "");
        let at = LEFT + 1 + (x.place(10_f64.powi(power)) * (width - 1) as f64).round() as usize;
        let start = at.saturating_sub(label.len() / 2);
        let used = line.chars().count();
        if start >= used && start + label.len() + title.len() + 2 <= LEFT + 1 + width {
            line.push_str(&" ".repeat(start - used));
            line.push_str(&label);
        }
    }
    let used = line.chars().count();
    let end = LEFT + 1 + width;
    if used + title.len() < end {
        line.push_str(&" ".repeat(end - used - title.len()));
        line.push_str(title);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_have_prefixes() {
        assert_eq!(tick(11, "FLOP/s"), "100 GFLOP/s");
        assert_eq!(tick(0, ""), "1");
        assert_eq!(tick(-2, ""), "0.01");
        assert_eq!(tick(-9, ""), "1e-9");
        assert_eq!(tick(24, ""), "1e24");
    }
}
