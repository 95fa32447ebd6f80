//! Points of results as Parquet files, in folders by day and GPU, for DuckDB, Spark, ClickHouse, pandas and the like.
//!
//! A row is a point of a result: one number, with what is known of the result beside it. The folders are those of Hive,
//! `date=2026-11-30/gpu=NVIDIA%20H200/part-00000.parquet`, so that a query that asks for a week or a GPU reads no more than that.
//!
//! Times are timestamps in microseconds and UTC, values are doubles, and what is not known is null. Labels are a map from text to
//! text and no JSON: all of these programs ask a map for a key without parsing a text in each row. The whole documents are left
//! out; JSON lines have them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::TypePtr;

use crate::{Error, Filter, Head, Point, Record, Store};

/// The columns. `gpu` and `date` are in the folders; `gpu_name` says the same as the folder, without its escapes.
const SCHEMA: &str = "message ridge_history {
    required int64 time (TIMESTAMP(MICROS,true));
    required binary result (STRING);
    required binary kind (STRING);
    required binary name (STRING);
    required binary subject (STRING);
    required binary metric (STRING);
    required binary unit (STRING);
    required double value;
    optional double low;
    optional double high;
    optional int64 samples;
    optional binary commit (STRING);
    optional binary branch (STRING);
    optional boolean is_dirty;
    optional binary host (STRING);
    optional binary gpu_name (STRING);
    optional binary gpu_uuid (STRING);
    optional binary driver (STRING);
    optional double sm_clock_low_hz;
    optional double sm_clock_high_hz;
    optional binary command (STRING);
    optional binary tool_version (STRING);
    required group labels (MAP) {
        repeated group key_value {
            required binary key (STRING);
            required binary value (STRING);
        }
    }
}";

/// Rows that wait in memory at most, of all folders of a day together.
const MOST_ROWS: usize = 100_000;
/// The folder of what has no GPU, by the convention of Hive.
const NO_GPU: &str = "__HIVE_DEFAULT_PARTITION__";
/// Names of files have 255 bytes at most on most file systems.
const LONGEST_FOLDER: usize = 180;

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Results.
    pub results: u64,
    /// Rows: points of results.
    pub rows: u64,
    /// Files.
    pub files: u64,
}

/// A file to be written to.
pub type Sink = Box<dyn Write + Send>;

/// Writes the results of a store as Parquet files. `create` makes a file by its path in the folder of the export, with `/`
/// between folders; each path comes once.
///
/// # Errors
/// When the store cannot be read, or a file not made or written to.
pub fn export(
    store: &mut dyn Store,
    filter: &Filter,
    create: &mut dyn FnMut(&str) -> std::io::Result<Sink>,
) -> Result<Exported, Error> {
    let schema = parse_message_type(SCHEMA).map_err(|error| failed(&error))?;
    let level = ZstdLevel::try_new(3).map_err(|error| failed(&error))?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_created_by(format!("ridge {}", env!("CARGO_PKG_VERSION")))
        .build();
    let mut files = Files {
        schema: Arc::new(schema),
        properties: Arc::new(properties),
        create,
        waiting: BTreeMap::new(),
        rows: 0,
        day: String::new(),
        parts: BTreeMap::new(),
        done: Exported::default(),
    };
    // Oldest first, so that a day is complete when the next one begins.
    store.for_each(filter, &mut |record| files.add(record))?;
    files.flush()?;
    Ok(files.done)
}

/// Rows on their way into files.
struct Files<'c> {
    schema: TypePtr,
    properties: WriterPropertiesPtr,
    create: &'c mut dyn FnMut(&str) -> std::io::Result<Sink>,
    /// Results with their points by the folder of their GPU, all of one day.
    waiting: BTreeMap<String, Vec<(Head, Vec<Point>)>>,
    rows: usize,
    day: String,
    /// Files that a folder of the day has.
    parts: BTreeMap<String, u32>,
    done: Exported,
}

