//! The frame of a report file: magic, file header, blocks and their payload.
//!
//! All integers of the frame are little-endian and 32 bits wide; messages are protocol-buffer wire data. A block is a
//! size, a header message and a payload; the payload is a row of (size, message) entries, sources first, then kernel,
//! range, command-list and graph results. The header tells how many of each.

use std::borrow::Cow;

use super::header::WorkloadKind;
use super::session::SessionBuilder;
use super::source::SourceIndex;
use super::{Problems, Process, Report};
use crate::error::{Error, Kind};
use crate::metric::Names;
use crate::wire::{self, Message};

/// `NVR` and a zero byte.
pub(crate) const MAGIC: [u8; 4] = *b"NVR\0";
/// The format version that every report seen so far has.
pub(crate) const KNOWN_VERSION: u64 = 7;
/// Bounds the memory of the string table; real tables hold a few thousand names.
pub(crate) const MAX_STRINGS: usize = 1 << 22;

/// Where a profiled workload lies in the file. Kept small: hostile files announce millions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) offset: u64,
    pub(super) size: u32,
    pub(super) process: Option<u32>,
    pub(super) kind: WorkloadKind,
}

/// One kind of payload entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Source,
    Workload(WorkloadKind),
}

/// Number of entries by kind, in the order in which they stand in the payload.
#[derive(Default)]
pub(crate) struct BlockHeader<'a> {
    sources: u64,
    kernels: u64,
    ranges: u64,
    command_lists: u64,
    graphs: u64,
    payload_size: u64,
    pub(crate) process: Option<Process>,
    pub(crate) capture: Vec<Message<'a>>,
    pub(crate) strings: Vec<Message<'a>>,
}

pub(super) fn parse(bytes: &[u8]) -> Result<Report<'_>, Error> {
    let mut reader = Reader {
        cursor: Cursor::open(bytes)?,
        ..Reader::default()
    };
    reader.read_file();
    Ok(reader.finish(bytes))
}

/// Says what an input that is no report looks like, since the reader of the message wants to know which file to pass.
fn describe(bytes: &[u8]) -> Cow<'static, str> {
    let known: [(&[u8], &str); 7] = [
        (b"\x7fELF", "this is an ELF file (a program or a cubin)"),
        (
            b"SQLite format 3\0",
            "this is an SQLite database (an exported Nsight Systems report?)",
        ),
        (b"PK\x03\x04", "this is a zip archive"),
        (
            b"\x28\xb5\x2f\xfd",
            "this is a zstd stream inside a compressed stream; unpack it once more",
        ),
        (
            b"\x1f\x8b",
            "this is a gzip stream inside a compressed stream; unpack it once more",
        ),
        (b"{", "this is JSON text"),
        (b"%PDF", "this is a PDF document"),
    ];
    if let Some((_, text)) = known.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Cow::Borrowed(text);
    }
    let head = bytes.get(..bytes.len().min(512)).unwrap_or_default();
    if head
        .iter()
        .all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
    {
        return Cow::Borrowed(
            "this is text; if it is an export of ncu, export it again with --csv",
        );
    }
    let start: Vec<String> = head
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Cow::Owned(format!(
        "it starts with bytes {} and not with 4e 56 52 00; Nsight Systems files (.qdrep, .nsys-rep) are another format",
        start.join(" ")
    ))
}

