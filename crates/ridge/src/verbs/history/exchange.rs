//! Results from and to files and other stores.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::UNIX_EPOCH;

use ridge_history::address::without_secrets;
use ridge_history::exchange::Unpacked;
use ridge_history::{
    Batch, Circumstances, Error, Filter, Id, Inserted, Labels, Record, Timestamp, exchange,
};
use ridge_model::quantity::counted;

use super::open_to_write;
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::filter::Address;
use crate::history::{StorePlace, expected};
use crate::input::Input;
use crate::output::Output;

/// What is imported.
const EXPECTED: &str = "name what `ridge bench`, `why`, `timeline` or `ceilings` wrote with --format json, or what `ridge history export` wrote";

pub(super) fn import(
    place: &StorePlace,
    files: &[OsString],
    labels: &Labels,
    output: &Output,
) -> Result<Code, ExpectedError> {
    let mut store = open_to_write(place)?;
    let mut code = exit::FINE;
    let mut all = Inserted::default();
    let mut left_out = 0;
    for file in files {
        let mut batch = Batch::new(store.as_mut());
        let mut refused = Refused::default();
        let read = read(file, labels, &mut batch, &mut refused, output);
        // Results before a damaged part are stored.
        let stored = batch.finish().map_err(|error| expected(&error));
        match stored {
            Ok(inserted) => all += inserted,
            Err(error) => return Err(error),
        }
        let name = file.to_string_lossy();
        let name = without_secrets(&name);
        if refused.count > 0 {
            let lines = match refused.count {
                1 => "1 line is no result".to_owned(),
                count => format!("{count} lines are no results"),
            };
            let hint = "export them again where they come from; no line counts twice";
            refused.say(&name, &lines, hint, output);
            left_out += refused.count;
            code = code.and(exit::UNREADABLE);
        }
        if let Err(mut error) = read {
            error.message = format!("{name}: {}", error.message);
            output.complain(&error);
            code = code.and(error.exit);
        }
    }
    let mut said = format!("{} to {}", words(all), store.place());
    if left_out > 0 {
        said = format!("{said}; {} left out", counted(left_out, "line"));
    }
    output.write(&super::line(&said))?;
    Ok(code)
}

/// What a store did not take.
#[derive(Default)]
struct Refused {
    count: u64,
    first: Vec<String>,
}

impl Refused {
    /// As many are named; what is wrong with a thousand is mostly one thing.
    const NAMED: usize = 5;

    fn add(&mut self, text: String) {
        self.count += 1;
        if self.first.len() < Self::NAMED {
            self.first.push(text);
        }
    }

    /// Says what was left out of a file or a store, such as `2 lines are no results`, and what helps.
    fn say(&self, of: &str, what: &str, hint: &str, output: &Output) {
        output.complain(&ExpectedError::unreadable(format!(
            "{of}: {what}, and left out; the others are stored"
        )));
        for one in &self.first {
            output.detail(one);
        }
        if self.count > Self::NAMED as u64 {
            output.detail(&format!("and {} more", self.count - Self::NAMED as u64));
        }
        output.hint(hint);
    }
}

pub(super) fn words(inserted: Inserted) -> String {
    match (inserted.added, inserted.known) {
        (added, 0) => format!("{} added", counted(added, "result")),
        (added, known) => format!("{} added, {known} known before,", counted(added, "result")),
    }
}

/// Puts what a file holds into a store: lines for exchange, or one document, by what it begins with.
fn read(
    file: &OsStr,
    labels: &Labels,
    batch: &mut Batch<'_>,
    refused: &mut Refused,
    output: &Output,
) -> Result<(), ExpectedError> {
    let failed = |error: io::Error| {
        let reason = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".to_owned(),
            _ => error.to_string(),
        };
        ExpectedError::unreadable(format!("cannot read it: {reason}")).with_hint(EXPECTED)
    };
    let of_batch = |error: Error| expected(&error);
    let mut input = if file == "-" {
        Unpacked::new(io::stdin().lock())
    } else {
        File::open(file).and_then(Unpacked::new)
    }
    .map_err(failed)?;
    if input.looks_like_lines().map_err(failed)? {
        return exchange::read_lines(input, &mut |record| batch.add(record), &mut |error| {
            refused.add(match error {
                Error::Line { line, reason } => format!("line {line}: {reason}"),
                other => other.to_string(),
            });
        })
        .map_err(of_batch);
    }
    let record = if file == "-" {
        record(&input.document().map_err(failed)?, file, labels)?
    } else {
        read_document(file, labels, output)?
    };
    batch.add(record).map_err(of_batch)
}

