//! Axes and roofs.

use ridge_model::quantity::{Bandwidth, ComputeRate, Intensity};

use super::super::characters::tick;
use super::super::labels::Area;
use super::super::view::View;
use super::{ADVANCE, Plot, roof_style};
use crate::svg::{Anchor, Class as Style, Shape, Svg};
use crate::width::width;

/// Draws the grid and the axes.
pub(super) fn grid(svg: &mut Svg, plot: &Plot) {
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
            &tick(power, "OP/s"),
        );
    }
    svg.path(Style::Axis, &[(left, top), (left, bottom), (right, bottom)]);
    svg.text(
        Style::Text,
        (f64::midpoint(left, right), bottom + 36.0),
        Anchor::Middle,
        "arithmetic intensity (operations for each byte)",
    );
}

/// Draws the roofs and their ridge points, and returns where their names stand; these keep away from what is taken.
pub(super) fn roofs(
    svg: &mut Svg,
    view: &View<'_>,
    plot: &Plot,
    mut taken: Vec<Area>,
) -> Vec<Area> {
    let mut named: Vec<String> = Vec::new();
    let highest = view
        .flats
        .iter()
        .map(|roof| roof.ops_per_s)
        .fold(0.0, f64::max);
    let highest = if highest > 0.0 {
        highest
    } else {
        plot.high().1
    };
    for roof in &view.slopes {
        // From where it enters the plot to the highest flat roof.
        let start = plot.low().0.max(plot.low().1 / roof.bytes_per_s);
        let end = (highest / roof.bytes_per_s).min(plot.high().0);
        if start >= end {
            continue;
        }
        let (from, to) = (
            plot.at(start, start * roof.bytes_per_s),
            plot.at(end, end * roof.bytes_per_s),
        );
        let style = roof_style(roof.basis, roof.level == view.level);
        svg.path(Style::Own(style), &[from, to]);
        let name = format!("{} {}", roof.level.name(), Bandwidth::new(roof.bytes_per_s));
        if !named.contains(&name) {
            slope_name(svg, from, to, &name, plot, &mut taken);
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
        let ridge = roof
            .ridge_points
            .iter()
            .find(|ridge| ridge.level == view.level);
        let start = ridge.map_or(plot.low().0, |ridge| ridge.intensity);
        let (from, to) = (
            plot.at(start.max(plot.low().0), roof.ops_per_s),
            plot.at(plot.high().0, roof.ops_per_s),
        );
        svg.path(Style::Own(roof_style(roof.basis, true)), &[from, to]);
        let rate = roof.precision.amount(ComputeRate::new(roof.ops_per_s));
        let name = format!(
            "{} {} {rate}",
            roof.precision.input.peak_name(),
            roof.precision.unit.name()
        );
        let size = ADVANCE * width(&name) as f64;
        // Above the line at its right end, below it, and then further left.
        let places = [0.0, 1.1, 2.2].map(|back| [(back, to.1 - 15.0), (back, to.1 + 2.0)]);
        let free = places.as_flattened().iter().find_map(|(back, top)| {
            if named.contains(&name) {
                return None;
            }
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
        if let Some(ridge) = ridge {
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
    }
    taken
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
