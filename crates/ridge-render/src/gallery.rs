//! The gallery: a list of cases, and everything about one, for a terminal and as Markdown.

use std::fmt::Write;

use ridge_diagnose::document::{Class, Resource};
use ridge_diagnose::is_verdict;
use ridge_learn::gallery::document::{CaseRow, Document, Measured};
use ridge_learn::gallery::{Diagnosed, Found};
use ridge_model::quantity::{Bytes, Flops, Nanos, Ratio, grouped};

use crate::escape;
use crate::page::Layout;
use crate::style::Role;
use crate::table::{Cell, Column, Table};

/// Where the figures come from.
const ORIGIN: &str = "Medians on one NVIDIA H200, clocks not locked, no profiler; hot: data in the caches, cold: after the L2 was overwritten.";

/// What a version is called that runs at a limit, and has no fixed one beside it.
const ALONE: &str = "at its limit";

fn micros(value: f64) -> String {
    Nanos::new(value * 1e3).to_string()
}

fn share(value: f64) -> String {
    Ratio::new(value).to_string()
}

fn or_dash(value: Option<String>, layout: &Layout) -> String {
    value.unwrap_or_else(|| layout.charset.absent().to_owned())
}

/// The list of cases.
#[must_use]
pub fn list(document: &Document, layout: &Layout) -> String {
    let mut table = Table::new([
        Column::left("case"),
        Column::left("finding"),
        Column::right("slow"),
        Column::right("fixed"),
        Column::right("saved"),
        Column::left("what it shows").truncated(1, 16),
    ]);
    for case in &document.cases {
        table.row([
            Cell::from(case.name.as_str()),
            Cell::from(case.finding.as_str()),
            Cell::from(micros(case.measured.slow_hot_us)),
            Cell::from(or_dash(case.measured.fixed_hot_us.map(micros), layout)),
            Cell::from(or_dash(case.measured.saved.map(share), layout)),
            Cell::from(case.title.as_str()),
        ]);
    }
    let mut out = table.render(layout.columns, layout.charset, layout.painter);
    out.push('\n');
    let count = document.cases.len();
    let text = format!(
        "{count} cases; times are hot. `ridge gallery CASE` shows one; a case without a fixed version runs at a limit of the device. {ORIGIN}"
    );
    layout.paragraph(&mut out, &text, "", "", Some(Role::Dim));
    out
}

/// Everything about one case.
#[must_use]
pub fn case(case: &CaseRow, layout: &Layout) -> String {
    let mut out = String::new();
    layout.heading(&mut out, &format!("{}: {}", case.name, case.title));
    let mut finding = format!("finding: {}", case.finding);
    if !case.also_right.is_empty() {
        let _ = write!(finding, "; also right: {}", case.also_right.join(", "));
    }
    layout.paragraph(&mut out, &finding, "  ", "  ", None);
    for (title, text) in parts(case) {
        out.push('\n');
        layout.heading(&mut out, title);
        for paragraph in text.split("\n\n") {
            layout.paragraph(
                &mut out,
                &paragraph.replace('\n', " ").replace('`', ""),
                "  ",
                "  ",
                None,
            );
        }
    }
    out.push('\n');
    layout.heading(&mut out, "Measured");
    let mut table = Table::new([
        Column::left("version"),
        Column::right("hot"),
        Column::right("cold"),
        Column::right("bytes/s"),
        Column::right("FLOP/s"),
    ]);
    for row in times(&case.measured) {
        table.row(row.map(|cell| or_dash(cell, layout)));
    }
    for line in table
        .render(
            layout.columns.saturating_sub(2),
            layout.charset,
            layout.painter,
        )
        .lines()
    {
        let _ = writeln!(out, "  {line}");
    }
    for line in saved(case) {
        layout.paragraph(&mut out, &line, "  ", "  ", None);
    }
    layout.paragraph(&mut out, ORIGIN, "  ", "  ", Some(Role::Dim));
    out.push('\n');
    layout.heading(&mut out, "Diagnosed");
    for (version, diagnosed) in versions(case) {
        layout.paragraph(&mut out, &limited(version, diagnosed), "  ", "    ", None);
        for line in details(diagnosed) {
            layout.paragraph(&mut out, &line, "    ", "      ", None);
        }
        for found in &diagnosed.findings {
            let role = if is_verdict(&found.id) {
                Role::Good
            } else {
                Role::Warning
            };
            let mut line = String::new();
            let mark = role.mark();
            layout.paragraph(
                &mut line,
                &format!("{mark} {}", finding_text(found)),
                "    ",
                "      ",
                None,
            );
            out.push_str(&line.replacen(mark, &layout.painter.paint(role, mark).to_string(), 1));
        }
        if diagnosed.findings.is_empty() {
            layout.paragraph(&mut out, "no finding", "    ", "    ", None);
        }
    }
    if let Some(source) = &case.source {
        out.push('\n');
        layout.heading(&mut out, "Source");
        for line in source.lines() {
            let _ = writeln!(out, "  {}", escape::terminal(line));
        }
    }
    out
}

