//! All kernels in one table, those that take most time first.

use ridge_diagnose::document::{Document, Kernel};
use ridge_model::quantity::{Nanos, or_absent};

use super::{Page, heading, percent};
use crate::kernel_name::shorten;
use crate::table::{Column, Table};

/// Rows that are shown without `-v`.
const ROWS: usize = 12;
/// The name column never gets narrower than this.
const LEAST_NAME: usize = 24;

pub(super) fn write(out: &mut String, document: &Document, order: &[usize], page: &Page) {
    out.push('\n');
    heading(out, "kernels by time", page);
    let shown = if page.is_verbose {
        order.len()
    } else {
        order.len().min(ROWS.max(page.top))
    };
    let mut table = Table::new([
        Column::right("share"),
        Column::right("launches"),
        Column::right("time"),
        Column::left("limited by"),
        Column::right("first advice"),
        Column::left("kernel").truncated(1, LEAST_NAME),
    ]);
    for index in &order[..shown] {
        if let Some(kernel) = document.kernels.get(*index) {
            table.row([
                kernel.time_share.map_or_else(|| "–".to_owned(), percent),
                kernel.launches.len().to_string(),
                time(kernel),
                limiter(kernel),
                advice(kernel),
                shorten(
                    &kernel.signature,
                    page.columns.saturating_sub(60).max(LEAST_NAME),
                    page.charset,
                ),
            ]);
        }
    }
    out.push_str(&table.render(page.columns, page.charset, page.painter));
    if shown < order.len() {
        let rest: f64 = order[shown..]
            .iter()
            .filter_map(|index| document.kernels.get(*index)?.time_share)
            .sum();
        let more = order.len() - shown;
        let line = format!(
            "and {more} more with {} of the time; -v lists them\n",
            percent(rest)
        );
        out.push_str(&line);
    }
}

/// The median, and the range where launches differ.
fn time(kernel: &Kernel) -> String {
    let median = or_absent(kernel.duration_ns.map(Nanos::new)).to_string();
    match (kernel.duration_min_ns, kernel.duration_max_ns) {
        (Some(low), Some(high)) if kernel.launches.len() > 1 => {
            format!("{median} ({} to {})", Nanos::new(low), Nanos::new(high))
        }
        _ => median,
    }
}

fn limiter(kernel: &Kernel) -> String {
    kernel.limiter.as_ref().map_or_else(
        || "–".to_owned(),
        |limiter| {
            if limiter.resource == limiter.busiest {
                format!("{} {}", limiter.resource.label(), percent(limiter.share))
            } else {
                format!(
                    "{} ({} {})",
                    limiter.resource.label(),
                    limiter.busiest.label(),
                    percent(limiter.share)
                )
            }
        },
    )
}

fn advice(kernel: &Kernel) -> String {
    kernel.findings.first().map_or_else(String::new, |finding| {
        if ridge_diagnose::is_verdict(&finding.id) {
            finding.id.clone()
        } else {
            format!("{} -{}", finding.id, percent(finding.saving_expected))
        }
    })
}
