//! `ridge why`: what limits each kernel of a report.

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::OnceLock;

use ncu_rep::report::SourceKey;
use rayon::prelude::*;
use ridge_diagnose::document::{AtMeasured, Document, Kernel, SCHEMA, Source, VERSION, Warning};
use ridge_diagnose::{
    CodeMap, Given, Group, GroupKey, KernelProfile, Options, SmClock, diagnose, roofline,
};
use ridge_model::device::Attributes;
use ridge_model::measured::MeasuredCeilings;
use ridge_model::{Device, Devices};
use ridge_render::why::{Page, text};

use crate::args::WhyFormat;
use crate::caveats::{Facts, Uneven, caveats};
use crate::disassembler::Disassembler;
use crate::error::ExpectedError;
use crate::evidence::{Evidence, shown_name};
use crate::exit::{self, Code};
use crate::filter::{Address, LeftOut, Selected, Selection};
use crate::history::Recording;
use crate::input::Input;
use crate::output::Output;
use crate::verbs::ceilings::stored::{Asked, Choice, Stored, driver_of_machine};
use crate::verbs::collect::{self, CollectOptions, InputSet, input_sets};

/// What to diagnose and how to show it.
pub(crate) struct WhyOptions {
    pub(crate) files: Vec<OsString>,
    pub(crate) selection: Selection,
    pub(crate) top: usize,
    pub(crate) all: bool,
    /// What the user knows of the computation of the one kernel that is selected.
    pub(crate) given: Given,
    pub(crate) ceilings: Choice,
    pub(crate) recording: Recording,
    pub(crate) format: Option<WhyFormat>,
    /// A program to run under the profiler; then there are no files.
    pub(crate) collect: Option<CollectOptions>,
}

/// Collects the document while inputs are read one after the other.
#[derive(Default)]
struct Answer {
    sources: Vec<Source>,
    kernels: Vec<Kernel>,
    warnings: Vec<Warning>,
    selected: Selected,
    left_out: LeftOut,
    ceilings: OfDevices,
    is_incomplete: bool,
}

pub(crate) fn run(options: &WhyOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let format = format(options, output)?;
    let stored = Stored::read(&options.ceilings, driver_of_machine(), output)?;
    let taken = options.recording.begin(output)?;
    let mut answer = Answer::default();
    let mut code = exit::FINE;
    // Reports of a program that was run here may lie in a folder that is taken away after the answer.
    let mut _folder = None;
    let sets = match &options.collect {
        None => input_sets(&options.files, output),
        Some(collect) => {
            let collected = collect::run(collect, &options.selection, output)?;
            code = collected.code;
            _folder = collected.folder;
            collected.sets
        }
    };
    for set in &sets {
        if let Err(error) = answer.add_set(set, options, &stored, output) {
            // The other inputs are still worth an answer.
            output.complain(&error);
            code = code.and(error.exit);
        }
    }
    if !options.given.is_empty()
        && let Some(error) = answer.selected.are_several()
    {
        output.complain(&error);
        return Ok(code.and(error.exit));
    }
    if answer.sources.is_empty() {
        return Ok(code);
    }
    if answer.kernels.is_empty() && !answer.left_out.is_empty() {
        let error = answer.left_out.nothing_matches(&options.selection);
        output.complain(&error);
        return Ok(code.and(error.exit));
    }
    let is_incomplete = answer.is_incomplete;
    if is_incomplete {
        code = code.and(exit::UNREADABLE);
    }
    let document = answer.finish();
    match format {
        WhyFormat::Json => {
            output.json(&document)?;
            for warning in &document.warnings {
                output.warn(&warning_text(&document, warning));
            }
        }
        WhyFormat::Text => {
            let page = Page {
                columns: output.columns(),
                charset: output.charset(),
                painter: output.painter(),
                top: options.top,
                is_verbose: output.verbosity() > 0,
            };
            output.write(&text(&document, &page))?;
            if is_incomplete {
                output.warn("not everything could be read; the lines marked ! say what is missing");
            }
        }
    }
    if let Some(taken) = taken {
        // A report that was read may come from another machine, whose driver nobody knows here.
        let driver = options.collect.as_ref().and_then(|_| driver_of_machine());
        code = code.and(taken.with_driver(driver).store(&document, output));
    }
    Ok(code)
}

