//! Makes a report safe to share: what is known to be harmless is copied, everything else is left out or replaced.
//!
//! [`redact`] writes a valid report with the same metrics. It keeps names, values, instances and string numbers of all
//! metrics; sizes of launches; names of the kernels that were profiled, unless told otherwise; load addresses of
//! functions; devices and their attributes; versions; identity, kind, titles, focus metrics and estimates of rules; and
//! of the command line what tells how metrics were collected. It removes or replaces everything else: see [`Subject`].
//!
//! It decides field by field from a list of what may pass, never from what a secret looks like. A field that is not on
//! the list, in a form that is not expected, or damaged, does not pass.
//!
//! What it cannot tell: names of metrics that a user defined in a section file have the form of the profiler's and stay;
//! so do names of kernels by default, which may say what a program does.
//!
//! Memory is bounded by the largest single result, not by the report: a block with several results is written as
//! several blocks with one result each, as newer profilers do themselves.
//!
//! ```
//! # fn main() -> Result<(), ncu_rep::Error> {
//! # let file = include_bytes!("../../../../fixtures/reports/vadd.ncu-rep.zst");
//! # let bytes = ncu_rep::unpack(file, ncu_rep::default_limit(file.len() as u64)).bytes;
//! let mut shared = Vec::new();
//! let redaction = ncu_rep::redact::redact(&bytes, &Default::default(), &mut shared)?;
//! for removal in &redaction.removed {
//!     println!("{}: {}", removal.subject, removal.count);
//! }
//! let report = ncu_rep::Report::parse(&shared)?;
//! assert!(report.problems().is_empty());
//! # Ok(())
//! # }
//! ```

mod command_line;
mod kernels;
mod metrics;
mod schema;
mod subject;
mod vocabulary;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;
use std::io;

pub use subject::Subject;

use crate::encode::Encoder;
use crate::error::{Error, Kind};
use crate::report::frame::{
    BlockHeader, Content, Cursor, HeaderPart, INDEX_FACTOR, KNOWN_VERSION, MAGIC, STRING_COST,
    strings,
};
use crate::report::{Problems, Process, WorkloadKind};
use crate::wire::{Field, Message, Room, Value, len};
use kernels::{Kernels, Shown};
use metrics::Class;
use schema::{Action, Schema, Special};

/// What may be decided about a redaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether kernels lose their names and are numbered instead: `kernel_1`, `kernel_2`, in order of appearance. The
    /// same kernel has the same number everywhere in the report.
    pub rename_kernels: bool,
    /// The metrics to keep; all where absent.
    pub metrics: Option<BTreeSet<String>>,
}

/// One kind of thing that was removed or replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    /// What it was.
    pub subject: Subject,
    /// How often.
    pub count: u64,
    /// Names of the metrics and attributes or of the messages that it was in, where that helps; not all of many.
    pub places: Vec<String>,
}

/// What a redaction did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redaction {
    /// What was removed or replaced.
    pub removed: Vec<Removal>,
    /// Names of kernels that are still in the report, without repetition; names are all that is kept of a program.
    pub kernel_names: Vec<String>,
    /// What could not be read and was left out.
    pub problems: Vec<Error>,
}

/// A redacted report in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redacted {
    /// The report.
    pub bytes: Vec<u8>,
    /// What was done to it.
    pub redaction: Redaction,
}

