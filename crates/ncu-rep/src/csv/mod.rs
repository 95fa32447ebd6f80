//! Reads the CSV exports of the profiler: `ncu --csv --page raw`, `details` and `source`.
//!
//! An export comes in as the same types as a report: [`Kernel::metrics`] returns [`Metrics`], values are in the unit
//! that [`unit_of`](crate::unit_of) names. What the export does not hold is absent, never zero. The page is
//! recognised by the words of its header, columns are found by their title; what stands before a table (output of the
//! program, the profiler's log) is skipped, and one input may hold several tables.
//!
//! | page | gives | does not give |
//! |---|---|---|
//! | raw | every metric by name, six decimals | instances, rules |
//! | details | the metrics that sections show, two decimals of a scaled unit; rule messages | instances |
//! | source | counters and samples per instruction, their totals, SASS text | launch, device, metrics of the kernel, files and lines |
//!
//! Pages are not merged: the source page names kernels only, so which launch it belongs to would be a guess.
//!
//! The details page prints labels. Those of the standard sections are turned into metric names; where the name
//! depends on the profiler's version, or is not known, the metric is called `Section name/Label`. Columns of the
//! source page that have no metric name are called `Source/Title`.
//!
//! Memory is bounded by a multiple of the input: about 20 bytes per byte at worst, for the source page.
//!
//! ```
//! let export = b"\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"\",\"\",\"us\"\n\"0\",\"copy(float *)\",\"1,234.50\"\n";
//! let report = ncu_rep::csv::read(export)?;
//! let kernel = &report.kernels[0];
//! assert_eq!(kernel.name, "copy(float *)");
//! assert_eq!(kernel.metrics().number("gpu__time_duration.sum"), Some(1_234_500.0)); // ns
//! # Ok::<(), ncu_rep::Error>(())
//! ```

mod details;
mod labels;
mod number;
mod raw;
mod rows;
mod source;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{Error, Kind};
use crate::metric::{Instance, Metric, Metrics, Names, Value};
use crate::unit::Unit;
use number::Style;
use rows::{MAX_CELLS, Row};

/// An export: kernels of all its tables, in order.
#[derive(Clone, Debug, Default)]
pub struct CsvReport {
    /// One entry per kernel launch and page.
    pub kernels: Vec<Kernel>,
    /// What could not be read.
    pub problems: Vec<Error>,
}

/// The page that a kernel was read from: says what it can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// All metrics by name.
    Raw,
    /// Metrics of the sections, and rule messages.
    Details,
    /// One row per instruction.
    Source,
}

/// A kernel launch as one page shows it.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Where it was read from.
    pub page: Page,
    /// The number of the launch in the profiling run.
    pub id: Option<u64>,
    /// Process id.
    pub process_id: Option<u64>,
    /// Name of the program.
    pub process_name: Option<String>,
    /// Name or address of the machine.
    pub host: Option<String>,
    /// The kernel's demangled signature, or another form of its name if the export was asked for one.
    pub name: String,
    /// CUDA context id.
    pub context: Option<u64>,
    /// CUDA stream id.
    pub stream: Option<u64>,
    /// Blocks in x, y, z.
    pub grid: Option<[u64; 3]>,
    /// Threads of a block in x, y, z.
    pub block: Option<[u64; 3]>,
    /// Index of the device.
    pub device: Option<u64>,
    /// Compute capability: major, minor.
    pub compute_capability: Option<(u32, u32)>,
    /// Messages of rules, on the details page.
    pub rules: Vec<Rule>,
    /// Instructions in address order, on the source page.
    pub code: Vec<Instruction>,
    names: Arc<Names<'static>>,
    entries: Vec<Entry>,
}

/// A message of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Identifier of the section that the rule belongs to, such as `SpeedOfLight`.
    pub section: String,
    /// Identifier of the rule.
    pub name: String,
    /// What kind of message it is.
    pub kind: RuleKind,
    /// The message.
    pub text: String,
    /// What following the message may gain.
    pub speedup: Option<RuleSpeedup>,
}

/// The kind of a rule's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleKind {
    /// `INF`
    Information,
    /// `WRN`
    Warning,
    /// `OPT`
    Optimization,
    /// Another word.
    Other(String),
}

