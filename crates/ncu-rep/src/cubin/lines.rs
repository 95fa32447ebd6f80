//! Line tables: from an offset in the code of a function to file, line and the calls that were inlined there.
//!
//! The table is DWARF with one addition of NVIDIA's. Three things differ from what a usual reader does:
//!
//! * Addresses are zero in the file. A relocation says which function each one belongs to, so rows are kept per
//!   function, and an address without a relocation belongs to none.
//! * The extended opcode [`INLINED`] says that the following rows are code of an inlined function, and which row of the
//!   sequence is the place of the call.
//! * Rows are executed here and not by `gimli`, which counts no rows and may overflow on a hostile line advance.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use gimli::{
    AttributeValue, DebugLine, DebugLineOffset, DwLne, EndianSlice, LineInstruction,
    LineProgramHeader, LittleEndian, Reader as _, Relocate, RelocateReader,
};

use super::{Cubin, Target};
use crate::error::{Error, Kind};
use crate::wire::len;

/// NVIDIA's extended opcode: number of the row of the call site within the sequence, counted from one, and offset of
/// the name of the inlined function in `.debug_str`; two zeros end the inlining.
const INLINED: DwLne = DwLne(0x90);

/// Bytes of the file to a row or a call of the table, at least. One takes as little as a byte of the program and 24 bytes
/// here, up to three times while lists grow. In the cubins of the corpus there are 300 bytes or more to a row.
const BYTES_PER_ROW: u64 = 8;
const ROWS_EXTRA: u64 = 1 << 12;
/// Bytes of the file to a byte of the directory and file lists of one program, at least: `gimli` makes a value of up to 200
/// bytes of each of them.
const BYTES_PER_HEADER_BYTE: u64 = 8;
const HEADER_EXTRA: u64 = 1 << 15;
/// Calls inlined into each other.
const MAX_DEPTH: u32 = 64;
/// Problems that are listed one by one.
const MAX_PROBLEMS: usize = 16;
/// Bytes of paths and names that are read: so many times the size of the sections they come from, and so many more. A
/// directory is joined with each of its files, and names may share bytes.
const TEXT_FACTOR: u64 = 8;
const TEXT_EXTRA: u64 = 1 << 16;
/// What a text takes beside its bytes.
const TEXT_COST: u64 = 64;

/// Stands for "none" where an index is stored.
const NONE: u32 = u32::MAX;

/// The line table of a cubin, decoded.
#[derive(Clone, Debug, Default)]
pub struct LineTable {
    functions: HashMap<String, Vec<Row>>,
    calls: Vec<Call>,
    texts: Texts,
    problems: Vec<Error>,
}

/// A row of the table, good from its offset to that of the next row.
#[derive(Clone, Copy, Debug)]
struct Row {
    offset: u32,
    /// Zero when no line is known from here on.
    line: u32,
    /// Zero for none.
    column: u32,
    file: u32,
    call: u32,
}

/// A function was inlined: which one, where it was called, and what was inlined around that place.
#[derive(Clone, Copy, Debug)]
struct Call {
    function: u32,
    line: u32,
    column: u32,
    file: u32,
    outer: u32,
    depth: u32,
}

/// A place in the source.
#[derive(Clone, Copy)]
pub struct Location<'t> {
    /// The file, directory included, as the compiler stored it.
    pub file: &'t str,
    /// The line, counted from one.
    pub line: u32,
    /// The column, counted from one; NVIDIA's compilers store none.
    pub column: Option<u32>,
    table: &'t LineTable,
    call: u32,
    inner: Option<Row>,
}

/// A call that the compiler replaced by the code of the called function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallSite<'t> {
    /// The mangled name of the function that was inlined.
    pub function: &'t str,
    /// The file of the call.
    pub file: &'t str,
    /// The line of the call, counted from one.
    pub line: u32,
    /// The column of the call.
    pub column: Option<u32>,
}

