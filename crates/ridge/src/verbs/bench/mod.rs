//! `ridge bench`: times of kernels, with what makes them valid, and against their lower bounds.

mod input;
mod time;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ridge_bench::check::{Expected, Rule, expect};
use ridge_bench::document::{Document, ITSELF, Machine, SCHEMA, StateResult, Status, VERSION};
use ridge_bench::expression::{Names, Value};
use ridge_bench::protocol::{
    Failure, FailureKind, Floors, GENERATIONS, Measurement, Progress, Right, Settings, Task,
};
use ridge_bench::spec::job::Job;
use ridge_bench::spec::{Reference, State};
use ridge_bench::verdict::{self, Context};
use ridge_gpu::clocks::Keeper;
use ridge_model::Device;
use ridge_model::measured::MeasuredCeilings;
use ridge_model::quantity::{Hertz, Ratio};

use crate::args::BenchFormat;
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::filter::NameFilter;
use crate::gpu;
use crate::output::Output;
use crate::verbs::ceilings::stored::{Asked, Choice, Stored};
use crate::verbs::devices::{layout, table};
use crate::worker::{KEEPER, MeasureRequest, Reply, Request, Response, Worker};
use input::Loaded;
use time::Times;

/// What to measure and how.
pub(crate) struct BenchOptions {
    pub(crate) what: What,
    pub(crate) device: String,
    pub(crate) settings: Settings,
    pub(crate) axes: Vec<(String, Vec<Value>)>,
    pub(crate) filter: NameFilter,
    pub(crate) lock_clocks: Option<LockClocks>,
    pub(crate) table: Option<PathBuf>,
    pub(crate) ceilings: Choice,
    pub(crate) format: Option<BenchFormat>,
}

/// Where the kernels are described.
pub(crate) enum What {
    /// In a spec.
    File(PathBuf),
    /// By options, for a kernel of a file.
    Kernel(PathBuf, Box<Flags>),
}

/// A kernel as options describe it.
pub(crate) struct Flags {
    pub(crate) kernel: String,
    pub(crate) grid: String,
    pub(crate) block: String,
    pub(crate) shared: Option<String>,
    pub(crate) args: Vec<String>,
    pub(crate) size: Vec<String>,
    pub(crate) bytes: Option<String>,
    pub(crate) flops: Option<String>,
    pub(crate) check: Option<String>,
    pub(crate) options: Vec<String>,
    pub(crate) include: Vec<PathBuf>,
}

/// The clock to lock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LockClocks {
    /// The base clock.
    Base,
    /// One of one's choice.
    At(Hertz),
}

pub(crate) fn run(options: &BenchOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let began = Instant::now();
    let format = format(options, output)?;
    gpu::check(&options.device)?;
    let devices = table(options.table.as_deref(), output)?;
    let mut loaded = input::load(options, output)?;
    for (name, values) in &options.axes {
        loaded
            .spec
            .set_axis(name, values.clone())
            .map_err(|error| input::spec_error(&error, &loaded.shown))?;
    }
    if options.settings.has_fresh_inputs
        && matches!(loaded.spec.check.reference, Reference::Files(_))
    {
        return Err(ExpectedError::usage(
            "--fresh-inputs changes the inputs, and the files of [check] are right for the first ones alone",
        )
        .with_hint("check against an expression or another kernel"));
    }
    let is_interrupted = interrupts()?;
    let mut crew = Crew::new(options, &is_interrupted);
    let mut machine = crew.open()?;
    let known = devices.matching(&machine.device);
    let device: Option<&Device> = match known.as_slice() {
        [only] => Some(only),
        // A simulated device says so in its name.
        _ => machine
            .device
            .strip_prefix("simulated ")
            .and_then(|name| devices.find(name).ok()),
    };
    machine.known_as = device.map(|device| device.name.clone());
    let measured = stored(options, device, &machine, output)?;
    let runner = Runner {
        measured: measured.as_ref(),
        options,
        loaded: &loaded,
        names: machine.names(),
        device,
    };
    let states = runner.states()?;
    let _keeper = options
        .lock_clocks
        .map(|clock| lock(clock, &machine, output))
        .transpose()?;
    let mut document = Document {
        schema: SCHEMA.to_owned(),
        version: VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        benchmark: loaded.name.clone(),
        note: loaded.spec.note.clone(),
        is_complete: false,
        machine,
        settings: options.settings.clone(),
        floors: None,
        ceilings: measured.as_ref().map(|own| own.provenance.clone()),
        states: Vec::new(),
        best: Vec::new(),
    };
    for (place, state) in states.iter().enumerate() {
        output.progress(&format!(
            "[{}/{}] {}",
            place + 1,
            states.len(),
            state.name()
        ));
        let Some(result) = runner.measure(
            &mut crew,
            state,
            &mut document,
            (place + 1, states.len()),
            output,
        )?
        else {
            break;
        };
        document.states.push(result);
        document.is_complete = document.states.len() == states.len();
        document.best = best(&document, &options.settings);
        // What is measured is kept, whatever happens to the rest.
        if output.is_to_file() && !document.is_complete {
            write(&document, format, output)?;
        }
    }
    output.progress("");
    write(&document, format, output)?;
    if output.verbosity() > 0 {
        output.note(&crew.end(began).words(&document.states));
    }
    for result in &document.states {
        if let Some(failure) = &result.failure {
            tell(result, failure, output);
        }
    }
    if !document.is_complete {
        output.warn(&format!(
            "interrupted: {} of {} states were measured",
            document.states.len(),
            states.len()
        ));
        return Ok(exit::INTERRUPTED);
    }
    Ok(code(&document))
}

