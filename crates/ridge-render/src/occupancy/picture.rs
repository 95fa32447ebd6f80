//! The picture: for each kernel its curves over block size, registers and shared memory, with the launch marked.

use ridge_model::occupancy::document::{Document, Kernel, Stretch};
use ridge_model::quantity::grouped;

use super::sentence::{self, percent};
use super::share_at;
use crate::charset::Charset;
use crate::kernel_name::shorten;
use crate::svg::{Anchor, Class, Svg};

const WIDTH: f64 = 1000.0;
const MARGIN: f64 = 24.0;
/// Room for the labels left of a panel's axis.
const LEFT: f64 = 44.0;
const GAP: f64 = 24.0;
const PANEL_HEIGHT: f64 = 190.0;
const HEAD_HEIGHT: f64 = 100.0;
/// Room for the longest label of a marked place.
const LABEL_WIDTH: f64 = 125.0;
/// Below a panel: numbers and the name of the axis.
const FOOT_HEIGHT: f64 = 56.0;
/// Longest lines, in characters that fit on the width.
const NAME_COLUMNS: usize = 100;
const LINE_COLUMNS: usize = 165;
/// A picture of more kernels is too long to look at.
const MOST_KERNELS: usize = 50;

/// Draws the document.
#[must_use]
pub fn svg(document: &Document) -> String {
    let shown: Vec<Kernel> = document.kernels.iter().take(MOST_KERNELS).collect();
    let description: Vec<String> = shown.iter().map(describe).collect();
    let mut svg = Svg::new(WIDTH, "Theoretical occupancy", &description.join(" "));
    let mut top = MARGIN;
    for kernel in &shown {
        top = draw(&mut svg, kernel, top);
    }
    let left_out = document.kernels.len() - shown.len();
    if left_out > 0 {
        let more = sentence::plural(left_out as u64, "more kernel");
        let line = format!("and {more}; choose with --kernel or FILE#NAME");
        svg.text(Class::Dim, (MARGIN, top + 6.0), Anchor::Start, &line);
        top += MARGIN;
    }
    svg.finish(top)
}

fn name(kernel: &Kernel) -> String {
    match kernel.signature.as_deref().or(kernel.name.as_deref()) {
        Some(name) => shorten(name, NAME_COLUMNS, Charset::Unicode),
        None => "Launch from numbers".to_owned(),
    }
}

/// The kernel in one or two sentences.
fn describe(kernel: &Kernel) -> String {
    match (&kernel.theoretical, &kernel.impossible) {
        (Some(theoretical), _) => format!(
            "{}: theoretical occupancy {}, {} and {} of {} warps on an SM, limited by {}.",
            name(kernel),
            percent(theoretical.occupancy),
            sentence::plural(theoretical.blocks.into(), "block"),
            theoretical.warps,
            theoretical.max_warps,
            limiters(kernel)
        ),
        (None, Some(reason)) => format!("{}: cannot be launched: {reason}.", name(kernel)),
        (None, None) => format!("{}: not known.", name(kernel)),
    }
}

fn limiters(kernel: &Kernel) -> String {
    let names: Vec<&str> = kernel
        .limiters
        .iter()
        .filter(|limit| limit.is_limiting)
        .map(|limit| limit.limiter.label())
        .collect();
    names.join(" and ")
}

fn cut(text: &str) -> String {
    crate::width::truncate(text, LINE_COLUMNS, Charset::Unicode).into_owned()
}

