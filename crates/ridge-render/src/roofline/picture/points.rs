//! Points, their names, and arrows between them.

use ridge_model::roofline::document::Chart;

use std::collections::HashMap;
use std::ops::Range;

use super::super::labels::{self, Anchored, Area, Label, Obstacles};
use super::super::view::{View, side_mark};
use super::{ADVANCE, NAME_COLUMNS, Plot, dot_style, name_in, radius, shape, title};
use crate::svg::{Anchor, Class as Style, Shape, Svg};
use crate::width::width;

/// Names in the plot; more of them are noise.
const MOST_LABELS: usize = 40;
/// Columns of a name that has no room, and of one that has none even so.
const SHORTER: [usize; 2] = [20, 12];

/// Draws an arrow from each kernel to what became of it, and returns what labels keep away from.
pub(super) fn arrows(svg: &mut Svg, chart: &Chart, view: &View<'_>, plot: &Plot) -> Vec<Area> {
    let mut taken = Vec::new();
    let places: HashMap<usize, usize> = view
        .dots
        .iter()
        .enumerate()
        .map(|(place, dot)| (dot.kernel.id, place))
        .collect();
    let of = |id: usize| view.dots.get(*places.get(&id)?);
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

/// Draws the points, and returns what labels keep away from.
pub(super) fn dots(svg: &mut Svg, view: &View<'_>, plot: &Plot) -> Vec<Area> {
    let mut taken = Vec::new();
    for dot in &view.dots {
        let (place, radius) = (plot.place(dot), radius(dot));
        let style = dot_style(dot.kernel.class, dot.kernel.side);
        svg.marker(
            Style::Own(style),
            shape(dot.kernel.class),
            place,
            radius,
            &title(dot),
        );
        taken.push(Area::around(place, radius));
        if !dot.point.flags.is_empty() {
            svg.marker(
                Style::Own("flag"),
                Shape::Circle,
                place,
                radius + 4.0,
                "above a roof",
            );
            let at = (place.0 + radius + 3.0, place.1 - radius - 1.0);
            svg.text(Style::Own("ft"), at, Anchor::Start, "!");
            taken.push(Area::around((at.0 + 2.0, at.1 - 4.0), 7.0));
        }
    }
    taken
}

/// Names of the points.
pub(super) struct Names {
    /// For each of the first points its name and shorter ones.
    names: Vec<Vec<String>>,
    things: Vec<Anchored>,
    left: usize,
}

impl Names {
    pub(super) fn new(view: &View<'_>, plot: &Plot) -> Self {
        let names: Vec<Vec<String>> = view
            .dots
            .iter()
            .take(4 * MOST_LABELS)
            .map(|dot| {
                let name = |columns: usize| {
                    format!("{}{}", name_in(dot, columns), side_mark(dot.kernel.side))
                };
                let mut names = vec![name(NAME_COLUMNS)];
                names.extend(SHORTER.map(name));
                names.dedup();
                names
            })
            .collect();
        // All dots are kept free; only the first ones get names.
        let things = view
            .dots
            .iter()
            .enumerate()
            .map(|(index, dot)| Anchored {
                at: plot.place(dot),
                radius: radius(dot) + if dot.point.flags.is_empty() { 0.0 } else { 5.0 },
                widths: names.get(index).map_or_else(Vec::new, |names| {
                    let wide = |name: &String| ADVANCE * width(name) as f64;
                    names.iter().map(wide).collect()
                }),
            })
            .collect();
        Self {
            names,
            things,
            left: MOST_LABELS,
        }
    }

    /// Writes the names of those points that take most time.
    pub(super) fn important(&mut self, svg: &mut Svg, plot: &Plot, obstacles: &mut Obstacles) {
        self.write(svg, plot, obstacles, 0..labels::IMPORTANT);
    }

    /// Writes those of the others for which there is room.
    pub(super) fn others(&mut self, svg: &mut Svg, plot: &Plot, obstacles: &mut Obstacles) {
        let which = labels::IMPORTANT..self.names.len();
        self.write(svg, plot, obstacles, which);
    }

    fn write(
        &mut self,
        svg: &mut Svg,
        plot: &Plot,
        obstacles: &mut Obstacles,
        which: Range<usize>,
    ) {
        let placed = labels::place(&self.things, which, obstacles, &plot.area, self.left);
        self.left -= placed.len();
        for (
            index,
            Label {
                area,
                name,
                is_away,
            },
        ) in placed
        {
            if let Some(line) = labels::ends(&self.things[index], &area).filter(|_| is_away) {
                svg.path(Style::Own("lead"), &line);
            }
            // The area is as wide as the widest of usual fonts makes the name; it stands next to its dot in all of them.
            let x = self.things[index].at.0;
            let (at, anchor) = if area.left >= x {
                (area.left, Anchor::Start)
            } else if area.left + area.width <= x {
                (area.left + area.width, Anchor::End)
            } else {
                (area.left + area.width / 2.0, Anchor::Middle)
            };
            svg.text(
                Style::Own("lab"),
                (at, area.top + 11.0),
                anchor,
                &self.names[index][name],
            );
        }
    }
}
