//! An output beside its reference.

use ridge_model::quantity::grouped;
use ridge_numerics::reference::document::{CheckDocument, FoundElement, Verdict};

use super::parts::{figure, finite_or, list, row};
use crate::escape;
use crate::page::Layout;
use crate::style::Role;
use crate::table::{Column, Table};

const fn role(verdict: Verdict) -> Role {
    match verdict {
        Verdict::Right => Role::Good,
        Verdict::Wrong => Role::Bad,
        Verdict::Empty => Role::Warning,
    }
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Right => "RIGHT",
        Verdict::Wrong => "WRONG",
        Verdict::Empty => "NOTHING TO COMPARE",
    }
}

/// How the tolerance comes about, in a sentence.
fn tolerance(document: &CheckDocument) -> String {
    let tolerance = &document.tolerance;
    let output = match tolerance.u_out {
        Some(u) => format!("{} * |r|", power(u)),
        None => "0.5".to_owned(),
    };
    if tolerance.u_acc == 0.0 {
        return format!("allowed: {output}, since integers are summed without rounding");
    }
    format!(
        "allowed: {output} + {} * {} * noise + the smallest number of the output; noise = {}, K = {}, sums in {}",
        tolerance.c,
        power(tolerance.u_acc),
        tolerance.noise,
        grouped(tolerance.length),
        tolerance.accumulated_in
    )
}

/// A unit roundoff as a power of two.
fn power(u: f64) -> String {
    format!("2^{}", u.log2())
}

fn counts(document: &CheckDocument) -> Vec<(&'static str, String)> {
    let of = |count: u64| grouped(count);
    let mut rows = vec![
        ("elements", of(document.elements)),
        ("exact, rounded once", of(document.exact)),
        ("beyond the tolerance", of(document.failing)),
    ];
    let more = [
        ("beyond any rounding", document.proven_wrong),
        ("NaN or infinite on one side", document.not_finite),
        ("flushed to zero", document.flushed),
        ("beyond the format's range", document.overflowed),
    ];
    rows.extend(
        more.into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| (name, of(count))),
    );
    rows.push(("largest error", format!("{} ULP", figure(document.max_ulp))));
    rows
}

fn cells(what: &str, element: &FoundElement) -> [String; 6] {
    [
        what.to_owned(),
        list(&element.index),
        finite_or(element.value, "not finite"),
        finite_or(element.reference, "not finite"),
        finite_or(element.tolerance, "-"),
        element
            .ratio
            .map_or_else(|| "-".to_owned(), |ratio| format!("{} x", figure(ratio))),
    ]
}

const HEADS: [&str; 6] = ["", "at", "value", "reference", "allowed", "of that"];

fn elements(document: &CheckDocument) -> Vec<[String; 6]> {
    let found = [
        ("first wrong", &document.first_failing),
        ("worst", &document.worst),
    ];
    found
        .into_iter()
        .filter_map(|(what, element)| Some(cells(what, element.as_ref()?)))
        .collect()
}

fn tensors(document: &CheckDocument) -> Vec<String> {
    document
        .tensors
        .iter()
        .map(|tensor| {
            format!(
                "{}: {} {} from {}",
                tensor.role,
                tensor.format,
                list(&tensor.shape),
                tensor.input
            )
        })
        .collect()
}

/// Writes the page.
#[must_use]
pub fn text(document: &CheckDocument, layout: &Layout) -> String {
    let mut out = String::new();
    layout.paragraph(
        &mut out,
        &format!("{}  {}", word(document.verdict), document.sentence),
        "",
        "       ",
        Some(role(document.verdict)),
    );
    out.push('\n');
    let mut table = Table::new([Column::left(""), Column::right("")]);
    for (name, count) in counts(document) {
        table.row([name.to_owned(), count]);
    }
    out.push_str(&table.render(layout.columns, layout.charset, layout.painter));
    let elements = elements(document);
    if !elements.is_empty() {
        out.push('\n');
        let [first, rest @ ..] = HEADS;
        let mut table = Table::new(
            std::iter::once(Column::left(first))
                .chain(rest.map(Column::right))
                .collect::<Vec<_>>(),
        );
        for cells in elements {
            table.row(cells);
        }
        out.push_str(&table.render(layout.columns, layout.charset, layout.painter));
    }
    out.push('\n');
    layout.paragraph(&mut out, &tolerance(document), "", "  ", Some(Role::Dim));
    for tensor in tensors(document) {
        layout.paragraph(&mut out, &tensor, "", "  ", Some(Role::Dim));
    }
    out
}

/// Writes the same as Markdown.
#[must_use]
pub fn markdown(document: &CheckDocument) -> String {
    let mut out = format!(
        "**{}**: {}\n\n| | |\n|---|---:|\n",
        word(document.verdict),
        escape::markdown(&document.sentence)
    );
    for (name, count) in counts(document) {
        row(&mut out, &[name, &count]);
    }
    let elements = elements(document);
    if !elements.is_empty() {
        out.push('\n');
        row(&mut out, &HEADS);
        out.push_str("|---|---|---:|---:|---:|---:|\n");
        for cells in elements {
            row(&mut out, &cells.each_ref().map(String::as_str));
        }
    }
    out.push('\n');
    out.push_str(&escape::markdown(&tolerance(document)));
    out.push_str("\n\n");
    for tensor in tensors(document) {
        out.push_str("* ");
        out.push_str(&escape::markdown(&tensor));
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_roundoffs_are_powers_of_two() {
        assert_eq!(power(2_f64.powi(-24)), "2^-24");
    }
}
