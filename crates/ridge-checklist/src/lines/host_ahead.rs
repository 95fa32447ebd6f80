//! A host that queues work ahead keeps the GPU fed. Each result that the host fetches and waits for (a loss, `.item()`, an
//! `if` on a value of the device), each synchronous copy and each allocation in the loop lets the queue run dry.
//!
//! # How it is answered
//! No where a trace has `unexpected-sync` or `idle-gap`, or where the device idles 2 % of the time beside copies in gaps in
//! which the host waited for it, or behind small results (up to 4 KiB) that the host fetched and waited for. The figures are
//! how many of these there are, and how long the device had nothing to do; and the calls that wait.
//!
//! # What to do
//! Read results a step later, or every hundredth step. Keep sums and decisions on the device. Allocate before the loop.
//!
//! # When it is wrong
//! Where the host needs the value to decide what comes next, the wait is part of the algorithm. Copies into pageable memory
//! wait by themselves: they are in `data-resident`.

use ridge_model::quantity::{Nanos, counted};
use ridge_trace::CallClass;
use ridge_trace::document::{Device, HostCause};

pub(super) use super::ask_for_trace as ask;
use super::record;
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
    let programs = inputs.programs.iter();
    programs
        .flat_map(|program| of_program(inputs, program))
        .collect()
}

fn of_program(inputs: &Inputs, program: &Named<Program>) -> Vec<Part> {
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
    let waits = Waits::of(&trace.devices);
    let share = waits.idle_ns.max(read.idle_ns) / beside_copies;
    let mut parts: Vec<Part> = trace::faults(program, FINDINGS).into_iter().collect();
    if share >= WORTHWHILE {
        let behind = format!(
            "{file}: the host waits for the device, which then idles {} ({} of the time beside copies, in {}); {} fetched and waited for, which costs {} of it",
            Nanos::new(waits.idle_ns.max(read.idle_ns)),
            percent(share),
            counted(waits.count, "gap"),
            counted(read.count, "small result"),
            Nanos::new(read.idle_ns),
        );
        parts.push(
            Part::no(behind)
                .saving(share)
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
                record(inputs),
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
    let figures = figures(program, &waits, share);
    if let Some(last) = parts.pop() {
        parts.push(last.with(figures));
    }
    parts
}

/// Gaps of devices in which the host waited for them.
struct Waits {
    count: u64,
    idle_ns: f64,
}

impl Waits {
    fn of(devices: &[Device]) -> Self {
        let gaps = || {
            let all = devices.iter().flat_map(|device| &device.gaps.causes);
            all.filter(|gaps| gaps.cause == HostCause::Synchronisation)
        };
        Self {
            count: gaps().map(|gaps| gaps.count).sum(),
            idle_ns: gaps().map(|gaps| gaps.sum_ns).sum(),
        }
    }
}

fn figures(program: &Named<Program>, waits: &Waits, share: f64) -> Vec<Evidence> {
    let file = program.name.as_str();
    let read = &program.content.read_backs;
    let mut list = vec![
        figure(
            file,
            None,
            "gaps in which the host waited",
            waits.count as f64,
            "gap",
        ),
        figure(file, None, "these gaps together", waits.idle_ns, "ns"),
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
            "idle while or after the host waited, of the time beside copies",
            share,
            "fraction",
        )
        .healthy(0.0),
    ];
    let calls = program.content.trace.calls.iter();
    for call in calls.filter(|call| call.class == CallClass::Synchronise) {
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
