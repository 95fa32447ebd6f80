//! Global memory moves in sectors of 32 bytes. A warp that reads 4 bytes a lane needs 4 sectors where lanes are
//! neighbours, and up to 32 where they are scattered: strided, an array of structures, gathered. In the constant cache,
//! lanes that read different addresses are served one after the other.
//!
//! # How it is answered
//! No where a kernel has `uncoalesced-global` or `constant-cache`. The figures are sectors and bytes for each
//! request of a warp, and sectors beyond what the bytes need. A flaw counts from 5 % of the time of its kernel on,
//! and kernels by their share of the time; together the flaws must cost 2 % of it for a no.
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

/// Bytes of a sector, on all architectures since Maxwell.
const SECTOR_BYTES: f64 = 32.0;
/// Requests of warps for global memory, with the sectors that they touch.
const REQUESTS_AND_SECTORS: [[&str; 2]; 2] = [
    [
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    ],
    [
        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    ],
];

const ASKED: Asked = Asked {
    findings: &["uncoalesced-global", "constant-cache"],
    fine: "touches about as few sectors as its bytes need",
    figures,
};

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    parts(inputs, &ASKED)
}

fn figures(figures: &mut Figures<'_>) {
    for [requests, sectors] in REQUESTS_AND_SECTORS {
        let (Some(requested), Some(touched)) = (figures.of(requests), figures.of(sectors)) else {
            continue;
        };
        if requested > 0.0 {
            let each = touched / requested;
            let metric = format!("{sectors} / {requests}");
            figures.value(&metric, each, "sector/request", None);
            let metric = format!("{SECTOR_BYTES:.0} B x that: moved for a warp");
            figures.value(&metric, each * SECTOR_BYTES, "byte", None);
        }
    }
    figures.counter(
        "derived__memory_l2_theoretical_sectors_global_excessive",
        Some(0.0),
    );
}
