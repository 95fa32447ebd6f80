//! The page for a terminal: what bounds the program, where its time went, and what is wrong.

use ridge_model::quantity::{Bandwidth, Bytes, Nanos, Ratio, counted, grouped};
use ridge_trace::document::{Device, Document, Sequence, Trace, Transfer, Warning};

use super::{finding, ranks, words};
use crate::bar::bar;
use crate::kernel_name::shorten;
use crate::page::Layout;
use crate::style::Role;
use crate::table::{Column, Table};
use crate::wrap::{Indent, wrap};

/// Rows that are shown without `-v`.
const FEW_KERNELS: usize = 10;
const FEW_GAPS: usize = 3;
const FEW_CALLS: usize = 5;
/// Streams are told apart from two on.
const FEW_STREAMS: usize = 8;

/// Writes the document as a page.
#[must_use]
pub fn text(document: &Document, layout: &Layout) -> String {
    let mut out = String::new();
    let ranks = document.ranks.as_ref();
    // Of two, both pages are read; of more, what stands out among them, and the page of the one that does.
    let comes_first = ranks.filter(|ranks| ranks.members.len() > 2);
    let only = ranks::only(document).filter(|_| !layout.is_verbose);
    if let Some(compared) = comes_first {
        ranks::write(&mut out, compared, layout);
        out.push('\n');
        if let Some(shown) = only {
            paragraph(&mut out, &ranks::left_out(document, shown), "", "", layout);
            out.push('\n');
        }
    }
    let pages = document.traces.iter().enumerate();
    let shown = pages.filter(|(place, _)| only.is_none_or(|only| only == *place));
    for (count, (_, trace)) in shown.enumerate() {
        if count > 0 {
            out.push('\n');
        }
        write_trace(&mut out, trace, layout);
    }
    if let Some(compared) = ranks.filter(|ranks| ranks.members.len() == 2) {
        out.push('\n');
        ranks::write(&mut out, compared, layout);
    }
    // A comparison tells each device where each has one.
    let is_told = ranks.is_some_and(|ranks| ranks.members.iter().all(|row| row.devices == 1));
    let devices: usize = document
        .traces
        .iter()
        .map(|trace| trace.devices.len())
        .sum();
    if devices > 1 && !is_told {
        compare(&mut out, &document.traces, layout);
    }
    warnings(&mut out, document, layout);
    out
}

pub(super) fn paragraph(out: &mut String, text: &str, first: &str, rest: &str, layout: &Layout) {
    for line in wrap(text, layout.columns, Indent { first, rest }) {
        out.push_str(&line);
        out.push('\n');
    }
}

/// Whole per cent, and what is neither nothing nor all does not become it.
pub(super) fn percent(share: f64) -> String {
    match 100.0 * share {
        little if little > 0.0 && little < 0.5 => "<1 %".to_owned(),
        nearly if (99.5..100.0).contains(&nearly) => ">99 %".to_owned(),
        percent => format!("{percent:.0} %"),
    }
}

fn time(ns: f64) -> String {
    Nanos::new(ns).to_string()
}

fn write_trace(out: &mut String, trace: &Trace, layout: &Layout) {
    layout.heading(out, &shown_name(&trace.file));
    paragraph(out, &words::origin(trace), "", "", layout);
    if let Some(range) = &trace.range {
        paragraph(out, &words::range(range), "", "  ", layout);
    }
    if let Some(verdict) = &trace.verdict {
        let about = if trace.devices.len() > 1 {
            format!("device {}: ", verdict.device)
        } else {
            String::new()
        };
        layout.paragraph(out, &format!("{about}{}", verdict.title), "", "", None);
    } else {
        let text = if trace.completeness.calls > 0 {
            "no GPU events: the trace has calls of the host, and nothing that ran on a GPU"
        } else {
            "no GPU events: nothing of the trace ran on a GPU; record it with CUDA activities"
        };
        paragraph(out, text, "", "", layout);
    }
    let about = trace.verdict.as_ref().map(|verdict| verdict.device);
    // One device stands for the others, which mostly do the same; -v shows each.
    let main = trace
        .devices
        .iter()
        .find(|device| Some(device.number) == about);
    if let Some(device) = main {
        split(out, device, layout);
        findings(out, trace, layout);
        details(out, device, layout);
    }
    if !trace.calls.is_empty() {
        calls(out, trace, layout);
    }
    let others = trace
        .devices
        .iter()
        .filter(|device| Some(device.number) != about);
    if layout.is_verbose {
        for device in others {
            split(out, device, layout);
            details(out, device, layout);
        }
    }
}

