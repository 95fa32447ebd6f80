//! The cells of a state in one mode, which all tables show.

use std::fmt::Write;

use ridge_bench::document::{Document, ModeResult, StateResult, Status};
use ridge_bench::protocol::{CheckKind, Stopped};
use ridge_model::quantity::{ABSENT, Amount, Bandwidth, Hertz, Nanos, Ratio, Unit};

/// Axes that have one value in all states, such as `n=4096`: they are said once.
pub(super) fn constant_axes(document: &Document) -> Vec<String> {
    let Some(first) = document.states.first() else {
        return Vec::new();
    };
    let has = |state: &StateResult, part: &str| parts(&state.name).contains(&part.to_owned());
    parts(&first.name)
        .into_iter()
        .filter(|part| {
            document.states.len() > 1 && document.states.iter().all(|state| has(state, part))
        })
        .collect()
}

/// The axes in a name, each with its value.
fn parts(name: &str) -> Vec<String> {
    name.split_once('[')
        .and_then(|(_, axes)| axes.strip_suffix(']'))
        .map_or_else(Vec::new, |axes| {
            axes.split(',').map(str::to_owned).collect()
        })
}

/// A name without the axes that are said elsewhere.
pub(super) fn short(name: &str, constant: &[String]) -> String {
    let kernel = name.split('[').next().unwrap_or(name);
    let left: Vec<String> = parts(name)
        .into_iter()
        .filter(|part| !constant.contains(part))
        .collect();
    if left.is_empty() {
        kernel.to_owned()
    } else {
        format!("{kernel}[{}]", left.join(","))
    }
}

/// The head of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Header {
    Kernel,
    /// An axis that has several values, by its name.
    Axis(String),
    /// A word.
    Text(&'static str),
    Samples,
    /// A quantity.
    Number(&'static str),
}

impl Header {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Kernel => "kernel",
            Self::Axis(name) => name,
            Self::Text(name) | Self::Number(name) => name,
            Self::Samples => "samples",
        }
    }

    pub(super) const fn is_text(&self) -> bool {
        matches!(self, Self::Kernel | Self::Text(_))
    }
}

/// Names of axes, in the order of states, without those that have one value throughout.
fn varying_axes(document: &Document, constant: &[String]) -> Vec<String> {
    let mut axes: Vec<String> = Vec::new();
    for axis in document.states.iter().flat_map(|state| &state.axes) {
        let is_said = constant.iter().any(|part| {
            part.split_once('=')
                .is_some_and(|(name, _)| name == axis.name)
        });
        if !is_said && !axes.contains(&axis.name) {
            axes.push(axis.name.clone());
        }
    }
    axes
}

/// Which columns a document fills.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// Axes that have a column.
    axes: Vec<String>,
    /// Whether there is room for samples and clocks.
    pub(super) is_wide: bool,
    /// The step of the timer.
    pub(super) step_ns: f64,
    pub(super) has_modes: bool,
    pub(super) has_bytes: bool,
    pub(super) has_flops: bool,
    pub(super) has_bound: bool,
    pub(super) has_attainable: bool,
    pub(super) has_checks: bool,
}

impl Columns {
    pub(super) fn of(document: &Document, is_wide: bool) -> Self {
        let any = |wanted: &dyn Fn(&StateResult) -> bool| document.states.iter().any(wanted);
        Self {
            axes: varying_axes(document, &constant_axes(document)),
            is_wide,
            step_ns: document.floors.map_or(0.0, |floors| floors.timer_step_ns),
            has_modes: document.settings.modes.len() > 1,
            has_bytes: any(&|state| state.bytes.is_some_and(|bytes| bytes > 0.0)),
            has_flops: any(&|state| state.flops.is_some()),
            has_bound: any(&|state| state.modes.iter().any(|mode| mode.placement.is_some())),
            has_attainable: document.ceilings.is_some(),
            has_checks: any(&|state| state.checked.shown.is_some()),
        }
    }

    pub(super) fn headers(&self) -> Vec<Header> {
        let mut headers = vec![Header::Kernel];
        headers.extend(self.axes.iter().cloned().map(Header::Axis));
        if self.has_modes {
            headers.push(Header::Text("mode"));
        }
        headers.extend(["median", "within"].map(Header::Number));
        if self.is_wide {
            headers.extend([Header::Samples, Header::Number("SM clock")]);
        }
        if self.has_bytes {
            headers.push(Header::Number("bandwidth"));
        }
        if self.has_flops {
            headers.push(Header::Number("operations"));
        }
        if self.has_bound {
            headers.push(Header::Number("of bound"));
        }
        if self.has_attainable {
            headers.push(Header::Number("of attainable"));
        }
        if self.has_checks {
            headers.push(Header::Text("outputs"));
        }
        headers
    }

