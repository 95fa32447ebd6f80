//! Goes through the states of a spec.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use ridge_bench::check::{Expected, expect};
use ridge_bench::document::{Document, ITSELF, StateResult};
use ridge_bench::expression::Names;
use ridge_bench::protocol::{
    Failure, Floors, Measurement, Progress, Right, Settings, Task, generations,
};
use ridge_bench::spec::job::Job;
use ridge_bench::spec::{Reference, State};
use ridge_bench::verdict::{self, Context};
use ridge_model::Device;
use ridge_model::measured::MeasuredCeilings;
use ridge_model::quantity::Ratio;

use super::BenchOptions;
use super::crew::{Answer, Crew, unexpected};
use super::input::{self, Loaded};
use crate::error::ExpectedError;
use crate::output::Output;
use crate::worker::{MeasureRequest, Request, Response};

/// What is known of the device.
pub(super) struct Gpu<'r> {
    /// What expressions may call it.
    pub(super) names: Names,
    /// Its row of the table.
    pub(super) device: Option<&'r Device>,
    /// What was measured on it before.
    pub(super) measured: Option<&'r MeasuredCeilings>,
}

/// Goes through the states of a spec.
pub(super) struct Runner<'r> {
    options: &'r BenchOptions,
    loaded: &'r Loaded,
    gpu: &'r Gpu<'r>,
}

impl<'r> Runner<'r> {
    pub(super) const fn new(
        options: &'r BenchOptions,
        loaded: &'r Loaded,
        gpu: &'r Gpu<'r>,
    ) -> Self {
        Self {
            options,
            loaded,
            gpu,
        }
    }

    /// All states of the spec.
    pub(super) fn states(&self) -> Result<Vec<State>, ExpectedError> {
        self.loaded
            .spec
            .states(&self.gpu.names)
            .map_err(|error| input::spec_error(&error, &self.loaded.shown))
    }

    /// Whether a state can be turned into numbers.
    pub(super) fn try_job(&self, state: &State) -> Result<(), ExpectedError> {
        self.job(state).map(|_| ())
    }

    fn job(&self, state: &State) -> Result<Job, ExpectedError> {
        self.loaded
            .spec
            .job(state, &self.gpu.names)
            .map_err(|error| input::spec_error(&error, &self.loaded.shown))
    }

    /// Measures a state; `None` when the run was interrupted.
    pub(super) fn measure(
        &self,
        crew: &mut Crew<'_>,
        state: &State,
        document: &mut Document,
        place: (usize, usize),
        output: &Output,
    ) -> Result<Option<StateResult>, ExpectedError> {
        let job = self.job(state)?;
        let (right, files, with) = self.right(state, &job, output)?;
        let task = Task {
            source: input::source(self.loaded, &job.source, output)?,
            job: job.clone(),
            right,
            rule: self
                .loaded
                .spec
                .rule(state, &self.gpu.names)
                .map_err(|error| input::spec_error(&error, &self.loaded.shown))?,
        };
        let settings = &self.options.settings;
        let name = state.name();
        let mut tell = |progress: Progress| {
            let line = format!("[{}/{}] {name} {}", place.0, place.1, words(progress));
            output.progress(&line);
        };
        let outcome = self.ask(crew, task, files, document, &mut tell);
        let outcome = match outcome {
            Ok(None) => return Ok(None),
            Ok(Some(measurement)) => Ok(measurement),
            Err(failure) => Err(failure),
        };
        let context = Context {
            machine: &document.machine,
            device: self.gpu.device,
            floors: document.floors.as_ref(),
            measured: self.gpu.measured,
            precision: settings.precision,
        };
        Ok(Some(verdict::state(
            state,
            &job,
            with.as_deref(),
            outcome,
            &context,
        )))
    }