fn findings(out: &mut String, trace: &Trace, layout: &Layout) {
    out.push('\n');
    layout.heading(out, "Findings");
    if trace.findings.is_empty() {
        paragraph(
            out,
            "none: no flaw that this trace shows would save 5 % of the span",
            "   ",
            "   ",
            layout,
        );
    }
    for (place, found) in trace.findings.iter().enumerate() {
        if place > 0 {
            out.push('\n');
        }
        finding::write(out, found, layout);
    }
    if let Some(first) = trace.not_checked.first() {
        let ids: Vec<&str> = trace
            .not_checked
            .iter()
            .map(|check| check.id.as_str())
            .collect();
        let text = format!(
            "not checked: {}; the trace lacks {}",
            ids.join(", "),
            first.needs
        );
        paragraph(out, &text, "   ", "     ", layout);
    }
}

fn split(out: &mut String, device: &Device, layout: &Layout) {
    out.push('\n');
    layout.heading(out, &format!("Device {}", words::device(device)));
    let share = |ns: f64| {
        if device.span_ns > 0.0 {
            ns / device.span_ns
        } else {
            0.0
        }
    };
    let mut parts = Table::new([
        Column::left("of the span"),
        Column::right("time"),
        Column::right("share"),
        Column::left(""),
    ]);
    let counts = &device.counts;
    let beside = match device.overlap_ns {
        overlap if overlap > 0.0 => format!("{} of it beside kernels", time(overlap)),
        _ => "none beside kernels".to_owned(),
    };
    let kernels = match counts.graphs {
        0 => format!("kernels ({})", grouped(counts.kernels)),
        graphs => format!(
            "kernels ({}) and whole graphs ({})",
            grouped(counts.kernels),
            grouped(graphs)
        ),
    };
    let rows = [
        (kernels, device.kernel_ns),
        (
            format!("copies ({}), {beside}", grouped(counts.copies)),
            device.copy_ns,
        ),
        (
            format!("memory set ({})", grouped(counts.memsets)),
            device.memset_ns,
        ),
        ("idle".to_owned(), device.idle_ns),
    ];
    for (what, ns) in rows {
        parts.row([
            what,
            time(ns),
            percent(share(ns)),
            bar(Ratio::new(share(ns)), 20, layout.charset),
        ]);
    }
    parts.row([
        format!("all, on {}", counted(device.streams.len() as u64, "stream")),
        time(device.span_ns),
        String::new(),
        String::new(),
    ]);
    push(out, &parts, layout);
}

fn details(out: &mut String, device: &Device, layout: &Layout) {
    kernel_table(out, device, layout);
    transfers(out, device, layout);
    gaps(out, device, layout);
    if device.streams.len() > 1 {
        streams(out, device, layout);
    }
}

/// A table with an indent that headings do not have.
pub(super) fn push(out: &mut String, table: &Table, layout: &Layout) {
    for line in table
        .render(
            layout.columns.saturating_sub(3),
            layout.charset,
            layout.painter,
        )
        .lines()
    {
        out.push_str("   ");
        out.push_str(line);
        out.push('\n');
    }
}

