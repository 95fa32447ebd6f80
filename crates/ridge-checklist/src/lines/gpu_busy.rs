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
use crate::part::{Part, figure};
use crate::trace;
use ridge_trace::document::Bound;

pub(super) const ID: &str = "gpu-busy";
pub(super) const QUESTION: &str = "Does the time go to kernels, and not to launches and copies?";

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    inputs.programs.iter().filter_map(of_program).collect()
}

fn of_program(program: &Named<Program>) -> Option<Part> {
    let trace = &program.content.trace;
    let file = program.name.as_str();
    let verdict = trace.verdict.as_ref()?;
    let device = trace
        .devices
        .iter()
        .find(|device| device.number == verdict.device)?;
    let reason = format!("{file}: {}", verdict.title);
    let part = match verdict.bound {
        Bound::Kernels => Part::yes(reason),
        Bound::Copies | Bound::Host | Bound::Idle => Part::no(reason).then(trace::timeline(file)),
    };
    let name = format!("device {}", device.number);
    let share =
        |metric: &str, ns: f64| figure(file, Some(&name), metric, ns / device.span_ns, "fraction");
    if device.span_ns <= 0.0 {
        return Some(part);
    }
    Some(part.with([
        share("kernels, of the span", device.kernel_ns),
        share(
            "copies that no kernel hides, of the span",
            device.copy_exposed_ns,
        ),
        share("nothing, of the span", device.idle_ns),
    ]))
}
