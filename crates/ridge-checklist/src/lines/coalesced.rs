//! Global memory moves in sectors of 32 bytes. A warp that reads 4 bytes a lane needs 4 sectors where lanes are
//! neighbours, and up to 32 where they are scattered: strided, an array of structures, gathered. In the constant cache,
//! lanes that read different addresses are served one after the other.
//!
//! # How it is answered
//! No where a kernel has `uncoalesced-global` or `constant-cache`. The figures are sectors and bytes for each request
//! of a warp, and sectors beyond what the bytes need. Kernels count by their share of the time; together the flaws must
//! cost 2 % of it for a no.
//!
//! # What to do
//! Let neighbouring lanes take neighbouring elements; store a structure of arrays; sort indices; stage through shared
//! memory; align rows. Put tables that lanes index freely into shared or global memory.
//!
//! # When it is wrong
//! What asynchronous bulk copies (TMA) move is not among the requests. A gather whose indices are random by nature
//! needs its sectors.

use crate::inputs::Inputs;
pub(super) use crate::kernels::ask;
use crate::kernels::{Asked, Figures, parts};
use crate::part::Part;

pub(super) const ID: &str = "coalesced";
pub(super) const QUESTION: &str = "Do the lanes of a warp access neighbouring addresses?";

const ASKED: Asked = Asked {
    findings: &["uncoalesced-global", "constant-cache"],
    fine: "touches about as few sectors as its bytes need",
    figures,
};

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    parts(inputs, &ASKED)
}

fn figures(figures: &mut Figures<'_>) {
    figures.counter(
        "derived__memory_l2_theoretical_sectors_global_excessive",
        Some(0.0),
    );
}
