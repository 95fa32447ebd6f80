//! The picture: a chart for each series, its points with their intervals, a line for each level, and a mark with commit and
//! size at each change.

use ridge_history::changes::document::{ChangeRow, Document, PointRow, SeriesRow};
use ridge_model::quantity::grouped;

use super::scale::{Scale, along};
use super::words;
use crate::charset::Charset;
use crate::svg::{Anchor, Class, Shape, Svg};
use crate::width::truncate;

const STYLE: &str = include_str!("picture.css");
pub(super) const WIDTH: f64 = 1100.0;
/// Left of the chart stand values.
pub(super) const LEFT: f64 = 100.0;
pub(super) const RIGHT: f64 = 24.0;
pub(super) const HEIGHT: f64 = 220.0;
/// Title, extent and labels of changes.
const HEAD: f64 = 84.0;
/// Commits and days.
const FOOT: f64 = 54.0;
/// Rows for labels of changes.
const LABEL_ROWS: usize = 3;
/// More points are drawn as what they span in each column.
const MOST_DOTS: usize = 1500;

/// Where the chart of a series begins, from the top.
pub(super) fn top_of(place: usize) -> f64 {
    place as f64 * (HEAD + HEIGHT + FOOT) + HEAD
}

/// Writes the picture.
#[must_use]
pub fn svg(document: &Document) -> String {
    let titles: Vec<String> = document.series.iter().map(words::title).collect();
    let title = match titles.as_slice() {
        [] => "Series of results".to_owned(),
        [one] => one.clone(),
        many => format!("{} series of results", many.len()),
    };
    let said: Vec<String> = document
        .series
        .iter()
        .flat_map(|series| {
            let changes = series.changes.iter().take(20);
            changes.map(|change| words::sentence(change, &series.unit))
        })
        .collect();
    let description = if said.is_empty() {
        "no change found".to_owned()
    } else {
        said.join("; ")
    };
    let mut svg = Svg::new(WIDTH, &title, &description).with_style(STYLE);
    for (place, series) in document.series.iter().enumerate() {
        draw(&mut svg, series, top_of(place));
    }
    let mut height = top_of(document.series.len()) - HEAD;
    if document.left_out > 0 {
        height += 20.0;
        let text = format!("and {} more series", grouped(document.left_out));
        svg.text(Class::Dim, (10.0, height - 6.0), Anchor::Start, &text);
    }
    svg.finish(height.max(40.0))
}

/// Where points and values are.
struct Frame {
    top: f64,
    count: usize,
    scale: Scale,
}

impl Frame {
    fn x(&self, at: usize) -> f64 {
        LEFT + along(at, self.count) * (WIDTH - LEFT - RIGHT)
    }

    /// What lies beyond the edge is drawn at it.
    fn y(&self, value: f64) -> f64 {
        self.top + (1.0 - self.scale.place(value).clamp(0.0, 1.0)) * HEIGHT
    }

    fn is_inside(&self, value: f64) -> bool {
        (0.0..=1.0).contains(&self.scale.place(value))
    }

    /// Between a point and the one before it.
    fn before(&self, at: usize) -> f64 {
        f64::midpoint(self.x(at.saturating_sub(1)), self.x(at))
    }
}

fn draw(svg: &mut Svg, series: &SeriesRow, top: f64) {
    let points = series.points.as_deref().unwrap_or_default();
    let frame = Frame {
        top,
        count: series.count,
        scale: Scale::of(series),
    };
    let title = words::title(series);
    let title = truncate(&title, 120, Charset::Unicode);
    svg.text(
        Class::Heading,
        (10.0, top - HEAD + 22.0),
        Anchor::Start,
        &title,
    );
    let extent = words::extent(series);
    let extent =
        if series.changes.is_empty() && series.segments.iter().all(|part| part.drift.is_none()) {
            format!("{extent}; {}", words::nothing(series))
        } else {
            extent
        };
    svg.text(
        Class::Dim,
        (10.0, top - HEAD + 38.0),
        Anchor::Start,
        &extent,
    );
    axes(svg, series, points, &frame);
    if points.len() <= MOST_DOTS {
        dots(svg, series, points, &frame);
    } else {
        columns(svg, points, &frame);
    }
    levels(svg, series, &frame);
    changes(svg, series, &frame);
}