/// A position in the file.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor behind the magic of a report.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Error> {
        if bytes.is_empty() {
            return Err(Error::new(Kind::Empty, 0, ""));
        }
        if !bytes.starts_with(&MAGIC) {
            return Err(Error::new(Kind::NotAReport(describe(bytes)), 0, ""));
        }
        Ok(Self {
            bytes,
            position: MAGIC.len(),
        })
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    fn offset(&self) -> u64 {
        u64::try_from(self.position).unwrap_or(u64::MAX)
    }

    pub(crate) fn at_end(&self) -> bool {
        self.position >= self.bytes.len()
    }

    fn take(&mut self, count: u64) -> Result<Message<'a>, Error> {
        let rest = self.rest();
        let offset = self.offset();
        let head = usize::try_from(count)
            .ok()
            .and_then(|count| rest.get(..count));
        let Some(head) = head else {
            return Err(Error::new(
                Kind::Truncated {
                    needed: count,
                    available: wire::len(rest),
                },
                offset,
                "",
            ));
        };
        self.position = self.position.saturating_add(head.len());
        Ok(Message::new(head, offset))
    }

    fn size(&mut self) -> Result<u32, Error> {
        let offset = self.offset();
        match self.rest().first_chunk::<4>() {
            Some(bytes) => {
                self.position = self.position.saturating_add(4);
                Ok(u32::from_le_bytes(*bytes))
            }
            None => {
                let available = wire::len(self.rest());
                Err(Error::new(
                    Kind::Truncated {
                        needed: 4,
                        available,
                    },
                    offset,
                    "size",
                ))
            }
        }
    }

    /// A message behind its size.
    pub(crate) fn sized(&mut self) -> Result<Message<'a>, Error> {
        let size = self.size()?;
        self.take(u64::from(size))
    }

    /// Goes over the payload of a block, entry by entry. An error of the visitor ends it.
    pub(crate) fn payload(
        &mut self,
        header: &BlockHeader<'a>,
        problems: &mut Problems,
        mut visit: impl FnMut(Content, Message<'a>, &mut Problems) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let start = *self;
        let whole = self.take(header.payload_size);
        // A payload that breaks off still has its first entries.
        let end = match &whole {
            Ok(_) => self.position,
            Err(_) => start.bytes.len(),
        };
        let mut payload = Cursor {
            bytes: start.bytes.get(..end).unwrap_or_default(),
            position: start.position,
        };
        for (content, count) in header.contents() {
            for found in 0..count {
                if payload.at_end() {
                    if whole.is_ok() {
                        let kind = Kind::Count {
                            announced: count,
                            found,
                        };
                        problems.push(Error::new(kind, payload.offset(), content.name()));
                    }
                    break;
                }
                match payload.sized() {
                    Ok(message) => visit(content, message, problems)?,
                    Err(error) if whole.is_ok() => {
                        problems.push(error.inside(content.name()));
                        return Ok(());
                    }
                    Err(error) => return Err(error.inside(content.name())),
                }
            }
        }
        whole.map(|_| ()).map_err(|error| error.inside("payload"))
    }
}

#[derive(Default)]
struct Reader<'a> {
    cursor: Cursor<'a>,
    version: Option<u64>,
    session: SessionBuilder<'a>,
    processes: Vec<Process>,
    strings: Vec<Cow<'a, str>>,
    sources: SourceIndex<'a>,
    entries: Vec<Entry>,
    problems: Problems,
}

