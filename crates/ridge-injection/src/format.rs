//! The file: a header, then chunks that each carry their kind, length and checksum. `docs/design/recording.md` describes
//! it for people.
//!
//! Numbers in headers are little-endian. Payloads consist of variable-length numbers ([`number`]) and texts ([`text`]).

use crate::rank::Rank;

/// How a file begins.
pub const MAGIC: [u8; 8] = *b"RIDGETRC";
/// Readers of another major version cannot read the file.
pub const MAJOR: u16 = 1;
/// Later minor versions add kinds of chunks and records, and fields at the ends of records.
///
/// 1 added the rank at the end of [`ChunkKind::Process`].
pub const MINOR: u16 = 1;
/// Bytes before the first chunk.
pub const HEADER_BYTES: usize = 16;
/// Bytes of a chunk before its payload: kind, length and checksum, of four bytes each.
pub const CHUNK_HEADER_BYTES: usize = 12;
/// No payload is longer.
pub const MOST_PAYLOAD_BYTES: u32 = 16 << 20;

/// The kind of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkKind {
    /// The run that the processes belong to.
    Run = 1,
    /// A process begins; all that follows is about it.
    Process = 2,
    /// How the recording of the process stands. Has a fixed length, and is written over.
    Status = 3,
    /// The same moment on several clocks.
    Clock = 4,
    /// Names that records refer to by number.
    Strings = 5,
    /// What happened.
    Records = 6,
    /// Something that could not be recorded, and why.
    Problem = 7,
}

impl ChunkKind {
    /// Its number in the file.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::Run => 1,
            Self::Process => 2,
            Self::Status => 3,
            Self::Clock => 4,
            Self::Strings => 5,
            Self::Records => 6,
            Self::Problem => 7,
        }
    }

    /// The kind with this number, where there is one.
    #[must_use]
    pub const fn of_number(number: u32) -> Option<Self> {
        Some(match number {
            1 => Self::Run,
            2 => Self::Process,
            3 => Self::Status,
            4 => Self::Clock,
            5 => Self::Strings,
            6 => Self::Records,
            7 => Self::Problem,
            _ => return None,
        })
    }
}

/// The kinds of records, as numbers.
///
/// Each record is its kind, the number of its fields, and the fields. Times are differences to the time before in the
/// same chunk, folded by [`fold`]; durations have one added, so that 0 is an unknown time. So have numbers that can be
/// absent.
pub mod record {
    /// Start, duration, device, context, stream, correlation (folded difference), name, registers, grid (3), block (3),
    /// static and dynamic shared memory; local memory of a thread, launch type, graph, graph node, cluster (3), shared
    /// memory as executed.
    pub const KERNEL: u64 = 1;
    /// Start, duration, device, context, stream, correlation, bytes, kind, kinds of memory of source and destination, flags;
    /// graph, graph node, devices of source and destination.
    pub const COPY: u64 = 2;
    /// Start, duration, device, context, stream, correlation, bytes, value, kind of memory; flags, graph, graph node.
    pub const MEMSET: u64 = 3;
    /// Start, duration, thread, correlation, name, interface (0 runtime, 1 driver, 2 a launch by the driver itself); result.
    pub const CALL: u64 = 4;
    /// Start, duration, context, stream, correlation, kind; event, result.
    pub const SYNC: u64 = 5;
    /// Start, duration, kind, thread.
    pub const OVERHEAD: u64 = 6;
    /// Time, flags (1 moment, 2 start, 4 end), range, thread, name, domain.
    pub const MARKER: u64 = 7;
    /// Device, name, compute capability (2), SMs, bytes of memory, bytes of L2, SM clock in kHz; what tells it from
    /// other GPUs.
    pub const DEVICE: u64 = 8;
    /// Context, device, its default stream.
    pub const CONTEXT: u64 = 9;
    /// Thread, name.
    pub const THREAD_NAME: u64 = 10;

    /// How many fields a record of a kind has at least; those after are absent at the end when they are 0.
    #[must_use]
    pub const fn required(kind: u64) -> usize {
        match kind {
            KERNEL => 16,
            COPY => 11,
            MEMSET => 9,
            CALL | SYNC | MARKER => 6,
            OVERHEAD => 4,
            DEVICE => 8,
            CONTEXT => 3,
            THREAD_NAME => 2,
            _ => 0,
        }
    }
}