impl LineTable {
    /// The place in the source of an instruction, given by its offset in the code of a function.
    ///
    /// Where several rows have the address of the instruction, the first one counts, as in the profiler's own source
    /// view; [`Location::inner`] gives the last one. Nothing is returned for a function without line data, for an
    /// offset outside the code, and where the compiler named no line.
    #[must_use]
    pub fn locate(&self, function: &str, offset: u64) -> Option<Location<'_>> {
        let rows = self.functions.get(function)?;
        let offset = u32::try_from(offset).ok()?;
        let end = rows.partition_point(|row| row.offset <= offset);
        let last = rows.get(end.checked_sub(1)?)?;
        let start = rows.partition_point(|row| row.offset < last.offset);
        let first = rows.get(start)?;
        self.location(*first, (last.call != first.call).then_some(*last))
    }

    /// Whether there are lines for a function.
    #[must_use]
    pub fn covers(&self, function: &str) -> bool {
        self.functions.contains_key(function)
    }

    /// Whether there are no lines at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// What could not be read and was left out.
    #[must_use]
    pub fn problems(&self) -> &[Error] {
        &self.problems
    }

    fn location(&self, row: Row, inner: Option<Row>) -> Option<Location<'_>> {
        let file = self.texts.get(row.file)?;
        (row.line > 0).then_some(Location {
            file,
            line: row.line,
            column: (row.column > 0).then_some(row.column),
            table: self,
            call: row.call,
            inner,
        })
    }
}

impl<'t> Location<'t> {
    /// The calls through which this place got into the function, from the innermost outward. Empty when the place is
    /// in the function itself.
    #[must_use]
    pub fn inlined(&self) -> Inlined<'t> {
        Inlined {
            table: self.table,
            call: self.call,
        }
    }

    /// The place inside an inlined function, where this place is the call and the instruction belongs to both.
    #[must_use]
    pub fn inner(&self) -> Option<Location<'t>> {
        let inner = self.table.location(self.inner?, None)?;
        inner
            .inlined()
            .any(|call| (call.file, call.line) == (self.file, self.line))
            .then_some(inner)
    }
}

/// Places are equal when file, line, column and calls are.
impl PartialEq for Location<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.file, self.line, self.column) == (other.file, other.line, other.column)
            && self.inlined().eq(other.inlined())
    }
}

impl fmt::Debug for Location<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Location")
            .field("file", &self.file)
            .field("line", &self.line)
            .field("column", &self.column)
            .field("inlined", &self.inlined())
            .field("inner", &self.inner())
            .finish_non_exhaustive()
    }
}

/// Iterates over inlined calls, from the innermost outward.
#[derive(Clone)]
pub struct Inlined<'t> {
    table: &'t LineTable,
    call: u32,
}

impl<'t> Iterator for Inlined<'t> {
    type Item = CallSite<'t>;

    fn next(&mut self) -> Option<Self::Item> {
        // A call names only one that was made before it, so this ends.
        let call = self.table.calls.get(usize::try_from(self.call).ok()?)?;
        self.call = call.outer;
        Some(CallSite {
            function: self.table.texts.get(call.function)?,
            file: self.table.texts.get(call.file)?,
            line: call.line,
            column: (call.column > 0).then_some(call.column),
        })
    }
}

impl fmt::Debug for Inlined<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

/// Paths and names, each stored once.
#[derive(Clone, Debug, Default)]
struct Texts {
    list: Vec<Arc<str>>,
    index: HashMap<Arc<str>, u32>,
}

impl Texts {
    fn get(&self, index: u32) -> Option<&str> {
        self.list
            .get(usize::try_from(index).ok()?)
            .map(|text| &**text)
    }

    /// Adds a text that is new.
    fn add(&mut self, text: String) -> u32 {
        let Ok(index) = u32::try_from(self.list.len()) else {
            return NONE;
        };
        let text = Arc::<str>::from(text);
        self.index.insert(Arc::clone(&text), index);
        self.list.push(text);
        index
    }
}

/// Notes where in the section the last address was read: there lies its relocation.
#[derive(Clone, Copy, Debug)]
struct Places<'p>(&'p Cell<Option<usize>>);

impl Relocate<usize> for Places<'_> {
    fn relocate_address(&self, offset: usize, value: u64) -> gimli::Result<u64> {
        self.0.set(Some(offset));
        Ok(value)
    }

    fn relocate_offset(&self, _: usize, value: usize) -> gimli::Result<usize> {
        Ok(value)
    }
}

type Slice<'p> = EndianSlice<'p, LittleEndian>;
type Bytes<'p> = RelocateReader<Slice<'p>, Places<'p>>;
type Header<'p> = LineProgramHeader<Bytes<'p>>;

