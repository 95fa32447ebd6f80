//! The pages of `ridge history`: lists of results, one result, and two side by side.

use std::fmt::Write;

use ridge_history::json::{Change, Comparison, Entry, Exchange, Label, Listing, PointEntry};
use ridge_model::quantity::{Amount, Bytes, Hertz, Nanos, Ratio, Unit, counted, grouped};

use crate::escape;
use crate::page::Layout;
use crate::style::Role;
use crate::table::{Cell, Column, Table};

/// Digits of an identifier that people read.
const ID: usize = 12;
/// Digits of a commit.
const COMMIT: usize = 10;

/// A list of results.
#[must_use]
pub fn list(listing: &Listing, layout: &Layout) -> String {
    let mut out = String::new();
    if listing.results.is_empty() {
        let _ = writeln!(
            out,
            "no such result in {}",
            escape::terminal(&listing.store)
        );
        return out;
    }
    let dash = layout.charset.absent();
    let mut table = Table::new([
        Column::left("result"),
        Column::left("time (UTC)"),
        Column::left("command"),
        name("name", 1, 8, layout),
        name("GPU", 2, 8, layout),
        Column::left("commit"),
        name("branch", 3, 6, layout),
        name("labels", 4, 6, layout),
    ]);
    for entry in &listing.results {
        table.row([
            Cell::styled(Role::Emphasis, &start(&entry.id, ID)),
            time(entry).into(),
            entry.kind.clone().into(),
            entry.name.clone().into(),
            entry.gpu.clone().unwrap_or_else(|| dash.to_owned()).into(),
            commit(entry).unwrap_or_else(|| dash.to_owned()).into(),
            entry
                .branch
                .clone()
                .unwrap_or_else(|| dash.to_owned())
                .into(),
            labels(&entry.labels).into(),
        ]);
    }
    out.push_str(&table.render(layout.columns, layout.charset, layout.painter));
    let shown = u64::try_from(listing.results.len()).unwrap_or(u64::MAX);
    let of = if shown < listing.total {
        format!(
            "the newest {} of {}",
            grouped(shown),
            counted(listing.total, "result")
        )
    } else {
        counted(listing.total, "result")
    };
    let _ = writeln!(out, "\n{of} in {}", escape::terminal(&listing.store));
    if listing
        .results
        .iter()
        .any(|entry| entry.is_dirty == Some(true))
    {
        out.push_str("+ behind a commit: files differed from it\n");
    }
    out
}

/// A column of names, which are looked for again: with `-v` they are whole.
fn name(header: &str, priority: u8, least: usize, layout: &Layout) -> Column {
    let column = Column::left(header);
    if layout.is_verbose {
        column.wrapped(priority, least)
    } else {
        column.told_apart(priority, least)
    }
}

/// One result.
#[must_use]
pub fn show(record: &Exchange, layout: &Layout) -> String {
    let entry = &record.result;
    let mut facts = Table::new([Column::left(""), Column::left("").wrapped(1, 20)]);
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            facts.row([Cell::styled(Role::Dim, name), value.into()]);
        }
    };
    fact("result", Some(entry.id.clone()));
    fact("time", Some(entry.time.clone()));
    fact(
        "command",
        Some(
            entry
                .command
                .clone()
                .unwrap_or_else(|| format!("ridge {}", entry.kind)),
        ),
    );
    fact("name", Some(entry.name.clone()));
    fact("host", entry.host.clone());
    let gpu = entry.gpu.clone().map(|gpu| match &entry.gpu_uuid {
        Some(uuid) => format!("{gpu} ({uuid})"),
        None => gpu,
    });
    fact("GPU", gpu);
    fact("driver", entry.driver.clone());
    fact("SM clock", clock(entry));
    let revision = entry.commit.clone().map(|commit| {
        let changed = match entry.is_dirty {
            Some(true) => ", with changes that are not in it",
            Some(false) => "",
            None => ", perhaps with changes that are not in it",
        };
        format!("{commit}{changed}")
    });
    fact("commit", revision);
    fact("branch", entry.branch.clone());
    fact(
        "labels",
        Some(labels(&entry.labels)).filter(|labels| !labels.is_empty()),
    );
    fact("ridge", entry.tool_version.clone());
    let mut out = without_head(&facts.render(layout.columns, layout.charset, layout.painter));
    if record.points.is_empty() {
        out.push_str("\nno numbers that make a series\n");
        return out;
    }
    let mut table = Table::new([
        Column::left("what").wrapped(1, 24),
        Column::left("metric"),
        Column::right("value"),
        Column::left("95 % interval"),
        Column::right("samples"),
    ]);
    let dash = layout.charset.absent();
    for point in &record.points {
        let interval = point.low.zip(point.high).map(|(low, high)| {
            format!(
                "{} to {}",
                amount(low, &point.unit),
                amount(high, &point.unit)
            )
        });
        table.row([
            point.subject.clone(),
            point.metric.clone(),
            amount(point.value, &point.unit),
            interval.unwrap_or_else(|| dash.to_owned()),
            point.samples.map_or_else(|| dash.to_owned(), grouped),
        ]);
    }
    out.push('\n');
    out.push_str(&table.render(layout.columns, layout.charset, layout.painter));
    out
}

