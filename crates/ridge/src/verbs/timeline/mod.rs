//! `ridge timeline`: what a program did with its GPUs over time, and what bounds it.

mod part;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use ridge_model::bound::Link;
use ridge_model::device::Origin;
use ridge_model::quantity::{counted, grouped};
use ridge_model::{Device, Devices};
use ridge_render::timeline::{csv, html, markdown, svg, text};
use ridge_trace::document::{Document, SCHEMA, VERSION, Warning};
use ridge_trace::lanes::Lanes;
use ridge_trace::range::Wanted;
use ridge_trace::ranks::{Member, compare};
use ridge_trace::{Error, HostLink, Timeline, analyse, nsys};

use crate::args::TimelineFormat;
use crate::error::ExpectedError;
use crate::evidence::shown_name;
use crate::exit::{self, Code};
use crate::filter::Address;
use crate::input::Input;
use crate::output::Output;
use crate::verbs::ceilings::stored::{Asked, Choice, Stored, driver_of_machine};
use crate::verbs::devices::{layout, table};

/// Which traces to look at, and how to show them.
pub(crate) struct TimelineOptions {
    pub(crate) files: Vec<OsString>,
    /// Only this part of each.
    pub(crate) range: Option<Wanted>,
    pub(crate) table: Option<PathBuf>,
    pub(crate) ceilings: Choice,
    pub(crate) format: Option<TimelineFormat>,
}

pub(crate) fn run(options: &TimelineOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let format = format(options, output)?;
    let table: Cow<'_, Devices> = table(options.table.as_deref(), output)?;
    let stored = Stored::read(&options.ceilings, driver_of_machine(), output)?;
    let mut document = Document {
        schema: SCHEMA,
        version: VERSION,
        traces: Vec::new(),
        ranks: None,
        warnings: Vec::new(),
    };
    let mut lanes = Vec::new();
    let mut members = Vec::new();
    let mut code = exit::FINE;
    for file in each_once(&options.files, output) {
        let name = file.to_string_lossy();
        let wanted = options.range.as_ref();
        let timeline = read(file, output).and_then(|(timeline, warning)| match wanted {
            None => Ok((timeline, warning)),
            Some(wanted) => Ok((part::of(timeline, wanted, &name)?, warning)),
        });
        let timeline = match timeline {
            Ok((timeline, warning)) => {
                let place = document.traces.len();
                document.warnings.extend(warning.map(|warning| Warning {
                    trace: Some(place),
                    ..warning
                }));
                timeline
            }
            Err(error) => {
                // The other inputs are still worth an answer.
                output.complain(&error);
                code = code.and(error.exit);
                continue;
            }
        };
        let links = links(&timeline, &table, &stored, output)?;
        let trace = analyse(&timeline, &name, &links);
        members.extend(Member::of(&timeline, document.traces.len(), &name));
        document
            .warnings
            .extend(caveats(&timeline, document.traces.len()));
        document.traces.push(trace);
        if matches!(format, TimelineFormat::Svg | TimelineFormat::Html) {
            lanes.push(Lanes::of(&timeline));
        }
    }
    if document.traces.is_empty() {
        return Ok(code);
    }
    document.ranks = compare(members);
    if document
        .warnings
        .iter()
        .any(|warning| warning.code.starts_with(UNREADABLE))
    {
        code = code.and(exit::UNREADABLE);
    }
    match format {
        TimelineFormat::Text => output.write(&text(&document, &layout(output)))?,
        TimelineFormat::Markdown => output.write(&markdown(&document))?,
        TimelineFormat::Csv => output.stream(|sink| csv(&document, sink).map(|()| true))?,
        TimelineFormat::Json => output.json(&document)?,
        TimelineFormat::Svg => output.write(&svg(&document, &lanes))?,
        TimelineFormat::Html => output.write(&html(&document, &lanes).map_err(|error| {
            ExpectedError::internal(format!("cannot write the document: {error}"))
        })?)?,
    }
    if format != TimelineFormat::Text {
        output.warn_all(document.warnings.iter().map(|warning| {
            let trace = warning.trace.and_then(|place| document.traces.get(place));
            trace.map_or_else(
                || warning.message.clone(),
                |trace| format!("{}: {}", shown_name(&trace.file), warning.message),
            )
        }));
    }
    Ok(code)
}

/// The files that are named, each once: a trace that is shown twice looks like two.
fn each_once<'f>(files: &'f [OsString], output: &Output) -> Vec<&'f OsString> {
    let mut known: HashSet<PathBuf> = HashSet::new();
    let mut list = Vec::new();
    for file in files {
        let place = Path::new(file);
        let place = place.canonicalize().unwrap_or_else(|_| place.to_path_buf());
        if !known.insert(place) {
            let name = file.to_string_lossy();
            output.warn(&format!(
                "{} is named more than once and is shown once",
                shown_name(&name)
            ));
            continue;
        }
        list.push(file);
    }
    list
}

