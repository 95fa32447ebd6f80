//! Ranks beside each other: who stands out, and the figures of all.

use ridge_model::quantity::{Nanos, counted};
use ridge_trace::document::{Document, RankKernel, RankRow, Ranks};

use super::text::{paragraph, percent, push, shown_name};
use crate::kernel_name::{base_name, shorten};
use crate::page::Layout;
use crate::style::Role;
use crate::table::{Column, Table};

/// Rows that are shown without `-v`.
const FEW_KERNELS: usize = 8;
const FEW_ODD: usize = 4;

/// The trace whose page says most: that of the rank that comes last or stands out, else the first.
fn telling(ranks: &Ranks) -> usize {
    let last = ranks.last.as_ref().and_then(|last| last.member);
    let member = last.or_else(|| ranks.odd.first().map(|odd| odd.member));
    let row = member.and_then(|member| ranks.members.get(member));
    row.map_or(0, |row| row.trace)
}

pub(super) fn write(out: &mut String, ranks: &Ranks, layout: &Layout) {
    layout.heading(out, &heading(ranks));
    layout.paragraph(out, &ranks.title, "", "", None);
    out.push('\n');
    push(out, &members(ranks, layout), layout);
    // The title tells the first one.
    let listed = match ranks.odd.len() {
        1 => &[],
        _ => &ranks.odd[..],
    };
    let most = if layout.is_verbose {
        usize::MAX
    } else {
        FEW_ODD
    };
    for odd in listed.iter().take(most) {
        let name = label(&ranks.members, odd.member);
        let text = format!("{} {name}: {}", Role::Warning.mark(), odd.title);
        layout.paragraph(out, &text, "   ", "     ", None);
    }
    let more = listed.len().saturating_sub(most);
    if more > 0 {
        let text = format!("and {}; -v shows all", counted(more as u64, "more figure"));
        paragraph(out, &text, "   ", "   ", layout);
    }
    if ranks.is_one_program && !ranks.kernels.is_empty() {
        out.push('\n');
        kernels(out, ranks, layout);
    }
    for line in waits(ranks) {
        paragraph(out, &line, "   ", "     ", layout);
    }
    for remark in &ranks.remarks {
        let text = format!("{} {remark}", Role::Warning.mark());
        layout.paragraph(out, &text, "   ", "     ", Some(Role::Dim));
    }
}

pub(super) fn heading(ranks: &Ranks) -> String {
    let count = ranks.members.len();
    if are_ranks(ranks) {
        format!("{count} ranks")
    } else {
        format!("{count} traces beside each other")
    }
}

/// Whether each is named by its rank.
fn are_ranks(ranks: &Ranks) -> bool {
    let is_rank = |row: &RankRow| {
        row.rank
            .is_some_and(|rank| row.label == format!("rank {rank}"))
    };
    ranks.members.iter().all(is_rank)
}

pub(super) fn label(rows: &[RankRow], member: usize) -> String {
    rows.get(member)
        .map_or_else(String::new, |row| shown_name(&row.label))
}

fn time(ns: f64) -> String {
    Nanos::new(ns).to_string()
}

/// Kernels in which ranks wait, by what shows it.
pub(super) fn waits(ranks: &Ranks) -> Vec<String> {
    let met = |kernel: &RankKernel| {
        let meeting = kernel.meeting.as_ref()?;
        Some(format!(
            "ranks wait for each other in {}: launches begin {} apart and end {} apart (medians)",
            base_name(&kernel.name),
            time(meeting.starts_apart_ns),
            time(meeting.ends_apart_ns)
        ))
    };
    ranks.kernels.iter().filter_map(met).collect()
}

fn members(ranks: &Ranks, layout: &Layout) -> Table {
    let waits = ranks
        .members
        .iter()
        .any(|row| row.wait_ns.is_some_and(|ns| ns > 0.0));
    let mut columns = vec![
        Column::left(if are_ranks(ranks) { "rank" } else { "trace" }).truncated(1, 16),
        Column::right("span"),
        Column::right("busy"),
        Column::right("idle"),
        Column::right("kernels"),
    ];
    if waits {
        columns.push(Column::right("of it waiting for ranks"));
    }
    columns.push(Column::right("copies"));
    let mut table = Table::new(columns);
    for (place, row) in ranks.members.iter().enumerate() {
        let mut cells = vec![
            label(&ranks.members, place),
            time(row.span_ns),
            percent(row.busy_share),
            percent(row.idle_share),
            time(row.kernel_ns),
        ];
        if waits {
            cells.push(
                row.wait_ns
                    .map_or_else(|| layout.charset.absent().to_owned(), time),
            );
        }
        cells.push(time(row.copy_ns));
        table.row(cells);
    }
    table
}

/// The least and the largest median, each with whose it is; of the ranks that launch the kernel.
pub(super) fn extremes(ranks: &Ranks, kernel: &RankKernel) -> Option<[(f64, String); 2]> {
    let known = || {
        let medians = kernel.medians_ns.iter().enumerate();
        medians.filter_map(|(member, median)| Some((member, (*median)?)))
    };
    let least = known().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let most = known().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some([least, most].map(|(member, ns)| (ns, label(&ranks.members, member))))
}

/// How often a kernel is launched, where all ranks launch it equally often.
pub(super) fn launches(kernel: &RankKernel) -> String {
    let least = kernel.launches.iter().min().copied().unwrap_or(0);
    let most = kernel.launches.iter().max().copied().unwrap_or(0);
    if least == most {
        least.to_string()
    } else {
        format!("{least} to {most}")
    }
}

fn kernels(out: &mut String, ranks: &Ranks, layout: &Layout) {
    let mut table = Table::new([
        Column::left("kernel, medians of each").truncated(1, 24),
        Column::right("runs"),
        Column::right("share"),
        Column::right("median"),
        Column::right("least"),
        Column::left("by").truncated(1, 8),
        Column::right("most"),
        Column::left("by").truncated(1, 8),
    ]);
    let most = if layout.is_verbose {
        usize::MAX
    } else {
        FEW_KERNELS
    };
    for kernel in ranks.kernels.iter().take(most) {
        let Some([least, largest]) = extremes(ranks, kernel) else {
            continue;
        };
        table.row([
            shorten(&kernel.name, 50, layout.charset),
            launches(kernel),
            percent(kernel.time_share),
            time(kernel.median_ns),
            time(least.0),
            least.1,
            time(largest.0),
            largest.1,
        ]);
    }
    push(out, &table, layout);
    let more = ranks.kernels.len().saturating_sub(most);
    if more > 0 {
        let text = format!("and {}; -v shows all", counted(more as u64, "more kernel"));
        paragraph(out, &text, "   ", "   ", layout);
    }
}

/// The one trace that is shown of many, unless all are wanted; two are read beside each other.
pub(super) fn only(document: &Document) -> Option<usize> {
    let ranks = document.ranks.as_ref()?;
    (ranks.members.len() > 2 && document.traces.len() > 1).then(|| telling(ranks))
}

/// Which pages of several traces are left out, in words.
pub(super) fn left_out(document: &Document, shown: usize) -> String {
    let file = document
        .traces
        .get(shown)
        .map_or_else(String::new, |trace| shown_name(&trace.file));
    format!("the page of {file} follows; -v shows those of all")
}
