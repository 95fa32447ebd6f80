//! Where time goes is seldom where one expects it. A change is worth trying when counters or a trace show that what it
//! mends is what costs time.
//!
//! # How it is answered
//! Yes where a report tells what binds the kernels that take most of the time (the busiest resource, latency or the launch),
//! or a trace tells what bounds the program. A trace in which kernels take the time does not tell what limits these: then a
//! report of them settles it.
//!
//! # What to do
//! Record the program first (`ridge trace`), then profile the kernels that take most of the time (`ridge why -- PROGRAM`).
//!
//! # When it is wrong
//! A report of a kernel that takes little of the program's time shows a bottleneck that does not matter: look at the trace.

use ridge_model::quantity::counted;
use ridge_trace::document::Bound;

use crate::inputs::{Inputs, Named, Program};
use crate::kernels::{OfSource, sources};
use crate::part::{Part, figure};
use crate::trace;
use crate::words::{percent, short};

pub(super) const ID: &str = "bottleneck-shown";
pub(super) const QUESTION: &str = "Is the bottleneck shown by a profiler, and not guessed?";

/// The least share of the time of kernels whose limit has to be known.
const MOST_OF_THE_TIME: f64 = 0.8;

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    let has_reports = !inputs.diagnoses.is_empty();
    let kernels = sources(inputs);
    let kernels = kernels.iter().map(of_kernels);
    let programs = inputs.programs.iter();
    kernels
        .chain(programs.filter_map(|program| of_program(program, has_reports)))
        .collect()
}

pub(super) fn ask(inputs: &Inputs) -> (String, Vec<String>) {
    (
        super::neither(inputs),
        vec![
            format!("ridge why -- {}", inputs.program()),
            super::record(inputs),
        ],
    )
}

fn of_kernels(source: &OfSource<'_>) -> Part {
    let known: Vec<_> = source
        .kernels
        .iter()
        .filter(|weighed| weighed.kernel.limiter.is_some())
        .collect();
    let share: f64 = known.iter().map(|weighed| weighed.share).sum();
    let heaviest = known
        .first()
        .and_then(|weighed| Some((weighed, weighed.kernel.limiter.as_ref()?)));
    let (Some((heaviest, limiter)), true) = (heaviest, share >= MOST_OF_THE_TIME) else {
        let mut open = source
            .kernels
            .iter()
            .filter(|weighed| weighed.kernel.limiter.is_none());
        let command = open.find_map(|weighed| weighed.kernel.settle_with.clone());
        return Part::unknown(
            format!(
                "{} does not tell what limits kernels with {} of its time",
                source.file,
                percent((1.0 - share).clamp(0.0, 1.0))
            ),
            command.unwrap_or_else(|| source.profile()),
        );
    };
    let metric = format!("{}, busy share of the duration", limiter.busiest.label());
    Part::yes(format!(
        "the counters tell what limits {} of {}; {} ({} of the time) by {}",
        counted(known.len() as u64, "kernel"),
        source.file,
        short(&heaviest.kernel.name),
        percent(heaviest.share),
        limiter.resource.label()
    ))
    .with([figure(
        source.file,
        Some(&heaviest.kernel.name),
        metric,
        limiter.share,
        "fraction",
    )])
}

fn of_program(program: &Named<Program>, has_reports: bool) -> Option<Part> {
    let verdict = program.content.trace.verdict.as_ref()?;
    let file = program.name.as_str();
    Some(match verdict.bound {
        Bound::Kernels if !has_reports => Part::unknown(
            format!(
                "{file}: {}; what limits these kernels is not known",
                verdict.title
            ),
            "ridge why -- PROGRAM",
        ),
        _ => Part::yes(format!("{file}: {}", verdict.title)).with(trace::shares(program)),
    })
}