fn axes(svg: &mut Svg, series: &SeriesRow, points: &[PointRow], frame: &Frame) {
    let right = WIDTH - RIGHT;
    for (tick, label) in frame.scale.ticks(5.0, &series.unit) {
        let y = frame.y(tick);
        svg.path(Class::Grid, &[(LEFT, y), (right, y)]);
        svg.text(Class::Dim, (LEFT - 8.0, y + 4.0), Anchor::End, &label);
    }
    let bottom = frame.top + HEIGHT;
    svg.path(
        Class::Axis,
        &[(LEFT, frame.top), (LEFT, bottom), (right, bottom)],
    );
    /// Labels of commits that fit beside each other.
    const MOST: usize = 8;
    let wanted = points.len().min(MOST);
    let mut before = None;
    for label in 0..wanted {
        let at = if wanted < 2 {
            0
        } else {
            label * (points.len() - 1) / (wanted - 1)
        };
        let Some(point) = points.get(at).filter(|_| before != Some(at)) else {
            continue;
        };
        before = Some(at);
        let anchor = match label {
            0 if wanted > 1 => Anchor::Start,
            last if wanted > 1 && last == wanted - 1 => Anchor::End,
            _ => Anchor::Middle,
        };
        let x = frame.x(at);
        svg.path(Class::Axis, &[(x, bottom), (x, bottom + 4.0)]);
        let commit = words::commit(point.commit.as_deref());
        svg.text(Class::Dim, (x, bottom + 17.0), anchor, &commit);
        svg.text(
            Class::Dim,
            (x, bottom + 31.0),
            anchor,
            words::day(&point.time),
        );
    }
}

fn dots(svg: &mut Svg, series: &SeriesRow, points: &[PointRow], frame: &Frame) {
    for (at, point) in points.iter().enumerate() {
        if let Some((low, high)) = point.low.zip(point.high) {
            let x = frame.x(at);
            svg.path(Class::Own("w"), &[(x, frame.y(low)), (x, frame.y(high))]);
        }
    }
    let radius = if points.len() <= 200 { 3.0 } else { 2.0 };
    for (at, point) in points.iter().enumerate() {
        let place = (frame.x(at), frame.y(point.value));
        if frame.is_inside(point.value) {
            svg.dot(Class::Own("p"), place, radius);
        } else {
            let text = format!("{}, outside", words::value(point.value, &series.unit));
            svg.marker(Class::Own("p"), Shape::Triangle, place, 4.0, &text);
        }
    }
}

/// What the points of each column span.
fn columns(svg: &mut Svg, points: &[PointRow], frame: &Frame) {
    let width = (WIDTH - LEFT - RIGHT) as usize;
    let size = points.len().div_ceil(width);
    let rectangles: Vec<(f64, f64, f64, f64)> = points
        .chunks(size)
        .enumerate()
        .map(|(chunk, points)| {
            let low = points
                .iter()
                .map(|point| point.value)
                .fold(f64::INFINITY, f64::min);
            let high = points
                .iter()
                .map(|point| point.value)
                .fold(f64::NEG_INFINITY, f64::max);
            let (first, last) = (chunk * size, chunk * size + points.len() - 1);
            let (x, y) = (frame.x(first), frame.y(high));
            (
                x,
                y,
                (frame.x(last) - x).max(1.0),
                (frame.y(low) - y).max(1.0),
            )
        })
        .collect();
    svg.rectangles(Class::Own("b"), &rectangles);
}

fn levels(svg: &mut Svg, series: &SeriesRow, frame: &Frame) {
    for segment in &series.segments {
        let (first, last) = (frame.x(segment.first), frame.x(segment.last));
        match &segment.drift {
            None => {
                let y = frame.y(segment.level);
                svg.path(Class::Own("l"), &[(first, y), (last, y)]);
            }
            Some(drift) => {
                let half = drift.difference / 2.0;
                svg.dashed(
                    Class::Own("q"),
                    (first, frame.y(segment.level - half)),
                    (last, frame.y(segment.level + half)),
                );
            }
        }
    }
}

/// A dashed line at each change, with commit and size above where there is room.
fn changes(svg: &mut Svg, series: &SeriesRow, frame: &Frame) {
    let mut ends = [0.0_f64; LABEL_ROWS];
    for change in &series.changes {
        let x = frame.before(change.point);
        svg.dashed(Class::Mark, (x, frame.top - 4.0), (x, frame.top + HEIGHT));
        let label = label(change, &series.unit);
        let length = 6.9 * label.chars().count() as f64;
        let left = (x - length / 2.0).clamp(LEFT, WIDTH - RIGHT - length);
        let row = ends.iter().position(|end| *end + 8.0 <= left);
        if let Some(row) = row
            && let Some(end) = ends.get_mut(row)
        {
            *end = left + length;
            svg.text(
                Class::MarkText,
                (left, frame.top - 8.0 - 13.0 * row as f64),
                Anchor::Start,
                &label,
            );
        }
    }
}

pub(super) fn label(change: &ChangeRow, unit: &str) -> String {
    format!(
        "{} {}",
        words::commit(change.commit.as_deref()),
        words::size(change, unit)
    )
}
