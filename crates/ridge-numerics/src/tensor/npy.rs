//! `.npy` files, and archives of them.

use std::io::Read as _;

use super::literal::{self, Descr};
use super::zip::{Member, Packing};
use super::{Contents, Head, Kind, Order, Reason, Source, Tensor, TensorError, instead, need};
use crate::format::{Endian, Format};

/// How every file begins.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// A head in a compressed member is unpacked to be read, and not further than this.
const MAX_PACKED_HEAD: u64 = 64 * 1024;

/// Reads a whole file.
pub(super) fn read(bytes: &[u8], elements: Option<Format>) -> Result<Tensor<'_>, TensorError> {
    let head = head(bytes, bytes.len() as u64, elements)?;
    // The range was compared with the length.
    let data = &bytes[head.data.start as usize..head.data.end as usize];
    Ok(Tensor {
        name: None,
        head,
        source: Source::Stored(data),
    })
}

/// Reads the arrays of an archive. Members that are none are among the unreadable ones.
pub(super) fn read_archive<'a>(
    bytes: &'a [u8],
    members: &[Member],
    elements: Option<Format>,
) -> Contents<'a> {
    let mut contents = Contents {
        kind: Kind::Npz,
        tensors: Vec::new(),
        unreadable: Vec::new(),
    };
    for member in members {
        let name = member.name.strip_suffix(".npy").unwrap_or(&member.name);
        match read_member(bytes, member, elements) {
            Ok(tensor) => contents.tensors.push(Tensor {
                name: Some(name.to_owned()),
                ..tensor
            }),
            Err(error) => contents.unreadable.push((name.to_owned(), error)),
        }
    }
    contents
}

fn read_member<'a>(
    bytes: &'a [u8],
    member: &Member,
    elements: Option<Format>,
) -> Result<Tensor<'a>, TensorError> {
    let (start, data) = member.data(bytes)?;
    match member.packing()? {
        Packing::Stored => {
            let mut tensor = read(data, elements)
                .map_err(|error| TensorError::new(start + error.at, error.reason))?;
            let range = &mut tensor.head.data;
            *range = start + range.start..start + range.end;
            Ok(tensor)
        }
        Packing::Deflated => {
            let mut first = Vec::new();
            let unpacked = flate2::read::DeflateDecoder::new(data)
                .take(MAX_PACKED_HEAD)
                .read_to_end(&mut first);
            // What came before the damage may still be a whole head: the damage is told when elements are read.
            if unpacked.is_err() && first.len() < 12 {
                return Err(TensorError::new(first.len() as u64, Reason::Deflate));
            }
            Ok(Tensor {
                name: None,
                head: head(&first, member.size, elements)?,
                source: Source::Deflated {
                    bytes: data,
                    checksum: member.checksum,
                },
            })
        }
    }
}

/// Reads a head. `bytes` may be only the beginning of the `length` bytes that there are.
fn head(bytes: &[u8], length: u64, elements: Option<Format>) -> Result<Head, TensorError> {
    let truncated = |at: usize, what, need: usize| {
        TensorError::new(
            at as u64,
            Reason::Truncated {
                what,
                need: need as u64,
                have: bytes.len().saturating_sub(at) as u64,
            },
        )
    };
    if !bytes.starts_with(MAGIC) {
        return Err(TensorError::new(
            0,
            Reason::Malformed("not an array of NumPy: the magic bytes are missing"),
        ));
    }
    let Some(&[major, minor]) = bytes.get(6..8) else {
        return Err(truncated(6, "the version", 2));
    };
    let (start, text_length) = match (major, minor) {
        (1, 0) => match bytes.get(8..10) {
            Some(&[a, b]) => (10, usize::from(u16::from_le_bytes([a, b]))),
            _ => return Err(truncated(8, "the length of the head", 2)),
        },
        (2 | 3, 0) => match bytes.get(8..12) {
            Some(&[a, b, c, d]) => (12, u32::from_le_bytes([a, b, c, d]) as usize),
            _ => return Err(truncated(8, "the length of the head", 4)),
        },
        _ => return Err(TensorError::new(6, Reason::Version(major, minor))),
    };
    let text = bytes
        .get(start..)
        .and_then(|rest| rest.get(..text_length))
        .ok_or_else(|| truncated(start, "the head", text_length))?;
    let dictionary = literal::read(text, start as u64)?;
    let Descr::Code(code) = dictionary.descr else {
        return Err(TensorError::new(dictionary.descr_at, Reason::Structured));
    };
    let (format, endian) = element(code, elements, dictionary.descr_at)?;
    let data = (start + text_length) as u64;
    let mut head = Head {
        format,
        shape: dictionary.shape,
        order: if dictionary.is_fortran {
            Order::Fortran
        } else {
            Order::C
        },
        endian,
        is_packed: false,
        data: data..data,
    };
    let need = need(&head, dictionary.shape_at)?;
    let have = length.saturating_sub(data);
    if need > have {
        return Err(TensorError::new(
            data,
            Reason::Truncated {
                what: "the array",
                need,
                have,
            },
        ));
    }
    if need < have {
        return Err(TensorError::new(data + need, Reason::Trailing(have - need)));
    }
    head.data = data..data + need;
    Ok(head)
}

/// The format of a type code, or the one that is asked for in its place.
fn element(code: &str, wanted: Option<Format>, at: u64) -> Result<(Format, Endian), TensorError> {
    if let Some((format, endian)) = Format::from_numpy(code) {
        let format = instead(Some(format), format.size_bytes() as u64, wanted, at)?;
        return Ok((format, endian));
    }
    // `V` is bytes without a meaning.
    let size = code
        .strip_prefix(['<', '|', '>', '='])
        .and_then(|rest| rest.strip_prefix('V'))
        .and_then(|digits| digits.parse().ok());
    match size {
        Some(size) => {
            let format = instead(None, size, wanted, at)?;
            let endian = if code.starts_with('>') {
                Endian::Big
            } else {
                Endian::Little
            };
            Ok((format, endian))
        }
        None => Err(TensorError::new(
            at,
            Reason::Type(code.chars().take(80).collect()),
        )),
    }
}