impl Files<'_> {
    fn add(&mut self, record: Record) -> Result<(), Error> {
        let day = record.head.time.date();
        if day != self.day {
            self.flush()?;
            self.parts.clear();
            self.day = day;
        }
        self.done.results += 1;
        if record.points.is_empty() {
            return Ok(());
        }
        self.rows += record.points.len();
        let gpu = record.head.gpu.as_ref();
        let folder = folder(gpu.map(|gpu| gpu.name.as_str()));
        self.waiting
            .entry(folder)
            .or_default()
            .push((record.head, record.points));
        if self.rows >= MOST_ROWS {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.rows = 0;
        for (gpu, results) in std::mem::take(&mut self.waiting) {
            let part = self.parts.entry(gpu.clone()).or_default();
            let path = format!("date={}/gpu={gpu}/part-{part:05}.parquet", self.day);
            *part += 1;
            let sink = (self.create)(&path).map_err(|error| Error::Stream {
                what: "make a Parquet file",
                reason: format!("{path}: {error}"),
            })?;
            let rows: Vec<(&Head, &Point)> = results
                .iter()
                .flat_map(|(head, points)| points.iter().map(move |point| (head, point)))
                .collect();
            write(&self.schema, &self.properties, sink, &rows).map_err(|error| failed(&error))?;
            self.done.files += 1;
            self.done.rows += rows.len() as u64;
        }
        Ok(())
    }
}

fn failed(error: &ParquetError) -> Error {
    Error::Stream {
        what: "write a Parquet file",
        reason: error.to_string(),
    }
}

/// The value of a GPU in the name of a folder: everything but letters, digits, `.`, `_` and `-` as `%` with two digits, as Hive,
/// Spark, DuckDB and Arrow read it. No name leads out of its folder.
fn folder(gpu: Option<&str>) -> String {
    let Some(gpu) = gpu.filter(|gpu| !gpu.is_empty()) else {
        return NO_GPU.to_owned();
    };
    let mut name = String::new();
    for byte in gpu.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-') {
            name.push(char::from(byte));
        } else {
            let _ = write!(name, "%{byte:02X}");
        }
    }
    if name.len() > LONGEST_FOLDER {
        // Cut between characters, and still different for different names.
        let id = crate::Id::of_parts([gpu.as_bytes()]).short();
        let mut end = LONGEST_FOLDER;
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        name.truncate(end);
        if let Some(percent) = name.rfind('%').filter(|at| at + 3 > name.len()) {
            name.truncate(percent);
        }
        name = format!("{name}-{id}");
    }
    name
}

type Rows<'r> = [(&'r Head, &'r Point)];

fn write(
    schema: &TypePtr,
    properties: &WriterPropertiesPtr,
    sink: Sink,
    rows: &Rows<'_>,
) -> Result<(), ParquetError> {
    let mut writer = SerializedFileWriter::new(sink, schema.clone(), properties.clone())?;
    let mut group = writer.next_row_group()?;
    let of = &mut group;
    // In the order of the schema.
    required::<Int64Type>(of, rows, |(head, _)| head.time.micros())?;
    required::<ByteArrayType>(of, rows, |(head, _)| text(&head.id.to_string()))?;
    required::<ByteArrayType>(of, rows, |(head, _)| text(head.kind.name()))?;
    required::<ByteArrayType>(of, rows, |(head, _)| text(&head.name))?;
    required::<ByteArrayType>(of, rows, |(_, point)| text(&point.subject))?;
    required::<ByteArrayType>(of, rows, |(_, point)| text(&point.metric))?;
    required::<ByteArrayType>(of, rows, |(_, point)| text(&point.unit))?;
    required::<DoubleType>(of, rows, |(_, point)| point.value)?;
    optional::<DoubleType>(of, rows, |(_, point)| point.low)?;
    optional::<DoubleType>(of, rows, |(_, point)| point.high)?;
    optional::<Int64Type>(of, rows, |(_, point)| {
        point
            .samples
            .and_then(|samples| i64::try_from(samples).ok())
    })?;
    optional_text(of, rows, |head| head.revision.commit.as_deref())?;
    optional_text(of, rows, |head| head.revision.branch.as_deref())?;
    optional::<BoolType>(of, rows, |(head, _)| head.revision.is_dirty)?;
    optional_text(of, rows, |head| head.host.as_deref())?;
    optional_text(of, rows, |head| Some(head.gpu.as_ref()?.name.as_str()))?;
    optional_text(of, rows, |head| head.gpu.as_ref()?.uuid.as_deref())?;
    optional_text(of, rows, |head| head.driver.as_deref())?;
    optional::<DoubleType>(of, rows, |(head, _)| Some(head.sm_clock?.low_hz))?;
    optional::<DoubleType>(of, rows, |(head, _)| Some(head.sm_clock?.high_hz))?;
    optional_text(of, rows, |head| head.command.as_deref())?;
    optional_text(of, rows, |head| head.tool_version.as_deref())?;
    labels(of, rows)?;
    group.close()?;
    writer.close()?;
    Ok(())
}

