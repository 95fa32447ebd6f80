//! A row for each point and level of memory; kernels without a point have one row with the reason.

use std::io::{self, Write};

use ridge_model::roofline::document::{Chart, Document, Kernel, Placement, Point, RidgeSide, Side};

use super::view;
use crate::escape;

const HEADER: &str = "device,file,kernel,signature,side,launch,launches,time_ns,total_time_ns,time_share,class,\
sm_clock_hz,precision,main,operations,ops_per_s,unit,roof_basis,roof_ops_per_s,roof_share,level,bytes,intensity,\
attainable_ops_per_s,share,bound,flags,left_out,amounts";

/// Writes the document as one table, row by row.
///
/// # Errors
/// When the sink takes no more.
pub fn csv(document: &Document, mut out: impl Write) -> io::Result<()> {
    writeln!(out, "{HEADER}")?;
    for chart in &document.charts {
        for kernel in &chart.kernels {
            let head = head(document, chart, kernel);
            let mut is_empty = true;
            for point in &kernel.points {
                for placement in &point.placements {
                    is_empty = false;
                    push(&mut out, &head, &cells(kernel, point, placement), kernel)?;
                }
            }
            if is_empty {
                let mut rest = vec![String::new(); 16];
                let reason = kernel.left_out.map_or("", |reason| reason.text());
                if let Some(last) = rest.last_mut() {
                    reason.clone_into(last);
                }
                push(&mut out, &head, &rest, kernel)?;
            }
        }
    }
    Ok(())
}

/// Writes a row, with where bytes and operations come from at its end.
fn push(out: &mut impl Write, head: &[String], rest: &[String], kernel: &Kernel) -> io::Result<()> {
    let amounts = [kernel.origin.name().to_owned()];
    let cells: Vec<_> = head
        .iter()
        .chain(rest)
        .chain(&amounts)
        .map(|cell| escape::csv(cell))
        .collect();
    writeln!(out, "{}", cells.join(","))
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn head(document: &Document, chart: &Chart, kernel: &Kernel) -> Vec<String> {
    let file = kernel
        .source
        .and_then(|id| document.sources.get(id))
        .map_or("", |source| source.file.as_str());
    vec![
        chart.device.name.clone().unwrap_or_default(),
        file.to_owned(),
        kernel.name.clone(),
        kernel.signature.clone().unwrap_or_default(),
        kernel.side.map_or("", side).to_owned(),
        kernel
            .launch
            .map_or_else(String::new, |launch| launch.to_string()),
        kernel.launches.len().to_string(),
        number(kernel.time_ns),
        number(kernel.total_time_ns),
        number(kernel.time_share),
        kernel
            .class
            .map_or("", |class| view::class_name(Some(class)))
            .to_owned(),
        number(kernel.sm_clock_hz),
    ]
}

const fn side(side: Side) -> &'static str {
    match side {
        Side::Before => "before",
        Side::After => "after",
    }
}

fn cells(kernel: &Kernel, point: &Point, placement: &Placement) -> Vec<String> {
    let bytes = kernel
        .traffic
        .iter()
        .find(|traffic| traffic.level == placement.level)
        .map(|traffic| traffic.bytes);
    let flags: Vec<String> = point
        .flags
        .iter()
        .filter(|flag| flag.level.is_none_or(|level| level == placement.level))
        .map(view::flag_name)
        .collect();
    vec![
        point.precision_id.clone(),
        point.is_main.to_string(),
        number(Some(point.operations)),
        number(Some(point.ops_per_s)),
        point.unit.to_owned(),
        point
            .roof
            .as_ref()
            .map_or("", |roof| roof.basis.name())
            .to_owned(),
        number(point.roof.as_ref().map(|roof| roof.ops_per_s)),
        number(point.roof.as_ref().map(|roof| roof.share)),
        placement.level.name().to_ascii_lowercase(),
        number(bytes),
        number(Some(placement.intensity)),
        number(placement.attainable_ops_per_s),
        number(placement.share),
        match placement.bound {
            Some(RidgeSide::Memory) => "memory",
            Some(RidgeSide::Compute) => "compute",
            None => "",
        }
        .to_owned(),
        flags.join(" "),
        String::new(),
    ]
}
