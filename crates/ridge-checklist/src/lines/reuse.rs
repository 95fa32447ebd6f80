//! Where each use of a value fetches it again, the load units or the memory are busy and the arithmetic idles. Tiles in
//! shared memory and registers, large enough, fetch once for many uses; fused kernels do not pass arrays through
//! memory.
//!
//! # How it is answered
//! No where a kernel has `no-reuse` or `redundant-traffic`, or neighbours have `unfused-kernels`. Which bytes are
//! needed at all only the user knows: `ridge why --bytes N -o why.json` counts how much more is moved, and its answer
//! can be given here. A flaw counts from 5 % of the time of its kernel on, and kernels by their share of the time;
//! together the flaws must cost 2 % of it for a no.
//!
//! # What to do
//! Tile: load a block of operands into shared memory once, keep a small block of results in registers. Make tiles
//! larger until registers or shared memory limit. Fuse kernels that pass an array on.
//!
//! # When it is wrong
//! Without the needed bytes, traffic that is repeated but hits no limit is not seen. Fusing can cost registers.

use crate::document::Answer;
use crate::inputs::Inputs;
pub(super) use crate::kernels::ask;
use crate::kernels::{Asked, Figures, sources};
use crate::part::Part;

pub(super) const ID: &str = "reuse";
pub(super) const QUESTION: &str =
    "Is data fetched once and used again from registers or shared memory?";

const ASKED: Asked = Asked {
    findings: &["no-reuse", "redundant-traffic", "unfused-kernels"],
    fine: "uses what it has fetched",
    figures,
};

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    let sources = sources(inputs);
    let sources = sources.iter();
    sources
        .map(|source| {
            let mut part = source.answer(&ASKED);
            if part.answer == Answer::Yes && !source.knows_what_is_needed() {
                part.reason
                    .push_str("; what it needs at least is not known (`ridge why --bytes`)");
            }
            part
        })
        .collect()
}

fn figures(figures: &mut Figures<'_>) {
    figures.counter("dram__bytes_read.sum", None);
    figures.counter("dram__bytes_write.sum", None);
    figures.counter("l1tex__m_xbar2l1tex_read_bytes.sum", None);
}
