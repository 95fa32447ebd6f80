//! Reports inside a zstd (`.ncu-repz`) or gzip stream, recognised by content.

use std::borrow::Cow;
use std::io::{ErrorKind, Read};

use crate::error::{Error, Kind};

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Frames without content, which some packers put first; the low half of the first byte is free.
const ZSTD_SKIPPABLE: [u8; 3] = [0x2a, 0x4d, 0x18];

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
    let skippable = matches!(input, [0x50..=0x5f, rest @ ..] if rest.starts_with(&ZSTD_SKIPPABLE));
    if input.starts_with(&ZSTD_MAGIC) || skippable {
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
        Err(error) => Unpacked {
            bytes: Cow::Owned(Vec::new()),
            problem: Some(Error::new(damaged(&error), None, "compressed stream")),
        },
    }
}

/// The Rust decoder reads one frame at a time, and passes over none.
#[cfg(target_arch = "wasm32")]
fn unpack_zstd(input: &[u8], limit_bytes: u64) -> Unpacked<'static> {
    drain(Frames { input, frame: None }, limit_bytes)
}

#[cfg(target_arch = "wasm32")]
struct Frames<'a> {
    input: &'a [u8],
    frame: Option<Box<ruzstd::decoding::FrameDecoder>>,
}

#[cfg(target_arch = "wasm32")]
impl Frames<'_> {
    /// The error of a decoder that has read all that there is says that there should be more.
    fn error(&self, error: &dyn std::error::Error) -> std::io::Error {
        let kind = match self.input {
            [] => ErrorKind::UnexpectedEof,
            _ => ErrorKind::InvalidData,
        };
        std::io::Error::new(kind, error.to_string())
    }
}

#[cfg(target_arch = "wasm32")]
impl Read for Frames<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        use ruzstd::decoding::BlockDecodingStrategy::UptoBlocks;
        use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
        loop {
            let Some(frame) = &mut self.frame else {
                if self.input.is_empty() {
                    return Ok(0);
                }
                let mut frame = Box::new(ruzstd::decoding::FrameDecoder::new());
                match frame.init(&mut self.input) {
                    Ok(()) => self.frame = Some(frame),
                    Err(FrameDecoderError::ReadFrameHeaderError(
                        ReadFrameHeaderError::SkipFrame { length, .. },
                    )) => {
                        let length = usize::try_from(length).unwrap_or(usize::MAX);
                        let rest = self.input.get(length..);
                        self.input = rest.ok_or(ErrorKind::UnexpectedEof)?;
                    }
                    Err(error) => return Err(self.error(&error)),
                }
                continue;
            };
            if frame.can_collect() > 0 {
                return frame.read(out);
            }
            if frame.is_finished() {
                self.frame = None;
            } else if let Err(error) = frame.decode_blocks(&mut self.input, UptoBlocks(1)) {
                return Err(self.error(&error));
            }
        }
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
        Err(error) => Some(damaged(&error)),
    };
    let problem = kind.map(|kind| Error::new(kind, crate::wire::len(&bytes), "compressed stream"));
    Unpacked {
        bytes: Cow::Owned(bytes),
        problem,
    }
}

fn damaged(error: &std::io::Error) -> Kind {
    Kind::Decompress {
        reason: error.to_string(),
        ends_early: error.kind() == ErrorKind::UnexpectedEof,
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
