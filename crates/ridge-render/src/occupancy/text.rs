//! The page of text: an overview of several kernels, and each one with limits, curves and steps.

use ridge_model::occupancy::Limiter;
use ridge_model::occupancy::document::{
    Better, Document, Given, Kernel, Knob, Number, Stretch, Warning,
};
use ridge_model::quantity::{Ratio, grouped};

use super::sentence::{self, bytes, percent, plural};
use super::share_at;
use crate::bar::bar;
use crate::kernel_name::shorten;
use crate::page::Layout;
use crate::plot::{Plot, plot};
use crate::style::Role;
use crate::table::{Cell, Column, Table};
use crate::wrap::{Indent, wrap};

/// So many kernels are explained without being asked for.
const EXPLAINED: usize = 3;
/// More warnings than this are counted only.
const WARNINGS: usize = 20;
/// So many steps to more blocks are shown without `-v`.
const STEPS: usize = 3;
const BAR: usize = 16;
/// Narrower pages have no room for bars.
const BAR_FROM: usize = 60;
const PLOT_ROWS: usize = 4;
const PLOT_COLUMNS: usize = 76;

/// Writes the whole page.
#[must_use]
pub fn text(document: &Document, page: &Layout) -> String {
    let mut out = String::new();
    for warning in document.warnings.iter().take(WARNINGS) {
        write_warning(&mut out, document, warning, page);
    }
    if document.warnings.len() > WARNINGS {
        let more = (document.warnings.len() - WARNINGS) as u64;
        let line = format!(
            "! and {}; --format json lists all",
            plural(more, "more warning")
        );
        paragraph(&mut out, &line, "", page);
    }
    let is_explained = page.is_verbose || document.kernels.len() <= EXPLAINED;
    if document.kernels.len() > 1 {
        overview(&mut out, document, page);
        if !is_explained {
            let line = "name one with --kernel, --launch or FILE#NAME for its curves and next steps, or all with -v";
            paragraph(&mut out, line, "", page);
        }
    }
    if is_explained {
        for kernel in document.kernels.iter() {
            if !out.is_empty() {
                out.push('\n');
            }
            explain(&mut out, document, &kernel, page);
        }
    }
    out
}

fn paragraph(out: &mut String, text: &str, indent: &str, page: &Layout) {
    let rest = format!("{indent}  ");
    let indent = Indent {
        first: indent,
        rest: if indent.is_empty() { "" } else { &rest },
    };
    for line in wrap(text, page.columns, indent) {
        out.push_str(&line);
        out.push('\n');
    }
}

fn heading(out: &mut String, text: &str, page: &Layout) {
    out.push_str(&page.painter.paint(Role::Heading, text).to_string());
    out.push('\n');
}

fn write_warning(out: &mut String, document: &Document, warning: &Warning, page: &Layout) {
    let file = warning.source.and_then(|id| document.sources.get(id));
    let text = match file {
        Some(source) => format!("! {}: {}", shown(&source.file), warning.message),
        None => format!("! {}", warning.message),
    };
    for line in wrap(
        &text,
        page.columns,
        Indent {
            first: "",
            rest: "  ",
        },
    ) {
        out.push_str(&page.painter.paint(Role::Warning, &line).to_string());
        out.push('\n');
    }
}

fn shown(file: &str) -> &str {
    if file == "-" { "standard input" } else { file }
}

fn name(kernel: &Kernel, columns: usize, page: &Layout) -> String {
    match kernel.signature.as_deref().or(kernel.name.as_deref()) {
        Some(name) => shorten(name, columns, page.charset),
        None => "launch from numbers".to_owned(),
    }
}

fn limited_by(kernel: &Kernel, page: &Layout) -> String {
    if kernel.impossible.is_some() {
        return "cannot be launched".to_owned();
    }
    let names: Vec<&str> = kernel
        .limiters
        .iter()
        .filter(|limit| limit.is_limiting)
        .map(|limit| limit.limiter.label())
        .collect();
    if names.is_empty() {
        page.charset.absent().to_owned()
    } else {
        names.join(", ")
    }
}

