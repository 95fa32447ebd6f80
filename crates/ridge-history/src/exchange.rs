//! Lines by which stores exchange results: one JSON object for each, plain or packed with zstd.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::rc::Rc;

use serde_json::value::RawValue;

use crate::json::{Entry, Exchange, PointEntry, RECORD, VERSION};
use crate::{Circumstances, Error, Id, Kind, Labels, Record, Revision};

/// What a line has at most: a document of 256 MiB, and what is around it.
const LONGEST: u64 = (1 << 28) + (1 << 26);
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const GZIP: [u8; 2] = [0x1f, 0x8b];
const BUFFER: usize = 1 << 16;
/// What a part of a packed stream that is in memory at once, a line or a document, may have: so many bytes in any case, and so
/// many for each packed byte that has been read. Results of one benchmark repeat themselves, and no more than this.
const FREE: u64 = 16 << 20;
const RATIO: u64 = 100;

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
    let failed = |error: io::Error| Error::Stream {
        what: "write the exchange file",
        reason: error.to_string(),
    };
    let mut line = serde_json::to_vec(&exchange(record)?)
        .map_err(|error| Error::Document(error.to_string()))?;
    line.push(b'\n');
    sink.write_all(&line).map_err(failed)
}

/// Whether a line for exchange begins in some text. The first line need not be one: it may be the one that is damaged.
#[must_use]
pub fn looks_like(text: &[u8]) -> bool {
    let name = RECORD.as_bytes();
    text.split(|byte| *byte == b'\n').any(|line| {
        let head = line.get(..200).unwrap_or(line);
        head.windows(name.len()).any(|part| part == name)
    })
}

/// A stream that may be packed with zstd or gzip, unpacked.
pub struct Unpacked<'r> {
    stream: Box<dyn BufRead + 'r>,
    /// Packed bytes that have been read; absent where nothing is packed.
    packed: Option<Rc<Cell<u64>>>,
}

impl std::fmt::Debug for Unpacked<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unpacked")
            .field("packed", &self.packed)
            .finish_non_exhaustive()
    }
}

impl<'r> Unpacked<'r> {
    /// Looks how a stream is packed.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn new(input: impl Read + 'r) -> io::Result<Self> {
        let packed = Rc::new(Cell::new(0));
        let counted = Counted {
            input,
            count: Rc::clone(&packed),
        };
        let mut input = BufReader::with_capacity(BUFFER, counted);
        let head = input.fill_buf()?;
        let (stream, packed): (Box<dyn BufRead + 'r>, _) = if head.starts_with(&ZSTD) {
            let unpacked = zstd::stream::read::Decoder::with_buffer(input)?;
            let stream = BufReader::with_capacity(BUFFER, unpacked);
            (Box::new(stream), Some(packed))
        } else if head.starts_with(&GZIP) {
            let unpacked = flate2::bufread::MultiGzDecoder::new(input);
            let stream = BufReader::with_capacity(BUFFER, unpacked);
            (Box::new(stream), Some(packed))
        } else {
            (Box::new(input), None)
        };
        Ok(Self { stream, packed })
    }

    /// Whether there is a line for exchange in what the stream begins with.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn looks_like_lines(&mut self) -> io::Result<bool> {
        self.stream.fill_buf().map(looks_like)
    }

    /// Reads what is left, which is one document.
    ///
    /// # Errors
    /// When it cannot be read, has more than 256 MiB, or unpacks to more than what is packed explains.
    pub fn document(mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.fill(&mut bytes, None)?;
        Ok(bytes)
    }

    /// Adds bytes up to the end or one after a letter, and looks at their number as they come.
    fn fill(&mut self, bytes: &mut Vec<u8>, until: Option<u8>) -> io::Result<()> {
        loop {
            let part = match self.stream.fill_buf() {
                Ok(part) => part,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let end = until.and_then(|letter| part.iter().position(|byte| *byte == letter));
            let taken = end.map_or(part.len(), |end| end + 1);
            bytes.extend_from_slice(part.get(..taken).unwrap_or_default());
            self.stream.consume(taken);
            let length = bytes.len() as u64;
            if length > LONGEST {
                return Err(io::Error::other("it is longer than any result"));
            }
            if let Some(packed) = &self.packed
                && length > FREE.max(packed.get().saturating_mul(RATIO))
            {
                return Err(io::Error::other(format!(
                    "it unpacks to more than {RATIO} times what is packed, as no result does; unpack the file first, and import that"
                )));
            }
            if taken == 0 || end.is_some() {
                return Ok(());
            }
        }
    }
}