/// Writes a copy of an unpacked report that is safe to share. See [`crate::unpack`] for compressed ones.
///
/// # Errors
/// When the input is no report, has a newer format version (its fields may have other meanings), or the output cannot
/// be written. Damage in the input is no error: what can be read is redacted, the rest is left out and listed.
pub fn redact(
    report: &[u8],
    options: &Options,
    output: &mut dyn io::Write,
) -> Result<Redaction, Error> {
    let mut cursor = Cursor::open(report)?;
    let header = match cursor.sized() {
        Ok(header) => header,
        Err(error) => return Err(error.inside("file header")),
    };
    let mut version = None;
    for field in header.fields() {
        let field = field.map_err(|error| error.inside("file header"))?;
        if field.number == 1 {
            version = field.value.varint();
        }
    }
    if let Some(newer) = version.filter(|version| *version > KNOWN_VERSION) {
        return Err(Error::new(
            Kind::VersionToRedact(newer),
            header.offset,
            "file header",
        ));
    }

    let mut redactor = Redactor::new(survey(cursor, len(report)), options);
    let mut encoder = Encoder::default();
    if let Some(version) = version {
        encoder.number(1, version);
    }
    let mut sink = Sink {
        output,
        failure: None,
        has_block: false,
    };
    sink.write(&MAGIC)?;
    sink.sized(&encoder)?;
    let mut number = 0_u64;
    while number == 0 || !cursor.at_end() {
        let outcome = redactor.block(&mut cursor, &mut sink);
        if let Some(failure) = sink.failure.take() {
            return Err(failure);
        }
        if let Err(error) = outcome {
            // As in the reader: behind a damaged block header there is no way to find the next block.
            redactor
                .problems
                .push(error.inside(&format!("block {number}")));
            break;
        }
        number = number.saturating_add(1);
    }
    if !sink.has_block {
        // Every report has a block, if only one that says that nothing follows.
        encoder.clear();
        encoder.number(5, 0);
        sink.block(&encoder)?;
    }
    Ok(redactor.finish())
}

/// Redacts a report into memory.
///
/// # Errors
/// As [`redact`].
pub fn redact_to_vec(report: &[u8], options: &Options) -> Result<Redacted, Error> {
    let mut bytes = Vec::new();
    let redaction = redact(report, options, &mut bytes)?;
    Ok(Redacted { bytes, redaction })
}

/// The word in place of the name of a machine.
const HOST: &str = "host";

/// Where the report is written, with the first failure.
struct Sink<'w> {
    output: &'w mut dyn io::Write,
    failure: Option<Error>,
    has_block: bool,
}

impl Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.output.write_all(bytes).map_err(|error| {
            let error = Error::new(Kind::Write(error.to_string()), None, "redacted report");
            self.failure = Some(error.clone());
            error
        })
    }

    /// Writes the header of a block.
    fn block(&mut self, header: &Encoder) -> Result<(), Error> {
        self.has_block = true;
        self.sized(header)
    }

    fn sized(&mut self, message: &Encoder) -> Result<(), Error> {
        let size = size_32(message)?;
        self.write(&size.to_le_bytes())?;
        self.write(message.bytes())
    }
}

fn size_32(message: &Encoder) -> Result<u32, Error> {
    u32::try_from(message.bytes().len()).map_err(|_| {
        let limit = u64::from(u32::MAX);
        Error::new(Kind::MessageSize { limit }, None, "redacted message")
    })
}

/// What is to be known before the first byte is written.
#[derive(Default)]
struct Survey<'a> {
    names: Vec<Cow<'a, str>>,
    kernels: Kernels<'a>,
}

