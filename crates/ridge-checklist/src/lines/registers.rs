//! What does not fit into registers, and arrays with an index that is not known to the compiler, live in local memory:
//! device memory with a cache in front.
//!
//! # How it is answered
//! No where a kernel has `register-spill` or `local-memory`. The figures are registers of a thread and loads and
//! stores of spills and local arrays. A flaw counts from 5 % of the time of its kernel on, and kernels by their
//! share of the time; together the flaws must cost 2 % of it for a no.
//!
//! # What to do
//! Lift a register cap (`__launch_bounds__`, `-maxrregcount`), keep less state, make tiles smaller; index private
//! arrays with constants, or keep them in shared memory.
//!
//! # When it is wrong
//! A few spills outside of loops cost nothing, and are not told.

use crate::inputs::Inputs;
pub(super) use crate::kernels::ask;
use crate::kernels::{Asked, Figures, parts};
use crate::part::Part;

pub(super) const ID: &str = "registers";
pub(super) const QUESTION: &str = "Do all values of a thread stay in registers?";

const ASKED: Asked = Asked {
    findings: &["register-spill", "local-memory"],
    fine: "keeps its values in registers",
    figures,
};

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    parts(inputs, &ASKED)
}

fn figures(figures: &mut Figures<'_>) {
    figures.counter("launch__registers_per_thread", None);
    figures.counter("sass__inst_executed_register_spilling", Some(0.0));
    figures.counter("smsp__sass_inst_executed_op_local_ld.sum", Some(0.0));
}