/// A stream whose bytes are counted.
struct Counted<R> {
    input: R,
    count: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.input.read(buffer)?;
        self.count.set(self.count.get() + length as u64);
        Ok(length)
    }
}

/// Reads lines and hands their records to a function. Input that is packed with zstd or gzip is unpacked. A line that is no
/// record, or whose record the function does not take, is handed to the other function as an error with its number; the lines
/// behind it are read.
///
/// A line has 320 MiB at most; one of a packed file no more than 16 MiB, or a hundred times what has been read of the file.
///
/// # Errors
/// When the input cannot be read further, with the number of the line; when the function says that the store is at fault.
/// What comes before has been handed over.
pub fn read(
    input: impl Read,
    visit: &mut dyn FnMut(Record) -> Result<(), Error>,
    refused: &mut dyn FnMut(Error),
) -> Result<(), Error> {
    let input = Unpacked::new(input).map_err(|error| Error::Stream {
        what: "read the exchange file",
        reason: error.to_string(),
    })?;
    read_lines(input, visit, refused)
}

/// The same for what has been looked at before.
///
/// # Errors
/// As [`read`].
pub fn read_lines(
    mut input: Unpacked<'_>,
    visit: &mut dyn FnMut(Record) -> Result<(), Error>,
    refused: &mut dyn FnMut(Error),
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
        input
            .fill(&mut line, Some(b'\n'))
            .map_err(|error| wrong(error.to_string()))?;
        if line.is_empty() {
            return Ok(());
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match record(&line) {
            Ok(record) => match visit(record) {
                Ok(()) => {}
                Err(error) if error.is_of_store() => return Err(error),
                Err(error) => refused(wrong(format!("failed to {error}"))),
            },
            Err(reason) => refused(wrong(reason)),
        }
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
    let kind: Kind = entry.kind.parse().map_err(words)?;
    let circumstances = Circumstances {
        time: Some(entry.time.parse().map_err(words)?),
        host: entry.host,
        revision: Revision {
            commit: entry.commit,
            branch: entry.branch,
            is_dirty: entry.is_dirty,
        },
        command: entry.command,
        labels,
        driver: entry.driver,
        tool_version: entry.tool_version,
        name: Some(entry.name),
    };
    // What can be read out of the document is read out of it: the identifier covers that, and not what the line says of it.
    let record =
        Record::of_document(line.document.get().as_bytes(), circumstances).map_err(words)?;
    if record.head.kind != kind {
        return Err(format!(
            "it says that its document is of {kind}, and that is of {}",
            record.head.kind
        ));
    }
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

    /// The records, and the first error.
    fn all(input: &[u8]) -> (Vec<Record>, Option<Error>) {
        let (records, errors) = every(input);
        (records, errors.into_iter().next())
    }

    fn every(input: &[u8]) -> (Vec<Record>, Vec<Error>) {
        let (mut records, mut refused) = (Vec::new(), Vec::new());
        let error = read(
            input,
            &mut |record| {
                records.push(record);
                Ok(())
            },
            &mut |error| refused.push(error),
        )
        .err();
        refused.extend(error);
        (records, refused)
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
            ("\"kind\":\"bench\"", "\"kind\":\"why\"", "of why"),
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
    fn lines_behind_a_bad_one_are_read() {
        let mut text = Vec::new();
        write(&sample(), &mut text).unwrap();
        let bad: [&[u8]; 4] = [b"garbage\n", b"{}\n", b"\xff\xfe\n", &text[..99]];
        let lines = [bad[0], &text, bad[1], b"\n", bad[2], &text, bad[3]].concat();
        assert!(looks_like(&lines));
        for input in [lines.clone(), zstd::bulk::compress(&lines, 3).unwrap()] {
            let (records, errors) = every(&input);
            assert_eq!(records, [sample(), sample()]);
            let numbers: Vec<u64> = errors
                .iter()
                .map(|error| match error {
                    Error::Line { line, .. } => *line,
                    other => panic!("{other}"),
                })
                .collect();
            assert_eq!(numbers, [1, 3, 5, 7]);
        }
    }

    /// What the taker says of a record is of its line; a store that takes nothing ends it.
    #[test]
    fn what_is_not_taken_has_its_line() {
        let mut text = Vec::new();
        write(&sample(), &mut text).unwrap();
        let twice = [text.as_slice(), &text].concat();
        let reading = |given: fn() -> Error| {
            let (mut seen, mut refused) = (0, Vec::new());
            let outcome = read(
                twice.as_slice(),
                &mut |_| {
                    seen += 1;
                    Err(given())
                },
                &mut |error| refused.push(error.to_string()),
            );
            (seen, refused, outcome.err().map(|error| error.code()))
        };
        let (seen, refused, error) =
            reading(|| Error::Implausible(crate::Timestamp::from_micros(-1)));
        assert_eq!((seen, error), (2, None));
        assert!(refused[1].starts_with("read line 2 ") && refused[1].contains("before 1970"));
        let full = || Error::Full {
            place: "x".to_owned(),
            reason: "full".to_owned(),
        };
        assert_eq!(reading(full), (1, Vec::new(), Some("HIS0006")));
    }

    /// The identifier covers the document, and what lists and series show of it comes from there.
    #[test]
    fn what_a_line_says_of_its_document_is_not_believed() {
        let mut text = Vec::new();
        write(&sample(), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let (head, document) = text.split_once("\"document\":").unwrap();
        for (from, to) in [
            ("\"value\":29888.0", "\"value\":1.0"),
            ("\"metric\":\"time.cold\"", "\"metric\":\"time.hot\""),
            ("\"gpu\":\"simulated H200 SXM\"", "\"gpu\":\"another\""),
            ("\"name\":\"copy\"", "\"name\":\"other\""),
            (
                "\"points\":[{",
                "\"points\":[{\"subject\":\"more\",\"metric\":\"m\",\"unit\":\"ns\",\"value\":1.0,\"low\":null,\"high\":null,\"samples\":null},{",
            ),
        ] {
            let changed = head.replace(from, to);
            assert_ne!(changed, head, "{from}");
            let (records, error) = all(format!("{changed}\"document\":{document}").as_bytes());
            assert!(error.is_none(), "{error:?}");
            assert_eq!(records, [sample()], "{from}");
        }
    }

    #[test]
    fn small_files_do_not_unpack_to_large_lines() {
        let packed = |line: &[u8]| {
            let mut gzip =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            gzip.write_all(line).unwrap();
            [
                zstd::bulk::compress(line, 3).unwrap(),
                gzip.finish().unwrap(),
            ]
        };
        let mut line = Vec::new();
        write(&sample(), &mut line).unwrap();
        line.pop();
        // White space behind a line is a part of it.
        for (blanks, is_taken) in [(15 << 20, true), (24 << 20, false)] {
            let mut long = line.clone();
            long.resize(line.len() + blanks, b' ');
            for packed in packed(&long) {
                let (records, error) = all(&packed);
                assert_eq!(records.len(), usize::from(is_taken));
                assert_eq!(error.is_none(), is_taken, "{error:?}");
                if let Some(error) = error {
                    assert!(error.to_string().contains("100 times"), "{error}");
                    assert_eq!(error.code(), "HIS0013");
                }
                // A document is bounded in the same way, and a packing in a packing is none.
                let document = Unpacked::new(packed.as_slice()).unwrap().document();
                assert_eq!(document.is_ok(), is_taken);
            }
        }
        // Many lines may unpack to more: each is in memory alone.
        let mut lines = Vec::new();
        for _ in 0..6 {
            lines.extend_from_slice(&line);
            lines.resize(lines.len() + (6 << 20), b' ');
            lines.push(b'\n');
        }
        for packed in packed(&lines) {
            assert_eq!(all(&packed).0.len(), 6);
        }
        let [twice, _] = packed(&packed(&line)[0]);
        let (records, error) = all(&twice);
        assert!(records.is_empty() && error.is_some());
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
