//! `ridge bench`: times of kernels, with what makes them valid, and against their lower bounds.

mod clocks;
mod crew;
mod input;
mod runner;
mod time;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use ridge_bench::document::{
    Document, Machine, Remark, SCHEMA, SpecResult, StateResult, Status, VERSION,
};
use ridge_bench::expression::Value;
use ridge_bench::protocol::{Failure, FailureKind, Settings};
use ridge_bench::spec::{Reference, State};
use ridge_bench::verdict;
use ridge_model::Device;
use ridge_model::measured::MeasuredCeilings;

use crate::args::BenchFormat;
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::filter::NameFilter;
use crate::gpu;
use crate::history::{Recording, Taken};
use crate::output::Output;
use crate::verbs::ceilings::stored::{Asked, Choice, Stored};
use crate::verbs::devices::{layout, table};
pub(crate) use clocks::LockClocks;
use crew::Crew;
use input::Loaded;
use runner::{Gpu, Runner};

/// What to measure and how.
pub(crate) struct BenchOptions {
    /// At least one.
    pub(crate) what: Vec<What>,
    pub(crate) device: String,
    pub(crate) settings: Settings,
    pub(crate) axes: Vec<(String, Vec<Value>)>,
    pub(crate) filter: NameFilter,
    pub(crate) lock_clocks: Option<LockClocks>,
    pub(crate) table: Option<PathBuf>,
    pub(crate) ceilings: Choice,
    pub(crate) recording: Recording,
    pub(crate) format: Option<BenchFormat>,
}

/// Where the kernels are described.
pub(crate) enum What {
    /// In a spec.
    File(PathBuf),
    /// By options, for a kernel of a file.
    Kernel(PathBuf, Box<Flags>),
}

impl What {
    /// The file.
    fn path(&self) -> &Path {
        match self {
            Self::File(path) | Self::Kernel(path, _) => path,
        }
    }
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

pub(crate) fn run(options: &BenchOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let began = Instant::now();
    let format = format(options, output)?;
    gpu::check(&options.device)?;
    let devices = table(options.table.as_deref(), output)?;
    let mut code = exit::FINE;
    let mut parts = Vec::new();
    for what in &options.what {
        let part = match input::load(what, output).and_then(|loaded| allowed(loaded, options)) {
            Ok(loaded) => Part::new(loaded),
            // Of one spec there is no answer without it; of several, the others are still worth one.
            Err(error) if options.what.len() == 1 => return Err(error),
            Err(error) => {
                output.complain(&error);
                code = worst(code, error.exit);
                Part::failed(what, &error)
            }
        };
        parts.push(part);
    }
    if parts.iter().all(|part| part.loaded.is_none()) {
        return Ok(code);
    }
    set_axes(&mut parts, &options.axes)?;
    let taken = options.recording.begin(output)?;
    let is_interrupted = interrupts()?;
    let mut crew = Crew::new(&options.device, &is_interrupted);
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
    let gpu = Gpu {
        names: machine.names(),
        device,
        measured: measured.as_ref(),
    };
    let mut names = Vec::new();
    for part in &mut parts {
        let Some(loaded) = &part.loaded else { continue };
        match Runner::new(options, loaded, &gpu).states() {
            Ok(all) => {
                names.extend(all.iter().map(State::name));
                part.states = all
                    .into_iter()
                    .filter(|state| options.filter.matches(&state.name()))
                    .collect();
            }
            Err(error) if options.what.len() == 1 => return Err(error),
            Err(error) => {
                output.complain(&error);
                code = worst(code, error.exit);
                part.facts.error = Some(remark(&error));
            }
        }
    }
    let count: usize = parts.iter().map(|part| part.states.len()).sum();
    if count == 0 {
        return if names.is_empty() {
            Ok(code)
        } else {
            Err(nothing_matches(options, &names))
        };
    }
    for part in &mut parts {
        let Some(loaded) = &part.loaded else { continue };
        let runner = Runner::new(options, loaded, &gpu);
        // All of them are turned into numbers, so that no mistake is found half-way.
        if let Err(error) = part
            .states
            .iter()
            .try_for_each(|state| runner.try_job(state))
        {
            if options.what.len() == 1 {
                return Err(error);
            }
            output.complain(&error);
            code = worst(code, error.exit);
            part.facts.error = Some(remark(&error));
            part.states.clear();
        }
    }
    let keeper = options
        .lock_clocks
        .map(|clock| clocks::lock(clock, &machine, output))
        .transpose()?;
    let run = Run {
        options,
        parts: &parts,
        gpu: &gpu,
        format,
        output,
        began,
    };
    let outcome = run.measure(&mut crew, machine, code, taken);
    match keeper.map(clocks::restore) {
        // A clock that stays locked is told whatever became of the measurement.
        Some(Err(error)) => {
            output.complain(&error);
            Ok(worst(outcome?, error.exit))
        }
        Some(Ok(())) | None => outcome,
    }
}

/// What is measured, and where it goes.
struct Run<'r> {
    options: &'r BenchOptions,
    parts: &'r [Part],
    gpu: &'r Gpu<'r>,
    format: BenchFormat,
    output: &'r Output,
    began: Instant,
}