/// An estimate of what following a rule's message gains.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleSpeedup {
    /// `local` (of the part that the message is about), `global` (of the kernel), or empty where none is stated.
    pub kind: String,
    /// In percent.
    pub percent: f64,
}

/// An instruction of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its address; absolute, as in the report.
    pub address: u64,
    /// SASS text, with the predicate.
    pub text: String,
}

/// A metric of a kernel, its name given by number.
#[derive(Clone, Debug)]
struct Entry {
    slot: usize,
    value: Option<Value<'static>>,
    instances: Vec<Instance<'static>>,
}

impl Kernel {
    /// The metrics: those with a value, and those of which the export says that they have none.
    #[must_use]
    pub fn metrics(&self) -> Metrics<'_> {
        let mut metrics = Metrics::new(&self.names);
        for entry in &self.entries {
            if let Some(name) = self.names.get(entry.slot) {
                metrics.insert(entry.slot, Metric::listed(name, entry.value.clone(), &entry.instances));
            }
        }
        metrics
    }

    fn new(page: Page, name: String) -> Self {
        Self {
            page,
            id: None,
            process_id: None,
            process_name: None,
            host: None,
            name,
            context: None,
            stream: None,
            grid: None,
            block: None,
            device: None,
            compute_capability: None,
            rules: Vec::new(),
            code: Vec::new(),
            names: Arc::default(),
            entries: Vec::new(),
        }
    }
}

/// Whether the input holds a table of an `ncu --csv` export, possibly behind other output.
#[must_use]
pub fn looks_like(bytes: &[u8]) -> bool {
    let head = bytes.get(..1024).unwrap_or(bytes);
    if head.contains(&0) && !is_utf16(bytes) {
        return false;
    }
    let (text, _) = decode(bytes);
    next_header(&text, 0).is_some()
}

/// Reads an export.
///
/// # Errors
/// When the input holds no table of an export. Damage inside a table is listed in [`CsvReport::problems`] instead.
pub fn read(bytes: &[u8]) -> Result<CsvReport, Error> {
    let (text, is_damaged) = decode(bytes);
    if text.trim().is_empty() {
        return Err(Error::new(Kind::Empty, None, "CSV export"));
    }
    let mut reader = Reader::new(&text);
    if is_damaged {
        reader.problem(Kind::Utf8, None, "text");
    }
    let mut is_export = false;
    while let Some(header) = next_header(&text, reader.place) {
        is_export = true;
        reader.place = header.start;
        match header.table {
            Table::Launches => reader.launches(header.separator),
            Table::Source => source::read(&mut reader, header.separator),
        }
    }
    match is_export {
        true => Ok(reader.finish()),
        false => Err(Error::new(what_else(&text), None, "CSV export")),
    }
}

/// The text of the input, and whether bytes had to be replaced.
fn decode(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    if is_utf16(bytes) {
        // What a redirection in a Windows shell writes.
        let is_little = bytes.first() == Some(&0xff);
        let units = bytes.chunks_exact(2).skip(1).filter_map(|pair| {
            let pair = <[u8; 2]>::try_from(pair).ok()?;
            Some(if is_little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) })
        });
        let mut is_damaged = false;
        let text = char::decode_utf16(units)
            .map(|unit| {
                unit.unwrap_or_else(|_| {
                    is_damaged = true;
                    char::REPLACEMENT_CHARACTER
                })
            })
            .collect();
        return (Cow::Owned(text), is_damaged);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), false),
        Err(_) => (String::from_utf8_lossy(bytes), true),
    }
}

fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])
}

/// What an input without a table is, as far as that helps to export the right thing.
fn what_else(text: &str) -> Kind {
    let has_line = |start: &str| text.lines().any(|line| line.trim_start().starts_with(start));
    if has_line("Section: ") {
        return Kind::Csv(Cow::Borrowed(
            "this is the profiler's text output; export the report with `ncu --import FILE --csv --page raw`",
        ));
    }
    if text.contains("\"Invocations\"") && text.contains("\"Metric Name\"") {
        return Kind::Csv(Cow::Borrowed(
            "this is a summary over launches; export without `--print-summary`, with `--csv --page raw`",
        ));
    }
    if has_line("==ERROR==") || has_line("==PROF==") {
        return Kind::Csv(Cow::Borrowed("this is the profiler's log without a table; profile with `--csv --page raw`"));
    }
    Kind::NotAReport(Cow::Borrowed("there is no table of an `ncu --csv` export in it"))
}