fn overview(out: &mut String, document: &Document, page: &Layout) {
    if !out.is_empty() {
        out.push('\n');
    }
    let subjects = document.kernels.subjects();
    let is_of_several = subjects
        .windows(2)
        .any(|pair| pair[0].capability != pair[1].capability);
    let has_achieved = subjects.iter().any(|kernel| kernel.achieved.is_some());
    let columns = [
        (true, Column::right("theoretical")),
        (
            has_achieved && page.columns >= 50,
            Column::right("achieved"),
        ),
        (page.columns >= 72, Column::right("threads")),
        (page.columns >= 72, Column::right("registers")),
        (page.columns >= 90, Column::right("shared")),
        (is_of_several, Column::right("capability")),
        (true, Column::left("limited by").truncated(2, 10)),
        (true, Column::left("kernel").truncated(1, 12)),
    ];
    let is_kept = columns.each_ref().map(|(is_kept, _)| *is_kept);
    let kept = |cells: [String; 8]| {
        is_kept
            .into_iter()
            .zip(cells)
            .filter_map(|(is_kept, cell)| is_kept.then_some(cell))
    };
    let mut table = Table::new(
        columns
            .into_iter()
            .filter_map(|(is_kept, column)| is_kept.then_some(column)),
    );
    let absent = || page.charset.absent().to_owned();
    for kernel in document.kernels.iter() {
        let launch = &kernel.launch;
        let shared = launch.static_shared_bytes.value + launch.dynamic_shared_bytes.value;
        table.row(kept([
            kernel
                .theoretical
                .map_or_else(absent, |theoretical| percent(theoretical.occupancy)),
            kernel
                .achieved_occupancy
                .map_or_else(absent, sentence::percent_of_measured),
            launch.threads_per_block.value.to_string(),
            launch.registers_per_thread.value.to_string(),
            bytes(shared),
            kernel.device.compute_capability.clone(),
            limited_by(&kernel, page),
            name(&kernel, page.columns, page),
        ]));
    }
    out.push_str(&table.render(page.columns, page.charset, page.painter));
}

fn explain(out: &mut String, document: &Document, kernel: &Kernel, page: &Layout) {
    heading(out, &name(kernel, page.columns, page), page);
    paragraph(out, &origin(document, kernel), "  ", page);
    paragraph(out, &device(kernel), "  ", page);
    paragraph(out, &launch(kernel), "  ", page);
    if let Some(reason) = &kernel.impossible {
        out.push('\n');
        paragraph(out, &format!("cannot be launched: {reason}"), "  ", page);
        return;
    }
    limits(out, kernel, page);
    for sentence in [sentence::waves(kernel), sentence::clusters(kernel)]
        .into_iter()
        .flatten()
    {
        paragraph(out, &sentence, "  ", page);
    }
    curves(out, kernel, page);
    steps(out, kernel, page);
    if page.is_verbose {
        sources(out, kernel, page);
    }
}

fn origin(document: &Document, kernel: &Kernel) -> String {
    let Some(source) = kernel.source.and_then(|id| document.sources.get(id)) else {
        return String::new();
    };
    let file = shown(&source.file);
    match kernel.launches.as_slice() {
        [] => file.to_owned(),
        [one] => format!("{file}, launch {one}"),
        [first, .., last] => format!(
            "{file}, {} launches alike, from {first} to {last}",
            kernel.launches.len()
        ),
    }
}

fn device(kernel: &Kernel) -> String {
    let device = &kernel.device;
    let capability = format!("compute capability {}", device.compute_capability);
    let mut parts: Vec<String> = device.name.iter().cloned().collect();
    parts.push(capability);
    parts.extend(device.sms.map(|sms| plural(sms.value, "SM")));
    parts.join(", ")
}

/// What nobody said is marked as such.
fn assumed(number: Number) -> &'static str {
    match number.origin {
        Given::Assumed => " (assumed)",
        Given::Argument | Given::Report | Given::Code | Given::Device => "",
    }
}

