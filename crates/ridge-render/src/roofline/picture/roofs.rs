//! Axes and roofs.

use ridge_model::quantity::{Bandwidth, ComputeRate, Intensity};
use ridge_model::roofline::document::{ComputeRoofRow, MemoryRoofRow, RidgePoint};

use super::super::characters::{per_byte, tick, unit};
use super::super::labels::{Area, Obstacles, along};
use super::super::view::View;
use super::{ADVANCE, Plot, roof_style};
use crate::svg::{Anchor, Class as Style, Shape, Svg};
use crate::width::width;

/// Draws the grid and the axes.
pub(super) fn grid(svg: &mut Svg, view: &View<'_>, plot: &Plot) {
    let unit = unit(view);
    let (left, right) = (plot.area.left, plot.right());
    let (top, bottom) = (plot.area.top, plot.bottom());
    let most = (plot.area.width / 70.0) as usize;
    for power in plot.x.ticks(most) {
        let (x, _) = plot.at(10_f64.powi(power), 1.0);
        svg.path(Style::Grid, &[(x, top), (x, bottom)]);
        svg.text(
            Style::Dim,
            (x, bottom + 16.0),
            Anchor::Middle,
            &tick(power, ""),
        );
    }
    for power in plot.y.ticks(9) {
        let (_, y) = plot.at(1.0, 10_f64.powi(power));
        svg.path(Style::Grid, &[(left, y), (right, y)]);
        svg.text(
            Style::Dim,
            (left - 6.0, y + 4.0),
            Anchor::End,
            &tick(power, unit),
        );
    }
    svg.path(Style::Axis, &[(left, top), (left, bottom), (right, bottom)]);
    svg.text(
        Style::Text,
        (f64::midpoint(left, right), bottom + 36.0),
        Anchor::Middle,
        &format!("arithmetic intensity ({})", per_byte(view)),
    );
}

/// A slope on the plot: from where it enters to the highest flat roof.
fn slope(roof: &MemoryRoofRow, view: &View<'_>, plot: &Plot) -> Option<[(f64, f64); 2]> {
    let heights = view.flats.iter().map(|roof| roof.ops_per_s);
    let highest = heights.reduce(f64::max).unwrap_or_else(|| plot.high().1);
    let start = plot.low().0.max(plot.low().1 / roof.bytes_per_s);
    let end = (highest / roof.bytes_per_s).min(plot.high().0);
    (start < end).then(|| [start, end].map(|at| plot.at(at, at * roof.bytes_per_s)))
}

/// A flat roof on the plot, from its ridge point on.
fn flat(roof: &ComputeRoofRow, view: &View<'_>, plot: &Plot) -> [(f64, f64); 2] {
    let start = ridge(roof, view).map_or(plot.low().0, |ridge| ridge.intensity);
    [start.max(plot.low().0), plot.high().0].map(|at| plot.at(at, roof.ops_per_s))
}

fn ridge<'d>(roof: &'d ComputeRoofRow, view: &View<'_>) -> Option<&'d RidgePoint> {
    let mut points = roof.ridge_points.iter();
    points.find(|ridge| ridge.level == view.level)
}

/// Draws the roofs and their ridge points, and returns where they are.
pub(super) fn roofs(svg: &mut Svg, view: &View<'_>, plot: &Plot) -> Obstacles {
    let mut lines = Vec::new();
    for roof in &view.slopes {
        if let Some(line) = slope(roof, view, plot) {
            let style = roof_style(roof.basis, roof.level == view.level);
            svg.path(Style::Own(style), &line);
            lines.extend(along(line));
        }
    }
    let mut taken = Vec::new();
    for roof in &view.flats {
        let line = flat(roof, view, plot);
        svg.path(Style::Own(roof_style(roof.basis, true)), &line);
        lines.extend(along(line));
    }
    for roof in &view.flats {
        let Some(ridge) = ridge(roof, view) else {
            continue;
        };
        let place = plot.at(ridge.intensity, roof.ops_per_s);
        let text = format!(
            "ridge point of {} and {}: {}",
            roof.label,
            view.level.name(),
            Intensity::new(ridge.intensity).text(roof.precision.is_integer())
        );
        svg.marker(Style::Own("ridge"), Shape::Circle, place, 3.5, &text);
        taken.push(Area::around(place, 4.0));
    }
    Obstacles { taken, lines }
}

