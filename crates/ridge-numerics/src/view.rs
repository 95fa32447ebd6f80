//! A tensor as it lies in memory: bytes with a format, a shape and strides. It borrows the bytes and copies none.

use std::borrow::Cow;
use std::fmt;

use crate::format::{Endian, Format};

/// Why bytes are no tensor of a format and shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeMismatch {
    /// Bytes that format and shape need; `None` when there are more than 2^64.
    pub needed_bytes: Option<u64>,
    /// Bytes that are there.
    pub found_bytes: u64,
}

impl fmt::Display for SizeMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.needed_bytes {
            Some(needed) => write!(
                f,
                "shape and format need {needed} bytes, and there are {}",
                self.found_bytes
            ),
            None => write!(
                f,
                "shape and format need more than 2^64 bytes, and there are {}",
                self.found_bytes
            ),
        }
    }
}

impl std::error::Error for SizeMismatch {}

/// A tensor that lies in memory.
///
/// Elements are numbered in the order of C, the last axis fastest, whatever their order in memory. A complex tensor is one of its
/// parts, with one more axis of length 2.
#[derive(Clone, Debug)]
pub struct View<'a> {
    format: Format,
    shape: Vec<u64>,
    /// In elements, for each axis.
    strides: Vec<u64>,
    endian: Endian,
    bytes: &'a [u8],
    is_row_major: bool,
}

impl<'a> View<'a> {
    /// A tensor whose last axis is contiguous, as C and PyTorch have it.
    ///
    /// # Errors
    /// When the bytes are not as many as shape and format need.
    pub fn row_major(
        format: Format,
        shape: &[u64],
        endian: Endian,
        bytes: &'a [u8],
    ) -> Result<Self, SizeMismatch> {
        Self::new(format, shape, endian, bytes, true)
    }

    /// A tensor whose first axis is contiguous, as Fortran has it.
    ///
    /// # Errors
    /// When the bytes are not as many as shape and format need.
    pub fn column_major(
        format: Format,
        shape: &[u64],
        endian: Endian,
        bytes: &'a [u8],
    ) -> Result<Self, SizeMismatch> {
        Self::new(format, shape, endian, bytes, false)
    }

    fn new(
        format: Format,
        shape: &[u64],
        endian: Endian,
        bytes: &'a [u8],
        is_row_major: bool,
    ) -> Result<Self, SizeMismatch> {
        let needed_bytes = shape
            .iter()
            .try_fold(format.size_bytes() as u64, |bytes, length| {
                bytes.checked_mul(*length)
            });
        let found_bytes = bytes.len() as u64;
        if needed_bytes != Some(found_bytes) {
            return Err(SizeMismatch {
                needed_bytes,
                found_bytes,
            });
        }
        let mut shape = shape.to_vec();
        let mut strides = vec![0; shape.len()];
        let mut stride = format.parts() as u64;
        let mut place = |axis: usize| {
            strides[axis] = stride;
            stride *= shape[axis];
        };
        if is_row_major {
            (0..shape.len()).rev().for_each(&mut place);
        } else {
            (0..shape.len()).for_each(&mut place);
        }
        if format.is_complex() {
            shape.push(format.parts() as u64);
            strides.push(1);
        }
        // With one axis that is longer than 1, both orders are the same.
        let is_flat = shape.iter().filter(|length| **length > 1).count() <= 1;
        Ok(Self {
            format: format.part(),
            shape,
            strides,
            endian,
            bytes,
            is_row_major: is_row_major || is_flat,
        })
    }

    /// The format of an element; of a complex tensor that of a part.
    #[must_use]
    pub const fn format(&self) -> Format {
        self.format
    }

    /// The lengths of the axes.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// How many elements there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The tensor as a matrix: the length of all axes but the last together, and that of the last.
    #[must_use]
    pub fn matrix(&self) -> (u64, u64) {
        let columns = self.shape.last().copied().unwrap_or(1);
        (self.len().checked_div(columns).unwrap_or(0), columns)
    }

    /// The place of an element on each axis.
    #[must_use]
    pub fn index(&self, element: u64) -> Vec<u64> {
        let mut rest = element;
        let mut index: Vec<u64> = self
            .shape
            .iter()
            .rev()
            .map(|length| {
                let length = (*length).max(1);
                let place = rest % length;
                rest /= length;
                place
            })
            .collect();
        index.reverse();
        index
    }

    /// The code of an element.
    #[must_use]
    pub fn code(&self, element: u64) -> Option<u64> {
        if element >= self.len() {
            return None;
        }
        let size = self.format.size_bytes();
        let place = if self.is_row_major {
            element
        } else {
            self.index(element)
                .iter()
                .zip(&self.strides)
                .map(|(index, stride)| index * stride)
                .sum()
        };
        let start = usize::try_from(place).ok()?.checked_mul(size)?;
        let bytes = self.bytes.get(start..start.checked_add(size)?)?;
        let mut code = [0];
        self.format.codes(bytes, self.endian, &mut code);
        Some(code[0])
    }

    /// The value of an element.
    #[must_use]
    pub fn value(&self, element: u64) -> Option<f64> {
        self.code(element).map(|code| self.format.decode(code))
    }