fn sides(sides: Option<[u32; 3]>) -> Option<String> {
    let [x, y, z] = sides?;
    Some(match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("{x}x{y}"),
        _ => format!("{x}x{y}x{z}"),
    })
}

fn kernel_table(out: &mut String, device: &Device, layout: &Layout) {
    if device.kernels.is_empty() {
        return;
    }
    out.push('\n');
    let absent = layout.charset.absent();
    let mut table = Table::new([
        Column::left("kernel").truncated(1, 24),
        Column::right("runs"),
        Column::right("total"),
        Column::right("share"),
        Column::right("median"),
        Column::right("p90"),
        Column::left("grid"),
        Column::left("block"),
    ]);
    let most = if layout.is_verbose {
        usize::MAX
    } else {
        FEW_KERNELS
    };
    for kernel in device.kernels.iter().take(most) {
        let several = |sides: Option<String>| match (sides, kernel.configurations) {
            (Some(sides), _) => sides,
            (None, 2..) => "several".to_owned(),
            (None, _) => absent.to_owned(),
        };
        table.row([
            shorten(&kernel.name, 60, layout.charset),
            kernel.durations.count.to_string(),
            time(kernel.durations.sum_ns),
            percent(kernel.time_share),
            time(kernel.durations.median_ns),
            if kernel.durations.count >= LEAST_FOR_P90 {
                time(kernel.durations.p90_ns)
            } else {
                absent.to_owned()
            },
            several(sides(kernel.grid)),
            several(sides(kernel.block)),
        ]);
    }
    push(out, &table, layout);
    let more = device.kernels.len().saturating_sub(most);
    if more > 0 {
        let rest: f64 = device
            .kernels
            .iter()
            .skip(most)
            .map(|kernel| kernel.time_share)
            .sum();
        paragraph(
            out,
            &format!(
                "and {} with {} of the time of kernels; -v shows all",
                counted(more as u64, "more kernel"),
                percent(rest)
            ),
            "   ",
            "   ",
            layout,
        );
    }
}

/// A tail is shown from here on: below, it would be one run or two.
const LEAST_FOR_P90: u64 = 30;

fn transfers(out: &mut String, device: &Device, layout: &Layout) {
    if device.transfers.is_empty() {
        return;
    }
    out.push('\n');
    let mut table = Table::new([
        Column::left("copies"),
        Column::left("host memory"),
        Column::right("runs"),
        Column::right("bytes"),
        Column::right("total"),
        Column::right("rate"),
        Column::right("of the link"),
    ]);
    for transfer in &device.transfers {
        table.row([
            transfer.kind.name().to_owned(),
            words::host_memory(transfer.kind, transfer.from, transfer.to),
            transfer.durations.count.to_string(),
            transfer.bytes.map_or_else(
                || layout.charset.absent().to_owned(),
                |bytes| Bytes::from_count(bytes).to_string(),
            ),
            time(transfer.durations.sum_ns),
            transfer.rate_bytes_per_s.map_or_else(
                || layout.charset.absent().to_owned(),
                |rate| Bandwidth::new(rate).to_string(),
            ),
            // Small copies are bound by their start, not by the link.
            transfer
                .link_share
                .filter(|_| transfer.is_rate_of_large)
                .map_or_else(|| layout.charset.absent().to_owned(), percent),
        ]);
    }
    push(out, &table, layout);
    let link = |transfer: &Transfer| {
        let link = transfer.link.as_ref()?;
        Some(format!(
            "{} {} ({})",
            transfer.kind.name(),
            Bandwidth::new(link.bytes_per_s),
            link.source
        ))
    };
    let mut links: Vec<String> = device.transfers.iter().filter_map(link).collect();
    links.sort();
    links.dedup();
    if !links.is_empty() {
        paragraph(
            out,
            &format!("the link carries {}", links.join(", ")),
            "   ",
            "   ",
            layout,
        );
    }
    if device
        .transfers
        .iter()
        .any(|transfer| transfer.kind == ridge_trace::CopyKind::DeviceToDevice)
    {
        paragraph(
            out,
            "DtoD: bytes copied; the memory moves twice as many",
            "   ",
            "   ",
            layout,
        );
    }
}