fn format(options: &WhyOptions, output: &Output) -> Result<WhyFormat, ExpectedError> {
    match (options.format, output.extension().as_deref()) {
        (Some(format), _) => Ok(format),
        (None, None | Some("txt" | "text" | "log")) => Ok(WhyFormat::Text),
        (None, Some("json")) => Ok(WhyFormat::Json),
        (None, Some(other)) => Err(ExpectedError::usage(format!(
            "the extension {other:?} of the output file names no format of `ridge why`"
        ))
        .with_hint("say --format text or --format json")),
    }
}

impl Answer {
    fn add_set(
        &mut self,
        set: &InputSet,
        options: &WhyOptions,
        stored: &Stored,
        output: &Output,
    ) -> Result<(), ExpectedError> {
        if let (true, Some(collection)) = (set.files.is_empty(), &set.collection) {
            return Err(collection.without_reports(&set.name));
        }
        let mut inputs = Vec::with_capacity(set.files.len());
        for file in &set.files {
            let address = Address::of_argument(file)?;
            inputs.push((Input::open(&address, output)?, address));
        }
        self.add_opened(&inputs, set, options, stored, output)
    }

    /// Adds a set whose files are open.
    fn add_opened(
        &mut self,
        inputs: &[(Input, Address)],
        set: &InputSet,
        options: &WhyOptions,
        stored: &Stored,
        output: &Output,
    ) -> Result<(), ExpectedError> {
        let mut parts = Vec::with_capacity(inputs.len());
        for (input, address) in inputs {
            parts.push(Evidence::new(input, address)?);
        }
        let (Some((input, address)), false) = (inputs.first(), parts.is_empty()) else {
            return Ok(());
        };
        let evidence = match parts.len() {
            1 => parts.remove(0),
            _ => Evidence::merged(parts)
                .ok_or_else(|| ExpectedError::internal("only reports are put together"))?,
        };
        let name = match set.files.len() {
            1 if set.collection.is_none() => address.text(),
            _ => set.name.to_string_lossy(),
        };
        let survey = Survey::new(&evidence, options, address);
        if survey.groups.is_empty() && !survey.left_out.is_empty() && address.kernel.is_some() {
            return Err(survey.left_out.nothing_at(address));
        }
        self.selected.merge(&survey.selected);
        if !options.given.is_empty() && self.selected.are_several().is_some() {
            // What was given is about one of them: there will be no answer.
            return Ok(());
        }
        let is_only = options.files.len() <= 1;
        survey.add_ceilings(&evidence, stored, is_only, &mut self.ceilings, output)?;
        let id = self.sources.len();
        let mut source = evidence.source(id, &name);
        source.collected = set.collection.as_ref().map(|file| file.collected.clone());
        for problem in input.problem.iter().chain(evidence.problems()) {
            self.add_problem(id, problem);
        }
        for problem in &survey.problems {
            self.add_problem(id, problem);
        }
        survey.describe(&mut source);
        self.warnings.extend(caveats(&source, &survey.facts()));
        let program = source.program.as_deref();
        let disassembler = Disassembler::find();
        let diagnoses = survey.diagnose(&evidence, id, program, disassembler.as_ref(), options);
        for (mut kernel, problems) in diagnoses {
            kernel.measured = self.ceilings.of(&evidence, &kernel, &options.given);
            if let Some(file) = &set.collection {
                file.time(&mut kernel);
            }
            self.kernels.push(kernel);
            for problem in &problems {
                self.add_problem(id, problem);
            }
        }
        if let Some(message) = disassembler.and_then(|program| program.failure()) {
            self.warnings.push(Warning {
                code: "no-disassembly".to_owned(),
                message,
                source: Some(id),
                offset: None,
                field: None,
            });
        }
        self.left_out.merge(survey.left_out);
        self.sources.push(source);
        Ok(())
    }

    fn add_problem(&mut self, source: usize, problem: &ncu_rep::Error) {
        self.is_incomplete |= !problem.is_remark();
        self.warnings.push(Warning {
            code: problem.code().to_owned(),
            message: problem.reason(),
            source: Some(source),
            offset: problem.offset(),
            field: Some(problem.field().to_owned()).filter(|field| !field.is_empty()),
        });
    }