pub(super) fn decode(cubin: &Cubin<'_>) -> LineTable {
    let size = len(cubin.debug_line)
        .saturating_add(len(cubin.debug_str))
        .saturating_add(len(cubin.debug_line_str));
    let text_limit = size.saturating_mul(TEXT_FACTOR).saturating_add(TEXT_EXTRA);
    let rows_limit = (cubin.size / BYTES_PER_ROW).saturating_add(ROWS_EXTRA);
    let mut decoder = Decoder {
        cubin,
        text_limit,
        text_left: text_limit,
        place: 0,
        rows: vec![Vec::new(); cubin.functions.len()],
        rows_limit,
        rows_left: rows_limit,
        header_limit: (cubin.size / BYTES_PER_HEADER_BYTE).saturating_add(HEADER_EXTRA),
        names: HashMap::new(),
        unplaced: 0,
        problems_left: MAX_PROBLEMS,
        table: LineTable::default(),
    };
    decoder.programs();
    decoder.finish()
}

struct Decoder<'c, 'a> {
    cubin: &'c Cubin<'a>,
    text_limit: u64,
    text_left: u64,
    /// Where the current program starts in the section.
    place: u64,
    /// For each function its rows so far.
    rows: Vec<Vec<Row>>,
    rows_limit: u64,
    rows_left: u64,
    header_limit: u64,
    /// Names of inlined functions by their offset in `.debug_str`.
    names: HashMap<u64, u32>,
    /// Sequences that belong to no function.
    unplaced: u64,
    problems_left: usize,
    table: LineTable,
}

/// The files of one program: those of the header and those that the program itself defines.
struct Files<'h, 'p> {
    header: &'h Header<'p>,
    defined: Vec<u32>,
    known: HashMap<u64, u32>,
}

/// One sequence of rows while it is read.
#[derive(Default)]
struct Sequence {
    rows: Vec<Row>,
    function: Option<usize>,
    offset: u64,
    line: u64,
    file: u64,
    column: u64,
    call: u32,
    /// Why the sequence cannot be used.
    fault: Option<&'static str>,
}

impl Sequence {
    fn reset(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        *self = Self {
            rows,
            line: 1,
            file: 1,
            call: NONE,
            ..Self::default()
        };
    }

    fn advance(&mut self, count: u64, header: &Header<'_>) {
        let step = u64::from(header.minimum_instruction_length());
        match count
            .checked_mul(step)
            .and_then(|bytes| self.offset.checked_add(bytes))
        {
            Some(offset) => self.offset = offset,
            None => self.fault = Some("an address overflows"),
        }
    }
}