fn gaps(out: &mut String, device: &Device, layout: &Layout) {
    if device.gaps.classes.is_empty() {
        return;
    }
    out.push('\n');
    let mut table = Table::new([
        Column::left("gaps of the device"),
        Column::right("number"),
        Column::right("total"),
        Column::right("median"),
        Column::right("longest"),
    ]);
    for class in &device.gaps.classes {
        table.row([
            words::gap(class.class).to_owned(),
            class.lengths.count.to_string(),
            time(class.lengths.sum_ns),
            time(class.lengths.median_ns),
            time(class.lengths.max_ns),
        ]);
    }
    push(out, &table, layout);
    let most = if layout.is_verbose {
        usize::MAX
    } else {
        FEW_GAPS
    };
    for cause in device.gaps.causes.iter().take(most) {
        let text = format!(
            "{} in {}: {}",
            time(cause.sum_ns),
            counted(cause.count, "gap"),
            words::cause(cause.cause, cause.call.as_deref())
        );
        paragraph(out, &text, "   ", "     ", layout);
    }
    let longest = device
        .gaps
        .longest
        .iter()
        .take(if layout.is_verbose { usize::MAX } else { 1 });
    for gap in longest {
        let why = match gap.cause {
            Some(cause) => words::cause(cause, gap.call.as_deref()),
            None => words::gap(gap.class).to_owned(),
        };
        let text = format!(
            "the device idles {} from {} on, between {} and {}: {why}",
            time(gap.length_ns),
            time(gap.start_ns),
            shorten(&gap.before, 40, layout.charset),
            shorten(&gap.behind, 40, layout.charset),
        );
        paragraph(out, &text, "   ", "     ", layout);
    }
    let launches = &device.launches;
    if let Some(call) = &launches.call {
        let latency = launches
            .latency
            .as_ref()
            .map_or_else(String::new, |latency| {
                format!(
                    "; from call to start {} where the device waited for it",
                    time(latency.median_ns)
                )
            });
        let queue = launches
            .queue
            .as_ref()
            .filter(|_| layout.is_verbose)
            .map_or_else(String::new, |queue| {
                format!(
                    "; work waited {} in the queue, which is backlog and no loss",
                    time(queue.median_ns)
                )
            });
        let text = format!(
            "a launch call takes {} (median){latency}{queue}; {} of {} run for less time than their call takes",
            time(call.median_ns),
            launches.kernels_below_call,
            counted(device.counts.kernels, "kernel")
        );
        paragraph(out, &text, "   ", "     ", layout);
    }
    let is_worth_it = |sequence: &&Sequence| layout.is_verbose || sequence.host_wait_ns > 0.0;
    if let Some(sequence) = device.sequence.as_ref().filter(is_worth_it) {
        let waits = if sequence.has_waits {
            "; waits of the host stand in it, which no graph can hold"
        } else {
            ""
        };
        let text = format!(
            "{} repeat {} times on stream {}, with {} of waiting for launches: what a CUDA graph replays with one call{waits}",
            words::pieces(sequence.length),
            sequence.times,
            sequence.stream,
            time(sequence.host_wait_ns)
        );
        paragraph(out, &text, "   ", "     ", layout);
    }
}

