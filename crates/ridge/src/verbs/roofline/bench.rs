//! Measured kernels of `ridge bench`: a point for each state and mode, with the bytes and operations of its spec.

use ridge_bench::document::{Document, ModeResult, StateResult, Status};
use ridge_bench::protocol::Mode;
use ridge_model::device::Origin;
use ridge_model::quantity::{Bytes, Flops, Hertz, Nanos, counted};
use ridge_model::roof::{ComputeRoof, MemoryLevel, RoofClock};
use ridge_model::roofline::document::{Beside, Side, Warning};
use ridge_model::roofline::{Amounts, Moved, Precision, PrecisionRequest, RunRoofs, Subject};
use ridge_model::{Device, NumberFormat, PeakUnit};

use super::Answer;
use super::report::Place;
use crate::error::ExpectedError;
use crate::evidence::shown_name;
use crate::filter::{Address, LeftOut};
use crate::input::Input;

/// Reads a document, where an input is one.
pub(super) fn read(input: &Input, address: &Address) -> Result<Option<Document>, ExpectedError> {
    if !Document::looks_like(input.bytes()) {
        return Ok(None);
    }
    Document::read(input.bytes()).map(Some).map_err(|error| {
        let text = address.text();
        let file = shown_name(&text);
        match &input.problem {
            // What does not unpack to its end is cut off, whatever is in it.
            Some(problem) => ExpectedError::unreadable(format!("cannot read {file}: {problem}")),
            None => {
                ExpectedError::unreadable(format!("cannot read {file}: {error} ({})", error.code()))
            }
        }
        .with_hint(error.hint())
    })
}

impl Answer<'_> {
    /// Adds the states of a document.
    pub(super) fn add_bench(
        &mut self,
        document: &Document,
        id: usize,
        address: &Address,
        side: Option<Side>,
    ) -> Result<(), ExpectedError> {
        let machine = &document.machine;
        let mut left_out = LeftOut::default();
        let mut subjects = Vec::new();
        for (index, state) in document.states.iter().enumerate() {
            let label = label(document, state);
            let selection = &self.options.selection;
            if !selection.selects(address, &state.kernel, &label, index) {
                left_out.add(&state.kernel, index);
                continue;
            }
            let modes: Vec<Option<&ModeResult>> = if state.modes.is_empty() {
                vec![None]
            } else {
                state.modes.iter().map(Some).collect()
            };
            for mode in modes {
                subjects.push((index, label.clone(), state, mode));
            }
        }
        if subjects.is_empty() && address.kernel.is_some() && !left_out.is_empty() {
            return Err(left_out.nothing_at(address));
        }
        self.left_out.merge(left_out);
        let has_modes = document.settings.modes.len() > 1;
        let mut reasons = Vec::new();
        let count = subjects.len();
        for (index, label, state, mode) in subjects {
            let place = Place::of_machine(machine, self.table, self.device);
            let mut subject = subject(state, mode, place.device.as_ref(), machine);
            subject.source = Some(id);
            subject.side = side;
            subject.launches = vec![index];
            subject.launch = Some(index);
            // Kernels have many states: a name that is short would be that of all of them.
            subject.name = match mode {
                Some(mode) if has_modes => format!("{label} {}", mode.mode),
                _ => label,
            };
            reasons.extend(subject.left_out.map(|reason| (reason, state, mode)));
            self.add(place, subject, Some(id));
        }
        self.warn_about(document, id, count, &reasons);
        Ok(())
    }

    /// What a person has to know of the document.
    fn warn_about(
        &mut self,
        document: &Document,
        id: usize,
        count: usize,
        reasons: &[(Beside, &StateResult, Option<&ModeResult>)],
    ) {
        let mut warn = |code: &str, message: String| {
            self.warnings.push(Warning {
                code: code.to_owned(),
                message,
                source: Some(id),
                offset: None,
            });
        };
        if document.machine.is_simulated {
            warn(
                "simulated",
                "the device was simulated: its times are those of a model, and no measurements"
                    .to_owned(),
            );
        }
        if !document.is_complete {
            warn(
                "incomplete",
                format!(
                    "the run of `ridge bench` did not end: {} were measured, and others are missing",
                    counted(document.states.len() as u64, "state")
                ),
            );
        }
        let of = |wanted: &[Beside]| -> usize {
            let reasons = reasons.iter();
            reasons
                .filter(|(reason, ..)| wanted.contains(reason))
                .count()
        };
        let undeclared = of(&[
            Beside::OperationsNotDeclared,
            Beside::BytesNotDeclared,
            Beside::NothingDeclared,
        ]);
        if undeclared > 0 {
            warn(
                "amounts-not-declared",
                format!(
                    "{undeclared} of {} no place in the chart: a place needs both `bytes` and `flops` in the spec (docs/reference/bench-spec.md), and another measurement; what computes nothing, such as a copy, stays beside the chart",
                    have(count, undeclared)
                ),
            );
        }
        let invalid = of(&[Beside::NotValid]);
        if invalid > 0 {
            let mut ids: Vec<&str> = reasons
                .iter()
                .filter_map(|(_, _, mode)| *mode)
                .flat_map(|mode| &mode.invalid)
                .map(|remark| remark.id.as_str())
                .collect();
            ids.sort_unstable();
            ids.dedup();
            warn(
                "not-valid",
                format!(
                    "{invalid} of {} no time that counts ({}): `ridge bench` tells what to do",
                    have(count, invalid),
                    ids.join(", ")
                ),
            );
        }
        let wrong = of(&[Beside::WrongOutputs]);
        if wrong > 0 {
            warn(
                "wrong-outputs",
                format!(
                    "{wrong} of {} wrong outputs: the time is not that of the computation, and is left out",
                    have(count, wrong)
                ),
            );
        }
        let failed: Vec<&str> = reasons
            .iter()
            .filter(|(reason, ..)| *reason == Beside::DidNotRun)
            .filter_map(|(_, state, _)| state.failure.as_ref())
            .map(|failure| failure.message.as_str())
            .collect();
        if let Some(first) = failed.first() {
            warn(
                "did-not-run",
                format!(
                    "{} of {} no time: {first}",
                    failed.len(),
                    have(count, failed.len())
                ),
            );
        }
    }
}