impl<'c> Decoder<'c, '_> {
    fn problem(&mut self, error: Error) {
        if self.table.problems.last() == Some(&error) {
            return;
        }
        if let Some(left) = self.problems_left.checked_sub(1) {
            self.problems_left = left;
            self.table.problems.push(error);
        }
    }

    fn fault(&mut self, reason: impl Into<Cow<'static, str>>) {
        let place = self.cubin.debug_line_offset.saturating_add(self.place);
        self.problem(Error::new(Kind::Cubin(reason.into()), place, ".debug_line"));
    }

    /// Accounts for text that is read; false when there is no more room.
    fn charge(&mut self, size: u64) -> bool {
        if self.text_left == 0 {
            return false;
        }
        self.text_left = self.text_left.saturating_sub(size);
        if self.text_left == 0 {
            let limit = self.text_limit;
            self.problem(Error::new(
                Kind::Swollen { limit },
                None,
                "paths and names of .debug_line",
            ));
        }
        self.text_left > 0
    }

    /// Reads one program after the other; a damaged one is skipped by its length.
    fn programs(&mut self) {
        let bytes: &'c [u8] = self.cubin.debug_line;
        let spot = Cell::new(None);
        let section = Bytes::new(EndianSlice::new(bytes, LittleEndian), Places(&spot));
        let section = DebugLine::from(section);
        let mut rest = bytes;
        while !rest.is_empty() && self.rows_left > 0 {
            self.place = len(bytes).saturating_sub(len(rest));
            let Some(bounds) = Bounds::read(rest) else {
                return self.fault("a line program breaks off");
            };
            rest = bounds.rest;
            if bounds.empty {
                continue;
            }
            if bounds.header > self.header_limit {
                self.fault("the file list of a line program is too long");
                continue;
            }
            let Ok(start) = usize::try_from(self.place) else {
                return;
            };
            match section.program(DebugLineOffset(start), 8, None, None) {
                Ok(program) => self.program(program.header(), &spot),
                Err(error) => self.fault(error.to_string()),
            }
        }
    }

    fn program(&mut self, header: &Header<'_>, spot: &Cell<Option<usize>>) {
        if header.maximum_operations_per_instruction() != 1 {
            return self.fault("a line program has several operations per instruction");
        }
        let mut files = Files {
            header,
            defined: Vec::new(),
            known: HashMap::new(),
        };
        let mut sequence = Sequence::default();
        sequence.reset();
        let mut instructions = header.instructions();
        loop {
            let instruction = match instructions.next_instruction(header) {
                Ok(Some(instruction)) => instruction,
                Ok(None) => break,
                Err(error) => {
                    self.fault(error.to_string());
                    break;
                }
            };
            match instruction {
                LineInstruction::Special(opcode) => {
                    let code = opcode.saturating_sub(header.opcode_base());
                    let range = header.line_range();
                    let advance = code.checked_rem(range).unwrap_or(0);
                    sequence.line = sequence
                        .line
                        .wrapping_add_signed(i64::from(header.line_base()))
                        .wrapping_add(u64::from(advance));
                    sequence.advance(u64::from(code.checked_div(range).unwrap_or(0)), header);
                    self.row(&mut sequence, &mut files);
                }
                LineInstruction::Copy => self.row(&mut sequence, &mut files),
                LineInstruction::AdvancePc(count) => sequence.advance(count, header),
                LineInstruction::AdvanceLine(count) => {
                    sequence.line = sequence.line.wrapping_add_signed(count);
                }
                LineInstruction::SetFile(file) => sequence.file = file,
                LineInstruction::SetColumn(column) => sequence.column = column,
                LineInstruction::ConstAddPc => {
                    let code = u8::MAX.saturating_sub(header.opcode_base());
                    sequence.advance(
                        u64::from(code.checked_div(header.line_range()).unwrap_or(0)),
                        header,
                    );
                }
                LineInstruction::FixedAddPc(bytes) => {
                    sequence.offset = sequence.offset.saturating_add(u64::from(bytes));
                }
                LineInstruction::SetAddress(stored) => {
                    self.address(&mut sequence, spot.take(), stored)
                }
                LineInstruction::DefineFile(entry) => {
                    let path = self.path(&entry, header);
                    files.defined.push(path);
                }
                LineInstruction::UnknownExtended(INLINED, operands) => {
                    self.inlined(&mut sequence, operands)
                }
                LineInstruction::EndSequence => {
                    self.end(&mut sequence);
                    sequence.reset();
                }
                _ => {}
            }
            if self.rows_left == 0 {
                self.problem(Error::new(
                    Kind::TooMany {
                        limit: self.rows_limit,
                    },
                    None,
                    "rows of .debug_line",
                ));
                break;
            }
        }
        if !sequence.rows.is_empty() {
            self.fault("a sequence of lines has no end");
        }
    }

    /// An address: its relocation says which function it belongs to.
    fn address(&self, sequence: &mut Sequence, spot: Option<usize>, stored: u64) {
        let place = spot.and_then(|spot| u64::try_from(spot).ok());
        let Some(target) = place.and_then(|place| find(&self.cubin.targets, place)) else {
            match sequence.rows.is_empty() {
                true => sequence.function = None,
                false => sequence.fault = Some("an address inside a sequence has no relocation"),
            }
            return;
        };
        if !sequence.rows.is_empty() && sequence.function != Some(target.function) {
            sequence.fault = Some("a sequence of lines spans several functions");
        }
        sequence.function = Some(target.function);
        let stored = if target.add_stored { stored } else { 0 };
        match target.offset.checked_add(stored) {
            Some(offset) => sequence.offset = offset,
            None => sequence.fault = Some("an address overflows"),
        }
    }

    fn row(&mut self, sequence: &mut Sequence, files: &mut Files<'_, '_>) {
        self.rows_left = self.rows_left.saturating_sub(1);
        let mut row = Row {
            offset: 0,
            line: 0,
            column: 0,
            file: NONE,
            call: sequence.call,
        };
        match u32::try_from(sequence.offset) {
            Ok(offset) => row.offset = offset,
            Err(_) => sequence.fault = Some("an address is far outside the code"),
        }
        row.file = self.file(sequence.file, files);
        if row.file != NONE {
            row.line = u32::try_from(sequence.line).unwrap_or(0);
            row.column = u32::try_from(sequence.column).unwrap_or(0);
        }
        sequence.rows.push(row);
    }

    /// The following rows are code of an inlined function.
    fn inlined(&mut self, sequence: &mut Sequence, mut operands: Bytes<'_>) {
        let (Ok(number), Ok(name)) = (operands.read_uleb128(), operands.read_uleb128()) else {
            sequence.fault = Some("an inlined call breaks off");
            return;
        };
        sequence.call = NONE;
        let Some(site) = number.checked_sub(1) else {
            return;
        };
        // Only rows before this one: so no call can contain itself.
        let Some(&site) = usize::try_from(site)
            .ok()
            .and_then(|site| sequence.rows.get(site))
        else {
            return self.fault("an inlined call names a row that is not there");
        };
        let outer = usize::try_from(site.call)
            .ok()
            .and_then(|call| self.table.calls.get(call));
        let depth = outer.map_or(0, |outer| outer.depth).saturating_add(1);
        if depth > MAX_DEPTH {
            return self.problem(Error::new(
                Kind::TooMany {
                    limit: u64::from(MAX_DEPTH),
                },
                None,
                "calls inlined into each other",
            ));
        }
        let function = self.name(name);
        // A call site without a line says nothing.
        if function == NONE || site.line == 0 {
            return;
        }
        let call = Call {
            function,
            line: site.line,
            column: site.column,
            file: site.file,
            outer: site.call,
            depth,
        };
        sequence.call = u32::try_from(self.table.calls.len()).unwrap_or(NONE);
        self.table.calls.push(call);
        self.rows_left = self.rows_left.saturating_sub(1);
    }

    /// Hands the rows of a sequence to their function.
    fn end(&mut self, sequence: &mut Sequence) {
        self.rows_left = self.rows_left.saturating_sub(1);
        if let Some(fault) = sequence.fault {
            return self.fault(fault);
        }
        let Some((function, rows)) = sequence.function.and_then(|slot| {
            let function = self.cubin.functions.get(slot)?;
            Some((function, self.rows.get_mut(slot)?))
        }) else {
            self.unplaced = self.unplaced.saturating_add(1);
            return;
        };
        let end = sequence.offset.min(len(function.code));
        let Ok(end) = u32::try_from(end) else { return };
        // A row at the end or behind it says nothing about any instruction.
        let count = rows.len();
        rows.extend(sequence.rows.iter().filter(|row| row.offset < end));
        if rows.len() > count {
            rows.push(Row {
                offset: end,
                line: 0,
                column: 0,
                file: NONE,
                call: NONE,
            });
        }
    }

    fn file(&mut self, file: u64, files: &mut Files<'_, '_>) -> u32 {
        if let Some(&index) = files.known.get(&file) {
            return index;
        }
        let index = match files.header.file(file) {
            Some(entry) => self.path(entry, files.header),
            None => {
                // Files that the program defines are numbered after those of the header, which start at one.
                let listed = u64::try_from(files.header.file_names().len()).unwrap_or(u64::MAX);
                let defined = file
                    .checked_sub(listed)
                    .and_then(|n| usize::try_from(n.checked_sub(1)?).ok());
                match defined.and_then(|n| files.defined.get(n)) {
                    Some(&index) => index,
                    None => return NONE,
                }
            }
        };
        files.known.insert(file, index);
        index
    }

    /// Joins directory and file name as they are stored.
    fn path<'p>(&mut self, entry: &gimli::FileEntry<Bytes<'p>>, header: &Header<'p>) -> u32 {
        let Some(name) = self.text(&entry.path_name()) else {
            return NONE;
        };
        let directory = match name.starts_with(['/', '\\']) || name.get(1..2) == Some(":") {
            true => None,
            false => entry
                .directory(header)
                .and_then(|directory| self.text(&directory)),
        };
        let path = match directory {
            Some(directory) if directory.ends_with(['/', '\\']) => directory + &name,
            Some(directory) if !directory.is_empty() => directory + "/" + &name,
            _ => name,
        };
        self.add_text(path)
    }

    fn add_text(&mut self, text: String) -> u32 {
        match self.table.texts.index.get(text.as_str()).copied() {
            Some(index) => index,
            None if self.charge(TEXT_COST) => self.table.texts.add(text),
            None => NONE,
        }
    }

    fn text(&mut self, value: &AttributeValue<Bytes<'_>>) -> Option<String> {
        match value {
            AttributeValue::String(text) => {
                let fits = self.charge(u64::try_from(text.len()).ok()?);
                fits.then(|| text.to_string_lossy().ok().map(Cow::into_owned))?
            }
            AttributeValue::DebugStrRef(offset) => {
                self.string(self.cubin.debug_str, u64::try_from(offset.0).ok()?)
            }
            AttributeValue::DebugLineStrRef(offset) => {
                self.string(self.cubin.debug_line_str, u64::try_from(offset.0).ok()?)
            }
            _ => None,
        }
    }

    /// The text at an offset, up to its zero byte.
    fn string(&mut self, section: &[u8], offset: u64) -> Option<String> {
        let rest = section.get(usize::try_from(offset).ok()?..)?;
        let room = usize::try_from(self.text_left).unwrap_or(usize::MAX);
        let rest = rest.get(..room).unwrap_or(rest);
        let end = rest.iter().position(|&byte| byte == 0);
        let text = rest.get(..end.unwrap_or(rest.len()))?;
        let fits = self.charge(len(text).saturating_add(1)) && end.is_some();
        fits.then(|| String::from_utf8_lossy(text).into_owned())
    }

    fn name(&mut self, offset: u64) -> u32 {
        if let Some(&index) = self.names.get(&offset) {
            return index;
        }
        let index = match self.string(self.cubin.debug_str, offset) {
            Some(name) => self.add_text(name),
            None => {
                self.fault("the name of an inlined function cannot be read");
                NONE
            }
        };
        self.names.insert(offset, index);
        index
    }

    fn finish(mut self) -> LineTable {
        if self.unplaced > 0 {
            self.place = 0;
            self.problems_left = self.problems_left.max(1);
            self.fault(format!(
                "{} sequences of lines name no function of the cubin",
                self.unplaced
            ));
        }
        for (function, mut rows) in self.cubin.functions.iter().zip(self.rows) {
            if rows.is_empty() || self.table.functions.contains_key(&*function.name) {
                continue;
            }
            // Stable: among rows of one offset the order of the file counts. The end of one sequence does not hide the
            // start of the next one.
            rows.sort_by_key(|row| (row.offset, row.file == NONE));
            rows.dedup_by(|next, row| next.offset == row.offset && next.file == NONE);
            rows.shrink_to_fit();
            self.table
                .functions
                .insert(function.name.clone().into_owned(), rows);
        }
        self.table
    }
}

