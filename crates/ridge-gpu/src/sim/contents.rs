//! What simulated memory holds, without holding it: segments that are described, and bytes only where somebody wrote
//! them.

use std::collections::BTreeMap;
use std::rc::Rc;

use ridge_model::NumberFormat;

use super::random::{mix, scramble};

/// What a segment holds. Patterns count from `origin`, so that a segment can be cut.
#[derive(Clone, Debug)]
enum Kind {
    /// One byte again and again.
    Fill(u8),
    /// Bytes, repeated.
    Bytes(Rc<[u8]>),
    /// Numbers that follow from a seed.
    Numbers { seed: u64, format: NumberFormat },
}

#[derive(Clone, Debug)]
struct Segment {
    end: u64,
    origin: u64,
    kind: Kind,
}

/// The contents of one range of memory.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    segments: BTreeMap<u64, Segment>,
}

impl Contents {
    /// Memory that nobody wrote: arbitrary bytes.
    pub(super) fn new(bytes: u64, seed: u64) -> Self {
        let mut contents = Self {
            segments: BTreeMap::new(),
        };
        let kind = Kind::Numbers {
            seed,
            format: NumberFormat::Int4,
        };
        contents.put(0, bytes, kind);
        contents
    }

    fn put(&mut self, start: u64, end: u64, kind: Kind) {
        self.put_segment(
            start,
            Segment {
                end,
                origin: start,
                kind,
            },
        );
    }

    fn put_segment(&mut self, start: u64, segment: Segment) {
        if start >= segment.end {
            return;
        }
        self.cut(start);
        self.cut(segment.end);
        let covered: Vec<u64> = self
            .segments
            .range(start..segment.end)
            .map(|(start, _)| *start)
            .collect();
        for start in covered {
            self.segments.remove(&start);
        }
        self.segments.insert(start, segment);
    }

    /// Makes a position the border of two segments.
    fn cut(&mut self, at: u64) {
        let Some((_, segment)) = self.segments.range_mut(..at).next_back() else {
            return;
        };
        if segment.end > at {
            let rest = segment.clone();
            segment.end = at;
            self.segments.insert(at, rest);
        }
    }

    pub(super) fn fill(&mut self, start: u64, bytes: u64, byte: u8) {
        self.put(start, start + bytes, Kind::Fill(byte));
    }

    pub(super) fn write(&mut self, start: u64, bytes: u64, pattern: Rc<[u8]>) {
        if !pattern.is_empty() {
            self.put(start, start + bytes, Kind::Bytes(pattern));
        }
    }

    pub(super) fn write_numbers(
        &mut self,
        start: u64,
        bytes: u64,
        seed: u64,
        format: NumberFormat,
    ) {
        self.put(start, start + bytes, Kind::Numbers { seed, format });
    }

    /// Copies a range of another memory to the start of this one.
    pub(super) fn copy_from(&mut self, other: &Self, bytes: u64) {
        let mut source = other.clone();
        source.cut(bytes);
        for (start, segment) in source.segments.range(..bytes) {
            self.put_segment(*start, segment.clone());
        }
    }

    pub(super) fn read(&self, start: u64, into: &mut [u8]) {
        let end = start + into.len() as u64;
        let before = self.segments.range(..=start).next_back();
        let rest = self.segments.range(start + 1..end.max(start + 1));
        for (from, segment) in before.into_iter().chain(rest) {
            let from = (*from).max(start);
            let to = segment.end.min(end);
            if from >= to {
                continue;
            }
            let part = &mut into[(from - start) as usize..(to - start) as usize];
            segment.kind.read(from - segment.origin, part);
        }
    }

    /// A number that stands for the contents of a range: equal for equal contents that were written in the same kind of
    /// way, whether at once or in pieces.
    pub(super) fn digest(&self, start: u64, bytes: u64) -> u64 {
        let mut part = self.clone();
        part.cut(start);
        part.cut(start + bytes);
        let mut sum = 0_u64;
        let mut filled: Option<(u64, u64, u8)> = None;
        for (from, segment) in part.segments.range(start..start + bytes) {
            let place = from - start;
            if let Kind::Fill(byte) = segment.kind {
                // Neighbours with the same byte are one.
                filled = match filled {
                    Some((first, end, same)) if end == place && same == byte => {
                        Some((first, segment.end - start, byte))
                    }
                    other => {
                        sum = sum.wrapping_add(other.map_or(0, fill_digest));
                        Some((place, segment.end - start, byte))
                    }
                };
                continue;
            }
            let shift = from - segment.origin;
            sum = sum.wrapping_add(match &segment.kind {
                Kind::Bytes(pattern) if pattern.len() as u64 >= shift + segment.end - from => {
                    let bytes = &pattern[shift as usize..(shift + segment.end - from) as usize];
                    bytes.iter().zip(place..).fold(0, |sum, (byte, place)| {
                        sum.wrapping_add(scramble((place << 8) | u64::from(*byte)))
                    })
                }
                Kind::Bytes(pattern) => {
                    let whole = pattern
                        .iter()
                        .zip(0_u64..)
                        .fold(0_u64, |sum, (byte, place)| {
                            sum.wrapping_add(scramble((place << 8) | u64::from(*byte)))
                        });
                    mix(&[whole, shift, place, segment.end - from])
                }
                Kind::Numbers { seed, format } => mix(&[
                    *seed,
                    u64::from(format.bits()),
                    shift,
                    place,
                    segment.end - from,
                ]),
                Kind::Fill(_) => 0,
            });
        }
        sum.wrapping_add(filled.map_or(0, fill_digest))
    }
}

fn fill_digest((start, end, byte): (u64, u64, u8)) -> u64 {
    mix(&[start, end, u64::from(byte)])
}

