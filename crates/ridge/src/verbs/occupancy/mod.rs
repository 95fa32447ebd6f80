//! `ridge occupancy`: what limits the blocks on an SM, and which launch would have more.

mod code;
pub(crate) mod numbers;
mod report;
pub(crate) mod target;

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};

use ridge_model::ComputeCapability;
use ridge_model::occupancy::document::{
    ClusterOrigin, Document, Given, Kernels, Number, Origins, SCHEMA, Source, SourceKind, Subject,
    VERSION, Warning,
};
use ridge_model::occupancy::{Impossible, Launch, SmLimits, check, resident, slots_of_h200};
use ridge_render::occupancy::{svg, text};

use crate::args::OccupancyFormat;
use crate::error::ExpectedError;
use crate::evidence::{Evidence, shown_name};
use crate::exit::{self, Code};
use crate::filter::{Address, LeftOut, Selection};
use crate::input::Input;
use crate::output::Output;
use crate::verbs::devices::layout;
use code::Code as CompiledCode;
use target::{Known, Target};

/// Whose occupancy, and how to show it.
pub(crate) struct OccupancyOptions {
    pub(crate) files: Vec<OsString>,
    pub(crate) selection: Selection,
    pub(crate) numbers: Numbers,
    pub(crate) target: Target,
    pub(crate) format: Option<OccupancyFormat>,
}

/// Numbers of the launch on the command line; they go before those of an input.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbers {
    pub(crate) registers: Option<u32>,
    pub(crate) shared_bytes: Option<u32>,
    pub(crate) block: Option<u64>,
    pub(crate) grid: Option<u64>,
    pub(crate) cluster: Option<u32>,
    pub(crate) barriers: Option<u32>,
    pub(crate) carveout_bytes: Option<u32>,
}

impl Numbers {
    /// Puts the numbers in place of those of a launch, all but the carve-out, whose sizes depend on the device.
    fn put(&self, launch: &mut Launch, origins: &mut Origins) {
        if let Some(threads) = self.block {
            launch.threads = u32::try_from(threads).unwrap_or(u32::MAX);
            origins.threads = Given::Argument;
        }
        if let Some(registers) = self.registers {
            launch.registers = registers;
            origins.registers = Given::Argument;
        }
        if let Some(bytes) = self.shared_bytes {
            launch.dynamic_shared_bytes = bytes;
            origins.dynamic_shared = Given::Argument;
            // What is in force was chosen for another launch.
            launch.carveout_bytes = None;
        }
        if let Some(barriers) = self.barriers {
            launch.barriers = Some(barriers);
            origins.barriers = Given::Argument;
        }
        if let Some(size) = self.cluster {
            launch.cluster = Some(size);
            origins.cluster = Given::Argument;
        }
    }

    fn check_grid(&self, cluster: Option<u32>) -> Result<(), ExpectedError> {
        let cluster = cluster.filter(|size| *size > 0).map(u64::from);
        if let (Some(size), Some(grid)) = (cluster, self.grid)
            && grid % size != 0
        {
            return Err(ExpectedError::usage(format!(
                "a grid of {grid} blocks cannot be launched in clusters of {size}: it must be a multiple of the cluster"
            ))
            .with_hint(format!("--grid {}", grid.next_multiple_of(size))));
        }
        Ok(())
    }

    /// Without a device: what no device can launch is wrong, whatever is missing.
    fn check_anywhere(&self) -> Result<(), ExpectedError> {
        self.check_grid(self.cluster)?;
        let mut launch = Launch::new(1, 1);
        self.put(&mut launch, &mut Origins::all(Given::Argument));
        let known = ComputeCapability::KNOWN.into_iter();
        let mut limits: Vec<SmLimits> = known.filter_map(SmLimits::of).collect();
        // The reason of the largest is the one that no other device is a way out of.
        limits.sort_by_key(|limits| {
            let cluster = limits.cluster_blocks_opt_in.map(|most| most.value);
            (cluster, limits.shared_bytes_per_block.value)
        });
        let mut outcomes = limits.iter().rev().map(|limits| {
            let launch = match self.carveout_bytes {
                Some(bytes) => launch.with_fixed_carveout(carveout(limits, bytes)?),
                None => launch,
            };
            check(limits, &launch).map_err(|reason| {
                let message = format!("such a kernel cannot be launched on any device: {reason}");
                ExpectedError::usage(message)
                    .with_hint("`ridge explain occupancy` tells what limits a launch")
            })
        });
        match outcomes.next() {
            Some(Err(error)) if outcomes.all(|outcome| outcome.is_err()) => Err(error),
            _ => Ok(()),
        }
    }
}

