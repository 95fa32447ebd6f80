//! Fat binaries: the containers in which the compiler puts cubins and PTX for several architectures, alone
//! (`nvcc -fatbin`) or in the section `.nv_fatbin` of an object file, a library or a program.
//!
//! ```
//! # fn main() -> Result<(), ncu_rep::Error> {
//! # let file = include_bytes!("../../../../fixtures/cubin/occupancy.fatbin");
//! use ncu_rep::cubin::{Cubin, fatbin};
//!
//! assert!(fatbin::looks_like(file));
//! for image in fatbin::images(file)?.0 {
//!     if image.kind == fatbin::Kind::Cubin {
//!         let code = image.unpack()?;
//!         assert_eq!(Cubin::parse(&code)?.capability(), image.capability);
//!     }
//! }
//! # Ok(())
//! # }
//! ```

use std::borrow::Cow;

use object::LittleEndian;
use object::elf::{self, FileHeader64};
use object::read::elf::{FileHeader as _, SectionHeader as _};

use crate::error::{Error, Kind as Reason};
use crate::report::Problems;
use crate::wire::len;

const MAGIC: [u8; 4] = [0x50, 0xed, 0x55, 0xba];
const SECTION: &[u8] = b".nv_fatbin";
/// Images are small and pack some tenfold; nothing honest comes near.
const MAX_IMAGE_BYTES: u64 = 256 << 20;
const MAX_RATIO: u64 = 1000;
/// Images of one file that are listed.
const MAX_IMAGES: usize = 4096;

/// Flags of an image.
const PACKED_LZ4: u64 = 0x2000;
const PACKED_ZSTD: u64 = 0x8000;

/// What an image holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// PTX text, which the driver compiles.
    Ptx,
    /// A cubin.
    Cubin,
    /// Something that this version does not know.
    Other(u16),
}

/// One image of a fat binary, still packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image<'a> {
    /// What it holds.
    pub kind: Kind,
    /// The compute capability that it is for, major and minor number.
    pub capability: (u32, u32),
    /// Where its content starts in the file.
    offset: u64,
    content: &'a [u8],
    packing: Packing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Plain,
    Lz4 { bytes: u64 },
    Zstd { bytes: u64 },
}

/// Whether the bytes start as a fat binary does, or as an ELF file that can hold one.
#[must_use]
pub fn looks_like(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC) || is_host_elf(bytes)
}

fn is_host_elf(bytes: &[u8]) -> bool {
    FileHeader64::<LittleEndian>::parse(bytes).is_ok_and(|header| {
        header.is_little_endian() && header.e_machine(LittleEndian) != elf::EM_CUDA
    })
}

/// Lists the images of a fat binary, or of all fat binaries in an object file, library or program for the host, with
/// what could not be read.
///
/// # Errors
/// When there is no fat binary.
pub fn images(bytes: &[u8]) -> Result<(Vec<Image<'_>>, Vec<Error>), Error> {
    let mut reader = Reader::default();
    if bytes.starts_with(&MAGIC) {
        reader.containers(bytes, 0);
    } else {
        let refused = |reason: String, offset| {
            Error::new(Reason::Cubin(Cow::Owned(reason)), offset, "fat binary")
        };
        let header = FileHeader64::<LittleEndian>::parse(bytes)
            .map_err(|error| refused(error.to_string(), 0))?;
        let sections = header
            .sections(LittleEndian, bytes)
            .map_err(|error| refused(error.to_string(), header.e_shoff(LittleEndian)))?;
        let found = sections
            .iter()
            .find(|section| sections.section_name(LittleEndian, section) == Ok(SECTION))
            .ok_or_else(|| refused("the ELF file holds no code for GPUs".to_owned(), 0))?;
        let offset = found.sh_offset(LittleEndian);
        let data = found
            .data(LittleEndian, bytes)
            .map_err(|error| refused(error.to_string(), offset))?;
        reader.containers(data, offset);
    }
    Ok((reader.images, reader.problems.into_vec()))
}

#[derive(Default)]
struct Reader<'a> {
    images: Vec<Image<'a>>,
    problems: Problems,
}

impl<'a> Reader<'a> {
    fn problem(&mut self, reason: Reason, offset: u64, field: &'static str) {
        self.problems.push(Error::new(reason, offset, field));
    }