fn find(targets: &[Target], place: u64) -> Option<Target> {
    let at = targets.partition_point(|target| target.place < place);
    targets
        .get(at)
        .copied()
        .filter(|target| target.place == place)
}

/// How far one line program reaches, read before anything else of it is trusted.
struct Bounds<'a> {
    empty: bool,
    /// Bytes of the header after its own length; zero when the program is too short to say.
    header: u64,
    rest: &'a [u8],
}

impl<'a> Bounds<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let (short, bytes) = bytes.split_first_chunk()?;
        let (size, wide, bytes) = match u32::from_le_bytes(*short) {
            u32::MAX => {
                let (size, bytes) = bytes.split_first_chunk()?;
                (u64::from_le_bytes(*size), true, bytes)
            }
            size => (u64::from(size), false, bytes),
        };
        let (body, rest) = bytes.split_at_checked(usize::try_from(size).ok()?)?;
        Some(Self {
            empty: body.is_empty(),
            header: Self::header(body, wide).unwrap_or(0),
            rest,
        })
    }

    fn header(body: &[u8], wide: bool) -> Option<u64> {
        let (version, body) = body.split_first_chunk()?;
        // Since version 5 two sizes of addresses come first.
        let body = if u16::from_le_bytes(*version) >= 5 {
            body.get(2..)?
        } else {
            body
        };
        match wide {
            true => Some(u64::from_le_bytes(*body.first_chunk()?)),
            false => Some(u64::from(u32::from_le_bytes(*body.first_chunk()?))),
        }
    }
}