/// How the recording of a process stands, as a number.
pub mod state {
    /// The process did not end in an orderly way, or has not yet.
    pub const RUNNING: u32 = 0;
    /// The process ended; what CUPTI had is in the file.
    pub const ENDED: u32 = 1;
    /// Writing failed; nothing follows.
    pub const WRITE_FAILED: u32 = 2;
}

/// Why something was not recorded, as a number.
pub mod problem {
    /// CUPTI was not found. The text lists where it was looked for.
    pub const NO_CUPTI: u64 = 1;
    /// CUPTI is older than what is supported. The number is its version.
    pub const OLD_CUPTI: u64 = 2;
    /// Something else in the process uses CUPTI. The number is CUPTI's result.
    pub const IN_USE: u64 = 3;
    /// A call of CUPTI failed. The text names it, the number is the result.
    pub const CALL_FAILED: u64 = 4;
    /// Records do not look as this version knows them. The number is CUPTI's version.
    pub const LAYOUT: u64 = 5;
    /// A fault of the recorder.
    pub const FAULT: u64 = 6;
}

/// Bytes of a status.
pub const STATUS_BYTES: usize = 48;

/// How the recording of a process stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// One of [`state`].
    pub state: u32,
    /// The system's number of the error that ended writing; 0 without one.
    pub error: u32,
    /// Records that CUPTI had no room for.
    pub dropped: u64,
    /// Records that could not be written.
    pub lost: u64,
    /// Records that do not look as they should.
    pub damaged: u64,
    /// Nanoseconds that the recorder spent on encoding and writing.
    pub spent_ns: u64,
    /// Most buffers that CUPTI held at once.
    pub buffers: u64,
}

impl Status {
    /// Its payload.
    #[must_use]
    pub fn payload(&self) -> [u8; STATUS_BYTES] {
        let mut bytes = [0; STATUS_BYTES];
        let words = [
            u64::from(self.state) | (u64::from(self.error) << 32),
            self.dropped,
            self.lost,
            self.damaged,
            self.spent_ns,
            self.buffers,
        ];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// The status of a payload, where it is long enough.
    #[must_use]
    pub fn of_payload(payload: &[u8]) -> Option<Self> {
        let word = |place: usize| {
            let start = place.checked_mul(8)?;
            let bytes = payload.get(start..start.checked_add(8)?)?;
            Some(u64::from_le_bytes(bytes.try_into().ok()?))
        };
        let first = word(0)?;
        Some(Self {
            state: u32::try_from(first & u64::from(u32::MAX)).ok()?,
            error: u32::try_from(first >> 32).ok()?,
            dropped: word(1)?,
            lost: word(2)?,
            damaged: word(3)?,
            spent_ns: word(4)?,
            buffers: word(5)?,
        })
    }
}

/// The header of a file.
#[must_use]
pub fn header() -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    let [major0, major1] = MAJOR.to_le_bytes();
    let [minor0, minor1] = MINOR.to_le_bytes();
    let start = MAGIC.into_iter().chain([major0, major1, minor0, minor1]);
    for (place, byte) in bytes.iter_mut().zip(start) {
        *place = byte;
    }
    bytes
}

/// Appends a chunk. A payload longer than [`MOST_PAYLOAD_BYTES`] is left out.
pub fn chunk(kind: ChunkKind, payload: &[u8], out: &mut Vec<u8>) {
    let Some(length) = u32::try_from(payload.len())
        .ok()
        .filter(|length| *length <= MOST_PAYLOAD_BYTES)
    else {
        return;
    };
    let kind = kind.number().to_le_bytes();
    let length = length.to_le_bytes();
    out.extend_from_slice(&kind);
    out.extend_from_slice(&length);
    out.extend_from_slice(&checksum(kind, length, payload).to_le_bytes());
    out.extend_from_slice(payload);
}

/// The checksum of a chunk.
#[must_use]
pub fn checksum(kind: [u8; 4], length: [u8; 4], payload: &[u8]) -> u32 {
    !crc_of(crc_of(crc_of(u32::MAX, &kind), &length), payload)
}

/// The end of a [`ChunkKind::Process`] since minor version 1: the rank of the process, its place on its host and the number
/// of processes, each with one added so that 0 is absent, then the variable that told the rank.
pub fn rank(rank: Option<&Rank>, out: &mut Vec<u8>) {
    let one_more = |value: Option<u64>| value.map_or(0, |value| value.saturating_add(1));
    number(one_more(rank.map(|rank| rank.number)), out);
    number(one_more(rank.and_then(|rank| rank.local)), out);
    number(one_more(rank.and_then(|rank| rank.size)), out);
    text(rank.map_or("", |rank| &rank.told_by), out);
}

