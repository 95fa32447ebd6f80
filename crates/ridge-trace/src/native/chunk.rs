//! A recording as chunks whose checksums have been compared.

use ridge_injection::format::{
    CHUNK_HEADER_BYTES, ChunkKind, HEADER_BYTES, MAGIC, MAJOR, MOST_PAYLOAD_BYTES, checksum,
};

use crate::error::{Error, Problem};

/// A whole chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk<'i> {
    /// Its kind; absent where this version does not know it.
    pub kind: Option<ChunkKind>,
    /// Where it begins in the input.
    pub offset: u64,
    /// What it holds.
    pub payload: &'i [u8],
    /// All of it, with its header.
    pub bytes: &'i [u8],
}

/// The chunks of an input. A damaged chunk is left out, and what was wrong stands in [`Chunks::into_problems`].
#[derive(Debug)]
pub struct Chunks<'i> {
    input: &'i [u8],
    at: usize,
    problems: Vec<Problem>,
}

/// Whether an input is a recording.
#[must_use]
pub fn is_recording(input: &[u8]) -> bool {
    input.starts_with(&MAGIC)
}

impl<'i> Chunks<'i> {
    /// The chunks of a recording.
    ///
    /// # Errors
    /// When the input is no recording, or one of a version that cannot be read.
    pub fn new(input: &'i [u8]) -> Result<Self, Error> {
        if !is_recording(input) {
            return Err(Error::unknown(input));
        }
        let mut chunks = Self {
            input,
            at: HEADER_BYTES.min(input.len()),
            problems: Vec::new(),
        };
        match input.get(MAGIC.len()..MAGIC.len() + 2) {
            Some(&[low, high]) => {
                let found = u16::from_le_bytes([low, high]);
                if found != MAJOR {
                    return Err(Error::Version {
                        format: "recordings",
                        found: u64::from(found),
                        known: u64::from(MAJOR),
                    });
                }
            }
            _ => chunks.problem(Problem::TRUNCATED, MAGIC.len(), "header", "the input ends"),
        }
        Ok(chunks)
    }

    /// What could not be read so far.
    #[must_use]
    pub fn into_problems(self) -> Vec<Problem> {
        self.problems
    }

    fn problem(&mut self, code: &'static str, at: usize, field: &str, reason: &str) {
        /// More say nothing new.
        const MOST: usize = 20;
        if self.problems.len() < MOST {
            self.problems.push(Problem {
                code,
                offset: u64::try_from(at).ok(),
                field: field.to_owned(),
                reason: reason.to_owned(),
            });
        }
    }

    /// Ends the input here.
    fn stop(&mut self, code: &'static str, field: &str, reason: &str) {
        self.problem(code, self.at, field, reason);
        self.at = self.input.len();
    }
}

impl<'i> Iterator for Chunks<'i> {
    type Item = Chunk<'i>;

    fn next(&mut self) -> Option<Chunk<'i>> {
        loop {
            let rest = self.input.get(self.at..)?;
            if rest.is_empty() {
                return None;
            }
            let Some((header, after)) = rest.split_first_chunk::<CHUNK_HEADER_BYTES>() else {
                self.stop(Problem::TRUNCATED, "header of a chunk", "the input ends");
                return None;
            };
            let [k0, k1, k2, k3, l0, l1, l2, l3, c0, c1, c2, c3] = *header;
            let (kind, length) = ([k0, k1, k2, k3], [l0, l1, l2, l3]);
            let size = u32::from_le_bytes(length);
            if size > MOST_PAYLOAD_BYTES {
                self.stop(
                    Problem::MALFORMED,
                    "length of a chunk",
                    "is longer than chunks can be",
                );
                return None;
            }
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            let Some(payload) = after.get(..size) else {
                self.stop(Problem::TRUNCATED, "chunk", "the input ends in it");
                return None;
            };
            let offset = self.at;
            self.at += CHUNK_HEADER_BYTES + size;
            if checksum(kind, length, payload) != u32::from_le_bytes([c0, c1, c2, c3]) {
                // Its length led to the next chunk, or that one will be found damaged too.
                self.problem(
                    Problem::MALFORMED,
                    offset,
                    "chunk",
                    "its checksum is another one",
                );
                continue;
            }
            return Some(Chunk {
                kind: ChunkKind::of_number(u32::from_le_bytes(kind)),
                offset: u64::try_from(offset).unwrap_or(u64::MAX),
                payload,
                bytes: self.input.get(offset..self.at).unwrap_or_default(),
            });
        }
    }
}

/// Numbers and texts of a payload, one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Values<'p>(pub(super) &'p [u8]);

impl<'p> Values<'p> {
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for (place, byte) in self.0.iter().enumerate().take(10) {
            let bits = u64::from(byte & 0x7f);
            let shift = u32::try_from(place).ok()? * 7;
            let moved = bits.checked_shl(shift)?;
            if moved >> shift != bits {
                return None;
            }
            value |= moved;
            if byte & 0x80 == 0 {
                self.0 = self.0.get(place + 1..)?;
                return Some(value);
            }
        }
        None
    }

    pub(super) fn text(&mut self) -> Option<&'p str> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }

    /// A record: its kind and its fields, in an array of fixed size. Fields that this version does not know are passed.
    pub(super) fn record(&mut self) -> Option<Record> {
        let kind = self.number()?;
        let count = usize::try_from(self.number()?).ok()?;
        let mut record = Record {
            kind,
            count,
            fields: [0; FIELDS],
        };
        for place in 0..count {
            let value = self.number()?;
            if let Some(field) = record.fields.get_mut(place) {
                *field = value;
            }
        }
        Some(record)
    }
}

/// As many fields as the longest record of this version has.
const FIELDS: usize = 24;

/// A record. Fields that are absent at its end are 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) kind: u64,
    pub(super) count: usize,
    fields: [u64; FIELDS],
}

impl Record {
    pub(super) fn field(&self, place: usize) -> u64 {
        self.fields.get(place).copied().unwrap_or(0)
    }

    /// A field that fits 32 bits.
    pub(super) fn small(&self, place: usize) -> Option<u32> {
        u32::try_from(self.field(place)).ok()
    }

    pub(super) fn three(&self, place: usize) -> Option<[u32; 3]> {
        Some([
            self.small(place)?,
            self.small(place + 1)?,
            self.small(place + 2)?,
        ])
    }

    /// A field that is one more than the number, or 0 where there is none.
    pub(super) fn optional(&self, place: usize) -> Option<u64> {
        self.field(place).checked_sub(1)
    }
}
