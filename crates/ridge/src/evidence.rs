//! Inputs of every kind as the same evidence: workloads with counters, and how they were collected.

mod merged;

use std::borrow::Cow;

use ncu_rep::Report;
use ncu_rep::csv::{self, CsvReport};
use ncu_rep::report::{CacheControl, ClockControl, Header, ReplayMode, SourceKey, WorkloadKind};
use ridge_diagnose::document::{Collection, Device, Source, SourceKind};
use ridge_diagnose::{CodeMap, KernelProfile};
use ridge_render::kernel_name::base_name;

use merged::Merged;
pub(crate) use merged::common_program;

use crate::disassembler::Disassembler;
use crate::error::ExpectedError;
use crate::filter::Address;
use crate::input::Input;

/// What an input holds.
pub(crate) enum Evidence<'a> {
    Report(Box<Report<'a>>),
    Csv(CsvReport),
    /// Several reports about the same launches.
    Merged(Merged<'a>),
}

/// One workload and what was wrong with it.
pub(crate) struct Workload<'r> {
    pub(crate) profile: KernelProfile<'r>,
    /// Key of its code; see [`Evidence::code`].
    pub(crate) code: Option<SourceKey>,
    pub(crate) clock_was_held: Option<bool>,
    pub(crate) problems: Vec<ncu_rep::Error>,
}

impl<'a> Evidence<'a> {
    /// Recognises an input by its content.
    pub(crate) fn new(input: &'a Input, address: &Address) -> Result<Self, ExpectedError> {
        Self::of_bytes(input.bytes()).map_err(|error| {
            // What does not unpack to its end may look like anything.
            let cause = input.problem.as_ref().unwrap_or(&error);
            let text = address.text();
            let file = shown_name(&text);
            if ridge_bench::document::Document::looks_like(input.bytes()) {
                ExpectedError::unreadable(format!(
                    "cannot read {file}: it is what `ridge bench` measured, and holds no counters"
                ))
                .with_hint(format!(
                    "`ridge roofline {file}` draws it; for counters, profile the program with `ncu --set full`"
                ))
            } else if cause.is_other_format() {
                // It is about the file as a whole: a place would say nothing.
                ExpectedError::unreadable(format!("cannot read {file}: {}", cause.reason()))
                    .with_hint(
                        "name a report of Nsight Compute (.ncu-rep, .ncu-repz) or the output of `ncu --csv`",
                    )
            } else {
                let error = ExpectedError::unreadable(format!("cannot read {file}: {cause}"));
                match cause.code() {
                    "NCU0009" => error.with_hint(
                        "test the file with `zstd -t` or `gzip -t`, and copy it again if it is damaged",
                    ),
                    _ => error,
                }
            }
        })
    }

    /// Puts reports about the same launches together; `None` where there are none or they are of other kinds.
    pub(crate) fn merged(parts: Vec<Self>) -> Option<Self> {
        Merged::new(parts).map(Self::Merged)
    }

