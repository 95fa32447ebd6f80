//! `ridge export`: all metrics as rows, or a report that is safe to share.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};

use ncu_rep::{Value, unit_of};
use ridge_render::export::{self, Format, Row, Scalar};

use crate::args::ExportFormat;
use crate::error::ExpectedError;
use crate::evidence::{Evidence, Workload, shown_name};
use crate::exit::{self, Code};
use crate::filter::{Address, LeftOut, NameFilter, Selection};
use crate::input::Input;
use crate::output::Output;

/// What to write.
pub(crate) struct ExportOptions {
    pub(crate) files: Vec<OsString>,
    pub(crate) selection: Selection,
    pub(crate) metrics: NameFilter,
    pub(crate) instances: bool,
    pub(crate) redact: bool,
    pub(crate) rename_kernels: bool,
    pub(crate) format: Option<ExportFormat>,
}

pub(crate) fn run(options: &ExportOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    if options.redact {
        return super::redact::run(&options.files, options.rename_kernels, output);
    }
    let format = match what(options, output)? {
        What::Metrics(format) => format,
        What::Trace => return trace(options, output),
    };
    let mut export = Export {
        options,
        output,
        format,
        rows: 0,
        code: exit::FINE,
        left_out: LeftOut::default(),
    };
    output.stream(|sink| export.write(sink))?;
    Ok(export.code)
}

/// A trace as Chrome's trace events.
fn trace(options: &ExportOptions, output: &Output) -> Result<Code, ExpectedError> {
    let is_about_metrics = options.instances
        || options.metrics.expression().is_some()
        || options.selection.names.expression().is_some()
        || options.selection.launches.only().is_some();
    if is_about_metrics {
        return Err(ExpectedError::usage(
            "a trace has no metrics to choose from: --format chrome writes all of it",
        )
        .with_hint("leave out --metric, --instances, --kernel and --launch"));
    }
    let [file] = options.files.as_slice() else {
        return Err(ExpectedError::usage(
            "only one trace can be written at a time, since each has a clock of its own",
        )
        .with_hint("name one file"));
    };
    let input = Input::open(&Address::whole(file), output)?;
    let timeline = ridge_trace::read(input.bytes()).map_err(|error| {
        ExpectedError::unreadable(format!("{}: failed to {error}", file.to_string_lossy()))
            .with_hint("name a recording of `ridge trace`, a trace of the PyTorch profiler, or a database of `nsys export --type sqlite`")
    })?;
    output.stream(|sink| ridge_render::chrome::write(&timeline, sink).map(|()| true))?;
    let problems: Vec<String> = input
        .problem
        .iter()
        .map(ToString::to_string)
        .chain(
            timeline
                .completeness
                .problems
                .iter()
                .map(ToString::to_string),
        )
        .collect();
    let code = if problems.is_empty() {
        exit::FINE
    } else {
        exit::UNREADABLE
    };
    output.warn_all(problems.into_iter());
    Ok(code)
}

/// What an export holds.
enum What {
    /// Metrics of a report.
    Metrics(Format),
    /// The events of a trace.
    Trace,
}

fn what(options: &ExportOptions, output: &Output) -> Result<What, ExpectedError> {
    Ok(match (options.format, output.extension().as_deref()) {
        (Some(ExportFormat::Chrome), _) => What::Trace,
        (Some(ExportFormat::Csv), _) | (None, None | Some("csv" | "txt")) => {
            What::Metrics(Format::Csv)
        }
        (Some(ExportFormat::Json), _) | (None, Some("json" | "jsonl" | "ndjson")) => {
            What::Metrics(Format::JsonLines)
        }
        (None, Some(other)) => {
            return Err(ExpectedError::usage(format!(
                "the extension {other:?} of the output file names no format of `ridge export`"
            ))
            .with_hint("say --format csv, --format json or --format chrome"));
        }
    })
}

/// An export under way.
struct Export<'o> {
    options: &'o ExportOptions,
    output: &'o Output,
    format: Format,
    rows: u64,
    code: Code,
    left_out: LeftOut,
}