/// The list, or the page of one case, as Markdown.
#[must_use]
pub fn markdown(document: &Document) -> String {
    let mut out = String::new();
    let md = |text: &str| escape::markdown(text).into_owned();
    let [case] = document.cases.as_slice() else {
        out.push_str("| case | finding | slow | fixed | saved | what it shows |\n|---|---|--:|--:|--:|---|\n");
        for case in &document.cases {
            let dash = |value: Option<String>| value.unwrap_or_else(|| "–".to_owned());
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} | {} |",
                escape::markdown_code(&case.name),
                escape::markdown_code(&case.finding),
                micros(case.measured.slow_hot_us),
                dash(case.measured.fixed_hot_us.map(micros)),
                dash(case.measured.saved.map(share)),
                md(&case.title)
            );
        }
        let _ = write!(out, "\n{ORIGIN}\n");
        return out;
    };
    let _ = writeln!(
        out,
        "# {}: {}\n",
        escape::markdown_code(&case.name),
        md(&case.title)
    );
    let _ = writeln!(out, "Finding: {}", escape::markdown_code(&case.finding));
    for (title, text) in parts(case) {
        // These are Markdown already: the sections of our own pages.
        let _ = write!(out, "\n## {title}\n\n{text}\n");
    }
    out.push_str(
        "\n## Measured\n\n| version | hot | cold | bytes/s | FLOP/s |\n|---|--:|--:|--:|--:|\n",
    );
    for row in times(&case.measured) {
        let cells = row.map(|cell| cell.unwrap_or_else(|| "–".to_owned()));
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out.push('\n');
    for line in saved(case) {
        let _ = writeln!(out, "{}", md(&line));
    }
    let _ = write!(out, "\n{ORIGIN}\n\n## Diagnosed\n");
    for (version, diagnosed) in versions(case) {
        let _ = write!(out, "\n{}\n\n", md(&limited(version, diagnosed)));
        for line in details(diagnosed) {
            let _ = writeln!(out, "* {}", md(&line));
        }
        for found in &diagnosed.findings {
            let _ = writeln!(out, "* {}", md(&finding_text(found)));
        }
        if diagnosed.findings.is_empty() {
            out.push_str("* no finding\n");
        }
    }
    if let Some(source) = &case.source {
        // No source of the gallery has a fence in it; a longer one than any run of ticks would hold it all the same.
        let longest = source
            .split(|letter| letter != '`')
            .map(str::len)
            .max()
            .unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        let _ = write!(
            out,
            "\n## Source\n\n{fence}cuda\n{}\n{fence}\n",
            source.trim_end()
        );
    }
    out
}

/// The explanation.
fn parts(case: &CaseRow) -> Vec<(&str, &str)> {
    let sections = case.sections.iter();
    let mut parts: Vec<(&str, &str)> = sections
        .map(|section| (section.heading.as_str(), section.text.as_str()))
        .collect();
    parts.extend(case.note.as_deref().map(|note| ("Note", note)));
    parts
}