/// Collects the document while inputs are read one after the other.
struct Answer<'o> {
    options: &'o OccupancyOptions,
    known: Known,
    sources: Vec<Source>,
    subjects: Vec<Subject>,
    warnings: Vec<Warning>,
    /// Messages of `warnings` that are said once.
    said: HashSet<String>,
    left_out: LeftOut,
    is_incomplete: bool,
}

pub(crate) fn run(options: &OccupancyOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let format = format(options, output)?;
    let mut answer = Answer {
        options,
        known: options
            .target
            .resolve(options.numbers.grid.is_some(), output)?,
        sources: Vec::new(),
        subjects: Vec::new(),
        warnings: Vec::new(),
        said: HashSet::new(),
        left_out: LeftOut::default(),
        is_incomplete: false,
    };
    let mut code = exit::FINE;
    if options.files.is_empty() {
        answer.add_numbers()?;
    }
    for file in &options.files {
        if let Err(error) = answer.add_file(file, output) {
            // The other inputs are still worth an answer.
            output.complain(&error);
            code = code.and(error.exit);
        }
    }
    if answer.subjects.is_empty() {
        if code == exit::FINE && !answer.left_out.is_empty() {
            return Err(answer.left_out.nothing_matches(&options.selection));
        }
        for warning in &answer.warnings {
            output.warn(&warning.message);
        }
        if code == exit::FINE {
            return Err(
                ExpectedError::unreadable("there is no kernel whose launch is known").with_hint(
                    "collect with `ncu --section LaunchStats --section Occupancy`, or name a cubin",
                ),
            );
        }
        return Ok(code);
    }
    answer.check()?;
    if answer.is_incomplete {
        code = code.and(exit::UNREADABLE);
    }
    let document = answer.finish();
    match format {
        OccupancyFormat::Text => {
            output.write(&text(&document, &layout(output)))?;
        }
        OccupancyFormat::Json => output.json(&document)?,
        OccupancyFormat::Svg => output.write(&svg(&document))?,
    }
    if format != OccupancyFormat::Text {
        let text = |warning: &Warning| {
            let source = warning.source.and_then(|id| document.sources.get(id));
            source.map_or_else(
                || warning.message.clone(),
                |source| format!("{}: {}", shown_name(&source.file), warning.message),
            )
        };
        output.warn_all(document.warnings.iter().map(text));
    }
    Ok(code)
}

fn format(options: &OccupancyOptions, output: &Output) -> Result<OccupancyFormat, ExpectedError> {
    match (options.format, output.extension().as_deref()) {
        (Some(format), _) => Ok(format),
        (None, None | Some("txt" | "text" | "log")) => Ok(OccupancyFormat::Text),
        (None, Some("json")) => Ok(OccupancyFormat::Json),
        (None, Some("svg")) => Ok(OccupancyFormat::Svg),
        (None, Some(other)) => Err(ExpectedError::usage(format!(
            "the extension {other:?} of the output file names no format of `ridge occupancy`"
        ))
        .with_hint("say --format text, --format json or --format svg")),
    }
}

