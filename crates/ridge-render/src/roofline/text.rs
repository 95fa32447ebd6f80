//! The page: for each device a chart of characters, the roofs, and a table of the points.

use ridge_model::quantity::{Nanos, Ratio};
use ridge_model::roofline::document::{Chart, Document, Point, RidgeSide, Side};

use super::Picture;
use super::scale::{Decades, axes};
use super::view::{Dot, MOVES, View, class_name, flag_text, side_mark};
use crate::charset::Charset;
use crate::kernel_name::shorten;
use crate::page::Layout;
use crate::style::Role;
use crate::table::{Cell, Column, Table};

/// Rows that are shown without `-v`.
const ROWS: usize = 20;
/// Rows of the chart.
const HEIGHT: usize = 18;
/// What stands left of the chart.
const LEFT: usize = 8;
/// Narrower charts tell nothing.
const LEAST_WIDTH: usize = 30;
/// Names of points in the chart, those that take most time first; more of them share the last.
const MARKS: &[u8] = b"123456789abcdefghijklmnopqrstuvwxyz";

/// Writes the document as a page.
#[must_use]
pub fn text(document: &Document, picture: Picture, layout: &Layout) -> String {
    let mut out = String::new();
    for (place, chart) in document.charts.iter().enumerate() {
        if place > 0 {
            out.push('\n');
        }
        write_chart(&mut out, chart, picture, layout);
    }
    for warning in &document.warnings {
        let file = warning.source.and_then(|id| document.sources.get(id));
        let message = match file.filter(|_| document.sources.len() > 1) {
            Some(source) => format!("{}: {}", source.file, warning.message),
            None => warning.message.clone(),
        };
        layout.paragraph(&mut out, &message, "! ", "  ", Some(Role::Warning));
    }
    out
}

fn write_chart(out: &mut String, chart: &Chart, picture: Picture, layout: &Layout) {
    let view = View::new(chart, picture.level);
    let device = &chart.device;
    let name = device.name.as_deref().unwrap_or("device not known");
    let mut facts = format!("Roofline of {name}, bytes of {}", view.level.name());
    if let Some((low, high)) = device.sm_clock_hz {
        facts.extend([", SM clock ", &clocks(low, high)]);
    }
    layout.heading(out, &facts);
    out.push('\n');
    for line in plot(&view, layout) {
        out.push_str(&line);
        out.push('\n');
    }
    out.push('\n');
    roofs(out, chart, &view, layout);
    out.push('\n');
    points(out, &view, layout);
    beside(out, &view, layout);
    pairs(out, chart, layout);
    flags(out, &view, layout);
    for (place, dot) in view.dots.iter().enumerate() {
        if dot.point.may_be_moves && (place < ROWS || layout.is_verbose) {
            let line = format!("{} {}: {MOVES}", mark(place), dot.kernel.name);
            layout.paragraph(out, &line, "", "  ", Some(Role::Dim));
        }
    }
    if view.minor > 0 && !layout.is_verbose {
        let points = match view.minor {
            1 => "one more point is".to_owned(),
            more => format!("{more} more points are"),
        };
        let line = format!(
            "{points} of kernels that compute with several precisions; JSON and the page (-o roofline.html) show them"
        );
        layout.paragraph(out, &line, "", "", Some(Role::Dim));
    }
}

fn clocks(low: f64, high: f64) -> String {
    let (low, high) = (low / 1e9, high / 1e9);
    if high - low > 0.005 * high {
        format!("{low:.2} to {high:.2} GHz")
    } else {
        format!("{high:.2} GHz")
    }
}

/// The character of a point.
fn mark(place: usize) -> char {
    MARKS.get(place).map_or('.', |mark| char::from(*mark))
}

