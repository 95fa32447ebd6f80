//! The picture: one plot for each device, with the roofs and what the colours mean below it.

mod below;
mod points;
mod roofs;

use ridge_model::quantity::{ComputeRate, Intensity, Nanos, Ratio, counted};
use ridge_model::roofline::document::{Basis, Chart, Class, Document, Side};

use super::Picture;
use super::labels::Area;
use super::scale::{Decades, axes};
use super::view::{Dot, MOVES, Shown, View, class_name, side_mark};
use crate::charset::Charset;
use crate::kernel_name::shorten;
use crate::svg::{Anchor, Class as Style, Shape, Svg};
use crate::width::truncate;
use crate::wrap::{Indent, wrap};
use below::{legend, notes};
use points::{Names, arrows, dots};
use roofs::{grid, roof_names, roofs};

/// The style of roofs and points; the page for the browser has the same.
pub(super) const STYLE: &str = include_str!("../picture.css");

const WIDTH: u32 = 960;
const MARGIN: f64 = 20.0;
/// Room left of the plot for labels of the axis.
const LEFT: f64 = 84.0;
const HEAD: f64 = 56.0;
/// Below the plot: numbers and the name of the axis.
const FOOT: f64 = 52.0;
const LINE: f64 = 18.0;
/// Advance of a character of a label: the mean of DejaVu Sans, which is wider than other common fonts.
const ADVANCE: f64 = 6.9;
/// The same of dim text and of text below the plot, which is a size smaller.
const DIM_ADVANCE: f64 = 6.7;
const NAME_COLUMNS: usize = 32;
const LEAST_RADIUS: f64 = 4.0;
const MOST_RADIUS: f64 = 17.0;

/// Draws the document.
#[must_use]
pub fn svg(document: &Document, picture: Picture) -> String {
    let width = f64::from(picture.width.unwrap_or(WIDTH));
    let shown = Shown::of(document);
    let views: Vec<(&Chart, View<'_>)> = shown
        .charts
        .iter()
        .map(|chart| (*chart, View::new(chart, picture.level)))
        .collect();
    let mut description: Vec<String> = views
        .iter()
        .map(|(chart, view)| describe(chart, view))
        .collect();
    description.extend(shown.left_out.clone());
    let mut svg = Svg::new(width, "Roofline", &description.join(" ")).with_style(STYLE);
    let mut top = MARGIN;
    if let Some(left_out) = &shown.left_out {
        let columns = ((width - 2.0 * MARGIN) / DIM_ADVANCE) as usize;
        for line in wrap(left_out, columns, Indent::default()) {
            svg.text(Style::Dim, (MARGIN, top + 10.0), Anchor::Start, &line);
            top += LINE;
        }
        top += 8.0;
    }
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
        "{}: {} over bytes of {}.",
        device(chart),
        counted(view.dots.len() as u64, "point"),
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
            &counted(view.beside.len() as u64, "kernel"),
            " without a place in the chart.",
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
    name_in(dot, NAME_COLUMNS)
}

fn name_in(dot: &Dot<'_>, columns: usize) -> String {
    let whole = dot.kernel.signature.as_deref().unwrap_or(&dot.kernel.name);
    shorten(whole, columns, Charset::Unicode)
}

const fn shape(class: Option<Class>) -> Shape {
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
    grid(svg, view, &plot);
    let mut obstacles = roofs(svg, view, &plot);
    obstacles.taken.extend(arrows(svg, chart, view, &plot));
    obstacles.taken.extend(dots(svg, view, &plot));
    // The legend names the roofs too; nothing else names the points.
    let mut names = Names::new(view, &plot);
    names.important(svg, &plot, &mut obstacles);
    roof_names(svg, view, &plot, &mut obstacles.taken);
    names.others(svg, &plot, &mut obstacles);
    let mut bottom = plot.bottom() + FOOT;
    bottom = legend(svg, view, width, bottom);
    notes(svg, view, width, bottom, &fit)
}