    fn ask(
        &self,
        crew: &mut Crew<'_>,
        task: Task,
        files: Vec<Option<PathBuf>>,
        document: &mut Document,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Option<Measurement>, Failure> {
        let settings = &self.options.settings;
        let silence = silence(settings);
        let floors: Floors = match document.floors {
            Some(floors) => floors,
            None => {
                let start = Instant::now();
                let request = Request::Floors {
                    settings: settings.clone(),
                };
                match crew.ask(&request, silence, tell)? {
                    Answer::Interrupted => return Ok(None),
                    Answer::Response(response) => match *response {
                        Response::Floors(floors) => {
                            crew.times.floors += start.elapsed();
                            floors
                        }
                        _ => return Err(unexpected()),
                    },
                }
            }
        };
        document.floors = Some(floors);
        let request = Request::Measure(Box::new(MeasureRequest {
            task,
            settings: settings.clone(),
            floors,
            files,
        }));
        match crew.ask(&request, silence, tell)? {
            Answer::Interrupted => Ok(None),
            Answer::Response(response) => match *response {
                Response::Measured(measurement) => Ok(Some(*measurement)),
                _ => Err(unexpected()),
            },
        }
    }

    /// What outputs have to be, the files that say so, and what it is called.
    #[expect(clippy::type_complexity, reason = "three answers to one question")]
    fn right(
        &self,
        state: &State,
        job: &Job,
        output: &Output,
    ) -> Result<(Right, Vec<Option<PathBuf>>, Option<String>), ExpectedError> {
        let spec = &self.loaded.spec;
        let told = |error| input::spec_error(&error, &self.loaded.shown);
        match &spec.check.reference {
            Reference::None => Ok((Right::Unknown, Vec::new(), None)),
            Reference::Kernel(name) if *name == state.kernel => {
                Ok((Right::Unknown, Vec::new(), Some(ITSELF.to_owned())))
            }
            Reference::Kernel(name) => {
                let reference = spec.reference_state(name, state).map_err(told)?;
                let job = self.job(&reference)?;
                let source = input::source(self.loaded, &job.source, output)?;
                Ok((
                    Right::Kernel(Box::new((job, source))),
                    Vec::new(),
                    Some(reference.name()),
                ))
            }
            Reference::Files(files) => {
                let paths = job
                    .outputs()
                    .map(|(_, buffer)| {
                        files
                            .iter()
                            .find(|(output, _)| *output == buffer.name)
                            .map(|(_, file)| self.loaded.folder.join(file))
                    })
                    .collect();
                Ok((Right::Unknown, paths, Some("file".to_owned())))
            }
            Reference::Expressions(_) => {
                // A simulated device is told each of these elements, so there are fewer.
                let samples = if self.options.device.starts_with("sim:") {
                    spec.check.samples.min(64)
                } else {
                    spec.check.samples
                };
                let mut known = Vec::new();
                for generation in 0..generations(job, &self.options.settings) {
                    known.push(self.computed(state, job, generation, samples)?);
                }
                Ok((
                    Right::Known(known),
                    Vec::new(),
                    Some("expression".to_owned()),
                ))
            }
        }
    }

    fn computed(
        &self,
        state: &State,
        job: &Job,
        generation: u32,
        samples: u64,
    ) -> Result<Vec<Expected>, ExpectedError> {
        let spec = &self.loaded.spec;
        let told = |error| input::spec_error(&error, &self.loaded.shown);
        let names = spec.state_names(state, &self.gpu.names).map_err(told)?;
        let inputs = spec.inputs(&names, generation).map_err(told)?;
        let inputs: Vec<_> = inputs
            .iter()
            .map(|(name, elements)| (name.as_str(), elements))
            .collect();
        job.outputs()
            .map(|(_, buffer)| match spec.expression_of(&buffer.name) {
                None => Ok(Expected::Unknown),
                Some(formula) => expect(
                    formula.expression(),
                    &names,
                    &inputs,
                    buffer.elements.length,
                    samples,
                )
                .map(Expected::Some)
                .map_err(|error| told(spec.error_at(formula, error))),
            })
            .collect()
    }
}

/// How long a worker may say nothing: it tells of progress while it samples, so what is left is one kernel that hangs,
/// compiling, and comparing outputs.
fn silence(settings: &Settings) -> Duration {
    Duration::from_nanos((3.0 * settings.timeout_ns + settings.max_warm_up_ns) as u64)
        + Duration::from_secs(60)
}

fn words(progress: Progress) -> String {
    match progress {
        Progress::Compiling => "compiling".to_owned(),
        Progress::WarmingUp(mode) => format!("{mode}: warming up"),
        Progress::Sampling {
            mode,
            samples,
            precision,
        } => precision.map_or_else(
            || format!("{mode}: {samples} samples"),
            |precision| {
                format!(
                    "{mode}: {samples} samples, within {}",
                    Ratio::new(precision)
                )
            },
        ),
    }
}
