//! One kernel through the three layers.

use ridge_diagnose::document::{
    Class, HotLine, Kernel, LaunchesFrom, Location, NotChecked, SourceKind,
};
use ridge_model::quantity::{Amount, Nanos, Unit};

use super::{
    Page, compulsory, finding, heading, kept, latency, measured, paragraph, percent, ratio, saved,
    times,
};
use crate::bar::bar;
use crate::escape;
use crate::kernel_name::shorten;
use crate::style::Role;
use crate::table::{Column, Table};
use crate::width::width;

/// Ledger rows that are shown without `-v`: those that can matter, at least a few.
const MIN_ROWS: usize = 4;
const SMALL: f64 = 0.10;
/// From this share on it is what the page says of a launch; below it, that the kernel is short.
const MOSTLY_IDLE: f64 = 0.5;
/// Stall reasons that are shown without `-v`.
const STALLS: usize = 3;
const BAR: usize = 12;
/// Widths of pages from which there is room for these columns; the numbers say the same as the bar.
const BAR_FROM: usize = 56;
const DEMAND_FROM: usize = 80;
const CAPACITY_FROM: usize = 96;

/// Where a kernel comes from.
pub(super) struct From<'f> {
    pub(super) kind: Option<SourceKind>,
    /// The short name of its input, where there are several.
    pub(super) file: Option<&'f str>,
    /// Where times apart from the counters are from, if there are any.
    pub(super) timed: Option<LaunchesFrom>,
}

pub(super) fn write(out: &mut String, kernel: &Kernel, from: From<'_>, number: usize, page: &Page) {
    out.push('\n');
    let name = shorten(
        &kernel.signature,
        page.columns.saturating_sub(4),
        page.charset,
    );
    heading(out, &format!("{number}  {name}"), page);
    paragraph(out, &launch(kernel, &from, page), "   ", "   ", page);
    paragraph(out, &limit(kernel), "   ", "   ", page);
    if let Some(known) = &kernel.compulsory {
        compulsory::write(out, known, page);
    }
    if let Some(known) = &kernel.measured {
        measured::write(out, known, page);
    }
    write_ledger(out, kernel, page);
    write_beside_ledger(out, kernel, page);
    write_stalls(out, kernel, page);
    latency::write(out, kernel, page);
    write_hot_lines(out, &kernel.hot_lines, page);
    finding::write(out, &kernel.findings, page);
    if let Some(outlook) = &kernel.outlook {
        out.push('\n');
        paragraph(out, &outlook.summary, "   ", "     ", page);
    }
    if is_measured(kernel) {
        write_not_checked(out, kernel, from.kind == Some(SourceKind::NcuCsv), page);
    } else {
        let text =
            "nothing was counted for this launch, so nothing could be checked: profile it again";
        paragraph(out, text, "   ", "     ", page);
    }
}

/// Whether there is anything to judge the launch by.
fn is_measured(kernel: &Kernel) -> bool {
    kernel.duration_ns.is_some()
        || kernel.limiter.is_some()
        || !kernel.resources.is_empty()
        || !kernel.stalls.is_empty()
        || !kernel.findings.is_empty()
}

fn launch(kernel: &Kernel, from: &From<'_>, page: &Page) -> String {
    let mut parts = Vec::new();
    if let Some(duration) = kernel.duration_ns {
        let mut text = format!("{:.4}", Nanos::new(duration));
        if let (Some(low), Some(high), true) = (
            kernel.duration_min_ns,
            kernel.duration_max_ns,
            kernel.launches.len() > 1,
        ) {
            text = format!(
                "median {text} of {} launches ({} to {})",
                kernel.launches.len(),
                Nanos::new(low),
                Nanos::new(high)
            );
        }
        if let Some(timed) = kernel.timed {
            let median = Nanos::new(timed.median_ns);
            let count = times(timed.launches, "launch");
            text = match from.timed {
                Some(LaunchesFrom::Trace) => {
                    format!("median {median:.4} of {count} recorded, {text} under the profiler")
                }
                _ => {
                    format!("median {median:.4} of {count} timed apart, {text} under the counters")
                }
            };
        }
        parts.push(text);
    }
    if let Some(share) = kernel.time_share {
        parts.push(format!("{} of the time", percent(share)));
    }
    let size = |extent: [u32; 3]| match extent {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("{x} x {y}"),
        [x, y, z] => format!("{x} x {y} x {z}"),
    };
    if let (Some(grid), Some(block)) = (kernel.grid, kernel.block) {
        parts.push(format!("grid {} of blocks {}", size(grid), size(block)));
    }
    let launches: Vec<String> = kernel
        .launches
        .iter()
        .take(4)
        .map(|launch| launch.index.to_string())
        .collect();
    let more = if kernel.launches.len() > launches.len() {
        format!(", {}", page.charset.ellipsis())
    } else {
        String::new()
    };
    let file = from
        .file
        .map_or_else(String::new, |file| format!(" of {file}"));
    parts.push(format!("launch {}{more}{file}", launches.join(", ")));
    parts.join(", ")
}