fn launch(kernel: &Kernel) -> String {
    let launch = &kernel.launch;
    let registers = launch.registers_per_thread.value;
    let allocated = u64::from(launch.registers_per_thread_allocated);
    let mut parts = vec![
        format!(
            "{} a block{}",
            plural(launch.threads_per_block.value, "thread"),
            assumed(launch.threads_per_block)
        ),
        if allocated == registers {
            format!("{} a thread", plural(registers, "register"))
        } else {
            format!(
                "{} a thread ({allocated} allocated)",
                plural(registers, "register")
            )
        },
    ];
    let (fixed, dynamic) = (
        launch.static_shared_bytes.value,
        launch.dynamic_shared_bytes.value,
    );
    let mut shared = match (fixed, dynamic) {
        (0, 0) => "no shared memory".to_owned(),
        (fixed, 0) => format!("{} of static shared memory", bytes(fixed)),
        (0, dynamic) => format!("{} of dynamic shared memory", bytes(dynamic)),
        (fixed, dynamic) => format!(
            "{} of static and {} of dynamic shared memory",
            bytes(fixed),
            bytes(dynamic)
        ),
    };
    let charged = u64::from(launch.shared_bytes_allocated);
    if charged != fixed + dynamic {
        shared.extend([" (", &bytes(charged), " allocated)"]);
    }
    parts.push(shared);
    if let Some(barriers) = launch.barriers {
        parts.push(plural(barriers.value, "barrier"));
    }
    if let Some(size) = launch.cluster_blocks {
        parts.push(format!("clusters of {}", plural(size.value, "block")));
    }
    if let Some(carveout) = launch.carveout_bytes {
        parts.push(format!("carve-out {}", bytes(carveout.into())));
    }
    if let Some(stack) = launch.stack_bytes.filter(|stack| *stack > 0) {
        parts.push(format!("{} of stack a thread", bytes(stack)));
    }
    if let Some(spill) = launch.spill_bytes.filter(|spill| *spill > 0) {
        parts.push(format!("{} of registers spilled", bytes(spill)));
    }
    if launch.idle_lanes > 0 {
        parts.push(format!(
            "{} of each block's last warp have no thread",
            plural(launch.idle_lanes.into(), "lane")
        ));
    }
    parts.join(", ")
}

fn limits(out: &mut String, kernel: &Kernel, page: &Layout) {
    let Some(theoretical) = kernel.theoretical else {
        return;
    };
    out.push('\n');
    let line = format!(
        "theoretical occupancy {}: {}, {} of {} warps on an SM",
        percent(theoretical.occupancy),
        plural(theoretical.blocks.into(), "block"),
        theoretical.warps,
        theoretical.max_warps
    );
    for line in wrap(
        &line,
        page.columns,
        Indent {
            first: "  ",
            rest: "    ",
        },
    ) {
        out.push_str(&page.painter.paint(Role::Heading, &line).to_string());
        out.push('\n');
    }
    if let Some(achieved) = sentence::achieved(kernel) {
        paragraph(out, &format!("achieved occupancy {achieved}"), "  ", page);
    }
    let has_bars = page.columns >= BAR_FROM;
    let mut columns = vec![
        Column::left(""),
        Column::left("limited by"),
        Column::right("blocks"),
        Column::right("occupancy"),
    ];
    if has_bars {
        columns.push(Column::left(""));
    }
    let mut table = Table::new(columns);
    for limit in &kernel.limiters {
        let share = limit.blocks.map(|blocks| {
            let warps = u64::from(blocks) * u64::from(theoretical.warps_per_block);
            (warps as f64 / f64::from(theoretical.max_warps)).min(1.0)
        });
        let absent = || page.charset.absent().to_owned();
        let mark = if limit.is_limiting { "  >" } else { "   " };
        let role = if limit.is_limiting {
            Role::Heading
        } else {
            Role::Dim
        };
        let mut cells = vec![
            mark.to_owned(),
            limit.limiter.label().to_owned(),
            limit
                .blocks
                .map_or_else(absent, |blocks| blocks.to_string()),
            share.map_or_else(absent, percent),
        ];
        if has_bars {
            cells.push(share.map_or_else(String::new, |share| {
                bar(Ratio::new(share), BAR, page.charset)
            }));
        }
        table.row(cells.iter().map(|cell| Cell::styled(role, cell)));
    }
    out.push_str(&table.render(page.columns, page.charset, page.painter));
    let unknown = |limit: &&ridge_model::occupancy::document::Allowed| limit.blocks.is_none();
    if kernel.limiters.iter().any(|limit| unknown(&limit)) {
        let why = if kernel.launch.barriers.is_none() {
            "how many barriers the kernel has is not known; they limit only kernels with several"
        } else {
            "no limit by barriers is known for this compute capability; the toolkit's own calculator counts none before 9.0"
        };
        paragraph(out, why, "    ", page);
    }
}