/// What a recording of this machine says, as `ridge timeline` would.
pub(crate) fn document(
    timeline: &Timeline,
    name: &str,
    output: &Output,
) -> Result<Document, ExpectedError> {
    let stored = Stored::read(&Choice::Auto, driver_of_machine(), output)?;
    let links = links(timeline, Devices::known(), &stored, output)?;
    Ok(Document {
        schema: SCHEMA,
        version: VERSION,
        traces: vec![analyse(timeline, name, &links)],
        ranks: None,
        warnings: caveats(timeline, 0),
    })
}

/// What the codes of things begin with that could not be read; others are remarks.
const UNREADABLE: &str = "TRC";

fn format(options: &TimelineOptions, output: &Output) -> Result<TimelineFormat, ExpectedError> {
    match (options.format, output.extension().as_deref()) {
        (Some(format), _) => Ok(format),
        (None, None | Some("txt" | "text" | "log")) => Ok(TimelineFormat::Text),
        (None, Some("json")) => Ok(TimelineFormat::Json),
        (None, Some("md" | "markdown")) => Ok(TimelineFormat::Markdown),
        (None, Some("csv")) => Ok(TimelineFormat::Csv),
        (None, Some("svg")) => Ok(TimelineFormat::Svg),
        (None, Some("html" | "htm")) => Ok(TimelineFormat::Html),
        (None, Some(other)) => Err(ExpectedError::usage(format!(
            "the extension {other:?} of the output file names no format of `ridge timeline`"
        ))
        .with_hint("say --format text, markdown, json, csv, svg or html")),
    }
}

/// Reads a trace. Where its packing is damaged, what was unpacked is read, with a warning.
fn read(file: &OsStr, output: &Output) -> Result<(Timeline, Option<Warning>), ExpectedError> {
    read_opened(&Input::open(&Address::whole(file), output)?, file)
}

/// The same of a file that is open.
fn read_opened(input: &Input, file: &OsStr) -> Result<(Timeline, Option<Warning>), ExpectedError> {
    let bytes = input.bytes();
    let name = file.to_string_lossy();
    let timeline = if nsys::is_database(bytes) && input.is_file_itself() {
        // SQLite reads a file page by page; from memory it would be copied.
        nsys::read_file(Path::new(file))
    } else {
        ridge_trace::read(bytes)
    };
    let timeline = timeline.map_err(|error| unreadable(&name, &error, bytes))?;
    let problem = input.problem.as_ref().map(|problem| Warning {
        code: format!("{UNREADABLE}0100"),
        message: format!("{problem}: what was unpacked before is shown"),
        trace: None,
        offset: problem.offset(),
    });
    Ok((timeline, problem))
}

/// A trace that was read, and what it comes to.
pub(crate) struct Read {
    pub(crate) timeline: Timeline,
    pub(crate) trace: ridge_trace::document::Trace,
    pub(crate) warnings: Vec<Warning>,
    /// Whether all of it could be read.
    pub(crate) is_whole: bool,
}

/// Reads and analyses a file that is open as `ridge timeline` does, with the links of the built-in table.
pub(crate) fn trace_of(
    input: &Input,
    file: &OsStr,
    output: &Output,
) -> Result<Read, ExpectedError> {
    let (timeline, problem) = read_opened(input, file)?;
    let stored = Stored::read(&Choice::Nothing, None, output)?;
    let links = links(&timeline, Devices::known(), &stored, output)?;
    let trace = analyse(&timeline, &file.to_string_lossy(), &links);
    let mut warnings: Vec<Warning> = problem.into_iter().collect();
    warnings.extend(caveats(&timeline, 0));
    let is_whole = !warnings
        .iter()
        .any(|warning| warning.code.starts_with(UNREADABLE));
    Ok(Read {
        timeline,
        trace,
        warnings,
        is_whole,
    })
}

fn unreadable(name: &str, error: &Error, bytes: &[u8]) -> ExpectedError {
    let failure = ExpectedError::unreadable(format!(
        "cannot read {}: failed to {error}",
        shown_name(name)
    ));
    let lower = name.to_ascii_lowercase();
    match error {
        _ if lower.ends_with(".nsys-rep") || lower.ends_with(".qdrep") => failure.with_hint(
            "`nsys export --type sqlite REPORT` writes the database that is read here",
        ),
        Error::Unknown { .. } if ncu_rep::Report::parse(bytes).is_ok() => {
            failure.with_hint(format!("it is a report of Nsight Compute: `ridge why {name}`"))
        }
        Error::Unknown { .. } | Error::NoEvents => failure.with_hint(
            "a trace is a recording of `ridge trace`, JSON that torch.profiler exports, or a database of `nsys export --type sqlite`",
        ),
        Error::NoTables { .. } => failure.with_hint(
            "record with `nsys profile --trace=cuda,nvtx`, then `nsys export --type sqlite`",
        ),
        Error::Database { .. } => failure.with_hint("export it again with `nsys export --type sqlite --force-overwrite true`"),
        _ => failure,
    }
}