/// Two results side by side.
#[must_use]
pub fn compare(comparison: &Comparison, layout: &Layout) -> String {
    let mut out = String::new();
    let mut sides = Table::new([
        Column::left(""),
        Column::left("result"),
        Column::left("time (UTC)"),
        name("name", 1, 8, layout),
        name("GPU", 2, 8, layout),
        Column::left("commit"),
        name("branch", 3, 6, layout),
    ]);
    let dash = layout.charset.absent();
    let or = |text: Option<String>| text.unwrap_or_else(|| dash.to_owned());
    for (side, entry) in [("before", &comparison.before), ("after", &comparison.after)] {
        sides.row([
            Cell::styled(Role::Dim, side),
            start(&entry.id, ID).into(),
            time(entry).into(),
            entry.name.clone().into(),
            or(entry.gpu.clone()).into(),
            or(commit(entry)).into(),
            or(entry.branch.clone()).into(),
        ]);
    }
    out.push_str(&sides.render(layout.columns, layout.charset, layout.painter));
    for warning in &comparison.warnings {
        let _ = writeln!(out, "! {}", escape::terminal(warning));
    }
    if comparison.changes.is_empty() {
        out.push_str("\nthe two have no number in common\n");
    } else {
        let mut table = Table::new([
            Column::left("what").wrapped(1, 24),
            Column::left("metric"),
            Column::right("before"),
            Column::right("after"),
            Column::right("change"),
            Column::left("95 % interval"),
            Column::left("verdict"),
        ]);
        for change in &comparison.changes {
            table.row(cells(change, dash));
        }
        out.push('\n');
        out.push_str(&table.render(layout.columns, layout.charset, layout.painter));
        for change in &comparison.changes {
            if let Some(reason) = &change.reason {
                let what = format!("{} {}: {reason}", change.subject, change.metric);
                let _ = writeln!(out, "! {}", escape::terminal(&what));
            }
        }
        if comparison
            .changes
            .iter()
            .any(|change| change.verdict.is_none())
        {
            out.push_str(
                "\nNumbers without samples have no verdict: what they differ by can be noise.\n",
            );
        }
    }
    alone(&mut out, &comparison.only_before, "only before");
    alone(&mut out, &comparison.only_after, "only after");
    out
}

fn cells(change: &Change, dash: &str) -> Vec<Cell> {
    let percent = |ratio: f64| format!("{:+.1} %", (ratio - 1.0) * 100.0);
    let interval = change
        .ratio_low
        .zip(change.ratio_high)
        .map(|(low, high)| format!("{} to {}", percent(low), percent(high)));
    let verdict = change.verdict.as_deref().map(|verdict| {
        let role = match verdict {
            "faster" => Role::Good,
            "slower" | "invalid" => Role::Bad,
            "ambiguous" => Role::Warning,
            _ => Role::Dim,
        };
        Cell::styled(role, &verdict.to_ascii_uppercase())
    });
    vec![
        change.subject.clone().into(),
        change.metric.clone().into(),
        amount(change.before, &change.unit).into(),
        amount(change.after, &change.unit).into(),
        change.ratio.map_or_else(|| dash.to_owned(), percent).into(),
        interval.unwrap_or_else(|| dash.to_owned()).into(),
        verdict.unwrap_or_else(|| dash.to_owned().into()),
    ]
}

fn alone(out: &mut String, points: &[PointEntry], side: &str) {
    /// More are counted only.
    const MOST: usize = 8;
    if points.is_empty() {
        return;
    }
    let names: Vec<String> = points
        .iter()
        .take(MOST)
        .map(|point| format!("{} {}", point.subject, point.metric))
        .collect();
    let more = points.len().saturating_sub(MOST);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let _ = writeln!(out, "{side}: {}{more}", escape::terminal(&names.join(", ")));
}

/// A value as people read it.
#[must_use]
pub fn amount(value: f64, unit: &str) -> String {
    match unit {
        "ns" => Nanos::new(value).to_string(),
        "bytes" => Bytes::new(value).to_string(),
        "fraction" => Ratio::new(value).to_string(),
        "B/s" => Amount::new(value, Unit::BYTES_PER_SECOND).to_string(),
        "FLOP/s" => Amount::new(value, Unit::FLOPS_PER_SECOND).to_string(),
        "OP/s" => Amount::new(value, Unit::from_static("OP/s")).to_string(),
        // Units of later versions, and counts: the word behind the number says what it is.
        other => format!("{value} {other}"),
    }
}

fn start(text: &str, digits: usize) -> String {
    text.chars().take(digits).collect()
}

/// To the second, and without the letters.
fn time(entry: &Entry) -> String {
    let whole = entry.time.trim_end_matches('Z');
    let (seconds, _) = whole.split_once('.').unwrap_or((whole, ""));
    seconds.replace('T', " ")
}

fn commit(entry: &Entry) -> Option<String> {
    let mark = if entry.is_dirty == Some(true) {
        "+"
    } else {
        ""
    };
    Some(format!("{}{mark}", start(entry.commit.as_deref()?, COMMIT)))
}

fn clock(entry: &Entry) -> Option<String> {
    let (low, high) = entry.sm_clock_low_hz.zip(entry.sm_clock_high_hz)?;
    let (low, high) = (Hertz::new(low).to_string(), Hertz::new(high).to_string());
    Some(if low == high {
        low
    } else {
        format!("{low} to {high}")
    })
}

fn labels(labels: &[Label]) -> String {
    labels
        .iter()
        .map(|label| match label.value.as_str() {
            "" => label.name.clone(),
            value => format!("{}={value}", label.name),
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// A table whose columns need no names.
fn without_head(table: &str) -> String {
    table
        .split_once('\n')
        .map_or("", |(_, rows)| rows)
        .to_owned()
}
