//! A barrier makes every warp of a block wait for the slowest. Many barriers with little work between them leave
//! nothing to run.
//!
//! # How it is answered
//! No where a kernel has `barrier-stall`. The figure is the number of cycles for each instruction that warps stand
//! at barriers. A flaw counts from 5 % of the time of its kernel on, and kernels by their share of the time;
//! together the flaws must cost 2 % of it for a no.
//!
//! # What to do
//! Fewer barriers (more work between two of them), exchanges within the warp, smaller blocks so that another block can
//! run meanwhile.
//!
//! # When it is wrong
//! In kernels whose warps have different jobs, waiting at a barrier is how the idle ones wait.

use crate::inputs::Inputs;
pub(super) use crate::kernels::ask;
use crate::kernels::{Asked, Figures, parts};
use crate::part::Part;

pub(super) const ID: &str = "barriers";
pub(super) const QUESTION: &str = "Do warps seldom wait for each other at barriers?";

const ASKED: Asked = Asked {
    findings: &["barrier-stall"],
    fine: "loses little at barriers",
    figures,
};

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    parts(inputs, &ASKED)
}

fn figures(figures: &mut Figures<'_>) {
    figures.counter(
        "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
        Some(0.0),
    );
}
