//! The same result can cost one instruction or fifty: double precision where single was meant, divisions and functions
//! in full precision, separate multiplies and adds, one half at a time, matrix products beside the tensor cores,
//! address arithmetic, code that does not fit into its cache.
//!
//! # How it is answered
//! No where a kernel has `fp64-promotion`, `special-function`, `integer-alu`, `unfused-fp`, `half-scalar`,
//! `no-tensor- cores` or `instruction-cache`. A flaw counts from 5 % of the time of its kernel on, and kernels by
//! their share of the time; together the flaws must cost 2 % of it for a no.
//!
//! # What to do
//! Each finding names its remedy: float literals and functions, approximations within tolerance, fused operations,
//! packed halves, `mma` instructions or a library, 32-bit indices, less unrolling.
//!
//! # When it is wrong
//! Faster formats and approximations change results: see the line on precision before they are used.

use crate::inputs::Inputs;
pub(super) use crate::kernels::ask;
use crate::kernels::{Asked, Figures, parts};
use crate::part::Part;

pub(super) const ID: &str = "instructions";
pub(super) const QUESTION: &str =
    "Does the arithmetic use the cheapest instructions that do the job?";

const ASKED: Asked = Asked {
    findings: &[
        "fp64-promotion",
        "special-function",
        "integer-alu",
        "unfused-fp",
        "half-scalar",
        "no-tensor-cores",
        "instruction-cache",
    ],
    fine: "spends its instructions on the work",
    figures,
};

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    parts(inputs, &ASKED)
}

fn figures(figures: &mut Figures<'_>) {
    figures.counter(
        "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed",
        None,
    );
    figures.counter(
        "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed",
        None,
    );
    figures.counter(
        "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
        None,
    );
}