/// What was measured on this GPU before. A model has none of its own: only a file that is named is used for it.
fn stored(
    options: &BenchOptions,
    device: Option<&Device>,
    machine: &Machine,
    output: &Output,
) -> Result<Option<MeasuredCeilings>, ExpectedError> {
    let is_auto = options.ceilings == Choice::Auto;
    let Some(device) =
        device.filter(|_| !is_auto || machine.uuid.is_some() && !machine.is_simulated)
    else {
        return Ok(None);
    };
    let asked = Asked {
        device,
        multiprocessors: Some(machine.multiprocessors),
        uuid: machine.uuid.as_deref(),
    };
    Stored::read(&options.ceilings, machine.driver.clone(), output)?.of(&asked, output)
}

/// What a failure is, beside the table.
fn tell(result: &StateResult, failure: &Failure, output: &Output) {
    output.warn(&format!("{}: {failure}", result.name));
    if let Some(log) = &failure.log {
        for line in log.lines().filter(|line| !line.trim().is_empty()) {
            output.detail(line);
        }
    }
    if let Some(hint) = &failure.hint {
        output.hint(hint);
    }
}

/// The worst of all states decides.
fn code(document: &Document) -> Code {
    let has = |wanted: &dyn Fn(&StateResult) -> bool| document.states.iter().any(wanted);
    let failed = |kinds: &'static [FailureKind]| {
        move |state: &StateResult| {
            state
                .failure
                .as_ref()
                .is_some_and(|failure| kinds.contains(&failure.kind))
        }
    };
    if has(&failed(&[FailureKind::Compile, FailureKind::Image])) {
        exit::UNREADABLE
    } else if has(&failed(&[
        FailureKind::Fault,
        FailureKind::Hang,
        FailureKind::Wait,
        FailureKind::Launch,
        FailureKind::Memory,
        FailureKind::Worker,
    ])) {
        exit::TARGET_FAILED
    } else if has(&failed(&[FailureKind::Machine])) {
        exit::UNABLE
    } else if has(&|state| state.status == Status::Differs) {
        exit::DIFFERS
    } else if has(&|state| state.status == Status::Invalid) {
        exit::INVALID
    } else {
        exit::FINE
    }
}

fn best(document: &Document, settings: &Settings) -> Vec<ridge_bench::document::Best> {
    settings
        .modes
        .first()
        .map_or_else(Vec::new, |mode| verdict::best(&document.states, *mode))
}

fn format(options: &BenchOptions, output: &Output) -> Result<BenchFormat, ExpectedError> {
    match (options.format, output.extension().as_deref()) {
        (Some(format), _) => Ok(format),
        (None, None | Some("txt" | "text" | "log")) => Ok(BenchFormat::Text),
        (None, Some("md" | "markdown")) => Ok(BenchFormat::Markdown),
        (None, Some("csv")) => Ok(BenchFormat::Csv),
        (None, Some("json")) => Ok(BenchFormat::Json),
        (None, Some(other)) => Err(ExpectedError::usage(format!(
            "the extension {other:?} of the output file names no format of `ridge bench`"
        ))
        .with_hint("say --format text, markdown, csv or json")),
    }
}

