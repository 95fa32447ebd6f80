//! The elements of a tensor, block by block.

use std::ops::Range;

use super::zip::Inflated;
use super::{Head, Order, Reason, Source, Tensor, TensorError};
use crate::format::{Endian, Format};

/// Reads a tensor from its first element to its last, in C order.
pub struct Blocks<'a> {
    head: Head,
    elements: Elements<'a>,
    next: u64,
    end: u64,
    block: u64,
    /// The block, where it is not part of the input.
    buffer: Vec<u8>,
}

/// How elements are got.
enum Elements<'a> {
    /// They stand in the input as they are needed.
    There(&'a [u8]),
    /// They stand bit after bit.
    Packed(&'a [u8]),
    /// They stand in another order.
    Scattered(&'a [u8]),
    /// They are unpacked on the way.
    Inflated(Box<Inflated<'a>>),
}

/// Some elements that follow one another in C order, each in whole bytes.
#[derive(Clone, Copy, Debug)]
pub struct Block<'b> {
    /// The place of the first one among all elements.
    pub first: u64,
    /// Their bytes.
    pub bytes: &'b [u8],
    /// Their format.
    pub format: Format,
    /// The order of the bytes of each.
    pub endian: Endian,
}

impl Block<'_> {
    /// The number of elements.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.bytes.len() / self.format.size_bytes()
    }

    /// The values, as [`Format::decode_slice`]: two for a complex element.
    pub fn decode(&self, out: &mut [f64]) -> usize {
        self.format.decode_slice(self.bytes, self.endian, out)
    }

    /// The codes, as [`Format::codes`]: two for a complex element.
    pub fn codes(&self, out: &mut [u64]) -> usize {
        self.format.codes(self.bytes, self.endian, out)
    }
}

impl<'a> Blocks<'a> {
    pub(super) fn new(
        tensor: &Tensor<'a>,
        part: Range<u64>,
        block: usize,
    ) -> Result<Self, TensorError> {
        let head = tensor.head.clone();
        let end = part.end.min(head.elements());
        let next = part.start.min(end);
        let is_scattered = head.order == Order::Fortran && !tensor.is_flat();
        let elements = match tensor.source {
            Source::Stored(bytes) if is_scattered => Elements::Scattered(bytes),
            Source::Stored(bytes) if head.is_packed => Elements::Packed(bytes),
            Source::Stored(bytes) => Elements::There(bytes),
            Source::Deflated { .. } if is_scattered => {
                return Err(TensorError::new(head.data.start, Reason::CompressedFortran));
            }
            Source::Deflated { bytes, checksum } => {
                let mut inflated = Inflated::new(bytes, checksum);
                inflated.skip(head.data.start + next * head.format.size_bytes() as u64)?;
                Elements::Inflated(Box::new(inflated))
            }
        };
        Ok(Self {
            head,
            elements,
            next,
            end,
            block: (block as u64).max(1),
            buffer: Vec::new(),
        })
    }

    /// The next block; `None` after the last one.
    ///
    /// # Errors
    ///
    /// A compressed tensor is damaged, or shorter than its head says.
    pub fn next_block(&mut self) -> Result<Option<Block<'_>>, TensorError> {
        if self.next >= self.end {
            return Ok(None);
        }
        let first = self.next;
        let count = self.block.min(self.end - first);
        let size = self.head.format.size_bytes();
        let bytes: &[u8] = match &mut self.elements {
            // Elements are within the bytes: that was checked when the head was read.
            Elements::There(bytes) => {
                &bytes[first as usize * size..(first + count) as usize * size]
            }
            Elements::Packed(bytes) => {
                let format = self.head.format;
                format.unpack(bytes, first, count as usize, &mut self.buffer);
                &self.buffer
            }
            Elements::Scattered(bytes) => {
                let shape = &self.head.shape;
                let out = &mut self.buffer;
                out.clear();
                match size {
                    1 => gather::<1>(bytes, shape, first, count, out),
                    2 => gather::<2>(bytes, shape, first, count, out),
                    4 => gather::<4>(bytes, shape, first, count, out),
                    8 => gather::<8>(bytes, shape, first, count, out),
                    _ => gather::<16>(bytes, shape, first, count, out),
                }
                &self.buffer
            }
            Elements::Inflated(inflated) => {
                inflated.read(count * size as u64, &mut self.buffer)?;
                if first + count == self.head.elements() {
                    inflated.finish()?;
                }
                &self.buffer
            }
        };
        self.next += count;
        Ok(Some(Block {
            first,
            bytes,
            format: self.head.format,
            endian: self.head.endian,
        }))
    }
}

/// Picks elements in C order from where they stand in Fortran order.
fn gather<const N: usize>(bytes: &[u8], shape: &[u64], first: u64, count: u64, out: &mut Vec<u8>) {
    let (elements, _) = bytes.as_chunks::<N>();
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1;
    for &size in shape {
        strides.push(stride);
        stride *= size;
    }
    let mut index = vec![0; shape.len()];
    let mut rest = first;
    let mut place = 0;
    for (axis, &size) in shape.iter().enumerate().rev() {
        index[axis] = rest % size;
        rest /= size;
        place += index[axis] * strides[axis];
    }
    out.reserve(count as usize * N);
    for _ in 0..count {
        out.extend_from_slice(&elements[place as usize]);
        for (axis, &size) in shape.iter().enumerate().rev() {
            index[axis] += 1;
            place += strides[axis];
            if index[axis] < size {
                break;
            }
            index[axis] = 0;
            place -= strides[axis] * size;
        }
    }
}
