//! The source page with lines and instructions (`--print-source cuda,sass`): for each file and function a header, a
//! row per line of the file, and below it a row for each of its instructions.
//!
//! Measured on reports of one and of several launches, of inlined and called functions, and of a graph:
//!
//! * A launch whose code comes from several files has a block for each, in the order of their names. Launches are not
//!   repeated.
//! * With several results in a report the instructions of each line are printed twice. An inlined instruction is
//!   printed below its own line and below the line of each call. So an instruction counts once, whatever its rows are.
//! * A row of a line sums its instructions, and gives the text of the file without doubling the quotes in it. A row of
//!   dots stands for instructions between two others that belong to another line.
//!
//! Instructions without a line are missing on this page: a launch has totals only if its addresses leave no gap.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::number::{Style, Vote};
use super::source::{self, Column};
use super::{Kernel, Page, Reader, SourceLine, header_in};
use crate::error::Kind;

/// A launch, from its blocks.
struct Launch {
    kernel: Kernel,
    /// Where its first block stands.
    start: usize,
    files: HashSet<Arc<str>>,
    columns: Vec<Column>,
    /// Places of columns, by the number of the metric's name.
    slots: HashMap<usize, usize>,
    /// Places of instructions in the code, by address.
    places: HashMap<u64, usize>,
    is_cut: bool,
}

/// Reads all blocks that follow each other; the first one's file is at the current place.
pub(super) fn read(reader: &mut Reader<'_>, separator: u8) {
    let mut launches: Vec<Launch> = Vec::new();
    // The last launch of each function.
    let mut latest: HashMap<Arc<str>, usize> = HashMap::new();
    let mut style = None;
    let mut file: Arc<str> = Arc::from("");
    while reader.place < reader.text.len() {
        let line = reader.line();
        let start = reader.place;
        if line.trim().is_empty() {
            reader.skip_line();
        } else if title(line) == Some("File Path") {
            reader.peek(separator);
            file = Arc::from(&*reader.row.get(reader.text, 1));
            reader.skip_line();
        } else if title(line) == Some("Function Name") {
            reader.peek(separator);
            let name: Arc<str> = Arc::from(&*reader.row.get(reader.text, 1));
            reader.skip_line();
            let Some(titles) = titles(reader, separator) else {
                let reason = "no header of a source page follows the name of the function";
                reader.problem(Kind::Csv(Cow::Borrowed(reason)), start, "source page");
                continue;
            };
            let place = match latest.get(&name).copied() {
                Some(place)
                    if launches
                        .get(place)
                        .is_some_and(|launch| !launch.files.contains(&file)) =>
                {
                    place
                }
                _ => {
                    launches.push(Launch {
                        kernel: Kernel::new(Page::Source, Arc::clone(&name)),
                        start,
                        files: HashSet::new(),
                        columns: Vec::new(),
                        slots: HashMap::new(),
                        places: HashMap::new(),
                        is_cut: false,
                    });
                    let place = launches.len().saturating_sub(1);
                    latest.insert(name, place);
                    place
                }
            };
            let style = *style.get_or_insert_with(|| votes(reader, separator));
            if let Some(launch) = launches.get_mut(place) {
                launch.files.insert(Arc::clone(&file));
                launch.read(reader, separator, &titles, style, &file);
            }
        } else {
            break;
        }
    }
    for launch in launches {
        launch.finish(reader);
    }
}

/// Whether a table of this view starts with the line before: names of files and functions, then titles.
pub(super) fn is_header(text: &str, mut place: usize) -> bool {
    let mut has_function = false;
    while place < text.len() {
        let (line, next) = super::rows::line(text, place);
        if title(line) == Some("Function Name") {
            has_function = true;
        } else if !line.trim().is_empty() {
            return has_function && title(line) == Some("Line No") && line.contains("Address");
        }
        place = next;
    }
    false
}

/// The first cell of a line, if it is one of the words that structure this page.
fn title(line: &str) -> Option<&'static str> {
    let line = line.trim_start();
    let line = line.strip_prefix('"').unwrap_or(line);
    ["File Path", "Function Name", "Line No"]
        .into_iter()
        .find(|title| {
            line.strip_prefix(title)
                .is_some_and(|rest| rest.starts_with(['"', ',', ';', '\t']))
        })
}

/// The number of a line, if the row is one of a line.
fn line_number(row: &str) -> Option<u64> {
    let row = row.trim_start();
    let row = row.strip_prefix('"').unwrap_or(row);
    let end = row.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, rest) = row.split_at_checked(end)?;
    match rest.starts_with(['"', ',', ';', '\t']) {
        true => number.parse().ok(),
        false => None,
    }
}