    fn of_bytes(bytes: &'a [u8]) -> Result<Self, ncu_rep::Error> {
        if !Report::looks_like(bytes) && csv::looks_like(bytes) {
            return Ok(Self::Csv(csv::read(bytes)?));
        }
        let error = match Report::parse(bytes) {
            Ok(report) => return Ok(Self::Report(Box::new(report))),
            Err(error) => error,
        };
        // Text that the profiler printed, but no table: the reader of exports knows which one to ask for.
        let advice = std::str::from_utf8(bytes)
            .ok()
            .and_then(|_| csv::read(bytes).err())
            .filter(|advice| !advice.is_other_format());
        Err(advice.unwrap_or(error))
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Report(report) => report.len(),
            Self::Csv(report) => report.kernels.len(),
            Self::Merged(merged) => merged.len(),
        }
    }

    /// What could not be read of the input as a whole.
    pub(crate) fn problems(&self) -> &[ncu_rep::Error] {
        match self {
            Self::Report(report) => report.problems(),
            Self::Csv(report) => &report.problems,
            Self::Merged(merged) => merged.first().problems(),
        }
    }

    /// Decodes one workload.
    pub(crate) fn workload(&self, index: usize) -> Option<Workload<'_>> {
        match self {
            Self::Report(report) => {
                let profile = report.profile(index)?;
                let header = profile.header();
                let metrics = profile.metrics();
                let sections = profile.sections();
                let mut problems = header.problems;
                let mut values = metrics.value;
                problems.extend(values.leave_out_implausible());
                problems.extend(metrics.problems);
                problems.extend(sections.problems);
                let header = header.value;
                // A launch that was cut short has a size of zeros.
                let launch = header
                    .launches
                    .first()
                    .filter(|launch| launch.grid.count() > 0 && launch.block.count() > 0);
                let signature = signature(&header, index);
                let name = header.function_name.as_deref().map_or_else(
                    || base_name(&signature).to_owned(),
                    |name| base_name(name).to_owned(),
                );
                Some(Workload {
                    profile: KernelProfile {
                        name,
                        signature,
                        mangled: header.mangled_name.as_deref().map(str::to_owned),
                        is_mixture: header.kind != WorkloadKind::Kernel,
                        grid: launch.map(|launch| launch.grid),
                        block: launch.map(|launch| launch.block),
                        launch_index: index,
                        sections: sections
                            .value
                            .into_iter()
                            .map(|section| section.id.into_owned())
                            .filter(|name| !is_of_metrics(name))
                            .collect(),
                        metrics: values,
                    },
                    code: header.sources.first().copied(),
                    clock_was_held: header.clock.map(|clock| clock.lock_done),
                    problems,
                })
            }
            Self::Csv(report) => {
                let kernel = report.kernels.get(index)?;
                let mut metrics = kernel.metrics();
                let problems = metrics.leave_out_implausible();
                Some(Workload {
                    profile: KernelProfile {
                        name: base_name(&kernel.name).to_owned(),
                        signature: String::from(&*kernel.name),
                        mangled: None,
                        is_mixture: false,
                        grid: kernel.grid,
                        block: kernel.block,
                        launch_index: index,
                        sections: Vec::new(),
                        metrics,
                    },
                    code: None,
                    clock_was_held: None,
                    problems,
                })
            }
            Self::Merged(merged) => merged.workload(index),
        }
    }

    /// The key of the code of a workload and the mangled name of its function, without decoding the rest of it.
    pub(crate) fn code_key(&self, index: usize) -> Option<(SourceKey, Option<String>)> {
        match self {
            Self::Report(report) => {
                let header = report.profile(index)?.header().value;
                let function = header.mangled_name.map(Cow::into_owned);
                Some((*header.sources.first()?, function))
            }
            Self::Csv(_) => None,
            Self::Merged(merged) => merged.first().code_key(index),
        }
    }

    /// The code that a workload belongs to, with the text of some of its functions where there is a disassembler.
    pub(crate) fn code(
        &self,
        key: SourceKey,
        disassembler: Option<&Disassembler>,
        functions: &[&str],
    ) -> Option<CodeMap> {
        match self {
            Self::Report(report) => {
                let source = report.source(key)?.value;
                let mut map = CodeMap::new(&source);
                if let Some(disassembler) = disassembler {
                    disassembler.add_to(&mut map, &source, functions);
                }
                Some(map)
            }
            Self::Csv(_) => None,
            Self::Merged(merged) => merged.first().code(key, disassembler, functions),
        }
    }

    /// How the input was made.
    pub(crate) fn source(&self, id: usize, file: &str) -> Source {
        match self {
            Self::Report(report) => report_source(report, id, file),
            Self::Csv(report) => Source {
                id,
                file: file.to_owned(),
                kind: SourceKind::NcuCsv,
                profiler_version: None,
                devices: exported_devices(report),
                created_unix_s: None,
                program: None,
                collection: Collection::default(),
                collected: None,
            },
            Self::Merged(merged) => merged.first().source(id, file),
        }
    }
}

