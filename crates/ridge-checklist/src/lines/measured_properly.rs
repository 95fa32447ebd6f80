//! A time is a result when the device was warm, its clock held, the work done and waited for, and taken often enough to know
//! its spread; when the code was the release build; and when both sides of a comparison did the same work.
//!
//! # How it is answered
//! By results of `ridge bench`, which hold what they rest on. No where a time is not valid (the clock was not held, too few
//! samples count, a time is below its lower bound), or where the device was a model. Yes where all are valid; the figures are
//! samples, warm-up, and the width of the interval of the median. Remarks such as throttling, other processes on the GPU, a
//! drift or a time near the floor are told with it. Durations of a profiler are no answer: they are of one run.
//!
//! # What to do
//! Measure with `ridge bench` on an idle GPU. Each reason tells what to try: more samples, a lower clock, a longer warm-up.
//!
//! # When it is wrong
//! What the spec leaves out is not measured: whether inputs are like the real ones only the user knows.

use ridge_bench::document::{Document as Bench, ModeResult, StateResult, Status};
use ridge_bench::protocol::WarmUpEnd;
use ridge_model::quantity::counted;

use crate::inputs::{Inputs, Named};
use crate::part::{Part, figure};
use crate::words::list;

pub(super) const ID: &str = "measured-properly";
pub(super) const QUESTION: &str = "Are the times measured properly?";

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    inputs.benches.iter().map(of_bench).collect()
}

pub(super) fn ask(inputs: &Inputs) -> (String, Vec<String>) {
    let reason = if inputs.diagnoses.is_empty() && inputs.programs.is_empty() {
        "no result of a benchmark is given".to_owned()
    } else {
        "durations of a profiler or a trace are of one run, and say nothing of their spread"
            .to_owned()
    };
    (
        reason,
        vec!["ridge bench SPEC.toml -o bench.json".to_owned()],
    )
}

fn of_bench(named: &Named<Bench>) -> Part {
    let (document, file) = (&named.content, named.name.as_str());
    let again = "ridge bench SPEC.toml -o bench.json";
    let modes = || {
        let states = document.states.iter();
        states.flat_map(|state| state.modes.iter().map(move |mode| (state, mode)))
    };
    if document.machine.is_simulated {
        return Part::no(format!(
            "{file}: the device is a model, whose times are no measurements"
        ))
        .with([figure(
            file,
            None,
            "states that were timed on a model",
            document.states.len() as f64,
            "state",
        )
        .healthy(0.0)])
        .doing(["measure on a GPU: --device 0".to_owned()])
        .then(again);
    }
    let invalid: Vec<String> = modes()
        .flat_map(|(state, mode)| {
            let reasons = mode.invalid.iter();
            reasons.map(move |remark| format!("{}, {}: {}", state.name, mode.mode, remark.text))
        })
        .collect();
    if !invalid.is_empty() {
        let hints =
            modes().flat_map(|(_, mode)| mode.invalid.iter().filter_map(|r| r.hint.clone()));
        return Part::no(format!("{file}: {}", first_few(&invalid)))
            .doing(hints.take(3).collect::<Vec<_>>())
            .then(again)
            .with(worst(file, modes()));
    }
    let timed = |state: &&StateResult| state.status != Status::Failed && !state.modes.is_empty();
    let count = document.states.iter().filter(timed).count();
    if count == 0 || !document.is_complete {
        return Part::unknown(
            format!("{file}: not every state was measured to its end"),
            again,
        );
    }
    let mut notes: Vec<String> = modes()
        .flat_map(|(_, mode)| mode.notes.iter().map(|note| note.id.clone()))
        .collect();
    notes.sort_unstable();
    notes.dedup();
    let notes = match notes.as_slice() {
        [] => String::new(),
        some => format!("; with remarks: {}", list(some)),
    };
    Part::yes(format!(
        "{file}: {} with valid times{notes}",
        counted(count as u64, "state")
    ))
    .with(worst(file, modes()))
}

fn first_few(reasons: &[String]) -> String {
    const FEW: usize = 3;
    let more = reasons.len().saturating_sub(FEW);
    let shown = reasons
        .iter()
        .take(FEW)
        .cloned()
        .collect::<Vec<_>>()
        .join("; ");
    match more {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

/// What the least certain time rests on.
fn worst<'b>(
    file: &str,
    modes: impl Iterator<Item = (&'b StateResult, &'b ModeResult)>,
) -> Vec<crate::document::Evidence> {
    let width = |mode: &ModeResult| {
        let (lower, upper, median) = (mode.lower_ns?, mode.upper_ns?, mode.median_ns?);
        (median > 0.0).then(|| (upper - lower) / (2.0 * median))
    };
    let worst = modes.max_by(|a, b| {
        let width = |mode: &ModeResult| width(mode).unwrap_or(f64::INFINITY);
        width(a.1).total_cmp(&width(b.1))
    });
    let Some((state, mode)) = worst else {
        return Vec::new();
    };
    let about = format!("{}, {}", state.name, mode.mode);
    let about = Some(about.as_str());
    let mut list = vec![
        figure(
            file,
            about,
            "samples that count",
            mode.samples as f64,
            "sample",
        ),
        figure(
            file,
            about,
            "samples that do not",
            mode.rejected as f64,
            "sample",
        ),
        figure(
            file,
            about,
            match mode.warm_up.ended {
                WarmUpEnd::Settled => "warm-up, until the clock had settled",
                WarmUpEnd::Limit => "warm-up, after which the clock still moved",
                WarmUpEnd::NoClock => "warm-up, without a clock to look at",
            },
            mode.warm_up.time_ns,
            "ns",
        ),
    ];
    if let Some(width) = width(mode) {
        list.push(figure(
            file,
            about,
            "half width of the median's interval",
            width,
            "fraction",
        ));
    }
    if let Some(clock) = mode.clock_hz {
        list.push(figure(file, about, "SM clock of the samples", clock, "Hz"));
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profiler_alone_is_no_measurement() {
        let (reason, next) = ask(&Inputs::default());
        assert!(reason.contains("benchmark") && next[0].starts_with("ridge bench"));
    }
}
