//! One sum in several orders.

use ridge_model::quantity::grouped;
use ridge_numerics::reference::document::{OrderRow, OrdersDocument};

use super::parts::{figure, finite_or, number, row};
use crate::escape;
use crate::page::Layout;
use crate::style::Role;
use crate::table::{Column, Table};

const HEADS: [&str; 7] = [
    "order",
    "sum",
    "error",
    "ULP",
    "error / (u S)",
    "expected",
    "at most",
];

fn cells(order: &OrderRow) -> [String; 7] {
    [
        order.order.clone(),
        finite_or(order.value, "overflow"),
        finite_or(order.error, "-"),
        order.ulps.map_or_else(|| "-".to_owned(), figure),
        order.error_per_u_s.map_or_else(|| "-".to_owned(), figure),
        figure(order.expected_per_u_s),
        figure(order.bound_per_u_s),
    ]
}

fn headline(document: &OrdersDocument) -> String {
    format!(
        "{} values of {} in {}: exactly {}, S = sum |x| = {}, condition S / |sum| = {}",
        grouped(document.count),
        document.tensor.input,
        document.accumulated_in,
        number(document.exact),
        number(document.size),
        finite_or(document.condition, "infinite")
    )
}

const LEGEND: &str = "u is the unit roundoff of the format that is summed in. A value that goes through d additions is rounded d times: \
                      expected is sqrt(d), and no order can be off by more than d, in units of u S, beside one rounding of the result.";

/// Writes the page.
#[must_use]
pub fn text(document: &OrdersDocument, layout: &Layout) -> String {
    let mut out = String::new();
    layout.heading(&mut out, &headline(document));
    out.push('\n');
    let is_wide = layout.columns >= 100;
    let [first, rest @ ..] = HEADS;
    let mut columns: Vec<Column> = std::iter::once(Column::left(first).truncated(1, 12))
        .chain(rest.map(Column::right))
        .collect();
    if is_wide {
        columns.push(Column::left("who sums like that").truncated(2, 10));
    }
    let mut table = Table::new(columns);
    for order in &document.orders {
        let mut cells: Vec<String> = cells(order).into();
        if is_wide {
            cells.push(order.who.clone());
        }
        table.row(cells);
    }
    out.push_str(&table.render(layout.columns, layout.charset, layout.painter));
    out.push('\n');
    for lesson in &document.lessons {
        layout.paragraph(&mut out, lesson, "* ", "  ", None);
    }
    if !document.lessons.is_empty() {
        out.push('\n');
    }
    layout.paragraph(&mut out, LEGEND, "", "", Some(Role::Dim));
    out
}

/// Writes the same as Markdown.
#[must_use]
pub fn markdown(document: &OrdersDocument) -> String {
    let mut out = format!("{}\n\n", escape::markdown(&headline(document)));
    row(&mut out, &HEADS);
    out.push_str("|---|---:|---:|---:|---:|---:|---:|\n");
    for order in &document.orders {
        row(&mut out, &cells(order).each_ref().map(String::as_str));
    }
    out.push('\n');
    for lesson in &document.lessons {
        out.push_str("* ");
        out.push_str(&escape::markdown(lesson));
        out.push('\n');
    }
    out
}