fn streams(out: &mut String, device: &Device, layout: &Layout) {
    out.push('\n');
    let mut table = Table::new([
        Column::left("stream"),
        Column::left("process"),
        Column::right("work"),
        Column::right("busy"),
        Column::right("of the span"),
        Column::right("median gap"),
    ]);
    let most = if layout.is_verbose {
        usize::MAX
    } else {
        FEW_STREAMS
    };
    for stream in device.streams.iter().take(most) {
        table.row([
            stream.number.to_string(),
            stream.process.map_or_else(
                || layout.charset.absent().to_owned(),
                |process| process.to_string(),
            ),
            stream.work.to_string(),
            time(stream.busy_ns),
            percent(stream.busy_ns / device.span_ns.max(1.0)),
            stream.gaps.as_ref().map_or_else(
                || layout.charset.absent().to_owned(),
                |gaps| time(gaps.median_ns),
            ),
        ]);
    }
    push(out, &table, layout);
    let more = device.streams.len().saturating_sub(most);
    if more > 0 {
        let text = format!("and {}; -v shows all", counted(more as u64, "more stream"));
        paragraph(out, &text, "   ", "   ", layout);
    }
}

fn calls(out: &mut String, trace: &Trace, layout: &Layout) {
    out.push('\n');
    let mut table = Table::new([
        Column::left("calls of the host").truncated(1, 20),
        Column::right("number"),
        Column::right("total"),
        Column::right("median"),
        Column::right("device busy meanwhile"),
    ]);
    let most = if layout.is_verbose {
        usize::MAX
    } else {
        FEW_CALLS
    };
    for call in trace.calls.iter().take(most) {
        table.row([
            call.name.clone(),
            call.durations.count.to_string(),
            time(call.durations.sum_ns),
            time(call.durations.median_ns),
            call.while_busy_ns.map_or_else(String::new, time),
        ]);
    }
    push(out, &table, layout);
    let more = trace.calls.len().saturating_sub(most);
    if more > 0 {
        let text = format!(
            "and {}; -v shows all",
            counted(more as u64, "more function")
        );
        paragraph(out, &text, "   ", "   ", layout);
    }
}

/// All devices of all traces beside each other.
fn compare(out: &mut String, traces: &[Trace], layout: &Layout) {
    out.push('\n');
    layout.heading(out, "All devices");
    let mut table = Table::new([
        Column::left("trace").truncated(1, 16),
        Column::right("rank"),
        Column::right("device"),
        Column::right("span"),
        Column::right("kernels"),
        Column::right("copies"),
        Column::right("idle"),
    ]);
    for trace in traces {
        for device in &trace.devices {
            let share = |ns: f64| percent(ns / device.span_ns.max(1.0));
            table.row([
                shown_name(&trace.file),
                trace.rank.map_or_else(
                    || layout.charset.absent().to_owned(),
                    |rank| rank.to_string(),
                ),
                device.number.to_string(),
                time(device.span_ns),
                share(device.kernel_ns),
                share(device.copy_ns),
                share(device.idle_ns),
            ]);
        }
    }
    push(out, &table, layout);
}

fn warnings(out: &mut String, document: &Document, layout: &Layout) {
    /// More are counted only.
    const MOST: usize = 12;
    if document.warnings.is_empty() {
        return;
    }
    out.push('\n');
    let text = |warning: &Warning| {
        let trace = warning.trace.and_then(|place| document.traces.get(place));
        match trace.filter(|_| document.traces.len() > 1) {
            Some(trace) => format!("{}: {}", shown_name(&trace.file), warning.message),
            None => warning.message.clone(),
        }
    };
    let mark = Role::Warning.mark();
    for warning in document.warnings.iter().take(MOST) {
        layout.paragraph(
            out,
            &format!("{mark} {}", text(warning)),
            "",
            "  ",
            Some(Role::Dim),
        );
    }
    let more = document.warnings.len().saturating_sub(MOST);
    if more > 0 {
        let more = counted(more as u64, "more warning");
        paragraph(
            out,
            &format!("and {more}; --format json lists all"),
            "",
            "",
            layout,
        );
    }
}

/// A file name for people: that of standard input is a dash.
pub(super) fn shown_name(file: &str) -> String {
    if file == "-" {
        "standard input".to_owned()
    } else {
        file.to_owned()
    }
}
