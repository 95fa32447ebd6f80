//! The source page: for each kernel a line with its name, a header, and a row per instruction.
//!
//! Measured: every block is printed twice, launch by launch. So a run of equal blocks is one launch, except where all
//! runs of the table have an even length: then each pair is a launch. Blocks that differ are launches of their own.
//!
//! The totals of the page are sums over rows: measured, they equal the values of the launch. Nothing marks the end of
//! a block, so that a last block without its repeat has no totals.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::number::{self, Style, Vote};
use super::{Entry, Instruction, Kernel, Page, Reader, Table, header_in, labels};
use crate::error::Kind;
use crate::metric::{Instance, Value};

/// A block of the table that is not a repeat of the one before.
struct Block {
    kernel: Kernel,
    /// Where its text stands.
    range: Range<usize>,
    /// How often it is printed in a row.
    times: usize,
}

/// A column that holds a metric.
struct Column {
    index: usize,
    slot: usize,
    name: Cow<'static, str>,
    instances: Vec<Instance<'static>>,
    /// Sum of the instances, as long as all are whole numbers.
    total: Option<f64>,
}

/// Reads all blocks that follow each other; the first one's name is at the current place.
pub(super) fn read(reader: &mut Reader<'_>, separator: u8) {
    let mut blocks: Vec<Block> = Vec::new();
    let mut style = None;
    while matches!(header_in(reader.line()), Some((_, _, Table::Source))) {
        let start = reader.place;
        reader.peek(separator);
        let name = reader.row.get(reader.text, 1).into_owned();
        reader.accept();
        while reader.place < reader.text.len() && reader.line().trim().is_empty() {
            reader.skip_line();
        }
        reader.peek(separator);
        let titles: Vec<String> = (0..reader.row.len())
            .map(|index| reader.row.get(reader.text, index).into_owned())
            .collect();
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
        let kernel = block(reader, separator, name, &titles, address, style, end);
        blocks.push(Block {
            kernel,
            range: start..end,
            times: 1,
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

/// Takes the totals from a last block that was printed once, unless all were: rows of it may be missing, and a sum
/// over the rest would look like a total.
fn distrust_last(reader: &mut Reader<'_>, blocks: &mut [Block]) {
    let prints_once = blocks.len() > 1 && blocks.iter().all(|block| block.times == 1);
    let Some(last) = blocks
        .last_mut()
        .filter(|last| last.times == 1 && last.range.end >= reader.text.len() && !prints_once)
    else {
        return;
    };
    for entry in &mut last.kernel.entries {
        entry.value = None;
    }
    let reason =
        "the last kernel is printed once, not twice: rows may be missing, so it has no totals";
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

/// Reads the rows of a block.
fn block(
    reader: &mut Reader<'_>,
    separator: u8,
    name: String,
    titles: &[String],
    address: usize,
    style: Style,
    end: usize,
) -> Kernel {
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
            let reason = "a row has no address and is left out";
            reader.problem(
                Kind::Csv(Cow::Borrowed(reason)),
                reader.row.start,
                "source page",
            );
            reader.reject();
            continue;
        };
        is_cut |= reader.check_cut(titles.len());
        kernel.code.push(Instruction {
            address,
            text: reader.row.cell(reader.text, source).into_owned(),
        });
        for column in &mut columns {
            let cell = reader.row.get(reader.text, column.index);
            if number::is_absent(&cell) {
                continue;
            }
            let value = match labels::code(&column.name, &cell) {
                Some(code) => Value::U64(code),
                None => match number::number(&cell, style, 0) {
                    Some(value) => value,
                    None => Value::Text(Cow::Owned(cell.into_owned())),
                },
            };
            column.total = match (column.total, value.number()) {
                (Some(total), Some(number)) if number.fract().abs() < f64::EPSILON => {
                    Some(total + number)
                }
                _ => None,
            };
            column.instances.push(Instance {
                key: Some(Value::U64(address)),
                value: Some(value),
            });
        }
        reader.accept();
    }
    kernel.entries = columns
        .into_iter()
        .map(|column| {
            let has_total =
                !is_cut && !column.instances.is_empty() && !labels::is_code(&column.name);
            let value = column.total.filter(|_| has_total).map(Value::F64);
            Entry {
                slot: column.slot,
                value,
                instances: column.instances,
            }
        })
        .collect();
    kernel
}

/// The columns of a block that hold metrics.
fn columns(reader: &mut Reader<'_>, titles: &[String]) -> Vec<Column> {
    let has_samples = titles.iter().any(|title| title == "# Samples");
    let mut seen = HashSet::new();
    let mut columns = Vec::with_capacity(titles.len());
    for (index, title) in titles.iter().enumerate() {
        let title = match title.as_str() {
            "" | "#" | "Address" | "Source" => continue,
            // The same numbers again.
            "Warp Stall Sampling (All Samples)" if has_samples => continue,
            "Warp Stall Sampling (All Samples)" => "# Samples",
            title => title,
        };
        let name =
            labels::source_metric(title).unwrap_or_else(|| Cow::Owned(format!("Source/{title}")));
        let Some(slot) = reader.slot(name.clone()) else {
            continue;
        };
        if seen.insert(slot) {
            columns.push(Column {
                index,
                slot,
                name,
                instances: Vec::new(),
                total: Some(0.0),
            });
        }
    }
    columns
}

/// An address, always in hexadecimal digits, with or without `0x`.
fn parse_address(cell: &str) -> Option<u64> {
    let digits = cell
        .strip_prefix("0x")
        .or_else(|| cell.strip_prefix("0X"))
        .unwrap_or(cell);
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(digits, 16).ok()
}
