//! The source page: for each kernel a line with its name, a header, and a row per instruction.
//!
//! Measured: in a report of several results every block is printed twice, launch by launch; the blocks of a single
//! result are printed once. So a run of equal blocks is one launch, except where all runs of the table have an even
//! length: then each pair is a launch. Blocks that differ are launches of their own.
//!
//! The totals of the page are sums over rows: measured, they equal the values of the launch. Nothing marks the end of
//! a block. So a last block that is not repeated, while others are, has no totals; and where none is repeated, it has
//! them only if its last row is complete and its code fills whole units of 128 bytes, as compiled code does.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use super::number::{self, Style, Vote};
use super::{Instruction, Kernel, Page, Reader, Table, header_in, labels};
use crate::error::Kind;
use crate::metric::Value;
use crate::packed::{Packed, PackedInstances};

/// A block of the table that is not a repeat of the one before.
struct Block {
    kernel: Kernel,
    /// Where its text stands.
    range: Range<usize>,
    /// How often it is printed in a row.
    times: usize,
    /// Whether no cell is missing.
    is_whole: bool,
}

/// A column that holds a metric.
pub(super) struct Column {
    pub(super) index: usize,
    pub(super) slot: usize,
    name: Cow<'static, str>,
    instances: PackedInstances,
    /// Sum of the instances, as long as all are whole numbers.
    total: Option<f64>,
}

impl Column {
    /// Adds the cell of an instruction.
    pub(super) fn add(&mut self, address: u64, cell: &str, style: Style) {
        if number::is_absent(cell) {
            return;
        }
        let value = match labels::code(&self.name, cell) {
            Some(code) => Value::U64(code),
            None => match number::number(cell, style, 0) {
                Some(value) => value,
                None => Value::Text(Cow::Owned(cell.to_owned())),
            },
        };
        self.total = match (self.total, value.number()) {
            (Some(total), Some(number)) if number.fract().abs() < f64::EPSILON => {
                Some(total + number)
            }
            _ => None,
        };
        self.instances.push(address, Some(&value));
    }

    /// The metric; with a total only if no row is missing.
    pub(super) fn finish(mut self, is_whole: bool, entries: &mut Packed) {
        self.instances.sort();
        let has_total = is_whole && !self.instances.is_empty() && !labels::is_code(&self.name);
        let value = self.total.filter(|_| has_total).map(Value::F64);
        entries.push(self.slot, value.as_ref(), &self.instances);
    }
}

/// Code is compiled in units of 128 bytes: eight instructions, the last ones idle.
const UNIT: usize = 8;
/// Bytes of an instruction, from compute capability 7.0 on.
const INSTRUCTION: u64 = 16;

/// Whether a list of instructions, in the order of addresses, is all of a kernel's code, as far as that can be seen.
pub(super) fn is_whole(code: &[Instruction]) -> bool {
    code.len().is_multiple_of(UNIT)
        && code
            .iter()
            .zip(code.iter().skip(1))
            .all(|(this, next)| this.address.checked_add(INSTRUCTION) == Some(next.address))
}

/// Reads all blocks that follow each other; the first one's name is at the current place.
pub(super) fn read(reader: &mut Reader<'_>, separator: u8) {
    let mut blocks: Vec<Block> = Vec::new();
    let mut style = None;
    while matches!(header_in(reader.line()), Some((_, _, Table::Source))) {
        let start = reader.place;
        reader.peek(separator);
        let name = Arc::from(&*reader.row.get(reader.text, 1));
        reader.accept();
        while reader.place < reader.text.len() && reader.line().trim().is_empty() {
            reader.skip_line();
        }
        let titles = titles(reader, separator);
        if reader.row.is_cut || !titles.iter().any(|title| title == "Source") {
            // The words of the program, or the line is all that is left.
            reader.problem(
                Kind::Csv(Cow::Borrowed(
                    "no header of a source page follows the name of the kernel",
                )),
                start,
                "source page",
            );
            continue;
        }
        let Some(address) = titles.iter().position(|title| title == "Address") else {
            let reason = "this view of the source page has no addresses; export it with `--print-source sass`";
            reader.problem(
                Kind::Csv(Cow::Borrowed(reason)),
                reader.row.start,
                "source page",
            );
            reader.accept();
            continue;
        };
        reader.check_length();
        reader.accept();
        let body = reader.place;
        let end = end_of_block(reader);
        let text = reader.text;
        let is_last = end >= text.len();
        if let Some(last) = blocks.last_mut() {
            let before = text.get(last.range.clone()).unwrap_or("").trim_end();
            let this = text.get(start..end).unwrap_or("").trim_end();
            if before == this {
                last.times = last.times.saturating_add(1);
                reader.place = end;
                continue;
            }
            if is_last && !this.is_empty() && before.starts_with(this) {
                let reason = "the input ends inside the repeat of a kernel; nothing is missing";
                reader.problem(Kind::Csv(Cow::Borrowed(reason)), start, "source page");
                last.times = last.times.saturating_add(1);
                reader.place = end;
                continue;
            }
        }
        let style = *style.get_or_insert_with(|| votes(reader, separator, address, end));
        reader.place = body;
        let (kernel, is_whole) = block(reader, separator, name, &titles, address, style, end);
        blocks.push(Block {
            kernel,
            range: start..end,
            times: 1,
            is_whole,
        });
    }
    distrust_last(reader, &mut blocks);
    let is_paired = blocks.iter().all(|block| block.times.is_multiple_of(2));
    for block in blocks {
        let launches = if is_paired {
            block.times.saturating_div(2).max(1)
        } else {
            1
        };
        reader
            .kernels
            .extend(std::iter::repeat_n(block.kernel, launches));
    }
}

