//! A thread that waits for each load or result before it asks for the next leaves memory and pipes idle, however many
//! threads there are.
//!
//! # How it is answered
//! No where a kernel has `latency-bound`. The figures are warps that could issue, and how often one does. A flaw
//! counts from 5 % of the time of its kernel on, and kernels by their share of the time; together the flaws must
//! cost 2 % of it for a no.
//!
//! # What to do
//! Several elements a thread, loads before their use, unrolled loops with several sums, 8- and 16-byte accesses,
//! asynchronous copies one tile ahead.
//!
//! # When it is wrong
//! Chains that the algorithm needs (recurrences, linked lists) cannot be cut; more of them side by side can run.

use crate::inputs::Inputs;
pub(super) use crate::kernels::ask;
use crate::kernels::{Asked, Figures, parts};
use crate::part::Part;

pub(super) const ID: &str = "independent-work";
pub(super) const QUESTION: &str = "Has each thread enough independent work in flight?";

const ASKED: Asked = Asked {
    findings: &["latency-bound"],
    fine: "has enough in flight",
    figures,
};

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    parts(inputs, &ASKED)
}

fn figures(figures: &mut Figures<'_>) {
    figures.counter("smsp__warps_eligible.avg.per_cycle_active", None);
    figures.counter("smsp__issue_active.avg.per_cycle_active", None);
}
