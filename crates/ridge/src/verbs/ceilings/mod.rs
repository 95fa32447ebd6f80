//! `ridge ceilings`: what a GPU reaches, measured on it and kept for other commands.

pub(crate) mod store;
pub(crate) mod stored;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use ridge_bench::ceilings::document::{Document, Family, Missing, SCHEMA, Settings, VERSION};
use ridge_bench::ceilings::judge;
use ridge_bench::document::Machine;
use ridge_bench::protocol::{Failure, FailureKind};
use ridge_model::{Device, Devices};

use crate::args::CeilingsFormat;
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::gpu;
use crate::history::Recording;
use crate::output::Output;
use crate::verbs::bench::interrupts;
use crate::verbs::devices::{layout, table};
use crate::worker::{Reply, Request, Response, Worker};

/// What to measure, and where to keep it.
pub(crate) struct CeilingsOptions {
    pub(crate) device: String,
    pub(crate) settings: Settings,
    pub(crate) keep: Keep,
    pub(crate) table: Option<PathBuf>,
    pub(crate) recording: Recording,
    pub(crate) format: Option<CeilingsFormat>,
}

/// Where figures are kept.
pub(crate) enum Keep {
    /// In the file of the GPU, in the folder of the user's data.
    Usual,
    /// In a file of one's choice.
    File(PathBuf),
    /// Nowhere.
    Nowhere,
}

/// How long a worker may say nothing: it tells of each figure.
const SILENCE: Duration = Duration::from_secs(120);

pub(crate) fn run(options: &CeilingsOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let format = format(options, output)?;
    gpu::check(&options.device)?;
    let devices = table(options.table.as_deref(), output)?;
    let taken = options.recording.begin(output)?;
    let is_interrupted = interrupts()?;
    let began = Instant::now();
    let mut worker = None;
    output.progress("opening the device");
    let mut machine = match start(options, &mut worker, &is_interrupted) {
        Ok(machine) => machine,
        Err(End::Interrupted) => return Ok(exit::INTERRUPTED),
        Err(End::Failed(failure)) => {
            output.progress("");
            let mut hints: Vec<String> = failure.hint.into_iter().collect();
            hints.push("--device sim:h200 runs the same on a simulated GPU".to_owned());
            return Err(ExpectedError::unable(failure.message).with_hint(hints.join("; or ")));
        }
    };
    let device = known(&machine, &devices);
    machine.known_as = device.map(|device| device.name.clone());
    let mut document = Document {
        schema: SCHEMA.to_owned(),
        version: VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        date: (!machine.is_simulated).then(store::today),
        took_ns: 0.0,
        is_complete: true,
        machine,
        settings: options.settings.clone(),
        figures: Vec::new(),
        missing: Vec::new(),
        warnings: Vec::new(),
    };
    let mut is_stopped = false;
    let count = options.settings.families.len();
    for (place, family) in options.settings.families.iter().copied().enumerate() {
        let step = format!("[{}/{count}] {}", place + 1, family.title());
        match family_of(options, family, &mut worker, &is_interrupted, &step, output) {
            Ok(measured) => {
                document.figures.extend(measured.figures);
                document.missing.extend(measured.missing);
            }
            Err(End::Interrupted) => {
                is_stopped = true;
                document.is_complete = false;
                break;
            }
            Err(End::Failed(failure)) => document.missing.push(Missing {
                family,
                name: None,
                failure,
            }),
        }
    }
    output.progress("");
    let has_whole_family_missing = document
        .missing
        .iter()
        .any(|missing| missing.name.is_none());
    document.is_complete &= !has_whole_family_missing;
    // A simulated device answers the same whatever the host's clock says.
    if !document.machine.is_simulated {
        document.took_ns = began.elapsed().as_nanos() as f64;
    }
    let scaled = device.map(|device| device.with_attributes(&document.machine.attributes()));
    judge(&mut document, scaled.as_ref());
    // What was measured is shown, whatever becomes of keeping it.
    let kept = keep(options, &document);
    match format {
        CeilingsFormat::Json => output.json(&document)?,
        CeilingsFormat::Text => {
            output.write(&ridge_render::ceilings::text(&document, &layout(output)))?;
        }
        CeilingsFormat::Markdown => output.write(&ridge_render::ceilings::markdown(&document))?,
        CeilingsFormat::Csv => output.write(&ridge_render::ceilings::csv(&document))?,
    }
    if format != CeilingsFormat::Text {
        for warning in &document.warnings {
            output.warn(&warning.text);
            if let Some(hint) = &warning.hint {
                output.hint(hint);
            }
        }
    }
    for missing in document
        .missing
        .iter()
        .filter(|missing| missing.name.is_none())
    {
        output.warn(&format!(
            "{} was not measured: {}",
            missing.family.title(),
            missing.failure
        ));
        if let Some(log) = &missing.failure.log {
            for line in log.lines().filter(|line| !line.trim().is_empty()) {
                output.detail(line);
            }
        }
        if let Some(hint) = &missing.failure.hint {
            output.hint(hint);
        }
    }
    if document.figures.is_empty() && document.missing.is_empty() && !is_stopped {
        // Only one family can have nothing without a failure.
        output.warn("the driver shows no other GPU to this process: nothing was measured");
        output.hint(
            "`nvidia-smi -L` lists the GPUs of the machine; CUDA_VISIBLE_DEVICES may hide some; --device sim:h200,peers=1 has another one",
        );
    }
    match kept {
        Ok(Some(path)) => output.say_kept(&path),
        Ok(None) => {}
        Err(error) => output.complain(&error),
    }
    if is_stopped {
        output.warn("interrupted: only a part was measured, and nothing was kept");
        return Ok(exit::INTERRUPTED);
    }
    let code = if document.figures.is_empty() {
        exit::UNABLE
    } else if has_whole_family_missing {
        exit::TARGET_FAILED
    } else {
        exit::FINE
    };
    let recorded = taken.map_or(exit::FINE, |taken| taken.store(&document, output));
    Ok(code.and(recorded))
}