impl<'a> Reader<'a> {
    fn finish(mut self, bytes: &'a [u8]) -> Report<'a> {
        let session = self.session.finish(&mut self.problems);
        Report {
            bytes,
            format_version: self.version,
            session,
            processes: self.processes,
            names: Names::new(self.strings),
            sources: self.sources,
            entries: self.entries,
            problems: self.problems.into_vec(),
        }
    }

    fn read_file(&mut self) {
        match self.cursor.sized() {
            Ok(header) => self.read_file_header(header),
            Err(error) => return self.problems.push(error.inside("file header")),
        }
        let mut number = 0_u64;
        while !self.cursor.at_end() {
            if let Err(error) = self.read_block() {
                // Behind a damaged block header there is no way to find the next block.
                return self.problems.push(error.inside(&format!("block {number}")));
            }
            number = number.saturating_add(1);
        }
    }

    fn read_file_header(&mut self, header: Message<'a>) {
        for field in header.fields() {
            match field {
                Ok(field) if field.number == 1 => self.version = field.value.varint(),
                Ok(_) => {}
                Err(error) => self.problems.push(error.inside("file header")),
            }
        }
        if let Some(version) = self.version.filter(|version| *version > KNOWN_VERSION) {
            self.problems.push(Error::new(
                Kind::UnknownVersion(version),
                header.offset,
                "file header",
            ));
        }
    }

    fn read_block(&mut self) -> Result<(), Error> {
        let message = self
            .cursor
            .sized()
            .map_err(|error| error.inside("header"))?;
        let header = BlockHeader::decode(message).map_err(|error| error.inside("header"))?;
        for capture in &header.capture {
            self.session.add(*capture);
        }
        for table in &header.strings {
            if let Err(error) = self.add_strings(*table) {
                self.problems.push(error.inside("string table"));
            }
        }
        let process = header
            .process
            .as_ref()
            .map(|process| self.process_index(process));
        let mut problems = std::mem::take(&mut self.problems);
        let mut cursor = self.cursor;
        let outcome = cursor.payload(&header, &mut problems, |content, message, problems| {
            self.add_entry(content, message, process, problems);
            Ok(())
        });
        self.cursor = cursor;
        self.problems = problems;
        outcome
    }

    /// The table is additive: indices run on from block to block.
    fn add_strings(&mut self, table: Message<'a>) -> Result<(), Error> {
        for field in table.fields() {
            let field = field?;
            if field.number != 1 {
                continue;
            }
            let Some(message) = field.value.message() else {
                continue;
            };
            if self.strings.len() >= MAX_STRINGS {
                return Err(Error::new(
                    Kind::TooMany { limit: 1 << 22 },
                    message.offset,
                    "",
                ));
            }
            let text = message.text();
            if matches!(text, Cow::Owned(_)) {
                self.problems
                    .push(Error::new(Kind::Utf8, message.offset, "string table"));
            }
            self.strings.push(text);
        }
        Ok(())
    }

    fn process_index(&mut self, process: &Process) -> u32 {
        // Blocks of one process follow each other, and there are few processes.
        let place = self
            .processes
            .iter()
            .rposition(|known| known == process)
            .unwrap_or_else(|| {
                self.processes.push(process.clone());
                self.processes.len().saturating_sub(1)
            });
        u32::try_from(place).unwrap_or(u32::MAX)
    }

    fn add_entry(
        &mut self,
        content: Content,
        message: Message<'a>,
        process: Option<u32>,
        problems: &mut Problems,
    ) {
        match content {
            Content::Source => {
                if let Err(error) = self.sources.add(message) {
                    problems.push(error.inside("source"));
                }
            }
            Content::Workload(kind) => self.entries.push(Entry {
                offset: message.offset,
                size: u32::try_from(message.bytes.len()).unwrap_or(u32::MAX),
                process,
                kind,
            }),
        }
    }
}

impl Content {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Workload(kind) => kind.field_name(),
        }
    }
}

impl<'a> BlockHeader<'a> {
    pub(crate) fn decode(message: Message<'a>) -> Result<Self, Error> {
        let mut header = Self::default();
        for field in message.fields() {
            let field = field?;
            let number = field.value.varint().unwrap_or(0);
            match field.number {
                1 => header.sources = number,
                2 => header.kernels = number,
                3 => header.capture.extend(field.value.message()),
                4 => header.strings.extend(field.value.message()),
                5 => header.payload_size = number,
                6 => {
                    if let Some(message) = field.value.message() {
                        header.process = Some(Process::decode(message)?);
                    }
                }
                7 => header.ranges = number,
                8 => header.command_lists = number,
                9 => header.graphs = number,
                _ => {}
            }
        }
        Ok(header)
    }

    fn contents(&self) -> [(Content, u64); 5] {
        [
            (Content::Source, self.sources),
            (Content::Workload(WorkloadKind::Kernel), self.kernels),
            (Content::Workload(WorkloadKind::Range), self.ranges),
            (
                Content::Workload(WorkloadKind::CommandList),
                self.command_lists,
            ),
            (Content::Workload(WorkloadKind::Graph), self.graphs),
        ]
    }
}

impl Process {
    fn decode(message: Message<'_>) -> Result<Self, Error> {
        let mut process = Self::default();
        for field in message.fields() {
            let field = field.map_err(|error| error.inside("process"))?;
            match field.number {
                1 => process.id = field.value.varint().unwrap_or(0),
                2 => process.host = field.value.text().unwrap_or_default().into_owned(),
                3 => process.executable = field.value.text().unwrap_or_default().into_owned(),
                _ => {}
            }
        }
        Ok(process)
    }
}