/// Collects the string table and the names of all kernels. Damage is skipped here and reported by the second pass.
fn survey(mut cursor: Cursor<'_>, size: u64) -> Survey<'_> {
    let mut survey = Survey::default();
    let mut ignored = Problems::default();
    // As in the reader: behind a string that is missing, the numbers of strings are not known.
    let mut strings_end = false;
    let mut room = Room::new(INDEX_FACTOR, size);
    while !cursor.at_end() {
        let message = match cursor.block_header(&mut ignored) {
            Ok(Some(message)) => message,
            Ok(None) => continue,
            Err(_) => break,
        };
        let header = BlockHeader::decode(message, &mut ignored, |part, _| {
            let HeaderPart::Strings(table) = part else {
                return;
            };
            for string in strings(table) {
                if strings_end {
                    return;
                }
                match string {
                    Ok(string) if room.charge(STRING_COST).is_ok() => {
                        survey.names.push(string.text());
                    }
                    _ => strings_end = true,
                }
            }
        });
        let Ok(header) = header else {
            break;
        };
        let outcome = cursor.payload(&header, &mut ignored, |content, message, _| {
            if content == Content::Workload(WorkloadKind::Kernel) {
                survey.kernels.add(message);
            }
            Ok(())
        });
        if outcome.is_err() {
            break;
        }
    }
    survey
}

/// Numbers things in order of appearance, from 1.
#[derive(Debug)]
struct Numbering<K>(HashMap<K, u64>);

impl<K> Default for Numbering<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Eq + Hash> Numbering<K> {
    fn number(&mut self, key: K) -> u64 {
        let next = u64::try_from(self.0.len())
            .unwrap_or(u64::MAX)
            .saturating_add(1);
        *self.0.entry(key).or_insert(next)
    }
}

/// Counts what is removed.
#[derive(Debug, Default)]
struct Tally(BTreeMap<Subject, (u64, BTreeSet<String>)>);

impl Tally {
    fn add(&mut self, subject: Subject, count: u64) {
        if count > 0 {
            let (total, _) = self.0.entry(subject).or_default();
            *total = total.saturating_add(count);
        }
    }

    fn add_at(&mut self, subject: Subject, place: &str) {
        const MAX_PLACES: usize = 64;
        self.add(subject, 1);
        let (_, places) = self.0.entry(subject).or_default();
        if places.len() < MAX_PLACES && !places.contains(place) {
            places.insert(place.to_owned());
        }
    }
}

/// Copies messages and decides about their fields.
struct Redactor<'a> {
    names: Vec<Cow<'a, str>>,
    /// Those of them that are shown, in order.
    sorted_names: Vec<Cow<'a, str>>,
    classes: Vec<Class>,
    kernels: Kernels<'a>,
    rename_kernels: bool,
    /// The metrics to keep; all where absent.
    wanted: Option<BTreeSet<String>>,
    processes: Numbering<&'a [u8]>,
    threads: Numbering<u64>,
    functions: Numbering<Cow<'a, str>>,
    objects: Numbering<Cow<'a, str>>,
    files: Numbering<Cow<'a, str>>,
    /// How many strings of the table were written.
    strings: usize,
    tally: Tally,
    problems: Problems,
    /// The result that is being copied.
    current: Current,
}

/// What the parts of a result have to know of it.
#[derive(Debug, Default)]
struct Current {
    /// What is shown of the kernel's names; absent for results that are no kernels.
    kernel: Option<Shown>,
    /// The earliest time of day that is a key of an instance.
    start: Option<u64>,
}

impl<'a> Redactor<'a> {
    fn new(survey: Survey<'a>, options: &Options) -> Self {
        let classes = survey.names.iter().map(|name| Class::of(name)).collect();
        let shown = survey
            .names
            .iter()
            .filter(|name| vocabulary::is_metric(name));
        let mut sorted_names: Vec<_> = shown.cloned().collect();
        sorted_names.sort_unstable();
        Self {
            names: survey.names,
            sorted_names,
            classes,
            kernels: survey.kernels,
            rename_kernels: options.rename_kernels,
            wanted: options.metrics.clone(),
            processes: Numbering::default(),
            threads: Numbering::default(),
            functions: Numbering::default(),
            objects: Numbering::default(),
            files: Numbering::default(),
            strings: 0,
            tally: Tally::default(),
            problems: Problems::default(),
            current: Current::default(),
        }
    }

    /// Whether the report has a metric of this name.
    fn is_metric(&self, name: &str) -> bool {
        let order = self
            .sorted_names
            .binary_search_by(|known| (**known).cmp(name));
        order.is_ok()
    }

    /// Whether the report has a metric of this name or one that starts so.
    fn has_metric(&self, name: &str) -> bool {
        let place = self.sorted_names.partition_point(|known| **known < *name);
        let next = self.sorted_names.get(place);
        next.is_some_and(|known| known.starts_with(name))
    }

    fn finish(self) -> Redaction {
        let removed = self.tally.0.into_iter();
        Redaction {
            removed: removed
                .map(|(subject, (count, places))| Removal {
                    subject,
                    count,
                    places: places.into_iter().collect(),
                })
                .collect(),
            kernel_names: self.kernels.into_shown(),
            problems: self.problems.into_vec(),
        }
    }

