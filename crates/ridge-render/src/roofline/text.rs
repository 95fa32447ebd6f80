//! The page: for each device a chart of characters, the roofs, and a table of the points.

use ridge_model::quantity::{Nanos, Ratio, counted};
use ridge_model::roofline::document::{Chart, DECLARED, Document, Kernel, Point, RidgeSide, Side};

use super::Picture;
use super::characters::{mark, per_byte, plot};
use super::view::{
    Dot, MOST_WARNINGS, MOVES, Shown, View, class_name, flag_text, is_declared, side_mark,
};
use crate::kernel_name::shorten;
use crate::page::Layout;
use crate::style::Role;
use crate::table::{Cell, Column, Table};

/// Rows that are shown without `-v`.
const ROWS: usize = 20;

/// Writes the document as a page.
#[must_use]
pub fn text(document: &Document, picture: Picture, layout: &Layout) -> String {
    let mut out = String::new();
    let shown = Shown::of(document);
    if let Some(left_out) = &shown.left_out {
        layout.paragraph(&mut out, left_out, "! ", "  ", Some(Role::Warning));
        out.push('\n');
    }
    for (place, chart) in shown.charts.iter().enumerate() {
        if place > 0 {
            out.push('\n');
        }
        write_chart(&mut out, chart, picture, layout);
    }
    for warning in document.warnings.iter().take(MOST_WARNINGS) {
        let file = warning.source.and_then(|id| document.sources.get(id));
        let message = match file.filter(|_| document.sources.len() > 1) {
            Some(source) => format!("{}: {}", source.file, warning.message),
            None => warning.message.clone(),
        };
        layout.paragraph(&mut out, &message, "! ", "  ", Some(Role::Warning));
    }
    if document.warnings.len() > MOST_WARNINGS {
        let more = document.warnings.len() - MOST_WARNINGS;
        let more = counted(more as u64, "more warning");
        let line = format!("and {more}; --format json lists all");
        layout.paragraph(&mut out, &line, "! ", "  ", Some(Role::Warning));
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
    if !view.dots.is_empty() {
        for line in plot(&view, layout) {
            out.push_str(&line);
            out.push('\n');
        }
        out.push('\n');
    }
    roofs(out, chart, &view, layout);
    points(out, &view, layout);
    beside(out, &view, layout);
    if view.is_declared {
        layout.paragraph(out, DECLARED, "", "", Some(Role::Dim));
    }
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

fn roofs(out: &mut String, chart: &Chart, view: &View<'_>, layout: &Layout) {
    if view.flats.is_empty() && view.slopes.is_empty() {
        let line = "no roof is known: the device is in no table, and the input holds no peaks";
        layout.paragraph(out, line, "", "", None);
        return;
    }
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
    if let Some(by) = &chart.device.measured_by {
        let line = format!("roofs {by}");
        layout.paragraph(out, &line, "", "  ", Some(Role::Dim));
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
    out.push('\n');
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
        Column::right(per_byte(view)),
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
        let more = counted(left_out as u64, "more point");
        let line = format!("and {more}; -v shows all");
        layout.paragraph(out, &line, "", "", Some(Role::Dim));
    }
    let time = if view.is_declared {
        "time: share of the time of all kernels, or the median of a benchmark"
    } else {
        "time: share of the time of all kernels"
    };
    layout.paragraph(
        out,
        &format!("{time}; of roof: part of what the roof over the point allows there, at the clock of its own run where that is known; roof: the slope of the memory or the flat one; limit: what the diagnosis says (`ridge why`)"),
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
        Cell::from(time(dot.kernel, layout)),
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

/// The share of the time; states of a benchmark are no parts of a whole, so that their time stands there.
fn time(kernel: &Kernel, layout: &Layout) -> String {
    let own = kernel.time_ns.filter(|_| is_declared(kernel));
    match (kernel.time_share, own) {
        (Some(share), _) => Ratio::new(share).to_string(),
        (None, Some(time)) => Nanos::new(time).to_string(),
        (None, None) => layout.charset.absent().to_owned(),
    }
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
    let mut reasons: Vec<&str> = Vec::new();
    for (_, reason) in view.beside.iter().take(shown) {
        if !reasons.contains(reason) {
            reasons.push(*reason);
        }
    }
    for reason in reasons {
        layout.paragraph(out, &format!("{reason}:"), "", "", None);
        let mut table = Table::new([
            Column::right("time"),
            Column::right("bandwidth"),
            Column::right("of roof"),
            Column::left("kernel").truncated(1, 10),
        ]);
        let of_reason = |(_, own): &&(&Kernel, &str)| *own == reason;
        for (kernel, _) in view.beside.iter().take(shown).filter(of_reason) {
            table.row(beside_row(kernel, view, layout));
        }
        out.push_str(&table.render(layout.columns, layout.charset, layout.painter));
    }
    let left_out = view.beside.len() - shown;
    if left_out > 0 {
        let line = format!("and {left_out} more; -v shows all");
        layout.paragraph(out, &line, "", "", Some(Role::Dim));
    }
}

fn beside_row(kernel: &Kernel, view: &View<'_>, layout: &Layout) -> [String; 4] {
    let absent = || layout.charset.absent().to_owned();
    let traffic = kernel
        .traffic
        .iter()
        .find(|traffic| traffic.level == view.level);
    let name = kernel.signature.as_deref().unwrap_or(&kernel.name);
    [
        time(kernel, layout),
        traffic
            .and_then(|traffic| traffic.bytes_per_s)
            .map_or_else(absent, |rate| {
                ridge_model::quantity::Bandwidth::new(rate).to_string()
            }),
        traffic
            .and_then(|traffic| traffic.roof_share)
            .map_or_else(absent, |share| Ratio::new(share).to_string()),
        format!(
            "{}{}",
            shorten(name, layout.columns / 2, layout.charset),
            side_mark(kernel.side)
        ),
    ]
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