    fn finish(self) -> Document {
        Document {
            schema: SCHEMA,
            version: VERSION,
            report_findings: ridge_diagnose::report_findings(&self.kernels),
            totals: ridge_diagnose::totals(&self.sources, &self.kernels),
            ranks: ridge_diagnose::ranks(&self.sources, &self.kernels),
            sources: self.sources,
            kernels: self.kernels,
            warnings: self.warnings,
        }
    }
}

/// First walk over an input: who is there, for how long, and which launches belong together.
#[derive(Default)]
struct Survey {
    /// Groups in order of first launch.
    groups: Vec<Group>,
    /// Names and launches of the groups.
    selected: Selected,
    left_out: LeftOut,
    sections: Vec<String>,
    passes: Option<(u64, u64)>,
    sm_clock_hz: Option<(f64, f64)>,
    total_ns: f64,
    clock_was_held: Option<bool>,
    /// Ranges, command lists and graphs: their counters mix several kernels.
    mixtures: usize,
    without_samples: usize,
    unmeasured: usize,
    workloads: usize,
    problems: Vec<ncu_rep::Error>,
}

/// What the first walk keeps of one launch.
struct Glance {
    key: GroupKey,
    name: String,
    duration_ns: Option<f64>,
    sections: Vec<String>,
    passes: Option<u64>,
    sm_clock_hz: Option<f64>,
    clock_was_held: Option<bool>,
    is_mixture: bool,
    lacks_samples: bool,
    is_measured: bool,
    problems: Vec<ncu_rep::Error>,
}

fn glance(evidence: &Evidence<'_>, index: usize) -> Option<Glance> {
    let workload = evidence.workload(index)?;
    let metrics = &workload.profile.metrics;
    Some(Glance {
        key: workload.profile.group_key(),
        duration_ns: workload.profile.duration_ns(),
        passes: metrics.integer("profiler__replayer_passes"),
        sm_clock_hz: SmClock::of(metrics).map(|clock| clock.hz),
        lacks_samples: workload.profile.samples().is_some_and(|count| count <= 0.0),
        is_mixture: workload.profile.is_mixture,
        is_measured: workload.profile.is_measured(),
        clock_was_held: workload.clock_was_held,
        name: workload.profile.name,
        sections: workload.profile.sections,
        problems: workload.problems,
    })
}

impl Survey {
    fn new(evidence: &Evidence<'_>, options: &WhyOptions, address: &Address) -> Self {
        let glances: Vec<Option<Glance>> = (0..evidence.len())
            .into_par_iter()
            .map(|index| glance(evidence, index))
            .collect();
        let mut survey = Self::default();
        let mut places: HashMap<GroupKey, usize> = HashMap::new();
        for (index, glance) in glances.into_iter().enumerate() {
            let Some(glance) = glance else { continue };
            survey.total_ns += glance.duration_ns.unwrap_or(0.0);
            let (name, signature) = (&glance.name, &glance.key.signature);
            // What was collected here was chosen before; a launch has another number in a report of few.
            let is_chosen = options.collect.is_some()
                || options.selection.selects(address, name, signature, index);
            if !is_chosen {
                survey.left_out.add(name, index);
                continue;
            }
            let groups = &mut survey.groups;
            let place = *places.entry(glance.key.clone()).or_insert_with(|| {
                groups.push(Group::default());
                survey.selected.add(name, index);
                groups.len() - 1
            });
            survey.groups[place]
                .launches
                .push((index, glance.duration_ns));
            survey.note(glance);
        }
        let total = survey.total_ns;
        for group in &mut survey.groups {
            let sum: f64 = group.launches.iter().filter_map(|(_, ns)| *ns).sum();
            group.time_share = (total > 0.0).then_some(sum / total);
        }
        survey
    }

    fn note(&mut self, glance: Glance) {
        self.workloads += 1;
        for section in glance.sections {
            if !self.sections.contains(&section) {
                self.sections.push(section);
            }
        }
        self.passes = widened(self.passes, glance.passes, u64::min, u64::max);
        self.sm_clock_hz = widened(self.sm_clock_hz, glance.sm_clock_hz, f64::min, f64::max);
        self.mixtures += usize::from(glance.is_mixture);
        self.without_samples += usize::from(glance.lacks_samples);
        self.unmeasured += usize::from(!glance.is_measured);
        self.clock_was_held = match (self.clock_was_held, glance.clock_was_held) {
            (Some(before), Some(now)) => Some(before && now),
            (before, now) => before.or(now),
        };
        self.problems.extend(glance.problems);
    }

