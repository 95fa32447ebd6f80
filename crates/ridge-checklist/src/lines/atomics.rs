//! Atomic operations on one address are served one after the other, and fences that reach the whole device drain what a
//! thread has under way.
//!
//! # How it is answered
//! No where a kernel has `atomic-contention` or `memory-barrier`. A flaw counts from 5 % of the time of its kernel
//! on, and kernels by their share of the time; together the flaws must cost 2 % of it for a no.
//!
//! # What to do
//! Reduce in registers, then in the warp, then in the block, and write once; give blocks copies of their own; use
//! fences of the scope that is needed.
//!
//! # When it is wrong
//! Contention depends on the data: one hot bin in the input makes it.

use crate::inputs::Inputs;
pub(super) use crate::kernels::ask;
use crate::kernels::{Asked, Figures, parts};
use crate::part::Part;

pub(super) const ID: &str = "atomics";
pub(super) const QUESTION: &str = "Do threads seldom write to the same address?";

const ASKED: Asked = Asked {
    findings: &["atomic-contention", "memory-barrier"],
    fine: "writes to shared addresses seldom enough",
    figures,
};

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    parts(inputs, &ASKED)
}

fn figures(figures: &mut Figures<'_>) {
    figures.counter("lts__t_sectors_srcunit_tex_op_atom.sum", None);
    figures.counter("lts__t_sectors_srcunit_tex_op_red.sum", None);
}