/// The profiler's own section for metrics that were asked for by name, as in `section0`.
fn is_of_metrics(section: &str) -> bool {
    section.strip_prefix("section").is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The devices that an export tells of: by their attributes where its page has them, else by the column of the compute
/// capability. Each is listed once, in the order of the kernels.
fn exported_devices(report: &CsvReport) -> Vec<Device> {
    let mut devices = Vec::new();
    for kernel in &report.kernels {
        let metrics = kernel.metrics();
        let attribute = |name: &str| format!("device__attribute_{name}");
        let number = |name: &str| metrics.integer(&attribute(name));
        let capability = number("compute_capability_major")
            .zip(number("compute_capability_minor"))
            .or_else(|| {
                let (major, minor) = kernel.place.compute_capability?;
                Some((u64::from(major), u64::from(minor)))
            });
        let device = Device {
            name: metrics.text(&attribute("display_name")).map(str::to_owned),
            compute_capability: capability.map(|(major, minor)| format!("{major}.{minor}")),
            multiprocessors: number("multiprocessor_count"),
        };
        let is_told = device.name.is_some()
            || device.compute_capability.is_some()
            || device.multiprocessors.is_some();
        if is_told && !devices.contains(&device) {
            devices.push(device);
        }
    }
    devices
}

/// A name for every workload: graphs and ranges have none of their own.
fn signature(header: &Header<'_>, index: usize) -> String {
    header.name().map_or_else(
        || match header.kind {
            WorkloadKind::Kernel => format!("kernel {index} without a name"),
            WorkloadKind::Range => format!("range {index}"),
            WorkloadKind::CommandList => format!("command list {index}"),
            WorkloadKind::Graph => format!("graph {index}"),
        },
        str::to_owned,
    )
}

fn report_source(report: &Report<'_>, id: usize, file: &str) -> Source {
    let session = report.session();
    let collection = &session.collection;
    Source {
        id,
        file: file.to_owned(),
        kind: SourceKind::NcuReport,
        profiler_version: session.profiler_version().map(str::to_owned),
        devices: session
            .devices
            .iter()
            .map(|device| {
                let number = |name| device.attribute(name).and_then(ncu_rep::Value::integer);
                let capability =
                    number("compute_capability_major").zip(number("compute_capability_minor"));
                Device {
                    name: device.name.as_deref().map(str::to_owned).or_else(|| {
                        device
                            .attribute("display_name")
                            .and_then(|name| name.text().map(str::to_owned))
                    }),
                    compute_capability: capability.map(|(major, minor)| format!("{major}.{minor}")),
                    multiprocessors: number("multiprocessor_count"),
                }
            })
            .collect(),
        created_unix_s: session.created_unix_s,
        program: collection.program.clone().or_else(|| {
            session
                .executable
                .as_ref()
                .and_then(|settings| settings.path.as_deref().map(str::to_owned))
        }),
        collection: Collection {
            clock_control: collection
                .clocks
                .map(|clocks| clock_name(clocks).to_owned()),
            cache_control: collection
                .caches
                .map(|caches| cache_name(caches).to_owned()),
            replay_mode: collection
                .replay
                .map(|replay| replay_name(replay).to_owned()),
            ..Collection::default()
        },
        collected: None,
    }
}

fn clock_name(clocks: ClockControl) -> &'static str {
    match clocks {
        ClockControl::Base => "base",
        ClockControl::Boost => "boost",
        ClockControl::None => "none",
        ClockControl::Reset => "reset",
    }
}

fn cache_name(caches: CacheControl) -> &'static str {
    match caches {
        CacheControl::FlushAll => "all",
        CacheControl::None => "none",
    }
}

fn replay_name(replay: ReplayMode) -> &'static str {
    match replay {
        ReplayMode::Kernel => "kernel",
        ReplayMode::Application => "application",
        ReplayMode::Range => "range",
        ReplayMode::ApplicationRange => "app-range",
    }
}

/// A file name for people: that of standard input is a dash.
pub(crate) fn shown_name(file: &str) -> Cow<'_, str> {
    if file == "-" {
        Cow::Borrowed("standard input")
    } else {
        Cow::Borrowed(file)
    }
}
