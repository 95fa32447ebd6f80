//! The raw page: a row per launch, a column per metric, units in the second row.

use std::borrow::Cow;
use std::collections::HashSet;

use super::number::{Style, Vote};
use super::{Columns, Page, Reader};
use crate::error::Kind;
use crate::packed::PackedInstances;

/// A column that holds a metric.
struct Column {
    index: usize,
    slot: usize,
    exponent: i32,
}

/// Reads the rows that belong to a header, which is the current row.
pub(super) fn read(reader: &mut Reader<'_>, columns: &Columns) {
    let mut metrics = metric_columns(reader, columns);
    reader.accept();
    let style = style(reader, columns);
    let mut has_units = false;
    while reader.next_row(columns) {
        let Some(mut kernel) = reader.kernel(columns, Page::Raw) else {
            if !has_units && is_unit_row(reader, columns) {
                has_units = true;
                read_units(reader, &mut metrics);
                reader.accept();
            } else {
                reader.reject();
            }
            continue;
        };
        if !has_units {
            has_units = true;
            let reason =
                "no row of units stands before the first kernel; values are kept as printed";
            reader.problem(Kind::Csv(Cow::Borrowed(reason)), reader.row.start, "units");
        }
        let is_cut = reader.check_cut(columns.count);
        if !is_cut && reader.row.len() < columns.count {
            let count = |number| u64::try_from(number).unwrap_or(u64::MAX);
            let kind = Kind::Count {
                announced: count(columns.count),
                found: count(reader.row.len()),
            };
            reader.problem(kind, reader.row.start, "cells of a row");
        }
        for column in &metrics {
            let cell = reader.row.get(reader.text, column.index);
            // A blank cell is a metric that this launch does not have; other words say that its value is missing.
            if !cell.is_empty() {
                let value = reader.value(&cell, style, column.exponent);
                kernel
                    .entries
                    .push(column.slot, value.as_ref(), &PackedInstances::default());
            }
        }
        kernel.entries.shrink();
        reader.push_kernel(kernel);
        reader.accept();
    }
}

/// The columns whose title is a metric name.
fn metric_columns(reader: &mut Reader<'_>, columns: &Columns) -> Vec<Column> {
    let mut metrics = Vec::with_capacity(columns.others.len());
    let mut seen = HashSet::new();
    for (index, title) in &columns.others {
        if title.contains("Domain:") {
            continue; // Ranges of NVTX.
        }
        if title.contains(char::is_whitespace) {
            let title: String = title.chars().take(80).collect();
            let reason = format!(
                "the column `{title}` is no metric name; export without `--print-metric-name`"
            );
            reader.problem(Kind::Csv(Cow::Owned(reason)), reader.row.start, "header");
            continue;
        }
        let Some(slot) = reader.slot(title) else {
            continue;
        };
        if seen.insert(slot) {
            metrics.push(Column {
                index: *index,
                slot,
                exponent: 0,
            });
        }
    }
    metrics
}

/// The row behind the header names no kernel and holds a unit, or nothing, for each metric.
fn is_unit_row(reader: &Reader<'_>, columns: &Columns) -> bool {
    let is_blank = |index| reader.row.cell(reader.text, index).is_empty();
    !reader.row.is_cut && reader.row.len() > 1 && is_blank(columns.name) && is_blank(columns.id)
}

fn read_units(reader: &mut Reader<'_>, metrics: &mut [Column]) {
    for column in metrics {
        let unit = reader.row.get(reader.text, column.index);
        column.exponent = reader.exponent(&unit, reader.row.start);
    }
}

/// How numbers are written, from the rows ahead.
fn style(reader: &mut Reader<'_>, columns: &Columns) -> Style {
    let start = reader.place;
    let mut vote = Vote::default();
    while !vote.is_settled() && reader.next_row(columns) {
        for (index, _) in &columns.others {
            vote.add(&reader.row.get(reader.text, *index));
        }
        reader.accept();
    }
    reader.place = start;
    vote.style(columns.separator)
}
