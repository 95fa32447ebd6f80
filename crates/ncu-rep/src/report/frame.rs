//! The frame of a report file: magic, file header, blocks and their payload.
//!
//! All integers of the frame are little-endian and 32 bits wide; messages are protocol-buffer wire data. A block is a
//! size, a header message and a payload; the payload is a row of (size, message) entries, sources first, then kernel,
//! range, command-list and graph results. The header tells how many of each.

use std::borrow::Cow;
use std::collections::HashMap;

use super::header::WorkloadKind;
use super::session::SessionBuilder;
use super::source::SourceIndex;
use super::{Problems, Process, Report};
use crate::error::{Error, Kind};
use crate::metric::Names;
use crate::wire::{self, Message, Room};

/// `NVR` and a zero byte.
pub(crate) const MAGIC: [u8; 4] = *b"NVR\0";
/// The format version that every report seen so far has.
pub(crate) const KNOWN_VERSION: u64 = 7;
/// What is kept of a whole report may take so many times its bytes in memory.
pub(crate) const INDEX_FACTOR: u64 = 8;
/// What a string of the table takes beside its text: its place in a list and in a map, both with space to grow.
pub(crate) const STRING_COST: usize = 128;

/// Where a profiled workload lies in the file. Kept small, since it may be as short as four bytes there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Where its message starts; the size is in the four bytes before.
    pub(super) offset: u64,
    /// Its place in the list of processes; [`NO_PROCESS`] for none.
    pub(super) process: u32,
    pub(super) kind: WorkloadKind,
}

const NO_PROCESS: u32 = u32::MAX;

/// The message that starts at an offset, behind its size.
pub(super) fn sized_at(bytes: &[u8], offset: u64) -> Message<'_> {
    let start = usize::try_from(offset).ok();
    let mut cursor = Cursor {
        bytes,
        position: start
            .and_then(|start| start.checked_sub(4))
            .unwrap_or(bytes.len()),
    };
    cursor.sized().unwrap_or(Message::new(&[], offset))
}

/// One kind of payload entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Source,
    Workload(WorkloadKind),
}

/// What a block header says of the payload: the number of entries by kind, in the order in which they stand there.
#[derive(Default)]
pub(crate) struct BlockHeader<'a> {
    sources: u64,
    kernels: u64,
    ranges: u64,
    command_lists: u64,
    graphs: u64,
    payload_size: u64,
    pub(crate) process: Option<Message<'a>>,
}

/// A part of a block header that is more than a number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HeaderPart<'a> {
    Capture(Message<'a>),
    Strings(Message<'a>),
    Unknown,
}

pub(super) fn parse(bytes: &[u8]) -> Result<Report<'_>, Error> {
    let mut reader = Reader {
        cursor: Cursor::open(bytes)?,
        version: None,
        session: SessionBuilder::default(),
        processes: Vec::new(),
        known_processes: HashMap::new(),
        strings: Vec::new(),
        strings_end: false,
        sources: SourceIndex::default(),
        entries: Vec::new(),
        room: Room::new(INDEX_FACTOR, wire::len(bytes)),
        problems: Problems::default(),
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
#[derive(Clone, Copy)]
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

    /// The header of the next block; absent if it is empty, which is a problem.
    pub(crate) fn block_header(
        &mut self,
        problems: &mut Problems,
    ) -> Result<Option<Message<'a>>, Error> {
        let message = self.sized().map_err(|error| error.inside("header"))?;
        if !message.bytes.is_empty() {
            return Ok(Some(message));
        }
        // A copy that broke off may end in zeros, which would pass for blocks without content.
        let zeros = self.rest().iter().take_while(|byte| **byte == 0);
        let zeros = zeros.count() & !3;
        self.position = self.position.saturating_add(zeros);
        let kind = Kind::Wire("it is empty");
        problems.push(Error::new(kind, message.offset, "block header"));
        Ok(None)
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
                        problems.push(error.inside_parent().inside(content.name()));
                        return Ok(());
                    }
                    Err(error) => return Err(error.inside(content.name())),
                }
            }
        }
        if whole.is_ok() && !payload.at_end() {
            let kind = Kind::Unannounced {
                bytes: wire::len(payload.rest()),
            };
            problems.push(Error::new(kind, payload.offset(), "payload"));
        }
        whole.map(|_| ()).map_err(|error| error.inside("payload"))
    }
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    version: Option<u64>,
    session: SessionBuilder<'a>,
    processes: Vec<Process>,
    /// Processes by their messages, since blocks repeat them.
    known_processes: HashMap<&'a [u8], u32>,
    strings: Vec<Cow<'a, str>>,
    /// A string is missing, so that the numbers of those behind it are not known.
    strings_end: bool,
    sources: SourceIndex,
    entries: Vec<Entry>,
    /// What the index may still take, beside entries and sources, which take no more than four times their bytes.
    room: Room,
    problems: Problems,
}