    /// Copies a block. Entries beyond the first get blocks of their own.
    fn block(&mut self, cursor: &mut Cursor<'a>, sink: &mut Sink<'_>) -> Result<(), Error> {
        let Some(message) = cursor.block_header(&mut self.problems)? else {
            return Ok(());
        };
        // Capture details, strings and process, as fields of a block header.
        let mut first = Encoder::default();
        let mut problems = std::mem::take(&mut self.problems);
        let header = BlockHeader::decode(message, &mut problems, |part, problems| {
            std::mem::swap(&mut self.problems, problems);
            match part {
                HeaderPart::Capture(capture) => self.capture(capture, &mut first),
                HeaderPart::Strings(table) => self.string_table(table, &mut first),
                HeaderPart::Unknown => self.tally.add_at(Subject::Unknown, "block header"),
            }
            std::mem::swap(&mut self.problems, problems);
        });
        self.problems = problems;
        let header = match header {
            Ok(header) => header,
            Err(error) => {
                // What stands before the damage is kept.
                if !first.bytes().is_empty() {
                    sink.block(&first)?;
                }
                return Err(error);
            }
        };
        let process = header.process.and_then(|process| self.process(process));
        let mut process_field = Encoder::default();
        if let Some(number) = process {
            let open = process_field.open(6);
            process_field.number(1, number);
            process_field.text(2, HOST);
            process_field.text(3, command_line::PROGRAM);
            process_field.close(open);
        }
        let has_header = !first.bytes().is_empty() || process.is_some();

        let mut problems = std::mem::take(&mut self.problems);
        let mut entry = Encoder::default();
        let mut head = Encoder::default();
        let mut count = 0_u64;
        let outcome = cursor.payload(&header, &mut problems, |content, message, problems| {
            std::mem::swap(&mut self.problems, problems);
            entry.clear();
            self.entry(content, message, &mut entry);
            std::mem::swap(&mut self.problems, problems);
            head.clear();
            head.append(&first);
            head.append(&process_field);
            count = count.saturating_add(1);
            let outcome = write_block(&mut head, content, &entry, sink);
            first.clear();
            outcome
        });
        self.problems = problems;
        if count == 0 && has_header {
            first.append(&process_field);
            sink.block(&first)?;
        }
        outcome
    }

    /// The number of a process. Its name and machine are the same for all.
    fn process(&mut self, message: Message<'a>) -> Option<u64> {
        let mut process = Process::default();
        if let Err(error) = process.fill(message) {
            self.problems.push(error.inside("process"));
            return None;
        }
        let number = self.processes.number(message.bytes);
        self.tally
            .add(Subject::Ids, u64::from(process.id != number));
        self.tally
            .add(Subject::Machine, u64::from(process.host != HOST));
        let is_neutral = process.executable == command_line::PROGRAM;
        self.tally.add(Subject::Program, u64::from(!is_neutral));
        Some(number)
    }

    fn capture(&mut self, part: Message<'a>, out: &mut Encoder) {
        let open = out.open(3);
        if let Err(error) = self.copy(&schema::CAPTURE, part, out) {
            self.problems.push(error);
        }
        if out.is_empty(&open) {
            out.discard(open);
        } else {
            out.close(open);
        }
    }

    /// Copies a part of the string table. Every string keeps its number, whether it is let through or not.
    fn string_table(&mut self, table: Message<'a>, out: &mut Encoder) {
        let open = out.open(4);
        let known = self.names.len().saturating_sub(self.strings);
        for text in strings(table).map_while(Result::ok).take(known) {
            let text = text.text();
            if vocabulary::is_metric(&text) || text.is_empty() {
                out.text(1, &text);
            } else {
                let neutral = format!("removed_{}", self.strings);
                self.tally
                    .add(Subject::MetricNames, u64::from(text != neutral));
                out.text(1, &neutral);
            }
            self.strings = self.strings.saturating_add(1);
        }
        for field in table.fields() {
            match field {
                Ok(field) if field.number == 1 && field.value.message().is_some() => {}
                Ok(_) => self.tally.add_at(Subject::Unknown, "string table"),
                Err(error) => self.problems.push(error.inside("string table")),
            }
        }
        if out.is_empty(&open) {
            out.discard(open);
        } else {
            out.close(open);
        }
    }

    fn entry(&mut self, content: Content, message: Message<'a>, out: &mut Encoder) {
        let schema = match content {
            Content::Source => &schema::SOURCE,
            Content::Workload(kind) => {
                self.current = Current {
                    kernel: (kind == WorkloadKind::Kernel)
                        .then(|| self.kernels.show(message, self.rename_kernels)),
                    start: metrics::earliest_time(message, kind),
                };
                let shift = self.current.start.is_some();
                self.tally.add(Subject::Times, u64::from(shift));
                schema::result(kind)
            }
        };
        if let Err(error) = self.copy(schema, message, out) {
            self.problems.push(error);
        }
    }

