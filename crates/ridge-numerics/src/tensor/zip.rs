//! Archives: which members there are and where. Only what NumPy and PyTorch write: stored and deflated members, with the
//! extension for large archives.

use std::collections::BTreeSet;
use std::io::Read;
use std::ops::Range;

use flate2::Crc;
use flate2::read::DeflateDecoder;

use super::{Reason, TensorError};

const LOCAL: &[u8] = b"PK\x03\x04";
const CENTRAL: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";
const END_64: &[u8] = b"PK\x06\x06";
const LOCATOR_64: &[u8] = b"PK\x06\x07";

/// Lengths without what varies.
const LOCAL_LENGTH: usize = 30;
const CENTRAL_LENGTH: usize = 46;
const END_LENGTH: usize = 22;
const END_64_LENGTH: usize = 56;
const LOCATOR_64_LENGTH: usize = 20;

/// A comment behind the end is at most this long.
const MAX_COMMENT: usize = 65_535;

/// What stands in a field of 32 bits whose value is in the extension.
const ELSEWHERE: u64 = 0xffff_ffff;

/// A file in an archive.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) name: String,
    /// Bytes that it unpacks to, as the archive says.
    pub(super) size: u64,
    pub(super) checksum: u32,
    packed_size: u64,
    method: u16,
    is_encrypted: bool,
    /// Where its local head begins.
    at: u64,
}

/// How a member is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Stored,
    Deflated,
}

impl Member {
    /// How it is packed, if that can be read.
    pub(super) fn packing(&self) -> Result<Packing, TensorError> {
        if self.is_encrypted {
            return Err(TensorError::new(self.at, Reason::Encrypted));
        }
        match self.method {
            0 if self.packed_size != self.size => Err(TensorError::new(
                self.at,
                Reason::Malformed("a stored member with two sizes"),
            )),
            0 => Ok(Packing::Stored),
            8 => Ok(Packing::Deflated),
            other => Err(TensorError::new(self.at, Reason::Method(other))),
        }
    }

    /// Its bytes as they are in the archive, and where they begin.
    pub(super) fn data<'a>(&self, archive: &'a [u8]) -> Result<(u64, &'a [u8]), TensorError> {
        let head = slice(
            archive,
            self.at,
            LOCAL_LENGTH as u64,
            "the head of a member",
        )?;
        if !head.starts_with(LOCAL) {
            return Err(TensorError::new(
                self.at,
                Reason::Malformed("a member does not begin with `PK\\x03\\x04`"),
            ));
        }
        // Name and extension may have other lengths here than in the directory.
        let start = self.at + LOCAL_LENGTH as u64 + number(head, 26, 2) + number(head, 28, 2);
        slice(archive, start, self.packed_size, "a member").map(|data| (start, data))
    }
}

/// Whether bytes are an archive with at least one member, or an empty one.
pub(super) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(LOCAL) || bytes.starts_with(END)
}

/// The members in the order of the directory.
pub(super) fn members(archive: &[u8]) -> Result<Vec<Member>, TensorError> {
    let (start, size) = directory(archive)?;
    let directory = slice(archive, start, size, "the directory")?;
    let mut members = Vec::new();
    let mut names = BTreeSet::new();
    let mut at = 0;
    while at < directory.len() {
        let place = start + at as u64;
        let malformed = |what| TensorError::new(place, Reason::Malformed(what));
        let entry = slice(
            directory,
            at as u64,
            CENTRAL_LENGTH as u64,
            "a line of the directory",
        )
        .map_err(|error| TensorError::new(start + error.at, error.reason))?;
        if !entry.starts_with(CENTRAL) {
            return Err(malformed(
                "a line of the directory does not begin with `PK\\x01\\x02`",
            ));
        }
        let lengths = [28, 30, 32].map(|field| number(entry, field, 2));
        let rest = slice(
            directory,
            (at + CENTRAL_LENGTH) as u64,
            lengths.iter().sum(),
            "a line of the directory",
        )
        .map_err(|error| TensorError::new(start + error.at, error.reason))?;
        let (name, rest_after) = rest.split_at(lengths[0] as usize);
        let extension = &rest_after[..lengths[1] as usize];
        // Uncompressed size, compressed size, place: those that do not fit stand in the extension, in this order.
        let mut fields = [
            number(entry, 24, 4),
            number(entry, 20, 4),
            number(entry, 42, 4),
        ];
        let mut wide = wide_fields(extension);
        for field in &mut fields {
            if *field == ELSEWHERE
                && let Some((value, rest)) = wide.split_first_chunk()
            {
                *field = u64::from_le_bytes(*value);
                wide = rest;
            }
        }
        let name = String::from_utf8_lossy(name).into_owned();
        if !names.insert(name.clone()) {
            return Err(TensorError::new(place, Reason::Duplicate(name)));
        }
        // Folders have no content.
        if !name.ends_with('/') {
            members.push(Member {
                name,
                size: fields[0],
                packed_size: fields[1],
                at: fields[2],
                checksum: number(entry, 16, 4) as u32,
                method: number(entry, 10, 2) as u16,
                is_encrypted: number(entry, 8, 2) & 1 == 1,
            });
        }
        at += CENTRAL_LENGTH + rest.len();
    }
    Ok(members)
}