fn write(document: &Document, format: BenchFormat, output: &Output) -> Result<(), ExpectedError> {
    let text = match format {
        BenchFormat::Json => return output.json(document),
        BenchFormat::Text => ridge_render::bench::text(document, &layout(output)),
        BenchFormat::Markdown => ridge_render::bench::markdown(document),
        BenchFormat::Csv => ridge_render::bench::csv(document),
    };
    output.write(&text)
}

/// Whether somebody wants the run to end. The second wish ends it at once.
pub(crate) fn interrupts() -> Result<impl Fn() -> bool, ExpectedError> {
    let flag = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let register = signal_hook::flag::register_conditional_default(signal, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)));
        register.map_err(|error| {
            ExpectedError::unable(format!("cannot watch for interrupts: {error}"))
        })?;
    }
    Ok(move || flag.load(Ordering::Relaxed))
}

/// Locks the clock in a process of its own, which restores it whatever becomes of this one.
fn lock(clock: LockClocks, machine: &Machine, output: &Output) -> Result<Keeper, ExpectedError> {
    let refused = |reason: String| {
        ExpectedError::unable(format!("cannot lock the clock: {reason}")).with_hint(
            "leave out --lock-clocks: samples whose clock is not held are rejected anyway",
        )
    };
    if machine.is_simulated {
        return Err(refused("the device is simulated".to_owned()));
    }
    if machine.is_mig == Some(true) {
        return Err(refused(
            "the device is a partition (MIG), whose neighbours have the same clock".to_owned(),
        ));
    }
    let uuid = machine
        .uuid
        .as_deref()
        .ok_or_else(|| refused("the GPU has no identifier".to_owned()))?;
    let program = std::env::current_exe().map_err(|error| refused(error.to_string()))?;
    let mut command = std::process::Command::new(program);
    command.arg(KEEPER).arg(uuid).arg(match clock {
        LockClocks::Base => "base".to_owned(),
        LockClocks::At(clock) => clock.get().to_string(),
    });
    let keeper = Keeper::start(command).map_err(|error| {
        let mut expected = refused(error.to_string());
        if let Some(hint) = error.hint() {
            expected.hint = Some(hint);
        }
        expected
    })?;
    output.note(&format!(
        "the SM clock is locked to {:.4} until the run ends",
        keeper.clock()
    ));
    Ok(keeper)
}

/// The worker of the moment: where one is lost, the next request gets another.
struct Crew<'o> {
    options: &'o BenchOptions,
    is_interrupted: &'o dyn Fn() -> bool,
    worker: Option<Worker>,
    times: Times,
}

/// What came of a request.
enum Answer {
    Response(Box<Response>),
    Interrupted,
}

impl<'o> Crew<'o> {
    fn new(options: &'o BenchOptions, is_interrupted: &'o dyn Fn() -> bool) -> Self {
        Self {
            options,
            is_interrupted,
            worker: None,
            times: Times::default(),
        }
    }

    /// Ends the process that works on the GPU, and says what time went to since a moment.
    fn end(mut self, began: Instant) -> Times {
        let before = Instant::now();
        self.worker = None;
        self.times.end = before.elapsed();
        self.times.all = began.elapsed();
        self.times
    }

    /// Opens the device, and says what it is.
    fn open(&mut self) -> Result<Machine, ExpectedError> {
        match self.start() {
            Ok(Some(machine)) => Ok(machine),
            Ok(None) => Err(ExpectedError {
                message: "interrupted before the device was open".to_owned(),
                hint: None,
                exit: exit::INTERRUPTED,
                excerpt: None,
            }),
            Err(failure) => {
                let mut hints: Vec<String> = failure.hint.into_iter().collect();
                hints.push("--device sim:h200 runs the same on a simulated GPU".to_owned());
                Err(ExpectedError::unable(failure.message).with_hint(hints.join("; or ")))
            }
        }
    }