    /// The cells of one mode of a state; of a state that failed, `None`.
    pub(super) fn cells(&self, state: &StateResult, mode: Option<&ModeResult>) -> Vec<String> {
        let absent = || ABSENT.to_owned();
        let mut cells = vec![state.kernel.clone()];
        cells.extend(self.axes.iter().map(|name| {
            let axis = state.axes.iter().find(|axis| axis.name == *name);
            axis.map_or_else(absent, |axis| axis.value.to_string())
        }));
        let of = |text: &dyn Fn(&ModeResult) -> Option<String>| {
            mode.and_then(text).unwrap_or_else(absent)
        };
        if self.has_modes {
            cells.push(of(&|mode| Some(mode.mode.name().to_owned())));
        }
        cells.push(match mode {
            None => "failed".to_owned(),
            Some(mode) if !mode.invalid.is_empty() => "not valid".to_owned(),
            Some(mode) => mode
                .median_ns
                .map_or_else(absent, |median| format!("{:.4}", Nanos::new(median))),
        });
        cells.push(of(&|mode| {
            within(mode, self.step_ns).map(|share| format!("±{:.2}", Ratio::new(share)))
        }));
        if self.is_wide {
            cells.push(of(&|mode| Some(count(mode))));
            cells.push(of(&|mode| {
                mode.clock_hz
                    .map(|clock| format!("{:.4}", Hertz::new(clock)))
            }));
        }
        let placement =
            |mode: &ModeResult| mode.placement.clone().filter(|_| mode.invalid.is_empty());
        if self.has_bytes {
            cells.push(of(&|mode| {
                placement(mode)?
                    .bytes_per_s
                    .filter(|rate| *rate > 0.0)
                    .map(|rate| Bandwidth::new(rate).to_string())
            }));
        }
        if self.has_flops {
            cells.push(of(&|mode| {
                placement(mode)?
                    .flops_per_s
                    .map(|rate| Amount::new(rate, Unit::new("FLOP/s".to_owned())).to_string())
            }));
        }
        if self.has_bound {
            cells.push(of(&|mode| {
                let placement = placement(mode)?;
                Some(format!(
                    "{} {}",
                    Ratio::new(placement.share),
                    placement.resource
                ))
            }));
        }
        if self.has_attainable {
            cells.push(of(&|mode| {
                let attainable = placement(mode)?.attainable_ns?;
                Some(Ratio::new(attainable / mode.median_ns?).to_string())
            }));
        }
        if self.has_checks {
            cells.push(outputs(state));
        }
        cells
    }
}

/// Half the width of the interval as a share of the median.
fn within(mode: &ModeResult, step_ns: f64) -> Option<f64> {
    if !mode.invalid.is_empty() {
        return None;
    }
    let (lower, upper, median) = (mode.lower_ns?, mode.upper_ns?, mode.median_ns?);
    // What the timer shows was rounded by up to half a step.
    let half = ((upper - lower) / 2.0).max(step_ns / 2.0 / mode.runs_per_sample.max(1) as f64);
    (median > 0.0).then(|| half / median)
}

/// Samples that count, of those that were taken.
fn count(mode: &ModeResult) -> String {
    if mode.rejected == 0 {
        mode.samples.to_string()
    } else {
        format!("{} of {}", mode.samples, mode.samples + mode.rejected)
    }
}

/// What became of the outputs, in a word.
fn outputs(state: &StateResult) -> String {
    let Some(shown) = &state.checked.shown else {
        return ABSENT.to_owned();
    };
    if shown.outcomes.is_empty() {
        return ABSENT.to_owned();
    }
    if state.status == Status::Differs {
        let is_unwritten = shown.outcomes.iter().any(|outcome| outcome.unwritten > 0);
        return if shown.kind == CheckKind::Inputs {
            "inputs changed".to_owned()
        } else if is_unwritten {
            "not written".to_owned()
        } else {
            "wrong".to_owned()
        };
    }
    match &state.checked.with {
        Some(with) if with == ridge_bench::document::ITSELF => "reference".to_owned(),
        Some(_) => "right".to_owned(),
        None => "written".to_owned(),
    }
}

/// Why sampling stopped, in words.
pub(super) const fn stopped(reason: Stopped) -> &'static str {
    match reason {
        Stopped::Precision => "the median is known well enough",
        Stopped::TimerStep => "the median is known as well as the timer allows",
        Stopped::MaxSamples => "as many samples as allowed",
        Stopped::MaxTime => "as much time as allowed",
        Stopped::ClockNotHeld => "the clock was not held",
    }
}

/// A text about states.
pub(super) struct Said {
    id: String,
    states: Vec<String>,
    /// Whether it makes times invalid.
    pub(super) is_invalid: bool,
    /// The text.
    pub(super) text: String,
    /// What to try.
    pub(super) hint: Option<String>,
}

impl Said {
    /// The states that it is about.
    pub(super) fn who(&self) -> String {
        match self.states.as_slice() {
            [] => String::new(),
            [only] => only.clone(),
            [first, others @ ..] => format!("{first} and {} more", others.len()),
        }
    }
}