impl Kind {
    /// The bytes from `shift` behind the origin on.
    fn read(&self, shift: u64, into: &mut [u8]) {
        match self {
            Self::Fill(byte) => into.fill(*byte),
            Self::Bytes(pattern) => {
                let length = pattern.len() as u64;
                for (place, byte) in (shift..).zip(into) {
                    *byte = pattern[(place % length) as usize];
                }
            }
            Self::Numbers { seed, format } => {
                let size = u64::from(format.bits() / 8).max(1);
                let mut encoded = [0; 8];
                let mut index = u64::MAX;
                for (place, byte) in (shift..).zip(into) {
                    if place / size != index {
                        index = place / size;
                        encoded = encode(mix(&[*seed, index]), *format);
                    }
                    *byte = encoded[(place % size) as usize];
                }
            }
        }
    }
}

/// A number of a format, from random bits: of the float formats one in -1 to 1 that all of 16 bits and more hold
/// exactly, of integers one of the same bits.
fn encode(bits: u64, format: NumberFormat) -> [u8; 8] {
    let mut bytes = [0; 8];
    let steps = (bits % 255) as i32 - 127;
    let value = steps as f32 / 128.0;
    let mut put = |encoded: &[u8]| bytes[..encoded.len()].copy_from_slice(encoded);
    match format {
        NumberFormat::Fp64 => put(&f64::from(value).to_le_bytes()),
        NumberFormat::Fp32 | NumberFormat::Tf32 => put(&value.to_le_bytes()),
        NumberFormat::Bf16 => put(&((value.to_bits() >> 16) as u16).to_le_bytes()),
        NumberFormat::Fp16 => put(&half(value).to_le_bytes()),
        // Without the exponent that E4M3 and E5M2 have for what is no number.
        NumberFormat::Fp8E4m3 | NumberFormat::Fp8E5m2 => put(&[bits as u8 & 0xb7]),
        NumberFormat::Int32 => put(&steps.to_le_bytes()),
        NumberFormat::Int8 | NumberFormat::Int4 | NumberFormat::Fp4 => put(&[bits as u8]),
    }
    bytes
}

/// The bits of a half that is normal and exact, or zero.
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = ((bits >> 16) & 0x8000) as u16;
    if value == 0.0 {
        return sign;
    }
    // The bias of the exponent is 127 in single precision and 15 in half.
    let exponent = ((bits >> 23) & 0xff) - 112;
    sign | ((exponent << 10) as u16) | ((bits >> 13) & 0x3ff) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(contents: &Contents, start: u64, count: usize) -> Vec<u8> {
        let mut into = vec![0xee; count];
        contents.read(start, &mut into);
        into
    }

    #[test]
    fn later_writes_cover_earlier_ones_and_nothing_else() {
        let mut contents = Contents::new(16, 1);
        contents.fill(0, 16, 7);
        contents.write(4, 4, Rc::from([1_u8, 2, 3, 4]));
        contents.fill(6, 1, 9);
        assert_eq!(
            bytes(&contents, 0, 16),
            [7, 7, 7, 7, 1, 2, 9, 4, 7, 7, 7, 7, 7, 7, 7, 7]
        );
        assert_eq!(bytes(&contents, 5, 2), [2, 9]);
        let mut copy = Contents::new(16, 2);
        copy.fill(0, 16, 0);
        copy.copy_from(&contents, 7);
        assert_eq!(bytes(&copy, 3, 6), [7, 1, 2, 9, 0, 0]);
    }

    #[test]
    fn the_digest_sees_contents_and_not_pieces() {
        let mut whole = Contents::new(8, 1);
        whole.write(0, 8, Rc::from([1_u8, 2, 3, 4, 5, 6, 7, 8]));
        let mut pieces = Contents::new(8, 2);
        pieces.write(4, 4, Rc::from([5_u8, 6, 7, 8]));
        pieces.write(0, 4, Rc::from([1_u8, 2, 3, 4]));
        assert_eq!(whole.digest(0, 8), pieces.digest(0, 8));
        pieces.write(2, 1, Rc::from([9_u8]));
        assert_ne!(whole.digest(0, 8), pieces.digest(0, 8));
        assert_eq!(whole.digest(4, 4), pieces.digest(4, 4));

        let mut filled = Contents::new(8, 3);
        filled.fill(0, 3, 5);
        filled.fill(3, 5, 5);
        let mut at_once = Contents::new(8, 4);
        at_once.fill(0, 8, 5);
        assert_eq!(filled.digest(0, 8), at_once.digest(0, 8));
    }

    #[test]
    fn numbers_are_the_same_in_every_format_that_holds_them() {
        let read = |format: NumberFormat, bytes_each: u64| {
            let mut contents = Contents::new(64, 1);
            contents.write_numbers(0, 8 * bytes_each, 42, format);
            bytes(&contents, 0, 8 * bytes_each as usize)
        };
        let singles = read(NumberFormat::Fp32, 4);
        let doubles = read(NumberFormat::Fp64, 8);
        let brains = read(NumberFormat::Bf16, 2);
        for index in 0..8 {
            let single = f32::from_le_bytes(singles[index * 4..][..4].try_into().unwrap());
            let double = f64::from_le_bytes(doubles[index * 8..][..8].try_into().unwrap());
            let brain = u16::from_le_bytes(brains[index * 2..][..2].try_into().unwrap());
            assert!((f64::from(single) - double).abs() < 1e-12);
            assert_eq!(
                f32::from_bits(u32::from(brain) << 16).to_bits(),
                single.to_bits()
            );
            assert!(single.abs() < 1.0);
        }
        assert_eq!([half(1.0), half(-0.5), half(0.0)], [0x3c00, 0xb800, 0]);
        assert_eq!(half(1.0 / 128.0), 0x2000);
    }
}