/// Takes the totals from a last block that was printed once, if rows of it may be missing: a sum over the rest would
/// look like a total.
fn distrust_last(reader: &mut Reader<'_>, blocks: &mut [Block]) {
    let prints_once = blocks.iter().all(|block| block.times == 1);
    let Some(last) = blocks
        .last_mut()
        .filter(|last| last.times == 1 && last.range.end >= reader.text.len())
    else {
        return;
    };
    let reason = match prints_once {
        true if last.is_whole && is_whole(&last.kernel.code) => return,
        true => "the code of the last kernel breaks off: rows are missing, so it has no totals",
        false => {
            "the last kernel is printed once, not twice: rows may be missing, so it has no totals"
        }
    };
    last.kernel.entries = last.kernel.entries.without_values();
    reader.problem(
        Kind::Csv(Cow::Borrowed(reason)),
        last.range.start,
        "source page",
    );
}

/// The place where the rows of the current block end.
fn end_of_block(reader: &Reader<'_>) -> usize {
    let mut place = reader.place;
    while place < reader.text.len() {
        let (line, next) = super::rows::line(reader.text, place);
        if header_in(line).is_some() {
            break;
        }
        place = next;
    }
    place
}

/// How numbers are written in a block.
fn votes(reader: &mut Reader<'_>, separator: u8, address: usize, end: usize) -> Style {
    let mut vote = Vote::default();
    while reader.place < end && !vote.is_settled() {
        reader.peek(separator);
        for index in (0..reader.row.len()).filter(|index| *index != address) {
            vote.add(&reader.row.get(reader.text, index));
        }
        reader.accept();
    }
    vote.style(separator)
}

/// The titles of the columns, which are the row at the current place.
pub(super) fn titles(reader: &mut Reader<'_>, separator: u8) -> Vec<String> {
    reader.peek(separator);
    (0..reader.row.len())
        .map(|index| reader.row.get(reader.text, index).into_owned())
        .collect()
}

/// Says whether cells of the current row are missing, which is that of an instruction.
pub(super) fn check_whole(reader: &mut Reader<'_>, titles: &[String]) -> bool {
    let count = titles
        .iter()
        .rposition(|title| !title.is_empty())
        .map_or(0, |last| last.saturating_add(1));
    let is_cut = reader.check_cut(count);
    // Digits that end the text without a line end may be the first ones of a number.
    let may_be_cut = reader.row.is_last && !reader.text.ends_with(['"', '\n', '\r']);
    is_cut || may_be_cut || reader.row.len() < count
}

/// Leaves out the current row, which names no instruction.
pub(super) fn no_address(reader: &mut Reader<'_>) {
    let reason = "a row has no address and is left out";
    reader.problem(
        Kind::Csv(Cow::Borrowed(reason)),
        reader.row.start,
        "source page",
    );
    reader.reject();
}

/// Reads the rows of a block; also says whether none of their cells is missing.
fn block(
    reader: &mut Reader<'_>,
    separator: u8,
    name: Arc<str>,
    titles: &[String],
    address: usize,
    style: Style,
    end: usize,
) -> (Kernel, bool) {
    let mut kernel = Kernel::new(Page::Source, name);
    let mut columns = columns(reader, titles);
    let source = titles.iter().position(|title| title == "Source");
    let mut is_cut = false;
    while reader.place < end {
        if reader.line().trim().is_empty() {
            reader.skip_line();
            continue;
        }
        reader.peek(separator);
        let Some(address) = parse_address(&reader.row.get(reader.text, address)) else {
            no_address(reader);
            continue;
        };
        is_cut |= check_whole(reader, titles);
        kernel.code.push(Instruction {
            address,
            text: reader.row.cell(reader.text, source).into(),
            lines: Vec::new(),
        });
        for column in &mut columns {
            column.add(address, &reader.row.get(reader.text, column.index), style);
        }
        reader.accept();
    }
    for column in columns {
        column.finish(!is_cut, &mut kernel.entries);
    }
    kernel.entries.shrink();
    (kernel, !is_cut)
}

/// The columns of a block that hold metrics.
pub(super) fn columns(reader: &mut Reader<'_>, titles: &[String]) -> Vec<Column> {
    let has_samples = titles.iter().any(|title| title == "# Samples");
    let mut seen = HashSet::new();
    let mut columns = Vec::with_capacity(titles.len());
    for (index, title) in titles.iter().enumerate() {
        let title = match title.as_str() {
            "" | "#" | "Line No" | "Address" | "Source" => continue,
            // The same numbers again.
            "Warp Stall Sampling (All Samples)" if has_samples => continue,
            "Warp Stall Sampling (All Samples)" => "# Samples",
            title => title,
        };
        let name =
            labels::source_metric(title).unwrap_or_else(|| Cow::Owned(format!("Source/{title}")));
        let Some(slot) = reader.slot(&name) else {
            continue;
        };
        if seen.insert(slot) {
            columns.push(Column {
                index,
                slot,
                name,
                instances: PackedInstances::default(),
                total: Some(0.0),
            });
        }
    }
    columns
}

/// An address, always in hexadecimal digits, with or without `0x`.
pub(super) fn parse_address(cell: &str) -> Option<u64> {
    let digits = cell
        .strip_prefix("0x")
        .or_else(|| cell.strip_prefix("0X"))
        .unwrap_or(cell);
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(digits, 16).ok()
}
