//! All kernels in one table, those that take most time first.

use ridge_diagnose::document::{Document, Kernel};
use ridge_model::quantity::Nanos;

use super::{Page, file_of, heading, kept, percent, saved};
use crate::kernel_name::shorten;
use crate::table::{Column, Table};
use crate::width::width;

/// Rows that are shown without `-v`.
const ROWS: usize = 12;
/// The name column never gets narrower than this.
const LEAST_NAME: usize = 12;
/// Nor the column of the files than this.
const LEAST_FILE: usize = 10;
/// The other columns are hardly ever narrower than this together.
const LEAST_OTHERS: usize = 50;
/// Narrower pages have no room for the number of launches, and for what is busiest where nothing binds.
const WHOLE_FROM: usize = 100;
/// Narrower pages have no room for advice.
const ADVICE_FROM: usize = 72;

/// `files` are the short names of the inputs, where there are several: then each row tells its own.
pub(super) fn write(
    out: &mut String,
    document: &Document,
    order: &[usize],
    files: &[String],
    page: &Page,
) {
    out.push('\n');
    let has_files = !files.is_empty();
    let title = if has_files {
        "kernels by time; shares are of the time of each file"
    } else {
        "kernels by time"
    };
    heading(out, title, page);
    let widest = files.iter().map(|file| width(file)).max().unwrap_or(0);
    let shown = if page.is_verbose {
        order.len()
    } else {
        order.len().min(ROWS.max(page.top))
    };
    let is_whole = page.columns >= WHOLE_FROM;
    let is_kept = [
        true,
        is_whole,
        true,
        true,
        page.columns >= ADVICE_FROM,
        has_files,
        true,
    ];
    let mut table = Table::new(kept(
        is_kept,
        [
            Column::right("share"),
            Column::right("launches"),
            Column::right("median"),
            Column::left("limited by").truncated(1, 8),
            Column::left("first advice").truncated(1, 12),
            Column::left("file").truncated(2, LEAST_FILE),
            Column::left("kernel").truncated(2, LEAST_NAME),
        ],
    ));
    for index in &order[..shown] {
        if let Some(kernel) = document.kernels.get(*index) {
            let cells = [
                kernel
                    .time_share
                    .map_or_else(|| page.charset.absent().to_owned(), percent),
                launches(kernel).to_string(),
                time(kernel, page),
                limiter(kernel, page),
                advice(kernel),
                file_of(document, kernel, files)
                    .unwrap_or_default()
                    .to_owned(),
                shorten(
                    &kernel.signature,
                    page.columns
                        .saturating_sub(LEAST_OTHERS + widest)
                        .max(LEAST_NAME),
                    page.charset,
                ),
            ];
            table.row(kept(is_kept, cells));
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

/// Those of the program, where they were timed apart from the profiled ones.
fn launches(kernel: &Kernel) -> u64 {
    let of_input = u64::try_from(kernel.launches.len()).unwrap_or(u64::MAX);
    kernel.timed.map_or(of_input, |timed| timed.launches)
}

/// The median, as they were timed apart from the counters where they were; the range stands with the kernel.
fn time(kernel: &Kernel, page: &Page) -> String {
    let apart = kernel.timed.map(|timed| timed.median_ns);
    apart.or(kernel.duration_ns).map_or_else(
        || page.charset.absent().to_owned(),
        |ns| Nanos::new(ns).to_string(),
    )
}

fn limiter(kernel: &Kernel, page: &Page) -> String {
    kernel.limiter.as_ref().map_or_else(
        || page.charset.absent().to_owned(),
        |limiter| {
            if limiter.resource != limiter.busiest && page.columns < WHOLE_FROM {
                limiter.resource.label().to_owned()
            } else if limiter.resource == limiter.busiest {
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
    let Some(finding) = kernel.findings.first() else {
        return kernel
            .outlook
            .as_ref()
            .map_or_else(String::new, |_| "no flaw found".to_owned());
    };
    if ridge_diagnose::is_verdict(&finding.id) {
        finding.id.clone()
    } else {
        format!("{} -{}", finding.id, saved(finding.saving_expected))
    }
}