/// Appends a number: seven bits in each byte, the lowest first; the top bit says that more follow.
pub fn number(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(low_byte(value) | 0x80);
        value >>= 7;
    }
    out.push(low_byte(value));
}

fn low_byte(value: u64) -> u8 {
    let [byte, ..] = value.to_le_bytes();
    byte
}

/// Appends a text: its length in bytes, then UTF-8.
pub fn text(value: &str, out: &mut Vec<u8>) {
    number(u64::try_from(value.len()).unwrap_or(u64::MAX), out);
    out.extend_from_slice(value.as_bytes());
}

/// Puts small differences of both signs at small numbers.
#[must_use]
pub const fn fold(difference: i64) -> u64 {
    (difference.cast_unsigned() << 1) ^ (difference >> 63).cast_unsigned()
}

/// The difference behind a folded one.
#[must_use]
pub const fn unfold(folded: u64) -> i64 {
    (folded >> 1).cast_signed() ^ (folded & 1).cast_signed().wrapping_neg()
}

/// CRC-32 as in zip and Ethernet (reflected, polynomial 0x04c11db7).
#[must_use]
pub fn crc32(bytes: &[u8]) -> u32 {
    !crc_of(u32::MAX, bytes)
}

const TABLES: [[u32; 256]; 8] = tables();

/// Eight bytes in a step: file and checksum are made while the program runs.
fn crc_of(mut state: u32, bytes: &[u8]) -> u32 {
    let at = |table: usize, byte: u8| {
        TABLES
            .get(table)
            .and_then(|table| table.get(usize::from(byte)))
            .copied()
            .unwrap_or(0)
    };
    let mut words = bytes.chunks_exact(8);
    for word in words.by_ref() {
        let Ok([b0, b1, b2, b3, b4, b5, b6, b7]) = <[u8; 8]>::try_from(word) else {
            continue;
        };
        let [s0, s1, s2, s3] = state.to_le_bytes();
        state = at(7, b0 ^ s0)
            ^ at(6, b1 ^ s1)
            ^ at(5, b2 ^ s2)
            ^ at(4, b3 ^ s3)
            ^ at(3, b4)
            ^ at(2, b5)
            ^ at(1, b6)
            ^ at(0, b7);
    }
    for byte in words.remainder() {
        let [low, ..] = state.to_le_bytes();
        state = at(0, byte ^ low) ^ (state >> 8);
    }
    state
}

#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    reason = "worked out by the compiler, which refuses what goes wrong"
)]
const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 {
                0xedb8_8320 ^ (value >> 1)
            } else {
                value >> 1
            };
            bit += 1;
        }
        tables[0][byte] = value;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = tables[0][(before & 0xff) as usize] ^ (before >> 8);
            byte += 1;
        }
        table += 1;
    }
    tables
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_zip() {
        // The check value of the catalogue of CRCs (CRC-32/ISO-HDLC), and one that zlib gives.
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
        assert_eq!(crc32(&[0xff; 32]), 0xff6c_ab0b);
        let kind = [6, 0, 0, 0];
        let length = [3, 0, 0, 0];
        assert_eq!(
            checksum(kind, length, b"abc"),
            crc32(b"\x06\0\0\0\x03\0\0\0abc")
        );
    }

    #[test]
    fn numbers_are_as_short_as_they_can_be() {
        let bytes = |value| {
            let mut out = Vec::new();
            number(value, &mut out);
            out
        };
        assert_eq!(bytes(0), [0]);
        assert_eq!(bytes(127), [127]);
        assert_eq!(bytes(128), [0x80, 1]);
        assert_eq!(bytes(300), [0xac, 2]);
        assert_eq!(bytes(u64::MAX).len(), 10);
    }

    #[test]
    fn a_status_has_one_form() {
        let status = Status {
            state: state::WRITE_FAILED,
            error: 28,
            dropped: 3,
            lost: 4,
            damaged: 5,
            spent_ns: 6,
            buffers: 7,
        };
        assert_eq!(Status::of_payload(&status.payload()), Some(status));
        assert_eq!(
            Status::of_payload(status.payload().get(..47).unwrap()),
            None
        );
    }

    proptest::proptest! {
        #[test]
        fn folding_can_be_undone(difference: i64) {
            proptest::prop_assert_eq!(unfold(fold(difference)), difference);
        }
    }
}
