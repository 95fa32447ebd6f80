//! A grid with fewer blocks than the GPU holds at once, or with a last wave that is mostly empty, leaves SMs without
//! work.
//!
//! # How it is answered
//! No where a kernel has `underfilled-grid` or `tail-effect`. The figures are waves (how often the grid fills the
//! device) and blocks a launch. A flaw counts from 5 % of the time of its kernel on, and kernels by their share of
//! the time; together the flaws must cost 2 % of it for a no.
//!
//! # What to do
//! Split the work finer: more and smaller blocks, a split of the long dimension of sums, several problems in one
//! launch. A persistent kernel with a queue of tiles has no tail.
//!
//! # When it is wrong
//! A kernel that runs beside others on the same GPU may be small on purpose; the profiler runs it alone.

use crate::inputs::Inputs;
pub(super) use crate::kernels::ask;
use crate::kernels::{Asked, Figures, parts};
use crate::part::Part;

pub(super) const ID: &str = "fills-device";
pub(super) const QUESTION: &str = "Is there enough parallel work to fill every SM?";

const ASKED: Asked = Asked {
    findings: &["underfilled-grid", "tail-effect"],
    fine: "has blocks for every SM",
    figures,
};

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    parts(inputs, &ASKED)
}

fn figures(figures: &mut Figures<'_>) {
    figures.counter("launch__waves_per_multiprocessor", Some(1.0));
    figures.counter("launch__thread_count", None);
}