fn text(text: &str) -> ByteArray {
    ByteArray::from(text)
}

type Group<'w> = SerializedRowGroupWriter<'w, Sink>;

fn column<T: DataType>(
    group: &mut Group<'_>,
    values: &[T::T],
    levels: Option<&[i16]>,
    repeats: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let mut column = group
        .next_column()?
        .ok_or_else(|| ParquetError::General("a column too many".to_owned()))?;
    column.typed::<T>().write_batch(values, levels, repeats)?;
    column.close()
}

fn required<T: DataType>(
    group: &mut Group<'_>,
    rows: &Rows<'_>,
    of: impl Fn(&(&Head, &Point)) -> T::T,
) -> Result<(), ParquetError> {
    let values: Vec<T::T> = rows.iter().map(of).collect();
    column::<T>(group, &values, None, None)
}

fn optional<T: DataType>(
    group: &mut Group<'_>,
    rows: &Rows<'_>,
    of: impl Fn(&(&Head, &Point)) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let mut levels = Vec::with_capacity(rows.len());
    let mut values = Vec::new();
    for row in rows {
        let value = of(row);
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }
    column::<T>(group, &values, Some(&levels), None)
}

fn optional_text(
    group: &mut Group<'_>,
    rows: &Rows<'_>,
    of: impl Fn(&Head) -> Option<&str>,
) -> Result<(), ParquetError> {
    optional::<ByteArrayType>(group, rows, |(head, _)| of(head).map(text))
}

/// The map: keys and values of all rows, with levels that tell where a row begins and whether it has any.
fn labels(group: &mut Group<'_>, rows: &Rows<'_>) -> Result<(), ParquetError> {
    let (mut levels, mut repeats) = (Vec::new(), Vec::new());
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for (head, _) in rows {
        if head.labels.is_empty() {
            levels.push(0);
            repeats.push(0);
        }
        for (place, (key, value)) in head.labels.iter().enumerate() {
            levels.push(1);
            repeats.push(i16::from(place > 0));
            keys.push(text(key));
            values.push(text(value));
        }
    }
    column::<ByteArrayType>(group, &keys, Some(&levels), Some(&repeats))?;
    column::<ByteArrayType>(group, &values, Some(&levels), Some(&repeats))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folders_lead_nowhere_else() {
        assert_eq!(folder(Some("NVIDIA H200")), "NVIDIA%20H200");
        assert_eq!(folder(Some("../../etc/a=b")), "..%2F..%2Fetc%2Fa%3Db");
        assert_eq!(folder(Some("Grün\0")), "Gr%C3%BCn%00");
        assert_eq!(folder(None), NO_GPU);
        assert_eq!(folder(Some("")), NO_GPU);
        let long = folder(Some(&" ".repeat(500)));
        assert!(long.len() <= 200, "{long}");
        assert_ne!(long, folder(Some(&" ".repeat(499))));
        // No half of an escape is left.
        let cut = long.rsplit_once('-').unwrap().0;
        assert!(cut.len().is_multiple_of(3) && cut.ends_with("%20"), "{cut}");
    }
}