impl Export<'_> {
    /// Writes all inputs, and says whether there is an answer at all.
    fn write(&mut self, sink: &mut dyn Write) -> io::Result<bool> {
        let mut read = 0;
        for file in &self.options.files {
            match self.write_file(file, sink)? {
                Ok(()) => read += 1,
                // The other inputs are still worth an answer.
                Err(error) => self.fail(&error),
            }
        }
        if read == 0 {
            return Ok(false);
        }
        if self.rows == 0 && !self.left_out.is_empty() {
            self.fail(&self.left_out.nothing_matches(&self.options.selection));
            return Ok(false);
        }
        if self.rows == 0 {
            self.begin(sink)?;
            self.output.warn(match self.options.metrics.expression() {
                Some(_) => "no row was written: no metric of the chosen kernels matches",
                None => "no row was written: the input holds no metrics",
            });
        }
        Ok(true)
    }

    fn fail(&mut self, error: &ExpectedError) {
        self.output.complain(error);
        self.code = self.code.and(error.exit);
    }

    /// The outer result is about writing, the inner one about reading: one ends the export, the other one input.
    fn write_file(
        &mut self,
        argument: &OsStr,
        sink: &mut dyn Write,
    ) -> io::Result<Result<(), ExpectedError>> {
        let opened = Address::of_argument(argument)
            .and_then(|address| Ok((Input::open(&address, self.output)?, address)));
        let (input, address) = match opened {
            Ok(opened) => opened,
            Err(error) => return Ok(Err(error)),
        };
        let evidence = match Evidence::new(&input, &address) {
            Ok(evidence) => evidence,
            Err(error) => return Ok(Err(error)),
        };
        for problem in input.problem.iter().chain(evidence.problems()) {
            self.note(&address, problem);
        }
        let mut left_out = LeftOut::default();
        let mut has_any = false;
        for launch in 0..evidence.len() {
            let Some(workload) = evidence.workload(launch) else {
                continue;
            };
            let (name, signature) = (&workload.profile.name, &workload.profile.signature);
            if self
                .options
                .selection
                .selects(&address, name, signature, launch)
            {
                has_any = true;
                self.write_workload(&address, launch, &workload, sink)?;
            } else {
                left_out.add(name, launch);
            }
        }
        if !has_any && address.kernel.is_some() && !left_out.is_empty() {
            return Ok(Err(left_out.nothing_at(&address)));
        }
        self.left_out.merge(left_out);
        Ok(Ok(()))
    }

    fn write_workload(
        &mut self,
        address: &Address,
        launch: usize,
        workload: &Workload<'_>,
        sink: &mut dyn Write,
    ) -> io::Result<()> {
        for problem in &workload.problems {
            self.note(address, problem);
        }
        let file = address.text();
        let mut damaged = 0_u32;
        let metrics = &workload.profile.metrics;
        let mut other_values = 0_u32;
        for metric in metrics {
            if !self.options.metrics.matches(metric.name) {
                continue;
            }
            // Some reports store a metric twice. The first counts everywhere, so that a table has one row for it.
            if let Some(first) = metrics
                .get(metric.name)
                .filter(|first| !std::ptr::eq(*first, metric))
            {
                // As text, since NaN is not equal to itself.
                let text = |value: &Option<Value<'_>>| value.as_ref().map(ToString::to_string);
                other_values += u32::from(text(&first.value) != text(&metric.value));
                continue;
            }
            let unit = unit_of(metric.name).to_string();
            let row = Row {
                file: &file,
                launch,
                kernel: &workload.profile.signature,
                metric: metric.name,
                instance: None,
                unit: &unit,
                value: metric.value.as_ref().map(scalar),
            };
            self.row(sink, &row)?;
            if !self.options.instances {
                continue;
            }
            for instance in metric.instances() {
                match instance {
                    Ok(instance) => {
                        let row = Row {
                            instance: instance.key.as_ref().map(scalar),
                            value: instance.value.as_ref().map(scalar),
                            ..row.clone()
                        };
                        self.row(sink, &row)?;
                    }
                    // What follows a malformed instance cannot be found; the other metrics can.
                    Err(problem) => {
                        damaged += 1;
                        if damaged == 1 {
                            self.note(address, &problem);
                        }
                        break;
                    }
                }
            }
        }
        if other_values > 0 {
            let what = match other_values {
                1 => "a metric".to_owned(),
                count => format!("{count} metrics"),
            };
            self.output.warn(&format!(
                "{}: launch {launch} stores {what} twice with different values; the first is written, which the diagnosis uses",
                shown_name(&file)
            ));
        }
        if damaged > 1 {
            self.output.warn(&format!(
                "{}: the instances of {damaged} metrics of launch {launch} could not be read to their end",
                shown_name(&file)
            ));
        }
        Ok(())
    }

    /// Says what could not be read.
    fn note(&mut self, address: &Address, problem: &ncu_rep::Error) {
        let file = address.text();
        self.output
            .warn(&format!("{}: {problem}", shown_name(&file)));
        if !problem.is_remark() {
            self.code = self.code.and(exit::UNREADABLE);
        }
    }

    fn row(&mut self, sink: &mut dyn Write, row: &Row<'_>) -> io::Result<()> {
        if self.rows == 0 {
            self.begin(sink)?;
        }
        self.rows += 1;
        export::row(sink, self.format, self.options.instances, row)
    }

    /// A header stands before the first row, and only where there is an answer.
    fn begin(&self, sink: &mut dyn Write) -> io::Result<()> {
        export::begin(sink, self.format, self.options.instances)
    }
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
