//! The picture: one plot for each device, with the roofs and what the colours mean below it.

use ridge_model::quantity::{Bandwidth, ComputeRate, Intensity, Nanos, Ratio};
use ridge_model::roofline::document::{Basis, Chart, Class, Document, Side};

use super::Picture;
use super::characters::tick;
use super::labels::{self, Anchored, Area};
use super::scale::{Decades, axes};
use super::view::{Dot, MOVES, View, class_name, flag_text, side_mark};
use crate::charset::Charset;
use crate::kernel_name::shorten;
use crate::svg::{Anchor, Class as Style, Shape, Svg};
use crate::width::{truncate, width};
use crate::wrap::{Indent, wrap};

/// The style of roofs and points; the page for the browser has the same.
pub(super) const STYLE: &str = include_str!("picture.css");

const WIDTH: u32 = 960;
const MARGIN: f64 = 20.0;
/// Room left of the plot for labels of the axis.
const LEFT: f64 = 78.0;
const HEAD: f64 = 56.0;
/// Below the plot: numbers and the name of the axis.
const FOOT: f64 = 52.0;
const LINE: f64 = 18.0;
/// Advance of a character of a label: the mean of DejaVu Sans, which is wider than other common fonts.
const ADVANCE: f64 = 6.9;
/// The same of dim text and of text below the plot, which is a size smaller.
const DIM_ADVANCE: f64 = 6.7;
/// Names in the plot; more of them are noise.
const MOST_LABELS: usize = 40;
const NAME_COLUMNS: usize = 32;
/// Kernels beside the plot that are named.
const MOST_BESIDE: usize = 6;
/// Flags that are told below the plot.
const MOST_FLAGS: usize = 4;
const LEAST_RADIUS: f64 = 4.0;
const MOST_RADIUS: f64 = 17.0;