    /// Copies what a schema lets through, up to the first damage.
    fn copy(
        &mut self,
        schema: &'static Schema,
        message: Message<'a>,
        out: &mut Encoder,
    ) -> Result<(), Error> {
        for field in message.fields() {
            let field = field.map_err(|error| error.inside(schema.name))?;
            let action = schema
                .fields
                .iter()
                .find(|(number, _)| *number == field.number);
            let is_known = match action {
                Some((_, action)) => self
                    .field(*action, field, out)
                    .map_err(|error| error.inside(schema.name))?,
                None => false,
            };
            if !is_known {
                self.tally.add_at(Subject::Unknown, schema.name);
            }
        }
        Ok(())
    }

    /// Does with a field what is to be done; says no if it does not have the expected form.
    fn field(
        &mut self,
        action: Action,
        field: Field<'a>,
        out: &mut Encoder,
    ) -> Result<bool, Error> {
        let number = field.number;
        match action {
            Action::Number => return Ok(copy_if(field, out, |v| matches!(v, Value::Varint(_)))),
            Action::Double => return Ok(copy_if(field, out, |v| matches!(v, Value::Fixed64(_)))),
            Action::Float => return Ok(copy_if(field, out, |v| matches!(v, Value::Fixed32(_)))),
            Action::Remove(subject) => {
                let is_something = match field.value {
                    Value::Bytes(message) => !message.bytes.is_empty(),
                    _ => true,
                };
                self.tally.add(subject, u64::from(is_something));
                return Ok(true);
            }
            _ => {}
        }
        if let Action::Special(Special::Thread) = action {
            let Some(thread) = field.value.varint() else {
                return Ok(false);
            };
            let replacement = self.threads.number(thread);
            self.tally
                .add(Subject::Ids, u64::from(thread != replacement));
            out.number(number, replacement);
            return Ok(true);
        }
        let Some(message) = field.value.message() else {
            return Ok(false);
        };
        match action {
            Action::Words(subject) => self.keep_text(number, message, subject, out, |text| {
                vocabulary::is_words(text)
            }),
            Action::MetricName(subject) => {
                let name = message.text();
                // Rules name their own intermediate results too.
                let is_shown = vocabulary::is_metric(&name) || vocabulary::is_words(&name);
                self.keep_text(number, message, subject, out, |_| is_shown);
            }
            Action::Replace(subject, neutral) => {
                if !message.bytes.is_empty() {
                    let is_neutral = message.bytes == neutral.as_bytes();
                    self.tally.add(subject, u64::from(!is_neutral));
                    out.text(number, neutral);
                }
            }
            Action::Part(schema) => {
                let open = out.open(number);
                if let Err(error) = self.copy(schema, message, out) {
                    out.discard(open);
                    return Err(error);
                }
                out.close(open);
            }
            Action::Item(schema) => self.copy_item(schema, number, message, out),
            Action::Identified(schema, subject) => {
                let id = text_field(message, 1);
                if id.is_some_and(|id| vocabulary::is_words(&id)) {
                    self.copy_item(schema, number, message, out);
                } else {
                    self.tally.add(subject, 1);
                }
            }
            Action::Special(special) => return self.special(special, number, message, out),
            Action::Number | Action::Double | Action::Float | Action::Remove(_) => {}
        }
        Ok(true)
    }

    fn copy_item(
        &mut self,
        schema: &'static Schema,
        number: u32,
        message: Message<'a>,
        out: &mut Encoder,
    ) {
        self.item(number, out, |this, out| {
            // What is left out has no say in how things are numbered.
            whole(message, 0).map_err(|error| error.inside(schema.name))?;
            this.copy(schema, message, out)
        });
    }

    /// Writes a nested message, or nothing of it if it is damaged.
    fn item(
        &mut self,
        number: u32,
        out: &mut Encoder,
        write: impl FnOnce(&mut Self, &mut Encoder) -> Result<(), Error>,
    ) {
        let open = out.open(number);
        match write(self, out) {
            Ok(()) => out.close(open),
            Err(error) => {
                out.discard(open);
                self.problems.push(error);
            }
        }
    }