impl Run<'_> {
    /// Measures everything that is left, and writes the answer. `code` is what the rest came to.
    fn measure(
        &self,
        crew: &mut Crew<'_>,
        machine: Machine,
        mut code: Code,
        taken: Option<Taken>,
    ) -> Result<Code, ExpectedError> {
        let (options, output) = (self.options, self.output);
        let mut document = document(options, self.parts, machine, self.gpu.measured);
        let count: usize = self.parts.iter().map(|part| part.states.len()).sum();
        let mut was_interrupted = false;
        let mut done = 0;
        'parts: for (place, part) in self.parts.iter().enumerate() {
            let Some(loaded) = &part.loaded else { continue };
            let runner = Runner::new(options, loaded, self.gpu);
            for state in &part.states {
                done += 1;
                output.progress(&format!("[{done}/{count}] {}", state.name()));
                match runner.measure(crew, state, &mut document, (done, count), output) {
                    Ok(Some(result)) => document.states.push(StateResult {
                        spec: (options.what.len() > 1).then_some(place),
                        ..result
                    }),
                    Ok(None) => {
                        was_interrupted = true;
                        break 'parts;
                    }
                    Err(error) => {
                        output.complain(&error);
                        code = worst(code, error.exit);
                        if let Some(facts) = document.specs.get_mut(place) {
                            facts.error = Some(remark(&error));
                        }
                        continue 'parts;
                    }
                }
                document.is_complete = document.states.len() == count && code == exit::FINE;
                document.best = best(&document, &options.settings);
                // What is measured is kept, whatever happens to the rest.
                if output.is_to_file() && done < count {
                    write(&document, self.format, output)?;
                }
            }
        }
        output.progress("");
        if document.states.is_empty() && !was_interrupted {
            return Ok(code);
        }
        write(&document, self.format, output)?;
        if output.verbosity() > 0 {
            output.note(&crew.end(self.began).words(&document.states));
        }
        for result in &document.states {
            if let Some(failure) = &result.failure {
                tell(result, failure, output);
            }
        }
        if was_interrupted {
            output.warn(&format!(
                "interrupted: {} of {count} states were measured",
                document.states.len(),
            ));
            return Ok(exit::INTERRUPTED);
        }
        let code = worst(code, code_of(&document));
        let recorded = taken.map_or(exit::FINE, |taken| taken.store(&document, output));
        Ok(worst(code, recorded))
    }
}

/// One spec of a run.
struct Part {
    facts: SpecResult,
    /// Absent where it could not be read.
    loaded: Option<Loaded>,
    /// The states that are measured.
    states: Vec<State>,
}

impl Part {
    fn new(loaded: Loaded) -> Self {
        Self {
            facts: SpecResult {
                benchmark: loaded.name.clone(),
                file: loaded.shown.clone(),
                note: loaded.spec.note.clone(),
                error: None,
            },
            loaded: Some(loaded),
            states: Vec::new(),
        }
    }