fn limit(kernel: &Kernel) -> String {
    let mut text = match &kernel.limiter {
        None => "the report does not tell what limits this kernel".to_owned(),
        Some(limiter) => {
            let busy = format!(
                "{} busy {} of the time",
                limiter.busiest.label(),
                percent(limiter.share)
            );
            match limiter.class {
                Class::Memory => format!("limited by memory: {busy}"),
                Class::Compute => format!("limited by execution: {busy}"),
                Class::Latency => format!("limited by latency: nothing is busy, most is {busy}"),
                Class::Launch => match kernel.idle_share.filter(|idle| *idle > MOSTLY_IDLE) {
                    Some(idle) => format!(
                        "limited by its launch: no SM has work for {} of what was measured",
                        saved(idle)
                    ),
                    None => "limited by its launch: it is shorter than what launching it costs"
                        .to_owned(),
                },
            }
        }
    };
    if let (Some(compute), Some(memory)) =
        (kernel.speed_of_light.compute, kernel.speed_of_light.memory)
    {
        text = format!(
            "{text}; Speed Of Light: compute {}, memory {}",
            percent(compute),
            percent(memory)
        );
    }
    text
}

fn write_ledger(out: &mut String, kernel: &Kernel, page: &Page) {
    if kernel.resources.is_empty() {
        return;
    }
    out.push('\n');
    let columns = [
        (true, Column::left("")),
        (true, Column::left("resource")),
        (true, Column::left("stage").truncated(2, 8)),
        (true, Column::right("busy")),
        (page.columns >= BAR_FROM, Column::left("")),
        (page.columns >= DEMAND_FROM, Column::right("demand")),
        (page.columns >= CAPACITY_FROM, Column::right("capacity")),
    ];
    let is_kept = columns.each_ref().map(|(is_kept, _)| *is_kept);
    let mut table = Table::new(kept(is_kept, columns.map(|(_, column)| column)));
    let shown = kernel
        .resources
        .iter()
        .enumerate()
        .filter(|(place, row)| page.is_verbose || *place < MIN_ROWS || row.busy_share >= SMALL);
    for (_, row) in shown {
        let cells = [
            " ".to_owned(),
            row.resource.label().to_owned(),
            row.stage.clone(),
            percent(row.busy_share),
            bar(ratio(row.busy_share), BAR, page.charset),
            Amount::new(row.demand, Unit::new(row.unit.clone())).to_string(),
            Amount::new(row.capacity_per_s, Unit::new(format!("{}/s", row.unit))).to_string(),
        ];
        table.row(kept(is_kept, cells));
    }
    out.push_str(&table.render(page.columns, page.charset, page.painter));
    if page.is_verbose {
        for row in &kernel.resources {
            let text = format!("{}: {}", row.resource.label(), row.source.join(", "));
            paragraph(out, &text, "     ", "       ", page);
        }
    }
}

/// Resources that Speed Of Light finds busier than all of the table: the counters of their stages were not collected, or
/// no counter holds what passes them.
fn write_beside_ledger(out: &mut String, kernel: &Kernel, page: &Page) {
    const NOTABLE: f64 = 0.05;
    let rows = kernel.resources.iter();
    let top = rows.fold(0.0, |most: f64, row| most.max(row.busy_share));
    let mut named = Vec::new();
    let mut list = Vec::new();
    for member in &kernel.speed_of_light.members {
        // Members come largest first, so that the first of a resource is its share.
        if let Some(resource) = member.resource
            && member.share > top + NOTABLE
            && !named.contains(&resource)
        {
            named.push(resource);
            list.push(format!("{} {}", resource.label(), percent(member.share)));
        }
    }
    if !list.is_empty() {
        let (before, than) = if kernel.resources.is_empty() {
            ("\n", "")
        } else {
            ("", ", busier than the table")
        };
        out.push_str(before);
        let text = format!("by Speed Of Light{than}: {}", list.join(", "));
        paragraph(out, &text, "   ", "     ", page);
    }
}