    /// One container after the other; zeros between them are padding.
    fn containers(&mut self, mut rest: &'a [u8], mut offset: u64) {
        loop {
            let padding = rest.iter().take_while(|byte| **byte == 0).count();
            rest = rest.get(padding..).unwrap_or_default();
            offset = offset.saturating_add(u64::try_from(padding).unwrap_or(u64::MAX));
            if rest.is_empty() {
                return;
            }
            let Some(used) = self.container(rest, offset) else {
                return;
            };
            rest = rest.get(used..).unwrap_or_default();
            offset = offset.saturating_add(u64::try_from(used).unwrap_or(u64::MAX));
        }
    }

    /// One container; returns how many bytes it takes.
    fn container(&mut self, bytes: &'a [u8], offset: u64) -> Option<usize> {
        let field = "fat binary";
        let Some((magic, head)) = bytes.split_first_chunk::<4>() else {
            self.problem(
                Reason::Truncated {
                    needed: 16,
                    available: len(bytes),
                },
                offset,
                field,
            );
            return None;
        };
        let (Some(header), Some(size)) = (number(head, 2, 2), number(head, 4, 8)) else {
            self.problem(
                Reason::Truncated {
                    needed: 16,
                    available: len(bytes),
                },
                offset,
                field,
            );
            return None;
        };
        if *magic != MAGIC || header < 16 {
            let reason = Cow::Borrowed("no fat binary starts here");
            self.problem(Reason::Cubin(reason), offset, field);
            return None;
        }
        let whole = header.saturating_add(size);
        let held = usize::try_from(whole)
            .ok()
            .filter(|whole| *whole <= bytes.len());
        if held.is_none() {
            let available = len(bytes).saturating_sub(header);
            self.problem(
                Reason::Truncated {
                    needed: size,
                    available,
                },
                offset,
                field,
            );
        }
        let body = bytes.get(..held.unwrap_or(bytes.len()));
        let start = usize::try_from(header).ok()?;
        let mut rest = body.and_then(|body| body.get(start..)).unwrap_or_default();
        let mut place = offset.saturating_add(header);
        while !rest.is_empty() {
            let used = self.image(rest, place)?;
            rest = rest.get(used..).unwrap_or_default();
            place = place.saturating_add(u64::try_from(used).unwrap_or(u64::MAX));
        }
        held
    }

    /// One image; returns how many bytes it takes, header included.
    fn image(&mut self, bytes: &'a [u8], offset: u64) -> Option<usize> {
        let field = "image of a fat binary";
        let (Some(header), Some(padded)) = (number(bytes, 4, 4), number(bytes, 8, 8)) else {
            self.problem(
                Reason::Truncated {
                    needed: 64,
                    available: len(bytes),
                },
                offset,
                field,
            );
            return None;
        };
        let whole = header.saturating_add(padded);
        if header < 64 || whole > len(bytes) {
            let available = len(bytes).saturating_sub(header);
            self.problem(
                Reason::Truncated {
                    needed: padded,
                    available,
                },
                offset,
                field,
            );
            return None;
        }
        if self.images.len() >= MAX_IMAGES {
            self.problem(Reason::TooMany { limit: 4096 }, offset, field);
            return None;
        }
        let (start, end) = (usize::try_from(header).ok()?, usize::try_from(whole).ok()?);
        let content = bytes.get(start..end)?;
        let kind = match number(bytes, 0, 2)? {
            1 => Kind::Ptx,
            2 => Kind::Cubin,
            other => Kind::Other(u16::try_from(other).unwrap_or(u16::MAX)),
        };
        let (packed, flags) = (number(bytes, 16, 4)?, number(bytes, 40, 8)?);
        let unpacked = number(bytes, 56, 8)?;
        let packing = match (flags & PACKED_LZ4 != 0, flags & PACKED_ZSTD != 0) {
            (true, _) => Packing::Lz4 { bytes: unpacked },
            (_, true) => Packing::Zstd { bytes: unpacked },
            _ => Packing::Plain,
        };
        let content = match (packing, usize::try_from(packed)) {
            (Packing::Plain, _) => content,
            (_, Ok(packed)) => content.get(..packed).unwrap_or(content),
            (_, Err(_)) => content,
        };
        let capability = u32::try_from(number(bytes, 28, 4)?).unwrap_or(u32::MAX);
        self.images.push(Image {
            kind,
            capability: (capability / 10, capability % 10),
            offset: offset.saturating_add(header),
            content,
            packing,
        });
        Some(end)
    }
}

/// A little-endian number of up to eight bytes.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(size)?)?;
    let number = bytes
        .iter()
        .rev()
        .fold(0, |number: u64, byte| (number << 8) | u64::from(*byte));
    Some(number)
}