/// How many there are, with the verb of some of them.
fn have(count: usize, some: usize) -> String {
    format!(
        "{} {}",
        counted(count as u64, "measurement"),
        if some == 1 { "has" } else { "have" }
    )
}

/// The name of a state; of several specs, that of its own before it.
fn label(document: &Document, state: &StateResult) -> String {
    let spec = state.spec.and_then(|place| document.specs.get(place));
    spec.map_or_else(
        || state.name.clone(),
        |spec| format!("{}/{}", spec.benchmark, state.name),
    )
}

/// Why a measurement has no place, whatever its time.
fn left_out(state: &StateResult, mode: Option<&ModeResult>) -> Option<Beside> {
    let Some(mode) = mode else {
        return Some(Beside::DidNotRun);
    };
    if state.status == Status::Differs {
        return Some(Beside::WrongOutputs);
    }
    if !mode.invalid.is_empty() || mode.median_ns.is_none() {
        return Some(Beside::NotValid);
    }
    if mode.mode == Mode::Latency {
        return Some(Beside::HostTime);
    }
    match (state.bytes, state.flops) {
        (None, None) => Some(Beside::NothingDeclared),
        (None, Some(_)) => Some(Beside::BytesNotDeclared),
        (Some(_), None) => Some(Beside::OperationsNotDeclared),
        (Some(_), Some(_)) => None,
    }
}

fn subject(
    state: &StateResult,
    mode: Option<&ModeResult>,
    device: Option<&Device>,
    machine: &ridge_bench::document::Machine,
) -> Subject {
    let left_out = left_out(state, mode);
    // A number that does not count is not shown.
    let time = mode
        .filter(|_| {
            !matches!(
                left_out,
                Some(Beside::DidNotRun | Beside::WrongOutputs | Beside::NotValid)
            )
        })
        .and_then(|mode| mode.median_ns)
        .map(Nanos::new);
    let clock = mode.and_then(|mode| mode.clock_hz).map(Hertz::new);
    let stays = mode
        .zip(state.memory_bytes())
        .is_some_and(|(mode, bytes)| machine.keeps_in_l2(mode.mode, bytes));
    // Rates of a host's time are those of no memory.
    let moved = state.bytes.filter(|_| left_out != Some(Beside::HostTime));
    let at_clock = |clock: Hertz| {
        let peaks = device.iter().flat_map(|device| &device.peaks);
        peaks
            .filter_map(|peak| {
                let roof = ComputeRoof::of(peak, RoofClock::Run(clock))?;
                Some((Precision::of(peak), roof.rate, Vec::new()))
            })
            .collect()
    };
    Subject {
        name: state.kernel.clone(),
        signature: None,
        shape: None,
        source: None,
        side: None,
        launches: Vec::new(),
        launch: None,
        origin: Origin::Declared,
        left_out,
        time,
        // States are alternatives: there is no whole that they have shares of.
        total_time: None,
        class: None,
        operations: state
            .flops
            .map(|flops| Amounts {
                precision: precision(state, device),
                operations: Flops::new(flops),
                source: Vec::new(),
                may_be_moves: false,
            })
            .into_iter()
            .collect(),
        not_counted: Vec::new(),
        moved: moved
            .map(|bytes| Moved {
                level: if stays {
                    MemoryLevel::L2
                } else {
                    MemoryLevel::Dram
                },
                bytes: Bytes::new(bytes),
                source: Vec::new(),
            })
            .into_iter()
            .collect(),
        run: RunRoofs {
            sm_clock: clock,
            memory: Vec::new(),
            compute: clock.map_or_else(Vec::new, at_clock),
        },
    }
}

/// What the operations of a spec are of; FP32 of threads where it says nothing, as `ridge bench` takes it.
fn precision(state: &StateResult, device: Option<&Device>) -> Precision {
    let format = state.flops_format.as_deref();
    let format = format
        .and_then(|format| format.parse().ok())
        .unwrap_or(NumberFormat::Fp32);
    let is_tensor = state.flops_unit.as_deref() == Some("tensor");
    match device {
        Some(device) => PrecisionRequest {
            format,
            unit: (!is_tensor).then_some(PeakUnit::Vector),
        }
        .on(device),
        None if is_tensor => Precision::matrix(
            format.rated_as(),
            format.usual_accumulator(),
            PeakUnit::Tensor,
        ),
        None => Precision::vector(format.rated_as()),
    }
}
