//! Clean times: results of `ridge bench` for kernels that were profiled.

use std::ffi::OsString;

use ridge_bench::document::{Document, ModeResult, StateResult, Status};
use ridge_bench::protocol::Mode;
use ridge_compare::document::Note;
use ridge_compare::kernels::document::TimeOrigin;
use ridge_compare::kernels::{Clean, CleanTimes};

use crate::error::ExpectedError;
use crate::evidence::shown_name;
use crate::filter::Address;
use crate::input::Input;
use crate::output::Output;

/// Modes in the order in which they are taken: a profiler flushes the caches before each pass, as the first does. Host times
/// have launch and wait in them and say nothing about a kernel.
const MODES: [Mode; 4] = [Mode::Cold, Mode::Hot, Mode::Batch, Mode::Graph];

/// What the files hold.
#[derive(Default)]
pub(super) struct Times {
    /// One for each mode.
    pub(super) times: Vec<CleanTimes>,
    pub(super) notes: Vec<Note>,
}

/// Reads the results of both sides.
pub(super) fn read(
    files: &[(OsString, OsString)],
    output: &Output,
) -> Result<Times, ExpectedError> {
    let mut before = Vec::new();
    let mut after = Vec::new();
    for (one, other) in files {
        before.push(document(one, output)?);
        after.push(document(other, output)?);
    }
    let mut times = Times::default();
    let devices = |documents: &[Document]| -> Vec<String> {
        let mut names: Vec<String> = documents
            .iter()
            .map(|document| document.machine.device.clone())
            .collect();
        names.dedup();
        names
    };
    let (ours, theirs) = (devices(&before), devices(&after));
    let invalid = (ours != theirs).then(|| {
        format!(
            "the times are of different devices ({} before, {} after)",
            ours.join(", "),
            theirs.join(", ")
        )
    });
    if before
        .iter()
        .chain(&after)
        .any(|document| document.machine.is_simulated)
    {
        times.notes.push(Note::remark(
            "simulated",
            "times of a simulated device are those of a model, and no measurements".to_owned(),
        ));
    }
    for mode in MODES {
        let (before, after) = (clean(&before, mode), clean(&after, mode));
        if !before.is_empty() && !after.is_empty() {
            times.times.push(CleanTimes {
                origin: TimeOrigin::Benchmark,
                before,
                after,
                invalid: invalid.clone(),
            });
        }
    }
    Ok(times)
}

fn document(file: &OsString, output: &Output) -> Result<Document, ExpectedError> {
    let address = Address::whole(file);
    let input = Input::open(&address, output)?;
    if Document::looks_like(input.bytes()) {
        return super::side::bench(&input, &address);
    }
    let text = address.text();
    Err(ExpectedError::unreadable(format!(
        "cannot read {}: --times takes what `ridge bench --format json` wrote, and it is something else",
        shown_name(&text)
    ))
    .with_hint("measure each version with `ridge bench SPEC -o results.json`"))
}

/// The times of one mode; those of one kernel and size in several documents are runs.
fn clean(documents: &[Document], mode: Mode) -> Vec<Clean> {
    let mut list: Vec<Clean> = Vec::new();
    for document in documents {
        for state in &document.states {
            // What several launches take together is not the time of a kernel.
            let [launch] = state.launches.as_slice() else {
                continue;
            };
            let Some(result) = state.modes.iter().find(|result| result.mode == mode) else {
                continue;
            };
            let run = samples(state, result);
            let is_it = |clean: &&mut Clean| {
                clean.label == state.name
                    && clean.name == launch.entry
                    && clean.grid == Some(launch.grid)
                    && clean.block == Some(launch.block)
            };
            match list.iter_mut().find(is_it) {
                Some(known) => {
                    known.runs_ns.push(run);
                    known.invalid = known.invalid.take().or_else(|| invalid(state, result));
                }
                None => list.push(Clean {
                    name: launch.entry.clone(),
                    grid: Some(launch.grid),
                    block: Some(launch.block),
                    label: state.name.clone(),
                    runs_ns: vec![run],
                    step_ns: document
                        .floors
                        .as_ref()
                        .map(|floors| floors.timer_step_ns / result.runs_per_sample.max(1) as f64)
                        .filter(|step| *step > 0.0 && step.is_finite()),
                    clock_hz: result.clock_hz,
                    bytes: state.bytes,
                    flops: state.flops,
                    invalid: invalid(state, result),
                }),
            }
        }
    }
    list
}

/// Samples that count, for one launch each.
fn samples(state: &StateResult, result: &ModeResult) -> Vec<f64> {
    let raw = &result.raw;
    let repeat = f64::from(state.repeat.max(1));
    raw.times_ns
        .iter()
        .enumerate()
        .filter(|(place, _)| raw.rejected.get(*place).is_none_or(Option::is_none))
        .map(|(_, time)| time / repeat)
        .collect()
}

fn invalid(state: &StateResult, result: &ModeResult) -> Option<String> {
    match state.status {
        Status::Differs => return Some("its outputs are wrong".to_owned()),
        Status::Failed => return Some("it did not run".to_owned()),
        Status::Valid | Status::Invalid => {}
    }
    result.invalid.first().map(|remark| remark.text.clone())
}
