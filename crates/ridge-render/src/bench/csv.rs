//! One row for each state and mode, numbers in full.

use ridge_bench::document::{Document, ModeResult, StateResult};

use crate::escape;

const HEADERS: &[&str] = &[
    "state",
    "kernel",
    "mode",
    "status",
    "median_ns",
    "lower_ns",
    "upper_ns",
    "min_ns",
    "p10_ns",
    "p90_ns",
    "p99_ns",
    "samples",
    "rejected",
    "runs_per_sample",
    "clock_hz",
    "bytes",
    "bytes_per_s",
    "flops",
    "flops_per_s",
    "bound_ns",
    "share_of_bound",
    "class",
    "invalid",
    "notes",
    "failure",
];

/// Writes the table; the axes stand behind the other columns, and behind them attainable times where there are some and
/// the file of the spec where there are several.
#[must_use]
pub fn csv(document: &Document) -> String {
    let mut axes: Vec<&str> = Vec::new();
    for axis in document.states.iter().flat_map(|state| &state.axes) {
        if !axes.contains(&axis.name.as_str()) {
            axes.push(&axis.name);
        }
    }
    let mut out = String::new();
    let headers: Vec<String> = HEADERS
        .iter()
        .map(|header| (*header).to_owned())
        .chain(axes.iter().map(|axis| format!("axis_{axis}")))
        .chain(document.ceilings.iter().map(|_| "attainable_ns".to_owned()))
        .chain(document.specs.iter().take(1).map(|_| "spec".to_owned()))
        .collect();
    line(&mut out, &headers);
    let row = |out: &mut String, state: &StateResult, mode: Option<&ModeResult>| {
        let mut cells = cells(state, mode, &axes);
        if document.ceilings.is_some() {
            let placement = mode.and_then(|mode| mode.placement.as_ref());
            let attainable = placement.and_then(|placement| placement.attainable_ns);
            cells.push(attainable.map_or_else(String::new, |time| time.to_string()));
        }
        if !document.specs.is_empty() {
            let spec = state.spec.and_then(|place| document.specs.get(place));
            cells.push(spec.map_or_else(String::new, |spec| spec.file.clone()));
        }
        line(out, &cells);
    };
    for state in &document.states {
        if state.modes.is_empty() {
            row(&mut out, state, None);
        }
        for mode in &state.modes {
            row(&mut out, state, Some(mode));
        }
    }
    out
}

fn line(out: &mut String, cells: &[String]) {
    let cells: Vec<String> = cells
        .iter()
        .map(|cell| escape::csv(cell).into_owned())
        .collect();
    out.push_str(&cells.join(","));
    out.push('\n');
}

fn cells(state: &StateResult, mode: Option<&ModeResult>, axes: &[&str]) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let of = |value: fn(&ModeResult) -> Option<f64>| number(mode.and_then(value));
    let ids = |remarks: &[ridge_bench::document::Remark]| {
        let ids: Vec<&str> = remarks.iter().map(|remark| remark.id.as_str()).collect();
        ids.join(" ")
    };
    let placement = mode.and_then(|mode| mode.placement.as_ref());
    let mut cells = vec![
        state.name.clone(),
        state.kernel.clone(),
        mode.map_or_else(String::new, |mode| mode.mode.name().to_owned()),
        format!("{:?}", state.status).to_ascii_lowercase(),
        of(|mode| mode.median_ns),
        of(|mode| mode.lower_ns),
        of(|mode| mode.upper_ns),
        of(|mode| mode.min_ns),
        of(|mode| mode.p10_ns),
        of(|mode| mode.p90_ns),
        of(|mode| mode.p99_ns),
        mode.map_or_else(String::new, |mode| mode.samples.to_string()),
        mode.map_or_else(String::new, |mode| mode.rejected.to_string()),
        mode.map_or_else(String::new, |mode| mode.runs_per_sample.to_string()),
        of(|mode| mode.clock_hz),
        number(state.bytes),
        number(placement.and_then(|placement| placement.bytes_per_s)),
        number(state.flops),
        number(placement.and_then(|placement| placement.flops_per_s)),
        number(placement.map(|placement| placement.bound_ns)),
        number(placement.map(|placement| placement.share)),
        placement.map_or_else(String::new, |placement| placement.class.clone()),
        mode.map_or_else(String::new, |mode| ids(&mode.invalid)),
        mode.map_or_else(String::new, |mode| ids(&mode.notes)),
        state
            .failure
            .as_ref()
            .map_or_else(String::new, |failure| failure.code.clone()),
    ];
    for axis in axes {
        let value = state
            .axes
            .iter()
            .find(|own| own.name == *axis)
            .map(|own| own.value);
        cells.push(number(value));
    }
    cells
}