fn plot(view: &View<'_>, layout: &Layout) -> Vec<String> {
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
    for column in 0..width {
        let intensity = x.value(column as f64 / (width - 1) as f64);
        for roof in &view.flats {
            let is_right =
                bandwidth.is_none_or(|bandwidth| intensity * bandwidth >= roof.ops_per_s);
            if let (true, Some(row)) = (is_right, row_of(roof.ops_per_s)) {
                grid[row][column] = flat;
            }
        }
        if let Some(bandwidth) = bandwidth
            && intensity * bandwidth <= top
            && let Some(row) = row_of(intensity * bandwidth)
        {
            grid[row][column] = slope;
        }
    }
    // Those that take most time are drawn last, and so on top.
    for (place, dot) in view.dots.iter().enumerate().rev() {
        if let (Some(row), Some(column)) = (
            row_of(dot.point.ops_per_s),
            column_of(dot.placement.intensity),
        ) {
            grid[row][column] = mark(place);
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
    lines.push(bottom(x, width));
    lines
}

/// FLOP/s, or OP/s where only integers are drawn.
fn unit(view: &View<'_>) -> &'static str {
    let mut dots = view.dots.iter().map(|dot| dot.point.precision);
    match dots.next() {
        Some(first) if first.is_integer() && dots.all(|other| other.is_integer()) => "OP/s",
        _ => "FLOP/s",
    }
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
        None if power < 0 && power >= -4 => {
            let decimals = usize::try_from(-power).unwrap_or(0);
            format!("{:.decimals$} {unit}", 10_f64.powi(power))
                .trim_end()
                .to_owned()
        }
        None => format!("1e{power} {unit}").trim_end().to_owned(),
    }
}

/// Intensities below the axis.
fn bottom(x: Decades, width: usize) -> String {
    let mut line = " ".repeat(LEFT + 1);
    let title = "FLOP/byte";
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

fn roofs(out: &mut String, chart: &Chart, view: &View<'_>, layout: &Layout) {
    let mut table = Table::new([
        Column::left("roof").wrapped(1, 24),
        Column::right("ridge point"),
        Column::left("origin"),
    ]);
    for roof in &view.slopes {
        table.row([
            Cell::from(roof.label.as_str()),
            Cell::from(""),
            Cell::from(roof.origin.name()),
        ]);
    }
    for roof in &view.flats {
        let ridge = roof
            .ridge_points
            .iter()
            .find(|ridge| ridge.level == view.level)
            .map_or_else(String::new, |ridge| {
                ridge_model::quantity::Intensity::new(ridge.intensity)
                    .text(roof.precision.is_integer())
            });
        table.row([
            Cell::from(roof.label.as_str()),
            Cell::from(ridge),
            Cell::from(roof.origin.name()),
        ]);
    }
    out.push_str(&table.render(layout.columns, layout.charset, layout.painter));
    if chart.compute_roofs.is_empty() && chart.memory_roofs.is_empty() {
        layout.paragraph(
            out,
            "no roof is known: the device is in no table and the input holds no peaks",
            "",
            "",
            None,
        );
    }
    if let Some(sms) = chart.device.sheet_scaled_to {
        let line = format!("the data sheet was scaled to {sms} SMs, a part of the device");
        layout.paragraph(out, &line, "", "", Some(Role::Dim));
    }
}

fn points(out: &mut String, view: &View<'_>, layout: &Layout) {
    if view.dots.is_empty() {
        return;
    }
    let shown = if layout.is_verbose {
        view.dots.len()
    } else {
        view.dots.len().min(ROWS)
    };
    let is_wide = layout.columns >= 90;
    let mut columns = vec![
        Column::left(""),
        Column::right("time"),
        Column::right("rate"),
        Column::right("OP/byte"),
        Column::right("of roof"),
        Column::left("roof"),
        Column::left("limit"),
    ];
    if is_wide {
        columns.push(Column::left("precision"));
    }
    columns.push(Column::left("kernel").truncated(2, 10));
    let mut table = Table::new(columns);
    for (place, dot) in view.dots.iter().take(shown).enumerate() {
        table.row(row(place, dot, is_wide, layout));
    }
    out.push_str(&table.render(layout.columns, layout.charset, layout.painter));
    let left_out = view.dots.len() - shown;
    if left_out > 0 {
        let line = format!("and {left_out} more points; -v shows all");
        layout.paragraph(out, &line, "", "", Some(Role::Dim));
    }
    layout.paragraph(
        out,
        "time: share of the time of all kernels; of roof: part of what the roof over the point allows there, at the clock of its own run where that is known; roof: the slope of the memory or the flat one; limit: what the diagnosis says (`ridge why`)",
        "",
        "",
        Some(Role::Dim),
    );
}

fn row(place: usize, dot: &Dot<'_>, is_wide: bool, layout: &Layout) -> Vec<Cell> {
    let absent = || layout.charset.absent().to_owned();
    let percent =
        |share: Option<f64>| share.map_or_else(absent, |share| Ratio::new(share).to_string());
    let rate = ridge_model::quantity::ComputeRate::new(dot.point.ops_per_s);
    let intensity = ridge_model::quantity::Intensity::new(dot.placement.intensity).to_string();
    let intensity = intensity.trim_end_matches(" FLOP/byte").to_owned();
    let of_roof = percent(dot.placement.share);
    let is_flagged = !dot.point.flags.is_empty();
    let mut cells = vec![
        Cell::from(mark(place).to_string()),
        Cell::from(percent(dot.kernel.time_share)),
        Cell::from(dot.point.precision.amount(rate).to_string()),
        Cell::from(intensity),
        if is_flagged {
            Cell::styled(Role::Warning, &format!("! {of_roof}"))
        } else {
            Cell::from(of_roof)
        },
        Cell::from(match dot.placement.bound {
            Some(RidgeSide::Memory) => "slope",
            Some(RidgeSide::Compute) => "flat",
            None => "",
        }),
        Cell::from(match dot.kernel.class {
            None => absent(),
            class => class_name(class).to_owned(),
        }),
    ];
    if is_wide {
        cells.push(Cell::from(short_label(dot.point)));
    }
    let signature = dot.kernel.signature.as_deref().unwrap_or(&dot.kernel.name);
    let name = shorten(signature, layout.columns / 2, layout.charset);
    cells.push(Cell::from(format!("{name}{}", side_mark(dot.kernel.side))));
    cells
}

/// The precision without what sums are kept in, which the list of roofs tells.
fn short_label(point: &Point) -> String {
    let precision = point.precision;
    let sparse = if precision.is_sparse { ", 2:4" } else { "" };
    format!(
        "{} {}{sparse}",
        precision.input.peak_name(),
        precision.unit.name()
    )
}

fn beside(out: &mut String, view: &View<'_>, layout: &Layout) {
    if view.beside.is_empty() {
        return;
    }
    out.push('\n');
    layout.heading(out, "beside the chart");
    let shown = if layout.is_verbose {
        view.beside.len()
    } else {
        view.beside.len().min(ROWS / 2)
    };
    let mut table = Table::new([
        Column::right("time"),
        Column::right("bandwidth"),
        Column::right("of roof"),
        Column::left("why").wrapped(1, 20),
        Column::left("kernel").truncated(2, 10),
    ]);
    for (kernel, reason) in view.beside.iter().take(shown) {
        let absent = || layout.charset.absent().to_owned();
        let traffic = kernel
            .traffic
            .iter()
            .find(|traffic| traffic.level == view.level);
        let share =
            |share: Option<f64>| share.map_or_else(absent, |share| Ratio::new(share).to_string());
        let name = kernel.signature.as_deref().unwrap_or(&kernel.name);
        table.row([
            share(kernel.time_share),
            traffic
                .and_then(|traffic| traffic.bytes_per_s)
                .map_or_else(absent, |rate| {
                    ridge_model::quantity::Bandwidth::new(rate).to_string()
                }),
            share(traffic.and_then(|traffic| traffic.roof_share)),
            (*reason).to_owned(),
            format!(
                "{}{}",
                shorten(name, layout.columns / 2, layout.charset),
                side_mark(kernel.side)
            ),
        ]);
    }
    out.push_str(&table.render(layout.columns, layout.charset, layout.painter));
    let left_out = view.beside.len() - shown;
    if left_out > 0 {
        let line = format!("and {left_out} more; -v shows all");
        layout.paragraph(out, &line, "", "", Some(Role::Dim));
    }
}

fn pairs(out: &mut String, chart: &Chart, layout: &Layout) {
    let is_compared = chart
        .kernels
        .iter()
        .any(|kernel| kernel.side == Some(Side::Before));
    if !is_compared || chart.pairs.is_empty() {
        return;
    }
    out.push('\n');
    layout.heading(out, "before and after");
    let mut table = Table::new([
        Column::right("before"),
        Column::right("after"),
        Column::right("factor"),
        Column::left("kernel").truncated(1, 10),
    ]);
    for pair in &chart.pairs {
        let (Some(before), Some(after)) = (
            chart.kernels.get(pair.before),
            chart.kernels.get(pair.after),
        ) else {
            continue;
        };
        let time = |ns: Option<f64>| {
            ns.map_or_else(
                || layout.charset.absent().to_owned(),
                |ns| Nanos::new(ns).to_string(),
            )
        };
        let name = if before.name == after.name {
            before.name.clone()
        } else {
            format!("{} to {}", before.name, after.name)
        };
        table.row([
            time(before.time_ns),
            time(after.time_ns),
            pair.speedup.map_or_else(
                || layout.charset.absent().to_owned(),
                |factor| Ratio::new(factor).factor().to_string(),
            ),
            name,
        ]);
    }
    out.push_str(&table.render(layout.columns, layout.charset, layout.painter));
}

fn flags(out: &mut String, view: &View<'_>, layout: &Layout) {
    /// So many are told without `-v`.
    const TOLD: usize = 5;
    let flagged: Vec<(usize, &Dot<'_>)> = view
        .dots
        .iter()
        .enumerate()
        .filter(|(_, dot)| !dot.point.flags.is_empty())
        .collect();
    if flagged.is_empty() {
        return;
    }
    out.push('\n');
    layout.heading(out, "above a roof");
    let told = if layout.is_verbose {
        flagged.len()
    } else {
        TOLD
    };
    for (place, dot) in flagged.iter().take(told) {
        for flag in &dot.point.flags {
            let line = format!(
                "{} {}: {}",
                mark(*place),
                dot.kernel.name,
                flag_text(flag, dot.point)
            );
            layout.paragraph(out, &line, "! ", "  ", Some(Role::Warning));
        }
    }
    if flagged.len() > told {
        let line = format!("and {} more; -v shows all", flagged.len() - told);
        layout.paragraph(out, &line, "", "", Some(Role::Dim));
    }
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