    fn failed(what: &What, error: &ExpectedError) -> Self {
        let path = what.path();
        let stem = path.file_stem().unwrap_or_default();
        Self {
            facts: SpecResult {
                benchmark: stem.to_string_lossy().into_owned(),
                file: path.display().to_string(),
                note: None,
                error: Some(remark(error)),
            },
            loaded: None,
            states: Vec::new(),
        }
    }
}

/// An error as it stands in the document.
fn remark(error: &ExpectedError) -> Remark {
    let id = match error.exit {
        exit::USAGE => "wrong-usage",
        exit::UNREADABLE => "unreadable",
        exit::UNABLE => "unable",
        _ => "internal",
    };
    Remark {
        id: id.to_owned(),
        text: error.message.clone(),
        hint: error.hint.clone(),
    }
}

/// What cannot be asked of a spec.
fn allowed(loaded: Loaded, options: &BenchOptions) -> Result<Loaded, ExpectedError> {
    if options.settings.has_fresh_inputs
        && matches!(loaded.spec.check.reference, Reference::Files(_))
    {
        return Err(ExpectedError::usage(
            "--fresh-inputs changes the inputs, and the files of [check] are right for the first ones alone",
        )
        .with_hint("check against an expression or another kernel"));
    }
    Ok(loaded)
}

/// Puts the values of options in the place of axes and sizes. Of several specs, those that have such an axis get them.
fn set_axes(parts: &mut [Part], axes: &[(String, Vec<Value>)]) -> Result<(), ExpectedError> {
    for (name, values) in axes {
        let mut mistake = None;
        let mut is_set = false;
        for loaded in parts.iter_mut().filter_map(|part| part.loaded.as_mut()) {
            match loaded.spec.set_axis(name, values.clone()) {
                Ok(()) => is_set = true,
                Err(error) => {
                    mistake.get_or_insert_with(|| input::spec_error(&error, &loaded.shown));
                }
            }
        }
        if let Some(mistake) = mistake.filter(|_| !is_set) {
            return Err(mistake);
        }
    }
    Ok(())
}

fn nothing_matches(options: &BenchOptions, names: &[String]) -> ExpectedError {
    let mut shown: Vec<&str> = names.iter().map(String::as_str).take(8).collect();
    if names.len() > shown.len() {
        shown.push("…");
    }
    ExpectedError::usage(format!(
        "no state has a name that matches {:?}",
        options.filter.expression().unwrap_or_default()
    ))
    .with_hint(format!("states are {}", shown.join(", ")))
}

/// The document before anything is measured.
fn document(
    options: &BenchOptions,
    parts: &[Part],
    machine: Machine,
    measured: Option<&MeasuredCeilings>,
) -> Document {
    let names: Vec<&str> = parts
        .iter()
        .map(|part| part.facts.benchmark.as_str())
        .collect();
    let (note, specs) = match parts {
        [only] => (only.facts.note.clone(), Vec::new()),
        _ => (None, parts.iter().map(|part| part.facts.clone()).collect()),
    };
    Document {
        schema: SCHEMA.to_owned(),
        version: VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        benchmark: names.join(", "),
        note,
        specs,
        is_complete: false,
        machine,
        settings: options.settings.clone(),
        floors: None,
        ceilings: measured.map(|own| own.provenance.clone()),
        states: Vec::new(),
        best: Vec::new(),
    }
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

/// What counts most, first: `docs/reference/bench-spec.md` has the same order.
const WORST_FIRST: [Code; 7] = [
    exit::INTERNAL,
    exit::UNREADABLE,
    exit::USAGE,
    exit::TARGET_FAILED,
    exit::UNABLE,
    exit::DIFFERS,
    exit::INVALID,
];

/// The code of two outcomes together.
fn worst(one: Code, other: Code) -> Code {
    let either = WORST_FIRST
        .into_iter()
        .find(|code| [one, other].contains(code));
    either.unwrap_or(exit::FINE)
}

/// The worst of all states decides.
fn code_of(document: &Document) -> Code {
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