    fn describe(&self, source: &mut Source) {
        source.collection.sections.clone_from(&self.sections);
        source.collection.passes = self.passes;
        source.collection.sm_clock_hz = self.sm_clock_hz;
        source.collection.clock_was_held = self.clock_was_held;
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            workloads: self.workloads,
            mixtures: self.mixtures,
            without_samples: self.without_samples,
            unmeasured: self.unmeasured,
            uneven: self.selected.names().zip(&self.groups).fold(
                Uneven::default(),
                |uneven, (name, group)| {
                    let durations = group.launches.iter().filter_map(|(_, ns)| *ns);
                    uneven.with(name, durations)
                },
            ),
        }
    }

    /// The modules of all groups. Disassembly takes long, so only the kernels with the most time get it.
    fn modules(&self, evidence: &Evidence<'_>, top: usize) -> HashMap<SourceKey, Module> {
        let share = |group: &Group| group.time_share.unwrap_or(0.0);
        let mut order: Vec<&Group> = self.groups.iter().collect();
        order.sort_by(|a, b| share(b).total_cmp(&share(a)));
        let mut modules: HashMap<SourceKey, Module> = HashMap::new();
        for (place, group) in order.into_iter().enumerate() {
            let key = group
                .representative()
                .and_then(|index| evidence.code_key(index));
            if let Some((key, function)) = key {
                let module = modules.entry(key).or_default();
                module.shown.extend(function.filter(|_| place < top));
            }
        }
        modules
    }

    /// Adds what was measured on the devices of the kernels. Nothing is decoded for it where nothing is stored. `is_only`:
    /// whether there is no other input.
    fn add_ceilings(
        &self,
        evidence: &Evidence<'_>,
        stored: &Stored,
        is_only: bool,
        known: &mut OfDevices,
        output: &Output,
    ) -> Result<(), ExpectedError> {
        if stored.is_empty() {
            return Ok(());
        }
        let mut devices: Vec<(DeviceKey, Device)> = Vec::new();
        for group in &self.groups {
            let workload = group
                .representative()
                .and_then(|index| evidence.workload(index));
            let Some(workload) = workload else { continue };
            let attributes = roofline::attributes(&workload.profile);
            let Some(key) = device_key(&attributes) else {
                continue;
            };
            if devices.iter().any(|(other, _)| *other == key) {
                continue;
            }
            let mut fitting = Devices::known()
                .matching(&key.0)
                .into_iter()
                .filter(|device| {
                    let capability = attributes.capability;
                    capability.is_none_or(|capability| capability == device.capability)
                });
            if let (Some(device), None) = (fitting.next(), fitting.next()) {
                devices.push((key, device.clone()));
            }
        }
        let is_one_of_many = devices.len() > 1 || !is_only;
        for (key, device) in devices {
            if known.0.contains_key(&key) {
                continue;
            }
            let asked = Asked {
                device: &device,
                multiprocessors: key.1,
                uuid: None,
            };
            let found = match stored.of(&asked, output) {
                // A file is of one device; that of another kernel may be it.
                Err(_) if is_one_of_many => None,
                other => other?,
            };
            let found = found.map(|measured| (device, measured));
            known.0.insert(key, found);
        }
        Ok(())
    }

    /// Second walk: the representative launch of each group through the three layers.
    fn diagnose(
        &self,
        evidence: &Evidence<'_>,
        id: usize,
        program: Option<&str>,
        disassembler: Option<&Disassembler>,
        options: &WhyOptions,
    ) -> Vec<(Kernel, Vec<ncu_rep::Error>)> {
        let modules = self.modules(evidence, options.top);
        let options = Options {
            min_saving: if options.all {
                0.0
            } else {
                Options::default().min_saving
            },
            program: program.map(str::to_owned),
            given: options.given,
        };
        self.groups
            .par_iter()
            .filter_map(|group| {
                let workload = evidence.workload(group.representative()?)?;
                let code = workload.code.and_then(|key| {
                    let module = modules.get(&key)?;
                    module
                        .map
                        .get_or_init(|| {
                            let functions: Vec<&str> =
                                module.shown.iter().map(String::as_str).collect();
                            evidence.code(key, disassembler, &functions)
                        })
                        .as_ref()
                });
                let mut kernel = diagnose(&workload.profile, group, code, &options);
                kernel.source = id;
                Some((kernel, damaged_instances(&workload.profile)))
            })
            .collect()
    }
}

