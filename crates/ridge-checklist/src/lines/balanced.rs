//! A kernel lasts as long as its longest block. Where some blocks or warps have far more to do, the rest of the GPU
//! waits for them.
//!
//! # How it is answered
//! No where a kernel has `load-imbalance`: cycles of the busiest SM against those of the others, and lifetimes of
//! warps. A flaw counts from 5 % of the time of its kernel on, and kernels by their share of the time; together the
//! flaws must cost 2 % of it for a no.
//!
//! # What to do
//! Sort or bin items by their cost, give long ones to several threads, or let blocks fetch the next item when they are
//! done.
//!
//! # When it is wrong
//! One launch tells of one input: other data can be more even, or less.

use crate::inputs::Inputs;
pub(super) use crate::kernels::ask;
use crate::kernels::{Asked, Figures, parts};
use crate::part::Part;

pub(super) const ID: &str = "balanced";
pub(super) const QUESTION: &str = "Do all SMs and warps finish at about the same time?";

const ASKED: Asked = Asked {
    findings: &["load-imbalance"],
    fine: "keeps its SMs busy for about the same time",
    figures,
};

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    parts(inputs, &ASKED)
}

fn figures(figures: &mut Figures<'_>) {
    figures.counter("sm__cycles_active.max", None);
}