/// Draws the document.
#[must_use]
pub fn svg(document: &Document, picture: Picture) -> String {
    let width = f64::from(picture.width.unwrap_or(WIDTH));
    let views: Vec<(&Chart, View<'_>)> = document
        .charts
        .iter()
        .map(|chart| (chart, View::new(chart, picture.level)))
        .collect();
    let description: Vec<String> = views
        .iter()
        .map(|(chart, view)| describe(chart, view))
        .collect();
    let mut svg = Svg::new(width, "Roofline", &description.join(" ")).with_style(STYLE);
    let mut top = MARGIN;
    for (chart, view) in &views {
        top = draw(&mut svg, chart, view, width, top) + MARGIN;
    }
    svg.finish(top)
}

fn device(chart: &Chart) -> &str {
    chart.device.name.as_deref().unwrap_or("device not known")
}

/// The chart in a few sentences, for those who hear it.
fn describe(chart: &Chart, view: &View<'_>) -> String {
    const TOLD: usize = 5;
    let mut text = format!(
        "{}: {} points over bytes of {}.",
        device(chart),
        view.dots.len(),
        view.level.name()
    );
    for dot in view.dots.iter().take(TOLD) {
        text.push(' ');
        text.push_str(&title(dot));
        text.push('.');
    }
    if !view.beside.is_empty() {
        text.extend([
            " ",
            &view.beside.len().to_string(),
            " kernels without a place in the chart.",
        ]);
    }
    text
}

/// What is shown when one points at a dot.
fn title(dot: &Dot<'_>) -> String {
    let point = dot.point;
    let rate = point.precision.amount(ComputeRate::new(point.ops_per_s));
    let intensity = Intensity::new(dot.placement.intensity).text(point.precision.is_integer());
    let mut text = format!(
        "{}{}: {rate} at {intensity}, {}",
        name(dot),
        side_mark(dot.kernel.side),
        point.label
    );
    if let Some(share) = dot.placement.share {
        text.extend([
            ", ",
            &Ratio::new(share).to_string(),
            " of what its roof allows",
        ]);
    }
    if let Some(share) = dot.kernel.time_share {
        text.extend([", ", &Ratio::new(share).to_string(), " of the time"]);
    }
    if let Some(time) = dot.kernel.time_ns {
        text.extend([", ", &Nanos::new(time).to_string(), " a launch"]);
    }
    if dot.kernel.class.is_some() {
        text.extend([", limited by ", class_name(dot.kernel.class)]);
    }
    if point.may_be_moves {
        text.extend(["; ", MOVES]);
    }
    for flag in &point.flags {
        let roof = flag.level.map_or("flat", |level| level.name());
        let factor = Ratio::new(flag.factor).factor();
        text.extend([
            "; ",
            &factor.to_string(),
            " of its ",
            roof,
            " roof, which cannot be",
        ]);
    }
    text
}

fn name(dot: &Dot<'_>) -> String {
    let whole = dot.kernel.signature.as_deref().unwrap_or(&dot.kernel.name);
    shorten(whole, NAME_COLUMNS, Charset::Unicode)
}

pub(super) const fn shape(class: Option<Class>) -> Shape {
    match class {
        Some(Class::Memory) => Shape::Circle,
        Some(Class::Compute) => Shape::Square,
        Some(Class::Latency) => Shape::Triangle,
        Some(Class::Launch) => Shape::Diamond,
        None => Shape::Plus,
    }
}

/// The area of a dot grows with the share of the time.
fn radius(dot: &Dot<'_>) -> f64 {
    let share = dot.kernel.time_share.unwrap_or(0.0).clamp(0.0, 1.0);
    LEAST_RADIUS + (MOST_RADIUS - LEAST_RADIUS) * share.sqrt()
}

const fn dot_style(class: Option<Class>, side: Option<Side>) -> &'static str {
    match (class, side) {
        (Some(Class::Memory), Some(Side::Before)) => "dot before memory",
        (Some(Class::Compute), Some(Side::Before)) => "dot before compute",
        (Some(Class::Latency), Some(Side::Before)) => "dot before latency",
        (Some(Class::Launch), Some(Side::Before)) => "dot before launch",
        (None, Some(Side::Before)) => "dot before none",
        (Some(Class::Memory), _) => "dot memory",
        (Some(Class::Compute), _) => "dot compute",
        (Some(Class::Latency), _) => "dot latency",
        (Some(Class::Launch), _) => "dot launch",
        (None, _) => "dot none",
    }
}

const fn roof_style(basis: Basis, is_own: bool) -> &'static str {
    match (basis, is_own) {
        (Basis::Run, true) => "roof run",
        (Basis::Run, false) => "roof run other",
        (Basis::Measured, true) => "roof measured",
        (Basis::Measured, false) => "roof measured other",
        (Basis::Datasheet, true) => "roof datasheet",
        (Basis::Datasheet, false) => "roof datasheet other",
    }
}

/// The plot on the page.
struct Plot {
    area: Area,
    x: Decades,
    y: Decades,
}

impl Plot {
    fn right(&self) -> f64 {
        self.area.left + self.area.width
    }

    fn bottom(&self) -> f64 {
        self.area.top + self.area.height
    }

    fn at(&self, intensity: f64, rate: f64) -> (f64, f64) {
        (
            self.area.left + self.x.place(intensity) * self.area.width,
            self.bottom() - self.y.place(rate) * self.area.height,
        )
    }

    fn place(&self, dot: &Dot<'_>) -> (f64, f64) {
        self.at(dot.placement.intensity, dot.point.ops_per_s)
    }

    fn low(&self) -> (f64, f64) {
        (self.x.value(0.0), self.y.value(0.0))
    }

    fn high(&self) -> (f64, f64) {
        (self.x.value(1.0), self.y.value(1.0))
    }
}