/// A place where a table starts.
struct Header {
    start: usize,
    separator: u8,
    table: Table,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    /// One or more rows per kernel launch: raw and details pages.
    Launches,
    /// A block of rows per kernel: source page.
    Source,
}

/// The next table from a place on.
fn next_header(text: &str, mut place: usize) -> Option<Header> {
    while place < text.len() {
        let (line, next) = rows::line(text, place);
        if let Some((offset, separator, table)) = header_in(line)
            && (table == Table::Launches || is_source_header(text, next))
        {
            return Some(Header { start: place.saturating_add(offset), separator, table });
        }
        place = next;
    }
    None
}

/// Whether a header starts in a line: where, and with which separator.
///
/// The header of launches may follow text that the program printed without a line end.
fn header_in(line: &str) -> Option<(usize, u8, Table)> {
    for (offset, _) in line.match_indices("\"ID\"") {
        if let Some(separator) = separator_after(line, offset.saturating_add(4))
            && starts_with_title(line, offset.saturating_add(5))
        {
            return Some((offset, separator, Table::Launches));
        }
    }
    let start = line.len().saturating_sub(line.trim_start().len());
    let rest = line.get(start..)?;
    if rest.starts_with("ID") {
        let separator = separator_after(rest, 2)?;
        return starts_with_title(rest, 3).then_some((start, separator, Table::Launches));
    }
    for title in ["\"Kernel Name\"", "Kernel Name"] {
        if rest.starts_with(title) {
            return Some((start, separator_after(rest, title.len())?, Table::Source));
        }
    }
    None
}

/// Whether the titles of a source page are the next line that is not blank.
fn is_source_header(text: &str, mut place: usize) -> bool {
    while place < text.len() {
        let (line, next) = rows::line(text, place);
        if !line.trim().is_empty() {
            return line.contains("Source") && (line.contains("Address") || line.contains('#'));
        }
        place = next;
    }
    false
}

/// The titles that may follow `ID`.
fn starts_with_title(line: &str, place: usize) -> bool {
    let rest = line.get(place..).unwrap_or("").trim_start_matches([' ', '"']);
    ["Process ID", "Process Name", "Host Name", "Kernel Name"].iter().any(|title| rest.starts_with(title))
}

fn separator_after(line: &str, place: usize) -> Option<u8> {
    line.as_bytes().get(place).copied().filter(|byte| matches!(byte, b',' | b';' | b'\t'))
}

/// Problems kept; a damaged export says the same thing over and over.
const MAX_PROBLEMS: usize = 100;
/// Metric names kept, over all tables.
const MAX_NAMES: usize = 1 << 16;

