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
//! | source | counters and samples per instruction, their totals, SASS text; files and lines with `--print-source cuda,sass` | launch, device, metrics of the kernel |
//!
//! Pages are not merged: the source page names kernels only, so which launch it belongs to would be a guess.
//!
//! The details page prints labels. Those of the standard sections are turned into metric names; where the name
//! depends on the profiler's version, or is not known, the metric is called `Section name/Label`. Columns of the
//! source page that have no metric name are called `Source/Title`.
//!
//! What is kept of an export takes less than the export itself: values are packed, and names that come again are kept once.
//! While it is read, it takes at most four times the input beside it (`tests/memory.rs`); rows of a handful of digits, which no
//! profiler prints, take more, since each is a launch. Time is linear in the input. Of a row 65 536 cells are kept, of all
//! tables 65 536 metric names.
//!
//! ```
//! let export = b"\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"\",\"\",\"us\"\n\"0\",\"copy(float *)\",\"1,234.50\"\n";
//! let report = ncu_rep::csv::read(export)?;
//! let kernel = &report.kernels[0];
//! assert_eq!(&*kernel.name, "copy(float *)");
//! assert_eq!(kernel.metrics().number("gpu__time_duration.sum"), Some(1_234_500.0)); // ns
//! # Ok::<(), ncu_rep::Error>(())
//! ```

mod details;
mod labels;
mod lines;
mod number;
mod raw;
mod rows;
mod source;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::error::{Error, Kind};
use crate::metric::{Metric, Metrics, Names, Value};
use crate::packed::Packed;
use crate::report::{Dim3, MessageKind, Speedup};
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
    /// The kernel's demangled signature, or another form of its name if the export was asked for one.
    pub name: Arc<str>,
    /// Where it ran; launches that follow each other mostly share it.
    pub place: Arc<Place>,
    /// Blocks in x, y, z.
    pub grid: Option<Dim3>,
    /// Threads of a block in x, y, z.
    pub block: Option<Dim3>,
    /// Messages of rules, on the details page.
    pub rules: Vec<Rule>,
    /// Instructions in address order, on the source page.
    pub code: Vec<Instruction>,
    /// Of all tables together; set when all are read.
    names: Option<Arc<Names<'static>>>,
    entries: Packed,
}

/// Where a kernel ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Process id.
    pub process_id: Option<u64>,
    /// Name of the program.
    pub process_name: Option<Arc<str>>,
    /// Name or address of the machine.
    pub host: Option<Arc<str>>,
    /// CUDA context id.
    pub context: Option<u64>,
    /// CUDA stream id.
    pub stream: Option<u64>,
    /// Index of the device.
    pub device: Option<u64>,
    /// Compute capability: major, minor.
    pub compute_capability: Option<(u32, u32)>,
}

/// A message of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Identifier of the section that the rule belongs to, such as `SpeedOfLight`.
    pub section: Arc<str>,
    /// Identifier of the rule.
    pub name: Arc<str>,
    /// What kind of message it is: `INF` is [`MessageKind::Ok`], `OPT` is [`MessageKind::Optimisation`].
    pub kind: MessageKind,
    /// The message.
    pub text: Arc<str>,
    /// What following the message may gain.
    pub speedup: Option<Speedup>,
}

/// An instruction of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its address; absolute, as in the report.
    pub address: u64,
    /// SASS text, with the predicate.
    pub text: Box<str>,
    /// The lines that the page lists it under, in the order of the page. An inlined instruction stands under its own
    /// line and under that of each call, and the page does not say which is which. Empty without `--print-source
    /// cuda,sass`.
    pub lines: Vec<SourceLine>,
}

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// Path of the file.
    pub file: Arc<str>,
    /// Number of the line, from 1.
    pub line: u64,
}