/// Draws one chart and returns where it ends.
fn draw(svg: &mut Svg, chart: &Chart, view: &View<'_>, width: f64, top: f64) -> f64 {
    let heading = format!("Roofline of {}", device(chart));
    let fit = |text: &str, size: f64| {
        let columns = ((width - 2.0 * MARGIN) / size) as usize;
        truncate(text, columns, Charset::Unicode).into_owned()
    };
    svg.text(
        Style::Heading,
        (MARGIN, top + 14.0),
        Anchor::Start,
        &fit(&heading, 8.2),
    );
    let mut facts = format!("bytes of {}", view.level.name());
    if let Some((low, high)) = chart.device.sm_clock_hz {
        let (low, high) = (low / 1e9, high / 1e9);
        if high - low > 0.005 * high {
            facts.extend([
                ", SM clock of the runs ",
                &format!("{low:.2} to {high:.2} GHz"),
            ]);
        } else {
            facts.extend([", SM clock of the run ", &format!("{high:.2} GHz")]);
        }
    }
    facts.extend(["; ", &view.dots.len().to_string(), " points"]);
    if view.minor > 0 {
        facts.extend([
            ", and ",
            &view.minor.to_string(),
            " of further precisions that are not drawn",
        ]);
    }
    let columns = ((width - 2.0 * MARGIN) / DIM_ADVANCE) as usize;
    let lines = wrap(&facts, columns, Indent::default());
    for (place, line) in lines.iter().enumerate() {
        let y = top + 34.0 + LINE * place as f64;
        svg.text(Style::Dim, (MARGIN, y), Anchor::Start, line);
    }
    let head = HEAD + LINE * lines.len().saturating_sub(1) as f64;
    let (x, y) = axes(view);
    let plot = Plot {
        area: Area {
            left: LEFT,
            top: top + head,
            width: width - LEFT - MARGIN,
            height: (0.52 * width).clamp(260.0, 560.0),
        },
        x,
        y,
    };
    grid(svg, &plot);
    let free_of_dots = view
        .dots
        .iter()
        .map(|dot| Area::around(plot.place(dot), radius(dot)))
        .collect();
    let mut taken = roofs(svg, view, &plot, free_of_dots);
    taken.extend(arrows(svg, chart, view, &plot));
    dots(svg, view, &plot, taken);
    let mut bottom = plot.bottom() + FOOT;
    bottom = legend(svg, view, width, bottom);
    notes(svg, view, width, bottom, &fit)
}