/// What is said about states: each text once, with the states that it is about.
pub(super) fn remarks(document: &Document) -> Vec<Said> {
    let constant = constant_axes(document);
    let mut found: Vec<Said> = Vec::new();
    let has_modes = document.settings.modes.len() > 1;
    for state in &document.states {
        for mode in &state.modes {
            let short = short(&state.name, &constant);
            let name = if has_modes {
                format!("{short} {}", mode.mode)
            } else {
                short
            };
            let all = mode
                .invalid
                .iter()
                .map(|remark| (remark, true))
                .chain(mode.notes.iter().map(|remark| (remark, false)));
            for (remark, is_invalid) in all {
                let known = found
                    .iter_mut()
                    .find(|said| said.id == remark.id && said.is_invalid == is_invalid);
                match known {
                    Some(said) => said.states.push(name.clone()),
                    None => found.push(Said {
                        id: remark.id.clone(),
                        states: vec![name.clone()],
                        is_invalid,
                        text: remark.text.clone(),
                        hint: remark.hint.clone(),
                    }),
                }
            }
        }
    }
    found
}

/// What is wrong with the outputs of a state, in a sentence.
pub(super) fn wrong(state: &StateResult) -> Option<String> {
    if state.status != Status::Differs {
        return None;
    }
    let shown = state.checked.shown.as_ref()?;
    let outcome = shown.outcomes.iter().find(|outcome| !outcome.is_right)?;
    let mut text = format!("`{}`", outcome.output);
    if shown.kind == CheckKind::Inputs {
        text.push_str(
            ": an input that the launches changed, so that samples do not start from what the spec says; an input that is an output, too, needs `output = true`",
        );
        return Some(text);
    }
    if let (CheckKind::Canary, Some(first)) = (shown.kind, outcome.first) {
        let _ = write!(
            text,
            ": a timed launch did not write element {}, which was overwritten before; other launches do: the kernel does not do its work each time; seen after {} samples",
            first.index, shown.after_samples
        );
        return Some(text);
    }
    if outcome.unwritten > 0 {
        let _ = write!(text, ": {} elements were not written", outcome.unwritten);
    } else if outcome.not_finite > 0 {
        let _ = write!(text, ": {} elements are not finite", outcome.not_finite);
    } else if outcome.wrong > 0 {
        let _ = write!(
            text,
            ": {} of {} elements are wrong",
            outcome.wrong, outcome.elements
        );
    } else {
        let norm = outcome
            .relative_norm
            .map_or_else(|| "not finite".to_owned(), |norm| format!("{norm:.3e}"));
        let _ = write!(text, ": the relative difference is {norm}");
    }
    if let Some(first) = outcome.first.filter(|_| outcome.unwritten == 0) {
        let number = |value: Option<f64>| {
            value.map_or_else(|| "not finite".to_owned(), |value| value.to_string())
        };
        let _ = write!(
            text,
            "; the first, at {}, is {} in place of {}",
            first.index,
            number(first.found),
            number(first.expected)
        );
    }
    if let Some(with) = &state.checked.with {
        let _ = write!(text, " (against {with}");
        if !outcome.tolerance.is_empty() {
            let _ = write!(text, ", allowed: {}", outcome.tolerance);
        }
        text.push(')');
    }
    if let Some(explanation) = &outcome.explanation {
        let _ = write!(text, "; {explanation}");
    }
    if shown.after_samples > 0 {
        let _ = write!(text, "; first seen after {} samples", shown.after_samples);
    }
    match shown.kind {
        CheckKind::NewInputs => text.push_str(", when the inputs had got other values"),
        CheckKind::Timed => text.push_str(", in a timed launch with nothing restored before"),
        _ => {}
    }
    Some(text)
}

/// The best of a group, in sentences: what it is, and what is behind it.
pub(super) fn best(best: &ridge_bench::document::Best, constant: &[String]) -> Vec<String> {
    let problem = if best.problem.is_empty() {
        String::new()
    } else {
        format!(" for {}", best.problem)
    };
    let mut lines = vec![format!(
        "best{problem}: {}, {} ({})",
        short(&best.state, constant),
        format_args!("{:.4}", Nanos::new(best.median_ns)),
        best.mode
    )];
    let same: Vec<String> = best
        .others
        .iter()
        .filter(|other| other.verdict != "slower")
        .map(|other| short(&other.state, constant))
        .collect();
    if !same.is_empty() {
        let shown: Vec<&str> = same.iter().map(String::as_str).take(4).collect();
        let more = same.len() - shown.len();
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        lines.push(format!(
            "as good, as far as this run can tell: {}{more}",
            shown.join(", ")
        ));
    }
    if let Some(next) = best.others.iter().find(|other| other.verdict == "slower") {
        let interval = match (next.lower, next.upper) {
            (Some(lower), Some(upper)) => format!(" [{lower:.3}, {upper:.3}]"),
            _ => String::new(),
        };
        lines.push(format!(
            "next: {} takes {:.3}x{interval} the time",
            short(&next.state, constant),
            next.ratio
        ));
    }
    lines
}