/// Walks through the text and collects kernels.
struct Reader<'t> {
    text: &'t str,
    place: usize,
    row: Row,
    /// Bytes that may still be read a second time, after a row turned out to be none.
    spare: usize,
    kernels: Vec<Kernel>,
    problems: Vec<Error>,
    names: Vec<Cow<'static, str>>,
    slots: HashMap<Cow<'static, str>, usize>,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            place: 0,
            row: Row::default(),
            spare: text.len().saturating_mul(4),
            kernels: Vec::new(),
            problems: Vec::new(),
            names: Vec::new(),
            slots: HashMap::new(),
        }
    }

    fn problem(&mut self, kind: Kind, place: impl Into<Option<usize>>, field: impl Into<Cow<'static, str>>) {
        let offset = place.into().and_then(|place| u64::try_from(place).ok());
        match self.problems.len() {
            ..MAX_PROBLEMS => self.problems.push(Error::new(kind, offset, field)),
            MAX_PROBLEMS => self.problems.push(Error::new(Kind::TooMany { limit: 100 }, None, "problems")),
            _ => {}
        }
    }

    /// The number of a metric's name; `None` when there are too many names.
    fn slot(&mut self, name: Cow<'static, str>) -> Option<usize> {
        if let Some(slot) = self.slots.get(&name) {
            return Some(*slot);
        }
        let slot = self.names.len();
        if slot >= MAX_NAMES {
            self.problem(Kind::TooMany { limit: 65_536 }, None, "metric names");
            return None;
        }
        self.names.push(name.clone());
        self.slots.insert(name, slot);
        Some(slot)
    }

    /// Reads the row at the current place, without moving on.
    fn peek(&mut self, separator: u8) {
        self.row.read(self.text, self.place, separator);
    }

    /// Says that cells of the current row were left out, if they were.
    fn check_length(&mut self) {
        if self.row.is_too_long {
            let limit = u64::try_from(MAX_CELLS).unwrap_or(u64::MAX);
            self.problem(Kind::TooMany { limit }, self.row.start, "cells of a row");
        }
    }

    /// Moves behind the row.
    fn accept(&mut self) {
        self.place = self.row.end;
    }

    /// Moves behind the line, as what was read there was no row: a stray quote must not swallow what follows. Bytes
    /// read again are bounded, so that time stays linear in the input.
    fn reject(&mut self) {
        let (_, next) = rows::line(self.text, self.place);
        let again = self.row.end.saturating_sub(next);
        if again <= self.spare {
            self.spare = self.spare.saturating_sub(again);
            self.place = next;
        } else {
            self.place = self.row.end;
        }
    }

    /// The current line.
    fn line(&self) -> &'t str {
        rows::line(self.text, self.place).0
    }

    fn skip_line(&mut self) {
        self.place = rows::line(self.text, self.place).1;
    }

    /// Says that the input ends inside the current row, if it does, and leaves out a cell that may be cut.
    fn check_cut(&mut self, columns: usize) -> bool {
        self.check_length();
        let is_open = !self.text.ends_with(['"', '\n', '\r', ',', ';', '\t']);
        let may_be_cut = self.row.is_last && self.row.len() < columns && is_open;
        if may_be_cut {
            self.row.drop_last();
        }
        let is_cut = self.row.is_cut || may_be_cut;
        if is_cut {
            let reason = "the input ends inside a row; the cell that was cut is left out";
            self.problem(Kind::Csv(Cow::Borrowed(reason)), self.row.start, "last row");
        }
        is_cut
    }

    /// Reads a table of launches: the header, then rows until something else starts.
    fn launches(&mut self, separator: u8) {
        let is_quoted = self.text.get(self.place..).is_some_and(|rest| rest.starts_with('"'));
        self.peek(separator);
        self.check_length();
        let columns = Columns::new(self, separator, is_quoted);
        if self.row.is_cut || columns.name.is_none() {
            self.problem(
                Kind::Csv(Cow::Borrowed("the header names no kernel column, or is cut off")),
                self.row.start,
                "header",
            );
            self.reject();
            return;
        }
        match columns.details.is_some() {
            true => details::read(self, &columns),
            false => raw::read(self, &columns),
        }
    }

    /// Goes to the next row of a table, which is then in `row`; `false` when the table ends.
    fn next_row(&mut self, columns: &Columns) -> bool {
        while self.place < self.text.len() {
            let line = self.line();
            if header_in(line).is_some() {
                return false;
            }
            // The profiler's log and the program's output may stand between rows.
            if line.trim().is_empty() || line.starts_with("==") || (columns.is_quoted && !line.starts_with('"')) {
                self.skip_line();
                continue;
            }
            self.peek(columns.separator);
            return true;
        }
        false
    }

    /// The kernel that a row belongs to; `None` if the row does not name one, as the unit row and noise.
    fn kernel(&self, columns: &Columns, page: Page) -> Option<Kernel> {
        let cell = |index| self.row.cell(self.text, index);
        let name = columns.name.map(|index| self.row.get(self.text, index))?;
        let id = match columns.id {
            Some(_) => Some(integer(&cell(columns.id))?),
            None => None,
        };
        if name.is_empty() {
            return None;
        }
        let text = |index| Some(cell(index)).filter(|text| !text.is_empty()).map(Cow::into_owned);
        Some(Kernel {
            id,
            process_id: integer(&cell(columns.process_id)),
            process_name: text(columns.process_name),
            host: text(columns.host),
            context: integer(&cell(columns.context)),
            stream: integer(&cell(columns.stream)),
            grid: triple(&cell(columns.grid)),
            block: triple(&cell(columns.block)),
            device: integer(&cell(columns.device)),
            compute_capability: capability(&cell(columns.capability)),
            ..Kernel::new(page, name.into_owned())
        })
    }

    /// A value of a metric, converted by the unit that is printed with it.
    fn value(&self, cell: &str, style: Style, exponent: i32) -> Option<Value<'static>> {
        if number::is_absent(cell) {
            return None;
        }
        if let Some(value) = number::number(cell, style, exponent) {
            return Some(value);
        }
        // `--print-metric-instances values` appends the instances, without what they belong to.
        if let Some((total, _)) = cell.split_once(" (")
            && cell.ends_with(')')
            && let Some(value) = number::number(total, style, exponent)
        {
            return Some(value);
        }
        Some(Value::Text(Cow::Owned(cell.to_owned())))
    }

    /// The power of ten of a printed unit. An unknown one is reported, and its values are kept as printed.
    fn exponent(&mut self, unit: &str, place: usize) -> i32 {
        match Unit::parse(unit) {
            Some(unit) => unit.exponent,
            None => {
                let unit: String = unit.chars().take(40).collect();
                let reason = format!("the unit `{unit}` is not known; its values are kept as printed");
                self.problem(Kind::Csv(Cow::Owned(reason)), place, "unit");
                0
            }
        }
    }

    fn finish(mut self) -> CsvReport {
        if self.kernels.is_empty() {
            self.problem(Kind::Csv(Cow::Borrowed("the table has no row of a kernel")), None, "table");
        }
        let names = Arc::new(Names::new(self.names));
        for kernel in &mut self.kernels {
            kernel.names = Arc::clone(&names);
        }
        CsvReport { kernels: self.kernels, problems: self.problems }
    }
}