fn grid(svg: &mut Svg, plot: &Plot) {
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
fn roofs(svg: &mut Svg, view: &View<'_>, plot: &Plot, mut taken: Vec<Area>) -> Vec<Area> {
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

/// Draws an arrow from each kernel to what became of it, and returns what labels keep away from.
fn arrows(svg: &mut Svg, chart: &Chart, view: &View<'_>, plot: &Plot) -> Vec<Area> {
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

fn dots(svg: &mut Svg, view: &View<'_>, plot: &Plot, mut taken: Vec<Area>) {
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

/// What lines, shapes and sizes mean.
fn legend(svg: &mut Svg, view: &View<'_>, page: f64, top: f64) -> f64 {
    const SAMPLE: f64 = 28.0;
    let mut y = top + 8.0;
    let lines = view
        .slopes
        .iter()
        .map(|roof| {
            (
                roof.basis,
                roof.level == view.level,
                roof.label.clone(),
                roof.origin,
            )
        })
        .chain(view.flats.iter().map(|roof| {
            let ridge = roof
                .ridge_points
                .iter()
                .find(|ridge| ridge.level == view.level);
            let ridge = ridge.map_or_else(String::new, |ridge| {
                let intensity = Intensity::new(ridge.intensity);
                format!(
                    "; ridge point {}",
                    intensity.text(roof.precision.is_integer())
                )
            });
            (
                roof.basis,
                true,
                format!("{}{ridge}", roof.label),
                roof.origin,
            )
        }));
    for (basis, is_own, label, origin) in lines {
        svg.path(
            Style::Own(roof_style(basis, is_own)),
            &[(MARGIN, y - 4.0), (MARGIN + SAMPLE, y - 4.0)],
        );
        let left = MARGIN + SAMPLE + 8.0;
        let columns = ((page - MARGIN - left) / DIM_ADVANCE) as usize;
        let label = format!("{label} [{}]", origin.name());
        for line in wrap(&label, columns, Indent::default()) {
            svg.text(Style::Dim, (left, y), Anchor::Start, &line);
            y += LINE;
        }
    }
    y += 4.0;
    let mut x = MARGIN;
    let mut put = |svg: &mut Svg, marker: Option<(Shape, &'static str)>, text: &str| {
        let size = 16.0 + 6.2 * width(text) as f64 + 18.0;
        if x > MARGIN && x + size > page - MARGIN {
            x = MARGIN;
            y += LINE;
        }
        if let Some((shape, style)) = marker {
            svg.marker(Style::Own(style), shape, (x + 6.0, y - 4.0), 5.5, text);
        }
        let indent = if marker.is_some() { 16.0 } else { 0.0 };
        svg.text(Style::Dim, (x + indent, y), Anchor::Start, text);
        x += size;
    };
    let mut classes: Vec<Option<Class>> = Vec::new();
    for class in [
        Some(Class::Memory),
        Some(Class::Compute),
        Some(Class::Latency),
        Some(Class::Launch),
        None,
    ] {
        if view.dots.iter().any(|dot| dot.kernel.class == class) {
            classes.push(class);
        }
    }
    for class in classes {
        let text = match class {
            Some(_) => format!("limited by {}", class_name(class)),
            None => "not diagnosed".to_owned(),
        };
        put(svg, Some((shape(class), dot_style(class, None))), &text);
    }
    if view.dots.iter().any(|dot| dot.kernel.side.is_some()) {
        put(svg, Some((Shape::Circle, "dot before none")), "before");
        put(svg, Some((Shape::Circle, "dot none")), "after");
    }
    if !view.dots.is_empty() {
        put(svg, Some((Shape::Circle, "ridge")), "ridge point");
        put(svg, None, "area: share of the time");
    }
    y + LINE
}

/// Kernels beside the plot, and points above a roof.
fn notes(
    svg: &mut Svg,
    view: &View<'_>,
    page: f64,
    top: f64,
    fit: &dyn Fn(&str, f64) -> String,
) -> f64 {
    let columns = ((page - 2.0 * MARGIN) / DIM_ADVANCE) as usize;
    let mut y = top + 4.0;
    let mut line = |svg: &mut Svg, style: Style, text: &str| {
        svg.text(style, (MARGIN, y), Anchor::Start, &fit(text, DIM_ADVANCE));
        y += LINE;
    };
    let flagged: Vec<&Dot<'_>> = view
        .dots
        .iter()
        .filter(|dot| !dot.point.flags.is_empty())
        .collect();
    for dot in flagged.iter().take(MOST_FLAGS) {
        for flag in &dot.point.flags {
            let text = format!("! {}: {}", name(dot), flag_text(flag, dot.point));
            for part in wrap(&text, columns, Indent::default()) {
                line(svg, Style::Own("fn"), &part);
            }
        }
    }
    if flagged.len() > MOST_FLAGS {
        let text = format!(
            "! and {} more points above a roof",
            flagged.len() - MOST_FLAGS
        );
        line(svg, Style::Own("ft"), &text);
    }
    if !view.beside.is_empty() {
        line(svg, Style::Text, "beside the chart");
        for (kernel, reason) in view.beside.iter().take(MOST_BESIDE) {
            let whole = kernel.signature.as_deref().unwrap_or(&kernel.name);
            let name = shorten(whole, NAME_COLUMNS, Charset::Unicode);
            let share = kernel.time_share.map_or_else(String::new, |share| {
                format!(", {} of the time", Ratio::new(share))
            });
            let text = format!("{name}{}: {reason}{share}", side_mark(kernel.side));
            line(svg, Style::Dim, &text);
        }
        if view.beside.len() > MOST_BESIDE {
            let text = format!("and {} more", view.beside.len() - MOST_BESIDE);
            line(svg, Style::Dim, &text);
        }
    }
    y
}
