//! The page for people.

use ridge_bench::document::{Document, ModeResult, StateResult, Status};
use ridge_model::quantity::{Bytes, Nanos};

use super::part::parts;
use super::row::{Columns, Header, best, constant_axes, remarks, short, stopped, wrong};
use crate::page::Layout;
use crate::style::Role;
use crate::table::{Cell, Column, Table};

/// From this width on there is room for samples and clocks.
const WIDE: usize = 100;

/// Writes the whole page.
#[must_use]
pub fn text(document: &Document, layout: &Layout) -> String {
    let mut out = String::new();
    let parts = parts(document);
    let title = match parts.len() {
        0 => document.benchmark.clone(),
        count => format!("{count} specs"),
    };
    layout.heading(&mut out, &format!("{title} on {}", document.machine.device));
    machine(&mut out, document, layout);
    if parts.is_empty() {
        part(&mut out, document, layout);
    }
    for one in &parts {
        out.push('\n');
        let (spec, document) = (one.spec, &one.document);
        layout.heading(&mut out, &format!("{} ({})", spec.benchmark, spec.file));
        if let Some(error) = &spec.error {
            layout.paragraph(
                &mut out,
                &error.text,
                "  failed: ",
                "          ",
                Some(Role::Bad),
            );
        } else if document.states.is_empty() {
            layout.paragraph(
                &mut out,
                "no state of it was measured",
                "  ",
                "  ",
                Some(Role::Dim),
            );
        }
        if !document.states.is_empty() {
            part(&mut out, document, layout);
        }
    }
    if document.settings.modes.len() > 1 {
        out.push('\n');
        for mode in &document.settings.modes {
            let text = format!("{}: {}", mode.name(), mode.explanation());
            layout.paragraph(&mut out, &text, "  ", "    ", Some(Role::Dim));
        }
    }
    if layout.is_verbose {
        for state in &document.states {
            for mode in &state.modes {
                details(&mut out, state, mode, layout);
            }
        }
    }
    out
}

/// What is measured of one spec.
fn part(out: &mut String, document: &Document, layout: &Layout) {
    let constant = constant_axes(document);
    if !constant.is_empty() {
        let text = format!("all states: {}", constant.join(", "));
        layout.paragraph(out, &text, "  ", "  ", None);
    }
    if let Some(note) = &document.note {
        layout.paragraph(out, note, "  note: ", "        ", Some(Role::Dim));
    }
    out.push('\n');
    out.push_str(&table(document, layout));
    let mut is_first = true;
    let mut gap = |out: &mut String| {
        if is_first {
            out.push('\n');
            is_first = false;
        }
    };
    for state in &document.states {
        if let Some(failure) = &state.failure {
            gap(out);
            let text = format!(
                "{}: {} ({})",
                short(&state.name, &constant),
                failure.message,
                failure.code
            );
            layout.paragraph(out, &text, "  failed: ", "          ", Some(Role::Bad));
        }
        if let Some(text) = wrong(state) {
            gap(out);
            layout.paragraph(
                out,
                &format!("{}: {text}", short(&state.name, &constant)),
                "  wrong: ",
                "         ",
                Some(Role::Bad),
            );
        }
    }
    for said in remarks(document) {
        let (who, is_invalid, text, hint) = (said.who(), said.is_invalid, said.text, said.hint);
        gap(out);
        let (first, rest, role) = if is_invalid {
            ("  not valid: ", "             ", Role::Bad)
        } else {
            ("  note: ", "        ", Role::Dim)
        };
        layout.paragraph(out, &format!("{who}: {text}"), first, rest, Some(role));
        if let Some(hint) = hint.filter(|_| is_invalid || layout.is_verbose) {
            layout.paragraph(
                out,
                &hint,
                &format!("{rest}try: "),
                &format!("{rest}     "),
                Some(Role::Dim),
            );
        }
    }
    for group in &document.best {
        out.push('\n');
        for (place, line) in best(group, &constant).iter().enumerate() {
            if place == 0 {
                layout.heading(out, line);
            } else {
                layout.paragraph(out, line, "  ", "  ", None);
            }
        }
    }
}