fn curves(out: &mut String, kernel: &Kernel, page: &Layout) {
    let Some(curves) = kernel.curves.get() else {
        return;
    };
    let launch = &kernel.launch;
    let plain = |value: u32| grouped(value.into());
    let list: [(&str, &[Stretch], u64); 3] = [
        (
            "threads a block",
            &curves.block_size,
            launch.threads_per_block.value,
        ),
        (
            "registers a thread",
            &curves.registers,
            launch.registers_per_thread.value,
        ),
        (
            "bytes of shared memory a block",
            &curves.shared_bytes,
            launch.static_shared_bytes.value + launch.dynamic_shared_bytes.value,
        ),
    ];
    for (title, curve, now) in list {
        let (Some(first), Some(last)) = (curve.first(), curve.last()) else {
            continue;
        };
        out.push('\n');
        let title = format!("theoretical occupancy over {title}");
        paragraph(out, &title, "  ", page);
        let share = |value| share_at(curve, value);
        let lines = plot(
            &Plot {
                range: (first.from.min(first.to), last.to),
                share: &share,
                mark: u32::try_from(now).ok(),
                label: &plain,
            },
            page.columns.saturating_sub(2).min(PLOT_COLUMNS),
            PLOT_ROWS,
            page.charset,
        );
        for line in lines {
            out.extend(["  ", &line, "\n"]);
        }
    }
}

fn is_other_block(step: &Better) -> bool {
    step.changes
        .iter()
        .any(|change| change.what == Knob::ThreadsPerBlock)
}

fn steps(out: &mut String, kernel: &Kernel, page: &Layout) {
    let Some(now) = &kernel.theoretical else {
        return;
    };
    out.push('\n');
    let steps = kernel.steps.get();
    let (others, blocks): (Vec<&Better>, Vec<&Better>) =
        steps.iter().partition(|step| is_other_block(step));
    let mut shown: Vec<&Better> = blocks.clone();
    if !page.is_verbose {
        shown.truncate(STEPS);
    }
    let left_out = blocks.len() - shown.len();
    shown.extend(others);
    if shown.is_empty() {
        let text = if now.warps == now.max_warps {
            "every warp that the SM can hold is there: no launch has more"
        } else {
            "no change of registers, shared memory or block size alone gives more warps"
        };
        paragraph(out, text, "  ", page);
    } else {
        heading(out, "  next better", page);
        for step in shown {
            paragraph(out, &sentence::step(step, now), "    ", page);
        }
        if left_out > 0 {
            paragraph(out, &format!("-v lists {left_out} more"), "    ", page);
        }
    }
    if let Some(room) = sentence::room(kernel) {
        paragraph(out, &room, "  ", page);
    }
    paragraph(out, &sentence::advice(kernel), "  ", page);
}

fn sources(out: &mut String, kernel: &Kernel, page: &Layout) {
    out.push('\n');
    heading(out, "  figures of the device", page);
    let mut table = Table::new([
        Column::left(""),
        Column::left("").wrapped(1, 12),
        Column::right(""),
        Column::left("").truncated(2, 1),
        Column::left(""),
    ]);
    for figure in &kernel.sm_limits {
        let unit = match figure.value {
            1 => figure.unit.to_owned(),
            _ if figure.unit.is_empty() => String::new(),
            _ => format!("{}s", figure.unit),
        };
        table.row([
            "  ".to_owned(),
            figure.name.replace('_', " "),
            grouped(figure.value.into()),
            unit,
            figure.origin.name().to_owned(),
        ]);
    }
    out.push_str(&table.render(page.columns, page.charset, page.painter));
    let metrics: Vec<&str> = Limiter::ALL
        .iter()
        .map(|limiter| limiter.metric())
        .collect();
    let line = format!("the profiler's names of the limits: {}", metrics.join(", "));
    paragraph(out, &line, "    ", page);
}
