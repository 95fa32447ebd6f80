//! While a warp waits for memory, another one can work. Registers, shared memory and the size of blocks limit how many
//! are resident.
//!
//! # How it is answered
//! No where a kernel has `low-occupancy-registers`, `low-occupancy-shared` or `low-occupancy-block`. Low occupancy
//! alone is no flaw: it counts only where latency is what the kernel waits for. A flaw counts from 5 % of the time
//! of its kernel on, and kernels by their share of the time; together the flaws must cost 2 % of it for a no.
//!
//! # What to do
//! `ridge occupancy` tells which limit binds and which launch has more warps. Fewer registers, smaller tiles, larger
//! blocks.
//!
//! # When it is wrong
//! More warps can push data out of the caches. Independent work in each thread hides latency as well.

use crate::inputs::Inputs;
pub(super) use crate::kernels::ask;
use crate::kernels::{Asked, Figures, parts};
use crate::part::Part;

pub(super) const ID: &str = "occupancy";
pub(super) const QUESTION: &str = "Are enough warps resident to hide latency?";

const ASKED: Asked = Asked {
    findings: &[
        "low-occupancy-registers",
        "low-occupancy-shared",
        "low-occupancy-block",
    ],
    fine: "has the warps that it needs",
    figures,
};

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    parts(inputs, &ASKED)
}

fn figures(figures: &mut Figures<'_>) {
    figures.counter("sm__maximum_warps_per_active_cycle_pct", None);
    figures.counter("sm__warps_active.avg.pct_of_peak_sustained_active", None);
}