/// The record of a document. When it was made is when its file was written; of standard input, now.
fn read_document(file: &OsStr, labels: &Labels, output: &Output) -> Result<Record, ExpectedError> {
    let input =
        Input::open(&Address::whole(file), output).map_err(|error| error.with_hint(EXPECTED))?;
    if let Some(problem) = &input.problem {
        return Err(ExpectedError::unreadable(problem.to_string()));
    }
    record(input.bytes(), file, labels)
}

fn record(document: &[u8], file: &OsStr, labels: &Labels) -> Result<Record, ExpectedError> {
    let written = std::fs::metadata(file)
        .and_then(|facts| facts.modified())
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .and_then(|since| i64::try_from(since.as_micros()).ok());
    let circumstances = Circumstances {
        time: Some(written.map_or_else(crate::history::now, Timestamp::from_micros)),
        labels: labels.clone(),
        name: Path::new(file)
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned()),
        ..Circumstances::default()
    };
    Record::of_document(document, circumstances).map_err(|error| expected(&error))
}

pub(super) fn export(
    place: &StorePlace,
    filter: &Filter,
    output: &Output,
) -> Result<Code, ExpectedError> {
    /// Twice as small as the fastest level for repetitive JSON, and still faster than disks.
    const LEVEL: i32 = 3;
    let mut store = place.open_existing()?;
    let is_packed = match output.extension().as_deref() {
        None | Some("jsonl" | "json" | "ndjson") => false,
        Some("zst" | "zstd") => true,
        Some(other) => {
            return Err(ExpectedError::usage(format!(
                "the extension {other:?} of the output file names no format of `ridge history export`"
            ))
            .with_hint("name a file that ends in .jsonl or .jsonl.zst"));
        }
    };
    let mut failure = None;
    let mut count = 0;
    output.stream(|sink| {
        let mut write = |sink: &mut dyn Write| {
            store.for_each(filter, &mut |record| {
                count += 1;
                exchange::write(&record, sink)
            })
        };
        let written = if is_packed {
            let mut packed = zstd::stream::write::Encoder::new(sink, LEVEL)?;
            let written = write(&mut packed);
            packed.finish()?;
            written
        } else {
            write(sink)
        };
        match written {
            Ok(()) => Ok(true),
            Err(Error::Stream { reason, .. }) => Err(io::Error::other(reason)),
            Err(error) => {
                failure = Some(error);
                Ok(false)
            }
        }
    })?;
    match failure {
        Some(error) => Err(expected(&error)),
        None => {
            if let Some(path) = output.path() {
                output.note(&format!(
                    "{} of {} in {}",
                    counted(count, "result"),
                    store.place(),
                    path.display()
                ));
            }
            Ok(exit::FINE)
        }
    }
}

pub(super) fn merge(
    place: &StorePlace,
    stores: &[OsString],
    output: &Output,
) -> Result<Code, ExpectedError> {
    let mut store = open_to_write(place)?;
    let mut code = exit::FINE;
    let mut all = Inserted::default();
    for other in stores {
        let mut left_out = Refused::default();
        let merged = StorePlace::named(other)
            .open_existing()
            .and_then(|mut other| {
                let mut refused = |id: Id, error: Error| {
                    let error = expected(&error);
                    left_out.add(format!("result {}: {}", id.short(), error.message));
                    code = code.and(error.exit);
                };
                let filter = Filter::default();
                ridge_history::copy(other.as_mut(), store.as_mut(), &filter, &mut refused)
                    .map_err(|error| expected(&error))
            });
        if left_out.count > 0 {
            let name = other.to_string_lossy();
            let results = match left_out.count {
                1 => "1 result cannot be taken".to_owned(),
                count => format!("{count} results cannot be taken"),
            };
            let hint = "correct the clock of the machine that they come from, and make them again";
            left_out.say(&without_secrets(&name), &results, hint, output);
        }
        match merged {
            Ok(inserted) => all += inserted,
            Err(error) => {
                // The others are still worth it.
                output.complain(&error);
                code = code.and(error.exit);
            }
        }
    }
    let said = format!("{} to {}", words(all), store.place());
    output.write(&super::line(&said))?;
    Ok(code)
}
