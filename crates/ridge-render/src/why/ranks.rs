//! Ranks of one program beside each other, kernel by kernel.

use ridge_diagnose::document::{Document, Kernel, RankedKernel, Ranks};
use ridge_model::quantity::Nanos;

use super::{Page, heading, paragraph};
use crate::kernel_name::shorten;
use crate::table::{Column, Table};

/// Rows that are shown without `-v`.
const ROWS: usize = 8;

pub(super) fn write(out: &mut String, document: &Document, page: &Page) {
    let Some(ranks) = &document.ranks else {
        return;
    };
    out.push('\n');
    let are_ranks = ranks.members.iter().all(|member| {
        let rank = member.rank.map(|rank| format!("rank {rank}"));
        rank.as_ref() == Some(&member.label)
    });
    let what = if are_ranks { "ranks" } else { "collections" };
    heading(
        out,
        &format!("{} {what} beside each other", ranks.members.len()),
        page,
    );
    paragraph(out, &ranks.title, "", "", page);
    if ranks.kernels.is_empty() {
        return;
    }
    let mut table = Table::new([
        Column::left("kernel").truncated(1, 16),
        Column::right("on"),
        Column::right("median"),
        Column::right("least"),
        Column::left("by").truncated(2, 8),
        Column::right("most"),
        Column::left("by").truncated(2, 8),
        Column::left("limited by").truncated(1, 12),
        Column::left("first advice").truncated(1, 12),
    ]);
    let shown = if page.is_verbose { usize::MAX } else { ROWS };
    for kernel in ranks.kernels.iter().take(shown) {
        row(&mut table, document, ranks, kernel, page);
    }
    out.push_str(&table.render(page.columns, page.charset, page.painter));
    let more = ranks.kernels.len().saturating_sub(shown);
    if more > 0 {
        let line = format!("and {more} more; -v lists them\n");
        out.push_str(&line);
    }
}

fn row(table: &mut Table, document: &Document, ranks: &Ranks, kernel: &RankedKernel, page: &Page) {
    let absent = page.charset.absent();
    let time =
        |ns: Option<f64>| ns.map_or_else(|| absent.to_owned(), |ns| Nanos::new(ns).to_string());
    let label = |member: usize| {
        ranks
            .members
            .get(member)
            .map_or_else(String::new, |member| member.label.clone())
    };
    let known = || {
        let durations = kernel.durations_ns.iter().enumerate();
        durations.filter_map(|(member, ns)| Some((member, (*ns)?)))
    };
    let least = known().min_by(|a, b| a.1.total_cmp(&b.1));
    let most = known().max_by(|a, b| a.1.total_cmp(&b.1));
    let said = |end: Option<(usize, f64)>| {
        (
            time(end.map(|(_, ns)| ns)),
            end.map_or_else(|| absent.to_owned(), |(member, _)| label(member)),
        )
    };
    let ((least, least_by), (most, most_by)) = (said(least), said(most));
    let on = kernel.places.iter().flatten().count();
    table.row([
        shorten(&kernel.signature, 40, page.charset),
        on.to_string(),
        time(kernel.median_ns),
        least,
        least_by,
        most,
        most_by,
        shared(document, ranks, kernel, absent, |kernel| {
            Some(kernel.limiter.as_ref()?.resource.label().to_owned())
        }),
        shared(document, ranks, kernel, "no flaw found", |kernel| {
            Some(kernel.findings.first()?.id.clone())
        }),
    ]);
}

/// What most ranks have, and who has something else.
fn shared(
    document: &Document,
    ranks: &Ranks,
    kernel: &RankedKernel,
    otherwise: &str,
    of: impl Fn(&Kernel) -> Option<String>,
) -> String {
    let mut said: Vec<(String, Vec<usize>)> = Vec::new();
    for (member, place) in kernel.places.iter().enumerate() {
        let Some(kernel) = place.and_then(|place| document.kernels.get(place)) else {
            continue;
        };
        let word = of(kernel).unwrap_or_else(|| otherwise.to_owned());
        match said.iter_mut().find(|(known, _)| *known == word) {
            Some((_, members)) => members.push(member),
            None => said.push((word, vec![member])),
        }
    }
    // The first of equals stays in front.
    said.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
    let mut parts = said.into_iter();
    let mut text = parts.next().map_or_else(String::new, |(word, _)| word);
    for (word, members) in parts {
        let who = match members[..] {
            [one] => ranks
                .members
                .get(one)
                .map_or_else(String::new, |member| member.label.clone()),
            _ => format!("{} others", members.len()),
        };
        text.extend(["; ", &word, " on ", &who]);
    }
    text
}
