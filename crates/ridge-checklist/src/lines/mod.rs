//! The questions: one in one file, whose doc comment is its documentation. None looks at names of kernels, files or sources.

mod atomics;
mod balanced;
mod barriers;
mod bottleneck_shown;
mod coalesced;
mod cpu_comparison;
mod data_resident;
mod enough_work;
mod fills_device;
mod gpu_busy;
mod host_ahead;
mod independent_work;
mod instructions;
mod measured_properly;
mod occupancy;
mod precision;
mod registers;
mod release_build;
mod reproducible;
mod reuse;
mod shared_memory;
mod uniform_branches;
mod wide_accesses;

use crate::document::Group;
use crate::inputs::Inputs;
use crate::part::Part;

/// A question.
pub(crate) struct Check {
    pub(crate) id: &'static str,
    pub(crate) group: Group,
    pub(crate) question: &'static str,
    /// The file, whose head describes it.
    pub(crate) source: &'static str,
    /// What each input says about it.
    pub(crate) look: fn(&Inputs) -> Vec<Part>,
    /// Where no input says anything: why, and the commands that would.
    pub(crate) ask: fn(&Inputs) -> (String, Vec<String>),
}

macro_rules! lines {
    ($($group:ident: $($module:ident),+;)+) => {
        /// All questions, in the order of the list.
        pub(crate) const LINES: &[Check] = &[$($(Check {
            id: $module::ID,
            group: Group::$group,
            question: $module::QUESTION,
            source: include_str!(concat!(stringify!($module), ".rs")),
            look: $module::look,
            ask: $module::ask,
        }),+),+];
    };
}

lines! {
    Worth: enough_work, data_resident, gpu_busy, host_ahead, cpu_comparison;
    Kernels: fills_device, balanced, uniform_branches, coalesced, wide_accesses, reuse, shared_memory, occupancy, independent_work, registers,
        atomics, barriers, instructions;
    Results: precision, reproducible;
    Measurement: bottleneck_shown, measured_properly, release_build;
}

/// What records a program over time.
pub(crate) fn record(inputs: &Inputs) -> String {
    format!("ridge trace -o app.ridgetrace -- {}", inputs.program())
}

/// Why nothing is known where a report or a trace would tell.
pub(crate) fn neither(inputs: &Inputs) -> String {
    if inputs.diagnoses.is_empty() && inputs.programs.is_empty() {
        "neither a report nor a trace is given"
    } else {
        "what is given holds nothing that a device did"
    }
    .to_owned()
}

/// What to provide where there is no trace.
pub(crate) fn ask_for_trace(inputs: &Inputs) -> (String, Vec<String>) {
    let reason = if inputs.programs.is_empty() {
        "no trace of the program is given"
    } else {
        "the trace holds nothing that a device did"
    };
    (
        reason.to_owned(),
        vec![record(inputs), "ridge checklist app.ridgetrace".to_owned()],
    )
}
