//! Metrics as CSV rows or JSON lines, one at a time: exports are larger than memory should be.

use std::io::{self, Write};

use crate::escape;

/// One value of one metric of one launch.
#[derive(Clone, Debug)]
pub struct Row<'t> {
    /// The input as it was named.
    pub file: &'t str,
    /// Place of the launch in the input, from 0.
    pub launch: usize,
    /// The whole name of the kernel.
    pub kernel: &'t str,
    /// The metric.
    pub metric: &'t str,
    /// What an instance belongs to; absent for the value of the whole launch.
    pub instance: Option<Scalar<'t>>,
    /// The unit; empty for a plain number or text.
    pub unit: &'t str,
    /// The value; absent when it is not available.
    pub value: Option<Scalar<'t>>,
}

/// A number or a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar<'t> {
    /// A float in full precision.
    Float(f64),
    /// An integer.
    Integer(u64),
    /// Text.
    Text(&'t str),
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A header and one row a value.
    Csv,
    /// One JSON object a line.
    JsonLines,
}

/// Writes what stands before the first row.
///
/// # Errors
/// Those of the sink.
pub fn begin(sink: &mut dyn Write, format: Format, has_instances: bool) -> io::Result<()> {
    match format {
        Format::Csv if has_instances => {
            writeln!(sink, "file,launch,kernel,metric,instance,unit,value")
        }
        Format::Csv => writeln!(sink, "file,launch,kernel,metric,unit,value"),
        Format::JsonLines => Ok(()),
    }
}

/// Writes one row.
///
/// # Errors
/// Those of the sink.
pub fn row(
    sink: &mut dyn Write,
    format: Format,
    has_instances: bool,
    row: &Row<'_>,
) -> io::Result<()> {
    match format {
        Format::Csv => {
            write!(
                sink,
                "{},{},{},{},",
                escape::csv(row.file),
                row.launch,
                escape::csv(row.kernel),
                escape::csv(row.metric)
            )?;
            if has_instances {
                write_csv(sink, row.instance)?;
                sink.write_all(b",")?;
            }
            write!(sink, "{},", escape::csv(row.unit))?;
            write_csv(sink, row.value)?;
            sink.write_all(b"\n")
        }
        Format::JsonLines => {
            write!(sink, "{{\"file\":")?;
            write_json(sink, Some(Scalar::Text(row.file)))?;
            write!(sink, ",\"launch\":{},\"kernel\":", row.launch)?;
            write_json(sink, Some(Scalar::Text(row.kernel)))?;
            write!(sink, ",\"metric\":")?;
            write_json(sink, Some(Scalar::Text(row.metric)))?;
            if row.instance.is_some() {
                write!(sink, ",\"instance\":")?;
                write_json(sink, row.instance)?;
            }
            write!(sink, ",\"unit\":")?;
            write_json(
                sink,
                Some(Scalar::Text(row.unit)).filter(|_| !row.unit.is_empty()),
            )?;
            write!(sink, ",\"value\":")?;
            write_json(sink, row.value)?;
            sink.write_all(b"}\n")
        }
    }
}

fn write_csv(sink: &mut dyn Write, value: Option<Scalar<'_>>) -> io::Result<()> {
    match value {
        None => Ok(()),
        Some(Scalar::Float(value)) => write!(sink, "{value}"),
        Some(Scalar::Integer(value)) => write!(sink, "{value}"),
        Some(Scalar::Text(text)) => sink.write_all(escape::csv(text).as_bytes()),
    }
}

/// JSON knows no number that is not finite: such a value is written as `null`, as is one that is not available.
fn write_json(sink: &mut dyn Write, value: Option<Scalar<'_>>) -> io::Result<()> {
    match value {
        Some(Scalar::Float(value)) if value.is_finite() => write!(sink, "{value}"),
        Some(Scalar::Integer(value)) => write!(sink, "{value}"),
        Some(Scalar::Text(text)) => serde_json::to_writer(sink, text).map_err(io::Error::from),
        Some(Scalar::Float(_)) | None => sink.write_all(b"null"),
    }
}
