//! Curves of shares in text: columns of blocks over an axis.

use crate::charset::Charset;
use crate::width::push_spaces;

/// What a plot shows.
pub struct Plot<'f> {
    /// The first and the last value on the axis.
    pub range: (u32, u32),
    /// The share at a value, 0 to 1.
    pub share: &'f dyn Fn(u32) -> f64,
    /// The value to mark, when it is on the axis.
    pub mark: Option<u32>,
    /// The text of a value on the axis.
    pub label: &'f dyn Fn(u32) -> String,
}

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// What stands left of the columns.
const LEFT: usize = "100 % |".len();

/// Draws a plot that is so many columns wide, its labels included, and so many rows high without axis and labels.
///
/// The column of the marked value shows its share; any other shows that of the value in its middle. A share above zero is
/// never empty.
#[must_use]
pub fn plot(plot: &Plot<'_>, columns: usize, rows: usize, charset: Charset) -> Vec<String> {
    let (first, last) = plot.range;
    let width = columns.saturating_sub(LEFT).max(1);
    let span = f64::from(last.saturating_sub(first)) + 1.0;
    let column_of = |value: u32| {
        let place = f64::from(value.saturating_sub(first)) / span * width as f64;
        (place as usize).min(width - 1)
    };
    let marked = plot
        .mark
        .filter(|mark| (first..=last).contains(mark))
        .map(|mark| (column_of(mark), mark));
    let shares: Vec<f64> = (0..width)
        .map(|column| {
            let middle = (column as f64 + 0.5) / width as f64 * span;
            let value = match marked {
                Some((place, mark)) if place == column => mark,
                _ => first.saturating_add(middle as u32).min(last),
            };
            (plot.share)(value).clamp(0.0, 1.0)
        })
        .collect();
    let mut lines = Vec::with_capacity(rows + 2);
    for row in (0..rows).rev() {
        let label = if row + 1 == rows { "100 % " } else { "      " };
        let mut line = format!("{label}{}", side(charset));
        line.extend(shares.iter().map(|share| cell(*share, row, rows, charset)));
        lines.push(line.trim_end().to_owned());
    }
    lines.push(format!(
        "    0 {}",
        axis(width, marked.map(|(column, _)| column), charset)
    ));
    lines.push(labels(plot, width, marked));
    lines
}

fn side(charset: Charset) -> char {
    match charset {
        Charset::Unicode => '│',
        Charset::Ascii => '|',
    }
}

/// What one row of a column shows.
fn cell(share: f64, row: usize, rows: usize, charset: Charset) -> char {
    let (parts, least) = match charset {
        Charset::Unicode => (LEVELS.len(), 1),
        Charset::Ascii => (1, 1),
    };
    let most = rows * parts;
    let filled = (share * most as f64).round() as usize;
    let filled = if share > 0.0 { filled.max(least) } else { 0 };
    match filled.saturating_sub(row * parts).min(parts) {
        0 => ' ',
        part => match charset {
            Charset::Unicode => LEVELS.get(part - 1).copied().unwrap_or('█'),
            Charset::Ascii => '#',
        },
    }
}

fn axis(width: usize, marked: Option<usize>, charset: Charset) -> String {
    let (corner, line, mark) = match charset {
        Charset::Unicode => ('└', '─', '▲'),
        Charset::Ascii => ('+', '-', '^'),
    };
    let columns = (0..width).map(|column| if Some(column) == marked { mark } else { line });
    std::iter::once(corner).chain(columns).collect()
}

/// First and last value, and the marked one below its column where there is room.
fn labels(plot: &Plot<'_>, width: usize, marked: Option<(usize, u32)>) -> String {
    let (first, last) = ((plot.label)(plot.range.0), (plot.label)(plot.range.1));
    let mut line = String::new();
    push_spaces(&mut line, LEFT);
    line.push_str(&first);
    let end = LEFT + width;
    let last_at = end.saturating_sub(last.chars().count());
    if let Some((column, mark)) = marked {
        let mark = (plot.label)(mark);
        let length = mark.chars().count();
        let at = (LEFT + column).saturating_sub(length / 2);
        let used = line.chars().count();
        if at > used && at + length < last_at {
            push_spaces(&mut line, at - used);
            line.push_str(&mark);
        }
    }
    let used = line.chars().count();
    if last_at > used {
        push_spaces(&mut line, last_at - used);
        line.push_str(&last);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(charset: Charset, mark: Option<u32>, columns: usize) -> String {
        let share = |value: u32| {
            if value <= 32 {
                1.0
            } else {
                32.0 / f64::from(value)
            }
        };
        let label = |value: u32| value.to_string();
        let lines = plot(
            &Plot {
                range: (1, 255),
                share: &share,
                mark,
                label: &label,
            },
            columns,
            4,
            charset,
        );
        lines.join("\n")
    }

    #[test]
    fn a_falling_curve() {
        insta::assert_snapshot!(text(Charset::Unicode, Some(128), 60));
        insta::assert_snapshot!(text(Charset::Ascii, Some(128), 60));
    }

    proptest! {
        #[test]
        fn a_plot_is_as_wide_as_asked_for(columns in 8..200_usize, mark in any::<u32>()) {
            for charset in [Charset::Unicode, Charset::Ascii] {
                for line in text(charset, Some(mark), columns).lines().take(5) {
                    prop_assert!(crate::width::width(line) <= columns, "{line:?}");
                }
            }
        }
    }
}
