//! `ridge export`: all metrics as rows, or a report that is safe to share.

use std::io::{self, Write};

use ncu_rep::{Value, unit_of};
use ridge_render::export::{self, Format, Row, Scalar};

use crate::args::ExportFormat;
use crate::error::ExpectedError;
use crate::evidence::{Evidence, Workload, shown_name};
use crate::exit::{self, Code};
use crate::filter::{Address, Launches, NameFilter};
use crate::input::Input;
use crate::output::Output;

/// What to write.
pub(crate) struct ExportOptions {
    pub(crate) files: Vec<String>,
    pub(crate) names: NameFilter,
    pub(crate) launches: Launches,
    pub(crate) metrics: NameFilter,
    pub(crate) instances: bool,
    pub(crate) redact: bool,
    pub(crate) rename_kernels: bool,
    pub(crate) format: Option<ExportFormat>,
}

pub(crate) fn run(options: &ExportOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    if options.redact {
        return redact(options, output);
    }
    let format = format(options, output)?;
    let mut is_incomplete = false;
    let mut failed = None;
    let mut rows = 0_u64;
    output.stream(|sink| {
        export::begin(sink, format, options.instances)?;
        for file in &options.files {
            match export_file(file, options, format, sink, output)? {
                Ok(written) => {
                    rows += written.rows;
                    is_incomplete |= written.is_incomplete;
                }
                Err(error) => {
                    is_incomplete = true;
                    output.complain(&error);
                    failed = Some(error);
                }
            }
        }
        Ok(())
    })?;
    if rows == 0 && failed.is_none() && !is_incomplete {
        output.warn("nothing matches: no row was written");
    }
    Ok(if is_incomplete {
        exit::UNREADABLE
    } else {
        exit::FINE
    })
}

fn format(options: &ExportOptions, output: &Output) -> Result<Format, ExpectedError> {
    Ok(match (options.format, output.extension().as_deref()) {
        (Some(ExportFormat::Csv), _) | (None, None | Some("csv" | "txt")) => Format::Csv,
        (Some(ExportFormat::Json), _) | (None, Some("json" | "jsonl" | "ndjson")) => {
            Format::JsonLines
        }
        (None, Some(other)) => {
            return Err(ExpectedError::usage(format!(
                "the extension {other:?} of the output file names no format of `ridge export`"
            ))
            .with_hint("say --format csv or --format json"));
        }
    })
}

struct Written {
    rows: u64,
    is_incomplete: bool,
}

/// The outer result is about writing, the inner one about reading: one ends the export, the other one input.
fn export_file(
    name: &str,
    options: &ExportOptions,
    format: Format,
    sink: &mut dyn Write,
    output: &Output,
) -> io::Result<Result<Written, ExpectedError>> {
    let opened = Address::new(name, |file| std::path::Path::new(file).exists())
        .and_then(|address| Ok((Input::open(&address.file, output)?, address)));
    let (input, address) = match opened {
        Ok(opened) => opened,
        Err(error) => return Ok(Err(error)),
    };
    let evidence = match Evidence::new(&input) {
        Ok(evidence) => evidence,
        Err(error) => {
            let cause = input.problem.as_ref().unwrap_or(&error);
            let file = shown_name(&address.file);
            return Ok(Err(ExpectedError::unreadable(format!(
                "cannot read {file}: {cause}"
            ))));
        }
    };
    let mut written = Written {
        rows: 0,
        is_incomplete: false,
    };
    let mut note = |problem: &ncu_rep::Error| {
        output.warn(&format!("{}: {problem}", shown_name(&address.file)));
        written.is_incomplete |= !problem.is_remark();
    };
    input
        .problem
        .iter()
        .chain(evidence.problems())
        .for_each(&mut note);
    for index in 0..evidence.len() {
        let Some(workload) = evidence.workload(index) else {
            continue;
        };
        let profile = &workload.profile;
        let is_chosen = (options.names.matches(&profile.name)
            || options.names.matches(&profile.signature))
            && options.launches.contains(index)
            && address.selects(&profile.name, index);
        if is_chosen {
            workload.problems.iter().for_each(&mut note);
            written.rows +=
                export_workload(&address.file, index, &workload, options, format, sink)?;
        }
    }
    Ok(Ok(written))
}

fn export_workload(
    file: &str,
    launch: usize,
    workload: &Workload<'_>,
    options: &ExportOptions,
    format: Format,
    sink: &mut dyn Write,
) -> io::Result<u64> {
    let mut rows = 0;
    for metric in &workload.profile.metrics {
        if !options.metrics.matches(metric.name) {
            continue;
        }
        let unit = unit_of(metric.name).to_string();
        let row = Row {
            file,
            launch,
            kernel: &workload.profile.signature,
            metric: metric.name,
            instance: None,
            unit: &unit,
            value: metric.value.as_ref().map(scalar),
        };
        export::row(sink, format, options.instances, &row)?;
        rows += 1;
        if options.instances {
            // A malformed instance ends the list; the walk over the whole report has said so.
            for instance in metric.instances().map_while(Result::ok) {
                let row = Row {
                    instance: instance.key.as_ref().map(scalar),
                    value: instance.value.as_ref().map(scalar),
                    ..row.clone()
                };
                export::row(sink, format, true, &row)?;
                rows += 1;
            }
        }
    }
    Ok(rows)
}

fn scalar<'v>(value: &'v Value<'_>) -> Scalar<'v> {
    match value {
        Value::Text(text) => Scalar::Text(text),
        Value::F64(value) => Scalar::Float(*value),
        Value::F32(value) => Scalar::Float(f64::from(*value)),
        Value::U64(value) => Scalar::Integer(*value),
        Value::U32(value) => Scalar::Integer(u64::from(*value)),
    }
}

fn redact(_options: &ExportOptions, _output: &Output) -> Result<Code, ExpectedError> {
    Err(ExpectedError::internal("PLACEHOLDER"))
}
