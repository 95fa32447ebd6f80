//! The same in short as Markdown, for a pull request or a page.

use std::fmt::Write;

use ridge_model::quantity::Nanos;
use ridge_trace::document::{Device, Document, Ranks, Trace};

use super::ranks::{extremes, heading, label, launches, only, waits};
use super::text::{percent, shown_name};
use super::words;
use crate::escape;

/// Kernels of a table.
const MOST_KERNELS: usize = 10;

/// Writes a part for the comparison, and one for each trace; of many, for the one that says most.
#[must_use]
pub fn markdown(document: &Document) -> String {
    let mut out = String::new();
    if let Some(ranks) = &document.ranks {
        write_ranks(&mut out, ranks);
    }
    let only = only(document);
    let traces = document.traces.iter().enumerate();
    for (_, trace) in traces.filter(|(place, _)| only.is_none_or(|only| only == *place)) {
        if !out.is_empty() {
            out.push('\n');
        }
        write_trace(&mut out, trace);
    }
    if !document.warnings.is_empty() {
        out.push('\n');
    }
    for warning in &document.warnings {
        let trace = warning.trace.and_then(|place| document.traces.get(place));
        let file = trace
            .filter(|_| document.traces.len() > 1)
            .map_or_else(String::new, |trace| {
                format!("{}: ", shown_name(&trace.file))
            });
        let _ = writeln!(out, "* {}", safe(&format!("{file}{}", warning.message)));
    }
    out
}

fn safe(text: &str) -> String {
    escape::markdown(text).into_owned()
}

fn time(ns: f64) -> String {
    Nanos::new(ns).to_string()
}

fn write_ranks(out: &mut String, ranks: &Ranks) {
    let _ = writeln!(
        out,
        "## {}\n\n{}\n",
        safe(&heading(ranks)),
        safe(&ranks.title)
    );
    let _ = writeln!(
        out,
        "| rank | span | busy | idle | kernels | of it waiting for ranks | copies |"
    );
    let _ = writeln!(out, "|---|---:|---:|---:|---:|---:|---:|");
    for (place, row) in ranks.members.iter().enumerate() {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} |",
            safe(&label(&ranks.members, place)),
            time(row.span_ns),
            percent(row.busy_share),
            percent(row.idle_share),
            time(row.kernel_ns),
            row.wait_ns.map_or_else(|| "-".to_owned(), time),
            time(row.copy_ns),
        );
    }
    if !ranks.odd.is_empty() {
        out.push('\n');
    }
    for odd in &ranks.odd {
        let name = label(&ranks.members, odd.member);
        let _ = writeln!(out, "* **{}** {}", safe(&name), safe(&odd.title));
    }
    let is_listed = ranks.is_one_program && !ranks.kernels.is_empty();
    if is_listed {
        let _ = writeln!(
            out,
            "\n| kernel | runs | share | median | least | by | most | by |\n|---|---:|---:|---:|---:|---|---:|---|"
        );
    }
    let listed = ranks.kernels.iter().filter(|_| is_listed);
    for kernel in listed.take(MOST_KERNELS) {
        let Some([least, most]) = extremes(ranks, kernel) else {
            continue;
        };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            escape::markdown_code(&kernel.name),
            launches(kernel),
            percent(kernel.time_share),
            time(kernel.median_ns),
            time(least.0),
            safe(&least.1),
            time(most.0),
            safe(&most.1),
        );
    }
    let notes: Vec<String> = waits(ranks)
        .into_iter()
        .chain(ranks.remarks.clone())
        .collect();
    if !notes.is_empty() {
        out.push('\n');
    }
    for note in notes {
        let _ = writeln!(out, "* {}", safe(&note));
    }
}

fn write_trace(out: &mut String, trace: &Trace) {
    let _ = writeln!(
        out,
        "## {}\n\n{}\n",
        safe(&shown_name(&trace.file)),
        safe(&words::origin(trace))
    );
    if let Some(range) = &trace.range {
        let _ = writeln!(out, "{}\n", safe(&words::range(range)));
    }
    match &trace.verdict {
        Some(verdict) => {
            let _ = writeln!(out, "**{}**", safe(&verdict.title));
        }
        None => out.push_str("no GPU events\n"),
    }
    for device in &trace.devices {
        write_device(out, device);
    }
    if !trace.findings.is_empty() {
        out.push_str("\nFindings:\n\n");
    }
    for finding in &trace.findings {
        let _ = writeln!(
            out,
            "* **{}** saves about {}, at most {} of the span: {}",
            safe(&finding.id),
            percent(finding.saving_expected),
            percent(finding.saving_ceiling),
            safe(&finding.title)
        );
    }
}

fn write_device(out: &mut String, device: &Device) {
    let share = |ns: f64| percent(ns / device.span_ns.max(1.0));
    let _ = writeln!(
        out,
        "\n| device {} | time | of the span |\n|---|---:|---:|",
        safe(&words::device(device))
    );
    for (what, ns) in [
        ("kernels", device.kernel_ns),
        ("copies", device.copy_ns),
        ("copies beside which no kernel runs", device.copy_exposed_ns),
        ("memory set", device.memset_ns),
        ("idle", device.idle_ns),
    ] {
        let _ = writeln!(out, "| {what} | {} | {} |", time(ns), share(ns));
    }
    if device.kernels.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "\n| kernel | runs | total | share | median |\n|---|---:|---:|---:|---:|"
    );
    for kernel in device.kernels.iter().take(MOST_KERNELS) {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} |",
            escape::markdown_code(&kernel.name),
            kernel.durations.count,
            time(kernel.durations.sum_ns),
            percent(kernel.time_share),
            time(kernel.durations.median_ns)
        );
    }
}