/// Keeps what was measured; where.
fn keep(options: &CeilingsOptions, document: &Document) -> Result<Option<PathBuf>, ExpectedError> {
    let path = match &options.keep {
        Keep::Nowhere => return Ok(None),
        Keep::File(path) => path.clone(),
        // Figures of a model are of no use to others, and parts go only where they were wanted.
        Keep::Usual if document.machine.is_simulated || !document.is_complete => return Ok(None),
        Keep::Usual => match store::path_of(&document.machine)? {
            Some(path) => path,
            None => return Ok(None),
        },
    };
    store::write(&path, document, matches!(options.keep, Keep::Usual))?;
    Ok(Some(path))
}

/// The row of the table for a machine.
pub(crate) fn known<'d>(machine: &Machine, devices: &'d Devices) -> Option<&'d Device> {
    match devices.matching(&machine.device).as_slice() {
        [only] => Some(*only),
        // A simulated device says so in its name.
        _ => machine
            .device
            .strip_prefix("simulated ")
            .and_then(|name| devices.find(name).ok()),
    }
}

/// Why there is no answer.
enum End {
    Interrupted,
    Failed(Failure),
}

/// Starts a worker and opens the device in it.
fn start(
    options: &CeilingsOptions,
    worker: &mut Option<Worker>,
    is_interrupted: &dyn Fn() -> bool,
) -> Result<Machine, End> {
    *worker = Some(Worker::start().map_err(End::Failed)?);
    let request = Request::Open {
        device: options.device.clone(),
    };
    match ask(worker, &request, is_interrupted, &mut |_| {})? {
        Response::Opened { machine, .. } => Ok(*machine),
        _ => Err(End::Failed(unexpected())),
    }
}

fn family_of(
    options: &CeilingsOptions,
    family: Family,
    worker: &mut Option<Worker>,
    is_interrupted: &dyn Fn() -> bool,
    step: &str,
    output: &Output,
) -> Result<ridge_bench::ceilings::document::Measured, End> {
    output.progress(step);
    if worker.is_none() {
        start(options, worker, is_interrupted)?;
    }
    let request = Request::Ceilings {
        family,
        settings: options.settings.clone(),
    };
    let mut tell = |text: &str| output.progress(&format!("{step}: {text}"));
    match ask(worker, &request, is_interrupted, &mut tell)? {
        Response::Ceilings(measured) => Ok(*measured),
        _ => Err(End::Failed(unexpected())),
    }
}

/// Asks the worker, which is given up when its device is of no more use.
fn ask(
    worker: &mut Option<Worker>,
    request: &Request,
    is_interrupted: &dyn Fn() -> bool,
    tell: &mut dyn FnMut(&str),
) -> Result<Response, End> {
    let Some(own) = worker else {
        return Err(End::Failed(unexpected()));
    };
    let mut end = own.ask(request).err().map(End::Failed);
    while end.is_none() {
        match own.reply(SILENCE, is_interrupted) {
            Reply::Said(response) => match *response {
                Response::Doing(text) => tell(&text),
                Response::Progress(_) => {}
                Response::Failed { failure, is_fatal } => {
                    if is_fatal {
                        *worker = None;
                    }
                    return Err(End::Failed(failure));
                }
                other => return Ok(other),
            },
            Reply::Interrupted => end = Some(End::Interrupted),
            Reply::Lost(failure) => end = Some(End::Failed(failure)),
        }
    }
    *worker = None;
    Err(end.unwrap_or(End::Interrupted))
}

fn unexpected() -> Failure {
    Failure {
        code: "GPU0198".to_owned(),
        kind: FailureKind::Worker,
        message: "the process that works on the GPU gave an answer to another question".to_owned(),
        hint: None,
        log: None,
    }
}

fn format(options: &CeilingsOptions, output: &Output) -> Result<CeilingsFormat, ExpectedError> {
    match (options.format, output.extension().as_deref()) {
        (Some(format), _) => Ok(format),
        (None, None | Some("txt" | "text" | "log")) => Ok(CeilingsFormat::Text),
        (None, Some("md" | "markdown")) => Ok(CeilingsFormat::Markdown),
        (None, Some("csv")) => Ok(CeilingsFormat::Csv),
        (None, Some("json")) => Ok(CeilingsFormat::Json),
        (None, Some(other)) => Err(ExpectedError::usage(format!(
            "the extension {other:?} of the output file names no format of `ridge ceilings`"
        ))
        .with_hint("say --format text, markdown, csv or json")),
    }
}
