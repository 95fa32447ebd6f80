//! The page of text.

use ridge_model::quantity::Ratio;
use ridge_numerics::document::{Allowed, Document};
use ridge_numerics::measure::{Element, Measures};
use ridge_numerics::verdict::Outcome;
use ridge_numerics::words::{figures, grouped, percent};

use super::rows::{ELEMENT, digits, element, rows, sizes};
use super::{map, sentence, side, word};
use crate::bar::bar;
use crate::page::Layout;
use crate::style::Role;
use crate::table::{Column, Table};

/// Columns of a bar.
const BAR: usize = 24;

/// Writes the page.
#[must_use]
pub fn text(document: &Document, layout: &Layout) -> String {
    let mut out = String::new();
    let verdict = &document.verdict;
    let role = match verdict.outcome {
        Outcome::Right => Role::Good,
        Outcome::Wrong => Role::Bad,
        Outcome::CannotTell => Role::Warning,
    };
    layout.paragraph(
        &mut out,
        &format!("{}: {}", word(verdict.outcome), sentence(document)),
        "",
        "  ",
        Some(role),
    );
    let both = format!(
        "{} against {}",
        side(&document.output),
        side(&document.reference)
    );
    layout.paragraph(&mut out, &both, "  ", "  ", Some(Role::Dim));
    for note in &verdict.notes {
        layout.paragraph(&mut out, note, "  ! ", "    ", Some(Role::Warning));
    }
    for cause in &verdict.causes {
        layout.paragraph(
            &mut out,
            &format!("do: {}", cause.action),
            "  ",
            "    ",
            None,
        );
    }
    if let Some(next) = &verdict.next {
        layout.paragraph(&mut out, &format!("next: {next}"), "  ", "    ", None);
    }
    let (Some(measures), Some(tolerance)) = (&document.measures, &document.tolerance) else {
        return out;
    };
    out.push('\n');
    write_measures(&mut out, measures, layout);
    write_tolerance(&mut out, tolerance, layout);
    write_sizes(&mut out, measures, layout);
    let digits = digits(&document.output.format);
    if measures.failing > 0 {
        write_elements(&mut out, "first", &measures.first, digits, layout);
    }
    if measures.failing > 0 || layout.is_verbose {
        write_elements(&mut out, "worst", &measures.worst, digits, layout);
        write_map(&mut out, measures, layout);
    }
    out
}

fn write_measures(out: &mut String, measures: &Measures, layout: &Layout) {
    let mut table = Table::new([
        Column::left("measure"),
        Column::right("value"),
        Column::left("").wrapped(1, 12),
    ]);
    for row in rows(measures, layout.is_verbose) {
        table.row([row.what, row.value.as_str(), row.about.as_str()]);
    }
    out.push_str(&table.render(layout.columns, layout.charset, layout.painter));
}

fn write_tolerance(out: &mut String, tolerance: &Allowed, layout: &Layout) {
    out.push('\n');
    layout.heading(out, "tolerance");
    layout.paragraph(out, &limits(tolerance), "  ", "    ", None);
    for reason in &tolerance.reasons {
        layout.paragraph(out, reason, "  ", "  ", Some(Role::Dim));
    }
}

/// The limits as one sum.
pub(super) fn limits(tolerance: &Allowed) -> String {
    let mut parts = Vec::new();
    for (value, of) in [
        (tolerance.absolute, ""),
        (tolerance.relative, " |r|"),
        (tolerance.ulps, " ULP(r)"),
        (tolerance.magnitude, " Σ|a||b|"),
    ] {
        if value > 0.0 {
            parts.push(format!("{}{of}", figures(value)));
        }
    }
    if parts.is_empty() {
        "equal".to_owned()
    } else {
        format!("|x - r| up to {}", parts.join(" + "))
    }
}

fn write_sizes(out: &mut String, measures: &Measures, layout: &Layout) {
    let mut table = Table::new([
        Column::right("error in ULP"),
        Column::right("elements"),
        Column::right("share"),
        Column::left(""),
    ]);
    for (bound, count, share) in sizes(measures) {
        let bar = bar(Ratio::new(share), BAR, layout.charset);
        table.row([bound, grouped(count), percent(share), bar]);
    }
    out.push('\n');
    out.push_str(&table.render(layout.columns, layout.charset, layout.painter));
}

fn write_elements(
    out: &mut String,
    what: &str,
    elements: &[Element],
    digits: usize,
    layout: &Layout,
) {
    let mut headers = ELEMENT;
    let first = format!("{what} elements");
    headers[0] = &first;
    let mut table = Table::new(
        headers
            .iter()
            .enumerate()
            .map(|(place, header)| match place {
                0 => Column::left(header),
                1..=4 => Column::right(header),
                // Neighbours give way where there is no room.
                _ => Column::right(header).truncated(1, 4),
            }),
    );
    for one in elements {
        table.row(element(one, digits));
    }
    out.push('\n');
    out.push_str(&table.render(layout.columns, layout.charset, layout.painter));
}

fn write_map(out: &mut String, measures: &Measures, layout: &Layout) {
    let shades = map::Shades::new(measures);
    out.push('\n');
    let map = &measures.map;
    layout.heading(
        out,
        &format!(
            "map of {} x {} elements: {}",
            grouped(map.rows),
            grouped(map.columns),
            shades.title()
        ),
    );
    for line in map::characters(measures, layout.charset) {
        out.push_str("  ");
        out.push_str(&line);
        out.push('\n');
    }
}