/// Where the directory begins, and its length.
fn directory(archive: &[u8]) -> Result<(u64, u64), TensorError> {
    let first = archive.len().saturating_sub(END_LENGTH + MAX_COMMENT);
    let end = archive[first..]
        .windows(END_LENGTH)
        .rposition(|window| window.starts_with(END))
        .map(|at| first + at)
        .ok_or_else(|| {
            TensorError::new(
                archive.len() as u64,
                Reason::Malformed("the archive has no end: it is cut off, or none"),
            )
        })?;
    let record = &archive[end..end + END_LENGTH];
    let (mut start, mut size) = (number(record, 16, 4), number(record, 12, 4));
    let locator = end
        .checked_sub(LOCATOR_64_LENGTH)
        .map(|at| &archive[at..end])
        .filter(|locator| locator.starts_with(LOCATOR_64));
    if let Some(locator) = locator {
        let at = number(locator, 8, 8);
        let record = slice(
            archive,
            at,
            END_64_LENGTH as u64,
            "the end of a large archive",
        )?;
        if !record.starts_with(END_64) {
            return Err(TensorError::new(
                at,
                Reason::Malformed("the end of a large archive does not begin with `PK\\x06\\x06`"),
            ));
        }
        (start, size) = (number(record, 48, 8), number(record, 40, 8));
    }
    Ok((start, size))
}

/// The fields of the extension for large archives. Empty where there is none.
fn wide_fields(mut extension: &[u8]) -> &[u8] {
    const WIDE: u64 = 1;
    while extension.len() >= 4 {
        let (kind, length) = (number(extension, 0, 2), number(extension, 2, 2) as usize);
        let Some(content) = extension[4..].get(..length) else {
            break;
        };
        if kind == WIDE {
            return content;
        }
        extension = &extension[4 + length..];
    }
    &[]
}

/// A number of up to 8 bytes in a record that has them.
fn number(record: &[u8], at: usize, length: usize) -> u64 {
    record[at..at + length]
        .iter()
        .rev()
        .fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn slice<'a>(
    bytes: &'a [u8],
    at: u64,
    length: u64,
    what: &'static str,
) -> Result<&'a [u8], TensorError> {
    let have = (bytes.len() as u64).saturating_sub(at);
    if length > have || at > bytes.len() as u64 {
        return Err(TensorError::new(
            at.min(bytes.len() as u64),
            Reason::Truncated {
                what,
                need: length,
                have,
            },
        ));
    }
    // Both are at most the length of the slice.
    Ok(&bytes[at as usize..(at + length) as usize])
}

/// Unpacks a range of a member, at most `limit` bytes of it.
pub(super) fn inflate(
    packed: &[u8],
    checksum: u32,
    range: &Range<u64>,
    limit: u64,
) -> Result<Vec<u8>, TensorError> {
    let length = range.end - range.start;
    if length > limit {
        return Err(TensorError::new(range.start, Reason::Limit(limit)));
    }
    let mut inflated = Inflated::new(packed, checksum);
    inflated.skip(range.start)?;
    let mut bytes = Vec::new();
    inflated.read(length, &mut bytes)?;
    inflated.finish()?;
    Ok(bytes)
}

/// A compressed member that is read from front to back.
pub(super) struct Inflated<'a> {
    decoder: DeflateDecoder<&'a [u8]>,
    crc: Crc,
    checksum: u32,
    at: u64,
}

impl<'a> Inflated<'a> {
    pub(super) fn new(packed: &'a [u8], checksum: u32) -> Self {
        Self {
            decoder: DeflateDecoder::new(packed),
            crc: Crc::new(),
            checksum,
            at: 0,
        }
    }

    /// Replaces what is in `out` by the next bytes. It grows with what there is, not with what is asked for.
    pub(super) fn read(&mut self, length: u64, out: &mut Vec<u8>) -> Result<(), TensorError> {
        out.clear();
        let have = match (&mut self.decoder).take(length).read_to_end(out) {
            Ok(have) => have as u64,
            Err(_) => {
                return Err(TensorError::new(
                    self.at + out.len() as u64,
                    Reason::Deflate,
                ));
            }
        };
        self.crc.update(out);
        self.at += have;
        if have < length {
            let reason = Reason::Truncated {
                what: "the compressed array",
                need: length,
                have,
            };
            return Err(TensorError::new(self.at - have, reason));
        }
        Ok(())
    }

    pub(super) fn skip(&mut self, length: u64) -> Result<(), TensorError> {
        const STEP: u64 = 64 * 1024;
        let mut left = length;
        let mut thrown_away = Vec::new();
        while left > 0 {
            let step = left.min(STEP);
            self.read(step, &mut thrown_away)?;
            left -= step;
        }
        Ok(())
    }

    /// Compares the checksum, once everything was read.
    pub(super) fn finish(&mut self) -> Result<(), TensorError> {
        if self.crc.sum() == self.checksum {
            Ok(())
        } else {
            Err(TensorError::new(self.at, Reason::Checksum))
        }
    }
}