impl Answer<'_> {
    /// A launch that the command line describes alone.
    fn add_numbers(&mut self) -> Result<(), ExpectedError> {
        let numbers = self.options.numbers;
        let example = "ridge occupancy --device h200 --block 256 --regs 64 --smem 16KiB";
        if let Some(capability) = self.known.capability {
            let mut subject = self.subject(None, capability, None);
            subject.origins = Origins::all(Given::Argument);
            // What is given is looked at first, beside the least that a launch can have: what is wrong by itself is told
            // before what is missing.
            subject.launch = Launch::new(1, 1);
            self.add(subject)?;
            self.check()?;
        } else {
            numbers.check_anywhere()?;
        }
        let missing: Vec<(&str, &str)> = [
            (
                self.known.capability.is_none(),
                "the device",
                "--device NAME or --cc CAPABILITY",
            ),
            (
                numbers.block.is_none(),
                "the threads of a block",
                "--block SIZE",
            ),
            (
                numbers.registers.is_none(),
                "the registers of a thread",
                "--regs N",
            ),
        ]
        .into_iter()
        .filter_map(|(is_missing, what, option)| is_missing.then_some((what, option)))
        .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let list: Vec<String> = missing
            .iter()
            .map(|(what, option)| format!("{what} ({option})"))
            .collect();
        let list = match list.as_slice() {
            [others @ .., last] if !others.is_empty() => {
                format!("{} and {last}", others.join(", "))
            }
            list => list.concat(),
        };
        let mut hint = example.to_owned();
        if numbers.registers.is_none() {
            hint.push_str("; `nvcc -Xptxas -v` prints the registers, and a cubin holds them");
        }
        Err(ExpectedError::usage(format!("without an input, {list} must be given")).with_hint(hint))
    }

    fn add_file(&mut self, argument: &OsStr, output: &Output) -> Result<(), ExpectedError> {
        let address = Address::of_argument(argument)?;
        let input = Input::open(&address, output)?;
        let id = self.sources.len();
        let kind = match CompiledCode::of_bytes(input.bytes(), &address, self.known.capability)? {
            Some(code) => {
                self.add_code(&code, id, &address)?;
                code.kind
            }
            None => {
                let evidence = Evidence::new(&input, &address).map_err(other_input)?;
                self.add_report(&evidence, id, &address)?;
                match evidence {
                    Evidence::Report(_) | Evidence::Merged(_) => SourceKind::NcuReport,
                    Evidence::Csv(_) => SourceKind::NcuCsv,
                }
            }
        };
        if let Some(problem) = &input.problem {
            self.add_problem(id, problem);
        }
        self.sources.push(Source {
            id,
            file: address.text().into_owned(),
            kind,
        });
        Ok(())
    }

    fn add_problem(&mut self, source: usize, problem: &ncu_rep::Error) {
        self.is_incomplete |= !problem.is_remark();
        self.warnings.push(Warning {
            code: problem.code().to_owned(),
            message: problem.to_string(),
            source: Some(source),
            offset: problem.offset(),
        });
    }

    fn warn(&mut self, code: &str, message: String, source: Option<usize>) {
        self.warnings.push(Warning {
            code: code.to_owned(),
            message,
            source,
            offset: None,
        });
    }

    fn warn_once(&mut self, code: &str, message: String, source: Option<usize>) {
        if self.said.insert(message.clone()) {
            self.warn(code, message, source);
        }
    }

    /// A kernel of which nothing but its device is known yet.
    fn subject(
        &mut self,
        source: Option<usize>,
        capability: ComputeCapability,
        name: Option<&str>,
    ) -> Subject {
        let limits = SmLimits::of(capability).unwrap_or_else(|| {
            let nearest = SmLimits::nearest(capability);
            let message = format!(
                "compute capability {capability} is not known; what the input does not tell is taken from {nearest}"
            );
            self.warn_once("unknown-capability", message, source);
            // The nearest is known, or it would not have been offered.
            SmLimits::of(nearest).expect("a known capability has limits")
        });
        Subject {
            source,
            name: name.map(|name| ridge_render::kernel_name::base_name(name).to_owned()),
            signature: name.map(str::to_owned),
            launches: Vec::new(),
            device: self.known.name.clone(),
            capability,
            limits,
            sms: self.known.sms,
            launch: Launch::new(0, 0),
            origins: Origins::all(Given::Code),
            grid_blocks: None,
            stack_bytes: None,
            spill_bytes: None,
            achieved: None,
            clusters: None,
            bound_by: None,
        }
    }

    /// Adds a kernel with the numbers of the command line in place of its own.
    fn add(&mut self, mut subject: Subject) -> Result<(), ExpectedError> {
        let numbers = self.options.numbers;
        numbers.put(&mut subject.launch, &mut subject.origins);
        if let Some(bytes) = numbers.carveout_bytes {
            let carveout = carveout(&subject.limits, bytes)?;
            subject.launch = subject.launch.with_fixed_carveout(carveout);
        }
        if let Some(blocks) = numbers.grid {
            subject.grid_blocks = Some(Number {
                value: blocks,
                origin: Given::Argument,
            });
        }
        if subject.grid_blocks.is_some() && subject.sms.is_none() {
            let device = subject.device.as_deref().map_or_else(
                || format!("compute capability {}", subject.capability),
                str::to_owned,
            );
            let message = format!(
                "the number of SMs is not known for {device}, so that nothing is said about waves and the tail of the grid: give --sms"
            );
            self.warn_once("unknown-sms", message, subject.source);
        }
        numbers.check_grid(subject.launch.cluster)?;
        if subject.clusters.is_none()
            && subject.capability == (ComputeCapability { major: 9, minor: 0 })
            && subject.sms.is_some_and(|sms| sms.value == 132)
            && subject
                .device
                .as_ref()
                .is_none_or(|name| name.contains("H200"))
        {
            let blocks = resident(&subject.limits, &subject.launch).blocks;
            subject.clusters = subject
                .launch
                .cluster
                .and_then(|size| slots_of_h200(size, blocks))
                .map(|slots| (slots, ClusterOrigin::SameModel));
        }
        self.subjects.push(subject);
        Ok(())
    }

    /// A launch that somebody asked for in numbers and that cannot be is a wrong argument.
    fn check(&self) -> Result<(), ExpectedError> {
        // Of several, those that can be launched are an answer.
        let mut reasons = self
            .subjects
            .iter()
            .map(|subject| (subject, check(&subject.limits, &subject.launch)));
        let Some((subject, Err(reason))) = reasons.next() else {
            return Ok(());
        };
        if reasons.any(|(_, outcome)| outcome.is_ok()) {
            return Ok(());
        }
        let numbers = self.options.numbers;
        let is_asked_for = self.options.files.is_empty()
            || numbers.block.is_some()
            || numbers.registers.is_some()
            || numbers.shared_bytes.is_some()
            || numbers.cluster.is_some()
            || numbers.barriers.is_some()
            || numbers.carveout_bytes.is_some();
        if !is_asked_for {
            return Ok(());
        }
        let error = ExpectedError::usage(format!(
            "such a kernel cannot be launched on compute capability {}: {reason}",
            subject.capability
        ));
        Err(match reason {
            Impossible::Threads { most, .. } if most < 1024 => error.with_hint(format!(
                "its __launch_bounds__ (or .reqntid) allow no more: --block {most}, or compile it for larger blocks"
            )),
            Impossible::Carveout { smallest, .. } => error.with_hint(format!(
                "--carveout {}KiB, or leave it out: the driver then takes one that is large enough",
                smallest / 1024
            )),
            _ => error.with_hint("`ridge explain occupancy` tells what limits a launch"),
        })
    }

    fn finish(self) -> Document {
        Document {
            schema: SCHEMA,
            version: VERSION,
            sources: self.sources,
            kernels: Kernels::new(self.subjects),
            warnings: self.warnings,
        }
    }
}

/// What this verb reads is more than reports.
fn other_input(error: ExpectedError) -> ExpectedError {
    let is_about_formats = error
        .hint
        .as_ref()
        .is_some_and(|hint| hint.starts_with("name a report"));
    if is_about_formats {
        error.with_hint(
            "name a report (.ncu-rep), a CSV export of ncu, a cubin, a fat binary, a program, or text of `ptxas -v`",
        )
    } else {
        error
    }
}

/// A carve-out as the driver would set it: rounded up to the next size that the device has.
fn carveout(limits: &SmLimits, bytes: u32) -> Result<u32, ExpectedError> {
    limits.smallest_carveout(bytes).ok_or_else(|| {
        let sizes = limits.carveouts_bytes.iter().filter(|size| **size > 0);
        let sizes: Vec<String> = sizes.map(|size| format!("{}KiB", size / 1024)).collect();
        ExpectedError::usage(format!(
            "a carve-out of {bytes} bytes is more shared memory than an SM has"
        ))
        .with_hint(format!("--carveout with one of {}", sizes.join(", ")))
    })
}