    fn keep_text(
        &mut self,
        number: u32,
        message: Message<'a>,
        subject: Subject,
        out: &mut Encoder,
        is_harmless: impl FnOnce(&str) -> bool,
    ) {
        let text = message.text();
        if text.is_empty() || is_harmless(&text) {
            out.text(number, &text);
        } else {
            self.tally.add(subject, 1);
        }
    }

    fn special(
        &mut self,
        special: Special,
        number: u32,
        message: Message<'a>,
        out: &mut Encoder,
    ) -> Result<bool, Error> {
        match special {
            Special::Metric if !self.is_wanted(message) => {}
            Special::Metric => self.item(number, out, |this, out| this.metric(message, out)),
            Special::Attribute => {
                // Without a name that may be shown, its value says nothing.
                let name = text_field(message, 1).unwrap_or_default();
                if name.starts_with("device__attribute_") && vocabulary::is_metric(&name) {
                    self.item(number, out, |this, out| this.attribute(message, out));
                } else {
                    self.tally.add(Subject::MetricNames, 1);
                }
            }
            Special::KernelName => self.kernel_name(number, message, out),
            Special::CommandLine => {
                let line = message.text();
                if !line.is_empty() {
                    let (neutral, removed) =
                        command_line::neutral(&line, |metric| self.has_metric(metric));
                    self.tally.add(Subject::CommandLine, removed);
                    out.text(number, &neutral);
                }
            }
            Special::DeviceName => {
                let text = message.text();
                if vocabulary::is_device(&text) {
                    out.text(number, &text);
                } else {
                    self.tally.add(Subject::Components, 1);
                    out.text(number, "GPU");
                }
            }
            Special::Version => self.item(number, out, |this, out| this.version(message, out)),
            Special::FunctionSymbol => {
                let symbol = message.text();
                let kernel = self.kernels.symbol(&symbol, self.rename_kernels);
                match kernel {
                    Some(shown) => {
                        self.tally
                            .add(Subject::KernelNames, u64::from(symbol != shown));
                        out.text(number, &shown);
                    }
                    None => {
                        let names = &mut self.functions;
                        let text = numbered("function", symbol, names, &mut self.tally);
                        out.text(number, &text);
                    }
                }
            }
            Special::ObjectSymbol => {
                let names = &mut self.objects;
                let text = numbered("object", message.text(), names, &mut self.tally);
                out.text(number, &text);
            }
            Special::MarkedFile => {
                let file = message.text();
                if file.is_empty() {
                    out.text(number, "");
                } else {
                    let neutral = format!("source_{}", self.files.number(file.clone()));
                    self.tally
                        .add(Subject::MarkedFiles, u64::from(file != neutral));
                    out.text(number, &neutral);
                }
            }
            Special::Column => self.item(number, out, |this, out| this.column(message, out)),
            // These are handled where their fields are not messages.
            Special::Thread | Special::ColumnNumbers => return Ok(false),
        }
        Ok(true)
    }

    fn kernel_name(&mut self, number: u32, message: Message<'a>, out: &mut Encoder) {
        let name = message.text();
        if name.is_empty() {
            return out.text(number, "");
        }
        let shown = match &self.current.kernel {
            Some(shown) => shown.name(&name),
            None => Cow::Borrowed("kernel"),
        };
        self.tally
            .add(Subject::KernelNames, u64::from(shown != name));
        out.text(number, &shown);
    }

    fn version(&mut self, message: Message<'a>, out: &mut Encoder) -> Result<(), Error> {
        for field in message.fields() {
            let field = field.map_err(|error| error.inside(schema::VERSION.name))?;
            let subject = Subject::Components;
            match (field.number, field.value.message()) {
                (1, Some(message)) => {
                    self.keep_text(1, message, subject, out, vocabulary::is_words)
                }
                (2, Some(message)) => {
                    self.keep_text(2, message, subject, out, vocabulary::is_version)
                }
                _ => self.tally.add_at(Subject::Unknown, schema::VERSION.name),
            }
        }
        Ok(())
    }

