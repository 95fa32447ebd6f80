//! A warp runs every path that one of its 32 lanes takes, one after the other, with the other lanes switched off.
//!
//! # How it is answered
//! No where a kernel has `warp-divergence`. The figure is the mean number of lanes that take part in an
//! instruction, of 32. A flaw counts from 5 % of the time of its kernel on, and kernels by their share of the time;
//! together the flaws must cost 2 % of it for a no.
//!
//! # What to do
//! Give lanes of one warp work of the same kind: sort by case, split into one kernel for each case, compute both sides
//! and select where they are short.
//!
//! # When it is wrong
//! Lanes that are off at the edge of the data, or because a block is no multiple of 32, count as well.

use crate::inputs::Inputs;
pub(super) use crate::kernels::ask;
use crate::kernels::{Asked, Figures, parts};
use crate::part::Part;

pub(super) const ID: &str = "uniform-branches";
pub(super) const QUESTION: &str = "Do the lanes of a warp take the same branches?";

const ASKED: Asked = Asked {
    findings: &["warp-divergence"],
    fine: "keeps its lanes together",
    figures,
};

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    parts(inputs, &ASKED)
}

fn figures(figures: &mut Figures<'_>) {
    figures.counter(
        "smsp__thread_inst_executed_per_inst_executed.ratio",
        Some(32.0),
    );
}
