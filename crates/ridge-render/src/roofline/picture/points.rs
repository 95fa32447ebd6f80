//! Points, their names, and arrows between them.

use ridge_model::roofline::document::Chart;

use super::super::labels::{self, Anchored, Area};
use super::super::view::{View, side_mark};
use super::{ADVANCE, Plot, dot_style, name, radius, shape, title};
use crate::svg::{Anchor, Class as Style, Shape, Svg};
use crate::width::width;

/// Names in the plot; more of them are noise.
const MOST_LABELS: usize = 40;

/// Draws an arrow from each kernel to what became of it, and returns what labels keep away from.
pub(super) fn arrows(svg: &mut Svg, chart: &Chart, view: &View<'_>, plot: &Plot) -> Vec<Area> {
    let mut taken = Vec::new();
    let of = |id: usize| view.dots.iter().find(|dot| dot.kernel.id == id);
    for pair in &chart.pairs {
        let (Some(before), Some(after)) = (of(pair.before), of(pair.after)) else {
            continue;
        };
        let (from, to) = (plot.place(before), plot.place(after));
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy);
        let (start, end) = (radius(before) + 1.0, length - radius(after) - 3.0);
        if end - start < 8.0 {
            continue;
        }
        let (ux, uy) = (dx / length, dy / length);
        let on = |along: f64| (from.0 + ux * along, from.1 + uy * along);
        svg.path(Style::Own("arrow"), &[on(start), on(end - 6.0)]);
        let (base, tip) = (on(end - 8.0), on(end));
        let wing = |side: f64| (base.0 - uy * side, base.1 + ux * side);
        svg.path(Style::Own("head"), &[tip, wing(4.5), wing(-4.5)]);
        let steps = (length / 8.0) as u32;
        taken.extend((0..steps).map(|step| Area::around(on(8.0 * f64::from(step)), 3.0)));
    }
    taken
}

/// Draws the points with the names for which there is room.
pub(super) fn dots(svg: &mut Svg, view: &View<'_>, plot: &Plot, mut taken: Vec<Area>) {
    let places: Vec<(f64, f64)> = view.dots.iter().map(|dot| plot.place(dot)).collect();
    for (dot, place) in view.dots.iter().zip(&places) {
        let radius = radius(dot);
        let style = dot_style(dot.kernel.class, dot.kernel.side);
        svg.marker(
            Style::Own(style),
            shape(dot.kernel.class),
            *place,
            radius,
            &title(dot),
        );
        if !dot.point.flags.is_empty() {
            svg.marker(
                Style::Own("flag"),
                Shape::Circle,
                *place,
                radius + 4.0,
                "above a roof",
            );
            let at = (place.0 + radius + 3.0, place.1 - radius - 1.0);
            svg.text(Style::Own("ft"), at, Anchor::Start, "!");
            taken.push(Area::around((at.0 + 2.0, at.1 - 4.0), 7.0));
        }
    }
    let names: Vec<String> = view
        .dots
        .iter()
        .take(4 * MOST_LABELS)
        .map(|dot| format!("{}{}", name(dot), side_mark(dot.kernel.side)))
        .collect();
    // All dots are kept free; only the first ones get names.
    let things: Vec<Anchored> = view
        .dots
        .iter()
        .zip(&places)
        .enumerate()
        .map(|(index, (dot, place))| Anchored {
            at: *place,
            radius: radius(dot) + if dot.point.flags.is_empty() { 0.0 } else { 5.0 },
            width: names
                .get(index)
                .map_or(f64::INFINITY, |name| ADVANCE * width(name) as f64),
        })
        .collect();
    let areas = labels::place(&things, taken, &plot.area, MOST_LABELS);
    for (area, name) in areas.iter().zip(&names) {
        if let Some(area) = area {
            svg.text(
                Style::Own("lab"),
                (area.left, area.top + 11.0),
                Anchor::Start,
                name,
            );
        }
    }
}