impl<'a> Reader<'a> {
    fn finish(mut self, bytes: &'a [u8]) -> Report<'a> {
        let session = self.session.finish(&mut self.room, &mut self.problems);
        self.sources.finish();
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
            Err(error) => return self.problems.end(error.inside("file header")),
        }
        let mut number = 0_u64;
        // Every report has a block.
        while number == 0 || !self.cursor.at_end() {
            if let Err(error) = self.read_block() {
                // Behind a damaged block header there is no way to find the next block.
                return self.problems.end(error.inside(&format!("block {number}")));
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
        let Some(message) = self.cursor.block_header(&mut self.problems)? else {
            return Ok(());
        };
        let mut problems = std::mem::take(&mut self.problems);
        let header = BlockHeader::decode(message, &mut problems, |part, problems| {
            self.add_part(part, problems);
        });
        self.problems = problems;
        let header = header?;
        let process = header
            .process
            .map_or(NO_PROCESS, |message| self.process_index(message));
        let mut cursor = self.cursor;
        let mut problems = std::mem::take(&mut self.problems);
        let outcome = cursor.payload(&header, &mut problems, |content, message, problems| {
            self.add_entry(content, message, process, problems);
            Ok(())
        });
        self.cursor = cursor;
        self.problems = problems;
        outcome
    }

    fn add_part(&mut self, part: HeaderPart<'a>, problems: &mut Problems) {
        match part {
            HeaderPart::Capture(capture) => {
                if let Err(error) = self.session.add(capture, &mut self.room) {
                    problems.push(error.inside("capture details"));
                }
            }
            HeaderPart::Strings(table) if !self.strings_end => {
                if let Err(error) = self.add_strings(table, problems) {
                    self.strings_end = true;
                    problems.push(error.inside("string table"));
                }
            }
            HeaderPart::Strings(_) | HeaderPart::Unknown => {}
        }
    }

    /// The table is additive: indices run on from block to block.
    fn add_strings(&mut self, table: Message<'a>, problems: &mut Problems) -> Result<(), Error> {
        let mut bad = None;
        for string in strings(table) {
            let message = string?;
            self.room.charge(STRING_COST)?;
            let text = message.text();
            if let Cow::Owned(_) = text {
                bad = bad.or(Some(message.offset));
            }
            self.strings.push(text);
        }
        if let Some(offset) = bad {
            problems.push(Error::new(Kind::Utf8, offset, "string table"));
        }
        Ok(())
    }

    fn process_index(&mut self, message: Message<'a>) -> u32 {
        if let Some(index) = self.known_processes.get(message.bytes) {
            return *index;
        }
        let mut process = Process::default();
        let cost = size_of::<(&[u8], u32)>().saturating_mul(3);
        let outcome = process
            .fill(message)
            .and_then(|()| self.room.charge(cost))
            .and_then(|()| self.room.push(&mut self.processes, process));
        let index = match outcome {
            Ok(()) => u32::try_from(self.processes.len().saturating_sub(1)).unwrap_or(NO_PROCESS),
            Err(error) => {
                self.problems.push(error.inside("process"));
                return NO_PROCESS;
            }
        };
        self.known_processes.insert(message.bytes, index);
        index
    }

    fn add_entry(
        &mut self,
        content: Content,
        message: Message<'a>,
        process: u32,
        problems: &mut Problems,
    ) {
        match content {
            Content::Source => {
                if let Err(error) = self.sources.add(message, process) {
                    problems.push(error.inside("source"));
                }
            }
            Content::Workload(kind) => self.entries.push(Entry {
                offset: message.offset,
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

/// The strings of one part of the string table, up to the first damage.
pub(crate) fn strings(table: Message<'_>) -> impl Iterator<Item = Result<Message<'_>, Error>> {
    table
        .fields()
        .filter(|field| !matches!(field, Ok(field) if field.number != 1))
        .map(move |field| {
            field?.value.message().ok_or_else(|| {
                let kind = Kind::Wire("a string is stored as a number");
                Error::new(kind, table.offset, "")
            })
        })
}

impl<'a> BlockHeader<'a> {
    /// Reads a header and hands over its larger parts. Damage is fatal only where it hides the size of the payload.
    pub(crate) fn decode(
        message: Message<'a>,
        problems: &mut Problems,
        mut visit: impl FnMut(HeaderPart<'a>, &mut Problems),
    ) -> Result<Self, Error> {
        let mut header = Self::default();
        let mut has_size = false;
        for field in message.fields() {
            let field = match field.map_err(|error| error.inside("header")) {
                Ok(field) => field,
                Err(error) if has_size => {
                    problems.push(error);
                    break;
                }
                Err(error) => return Err(error),
            };
            let number = field.value.varint().unwrap_or(0);
            match (field.number, field.value.message()) {
                (1, _) => header.sources = number,
                (2, _) => header.kernels = number,
                (3, Some(capture)) => visit(HeaderPart::Capture(capture), problems),
                (4, Some(table)) => visit(HeaderPart::Strings(table), problems),
                (5, _) => {
                    has_size = true;
                    header.payload_size = number;
                }
                (6, message) => header.process = message,
                (7, _) => header.ranges = number,
                (8, _) => header.command_lists = number,
                (9, _) => header.graphs = number,
                _ => visit(HeaderPart::Unknown, problems),
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
    pub(crate) fn fill(&mut self, message: Message<'_>) -> Result<(), Error> {
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => self.id = field.value.varint().unwrap_or(0),
                2 => self.host = field.value.text().unwrap_or_default().into_owned(),
                3 => self.executable = field.value.text().unwrap_or_default().into_owned(),
                _ => {}
            }
        }
        Ok(())
    }
}
