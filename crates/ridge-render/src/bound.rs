//! The page of `ridge bound` for people: one row for each bound, the one that binds, and how a measured time compares.

use ridge_model::bound::document::{Attainable, Document, Measured, Row, Template};
use ridge_model::quantity::{Amount, Bytes, Intensity, Nanos, Ratio, Unit};

use crate::page::Layout;
use crate::style::Role;
use crate::table::{Cell, Column, Table};

/// Writes the whole page.
#[must_use]
pub fn text(document: &Document, layout: &Layout) -> String {
    let mut out = String::new();
    let device = &document.device.name;
    match &document.template {
        Some(template) => {
            layout.heading(
                &mut out,
                &format!("{}, {}, on {device}", template.name, template.shape),
            );
            if layout.is_verbose {
                counted(&mut out, template, layout);
            }
        }
        None => layout.heading(&mut out, &format!("lower bounds on {device}")),
    }
    out.push('\n');
    out.push_str(&rows(document, layout));
    out.push('\n');
    layout.heading(
        &mut out,
        &format!(
            "lower bound {}: {}",
            Nanos::new(document.lower_bound_ns),
            document.class
        ),
    );
    if let Some(text) = place(document) {
        layout.paragraph(&mut out, &text, "  ", "  ", None);
    }
    if let Some(attainable) = &document.attainable {
        out.push('\n');
        reached(&mut out, attainable, layout);
    }
    if let Some(measured) = &document.measured {
        out.push('\n');
        compare(&mut out, document, measured, layout);
    }
    if !document.remarks.is_empty() {
        out.push('\n');
    }
    for remark in &document.remarks {
        layout.paragraph(&mut out, remark, "  note: ", "        ", Some(Role::Dim));
    }
    out
}

/// What the same work takes at the rates that one GPU reached.
fn reached(out: &mut String, attainable: &Attainable, layout: &Layout) {
    layout.heading(
        out,
        &format!(
            "attainable {}: at rates {}",
            Nanos::new(attainable.time_ns),
            attainable.ceilings
        ),
    );
    for row in &attainable.bounds {
        let binds = if row.is_binding { ", binds" } else { "" };
        let line = format!(
            "{}: {} at {} of {} ({}){binds}",
            row.kind.name(),
            Nanos::new(row.time_ns),
            ceiling(row),
            row.resource,
            row.origin.name()
        );
        layout.paragraph(out, &line, "  ", "    ", None);
    }
    if layout.is_verbose {
        let line = format!("from {}", attainable.ceilings.file);
        layout.paragraph(out, &line, "  ", "    ", Some(Role::Dim));
    }
}

/// How bytes and operations were counted.
fn counted(out: &mut String, template: &Template, layout: &Layout) {
    for (what, formula) in [
        ("bytes", &template.bytes_formula),
        ("operations", &template.operations_formula),
    ] {
        layout.paragraph(out, &format!("{what}: {formula}"), "  ", "    ", None);
    }
    let parts: Vec<String> = template
        .traffic
        .iter()
        .map(|part| {
            let verb = if part.is_written { "writes" } else { "reads" };
            format!("{verb} {} {}", part.array, Bytes::new(part.bytes).natural())
        })
        .collect();
    layout.paragraph(out, &parts.join(", "), "  ", "    ", None);
}

fn rows(document: &Document, layout: &Layout) -> String {
    let mut table = Table::new([
        Column::left("bound"),
        Column::right("needs"),
        Column::right("at most"),
        Column::left("of").wrapped(1, 12),
        Column::left("source"),
        Column::right("takes"),
        Column::left(""),
    ]);
    for row in &document.bounds {
        let cells = [
            row.kind.name().to_owned(),
            demand(row),
            ceiling(row),
            row.resource.clone(),
            row.origin.name().to_owned(),
            Nanos::new(row.time_ns).to_string(),
        ];
        let binds = if row.is_binding { "binds" } else { "" };
        table.row(
            cells
                .into_iter()
                .map(Cell::from)
                .chain([Cell::styled(Role::Emphasis, binds)]),
        );
    }
    table.render(layout.columns, layout.charset, layout.painter)
}

fn demand(row: &Row) -> String {
    match row.demand_unit.as_str() {
        "byte" => Bytes::new(row.demand).natural(),
        "launch" | "wait" | "kernel" | "step" if row.demand > 1.0 => {
            let ending = if row.demand_unit == "launch" {
                "es"
            } else {
                "s"
            };
            // A prefix belongs to the number: there are no megalaunches.
            format!(
                "{} {}{ending}",
                Amount::new(row.demand, Unit::NONE),
                row.demand_unit
            )
        }
        unit => Amount::new(row.demand, Unit::new(unit.to_owned())).to_string(),
    }
}

fn ceiling(row: &Row) -> String {
    match (row.rate_per_s, &row.rate_unit, row.each_ns) {
        (Some(rate), Some(unit), _) => Amount::new(rate, Unit::new(unit.clone())).to_string(),
        (_, _, Some(each)) => format!("{} each", Nanos::new(each)),
        _ => String::new(),
    }
}

/// Where the work lies on the roofline.
fn place(document: &Document) -> Option<String> {
    let intensity = Intensity::new(document.arithmetic_intensity?);
    let ridge = Intensity::new(document.ridge_point?);
    let side = if intensity < ridge {
        "left of it, memory limits more than arithmetic"
    } else {
        "right of it, arithmetic limits more than memory"
    };
    let is_integer = document.intensity_unit.as_deref() == Some("OP/byte");
    Some(format!(
        "arithmetic intensity {}, ridge point {}: {side}",
        intensity.text(is_integer),
        ridge.text(is_integer)
    ))
}

fn compare(out: &mut String, document: &Document, measured: &Measured, layout: &Layout) {
    layout.heading(
        out,
        &format!(
            "measured {}: {} the bound",
            Nanos::new(measured.time_ns),
            Ratio::new(measured.gap).factor()
        ),
    );
    layout.paragraph(out, &measured.advice, "  ", "  ", None);
    if let Some(gap) = document.attainable.as_ref().and_then(|own| own.gap) {
        let line = format!("{} what is attainable", Ratio::new(gap).factor());
        layout.paragraph(out, &line, "  ", "  ", None);
    }
    let rate = |value: Option<f64>, share: Option<f64>, unit: Unit, of: &str| {
        let (value, share) = value.zip(share)?;
        let share = Ratio::new(share);
        Some(format!("{}, {share} of {of}", Amount::new(value, unit)))
    };
    let memory = rate(
        measured.bytes_per_s,
        measured.bandwidth_share,
        Unit::BYTES_PER_SECOND,
        "the memory bandwidth",
    );
    let unit = measured.operations_unit.clone().unwrap_or_default();
    let busiest = document
        .bounds
        .iter()
        .filter(|row| row.kind == ridge_model::bound::BoundKind::Compute)
        .max_by(|a, b| a.time_ns.total_cmp(&b.time_ns));
    let compute = busiest.and_then(|row| {
        rate(
            measured.operations_per_s,
            measured.compute_share,
            Unit::new(unit),
            &format!("the {} peak", row.resource),
        )
    });
    for text in [memory, compute].into_iter().flatten() {
        layout.paragraph(out, &format!("effective {text}"), "  ", "  ", None);
    }
}