/// Where the columns of a table of launches are, by the titles of its header.
#[derive(Debug, Default)]
struct Columns {
    separator: u8,
    is_quoted: bool,
    /// How many columns the header has.
    count: usize,
    id: Option<usize>,
    process_id: Option<usize>,
    process_name: Option<usize>,
    host: Option<usize>,
    name: Option<usize>,
    context: Option<usize>,
    stream: Option<usize>,
    block: Option<usize>,
    grid: Option<usize>,
    device: Option<usize>,
    capability: Option<usize>,
    details: Option<details::Columns>,
    /// Titles that are none of these: metrics of the raw page.
    others: Vec<(usize, String)>,
}

impl Columns {
    fn new(reader: &Reader<'_>, separator: u8, is_quoted: bool) -> Self {
        let count = reader.row.len();
        let mut columns = Self { separator, is_quoted, count, ..Self::default() };
        let mut sections = details::Columns::default();
        for index in 0..count {
            let title = reader.row.get(reader.text, index);
            let place = match &*title {
                "ID" => &mut columns.id,
                "Process ID" => &mut columns.process_id,
                "Process Name" => &mut columns.process_name,
                "Host Name" => &mut columns.host,
                "Kernel Name" => &mut columns.name,
                "Context" => &mut columns.context,
                "Stream" => &mut columns.stream,
                "Block Size" => &mut columns.block,
                "Grid Size" => &mut columns.grid,
                "Device" => &mut columns.device,
                "CC" => &mut columns.capability,
                "" | "Kernel Time" => continue, // Older versions print the time of day.
                title => match sections.column(title) {
                    Some(column) => column,
                    None => {
                        columns.others.push((index, title.to_owned()));
                        continue;
                    }
                },
            };
            place.get_or_insert(index);
        }
        columns.details = sections.is_complete().then_some(sections);
        columns
    }
}

/// An identifier: digits, possibly with separators of thousands.
fn integer(cell: &str) -> Option<u64> {
    match cell.parse() {
        Ok(value) => Some(value),
        Err(_) => number::number(cell, Style::Point, 0)?.integer(),
    }
}

/// Sizes in three dimensions: `(64, 256, 1)`.
fn triple(cell: &str) -> Option<[u64; 3]> {
    let inner = cell.trim().strip_prefix('(')?.strip_suffix(')')?;
    // The comma may separate thousands as well, but then no space follows it.
    let parts: Vec<&str> = match inner.contains([';', ' ']) {
        true => inner.split([';', ' ']).map(|part| part.trim_matches(',')).filter(|part| !part.is_empty()).collect(),
        false => inner.split(',').collect(),
    };
    let [x, y, z] = parts.as_slice() else { return None };
    Some([integer(x)?, integer(y)?, integer(z)?])
}

/// A compute capability: `9.0`, or `9,0` in some locales.
fn capability(cell: &str) -> Option<(u32, u32)> {
    let (major, minor) = cell.split_once(['.', ','])?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
