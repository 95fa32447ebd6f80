//! The text form: lines behind a prefix, records that end at a bare prefix or where another begins.
#![cfg_attr(
    not(test),
    warn(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

mod line;

use std::borrow::Cow;

use super::record::{
    Access, FaultKind, Memory, Nearest, NoticeKind, Record, Run, Severity, Side, Tool,
};
use super::{Error, Reading};
use line::{digits, host_frame, number_after, place, text_upto, triples};

/// What stands before each line of the tool.
const PREFIX: &str = "=========";
const BANNER: &str = "COMPUTE-SANITIZER";
/// Frames of a stack beyond these are left out, and so are other lines of a record.
const MOST_FRAMES: usize = 64;
const MOST_LINES: usize = 16;
const MOST_ACCESSES: usize = 64;

/// Reads an output in the text form. Lines without the prefix are the program's.
pub(super) fn read(bytes: &[u8]) -> Result<Reading, Error> {
    let mut reader = Reader::default();
    for raw in bytes.split(|byte| *byte == b'\n') {
        let raw = raw.strip_suffix(b"\r").unwrap_or(raw);
        let Some(start) = find(raw, PREFIX.as_bytes()) else {
            continue;
        };
        // A line of a log may have a time or a rank in front; a ruler of the program has more of the same.
        let after = start.saturating_add(PREFIX.len());
        let rest = raw.get(after..).unwrap_or_default();
        if rest.first() == Some(&b'=') {
            continue;
        }
        if rest.is_empty() || rest.first() == Some(&b' ') {
            reader.take(
                start > 0,
                &text_upto(rest.strip_prefix(b" ").unwrap_or(rest)),
            );
        }
    }
    reader.finish();
    if reader
        .runs
        .iter()
        .all(|run| !run.has_banner && run.records.is_empty() && !run.summary.is_there())
    {
        return Err(if bytes.contains(&0) {
            Error::Binary
        } else {
            Error::NotSanitizer
        });
    }
    Ok(Reading {
        runs: reader.runs,
        problem: None,
    })
}

fn find(line: &[u8], what: &[u8]) -> Option<usize> {
    line.windows(what.len()).position(|window| window == what)
}

#[derive(Default)]
struct Reader {
    runs: Vec<Run>,
    /// The run that is being read.
    run: Run,
    record: Option<Record>,
    /// Whether the record's last place lacks a file, which may stand on the next line.
    lacks_file: bool,
    /// Whether something stands before the prefix of each line.
    has_front: bool,
}

impl Reader {
    /// Takes a line of the tool without its prefix and the blank behind it.
    fn take(&mut self, has_front: bool, line: &str) {
        if line.trim_end() == BANNER {
            self.finish();
            self.has_front = has_front;
            self.run.has_banner = true;
            return;
        }
        if has_front && !self.has_front {
            return;
        }
        if line.trim().is_empty() {
            self.close();
        } else if line.starts_with("  ") {
            self.continuation(line);
        } else {
            self.close();
            self.first(line.trim_end());
        }
    }

    fn close(&mut self) {
        self.lacks_file = false;
        if let Some(record) = self.record.take() {
            self.run.keep(record);
        }
    }

    /// Ends the run, if one was begun.
    fn finish(&mut self) {
        self.close();
        let run = std::mem::take(&mut self.run);
        if run != Run::default() {
            self.runs.push(run);
        }
    }

    /// A line that begins something.
    fn first(&mut self, line: &str) {
        if self.summary(line) {
            return;
        }
        let (severity, words) = severity_of(line);
        let plain = words
            .strip_prefix("(Warp Level Programming) ")
            .unwrap_or(words);
        let plain = plain.strip_prefix("Potential ").unwrap_or(plain);
        match FaultKind::of(plain) {
            Some(kind) => {
                let mut record = Record::new(kind, severity.unwrap_or(Severity::Error), line);
                details(&mut record, plain);
                self.lacks_file = record
                    .accesses
                    .first()
                    .is_some_and(|access| access.place.file.is_none());
                self.record = Some(record);
            }
            None => {
                let kind = notice_of(line);
                self.run.note(kind, line);
            }
        }
    }

    /// Whether a line is a summary.
    fn summary(&mut self, line: &str) -> bool {
        let Some((what, counts)) = line.split_once(" SUMMARY: ") else {
            return false;
        };
        let first = digits(counts);
        let run = &mut self.run;
        match what {
            "ERROR" if counts.contains("not printed") => run.summary.not_printed = first,
            "ERROR" => run.summary.errors = first,
            "LEAK" => run.summary.leaked_bytes = first,
            "RACECHECK" => {
                let (_, inner) = counts.split_once('(').unwrap_or_default();
                let (errors, warnings) = inner.split_once(',').unwrap_or((inner, ""));
                run.summary.errors = digits(errors).or(first);
                run.summary.warnings = digits(warnings);
                run.tool = Some(Tool::Racecheck);
            }
            _ => return false,
        }
        true
    }

    /// A line that goes on with a record.
    fn continuation(&mut self, line: &str) {
        let line = line.trim();
        let Some(record) = &mut self.record else {
            // Of something that is no record; a notice may go on too.
            return;
        };
        if self.lacks_file
            && let Some(rest) = line.strip_prefix("in ")
        {
            self.lacks_file = false;
            let (file, number) = line::file_and_line(rest);
            let last = match record.accesses.last_mut() {
                Some(access) => Some(&mut access.place),
                None => record.place.as_mut(),
            };
            if let Some(place) = last {
                place.file = Some(file.to_owned());
                place.line = number;
            }
            return;
        }
        self.lacks_file = goes_on(record, line);
    }
}

/// The severity that a line begins with, and the rest.
fn severity_of(line: &str) -> (Option<Severity>, &str) {
    if let Some((word, rest)) = line.split_once(':')
        && let Some(severity) = Severity::of(word)
    {
        return (Some(severity), rest.trim_start());
    }
    (None, line)
}

fn notice_of(line: &str) -> NoticeKind {
    let has = |part: &str| line.contains(part);
    if has("Internal Sanitizer Error") || has("Internal error") || has("internal error") {
        NoticeKind::InternalError
    } else if has("Target application returned an error")
        || has("doesn't exist or is not a valid executable")
    {
        NoticeKind::TargetFailed
    } else if has("terminated before first instrumented API call") || has("does not use CUDA") {
        NoticeKind::NoCuda
    } else if has("process didn't terminate successfully") {
        NoticeKind::Crashed
    } else if has("not supported") {
        NoticeKind::NotSupported
    } else if line.starts_with("Error:") || line.starts_with("ERROR:") || line.starts_with("Fatal")
    {
        NoticeKind::InternalError
    } else {
        NoticeKind::Other
    }
}

/// What the first line of a record tells beside its kind.
fn details(record: &mut Record, line: &str) {
    let memory = |space: Option<&str>| Memory {
        space: space.map(str::to_owned),
        bytes: number_after(line, "size "),
        ..Memory::default()
    };
    let space = line.split("__").nth(1);
    match record.kind {
        FaultKind::OutOfBounds | FaultKind::Misaligned | FaultKind::InvalidAccess => {
            let direction = line
                .split(' ')
                .find(|word| matches!(*word, "read" | "write" | "atomic"));
            record.memory = Some(Memory {
                direction: direction.map(str::to_owned),
                ..memory(space)
            });
        }
        FaultKind::UninitializedRead => {
            record.memory = Some(Memory {
                direction: Some("read".to_owned()),
                ..memory(space)
            });
        }
        FaultKind::Leak => {
            record.memory = Some(Memory {
                bytes: number_after(line, "Leaked "),
                address: address(line),
                ..Memory::default()
            });
        }
        FaultKind::Race => {
            if let Some((_, rest)) = line.split_once("between ") {
                record.accesses.extend(access(rest));
                record.place = record.accesses.first().map(|access| access.place.clone());
            } else {
                // "RAW hazard detected at __shared__ 0x8 in block (0,0,0) :"
                record.block = triples(line).next();
                record.memory = Some(Memory {
                    address: address(line),
                    ..memory(space)
                });
            }
        }
        _ => {}
    }
}

/// `Write access at PLACE [N hazards]`.
fn access(text: &str) -> Option<Access> {
    let (direction, rest) = text.split_once(" access at ")?;
    let (rest, hazards) = match rest.rfind(" [") {
        Some(at) if rest.trim_end().ends_with(']') => (
            rest.get(..at).unwrap_or(rest),
            rest.get(at..).and_then(digits),
        ),
        _ => (rest, None),
    };
    Some(Access {
        direction: direction.trim().to_ascii_lowercase(),
        place: place(rest),
        thread: None,
        hazards,
    })
}

/// The first number in hexadecimal.
fn address(text: &str) -> Option<String> {
    let start = text.find("0x")?;
    let rest = text.get(start..)?;
    let end = rest
        .char_indices()
        .skip(2)
        .find(|(_, character)| !character.is_ascii_hexdigit())
        .map_or(rest.len(), |(at, _)| at);
    rest.get(..end).map(str::to_owned)
}

/// Adds a line to a record; whether the file of a place may follow on a line of its own.
fn goes_on(record: &mut Record, line: &str) -> bool {
    if let Some(rest) = line.strip_prefix("Device Frame:") {
        if record.device_frames.len() < MOST_FRAMES {
            record.device_frames.push(place(rest.trim_start()));
        }
    } else if let Some(rest) = line.strip_prefix("Host Frame:") {
        if record.host_frames.len() < MOST_FRAMES {
            record.host_frames.push(host_frame(rest.trim_start()));
        }
    } else if line.starts_with("Saved host backtrace") {
        record.host_moment = line
            .rsplit_once(" at ")
            .map(|(_, moment)| moment.to_owned());
    } else if let Some(rest) = line.strip_prefix("by thread") {
        let mut found = triples(rest);
        record.thread = found.next();
        record.block = found.next();
    } else if let Some(rest) = line.strip_prefix("and is ") {
        memory(record).nearest = nearest(rest);
    } else if line.starts_with("Address ") || line.starts_with("Access ") {
        memory(record).address = address(line);
        if record.kind == FaultKind::InvalidAccess {
            if line.contains("misaligned") {
                record.kind = FaultKind::Misaligned;
            } else if line.contains("out of bounds") {
                record.kind = FaultKind::OutOfBounds;
            }
        }
    } else if let Some(rest) = line.strip_prefix("and ")
        && record.kind == FaultKind::Race
    {
        if record.accesses.len() < MOST_ACCESSES {
            record.accesses.extend(access(rest));
        }
    } else if let Some(rest) = line.strip_prefix("at ") {
        let found = place(rest);
        let lacks_file = found.file.is_none();
        if record.place.is_none() {
            record.place = Some(found);
        }
        return lacks_file;
    } else if record.kind == FaultKind::Race
        && (line.starts_with("Write Thread") || line.starts_with("Read Thread"))
    {
        let (direction, rest) = line.split_once(' ').unwrap_or_default();
        let (thread, at) = rest.split_once(" at ").unwrap_or((rest, ""));
        let found = Access {
            direction: direction.to_ascii_lowercase(),
            place: place(at),
            thread: triples(thread).next(),
            hazards: record.accesses.first().map(|_| 1),
        };
        if record.place.is_none() {
            record.place = Some(found.place.clone());
            record.thread = found.thread;
        }
        if record.accesses.len() < MOST_ACCESSES {
            record.accesses.push(found);
        }
    } else if record.more.len() < MOST_LINES {
        record.more.push(line.to_owned());
    }
    false
}

fn memory(record: &mut Record) -> &mut Memory {
    record.memory.get_or_insert_default()
}

/// `N bytes after the nearest allocation at 0xA of size N bytes`.
fn nearest(text: &str) -> Option<Nearest> {
    let (front, rest) = text.split_once("the nearest allocation")?;
    let front = front.trim();
    let side = [Side::Before, Side::Inside, Side::After]
        .into_iter()
        .find(|side| front.ends_with(side.name()))?;
    Some(Nearest {
        side,
        distance_bytes: digits(front),
        size_bytes: number_after(rest, "size "),
    })
}

/// The text of a line that may be of any bytes.
pub(super) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

#[cfg(test)]
mod tests;