/// Facts about the machine.
fn machine(out: &mut String, document: &Document, layout: &Layout) {
    let machine = &document.machine;
    let mut facts = vec![
        format!("{} SMs", machine.multiprocessors),
        format!("compute capability {}", machine.compute_capability),
    ];
    facts.extend(
        machine
            .l2_bytes
            .map(|bytes| format!("L2 {:.4}", Bytes::new(bytes).binary())),
    );
    facts.extend(
        machine
            .driver
            .as_ref()
            .map(|driver| format!("driver {driver}")),
    );
    facts.extend(machine.cuda.as_ref().map(|cuda| format!("CUDA {cuda}")));
    layout.paragraph(out, &facts.join(", "), "  ", "  ", None);
    if let Some(floors) = &document.floors {
        let text = format!(
            "floors: empty pair of events {}, empty kernel {}, empty kernel and the wait for it {}; timer step {}",
            Nanos::new(floors.event_ns),
            Nanos::new(floors.kernel_ns),
            Nanos::new(floors.latency_ns),
            Nanos::new(floors.timer_step_ns)
        );
        layout.paragraph(out, &text, "  ", "  ", None);
    }
    if let Some(ceilings) = &document.ceilings {
        let text = format!("attainable: at rates {ceilings}");
        layout.paragraph(out, &text, "  ", "  ", None);
    }
    let overheads: Vec<f64> = document
        .states
        .iter()
        .flat_map(|state| &state.modes)
        .filter_map(|mode| mode.overhead_ns)
        .collect();
    if let Some(most) = overheads.into_iter().reduce(f64::max) {
        let text = format!(
            "harness: at most {} between two samples, beside flush and waiting; nothing is subtracted from a time",
            Nanos::new(most)
        );
        layout.paragraph(out, &text, "  ", "  ", None);
    }
    if machine.known_as.is_none() {
        let text = "this device is not in the table, so that there are no bounds; --devices FILE adds your own";
        layout.paragraph(out, text, "  note: ", "        ", Some(Role::Dim));
    }
    for note in &machine.notes {
        layout.paragraph(out, &note.text, "  note: ", "        ", Some(Role::Dim));
    }
}

fn table(document: &Document, layout: &Layout) -> String {
    let columns = Columns::of(document, layout.columns >= WIDE);
    let mut table = Table::new(columns.headers().into_iter().map(|header| {
        let name = header.name();
        match header {
            Header::Kernel => Column::left(name).told_apart(1, 12),
            Header::Text(_) => Column::left(name),
            Header::Samples => Column::right(name).wrapped(2, 8),
            Header::Axis(_) | Header::Number(_) => Column::right(name),
        }
    }));
    let bests: Vec<&str> = document
        .best
        .iter()
        .map(|best| best.state.as_str())
        .collect();
    for state in &document.states {
        let modes: Vec<Option<&ModeResult>> = if state.modes.is_empty() {
            vec![None]
        } else {
            state.modes.iter().map(Some).collect()
        };
        for mode in modes {
            let role = role(state, mode, &bests);
            let cells = columns.cells(state, mode);
            let count = cells.len();
            table.row(
                cells
                    .into_iter()
                    .enumerate()
                    .map(|(place, text)| match role {
                        Some(role) if place == 0 || (place + 1 == count && role == Role::Bad) => {
                            Cell::styled(role, &text)
                        }
                        _ => Cell::from(text),
                    }),
            );
        }
    }
    table.render(layout.columns, layout.charset, layout.painter)
}

fn role(state: &StateResult, mode: Option<&ModeResult>, bests: &[&str]) -> Option<Role> {
    if state.status == Status::Differs || mode.is_none_or(|mode| !mode.invalid.is_empty()) {
        return Some(Role::Bad);
    }
    bests
        .contains(&state.name.as_str())
        .then_some(Role::Emphasis)
}

/// Everything about one mode of a state.
fn details(out: &mut String, state: &StateResult, mode: &ModeResult, layout: &Layout) {
    out.push('\n');
    layout.heading(out, &format!("{} {}", state.name, mode.mode));
    let time = |value: Option<f64>| {
        value.map_or_else(
            || "–".to_owned(),
            |value| format!("{:.4}", Nanos::new(value)),
        )
    };
    let mut lines = vec![
        format!(
            "min {}, p10 {}, median {} [{}, {}], p90 {}, p99 {}",
            time(mode.min_ns),
            time(mode.p10_ns),
            time(mode.median_ns),
            time(mode.lower_ns),
            time(mode.upper_ns),
            time(mode.p90_ns),
            time(mode.p99_ns)
        ),
        format!(
            "{} samples of {}; {}",
            mode.samples,
            if mode.runs_per_sample == 1 {
                "one run".to_owned()
            } else {
                format!("{} runs", mode.runs_per_sample)
            },
            stopped(mode.stopped)
        ),
        format!(
            "warmed up for {} ({} samples); between samples {} of the harness, and {} of flush and waiting",
            Nanos::new(mode.warm_up.time_ns),
            mode.warm_up.samples,
            time(mode.overhead_ns),
            time(mode.preparation_ns)
        ),
    ];
    if let Some(placement) = &mode.placement {
        lines.push(format!(
            "lower bound {}: {} ({}, {})",
            Nanos::new(placement.bound_ns),
            placement.class,
            placement.resource,
            placement.origin
        ));
        lines.extend(
            placement
                .attainable_ns
                .map(|time| format!("attainable {}", Nanos::new(time))),
        );
    }
    for line in lines {
        layout.paragraph(out, &line, "  ", "    ", None);
    }
}
