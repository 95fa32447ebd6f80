//! Shared memory has 32 banks of 4 bytes. Lanes that need different words of one bank are served one after the other,
//! each pass a wavefront.
//!
//! # How it is answered
//! No where a kernel has `bank-conflicts`: wavefronts beyond what the data needs. Conflicts that the counters show
//! although the pattern is clean are not counted. A flaw counts from 5 % of the time of its kernel on, and kernels
//! by their share of the time; together the flaws must cost 2 % of it for a no.
//!
//! # What to do
//! Pad rows by one element, swizzle columns with the row, or let lanes take another order.
//!
//! # When it is wrong
//! Wide loads (8 and 16 bytes a lane) need several wavefronts by nature; these are in the ideal.

use crate::inputs::Inputs;
pub(super) use crate::kernels::ask;
use crate::kernels::{Asked, Figures, parts};
use crate::part::Part;

pub(super) const ID: &str = "shared-memory";
pub(super) const QUESTION: &str = "Are accesses to shared memory free of bank conflicts?";

const ASKED: Asked = Asked {
    findings: &["bank-conflicts"],
    fine: "has no more shared wavefronts than its data needs",
    figures,
};

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    parts(inputs, &ASKED)
}

fn figures(figures: &mut Figures<'_>) {
    figures.counter("derived__memory_l1_wavefronts_shared_excessive", Some(0.0));
    figures.counter("launch__shared_mem_per_block", None);
}