/// What the links of the devices carry: as measured here, else as the data sheet says.
fn links(
    timeline: &Timeline,
    table: &Devices,
    stored: &Stored,
    output: &Output,
) -> Result<Vec<HostLink>, ExpectedError> {
    let mut links = Vec::new();
    for device in &timeline.devices {
        let row: Option<&Device> = device
            .name
            .as_deref()
            .and_then(|name| table.find(name).ok());
        let Some(row) = row else {
            continue;
        };
        let asked = Asked {
            device: row,
            multiprocessors: device.multiprocessors,
            uuid: None,
        };
        // A file of ceilings is of one device; a trace can hold others.
        let measured = match stored.of(&asked, output) {
            Err(_) if timeline.devices.len() > 1 => None,
            other => other?,
        };
        let carried = |link| {
            measured
                .as_ref()
                .and_then(|measured| measured.link(link))
                .map(|rate| rate.get())
        };
        let (to_device, to_host) = (carried(Link::HostToDevice), carried(Link::DeviceToHost));
        if let (Some(measured), true) = (&measured, to_device.or(to_host).is_some()) {
            links.push(HostLink {
                device: device.number,
                to_device_bytes_per_s: to_device,
                to_host_bytes_per_s: to_host,
                origin: measured.origin(),
                source: measured.provenance.short(),
            });
        } else if let Some(fact) = row.host_link {
            let rate = Some(fact.value.get());
            links.push(HostLink {
                device: device.number,
                to_device_bytes_per_s: rate,
                to_host_bytes_per_s: rate,
                origin: fact.origin,
                source: match fact.origin {
                    Origin::Documented => "raw rate of the data sheet".to_owned(),
                    other => format!("raw rate, {}", other.name()),
                },
            });
        }
    }
    Ok(links)
}

/// What makes the answer less certain.
fn caveats(timeline: &Timeline, place: usize) -> Vec<Warning> {
    let known = &timeline.completeness;
    let mut warnings = Vec::new();
    let mut add = |code: &str, message: String, offset: Option<u64>| {
        warnings.push(Warning {
            code: code.to_owned(),
            message,
            trace: Some(place),
            offset,
        });
    };
    for problem in &known.problems {
        add(
            problem.code,
            format!("not all of it could be read: {problem}; what was read before is shown"),
            problem.offset,
        );
    }
    let works = timeline.work.len() as u64;
    if let Some(dropped) = known.dropped.filter(|dropped| *dropped > 0) {
        add(
            "records-dropped",
            format!(
                "the profiler lost {}: times are those of the rest; record a shorter window",
                counted(dropped, "record")
            ),
            None,
        );
    }
    if known.unended > 0 {
        add(
            "not-ended",
            format!(
                "{} did not end in an orderly way: what was done last can be missing",
                match known.unended {
                    1 => "1 process".to_owned(),
                    count => format!("{count} processes"),
                }
            ),
            None,
        );
    }
    if known.unmatched > 0 {
        let ambiguous = match known.ambiguous {
            0 => String::new(),
            ambiguous => format!(" ({ambiguous} because several processes use the same numbers)"),
        };
        add(
            "unmatched",
            format!(
                "{} of {} have no call in the trace{ambiguous}: the window was cut, or calls were not recorded; nothing is said about why these started when they did",
                known.unmatched,
                match works {
                    1 => "1 piece of work".to_owned(),
                    _ => format!("{} pieces of work", grouped(works)),
                },
            ),
            None,
        );
    } else if works > 0 && !known.has_calls {
        add(
            "no-calls",
            "the trace has no calls of the CUDA runtime or driver: why the device idles cannot be told; record with CPU and CUDA activities".to_owned(),
            None,
        );
    }
    if known.has_whole_graphs {
        add(
            "whole-graphs",
            "graphs are in the trace as a whole: kernels in them are not told apart; record with `nsys profile --cuda-graph-trace=node`".to_owned(),
            None,
        );
    }
    if known.contradictory > 0 {
        add(
            "contradictory",
            format!(
                "{} without usable times or places left out",
                counted(known.contradictory, "record")
            ),
            None,
        );
    }
    if !known.skipped.is_empty() {
        let kinds: Vec<String> = known
            .skipped
            .iter()
            .take(5)
            .map(|skipped| format!("{} ({})", skipped.kind, skipped.count))
            .collect();
        let more = match known.skipped.len().saturating_sub(5) {
            0 => String::new(),
            more => format!(" and {}", counted(more as u64, "more kind")),
        };
        add(
            "skipped",
            format!(
                "records of kinds that are not known were passed over: {}{more}",
                kinds.join(", ")
            ),
            None,
        );
    }
    warnings
}
