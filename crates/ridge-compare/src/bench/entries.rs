//! Which states of two sides belong together.

use std::collections::HashMap;

use ridge_bench::document::{AxisValue, Document, ModeResult, StateResult, Status};
use ridge_bench::protocol::Mode;
use ridge_stats::{Error, Samples};

use super::document::Subject;

/// One mode of one state in one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'d> {
    pub(super) document: &'d Document,
    pub(super) state: &'d StateResult,
    /// What was asked for.
    asked: Mode,
    /// Absent where the state did not run.
    pub(super) mode: Option<&'d ModeResult>,
}

impl<'d> Entry<'d> {
    /// Whether its time counts.
    pub(super) fn is_valid(&self) -> bool {
        self.state.status != Status::Differs
            && self.state.status != Status::Failed
            && self
                .mode
                .is_some_and(|mode| mode.invalid.is_empty() && mode.median_ns.is_some())
    }

    /// The samples that count.
    pub(super) fn samples(&self) -> Result<Samples, Error> {
        let Some(mode) = self.mode else {
            return Err(Error::Empty);
        };
        let times = mode.raw.times_ns.iter().zip(&mode.raw.rejected);
        let times = times.filter(|(_, rejected)| rejected.is_none());
        let samples = Samples::new(times.map(|(time, _)| *time).collect())?;
        match self.step_ns() {
            Some(step) => samples.with_step(step),
            None => Ok(samples),
        }
    }

    /// The timer's step in a time of this mode; absent where the host's clock, which is finer than anything, was used.
    pub(super) fn step_ns(&self) -> Option<f64> {
        let mode = self.mode.filter(|mode| mode.mode != Mode::Latency)?;
        let step = self.document.floors?.timer_step_ns / mode.runs_per_sample.max(1) as f64;
        (step.is_finite() && step > 0.0).then_some(step)
    }

    pub(super) fn subject(&self) -> Subject {
        Subject {
            benchmark: benchmark(self.document, self.state).to_owned(),
            state: self.state.name.clone(),
            kernel: self.state.kernel.clone(),
            axes: self.state.axes.clone(),
            mode: self.asked,
        }
    }
}

/// The benchmark that a state is of.
fn benchmark<'d>(document: &'d Document, state: &StateResult) -> &'d str {
    state
        .spec
        .and_then(|spec| document.specs.get(spec))
        .map_or(document.benchmark.as_str(), |spec| spec.benchmark.as_str())
}

/// What makes states the same, whatever was measured of them. The number tells those apart that are several times in one
/// run.
#[derive(PartialEq, Eq, Hash)]
struct Key<'d> {
    benchmark: &'d str,
    kernel: Name<'d>,
    axes: Vec<(&'d str, u64)>,
    number: usize,
}

/// What a kernel is called, on whatever side it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Name<'d> {
    /// Of both sides, by its name after.
    Shared(&'d str),
    /// Of one side alone: another kernel is meant by this name on the other.
    Before(&'d str),
    After(&'d str),
}

impl<'d> Name<'d> {
    fn of(kernel: &'d str, is_after: bool, renamed: &[(&'d str, &'d str)]) -> Self {
        let before = renamed.iter().find(|(before, _)| *before == kernel);
        let is_new_name = renamed.iter().any(|(_, after)| *after == kernel);
        match (is_after, before) {
            (false, Some((_, after))) => Self::Shared(after),
            (false, None) if is_new_name => Self::Before(kernel),
            (true, Some(_)) if !is_new_name => Self::After(kernel),
            _ => Self::Shared(kernel),
        }
    }
}

fn axes(axes: &[AxisValue]) -> Vec<(&str, u64)> {
    let mut axes: Vec<_> = axes
        .iter()
        // Zero has two signs and is one value.
        .map(|axis| (axis.name.as_str(), (axis.value + 0.0).to_bits()))
        .collect();
    axes.sort_unstable();
    axes
}

/// Runs of the same state on both sides.
#[derive(Debug, Default)]
pub(super) struct Matched<'d> {
    pub(super) before: Vec<Entry<'d>>,
    pub(super) after: Vec<Entry<'d>>,
}

/// What belongs together on both sides.
#[derive(Debug, Default)]
pub(super) struct Sides<'d> {
    /// In the order of the later side, then what the earlier one has beside.
    pub(super) matched: Vec<Matched<'d>>,
    /// The names of two benchmarks that are taken for one: each side has a single one.
    pub(super) renamed: Option<(&'d str, &'d str)>,
}

