//! A request for memory costs the same whether a lane asks for 1 byte or for 16. With narrow accesses the load units are
//! busy, or too few bytes are in flight for the memory.
//!
//! # How it is answered
//! No where a kernel has `narrow-access`. A flaw counts from 5 % of the time of its kernel on, and kernels by their
//! share of the time; together the flaws must cost 2 % of it for a no. The figures are the rate of the device
//! memory, and of instructions.
//!
//! # What to do
//! Load and store 8 or 16 bytes a lane: `float4`, `uint4`, pairs of halves, aligned to their size; or several elements a
//! thread, loaded before their use.
//!
//! # When it is wrong
//! Where another limit is near, wider accesses save instructions and little time.

use crate::inputs::Inputs;
pub(super) use crate::kernels::ask;
use crate::kernels::{Asked, Figures, parts};
use crate::part::Part;

pub(super) const ID: &str = "wide-accesses";
pub(super) const QUESTION: &str = "Does an access move enough bytes?";

const ASKED: Asked = Asked {
    findings: &["narrow-access"],
    fine: "moves enough bytes with each access",
    figures,
};

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    parts(inputs, &ASKED)
}

fn figures(figures: &mut Figures<'_>) {
    figures.counter("dram__bytes.sum.per_second", None);
    figures.counter("smsp__inst_executed.sum", None);
}