    /// The bytes of elements one after another, little-endian: borrowed where they lie so, else copied into `scratch`.
    pub(crate) fn block<'b>(
        &'b self,
        first: u64,
        count: usize,
        scratch: &'b mut Vec<u8>,
    ) -> Cow<'b, [u8]>
    where
        'a: 'b,
    {
        let size = self.format.size_bytes();
        let start = usize::try_from(first).map_or(usize::MAX, |first| first.saturating_mul(size));
        if self.is_row_major {
            let bytes = self
                .bytes
                .get(start..start.saturating_add(count * size))
                .unwrap_or_default();
            if self.endian == Endian::Little || size == 1 {
                return Cow::Borrowed(bytes);
            }
            scratch.clear();
            for element in bytes.chunks_exact(size) {
                scratch.extend(element.iter().rev());
            }
            return Cow::Borrowed(scratch);
        }
        self.gather(first, count, scratch);
        Cow::Borrowed(scratch)
    }

    /// Copies elements that do not lie one after another, by counting along the axes.
    fn gather(&self, first: u64, count: usize, scratch: &mut Vec<u8>) {
        let size = self.format.size_bytes();
        let mut index = self.index(first);
        let mut place: u64 = index
            .iter()
            .zip(&self.strides)
            .map(|(index, stride)| index * stride)
            .sum();
        scratch.clear();
        for _ in 0..count {
            // The bytes are as many as shape and format need, so that each place is within them.
            let start = place as usize * size;
            let bytes = self.bytes.get(start..start + size).unwrap_or_default();
            if self.endian == Endian::Little {
                scratch.extend(bytes);
            } else {
                scratch.extend(bytes.iter().rev());
            }
            for axis in (0..self.shape.len()).rev() {
                index[axis] += 1;
                place += self.strides[axis];
                if index[axis] < self.shape[axis] {
                    break;
                }
                place -= self.strides[axis] * self.shape[axis];
                index[axis] = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(values: impl IntoIterator<Item = i16>, endian: Endian) -> Vec<u8> {
        values
            .into_iter()
            .flat_map(|value| match endian {
                Endian::Little => value.to_le_bytes(),
                Endian::Big => value.to_be_bytes(),
            })
            .collect()
    }

    #[test]
    fn every_order_in_memory_gives_the_same_elements() {
        // Element (i, j, k) of a 2 by 3 by 4 tensor is 100 i + 10 j + k.
        let row: Vec<i16> = (0..2)
            .flat_map(|i| (0..3).flat_map(move |j| (0..4).map(move |k| 100 * i + 10 * j + k)))
            .collect();
        let column: Vec<i16> = (0..4)
            .flat_map(|k| (0..3).flat_map(move |j| (0..2).map(move |i| 100 * i + 10 * j + k)))
            .collect();
        for endian in [Endian::Little, Endian::Big] {
            let row_bytes = bytes(row.iter().copied(), endian);
            let column_bytes = bytes(column.iter().copied(), endian);
            let views = [
                View::row_major(Format::I16, &[2, 3, 4], endian, &row_bytes).unwrap(),
                View::column_major(Format::I16, &[2, 3, 4], endian, &column_bytes).unwrap(),
            ];
            for view in views {
                let mut scratch = Vec::new();
                for first in 0..24 {
                    let count = (24 - first) as usize;
                    let block = view.block(first, count, &mut scratch);
                    assert_eq!(
                        block.as_ref(),
                        bytes(row[first as usize..].iter().copied(), Endian::Little)
                    );
                }
                for (element, value) in (0..).zip(&row) {
                    assert_eq!(view.value(element), Some(f64::from(*value)));
                }
                assert_eq!(view.index(23), [1, 2, 3]);
                assert_eq!(view.code(24), None);
                assert_eq!(view.matrix(), (6, 4));
            }
        }
    }

    #[test]
    fn complex_tensors_are_their_parts() {
        let parts: Vec<u8> = [1_f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
            .iter()
            .flat_map(|part| part.to_le_bytes())
            .collect();
        let view = View::column_major(Format::C64, &[2, 2], Endian::Little, &parts).unwrap();
        assert_eq!(view.shape(), [2, 2, 2]);
        let values: Vec<f64> = (0..8).filter_map(|element| view.value(element)).collect();
        assert_eq!(values, [1.0, 2.0, 5.0, 6.0, 3.0, 4.0, 7.0, 8.0]);
    }

    #[test]
    fn bytes_have_to_be_as_many_as_the_shape_needs() {
        let error = View::row_major(Format::F32, &[3], Endian::Little, &[0; 8]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "shape and format need 12 bytes, and there are 8"
        );
        let error = View::row_major(Format::F32, &[u64::MAX, 2], Endian::Little, &[]).unwrap_err();
        assert!(error.to_string().contains("2^64"));
        assert!(
            View::row_major(Format::F32, &[0, 7], Endian::Little, &[])
                .unwrap()
                .is_empty()
        );
        assert_eq!(
            View::row_major(Format::F32, &[], Endian::Little, &[0; 4])
                .unwrap()
                .matrix(),
            (1, 1)
        );
    }
}
