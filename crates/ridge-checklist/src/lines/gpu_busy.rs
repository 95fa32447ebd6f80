//! Time in which the device copies, or waits for the host, is time without a kernel. A port is worth it when kernels take most
//! of the time of the program's GPU part.
//!
//! # How it is answered
//! By what takes most of the span of the busiest device in a trace: yes where kernels do, no where copies, the host or other
//! idle time do. The figures are the shares of the span: kernels, copies beside which no kernel runs, nothing.
//!
//! # What to do
//! Where copies take it: see `data-resident`. Where the host is late: see `enough-work` and `host-ahead`. Where the program
//! has little for the GPU, port the steps around the kernels too.
//!
//! # When it is wrong
//! A short trace has the start of the program in it: record the steady part, or look at a range of it.

pub(super) use super::ask_for_trace as ask;
use crate::inputs::{Inputs, Named, Program};
use crate::part::Part;
use crate::trace;
use ridge_trace::document::Bound;

pub(super) const ID: &str = "gpu-busy";
pub(super) const QUESTION: &str = "Does the time go to kernels, and not to launches and copies?";

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    inputs.programs.iter().filter_map(of_program).collect()
}

fn of_program(program: &Named<Program>) -> Option<Part> {
    let file = program.name.as_str();
    let verdict = program.content.trace.verdict.as_ref()?;
    let reason = format!("{file}: {}", verdict.title);
    let part = match verdict.bound {
        Bound::Kernels => Part::yes(reason),
        Bound::Copies | Bound::Host | Bound::Idle => Part::no(reason)
            .doing([advice(verdict.bound).to_owned()])
            .then(trace::timeline(file)),
    };
    Some(part.with(trace::shares(program)))
}

/// What to do first where something else than kernels takes the time.
const fn advice(bound: Bound) -> &'static str {
    match bound {
        Bound::Copies => {
            "keep data on the device, copy from and to pinned memory, and beside kernels: see data-resident"
        }
        Bound::Host => {
            "let the host queue work ahead, in fewer and larger launches: see host-ahead and enough-work"
        }
        Bound::Kernels | Bound::Idle => {
            "port the steps around the kernels too, or give each of them more work: see enough-work"
        }
    }
}