/// Names the roofs where nothing else stands.
pub(super) fn roof_names(svg: &mut Svg, view: &View<'_>, plot: &Plot, taken: &mut Vec<Area>) {
    let mut named: Vec<String> = Vec::new();
    for roof in &view.slopes {
        let name = format!("{} {}", roof.level.name(), Bandwidth::new(roof.bytes_per_s));
        if let Some([from, to]) = slope(roof, view, plot)
            && !named.contains(&name)
        {
            slope_name(svg, from, to, &name, plot, taken);
            named.push(name);
        }
    }
    // Names do not lie on lines, also not on those of other roofs.
    let lines: Vec<Area> = view
        .flats
        .iter()
        .map(|roof| Area {
            left: plot.area.left,
            top: plot.at(1.0, roof.ops_per_s).1 - 1.0,
            width: plot.area.width,
            height: 2.0,
        })
        .collect();
    for roof in &view.flats {
        let [from, to] = flat(roof, view, plot);
        let rate = roof.precision.amount(ComputeRate::new(roof.ops_per_s));
        let name = format!(
            "{} {} {rate}",
            roof.precision.input.peak_name(),
            roof.precision.unit.name()
        );
        if named.contains(&name) {
            continue;
        }
        let size = ADVANCE * width(&name) as f64;
        // Above the line at its right end, below it, and then further left.
        let places =
            [0.0, 0.5, 1.1, 1.6, 2.2].map(|back| [(back, to.1 - 15.0), (back, to.1 + 2.0)]);
        let free = places.as_flattened().iter().find_map(|(back, top)| {
            let area = Area {
                left: plot.right() - size - 4.0 - back * size,
                top: *top,
                width: size,
                height: 13.0,
            };
            let is_free = area.left > plot.area.left.max(from.0)
                && area.top > plot.area.top
                && !taken
                    .iter()
                    .chain(&lines)
                    .any(|other| other.overlaps(&area));
            is_free.then_some(area)
        });
        if let Some(area) = free {
            svg.text(
                Style::Own("rt"),
                (area.left + size, area.top + 10.5),
                Anchor::End,
                &name,
            );
            taken.push(area);
            named.push(name);
        }
    }
}

/// The name of a slope along it, where no other name is.
fn slope_name(
    svg: &mut Svg,
    from: (f64, f64),
    to: (f64, f64),
    name: &str,
    plot: &Plot,
    taken: &mut Vec<Area>,
) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    let size = ADVANCE * width(name) as f64;
    if length < size + 30.0 {
        return;
    }
    let (ux, uy) = (dx / length, dy / length);
    for start in [12.0, 12.0 + size, 12.0 + 2.0 * size] {
        if start + size + 8.0 > length {
            return;
        }
        // Six pixels above the line.
        let at = (
            from.0 + ux * start + uy * 6.0,
            from.1 + uy * start - ux * 6.0,
        );
        let boxes: Vec<Area> = (0..8)
            .map(|step| {
                let along = size * f64::from(step) / 7.0;
                Area::around((at.0 + ux * along, at.1 + uy * along - 4.0), 8.0)
            })
            .collect();
        let is_free = boxes
            .iter()
            .all(|own| own.top > plot.area.top && !taken.iter().any(|other| other.overlaps(own)));
        if is_free {
            let degrees = uy.atan2(ux).to_degrees();
            svg.turned_text(Style::Own("rt"), at, degrees, name);
            taken.extend(boxes);
            return;
        }
    }
}