    fn start(&mut self) -> Result<Option<Machine>, Failure> {
        let start = Instant::now();
        self.worker = Some(Worker::start()?);
        let request = Request::Open {
            device: self.options.device.clone(),
        };
        match self.request(&request, Duration::from_secs(120), &mut |_| {})? {
            Answer::Interrupted => Ok(None),
            Answer::Response(response) => match *response {
                Response::Opened { machine, took } => {
                    self.times.start += start.elapsed().saturating_sub(took);
                    self.times.open += took;
                    Ok(Some(*machine))
                }
                _ => Err(unexpected()),
            },
        }
    }

    /// Asks the worker, and starts another where there is none.
    fn ask(
        &mut self,
        request: &Request,
        silence: Duration,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Answer, Failure> {
        if self.worker.is_none() && self.start()?.is_none() {
            return Ok(Answer::Interrupted);
        }
        self.request(request, silence, tell)
    }

    fn request(
        &mut self,
        request: &Request,
        silence: Duration,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Answer, Failure> {
        let outcome = self.exchange(request, silence, tell);
        let is_lost = match &outcome {
            Ok(Answer::Interrupted) | Err((_, true)) => true,
            Ok(Answer::Response(_)) | Err((_, false)) => false,
        };
        if is_lost {
            self.worker = None;
        }
        outcome.map_err(|(failure, _)| failure)
    }

    fn exchange(
        &mut self,
        request: &Request,
        silence: Duration,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Answer, (Failure, bool)> {
        let worker = self.worker.as_mut().ok_or_else(|| (unexpected(), true))?;
        worker.ask(request).map_err(|failure| (failure, true))?;
        loop {
            match worker.reply(silence, self.is_interrupted) {
                Reply::Interrupted => return Ok(Answer::Interrupted),
                Reply::Lost(failure) => return Err((failure, true)),
                Reply::Said(response) => match *response {
                    Response::Progress(progress) => tell(progress),
                    Response::Failed { failure, is_fatal } => return Err((failure, is_fatal)),
                    other => return Ok(Answer::Response(Box::new(other))),
                },
            }
        }
    }
}

fn unexpected() -> Failure {
    Failure {
        code: "BEN0013".to_owned(),
        kind: FailureKind::Worker,
        message: "the process that works on the GPU said something unexpected".to_owned(),
        hint: None,
        log: None,
    }
}

/// Goes through the states.
struct Runner<'r> {
    options: &'r BenchOptions,
    loaded: &'r Loaded,
    names: Names,
    device: Option<&'r Device>,
    measured: Option<&'r MeasuredCeilings>,
}

impl Runner<'_> {
    /// The states that are chosen. All of them are turned into numbers, so that no mistake is found half-way.
    fn states(&self) -> Result<Vec<State>, ExpectedError> {
        let told = |error| input::spec_error(&error, &self.loaded.shown);
        let all = self.loaded.spec.states(&self.names).map_err(told)?;
        let names: Vec<String> = all.iter().map(State::name).collect();
        let chosen: Vec<State> = all
            .into_iter()
            .filter(|state| self.options.filter.matches(&state.name()))
            .collect();
        if chosen.is_empty() {
            let mut shown: Vec<&str> = names.iter().map(String::as_str).take(8).collect();
            if names.len() > shown.len() {
                shown.push("…");
            }
            return Err(ExpectedError::usage(format!(
                "no state has a name that matches {:?}",
                self.options.filter.expression().unwrap_or_default()
            ))
            .with_hint(format!("states are {}", shown.join(", "))));
        }
        for state in &chosen {
            self.job(state)?;
        }
        Ok(chosen)
    }

    fn job(&self, state: &State) -> Result<Job, ExpectedError> {
        self.loaded
            .spec
            .job(state, &self.names)
            .map_err(|error| input::spec_error(&error, &self.loaded.shown))
    }

    /// Measures a state; `None` when the run was interrupted.
    fn measure(
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
            rule: Rule::new(
                self.loaded.spec.check.mode,
                self.loaded.spec.check.tolerance,
            ),
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
            device: self.device,
            floors: document.floors.as_ref(),
            measured: self.measured,
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
                let generations = if self.options.settings.has_fresh_inputs {
                    GENERATIONS
                } else {
                    1
                };
                let mut known = Vec::new();
                for generation in 0..generations {
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
        let names = spec.state_names(state, &self.names).map_err(told)?;
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
