//! Lines by which stores exchange results: one JSON object for each, plain or packed with zstd.

use std::io::{BufRead, BufReader, Read, Write};

use serde_json::value::RawValue;

use crate::document::Packed;
use crate::json::{Entry, Exchange, PointEntry, RECORD, VERSION};
use crate::{ClockRange, Error, Head, Id, Labels, Point, Record, Revision};

/// What a line has at most: a document of 256 MiB, and what is around it.
const LONGEST: u64 = (1 << 28) + (1 << 26);
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const GZIP: [u8; 2] = [0x1f, 0x8b];
const BUFFER: usize = 1 << 16;

/// A record as it is exchanged.
///
/// # Errors
/// When its document is damaged.
pub fn exchange(record: &Record) -> Result<Exchange, Error> {
    let text = String::from_utf8(record.document.json()?)
        .map_err(|_| Error::Document("it is no UTF-8 text".to_owned()))?;
    Ok(Exchange {
        schema: RECORD.to_owned(),
        version: VERSION,
        result: Entry::from(&record.head),
        points: record.points.iter().map(PointEntry::from).collect(),
        document: RawValue::from_string(text)
            .map_err(|error| Error::Document(error.to_string()))?,
    })
}

/// Writes a record as a line.
///
/// # Errors
/// When its document is damaged, or the sink takes no more.
pub fn write(record: &Record, sink: &mut dyn Write) -> Result<(), Error> {
    let failed = |error: std::io::Error| Error::Stream {
        what: "write the exchange file",
        reason: error.to_string(),
    };
    let mut line = serde_json::to_vec(&exchange(record)?)
        .map_err(|error| Error::Document(error.to_string()))?;
    line.push(b'\n');
    sink.write_all(&line).map_err(failed)
}

/// Whether some text begins with a line for exchange.
#[must_use]
pub fn looks_like(text: &[u8]) -> bool {
    let name = RECORD.as_bytes();
    let head = text.get(..200).unwrap_or(text);
    head.windows(name.len()).any(|part| part == name)
}

/// A stream that may be packed with zstd or gzip, unpacked.
///
/// # Errors
/// When it cannot be read.
pub fn unpacked<'r>(input: impl Read + 'r) -> std::io::Result<Box<dyn BufRead + 'r>> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let head = input.fill_buf()?;
    Ok(if head.starts_with(&ZSTD) {
        let unpacked = zstd::stream::read::Decoder::with_buffer(input)?;
        Box::new(BufReader::with_capacity(BUFFER, unpacked))
    } else if head.starts_with(&GZIP) {
        let unpacked = flate2::bufread::MultiGzDecoder::new(input);
        Box::new(BufReader::with_capacity(BUFFER, unpacked))
    } else {
        Box::new(input)
    })
}

/// Reads lines and hands their records to a function. Input that is packed with zstd or gzip is unpacked.
///
/// # Errors
/// When a line is no record, with its number. Those before it have been handed over.
pub fn read(
    input: impl Read,
    visit: &mut dyn FnMut(Record) -> Result<(), Error>,
) -> Result<(), Error> {
    let input = unpacked(input).map_err(|error| Error::Stream {
        what: "read the exchange file",
        reason: error.to_string(),
    })?;
    lines(input, visit)
}

fn lines(
    mut input: impl BufRead,
    visit: &mut dyn FnMut(Record) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        number += 1;
        line.clear();
        let wrong = |reason: String| Error::Line {
            line: number,
            reason,
        };
        let length = input
            .by_ref()
            .take(LONGEST)
            .read_until(b'\n', &mut line)
            .map_err(|error| wrong(error.to_string()))?;
        if length == 0 {
            return Ok(());
        }
        if length as u64 == LONGEST {
            return Err(wrong("it is longer than any result".to_owned()));
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let record = record(&line).map_err(wrong)?;
        visit(record)?;
    }
}

/// What every version has.
#[derive(serde::Deserialize)]
struct Header {
    schema: String,
    version: u32,
}