impl<'a> Image<'a> {
    /// The content: a cubin, or PTX text.
    ///
    /// # Errors
    /// When it is damaged, announces to be larger than any honest image, or is packed and the crate was built without
    /// the feature `decompress`.
    pub fn unpack(&self) -> Result<Cow<'a, [u8]>, Error> {
        let failed = |reason: &'static str| {
            Error::new(
                Reason::Cubin(Cow::Borrowed(reason)),
                self.offset,
                "image of a fat binary",
            )
        };
        let (Packing::Lz4 { bytes } | Packing::Zstd { bytes }) = self.packing else {
            return Ok(Cow::Borrowed(self.content));
        };
        if bytes > MAX_IMAGE_BYTES.min(len(self.content).saturating_mul(MAX_RATIO)) {
            return Err(failed("an image announces more bytes than it can hold"));
        }
        let size = usize::try_from(bytes).map_err(|_| failed("an image is too large"))?;
        match self.packing {
            Packing::Lz4 { .. } => lz4(self.content, size)
                .map(Cow::Owned)
                .ok_or_else(|| failed("the LZ4 data of an image is damaged")),
            _ => self.unpack_zstd(bytes),
        }
    }

    #[cfg(feature = "decompress")]
    fn unpack_zstd(&self, limit_bytes: u64) -> Result<Cow<'a, [u8]>, Error> {
        let unpacked = crate::unpack(self.content, limit_bytes);
        match unpacked.problem {
            Some(problem) => Err(problem),
            None => Ok(unpacked.bytes),
        }
    }

    #[cfg(not(feature = "decompress"))]
    fn unpack_zstd(&self, _limit_bytes: u64) -> Result<Cow<'a, [u8]>, Error> {
        Err(Error::new(
            Reason::Cubin(Cow::Borrowed("an image is packed with zstd")),
            self.offset,
            "image of a fat binary",
        ))
    }
}

/// Unpacks an LZ4 block to exactly so many bytes; `None` when it is damaged.
fn lz4(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    const SHORTEST_MATCH: usize = 4;
    let mut input = packed.iter();
    let mut out = Vec::with_capacity(size);
    while out.len() < size {
        let token = *input.next()?;
        let literals = lz4_length(token >> 4, &mut input)?;
        let (copied, rest) = input.as_slice().split_at_checked(literals)?;
        if copied.len() > size.checked_sub(out.len())? {
            return None;
        }
        out.extend_from_slice(copied);
        input = rest.iter();
        if out.len() == size {
            break;
        }
        let distance = usize::from(u16::from_le_bytes([*input.next()?, *input.next()?]));
        let matched = lz4_length(token & 0xf, &mut input)?.checked_add(SHORTEST_MATCH)?;
        if matched > size.checked_sub(out.len())? || distance == 0 {
            return None;
        }
        let mut from = out.len().checked_sub(distance)?;
        // A match may reach into itself, so that it goes byte by byte.
        for _ in 0..matched {
            let byte = *out.get(from)?;
            out.push(byte);
            from = from.checked_add(1)?;
        }
    }
    Some(out)
}

/// A length of four bits, continued in further bytes when these are all set.
fn lz4_length(start: u8, input: &mut std::slice::Iter<'_, u8>) -> Option<usize> {
    let mut length = usize::from(start);
    if start == 0xf {
        loop {
            let more = *input.next()?;
            length = length.checked_add(usize::from(more))?;
            if more != u8::MAX {
                break;
            }
        }
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples of the LZ4 block format, made by hand from its description.
    #[test]
    fn lz4_blocks_are_unpacked() {
        // Four literals, then a match of eight at distance four that reaches into itself, then the last literal.
        let packed = [0x44, b'a', b'b', b'c', b'd', 4, 0, 0x10, b'!'];
        assert_eq!(lz4(&packed, 13).as_deref(), Some(&b"abcdabcdabcd!"[..]));
        // Fifteen and more literals need another byte.
        let mut long = vec![0xf0, 5];
        long.extend([b'x'; 20]);
        assert_eq!(lz4(&long, 20), Some(vec![b'x'; 20]));
    }

    #[test]
    fn damaged_lz4_blocks_are_refused() {
        assert_eq!(lz4(&[], 1), None);
        assert_eq!(lz4(&[0x40, b'a'], 4), None, "ends early");
        assert_eq!(lz4(&[0x10, b'a', 0, 0], 9), None, "distance zero");
        assert_eq!(lz4(&[0x10, b'a', 2, 0], 9), None, "before the start");
        assert_eq!(lz4(&[0x1f, b'a', 1, 0, 255, 255], 9), None, "too long");
        assert_eq!(
            lz4(&[0x40, b'a', b'b', b'c', b'd'], 3),
            None,
            "more than announced"
        );
    }
}