fn write_stalls(out: &mut String, kernel: &Kernel, page: &Page) {
    if kernel.stalls.is_empty() {
        return;
    }
    let shown = if page.is_verbose {
        kernel.stalls.len()
    } else {
        STALLS
    };
    let list: Vec<String> = kernel
        .stalls
        .iter()
        .take(shown)
        .map(|stall| {
            format!(
                "{} {} ({})",
                percent(stall.share),
                stall.reason,
                stall.meaning
            )
        })
        .collect();
    out.push('\n');
    paragraph(
        out,
        &format!("warps wait for: {}", list.join("; ")),
        "   ",
        "     ",
        page,
    );
}

fn write_hot_lines(out: &mut String, lines: &[HotLine], page: &Page) {
    if lines.is_empty() {
        return;
    }
    out.push('\n');
    let mut table = Table::new([
        Column::left(""),
        Column::right("samples"),
        Column::left("where").truncated(1, 20),
        Column::left("waiting for"),
        Column::left("").truncated(2, 10),
    ]);
    for line in lines {
        table.row([
            " ".to_owned(),
            line.location.share.map_or_else(String::new, percent),
            place(&line.location, page),
            line.top_stall.clone().unwrap_or_default(),
            line.text
                .clone()
                .or_else(|| line.location.sass.clone())
                .unwrap_or_default(),
        ]);
    }
    out.push_str(&table.render(page.columns, page.charset, page.painter));
}

/// A place in the code: file and line, else function and offset, else the address.
pub(super) fn place(location: &Location, page: &Page) -> String {
    let offset = location
        .pc
        .map(|pc| format!("+0x{pc:x}"))
        .unwrap_or_default();
    match (&location.file, location.line, &location.function) {
        (Some(file), Some(line), _) => {
            let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
            match location.inlined_at.last() {
                Some(call) => {
                    let call = call.rsplit(['/', '\\']).next().unwrap_or(call);
                    format!("{name}:{line} (inlined at {call})")
                }
                None => format!("{name}:{line}"),
            }
        }
        (_, _, Some(function)) => format!("{}{offset}", shorten(function, 40, page.charset)),
        _ => location
            .pc
            .map(|pc| format!("address 0x{pc:x}"))
            .unwrap_or_default(),
    }
}

fn write_not_checked(out: &mut String, kernel: &Kernel, is_export: bool, page: &Page) {
    if kernel.not_checked.is_empty() {
        return;
    }
    out.push('\n');
    let mut text = String::new();
    let list: Vec<String> = kernel
        .not_checked
        .iter()
        .map(|check| match &*check.needs {
            // The export does not tell which sections the report holds: it may be none of these that is missing.
            _ if is_export => check.id.clone(),
            // Every set collects it, so that no section is to be named.
            [] => format!("{} (its counters are missing)", check.id),
            needs => format!("{} (needs {})", check.id, needs.join(" and ")),
        })
        .collect();
    let not_checked = format!("not checked: {}", list.join(", "));
    paragraph(&mut text, &not_checked, "   ", "     ", page);
    if is_export {
        let export = format!(
            "a CSV export holds the metrics of one page and no values by instruction or opcode; the report (.ncu-rep) that it was made from answers these checks{}",
            sections(&kernel.not_checked)
        );
        paragraph(&mut text, &export, "   ", "     ", page);
    }
    if let Some(command) = &kernel.settle_with {
        let lead = if is_export {
            "without that report, this would settle it:"
        } else {
            "this would settle it:"
        };
        paragraph(&mut text, lead, "   ", "     ", page);
        command_lines(&mut text, command, "     ", page);
    }
    for line in text.lines() {
        out.push_str(&page.painter.paint(Role::Dim, line).to_string());
        out.push('\n');
    }
}

/// The sections that all checks need together.
fn sections(checks: &[NotChecked]) -> String {
    let mut sections: Vec<&str> = Vec::new();
    for section in checks.iter().flat_map(|check| &check.needs) {
        if !sections.contains(&section.as_str()) {
            sections.push(section);
        }
    }
    if sections.is_empty() {
        String::new()
    } else {
        format!(", if it holds {}", sections.join(", "))
    }
}

/// A command that can be copied from the page: broken before options only, with the shell's sign at the end of a line.
fn command_lines(out: &mut String, command: &str, indent: &str, page: &Page) {
    let room = page.columns.saturating_sub(indent.len() + " \\".len());
    let mut line = String::new();
    for (place, part) in command.split(" --").enumerate() {
        let part = match place {
            0 => escape::terminal(part).into_owned(),
            _ => format!("--{}", escape::terminal(part)),
        };
        if !line.is_empty() && width(&line) + 1 + width(&part) > room {
            out.extend([indent, &line, " \\\n"]);
            line = format!("  {part}");
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&part);
        }
    }
    out.extend([indent, &line, "\n"]);
}
