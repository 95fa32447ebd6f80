//! Many elements at once.

use super::Format;

/// The order of the bytes of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endian {
    /// The lowest byte first, as GPUs have it.
    Little,
    /// The highest byte first.
    Big,
}

/// Reads elements of `N` bytes.
#[inline]
fn each<const N: usize, T>(
    bytes: &[u8],
    endian: Endian,
    out: &mut [T],
    value: impl Fn([u8; N]) -> T,
) -> usize {
    let (elements, _) = bytes.as_chunks::<N>();
    // The order is asked for once, not for each element: the loops become vector code.
    match endian {
        Endian::Little => {
            for (out, &element) in out.iter_mut().zip(elements) {
                *out = value(element);
            }
        }
        Endian::Big => {
            for (out, &element) in out.iter_mut().zip(elements) {
                let mut element = element;
                element.reverse();
                *out = value(element);
            }
        }
    }
    out.len().min(elements.len())
}

/// Binary16 without a branch and without subnormal numbers of the processor, which are slow on many.
#[inline]
fn decode_half(code: u16) -> f64 {
    let magnitude = u32::from(code & 0x7fff);
    let moved = magnitude << 13;
    let normal = f32::from_bits(moved + ((127 - 15) << 23));
    let special = f32::from_bits(moved | 0x7f80_0000);
    let small = magnitude as f32 * (1.0 / 16_777_216.0);
    let value = if magnitude < 0x0400 {
        small
    } else if magnitude < 0x7c00 {
        normal
    } else {
        special
    };
    f64::from(f32::from_bits(
        value.to_bits() | u32::from(code & 0x8000) << 16,
    ))
}

impl Format {
    /// The values of elements that stand one after another, in `out`; complex elements give two. Returns how many were
    /// written: as many as there are whole ones and `out` has room for. FP6 and FP4 take a byte each.
    pub fn decode_slice(self, bytes: &[u8], endian: Endian, out: &mut [f64]) -> usize {
        match self.part() {
            Self::F64 => each(bytes, endian, out, f64::from_le_bytes),
            Self::F32 => each(bytes, endian, out, |element| {
                f64::from(f32::from_le_bytes(element))
            }),
            Self::F16 => each(bytes, endian, out, |element| {
                decode_half(u16::from_le_bytes(element))
            }),
            Self::Bf16 => each(bytes, endian, out, |element| {
                f64::from(f32::from_bits(u32::from(u16::from_le_bytes(element)) << 16))
            }),
            Self::I16 => each(bytes, endian, out, |element| {
                f64::from(i16::from_le_bytes(element))
            }),
            Self::I32 => each(bytes, endian, out, |element| {
                f64::from(i32::from_le_bytes(element))
            }),
            part => match part.size_bytes() {
                1 => {
                    let table: [f64; 256] = std::array::from_fn(|code| part.decode(code as u64));
                    each(bytes, endian, out, |[code]| table[usize::from(code)])
                }
                2 => each(bytes, endian, out, |element| {
                    part.decode(u64::from(u16::from_le_bytes(element)))
                }),
                4 => each(bytes, endian, out, |element| {
                    part.decode(u64::from(u32::from_le_bytes(element)))
                }),
                _ => each(bytes, endian, out, |element| {
                    part.decode(u64::from_le_bytes(element))
                }),
            },
        }
    }

    /// The codes of elements that stand one after another; as [`Format::decode_slice`] otherwise.
    pub fn codes(self, bytes: &[u8], endian: Endian, out: &mut [u64]) -> usize {
        match self.part().size_bytes() {
            1 => each(bytes, endian, out, |[code]| u64::from(code)),
            2 => each(bytes, endian, out, |element| {
                u64::from(u16::from_le_bytes(element))
            }),
            4 => each(bytes, endian, out, |element| {
                u64::from(u32::from_le_bytes(element))
            }),
            _ => each(bytes, endian, out, u64::from_le_bytes),
        }
    }
}