/// Draws one kernel and returns where the next one starts.
fn draw(svg: &mut Svg, kernel: &Kernel, top: f64) -> f64 {
    let launch = &kernel.launch;
    svg.text(
        Class::Heading,
        (MARGIN, top + 14.0),
        Anchor::Start,
        &name(kernel),
    );
    let shared = launch.static_shared_bytes.value + launch.dynamic_shared_bytes.value;
    let device = kernel.device.name.as_deref().map_or_else(
        || format!("compute capability {}", kernel.device.compute_capability),
        |name| {
            format!(
                "{name}, compute capability {}",
                kernel.device.compute_capability
            )
        },
    );
    let facts = format!(
        "{device}; {} a block, {} a thread, {} of shared memory a block",
        sentence::plural(launch.threads_per_block.value, "thread"),
        sentence::plural(launch.registers_per_thread.value, "register"),
        sentence::bytes(shared)
    );
    svg.text(
        Class::Dim,
        (MARGIN, top + 33.0),
        Anchor::Start,
        &cut(&facts),
    );
    let (Some(theoretical), Some(curves)) = (&kernel.theoretical, kernel.curves.get()) else {
        let reason = kernel.impossible.as_deref().unwrap_or("not known");
        let line = format!("cannot be launched: {reason}");
        svg.text(
            Class::MarkText,
            (MARGIN, top + 54.0),
            Anchor::Start,
            &cut(&line),
        );
        return top + HEAD_HEIGHT;
    };
    let mut verdict = format!(
        "theoretical occupancy {}: {}, {} of {} warps on an SM, limited by {}",
        percent(theoretical.occupancy),
        sentence::plural(theoretical.blocks.into(), "block"),
        theoretical.warps,
        theoretical.max_warps,
        limiters(kernel)
    );
    if let Some(achieved) = kernel.achieved_occupancy {
        verdict.extend(["; achieved ", &sentence::percent_of_measured(achieved)]);
    }
    svg.text(
        Class::Text,
        (MARGIN, top + 52.0),
        Anchor::Start,
        &cut(&verdict),
    );
    if let Some(step) = kernel.steps.get().first() {
        let line = format!("next better: {}", sentence::step(step, theoretical));
        svg.text(
            Class::Text,
            (MARGIN, top + 70.0),
            Anchor::Start,
            &cut(&line),
        );
    }
    let width = (WIDTH - 2.0 * MARGIN - 2.0 * GAP) / 3.0;
    let panels: [(&str, &[Stretch], u64, &[u32]); 3] = [
        (
            "threads a block",
            &curves.block_size,
            launch.threads_per_block.value,
            &[32, 256, 512, 768, 1024],
        ),
        (
            "registers a thread",
            &curves.registers,
            launch.registers_per_thread.value,
            &[32, 64, 128, 192, 255],
        ),
        (
            "shared memory a block (KiB)",
            &curves.shared_bytes,
            shared,
            &[0, 48 << 10, 96 << 10, 144 << 10, 192 << 10],
        ),
    ];
    let mut left = MARGIN;
    for (title, curve, now, ticks) in panels {
        panel(
            svg,
            (left, top + HEAD_HEIGHT),
            width,
            title,
            curve,
            now,
            ticks,
        );
        left += width + GAP;
    }
    top + HEAD_HEIGHT + PANEL_HEIGHT + FOOT_HEIGHT + MARGIN
}

/// One curve with its axes; the place of the launch is marked.
fn panel(
    svg: &mut Svg,
    (left, top): (f64, f64),
    width: f64,
    title: &str,
    curve: &[Stretch],
    now: u64,
    ticks: &[u32],
) {
    let (Some(first), Some(last)) = (curve.first(), curve.last()) else {
        return;
    };
    let (from, to) = (f64::from(first.from), f64::from(last.to));
    let (x0, x1) = (left + LEFT, left + width);
    let bottom = top + PANEL_HEIGHT;
    let x = |value: f64| x0 + (value - from) / (to - from).max(1.0) * (x1 - x0);
    let y = |share: f64| bottom - share * PANEL_HEIGHT;
    for quarter in 0..=4 {
        let share = f64::from(quarter) / 4.0;
        svg.path(Class::Grid, &[(x0, y(share)), (x1, y(share))]);
        let label = format!("{} %", 25 * quarter);
        svg.text(Class::Dim, (x0 - 6.0, y(share) + 4.0), Anchor::End, &label);
    }
    for tick in ticks
        .iter()
        .filter(|tick| (first.from..=last.to).contains(*tick))
    {
        let place = x(f64::from(*tick));
        svg.path(Class::Axis, &[(place, bottom), (place, bottom + 4.0)]);
        let is_bytes = title.contains("KiB");
        let label = if is_bytes { tick / 1024 } else { *tick };
        svg.text(
            Class::Dim,
            (place, bottom + 17.0),
            Anchor::Middle,
            &label.to_string(),
        );
    }
    let mut line = Vec::with_capacity(2 * curve.len());
    for stretch in curve {
        line.push((x(f64::from(stretch.from)), y(stretch.occupancy)));
        line.push((x(f64::from(stretch.to)), y(stretch.occupancy)));
    }
    let mut area = line.clone();
    area.extend([(x(to), bottom), (x(from), bottom)]);
    svg.path(Class::Area, &area);
    svg.path(Class::Series, &line);
    svg.path(Class::Axis, &[(x0, top), (x0, bottom), (x1, bottom)]);
    svg.text(
        Class::Text,
        ((x0 + x1) / 2.0, bottom + 36.0),
        Anchor::Middle,
        title,
    );
    if let Ok(value) = u32::try_from(now)
        && (first.from..=last.to).contains(&value)
    {
        let share = share_at(curve, value);
        let place = x(f64::from(value));
        svg.dashed(Class::Mark, (place, y(share)), (place, bottom));
        svg.dot(Class::Mark, (place, y(share)), 4.5);
        let amount = if title.contains("KiB") {
            sentence::bytes(now)
        } else {
            grouped(now)
        };
        let label = format!("{amount}: {}", percent(share));
        // Right of the dot, where most curves fall, unless there is no room.
        let (anchor, at) = if place + LABEL_WIDTH > x1 {
            (Anchor::End, place - 8.0)
        } else {
            (Anchor::Start, place + 8.0)
        };
        let height = y(share) - 9.0;
        svg.text(Class::MarkText, (at, height), anchor, &label);
    }
}
