//! Reports inside a zstd (`.ncu-repz`) or gzip stream, recognised by content.

use std::borrow::Cow;
use std::io::Read;

use crate::error::{Error, Kind};

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// No unpacked report is larger than this; a larger one is to be unpacked to a file and mapped.
const ABSOLUTE_LIMIT: u64 = 4 << 30;
/// Reports pack well (64 : 1 was seen, since every kernel repeats the section definitions), but not a thousandfold.
const RATIO_LIMIT: u64 = 1000;
/// Below this the ratio is not looked at.
const FREE_LIMIT: u64 = 64 << 20;

/// Unpacked bytes, and what went wrong on the way.
#[derive(Clone, Debug)]
pub struct Unpacked<'a> {
    /// The content; borrowed when the input was not compressed.
    pub bytes: Cow<'a, [u8]>,
    /// Why the content is not complete, if it is not.
    pub problem: Option<Error>,
}

/// How many bytes a compressed input of this size may unpack to: a thousandfold, at least 64 MiB, at most 4 GiB.
#[must_use]
pub fn default_limit(compressed_bytes: u64) -> u64 {
    compressed_bytes
        .saturating_mul(RATIO_LIMIT)
        .clamp(FREE_LIMIT, ABSOLUTE_LIMIT)
}

/// Unpacks zstd and gzip; anything else is passed through.
///
/// Of a damaged or too large stream the part before the damage is returned, with the problem beside it.
#[must_use]
pub fn unpack(input: &[u8], limit_bytes: u64) -> Unpacked<'_> {
    if input.starts_with(&ZSTD_MAGIC) {
        unpack_zstd(input, limit_bytes)
    } else if input.starts_with(&GZIP_MAGIC) {
        drain(flate2::read::MultiGzDecoder::new(input), limit_bytes)
    } else {
        Unpacked {
            bytes: Cow::Borrowed(input),
            problem: None,
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn unpack_zstd(input: &[u8], limit_bytes: u64) -> Unpacked<'static> {
    match zstd::stream::read::Decoder::with_buffer(input) {
        Ok(decoder) => drain(decoder, limit_bytes),
        Err(error) => failed(&error),
    }
}

#[cfg(target_arch = "wasm32")]
fn unpack_zstd(input: &[u8], limit_bytes: u64) -> Unpacked<'static> {
    match ruzstd::decoding::StreamingDecoder::new(input) {
        Ok(decoder) => drain(decoder, limit_bytes),
        Err(error) => failed(&error),
    }
}

fn failed(error: &dyn std::error::Error) -> Unpacked<'static> {
    Unpacked {
        bytes: Cow::Owned(Vec::new()),
        problem: Some(Error::new(
            Kind::Decompress(error.to_string()),
            None,
            "compressed stream",
        )),
    }
}

/// Reads a decoder to its end, to its first error or to the limit.
fn drain(decoder: impl Read, limit: u64) -> Unpacked<'static> {
    let mut bytes = Vec::new();
    let outcome = decoder
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes);
    let over = crate::wire::len(&bytes) > limit;
    let kind = match outcome {
        _ if over => {
            bytes.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            Some(Kind::TooLarge { limit })
        }
        Ok(_) => None,
        Err(error) => Some(Kind::Decompress(error.to_string())),
    };
    let problem = kind.map(|kind| Error::new(kind, crate::wire::len(&bytes), "compressed stream"));
    Unpacked {
        bytes: Cow::Owned(bytes),
        problem,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn plain_input_is_borrowed() {
        assert!(matches!(
            unpack(b"NVR\0", 10).bytes,
            Cow::Borrowed(b"NVR\0")
        ));
    }

    #[test]
    fn zstd_and_gzip_are_unpacked() {
        let packed = zstd::encode_all(&b"hello"[..], 3).unwrap();
        assert_eq!(&*unpack(&packed, 100).bytes, b"hello");
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, b"hello").unwrap();
        assert_eq!(&*unpack(&packed.finish().unwrap(), 100).bytes, b"hello");
    }

    #[test]
    fn a_bomb_stops_at_the_limit() {
        let packed = zstd::encode_all(&vec![0; 1 << 20][..], 3).unwrap();
        let unpacked = unpack(&packed, 1000);
        assert_eq!(unpacked.bytes.len(), 1000);
        assert_eq!(unpacked.problem.unwrap().code(), "NCU0010");
    }

    #[test]
    fn a_truncated_stream_keeps_its_beginning() {
        let data: Vec<u8> = (0..400_000_u32)
            .flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes())
            .collect();
        let packed = zstd::encode_all(&data[..], 1).unwrap();
        let unpacked = unpack(&packed[..packed.len() / 2], 1 << 30);
        assert_eq!(unpacked.problem.unwrap().code(), "NCU0009");
        assert!(unpacked.bytes.len() > data.len() / 3);
        assert!(data.starts_with(&unpacked.bytes));
    }
}