/// All runs of a state, on both sides.
#[derive(Default)]
struct States<'d> {
    before: Vec<(&'d Document, &'d StateResult)>,
    after: Vec<(&'d Document, &'d StateResult)>,
}

impl<'d> Sides<'d> {
    pub(super) fn of(
        before: &[&'d Document],
        after: &[&'d Document],
        kernels: &[(&'d str, &'d str)],
    ) -> Self {
        let renamed = match (only(before), only(after)) {
            (Some(before), Some(after)) if before != after => Some((before, after)),
            _ => None,
        };
        let mut places: HashMap<Key<'d>, usize> = HashMap::new();
        let mut states: Vec<States<'d>> = Vec::new();
        for (documents, is_after) in [(after, true), (before, false)] {
            for document in documents {
                let mut numbers: HashMap<Key<'d>, usize> = HashMap::new();
                for state in &document.states {
                    let mut key = Key {
                        benchmark: match renamed {
                            Some((_, after)) => after,
                            None => benchmark(document, state),
                        },
                        kernel: Name::of(&state.kernel, is_after, kernels),
                        axes: axes(&state.axes),
                        number: 0,
                    };
                    let number = numbers
                        .entry(Key {
                            axes: key.axes.clone(),
                            ..key
                        })
                        .or_default();
                    key.number = *number;
                    *number += 1;
                    let place = *places.entry(key).or_insert_with(|| {
                        states.push(States::default());
                        states.len() - 1
                    });
                    let side = if is_after {
                        &mut states[place].after
                    } else {
                        &mut states[place].before
                    };
                    side.push((document, state));
                }
            }
        }
        Self {
            matched: states.iter().flat_map(matched).collect(),
            renamed,
        }
    }
}

/// The one benchmark of a side.
fn only<'d>(documents: &[&'d Document]) -> Option<&'d str> {
    let first = documents.first()?.benchmark.as_str();
    let is_one = |document: &&&Document| document.specs.is_empty() && document.benchmark == first;
    (documents.iter().filter(is_one).count() == documents.len()).then_some(first)
}

/// One for each mode that any run has, or that any run was asked for where a state did not run at all.
fn matched<'d>(states: &States<'d>) -> Vec<Matched<'d>> {
    let all = || states.after.iter().chain(&states.before);
    let has =
        |mode: &Mode| all().any(|(_, state)| state.modes.iter().any(|result| result.mode == *mode));
    let mut modes: Vec<Mode> = Mode::ALL.into_iter().filter(has).collect();
    if modes.is_empty() {
        let asked = all().flat_map(|(document, _)| document.settings.modes.first());
        modes.extend(asked.take(1));
    }
    let entries = |side: &[(&'d Document, &'d StateResult)], asked: Mode| {
        side.iter()
            .map(|(document, state)| Entry {
                document,
                state,
                asked,
                mode: state.modes.iter().find(|result| result.mode == asked),
            })
            // A state that failed has no mode at all; one that ran in another mode has nothing to compare.
            .filter(|entry| entry.mode.is_some() || entry.state.modes.is_empty())
            .collect()
    };
    modes
        .into_iter()
        .map(|mode| Matched {
            before: entries(&states.before, mode),
            after: entries(&states.after, mode),
        })
        .collect()
}