/// The titles of the columns, and moves behind them.
fn titles(reader: &mut Reader<'_>, separator: u8) -> Option<Vec<String>> {
    while reader.place < reader.text.len() && reader.line().trim().is_empty() {
        reader.skip_line();
    }
    if title(reader.line()) != Some("Line No") {
        return None;
    }
    let titles = source::titles(reader, separator);
    if reader.row.is_cut || !titles.iter().any(|title| title == "Address") {
        return None;
    }
    reader.check_length();
    reader.accept();
    Some(titles)
}

/// Whether something else than a row of the current block is at the current place.
fn is_end(line: &str) -> bool {
    title(line).is_some() || header_in(line).is_some()
}

/// How numbers are written, from the instructions ahead. Does not move on.
fn votes(reader: &mut Reader<'_>, separator: u8) -> Style {
    let start = reader.place;
    let mut vote = Vote::default();
    while reader.place < reader.text.len() && !vote.is_settled() && !is_end(reader.line()) {
        if line_number(reader.line()).is_none() {
            reader.peek(separator);
            for index in 4..reader.row.len() {
                vote.add(&reader.row.get(reader.text, index));
            }
        }
        reader.skip_line();
    }
    reader.place = start;
    vote.style(separator)
}

impl Launch {
    /// Reads the rows of a block.
    fn read(
        &mut self,
        reader: &mut Reader<'_>,
        separator: u8,
        titles: &[String],
        style: Style,
        file: &Arc<str>,
    ) {
        let address = titles.iter().position(|title| title == "Address");
        // The text of the line stands before the address, that of the instruction behind it.
        let text = titles.iter().rposition(|title| title == "Source");
        // Columns may differ from block to block.
        let columns: Vec<(usize, usize)> = source::columns(reader, titles)
            .into_iter()
            .map(|column| {
                let index = column.index;
                let place = *self.slots.entry(column.slot).or_insert_with(|| {
                    self.columns.push(column);
                    self.columns.len().saturating_sub(1)
                });
                (index, place)
            })
            .collect();
        let mut number = None;
        while reader.place < reader.text.len() {
            let line = reader.line();
            if is_end(line) {
                break;
            }
            if let Some(found) = line_number(line) {
                number = Some(found);
                reader.skip_line();
                continue;
            }
            if line.trim().is_empty() {
                reader.skip_line();
                continue;
            }
            reader.peek(separator);
            let cell = reader.row.cell(reader.text, address);
            if matches!(&*cell, "..." | "-") {
                reader.accept();
                continue;
            }
            let Some(found) = source::parse_address(&cell) else {
                source::no_address(reader);
                continue;
            };
            self.is_cut |= source::check_whole(reader, titles);
            let place = match self.places.get(&found) {
                Some(place) => *place,
                None => {
                    let place = self.kernel.code.len();
                    self.places.insert(found, place);
                    self.kernel.code.push(super::Instruction {
                        address: found,
                        text: reader.row.cell(reader.text, text).into(),
                        lines: Vec::new(),
                    });
                    for (index, place) in &columns {
                        if let Some(column) = self.columns.get_mut(*place) {
                            column.add(found, &reader.row.get(reader.text, *index), style);
                        }
                    }
                    place
                }
            };
            if let (Some(line), Some(instruction)) = (number, self.kernel.code.get_mut(place)) {
                let known = instruction
                    .lines
                    .iter()
                    .any(|known| known.line == line && known.file == *file);
                if !known && instruction.lines.len() < MAX_LINES {
                    // Most instructions have one.
                    instruction.lines.reserve_exact(1);
                    instruction.lines.push(SourceLine {
                        file: Arc::clone(file),
                        line,
                    });
                }
            }
            reader.accept();
        }
    }

    fn finish(mut self, reader: &mut Reader<'_>) {
        self.kernel.code.sort_by_key(|code| code.address);
        let is_whole = !self.is_cut && source::is_whole(&self.kernel.code);
        if !is_whole && !self.kernel.code.is_empty() {
            let reason = "instructions are missing, so the kernel has no totals; \
                          `--print-source sass` lists all";
            reader.problem(Kind::Csv(Cow::Borrowed(reason)), self.start, "source page");
        }
        for column in self.columns {
            column.finish(is_whole, &mut self.kernel.entries);
        }
        reader.push_kernel(self.kernel);
    }
}

/// Lines kept for an instruction: its own, and those of the calls that it was inlined through.
const MAX_LINES: usize = 64;