    /// A column of a rule's table: numbers stay, and of the texts only opcodes.
    fn column(&mut self, message: Message<'a>, out: &mut Encoder) -> Result<(), Error> {
        /// The type of a column of texts: numbers in one are a sign of damage.
        const TEXTS: u64 = 3;
        let has_opcodes = text_field(message, 1).is_some_and(|name| name == schema::OPCODE_COLUMN);
        let has_texts = message
            .fields()
            .map_while(Result::ok)
            .any(|field| field.number == 2 && field.value.varint() == Some(TEXTS));
        for field in message.fields() {
            let field = field.map_err(|error| error.inside(schema::COLUMN.name))?;
            let is_known = match (field.number, field.value) {
                (4, Value::Bytes(text)) if has_opcodes && vocabulary::is_opcode(&text.text()) => {
                    out.data(4, text.bytes);
                    true
                }
                (5 | 6, _) if has_texts => false,
                (5, Value::Fixed64(_)) | (6, Value::Varint(_)) => {
                    out.scalar(field.number, field.value)
                }
                (5 | 6, Value::Bytes(packed)) if is_packed(field.number, packed) => {
                    out.data(field.number, packed.bytes);
                    true
                }
                _ => {
                    let action = schema::COLUMN
                        .fields
                        .iter()
                        .find(|(number, _)| *number == field.number);
                    match action {
                        Some((_, action)) => self.field(*action, field, out)?,
                        None => false,
                    }
                }
            };
            if !is_known {
                self.tally.add_at(Subject::Unknown, schema::COLUMN.name);
            }
        }
        Ok(())
    }
}

/// Whether bytes are packed numbers of a column. A text would often pass for some, and a damaged length can take one in,
/// so that what holds something like one is not.
fn is_packed(number: u32, packed: Message<'_>) -> bool {
    const SHORTEST_TEXT: usize = 9;
    let holds_text = packed
        .bytes
        .split(|byte| !byte.is_ascii_graphic() && *byte != b' ')
        .any(|run| run.len() >= SHORTEST_TEXT);
    let is_whole = match number {
        5 => packed.bytes.len().is_multiple_of(8),
        _ => packed.packed_varints().all(|value| value.is_ok()),
    };
    is_whole && !holds_text
}

/// Looks for damage in a message, and in its parts down to some depth.
fn whole(message: Message<'_>, depth: u32) -> Result<(), Error> {
    for field in message.fields() {
        if let (Some(part), Some(depth)) = (field?.value.message(), depth.checked_sub(1)) {
            whole(part, depth)?;
        }
    }
    Ok(())
}

fn copy_if(
    field: Field<'_>,
    out: &mut Encoder,
    is_expected: impl FnOnce(Value<'_>) -> bool,
) -> bool {
    is_expected(field.value) && out.scalar(field.number, field.value)
}

/// A symbol without its name. An empty one stays empty.
fn numbered<'a>(
    prefix: &str,
    symbol: Cow<'a, str>,
    names: &mut Numbering<Cow<'a, str>>,
    tally: &mut Tally,
) -> String {
    if symbol.is_empty() {
        return String::new();
    }
    let neutral = format!("{prefix}_{}", names.number(symbol.clone()));
    tally.add(Subject::Symbols, u64::from(symbol != neutral));
    neutral
}

/// The last text of a field, as a reader takes it.
fn text_field(message: Message<'_>, number: u32) -> Option<Cow<'_, str>> {
    message
        .fields()
        .map_while(Result::ok)
        .filter(|field| field.number == number)
        .filter_map(|field| field.value.text())
        .last()
}

/// Writes one block with one entry. `head` holds the fields of the header that are not sizes and counts.
fn write_block(
    head: &mut Encoder,
    content: Content,
    entry: &Encoder,
    sink: &mut Sink<'_>,
) -> Result<(), Error> {
    let size = size_32(entry)?;
    let number = match content {
        Content::Source => 1,
        Content::Workload(WorkloadKind::Kernel) => 2,
        Content::Workload(WorkloadKind::Range) => 7,
        Content::Workload(WorkloadKind::CommandList) => 8,
        Content::Workload(WorkloadKind::Graph) => 9,
    };
    head.number(number, 1);
    head.number(5, len(entry.bytes()).saturating_add(4));
    sink.block(head)?;
    sink.write(&size.to_le_bytes())?;
    sink.write(entry.bytes())
}