/// The record of a line; else what is wrong with it.
fn record(line: &[u8]) -> Result<Record, String> {
    let header: Header = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    if header.schema != RECORD {
        return Err(format!(
            "it has the schema {:?}, not {RECORD:?}",
            header.schema
        ));
    }
    if header.version > VERSION {
        return Err(format!(
            "it has version {}, and this version of ridge reads up to {VERSION}",
            header.version
        ));
    }
    let line: Exchange = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let entry = line.result;
    let words = |error: Error| format!("failed to {error}");
    let given: Id = entry.id.parse().map_err(words)?;
    let mut labels = Labels::default();
    for label in &entry.labels {
        labels.set(&label.name, &label.value).map_err(words)?;
    }
    let head = Head {
        id: given,
        time: entry.time.parse().map_err(words)?,
        kind: entry.kind.parse().map_err(words)?,
        gpu: entry.gpu(),
        name: entry.name,
        host: entry.host,
        driver: entry.driver,
        sm_clock: entry
            .sm_clock_low_hz
            .zip(entry.sm_clock_high_hz)
            .map(|(low_hz, high_hz)| ClockRange { low_hz, high_hz }),
        revision: Revision {
            commit: entry.commit,
            branch: entry.branch,
            is_dirty: entry.is_dirty,
        },
        command: entry.command,
        labels,
        tool_version: entry.tool_version,
        schema_version: entry.document_version,
    };
    let document = Packed::of(line.document.get().as_bytes()).map_err(words)?;
    let points = line.points.into_iter().map(Point::from).collect();
    let record = Record::new(head, document, points).map_err(words)?;
    if record.head.id != given {
        return Err(format!(
            "its content is not that of its identifier: it says {}, and comes to {}",
            given.short(),
            record.head.id.short()
        ));
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Circumstances;

    const BENCH: &[u8] = include_bytes!("../../../fixtures/formats/bench-1/copy.json");
    /// What version 1 wrote.
    const LINES: &[u8] = include_bytes!("../../../fixtures/formats/history-record-1.jsonl");

    fn sample() -> Record {
        Record::of_document(
            BENCH,
            Circumstances {
                time: Some("2026-11-30T18:00:00.25Z".parse().unwrap()),
                host: Some("build-7".to_owned()),
                revision: Revision {
                    commit: Some("1f0c".to_owned()),
                    branch: None,
                    is_dirty: Some(true),
                },
                command: Some("ridge bench 'a b.toml' --record".to_owned()),
                labels: [("nightly", ""), ("variant", "a=\"b\"")]
                    .into_iter()
                    .collect(),
                ..Circumstances::default()
            },
        )
        .unwrap()
    }

    fn all(input: &[u8]) -> (Vec<Record>, Option<Error>) {
        let mut records = Vec::new();
        let error = read(input, &mut |record| {
            records.push(record);
            Ok(())
        })
        .err();
        (records, error)
    }

    #[test]
    fn lines_come_back_plain_and_packed() {
        let mut text = Vec::new();
        write(&sample(), &mut text).unwrap();
        assert!(looks_like(&text) && !looks_like(BENCH));
        assert_eq!(text.iter().filter(|byte| **byte == b'\n').count(), 1);
        let twice = [text.as_slice(), b"\n", &text].concat();
        let packed = zstd::bulk::compress(&twice, 3).unwrap();
        for input in [twice, packed] {
            let (records, error) = all(&input);
            assert!(error.is_none(), "{error:?}");
            assert_eq!(records, [sample(), sample()]);
        }
    }

    #[test]
    fn what_version_1_wrote_is_read() {
        let (records, error) = all(LINES);
        assert!(error.is_none(), "{error:?}");
        assert_eq!(records, [sample()]);
    }

    #[test]
    fn changed_and_later_lines_are_told() {
        let mut text = Vec::new();
        write(&sample(), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        for (from, to, reason) in [
            ("29888.0", "29888.5", "not that of its identifier"),
            ("build-7", "build-8", "not that of its identifier"),
            (
                "\"version\":1,\"result\"",
                "\"version\":2,\"result\"",
                "version 2",
            ),
            (RECORD, "ridgepoint.history-recorx", "schema"),
            ("2026-11-30T18", "2026-11-31T18", "the time"),
            ("\"kind\":\"bench\"", "\"kind\":\"x\"", "the kind"),
        ] {
            let changed = text.replace(from, to);
            assert_ne!(changed, text, "{from}");
            let (records, error) = all(format!("{text}{changed}").as_bytes());
            assert_eq!(records.len(), 1);
            let error = error.unwrap();
            assert_eq!(error.code(), "HIS0013");
            assert!(
                error.to_string().contains("line 2") && error.to_string().contains(reason),
                "{error}"
            );
        }
        // What is derived from the document may be another, and fields may be added.
        let more = text.replace(
            "\"version\":1,\"result\"",
            "\"version\":1,\"colour\":\"red\",\"result\"",
        );
        assert_eq!(all(more.as_bytes()).0, [sample()]);
    }

    #[test]
    fn what_is_cut_off_is_told() {
        let mut text = Vec::new();
        write(&sample(), &mut text).unwrap();
        for end in (1..text.len() - 1).step_by(97) {
            let (records, error) = all(&text[..end]);
            assert!(records.is_empty() && error.is_some(), "{end}");
        }
        let packed = zstd::bulk::compress(&text, 3).unwrap();
        for end in (4..packed.len()).step_by(53) {
            let (records, error) = all(&packed[..end]);
            assert!(records.is_empty() && error.is_some(), "{end}");
        }
        assert!(all(b"").1.is_none());
    }

    /// Writes the line of this version, for the folder of formats: `cargo test -p ridge-history -- --ignored writes_the_format`.
    #[test]
    #[ignore = "writes fixtures/formats/history-record-1.jsonl, which is frozen"]
    fn writes_the_format() {
        let mut text = Vec::new();
        write(&sample(), &mut text).unwrap();
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../fixtures/formats/history-record-1.jsonl"
        );
        std::fs::write(path, text).unwrap();
    }
}
