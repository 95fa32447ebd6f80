//! Where errors are: the tensor as a matrix, in characters or as a picture.

use ridge_numerics::document::Document;
use ridge_numerics::measure::{ErrorMap, Measures};
use ridge_numerics::words::{figures, grouped};

use super::{sentence, side, word};
use crate::charset::Charset;
use crate::svg::{Anchor, Class, Svg};

/// Shades, none included.
const LEVELS: usize = 5;
/// Lines of the map in characters.
const MOST_LINES: u64 = 24;

/// What the shades of a map mean.
pub(super) struct Shades {
    has_failing: bool,
    peak: f64,
}

impl Shades {
    pub(super) fn new(measures: &Measures) -> Self {
        let peaks = measures
            .map
            .cells
            .iter()
            .map(|cell| cell.peak_ulps.unwrap_or(0.0));
        Self {
            has_failing: measures.failing > 0,
            peak: peaks.fold(0.0, f64::max),
        }
    }

    /// 0 for nothing, up to 4.
    fn level(&self, failing: f64, ulps: Option<f64>) -> usize {
        if self.has_failing {
            return if failing <= 0.0 {
                0
            } else {
                1 + ((failing * 4.0).ceil() as usize).clamp(1, LEVELS - 1) - 1
            };
        }
        let ulps = ulps.unwrap_or(f64::INFINITY);
        if ulps <= 0.0 || self.peak <= 0.0 {
            return 0;
        }
        // Shades in equal steps of the logarithm, from 1 to the peak.
        let share = (1.0 + ulps).ln() / (1.0 + self.peak).ln();
        ((share * 4.0).ceil() as usize).clamp(1, LEVELS - 1)
    }

    pub(super) fn title(&self) -> String {
        if self.has_failing {
            "share of the elements that are beyond the tolerance".to_owned()
        } else {
            format!("largest error in ULP, up to {}", figures(self.peak))
        }
    }

    /// What each shade means.
    fn bounds(&self, level: usize) -> String {
        let share = level as f64 / (LEVELS - 1) as f64;
        match (level, self.has_failing) {
            (0, true) => "none".to_owned(),
            (0, false) => "0 ULP".to_owned(),
            (_, true) => format!("up to {:.0} %", 100.0 * share),
            (_, false) => format!(
                "up to {} ULP",
                figures((share * (1.0 + self.peak).ln()).exp() - 1.0)
            ),
        }
    }
}

/// The cells of some rows of cells together, the worst of each.
fn lines(map: &ErrorMap, shades: &Shades, most: u64) -> Vec<Vec<usize>> {
    let each = map.row_cells.div_ceil(most.max(1)).max(1);
    let columns = map.column_cells as usize;
    let rows: Vec<Vec<usize>> = map
        .cells
        .chunks(columns.max(1))
        .map(|row| {
            row.iter()
                .map(|cell| shades.level(cell.failing, cell.peak_ulps))
                .collect()
        })
        .collect();
    rows.chunks(each as usize)
        .map(|rows| {
            (0..columns)
                .map(|column| {
                    rows.iter()
                        .filter_map(|row| row.get(column))
                        .copied()
                        .max()
                        .unwrap_or(0)
                })
                .collect()
        })
        .collect()
}

/// The map in characters, a line for some rows, and what the characters mean.
pub(super) fn characters(measures: &Measures, charset: Charset) -> Vec<String> {
    let shades = Shades::new(measures);
    let signs = match charset {
        Charset::Unicode => ['·', '░', '▒', '▓', '█'],
        Charset::Ascii => ['.', '-', '+', '*', '#'],
    };
    let map = &measures.map;
    let mut out: Vec<String> = lines(map, &shades, MOST_LINES)
        .into_iter()
        .map(|line| line.into_iter().map(|level| signs[level]).collect())
        .collect();
    let legend: Vec<String> = signs
        .iter()
        .enumerate()
        .map(|(level, sign)| format!("{sign} {}", shades.bounds(level)))
        .collect();
    out.push(legend.join("  "));
    out
}

const STYLE: &str = "\
.q0{fill:#eef2f5}.q1{fill:#fdd49e}.q2{fill:#fc8d59}.q3{fill:#d7301f}.q4{fill:#7f0000}\
@media(prefers-color-scheme:dark){.q0{fill:#22282d}.q1{fill:#7f4a1e}.q2{fill:#c8622f}.q3{fill:#f08040}.q4{fill:#ffd9a0}}";
const CLASSES: [&str; LEVELS] = ["q0", "q1", "q2", "q3", "q4"];

/// A picture of where errors are; `None` where no element was compared.
#[must_use]
pub fn svg(document: &Document) -> Option<String> {
    const SIDE: f64 = 448.0;
    const LEFT: f64 = 64.0;
    const TOP: f64 = 64.0;
    let measures = document.measures.as_ref()?;
    let map = &measures.map;
    let shades = Shades::new(measures);
    let title = format!("{}: {}", word(document.verdict.outcome), sentence(document));
    let mut picture = Svg::new(
        LEFT + SIDE + 40.0,
        &format!("Errors of {}", document.output.name),
        &title,
    )
    .with_style(STYLE);
    picture.text(
        Class::Heading,
        (16.0, 24.0),
        Anchor::Start,
        &format!("Errors of {}", side(&document.output)),
    );
    picture.text(Class::Dim, (16.0, 44.0), Anchor::Start, &shades.title());
    let (rows, columns) = (map.row_cells as f64, map.column_cells as f64);
    // A vector is a band, not a line.
    let height = if map.rows == 1 { 48.0 } else { SIDE };
    for (level, class) in CLASSES.into_iter().enumerate() {
        let rectangles: Vec<(f64, f64, f64, f64)> = lines(map, &shades, map.row_cells)
            .iter()
            .enumerate()
            .flat_map(|(row, line)| {
                line.iter()
                    .enumerate()
                    .filter(move |(_, found)| **found == level)
                    .map(move |(column, _)| {
                        (
                            LEFT + column as f64 * SIDE / columns,
                            TOP + row as f64 * height / rows,
                            SIDE / columns,
                            height / rows,
                        )
                    })
            })
            .collect();
        picture.rectangles(Class::Own(class), &rectangles);
        let (x, y) = (LEFT + level as f64 * SIDE / 5.0, TOP + height + 36.0);
        picture.rectangles(Class::Own(class), &[(x, y, 12.0, 12.0)]);
        picture.text(
            Class::Dim,
            (x + 18.0, y + 10.0),
            Anchor::Start,
            &shades.bounds(level),
        );
    }
    let last = |length: u64| grouped(length.saturating_sub(1));
    picture.text(Class::Dim, (LEFT - 6.0, TOP + 10.0), Anchor::End, "0");
    if map.rows > 1 {
        picture.text(
            Class::Dim,
            (LEFT - 6.0, TOP + height),
            Anchor::End,
            &last(map.rows),
        );
        picture.turned_text(Class::Text, (20.0, TOP + height / 2.0 + 12.0), -90.0, "row");
    }
    picture.text(Class::Dim, (LEFT, TOP + height + 16.0), Anchor::Start, "0");
    picture.text(
        Class::Text,
        (LEFT + SIDE / 2.0, TOP + height + 16.0),
        Anchor::Middle,
        "column",
    );
    picture.text(
        Class::Dim,
        (LEFT + SIDE, TOP + height + 16.0),
        Anchor::End,
        &last(map.columns),
    );
    Some(picture.finish(TOP + height + 64.0))
}