impl Kernel {
    /// The metrics: those with a value, and those of which the export says that they have none.
    #[must_use]
    pub fn metrics(&self) -> Metrics<'_> {
        static NONE: Names<'static> = Names::none();
        let names = self.names.as_deref().unwrap_or(&NONE);
        let mut metrics = Metrics::new(names);
        for (slot, value, instances) in self.entries.iter() {
            if let Some(name) = names.get(slot) {
                metrics.insert(slot, Metric::packed(name, value, instances));
            }
        }
        metrics
    }

    fn new(page: Page, name: Arc<str>) -> Self {
        Self {
            page,
            id: None,
            name,
            place: Arc::default(),
            grid: None,
            block: None,
            rules: Vec::new(),
            code: Vec::new(),
            names: None,
            entries: Packed::default(),
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
            Table::Lines => lines::read(&mut reader, header.separator),
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
            Some(if is_little {
                u16::from_le_bytes(pair)
            } else {
                u16::from_be_bytes(pair)
            })
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
    let has_line = |start: &str| {
        text.lines()
            .any(|line| line.trim_start().starts_with(start))
    };
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
    if has_line("\"Line No\",\"Source\"") {
        return Kind::Csv(Cow::Borrowed(
            "this is the text of the source without counters; export the page with `--print-source sass` or `--print-source cuda,sass`",
        ));
    }
    if has_line("==ERROR==") || has_line("==PROF==") {
        return Kind::Csv(Cow::Borrowed(
            "this is the profiler's log without a table; profile with `--csv --page raw`",
        ));
    }
    Kind::NotAReport(Cow::Borrowed(
        "there is no table of an `ncu --csv` export in it",
    ))
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
    /// A block of rows per file and function: source page with lines.
    Lines,
}

/// The next table from a place on.
fn next_header(text: &str, mut place: usize) -> Option<Header> {
    while place < text.len() {
        let (line, next) = rows::line(text, place);
        if let Some((offset, separator, table)) = header_in(line)
            && match table {
                Table::Launches => true,
                Table::Source => is_source_header(text, next),
                Table::Lines => lines::is_header(text, next),
            }
        {
            return Some(Header {
                start: place.saturating_add(offset),
                separator,
                table,
            });
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
    for (title, table) in [
        ("\"Kernel Name\"", Table::Source),
        ("Kernel Name", Table::Source),
        ("\"File Path\"", Table::Lines),
        ("File Path", Table::Lines),
    ] {
        if rest.starts_with(title) {
            return Some((start, separator_after(rest, title.len())?, table));
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
    let rest = line
        .get(place..)
        .unwrap_or("")
        .trim_start_matches([' ', '"']);
    ["Process ID", "Process Name", "Host Name", "Kernel Name"]
        .iter()
        .any(|title| rest.starts_with(title))
}

fn separator_after(line: &str, place: usize) -> Option<u8> {
    line.as_bytes()
        .get(place)
        .copied()
        .filter(|byte| matches!(byte, b',' | b';' | b'\t'))
}

/// Problems kept; a damaged export says the same thing over and over.
const MAX_PROBLEMS: usize = 100;
/// Words kept to be found again; others are kept as often as they come.
const MAX_WORDS: usize = 1 << 16;
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
    names: Vec<Arc<str>>,
    slots: HashMap<Arc<str>, usize>,
    /// Words that are kept once, however often they stand in the export.
    words: HashSet<Arc<str>>,
    last_place: Arc<Place>,
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
            words: HashSet::new(),
            last_place: Arc::default(),
        }
    }

    fn problem(
        &mut self,
        kind: Kind,
        place: impl Into<Option<usize>>,
        field: impl Into<Cow<'static, str>>,
    ) {
        let offset = place.into().and_then(|place| u64::try_from(place).ok());
        match self.problems.len() {
            ..MAX_PROBLEMS => self.problems.push(Error::new(kind, offset, field)),
            MAX_PROBLEMS => {
                self.problems
                    .push(Error::new(Kind::TooMany { limit: 100 }, None, "problems"))
            }
            _ => {}
        }
    }

    /// The number of a metric's name; `None` when there are too many names.
    fn slot(&mut self, name: &str) -> Option<usize> {
        if let Some(slot) = self.slots.get(name) {
            return Some(*slot);
        }
        let slot = self.names.len();
        if slot >= MAX_NAMES {
            self.problem(Kind::TooMany { limit: 65_536 }, None, "metric names");
            return None;
        }
        let name: Arc<str> = Arc::from(name);
        self.names.push(Arc::clone(&name));
        self.slots.insert(name, slot);
        Some(slot)
    }

    /// A text that is likely to come again.
    fn word(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.words.get(text) {
            return Arc::clone(known);
        }
        let word: Arc<str> = Arc::from(text);
        if self.words.len() < MAX_WORDS {
            self.words.insert(Arc::clone(&word));
        }
        word
    }

    /// Adds a kernel. There may be as many as rows, so that the list grows in smaller steps than usual.
    fn push_kernel(&mut self, kernel: Kernel) {
        let held = self.kernels.len();
        if held == self.kernels.capacity() {
            self.kernels.reserve_exact(held.wrapping_shr(2).max(16));
        }
        self.kernels.push(kernel);
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
        let is_quoted = self
            .text
            .get(self.place..)
            .is_some_and(|rest| rest.starts_with('"'));
        self.peek(separator);
        self.check_length();
        let columns = Columns::new(self, separator, is_quoted);
        if self.row.is_cut || columns.name.is_none() {
            self.problem(
                Kind::Csv(Cow::Borrowed(
                    "the header names no kernel column, or is cut off",
                )),
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
            if line.trim().is_empty()
                || line.starts_with("==")
                || (columns.is_quoted && !line.starts_with('"'))
            {
                self.skip_line();
                continue;
            }
            self.peek(columns.separator);
            return true;
        }
        false
    }

    /// The kernel that a row belongs to; `None` if the row does not name one, as the unit row and noise.
    fn kernel(&mut self, columns: &Columns, page: Page) -> Option<Kernel> {
        let whole = self.text;
        let cell = |reader: &Self, index| reader.row.cell(whole, index);
        let name = columns.name.map(|index| self.row.get(self.text, index))?;
        let id = match columns.id {
            Some(_) => Some(integer(&cell(self, columns.id))?),
            None => None,
        };
        if name.is_empty() {
            return None;
        }
        let word = |reader: &mut Self, index| {
            let text = cell(reader, index);
            (!text.is_empty()).then(|| reader.word(&text))
        };
        let place = Place {
            process_id: integer(&cell(self, columns.process_id)),
            process_name: word(self, columns.process_name),
            host: word(self, columns.host),
            context: integer(&cell(self, columns.context)),
            stream: integer(&cell(self, columns.stream)),
            device: integer(&cell(self, columns.device)),
            compute_capability: capability(&cell(self, columns.capability)),
        };
        if *self.last_place != place {
            self.last_place = Arc::new(place);
        }
        Some(Kernel {
            id,
            place: Arc::clone(&self.last_place),
            grid: triple(&cell(self, columns.grid)),
            block: triple(&cell(self, columns.block)),
            ..Kernel::new(page, self.word(&name))
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
        // A text has its instances behind it too, and a metric without a value has only them.
        if let Some(list) = cell.strip_suffix(')') {
            if list.starts_with('(') && !list.contains(' ') {
                return None;
            }
            if let Some((total, only)) = list.split_once(" (")
                && total == only
            {
                return Some(Value::Text(Cow::Owned(total.to_owned())));
            }
        }
        Some(Value::Text(Cow::Owned(cell.to_owned())))
    }

    /// The power of ten of a printed unit. An unknown one is reported, and its values are kept as printed.
    fn exponent(&mut self, unit: &str, place: usize) -> i32 {
        match Unit::parse(unit) {
            Some(unit) => unit.exponent,
            None => {
                let unit: String = unit.chars().take(40).collect();
                let reason =
                    format!("the unit `{unit}` is not known; its values are kept as printed");
                self.problem(Kind::Csv(Cow::Owned(reason)), place, "unit");
                0
            }
        }
    }

    fn finish(mut self) -> CsvReport {
        if self.kernels.is_empty() {
            self.problem(
                Kind::Csv(Cow::Borrowed("the table has no row of a kernel")),
                None,
                "table",
            );
        }
        // The names are no longer looked for, only listed.
        drop((self.slots, self.words));
        let names = self.names.into_iter();
        let names = Arc::new(Names::new(
            names.map(|name| Cow::Owned(String::from(&*name))).collect(),
        ));
        for kernel in &mut self.kernels {
            kernel.names = Some(Arc::clone(&names));
            kernel.entries.shrink();
            kernel.rules.shrink_to_fit();
        }
        CsvReport {
            kernels: self.kernels,
            problems: self.problems,
        }
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
        let mut columns = Self {
            separator,
            is_quoted,
            count,
            ..Self::default()
        };
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
fn triple(cell: &str) -> Option<Dim3> {
    let inner = cell.trim().strip_prefix('(')?.strip_suffix(')')?;
    // The comma may separate thousands as well, but then no space follows it.
    let parts: Vec<&str> = match inner.contains([';', ' ']) {
        true => inner
            .split([';', ' '])
            .map(|part| part.trim_matches(','))
            .filter(|part| !part.is_empty())
            .collect(),
        false => inner.split(',').collect(),
    };
    let [x, y, z] = parts.as_slice() else {
        return None;
    };
    let size = |part| u32::try_from(integer(part)?).ok();
    Some(Dim3 {
        x: size(x)?,
        y: size(y)?,
        z: size(z)?,
    })
}

/// A compute capability: `9.0`, or `9,0` in some locales.
fn capability(cell: &str) -> Option<(u32, u32)> {
    let (major, minor) = cell.split_once(['.', ','])?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    fn read_text(text: &str) -> CsvReport {
        read(text.as_bytes()).unwrap()
    }

    const RAW: &str = r#""ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","gpu__time_duration.sum","dram__bytes.sum.per_second","launch__waves_per_multiprocessor","inst_executed","launch__func_cache_config","sass__inst_executed_register_spilling_mem_local"
"","","","","","","","","","","","us","Tbyte/s","","inst","","inst"
"0","761","clinic","127.0.0.1","aos_slow(P *, int, float)","1","7","(256, 1, 1)","(65536, 1, 1)","0","9.0","260.736000","4.020136","62.06","8,912,896","CachePreferNone","no data"
"1","761","clinic","127.0.0.1","name with ""quotes"", and a comma","1","7","(256, 1, 1)","(65536, 1, 1)","0","9.0","1,260.736000","0.020136","nan","","-","0"
"#;

    #[test]
    fn raw_page() {
        let report = read_text(RAW);
        assert_eq!(report.problems, []);
        let kernel = &report.kernels[0];
        assert_eq!(
            (kernel.page, kernel.id, kernel.place.process_id),
            (Page::Raw, Some(0), Some(761))
        );
        assert_eq!(&*kernel.name, "aos_slow(P *, int, float)");
        assert_eq!(
            (
                kernel.place.process_name.as_deref(),
                kernel.place.host.as_deref()
            ),
            (Some("clinic"), Some("127.0.0.1"))
        );
        assert_eq!(
            (
                kernel.place.context,
                kernel.place.stream,
                kernel.place.device
            ),
            (Some(1), Some(7), Some(0))
        );
        assert_eq!(kernel.block, Some(Dim3 { x: 256, y: 1, z: 1 }));
        assert_eq!(
            kernel.grid,
            Some(Dim3 {
                x: 65536,
                y: 1,
                z: 1
            })
        );
        assert_eq!(kernel.place.compute_capability, Some((9, 0)));
        let metrics = kernel.metrics();
        assert_eq!(metrics.number("gpu__time_duration.sum"), Some(260_736.0));
        assert_eq!(
            metrics.number("dram__bytes.sum.per_second"),
            Some(4.020136e12)
        );
        assert_eq!(
            metrics.number("launch__waves_per_multiprocessor"),
            Some(62.06)
        );
        assert_eq!(metrics.integer("inst_executed"), Some(8_912_896));
        assert_eq!(
            metrics.text("launch__func_cache_config"),
            Some("CachePreferNone")
        );
        // Asked for and not there: the metric exists, without a value.
        let spills = metrics
            .get("sass__inst_executed_register_spilling_mem_local")
            .unwrap();
        assert_eq!(spills.value, None);
        // Words for nothing, and a blank cell: not even a metric.
        let metrics = report.kernels[1].metrics();
        assert_eq!(
            &*report.kernels[1].name,
            "name with \"quotes\", and a comma"
        );
        assert_eq!(metrics.number("gpu__time_duration.sum"), Some(1_260_736.0));
        assert_eq!(
            metrics
                .get("launch__waves_per_multiprocessor")
                .unwrap()
                .value,
            None
        );
        assert_eq!(
            metrics.get("launch__func_cache_config").unwrap().value,
            None
        );
        assert!(metrics.get("inst_executed").is_none());
        assert_eq!(
            metrics.number("sass__inst_executed_register_spilling_mem_local"),
            Some(0.0)
        );
    }

    #[test]
    fn output_of_the_program_around_the_table() {
        let before = "==PROF== Connected to process 5174 (/home/user/\"a\", b)\n\
                      \"hello, \"world\n\"unbalanced, quotes\nIDs, \"ID\", 3\nresult: 1,234; \"0\",\"1\"\n\
                      Kernel Name, time\n\
                      progress 10%\rprogress 100%\r==PROF== Disconnected\nno line end: ";
        let (head, rest) = RAW.split_at(RAW.find("\"1\",\"761\"").unwrap());
        let text = format!(
            "{before}{head}==WARNING== something, \"odd\nlate output \"of the program\n\n{rest}bye, \"bye\n"
        );
        let report = read_text(&text);
        assert_eq!(report.problems, []);
        assert_eq!(report.kernels.len(), 2);
        assert_eq!(
            report.kernels[1].metrics().number("gpu__time_duration.sum"),
            Some(1_260_736.0)
        );
        assert!(looks_like(text.as_bytes()));
        assert!(!looks_like(before.as_bytes()));
    }

    #[test]
    fn byte_order_mark_line_ends_and_bytes_that_are_no_text() {
        let expected = read_text(RAW).kernels[1]
            .metrics()
            .number("gpu__time_duration.sum");
        let windows = format!("\u{feff}{}", RAW.replace('\n', "\r\n"));
        let report = read_text(&windows);
        assert_eq!(report.problems, []);
        assert_eq!(
            report.kernels[1].metrics().number("gpu__time_duration.sum"),
            expected
        );

        let mut latin = RAW.replace("clinic", "cl?nic").into_bytes();
        latin
            .iter_mut()
            .filter(|byte| **byte == b'?')
            .for_each(|byte| *byte = 0xef);
        let report = read(&latin).unwrap();
        assert_eq!(report.kernels.len(), 2);
        assert!(report.problems[0].is_remark());

        for order in [u16::to_le_bytes, u16::to_be_bytes] {
            let wide: Vec<u8> = windows.encode_utf16().flat_map(order).collect();
            assert!(looks_like(&wide));
            let report = read(&wide).unwrap();
            assert_eq!(report.problems, []);
            assert_eq!(report.kernels.len(), 2);
        }
    }

    #[test]
    fn decimal_comma() {
        // The same table as a locale with decimal comma may write it. 4,020136 Tbyte/s; 8.912.896 inst.
        for (separator, thousands) in [
            (";", "."),
            (";", " "),
            (",", "."),
            (",", "\u{a0}"),
            (";", "\u{202f}"),
        ] {
            let text = format!(
                "\"ID\"{s}\"Process ID\"{s}\"Kernel Name\"{s}\"CC\"{s}\"Grid Size\"{s}\"gpu__time_duration.sum\"{s}\"dram__bytes.sum.per_second\"{s}\"inst_executed\"\n\
                 \"\"{s}\"\"{s}\"\"{s}\"\"{s}\"\"{s}\"us\"{s}\"Tbyte/s\"{s}\"inst\"\n\
                 \"0\"{s}\"1.761\"{s}\"k\"{s}\"9.0\"{s}\"(64; 256; 1)\"{s}\"1{t}260,736000\"{s}\"4,020136\"{s}\"8{t}912{t}896\"\n",
                s = separator,
                t = thousands
            );
            let report = read_text(&text);
            assert_eq!(report.problems, []);
            let metrics = report.kernels[0].metrics();
            assert_eq!(metrics.number("gpu__time_duration.sum"), Some(1_260_736.0));
            assert_eq!(
                metrics.number("dram__bytes.sum.per_second"),
                Some(4.020136e12)
            );
            assert_eq!(metrics.integer("inst_executed"), Some(8_912_896));
            assert_eq!(report.kernels[0].place.compute_capability, Some((9, 0)));
            assert_eq!(
                report.kernels[0].grid,
                Some(Dim3 {
                    x: 64,
                    y: 256,
                    z: 1
                })
            );
        }
    }

    #[test]
    fn base_units_and_units_of_older_versions() {
        for (unit, cell, value) in [
            ("ns", "260736", 260_736.0),
            ("nsecond", "260,736", 260_736.0),
            ("usecond", "260.74", 260_740.0),
            ("msecond", "0.26", 260_000.0),
            ("second", "1.5", 1.5e9),
        ] {
            let text = format!(
                "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"\",\"\",\"{unit}\"\n\"0\",\"k\",\"{cell}\"\n"
            );
            let report = read_text(&text);
            assert_eq!(report.problems, []);
            assert_eq!(
                report.kernels[0].metrics().number("gpu__time_duration.sum"),
                Some(value),
                "{unit}"
            );
        }
        let report = read_text(
            "\"ID\",\"Kernel Name\",\"a__b.sum\"\n\"\",\"\",\"furlong\"\n\"0\",\"k\",\"3\"\n",
        );
        assert_eq!(report.kernels[0].metrics().number("a__b.sum"), Some(3.0));
        assert_eq!(report.problems.len(), 1);
    }

    #[test]
    fn columns_are_found_by_title() {
        let text = "a__x.sum,Kernel Name,ID,\nIgnored\n";
        assert_eq!(read(text.as_bytes()).unwrap_err().code(), "NCU0002");
        // Another order, an old column, ranges of NVTX, a metric twice, an instance list.
        let text = "\"ID\",\"Kernel Name\",\"Kernel Time\",\"thread Domain:Push/Pop_Range:PL_Type\",\"b__y.sum\",\"Process ID\",\"a__x.sum\",\"a__x.sum\",\"My Label\"\n\
                    \"\",\"\",\"\",\"\",\"byte\",\"\",\"Kbyte\",\"Kbyte\",\"\"\n\
                    \"3\",\"k\",\"2022-Mar-01 10:00:00, Context 1\",\"<default domain>\",\"12 (5; 7)\",\"99\",\"1.5\",\"9.9\",\"1\"\n";
        let report = read_text(text);
        let kernel = &report.kernels[0];
        assert_eq!((kernel.id, kernel.place.process_id), (Some(3), Some(99)));
        assert_eq!(kernel.metrics().number("b__y.sum"), Some(12.0));
        assert_eq!(kernel.metrics().number("a__x.sum"), Some(1500.0));
        assert_eq!(kernel.metrics().len(), 2);
        assert_eq!(report.problems.len(), 1); // `My Label` is no metric name.
    }

    const DETAILS: &str = r#""ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description","Estimated Speedup Type","Estimated Speedup"
"0","1120","clinic","127.0.0.1","gemm","1","7","(32, 8, 1)","(64, 256, 1)","0","9.0","GPU Speed Of Light Throughput","Memory Throughput","%","82.34",
"0","1120","clinic","127.0.0.1","gemm","1","7","(32, 8, 1)","(64, 256, 1)","0","9.0","GPU Speed Of Light Throughput","Duration","ms","2.50",
"0","1120","clinic","127.0.0.1","gemm","1","7","(32, 8, 1)","(64, 256, 1)","0","9.0","GPU Speed Of Light Throughput","SM Active Cycles","cycle","4,916,815.12",
"0","1120","clinic","127.0.0.1","gemm","1","7","(32, 8, 1)","(64, 256, 1)","0","9.0","SpeedOfLight","","","","SOLBottleneck","INF","Two
lines, and a ""quote"".","",""
"0","1120","clinic","127.0.0.1","gemm","1","7","(32, 8, 1)","(64, 256, 1)","0","9.0","Memory Workload Analysis","Memory Throughput","Gbyte/s","18.09",
"0","1120","clinic","127.0.0.1","gemm","1","7","(32, 8, 1)","(64, 256, 1)","0","9.0","Compute Workload Analysis","SM Busy","%","47.11",
"0","1120","clinic","127.0.0.1","gemm","1","7","(32, 8, 1)","(64, 256, 1)","0","9.0","SchedulerStats","","","","IssueSlotUtilization","OPT","Issue more.","local","17.66"
"0","1120","clinic","127.0.0.1","gemm","1","7","(32, 8, 1)","(64, 256, 1)","0","9.0","GPU and Memory Workload Distribution","Average SM Active Cycles","cycle","4,916,815.12",
"1","1120","clinic","127.0.0.1","gemm","1","7","(32, 8, 1)","(64, 256, 1)","0","9.0","GPU Speed Of Light Throughput","Duration","us","435.30",
"1","1120","clinic","127.0.0.1","gemm","1","7","(32, 8, 1)","(64, 256, 1)","0","9.0","MemoryWorkloadAnalysis_Chart","","","","MemoryL2Compression","WRN","Text.","global","0.278"
"#;

    #[test]
    fn details_page() {
        let report = read_text(DETAILS);
        assert_eq!(report.problems, []);
        assert_eq!(report.kernels.len(), 2);
        let kernel = &report.kernels[0];
        assert_eq!(kernel.page, Page::Details);
        let metrics = kernel.metrics();
        // One label, two sections, two metrics.
        let name = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
        assert_eq!(metrics.number(name), Some(82.34));
        assert_eq!(metrics.number("dram__bytes.sum.per_second"), Some(18.09e9));
        assert_eq!(metrics.number("gpu__time_duration.sum"), Some(2_500_000.0));
        // Two labels, one metric.
        assert_eq!(metrics.number("sm__cycles_active.avg"), Some(4_916_815.12));
        // The name depends on the version.
        assert_eq!(
            metrics.number("Compute Workload Analysis/SM Busy"),
            Some(47.11)
        );
        assert_eq!(metrics.len(), 5);
        assert_eq!(
            kernel.rules,
            [
                Rule {
                    section: "SpeedOfLight".into(),
                    name: "SOLBottleneck".into(),
                    kind: MessageKind::Ok,
                    text: "Two\nlines, and a \"quote\".".into(),
                    speedup: None,
                },
                Rule {
                    section: "SchedulerStats".into(),
                    name: "IssueSlotUtilization".into(),
                    kind: MessageKind::Optimisation,
                    text: "Issue more.".into(),
                    speedup: Some(Speedup {
                        is_global: false,
                        percent: 17.66
                    }),
                },
            ]
        );
        let kernel = &report.kernels[1];
        assert_eq!(
            kernel.metrics().number("gpu__time_duration.sum"),
            Some(435_300.0)
        );
        assert_eq!(kernel.rules[0].kind, MessageKind::Warning);
        assert_eq!(
            kernel.rules[0].speedup,
            Some(Speedup {
                is_global: true,
                percent: 0.278
            })
        );
    }

    #[test]
    fn details_of_metrics_asked_for_by_name_with_an_old_header() {
        let text = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Kernel Time\",\"Context\",\"Stream\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n\
            \"0\",\"5\",\"app\",\"h\",\"k\",\"2021-Jan-01 10:00:00\",\"1\",\"7\",\"Command line profiler metrics\",\"dram__bytes.sum\",\"Mbyte\",\"1,024.5\"\n\
            \"0\",\"5\",\"app\",\"h\",\"k\",\"2021-Jan-01 10:00:00\",\"1\",\"7\",\"Command line profiler metrics\",\"inst_executed\",\"inst\",\"(!) n/a\"\n\
            \"0\",\"5\",\"app\",\"h\",\"k\",\"2021-Jan-01 10:00:00\",\"1\",\"7\",\"Some Section\",\"SM Frequency (smsp__cycles_elapsed.avg.per_second)\",\"cycle/nsecond\",\"1.20\"\n\
            \"0\",\"5\",\"app\",\"h\",\"k\",\"2021-Jan-01 10:00:00\",\"1\",\"7\",\"Some Section\",\"Other\",\"\",\"n/a\"\n";
        let report = read_text(text);
        assert_eq!(report.problems, []);
        let metrics = report.kernels[0].metrics();
        assert_eq!(metrics.number("dram__bytes.sum"), Some(1_024_500_000.0));
        assert_eq!(
            metrics.number("smsp__cycles_elapsed.avg.per_second"),
            Some(1.2e9)
        );
        assert_eq!(metrics.text("inst_executed"), Some("(!) n/a"));
        assert_eq!(metrics.get("Some Section/Other").unwrap().value, None);
    }

    #[test]
    fn compression_metrics_depend_on_the_device() {
        for (capability, name) in [
            ("8.0", "lts__gcomp_input_sectors.sum"),
            ("9.0", "lrc__ilc_input_sectors.sum"),
        ] {
            let text = format!(
                "\"ID\",\"Kernel Name\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n\
                 \"0\",\"k\",\"{capability}\",\"Memory Workload Analysis\",\"L2 Compression Input Sectors\",\"sector\",\"7\"\n"
            );
            assert_eq!(
                read_text(&text).kernels[0].metrics().number(name),
                Some(7.0)
            );
        }
    }

    fn block(name: &str, samples: u32) -> String {
        format!(
            "\"Kernel Name\",\"{name}\",\n\"Address\",\"Source\",\"# Samples\",\"Instructions Executed\",\"Address Space\",\"Access Operation\",\"Access Size\",\"stall_imc\",\"stall_imc (Not Issued)\",\"Odd Title\"\n\
             \"0x7f00\",\"      LDC R1, c[0x0][0x28]\",\"{samples}\",\"100\",\"-\",\"-\",\"-\",\"1\",\"0\",\"3\"\n\
             \"0x7f10\",\"@P0   LDG.E R0, desc[UR4][R2.64+0xc]\",\"5\",\"200\",\"Global\",\"Load\",\"128\",\"2\",\"\",\"4\"\n\n"
        )
    }

    #[test]
    fn source_page() {
        let report =
            read_text(&[block("a", 7), block("a", 7), block("b", 1), block("b", 1)].concat());
        assert_eq!(report.problems, []);
        assert_eq!(
            report
                .kernels
                .iter()
                .map(|kernel| &*kernel.name)
                .collect::<Vec<_>>(),
            ["a", "b"]
        );
        let kernel = &report.kernels[0];
        assert_eq!(
            (kernel.page, kernel.id, kernel.grid),
            (Page::Source, None, None)
        );
        assert_eq!(
            kernel.code[1],
            Instruction {
                address: 0x7f10,
                text: "@P0   LDG.E R0, desc[UR4][R2.64+0xc]".into(),
                lines: Vec::new(),
            }
        );
        let metrics = kernel.metrics();
        let list = |name| metrics.get(name).unwrap().by_number().unwrap();
        assert_eq!(
            list("smsp__pcsamp_sample_count"),
            [(0x7f00, 7.0), (0x7f10, 5.0)]
        );
        assert_eq!(metrics.number("smsp__pcsamp_sample_count"), Some(12.0));
        assert_eq!(
            list("smsp__pcsamp_warps_issue_stalled_imc_miss"),
            [(0x7f00, 1.0), (0x7f10, 2.0)]
        );
        assert_eq!(
            list("smsp__pcsamp_warps_issue_stalled_imc_miss_not_issued"),
            [(0x7f00, 0.0)]
        );
        // Codes as in the report; they have no total.
        assert_eq!(list("memory_type"), [(0x7f10, 4.0)]);
        assert_eq!(list("memory_access_type"), [(0x7f10, 2.0)]);
        assert_eq!(list("memory_access_size_type"), [(0x7f10, 128.0)]);
        assert_eq!(metrics.get("memory_type").unwrap().value, None);
        assert_eq!(list("Source/Odd Title"), [(0x7f00, 3.0), (0x7f10, 4.0)]);
    }

    #[test]
    fn repeats_of_a_kernel() {
        let count = |samples: &[u32]| {
            let text: String = samples.iter().map(|samples| block("a", *samples)).collect();
            read_text(&text).kernels.len()
        };
        assert_eq!(count(&[1]), 1);
        assert_eq!(count(&[1, 1]), 1);
        assert_eq!(count(&[1, 1, 2, 2]), 2); // Launches that differ.
        assert_eq!(count(&[1, 1, 1, 1]), 2); // Everything is printed twice.
        assert_eq!(count(&[1, 1, 1]), 1);
        assert_eq!(count(&[1, 2]), 2); // A version that prints once.
        assert_eq!(count(&[1, 1, 1, 1, 2]), 2);
    }

    #[test]
    fn a_cut_export() {
        // Inside the last number: what stands before it is kept, the number is not taken for another.
        let text = RAW.get(..RAW.len() - 6).unwrap(); // ... "nan","","-"  without ,"0"\n
        let report = read_text(text);
        assert_eq!(report.kernels.len(), 2);
        let cut = RAW.find("1,260.736000").unwrap() + 5;
        let report = read_text(RAW.get(..cut).unwrap());
        assert_eq!(report.problems.len(), 1);
        assert!(
            report.kernels[1]
                .metrics()
                .get("gpu__time_duration.sum")
                .is_none()
        );
        let cut = DETAILS.find("435.30").unwrap() + 3;
        let report = read_text(DETAILS.get(..cut).unwrap());
        assert_eq!(report.problems.len(), 1);
        assert_eq!(report.kernels[1].metrics().len(), 0);
        // In the repeat of a block nothing is lost; in its first print the totals are.
        let twice = [block("a", 7), block("a", 7)].concat();
        let report = read_text(twice.get(..twice.len() - 40).unwrap());
        assert_eq!(report.kernels.len(), 1);
        assert_eq!(
            report.kernels[0]
                .metrics()
                .number("smsp__pcsamp_sample_count"),
            Some(12.0)
        );
        let report = read_text(twice.get(..twice.len() / 2 - 4).unwrap());
        assert_eq!(
            report.kernels[0]
                .metrics()
                .number("smsp__pcsamp_sample_count"),
            None
        );
        assert_eq!(report.kernels[0].code.len(), 2);
        // Without the last line end nothing is missing.
        assert_eq!(read_text(RAW.trim_end()).problems, []);
        assert_eq!(read_text(DETAILS.trim_end()).problems, []);
    }

    #[test]
    fn several_pages_in_one_input() {
        let text = [
            RAW,
            "\n",
            DETAILS,
            "==PROF== done\n",
            &block("a", 1),
            &block("a", 1),
            RAW,
        ]
        .concat();
        let report = read_text(&text);
        assert_eq!(report.problems, []);
        let pages: Vec<Page> = report.kernels.iter().map(|kernel| kernel.page).collect();
        use Page::{Details, Raw, Source};
        assert_eq!(pages, [Raw, Raw, Details, Details, Source, Raw, Raw]);
    }

    #[test]
    fn other_inputs_are_named() {
        for (text, code, part) in [
            ("", "NCU0001", ""),
            (" \n", "NCU0001", ""),
            ("hello\n", "NCU0002", ""),
            (
                "  Section: Command line profiler metrics\n",
                "NCU0014",
                "--csv --page raw",
            ),
            (
                "==PROF== Connected\n==ERROR== x\n",
                "NCU0014",
                "without a table",
            ),
            (
                "\"File Name\",\"a.cu\"\n\"Line No\",\"Source\"\n\"1\",\"x\"\n",
                "NCU0014",
                "--print-source sass",
            ),
            (
                "\"Process ID\",\"Invocations\",\"Metric Name\",\"Minimum\"\n",
                "NCU0014",
                "--print-summary",
            ),
        ] {
            let error = read(text.as_bytes()).unwrap_err();
            assert_eq!(error.code(), code, "{text}");
            assert!(error.to_string().contains(part), "{error}");
            assert!(!looks_like(text.as_bytes()));
        }
        assert!(!looks_like(b"NVR\0\"ID\",\"Process ID\""));
    }

    #[test]
    fn views_without_addresses_are_refused_with_advice() {
        let text =
            "\"Kernel Name\",\"a\",\n\"#\",\"Source\",\"# Samples\"\n\"1\",\"x = y;\",\"3\"\n";
        let report = read_text(text);
        assert!(report.kernels.is_empty());
        assert!(
            report.problems[0]
                .to_string()
                .contains("--print-source sass")
        );
    }

    /// A page with lines: two files of one kernel, an inlined instruction, rows that are none, quotes that are not
    /// doubled. Addresses run from 0x100 to 0x170.
    fn page_with_lines() -> String {
        let header = |file: &str| {
            format!(
                "\"File Path\",\"{file}\"\n\"Function Name\",\"k(float *)\"\n\
                 \"Line No\",\"Source\",\"Address\",\"Source\",\"# Samples\",\"Address Space\"\n"
            )
        };
        let line = |number: u32, text: &str| {
            format!("\"{number}\",\"{text}\",\"-\",\"-\",\"99\",\"Global(2)\"\n")
        };
        let instruction =
            |address: u64| format!("\"\",\"\",\"{address:#x}\",\"      NOP\",\"2\",\"-\"\n");
        let dots = "\"\",\"\",\"...\",\"...\",\"-\",\"-\"\n";
        [
            header("/src/a.h"),
            line(7, "printf(\"a, %d\", \"b\",\"c\");"),
            instruction(0x110),
            instruction(0x110),
            header("/src/k.cu"),
            line(3, "x = y; // \"open"),
            instruction(0x100),
            dots.to_owned(),
            instruction(0x110),
            instruction(0x120),
            line(4, "}"),
            (0x130..0x180).step_by(16).map(instruction).collect(),
        ]
        .concat()
    }

    #[test]
    fn source_page_with_lines() {
        let page = page_with_lines();
        // Two launches, and another page behind them.
        let report = read_text(&[&*page, &page, RAW].concat());
        assert_eq!(report.problems, []);
        assert_eq!(report.kernels.len(), 4);
        for kernel in &report.kernels[..2] {
            assert_eq!((kernel.page, &*kernel.name), (Page::Source, "k(float *)"));
            let addresses: Vec<u64> = kernel.code.iter().map(|code| code.address).collect();
            assert_eq!(addresses, (0x100..0x180).step_by(16).collect::<Vec<u64>>());
            let lines = |index: usize| -> Vec<(&str, u64)> {
                kernel.code[index]
                    .lines
                    .iter()
                    .map(|line| (&*line.file, line.line))
                    .collect()
            };
            assert_eq!(lines(0), [("/src/k.cu", 3)]);
            assert_eq!(lines(1), [("/src/a.h", 7), ("/src/k.cu", 3)]);
            assert_eq!(lines(7), [("/src/k.cu", 4)]);
            // Each instruction counts once; rows of lines do not.
            let metrics = kernel.metrics();
            assert_eq!(metrics.number("smsp__pcsamp_sample_count"), Some(16.0));
        }
        // Without one of the instructions there is no total.
        let report = read_text(&page.replacen("\"\",\"\",\"0x120\"", "\"\",\"\",\"...\"", 1));
        assert_eq!(report.problems.len(), 1);
        let metrics = report.kernels[0].metrics();
        assert_eq!(metrics.number("smsp__pcsamp_sample_count"), None);
        assert_eq!(
            metrics
                .get("smsp__pcsamp_sample_count")
                .unwrap()
                .by_number()
                .unwrap()
                .len(),
            7
        );
    }

    #[test]
    fn a_kernel_that_is_printed_once_has_totals_when_it_is_whole() {
        let page = |count: u64| -> String {
            let rows = (0..count).map(|i| format!("\"{:#x}\",\"NOP\",\"1\"\n", i * 16));
            "\"Kernel Name\",\"k\",\n\"Address\",\"Source\",\"# Samples\"\n".to_owned()
                + &rows.collect::<String>()
        };
        for (count, total) in [(8, Some(8.0)), (16, Some(16.0)), (7, None), (15, None)] {
            let report = read_text(&page(count));
            let metrics = report.kernels[0].metrics();
            assert_eq!(
                metrics.number("smsp__pcsamp_sample_count"),
                total,
                "{count}"
            );
            assert_eq!(
                report.problems.len(),
                usize::from(total.is_none()),
                "{count}"
            );
        }
        // Several functions of one result, each once.
        let report = read_text(&(page(8) + &page(16)));
        assert_eq!(report.problems, []);
        assert_eq!(report.kernels.len(), 2);
        // Cut inside the last row: behind its quote, and before it.
        let whole = page(8);
        for end in ["\"1\"\n".len(), ",\"1\"\n".len(), "1\"\n".len()] {
            let report = read_text(whole.get(..whole.len() - end).unwrap());
            let metrics = report.kernels[0].metrics();
            assert_eq!(metrics.number("smsp__pcsamp_sample_count"), None, "{end}");
        }
    }

    #[test]
    fn lists_of_instances_behind_texts() {
        let text = "\"ID\",\"Kernel Name\",\"a__x\",\"a__y\",\"a__z\",\"a__n.sum\"\n\
                    \"\",\"\",\"\",\"\",\"\",\"byte\"\n\
                    \"0\",\"k\",\"all (all)\",\"(k)\",\"other (text)\",\"1,024 (1,000; 24)\"\n";
        let report = read_text(text);
        assert_eq!(report.problems, []);
        let metrics = report.kernels[0].metrics();
        assert_eq!(metrics.text("a__x"), Some("all"));
        assert_eq!(metrics.get("a__y").unwrap().value, None);
        assert_eq!(metrics.text("a__z"), Some("other (text)"));
        assert_eq!(metrics.number("a__n.sum"), Some(1024.0));
    }

    #[test]
    fn hostile_shapes_are_bounded() {
        // A million columns.
        let mut wide = String::from("\"ID\",\"Kernel Name\"");
        (0..1_000_000).for_each(|i| wide.extend([",a__", &i.to_string()]));
        wide.push_str("\n\"0\",\"k\",1,2,3\n");
        let report = read_text(&wide);
        assert_eq!(report.kernels[0].metrics().len(), 3);
        assert!(
            report
                .problems
                .iter()
                .any(|problem| problem.code() == "NCU0011")
        );
        // A row of ten million cells.
        let long = format!(
            "{RAW}\"2\",\"761\",\"\",\"\",\"k\"{}\n",
            ",1".repeat(10_000_000)
        );
        let report = read_text(&long);
        assert_eq!(report.kernels.len(), 3);
        // Quotes that open in every line and close nowhere, rows that are none.
        for line in ["\"x\",\"a\"\"\n", "\"9,\"\n", "\"\n", "\"0\",\"a\"b\n"] {
            let noise = format!("{RAW}{}", line.repeat(50_000));
            assert_eq!(read_text(&noise).kernels[0].id, Some(0));
            let noise = format!("{}{}", block("a", 1), line.repeat(50_000));
            assert!(read_text(&noise).kernels[0].code.len() >= 2);
        }
        // Headers without end, each line a table.
        let report = read_text(&"\"ID\",\"Kernel Name\",\"a__b\"\n".repeat(50_000));
        assert!(report.kernels.is_empty());
        let report = read_text(&"\"Kernel Name\",\"a\",\n\"Address\",\"Source\"\n".repeat(20_000));
        assert!(report.problems.len() <= MAX_PROBLEMS + 1);
        // The same for pages with lines: files, functions and columns without number.
        let table =
            "\"File Path\",\"a\"\n\"Function Name\",\"f\"\n\"Line No\",\"Source\",\"Address\"\n";
        assert!(read_text(&table.repeat(20_000)).problems.len() <= MAX_PROBLEMS + 1);
        let files: String = (0..20_000)
            .map(|i| table.replacen("\"a\"", &format!("\"{i}\""), 1))
            .collect();
        assert_eq!(read_text(&files).kernels.len(), 1);
        let names = format!("{table}{}", "\"Function Name\",\"g\"\n".repeat(50_000));
        assert!(read_text(&names).problems.len() <= MAX_PROBLEMS + 1);
        let mut wide = table.trim_end().to_owned();
        (0..60_000).for_each(|i| wide.extend([",\"a__", &i.to_string(), "\""]));
        wide.push_str("\n\"\",\"\",\"0x10\",\"NOP\"\n");
        assert_eq!(read_text(&wide).kernels[0].code.len(), 1);
    }
}
