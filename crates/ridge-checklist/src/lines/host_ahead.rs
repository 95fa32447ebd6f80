//! A host that queues work ahead keeps the GPU fed. Each result that the host fetches and waits for (a loss, `.item()`, an
//! `if` on a value of the device), each synchronous copy and each allocation in the loop lets the queue run dry.
//!
//! # How it is answered
//! No where a trace has `unexpected-sync` or `idle-gap`, or where the device idles 2 % of the time beside copies behind small
//! results (up to 4 KiB) that the host fetched and waited for. The figures are how many of these there are, and how long
//! the device had nothing to do behind them; and the calls that wait.
//!
//! # What to do
//! Read results a step later, or every hundredth step. Keep sums and decisions on the device. Allocate before the loop.
//!
//! # When it is wrong
//! Where the host needs the value to decide what comes next, the wait is part of the algorithm. Copies into pageable memory
//! wait by themselves: they are in `data-resident`.

use ridge_model::quantity::{Nanos, counted};
use ridge_trace::CallClass;

use super::RECORD;
pub(super) use super::ask_for_trace as ask;
use crate::document::Evidence;
use crate::inputs::{Inputs, Named, Program};
use crate::kernels::WORTHWHILE;
use crate::part::{Part, figure};
use crate::trace;
use crate::words::percent;

pub(super) const ID: &str = "host-ahead";
pub(super) const QUESTION: &str =
    "Does the host keep ahead of the device, without waits in between?";

const FINDINGS: &[&str] = &["unexpected-sync", "idle-gap"];

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    inputs.programs.iter().flat_map(of_program).collect()
}

fn of_program(program: &Named<Program>) -> Vec<Part> {
    let trace = &program.content.trace;
    let file = program.name.as_str();
    let beside_copies: f64 = trace
        .devices
        .iter()
        .map(|device| device.span_ns - device.copy_exposed_ns)
        .sum();
    if beside_copies <= 0.0 {
        return Vec::new();
    }
    let read = &program.content.read_backs;
    let share = read.idle_ns / beside_copies;
    let mut parts: Vec<Part> = trace::faults(program, FINDINGS).into_iter().collect();
    if read.count > 0 && share >= WORTHWHILE {
        let behind = format!(
            "{file}: {} small {} fetched and waited for, and the device then idles {}, {} of the time beside copies",
            read.count,
            if read.count == 1 {
                "result is"
            } else {
                "results are"
            },
            Nanos::new(read.idle_ns),
            percent(share)
        );
        parts.push(
            Part::no(behind)
                .doing([
                    "read such results a step later, or seldom (a loss, `.item()`, a flag)"
                        .to_owned(),
                ])
                .then(trace::timeline(file)),
        );
    }
    if parts.is_empty() {
        if trace::is_open(program, FINDINGS) {
            return vec![Part::unknown(
                format!("{file} has no calls of the host"),
                RECORD,
            )];
        }
        let few = match read.count {
            0 => "no small result is fetched and waited for".to_owned(),
            count => format!(
                "{} fetched and waited for cost {} of the time beside copies",
                counted(count, "small result"),
                percent(share)
            ),
        };
        parts.push(Part::yes(format!("{file}: {few}")));
    }
    let figures = figures(program, share);
    if let Some(last) = parts.pop() {
        parts.push(last.with(figures));
    }
    parts
}

fn figures(program: &Named<Program>, share: f64) -> Vec<Evidence> {
    let file = program.name.as_str();
    let read = &program.content.read_backs;
    let mut list = vec![
        figure(
            file,
            None,
            "small results fetched and waited for",
            read.count as f64,
            "copy",
        ),
        figure(file, None, "idle behind them", read.idle_ns, "ns"),
        figure(
            file,
            None,
            "idle behind them, of the time beside copies",
            share,
            "fraction",
        )
        .healthy(0.0),
    ];
    let waits = program.content.trace.calls.iter();
    for call in waits.filter(|call| call.class == CallClass::Synchronise) {
        list.push(figure(
            file,
            Some(&call.name),
            "calls that wait",
            call.durations.count as f64,
            "call",
        ));
    }
    list
}