/// A row for each version: name, times, and the least that is needed over the hot time.
fn times(measured: &Measured) -> Vec<[Option<String>; 5]> {
    let row = |name: &str, hot: f64, cold: Option<f64>| {
        let hot_time = Nanos::new(hot * 1e3);
        [
            Some(name.to_owned()),
            Some(micros(hot)),
            cold.map(micros),
            Some(Bytes::new(measured.min_bytes).per(hot_time).to_string()),
            (measured.flops > 0.0)
                .then(|| Flops::new(measured.flops).get() / hot_time.seconds())
                .map(|rate| ridge_model::quantity::ComputeRate::new(rate).to_string()),
        ]
    };
    let Some(fixed_hot) = measured.fixed_hot_us else {
        return vec![row(
            ALONE,
            measured.slow_hot_us,
            Some(measured.slow_cold_us),
        )];
    };
    vec![
        row("slow", measured.slow_hot_us, Some(measured.slow_cold_us)),
        row("fixed", fixed_hot, measured.fixed_cold_us),
    ]
}

/// What the fix saved.
fn saved(case: &CaseRow) -> Vec<String> {
    let measured = &case.measured;
    let mut lines = vec![
        "bytes and FLOP are the least that the computation needs, over the hot time".to_owned(),
    ];
    if let (Some(saved), Some(fixed)) = (measured.saved, measured.fixed_hot_us) {
        let mut line = format!(
            "saved: {} of the time, {} as fast",
            share(saved),
            Ratio::new(measured.slow_hot_us / fixed).factor()
        );
        if let Some(difference) = measured.difference {
            line.push_str("; the outputs ");
            if difference > 0.0 {
                let _ = write!(line, "differ by {difference:.1e} (relative L2 norm)");
            } else {
                line.push_str("are the same");
            }
        }
        lines.push(line);
    }
    lines
}

fn versions(case: &CaseRow) -> impl Iterator<Item = (&'static str, &Diagnosed)> {
    let name = if case.fixed.is_some() { "slow" } else { ALONE };
    std::iter::once((name, &case.slow)).chain(case.fixed.as_ref().map(|fixed| ("fixed", fixed)))
}

/// What binds a version.
fn limited(version: &str, diagnosed: &Diagnosed) -> String {
    let mut text = format!("{version}: {}", diagnosed.kernel);
    if let (Some(blocks), Some(threads)) = (diagnosed.blocks, diagnosed.threads) {
        let _ = write!(text, ", {} blocks of {threads}", grouped(blocks));
    }
    if let Some(duration) = diagnosed.duration_ns {
        let _ = write!(text, ", {} under the profiler", Nanos::new(duration));
    }
    let class = diagnosed.class.map(|class| match class {
        Class::Memory => "moving data",
        Class::Compute => "executing instructions",
        Class::Latency => "waiting that nothing hides",
        Class::Launch => "being launched",
    });
    match (diagnosed.limiter, class) {
        (Some(Resource::Latency | Resource::Launch), Some(class)) => {
            let _ = write!(text, "; limited by {class}");
        }
        (Some(limiter), Some(class)) => {
            let _ = write!(text, "; limited by {} ({class})", limiter.label());
        }
        _ => {}
    }
    text
}

/// What is busy and what warps wait for.
fn details(diagnosed: &Diagnosed) -> Vec<String> {
    let mut lines = Vec::new();
    let rows: Vec<String> = diagnosed
        .rows
        .iter()
        .map(|row| format!("{} {}", row.resource.label(), share(row.share)))
        .collect();
    if !rows.is_empty() {
        lines.push(format!("busy: {}", rows.join(", ")));
    }
    let waits: Vec<String> = diagnosed
        .waits
        .iter()
        .map(|wait| format!("{} {}", wait.reason, share(wait.share)))
        .collect();
    if !waits.is_empty() {
        lines.push(format!("warps wait for: {}", waits.join(", ")));
    }
    if let Some(occupancy) = diagnosed.occupancy {
        lines.push(format!("achieved occupancy: {}", share(occupancy)));
    }
    lines
}

fn finding_text(found: &Found) -> String {
    if is_verdict(&found.id) {
        return format!("{}: {}", found.id, found.title);
    }
    let next = found.next.map_or_else(String::new, |next| {
        format!("; next limit: {}", next.label())
    });
    format!(
        "{}: saves about {}, at most {}{next}; {}",
        found.id,
        share(found.expected),
        share(found.at_most),
        found.title
    )
}