/// What tells one device from another: its name and its multiprocessors.
type DeviceKey = (String, Option<u32>);

fn device_key(attributes: &Attributes) -> Option<DeviceKey> {
    Some((attributes.name.clone()?, attributes.multiprocessors))
}

/// What was measured, by device; nothing for one that was asked for in vain.
#[derive(Default)]
struct OfDevices(HashMap<DeviceKey, Option<(Device, MeasuredCeilings)>>);

impl OfDevices {
    /// The diagnosed launch of a kernel at the rates of its device.
    fn of(&self, evidence: &Evidence<'_>, kernel: &Kernel, given: &Given) -> Option<AtMeasured> {
        if self.0.is_empty() {
            return None;
        }
        let profile = evidence.workload(kernel.diagnosed_launch)?.profile;
        let key = device_key(&roofline::attributes(&profile))?;
        let (device, measured) = self.0.get(&key)?.as_ref()?;
        ridge_diagnose::at_measured(&profile, given, device, measured)
    }
}

/// Code that is shared by its kernels: the line table is the same for all of them.
#[derive(Default)]
struct Module {
    /// Mangled names of the functions whose instructions are to be shown as text.
    shown: Vec<String>,
    map: OnceLock<Option<CodeMap>>,
}

/// Problems of one launch's instances that are told; more of them say the same.
const TOLD: usize = 3;

/// What the diagnosis missed, because the instances of a metric cannot be read to their end.
fn damaged_instances(profile: &KernelProfile<'_>) -> Vec<ncu_rep::Error> {
    profile
        .metrics
        .iter()
        .filter_map(|metric| metric.instances().find_map(Result::err))
        .take(TOLD)
        .collect()
}

/// A range, widened by one more value.
fn widened<T: Copy>(
    range: Option<(T, T)>,
    value: Option<T>,
    min: impl Fn(T, T) -> T,
    max: impl Fn(T, T) -> T,
) -> Option<(T, T)> {
    match (range, value) {
        (Some((low, high)), Some(value)) => Some((min(low, value), max(high, value))),
        (None, Some(value)) => Some((value, value)),
        (range, None) => range,
    }
}

fn warning_text(document: &Document, warning: &Warning) -> String {
    let file = warning
        .source
        .and_then(|id| document.sources.get(id))
        .map(|source| shown_name(&source.file));
    let place = match (&warning.field, warning.offset) {
        (Some(field), Some(offset)) => format!("{field} (byte {offset}): "),
        (Some(field), None) => format!("{field}: "),
        (None, Some(offset)) => format!("byte {offset}: "),
        (None, None) => String::new(),
    };
    match file {
        Some(file) => format!("{file}: {place}{}", warning.message),
        None => format!("{place}{}", warning.message),
    }
}

/// Diagnoses reports about the same launches, for what they leave open.
pub(crate) fn kernels_of(set: &InputSet, output: &Output) -> Result<Vec<Kernel>, ExpectedError> {
    let mut inputs = Vec::with_capacity(set.files.len());
    for file in &set.files {
        let address = Address::of_argument(file)?;
        inputs.push((Input::open(&address, output)?, address));
    }
    Ok(diagnosis_of(&inputs, set, output)?.0.kernels)
}

/// Diagnoses a set whose files are open as `ridge why` does, without measured ceilings; and whether all of it could be read.
pub(crate) fn diagnosis_of(
    inputs: &[(Input, Address)],
    set: &InputSet,
    output: &Output,
) -> Result<(Document, bool), ExpectedError> {
    let options = WhyOptions {
        files: Vec::new(),
        selection: Selection::all(),
        top: 0,
        all: false,
        given: Given::default(),
        ceilings: Choice::Nothing,
        recording: Recording::default(),
        format: None,
        collect: None,
    };
    let stored = Stored::read(&options.ceilings, None, output)?;
    let mut answer = Answer::default();
    answer.add_opened(inputs, set, &options, &stored, output)?;
    let is_whole = !answer.is_incomplete;
    Ok((answer.finish(), is_whole))
}
