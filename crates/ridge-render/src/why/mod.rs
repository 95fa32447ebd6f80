//! The page of `ridge why` for people: inputs, an overview of the kernels, and the chosen ones explained.

mod compulsory;
mod files;
mod finding;
mod kernel;
mod latency;
mod measured;
mod overview;
mod ranks;
mod source;
mod totals;

use ridge_diagnose::document::{Document, Kernel};
use ridge_model::quantity::Ratio;

use crate::charset::Charset;
use crate::style::{Painter, Role};
use crate::wrap::{Indent, wrap};

/// How to lay out the page.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Width in columns.
    pub columns: usize,
    /// Characters that can be shown.
    pub charset: Charset,
    /// Colours.
    pub painter: Painter,
    /// How many kernels to explain.
    pub top: usize,
    /// Whether to show every row, finding and counter.
    pub is_verbose: bool,
}

/// Writes the whole page.
#[must_use]
pub fn text(document: &Document, page: &Page) -> String {
    let mut out = String::new();
    for source in &document.sources {
        source::write(&mut out, document, source, page);
    }
    for warning in document
        .warnings
        .iter()
        .filter(|warning| warning.source.is_none())
    {
        source::write_warning(&mut out, warning, page);
    }
    let order = by_time(document);
    let files = files::labels(&document.sources, page.charset);
    if document.kernels.is_empty() {
        let is_damaged = document
            .warnings
            .iter()
            .any(|warning| warning.offset.is_some());
        out.push_str(if is_damaged {
            "\nno kernel could be read\n"
        } else {
            "\nno kernel was profiled\n"
        });
        return out;
    }
    if document.kernels.len() > 1 {
        overview::write(&mut out, document, &order, &files, page);
        totals::write(&mut out, document, page);
    }
    ranks::write(&mut out, document, page);
    finding::write_report(&mut out, document, &files, page);
    for (place, index) in order.iter().take(page.top).enumerate() {
        if let Some(kernel) = document.kernels.get(*index) {
            let source = document
                .sources
                .iter()
                .find(|source| source.id == kernel.source);
            let from = kernel::From {
                kind: source.map(|source| source.kind),
                file: file_of(document, kernel, &files),
                timed: source
                    .and_then(|source| source.collected.as_ref())
                    .map(|collected| collected.launches_from),
            };
            kernel::write(&mut out, kernel, from, place + 1, page);
        }
    }
    out
}

/// The short name of the input that holds a kernel, where there are several.
fn file_of<'f>(document: &Document, kernel: &Kernel, files: &'f [String]) -> Option<&'f str> {
    let place = document
        .sources
        .iter()
        .position(|source| source.id == kernel.source)?;
    files.get(place).map(String::as_str)
}

/// Places of the kernels, those that take most time first.
fn by_time(document: &Document) -> Vec<usize> {
    let total = |kernel: &Kernel| -> f64 {
        if let Some(timed) = kernel.timed {
            return timed.total_ns;
        }
        kernel
            .launches
            .iter()
            .filter_map(|launch| launch.duration_ns)
            .sum()
    };
    let mut order: Vec<usize> = (0..document.kernels.len()).collect();
    order.sort_by(|a, b| total(&document.kernels[*b]).total_cmp(&total(&document.kernels[*a])));
    order
}

/// Adds a paragraph, wrapped, with a first indent and one for the rest.
fn paragraph(out: &mut String, text: &str, first: &str, rest: &str, page: &Page) {
    for line in wrap(text, page.columns, Indent { first, rest }) {
        out.push_str(&line);
        out.push('\n');
    }
}

/// So many launches or passes: words whose plural ends in "es".
fn times(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}es"),
    }
}

/// A share of a whole in percent without decimals; small ones keep one.
fn percent(share: f64) -> String {
    let figures = if share.abs() < 0.0995 { 2 } else { 3 };
    let value = 100.0 * share;
    match figures {
        2 => format!("{value:.1} %"),
        _ => format!("{value:.0} %"),
    }
}

/// A share that is saved: what is not quite everything does not round to it.
fn saved(share: f64) -> String {
    if (0.995..1.0).contains(&share) {
        ">99 %".to_owned()
    } else {
        percent(share)
    }
}

fn heading(out: &mut String, text: &str, page: &Page) {
    out.push_str(&page.painter.paint(Role::Heading, text).to_string());
    out.push('\n');
}

/// The cells of the columns that there is room for.
fn kept<T, const N: usize>(is_kept: [bool; N], cells: [T; N]) -> impl Iterator<Item = T> {
    is_kept
        .into_iter()
        .zip(cells)
        .filter_map(|(is_kept, cell)| is_kept.then_some(cell))
}

fn ratio(share: f64) -> Ratio {
    Ratio::new(share)
}
