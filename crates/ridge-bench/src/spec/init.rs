//! What buffers start with. Element j depends on the line of the spec alone, so that any driver can make the same data:
//! the numbers are those of `gallery/init.cu`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::element::ElementType;
use crate::expression::Value;

/// How the elements of a buffer are made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Init {
    /// The poison: the buffer is only written.
    Poison,
    /// One value.
    Constant(f64),
    /// The index.
    Iota,
    /// Uniform numbers.
    Random {
        /// The least.
        low: f64,
        /// Above the greatest.
        high: f64,
    },
    /// Normal numbers with mean 0 and standard deviation 1.
    Normal,
    /// Random bits.
    Bits,
    /// A permutation of the indices.
    Permutation,
    /// Its inverse.
    InversePermutation,
    /// A rising sequence.
    Sorted {
        /// The mean difference between neighbours.
        step: u32,
    },
    /// The same in random order.
    Shuffled {
        /// The mean difference between neighbours before that.
        step: u32,
    },
}

impl fmt::Display for Init {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Poison => write!(f, "none"),
            Self::Constant(value) if value.abs() == 0.0 => write!(f, "zeros"),
            Self::Constant(value) => write!(f, "constant {value}"),
            Self::Iota => write!(f, "iota"),
            Self::Random { low, high } => write!(f, "random {low} to {high}"),
            Self::Normal => write!(f, "normal"),
            Self::Bits => write!(f, "bits"),
            Self::Permutation => write!(f, "permutation"),
            Self::InversePermutation => write!(f, "inverse-permutation"),
            Self::Sorted { step } => write!(f, "sorted, step {step}"),
            Self::Shuffled { step } => write!(f, "shuffled, step {step}"),
        }
    }
}

/// The elements of one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Elements {
    /// Their type.
    pub kind: ElementType,
    /// How many there are.
    pub length: u64,
    /// How they are made.
    pub init: Init,
    /// The seed of random numbers.
    pub seed: u32,
    /// Elements taken from each group.
    pub take: u32,
    /// Elements of a group.
    pub group: u32,
    /// Where in the group.
    pub offset: u32,
}

const fn mix(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

const fn number(index: u64, seed: u32) -> u32 {
    mix(index as u32 ^ mix(seed.wrapping_add(0x9e37_79b9)))
}

/// A number from 0 to below 1, in steps that a float has everywhere there.
fn unit(index: u64, seed: u32) -> f32 {
    (number(index, seed) >> 8) as f32 * (1.0 / 16_777_216.0)
}

const FACTOR: u32 = 0x2c1b_3c6d;

const fn mask(bits: u32) -> u32 {
    if bits >= 32 {
        u32::MAX
    } else {
        (1 << bits) - 1
    }
}

fn permute(mut x: u32, bits: u32, seed: u32) -> u32 {
    let half = bits.div_ceil(2);
    for round in 0..4 {
        x = x
            .wrapping_mul(FACTOR)
            .wrapping_add(mix(seed.wrapping_mul(4).wrapping_add(round)))
            & mask(bits);
        x ^= x.checked_shr(half).unwrap_or(0);
    }
    x
}

fn permute_back(mut x: u32, bits: u32, seed: u32) -> u32 {
    let half = bits.div_ceil(2);
    let mut inverse = FACTOR;
    for _ in 0..5 {
        inverse = inverse.wrapping_mul(2_u32.wrapping_sub(FACTOR.wrapping_mul(inverse)));
    }
    for round in (0..4).rev() {
        x ^= x.checked_shr(half).unwrap_or(0);
        x = x
            .wrapping_sub(mix(seed.wrapping_mul(4).wrapping_add(round)))
            .wrapping_mul(inverse)
            & mask(bits);
    }
    x
}

impl Elements {
    /// Bytes of all of them.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.length.saturating_mul(self.kind.size() as u64)
    }

    /// The same with other random numbers, for each generation but the first.
    #[must_use]
    pub const fn of_generation(mut self, generation: u32) -> Self {
        self.seed = self.seed.wrapping_add(generation.wrapping_mul(0x1000_0001));
        self
    }

    /// Whether another generation has other elements.
    #[must_use]
    pub const fn is_random(&self) -> bool {
        !matches!(self.init, Init::Poison | Init::Constant(_) | Init::Iota)
    }

    /// Whether nothing but a kernel gives them a value.
    #[must_use]
    pub fn is_poison(&self) -> bool {
        self.init == Init::Poison
    }

    /// The value that an element starts with, before it is rounded to the type.
    #[must_use]
    pub fn value(&self, index: u64) -> Value {
        let bits = 63 - self.length.max(1).leading_zeros();
        if self.kind.is_float() {
            let at = index / u64::from(self.take.max(1)) * u64::from(self.group)
                + u64::from(self.offset)
                + index % u64::from(self.take.max(1));
            let value = match self.init {
                Init::Constant(value) => value,
                // As a float on the device, so that both agree beyond 2^24.
                Init::Iota => f64::from(index as f32),
                Init::Random { low, high } => {
                    f64::from(low as f32 + (high as f32 - low as f32) * unit(at, self.seed))
                }
                Init::Normal => normal(at, self.seed),
                _ => f64::NAN,
            };
            return Value::Float(value);
        }
        let low_bits = index as u32;
        Value::Int(match self.init {
            Init::Poison => -1,
            Init::Constant(value) => value as i64,
            Init::Iota => index as i64,
            Init::Random { low, high } => {
                let width = (high - low) as i64 as u64;
                low as i64 + (u64::from(number(index, self.seed)).wrapping_mul(width) >> 32) as i64
            }
            Init::Bits | Init::Normal => i64::from(number(index, self.seed)),
            Init::Permutation => i64::from(permute(low_bits, bits, self.seed)),
            Init::InversePermutation => i64::from(permute_back(low_bits, bits, self.seed)),
            Init::Sorted { step } => {
                index as i64 * i64::from(step) + i64::from(number(index, self.seed) % step.max(1))
            }
            Init::Shuffled { step } => {
                let place = permute(low_bits, bits, self.seed);
                i64::from(place) * i64::from(step)
                    + i64::from(number(u64::from(place), self.seed) % step.max(1))
            }
        })
    }

    /// The value of an element as it lies in memory.
    #[must_use]
    pub fn stored(&self, index: u64) -> f64 {
        self.kind.number(&self.bytes_of(index))
    }

    fn bytes_of(&self, index: u64) -> [u8; 8] {
        if self.is_poison() {
            [ElementType::POISON; 8]
        } else {
            self.kind.bytes(self.value(index))
        }
    }

    /// Puts the bytes of the elements from one on into `out`, as many as there is room for.
    pub fn write(&self, from: u64, out: &mut [u8]) {
        let is_plain = self.take <= 1 && self.group == 1 && self.offset == 0;
        if let (ElementType::F32, Init::Random { low, high }, true) =
            (self.kind, self.init, is_plain)
        {
            // Most inputs are these, and hundreds of megabytes of them take their time: without the choices for each element.
            let (low, width) = (low as f32, high as f32 - low as f32);
            for (index, element) in (from..).zip(out.chunks_exact_mut(4)) {
                let value = low + width * unit(index, self.seed);
                element.copy_from_slice(&value.to_le_bytes());
            }
            return;
        }
        let size = self.kind.size();
        for (index, element) in (from..).zip(out.chunks_exact_mut(size)) {
            element.copy_from_slice(&self.bytes_of(index)[..size]);
        }
    }
}

/// A normal number from two uniform ones (Box and Muller 1958).
fn normal(index: u64, seed: u32) -> f64 {
    let first = (f64::from(number(index, seed)) + 1.0) / 4_294_967_297.0;
    let second = f64::from(number(index, seed ^ 0x5bd1_e995)) / 4_294_967_296.0;
    (-2.0 * first.ln()).sqrt() * (std::f64::consts::TAU * second).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(kind: ElementType, length: u64, init: Init) -> Elements {
        Elements {
            kind,
            length,
            init,
            seed: 7,
            take: 1,
            group: 1,
            offset: 0,
        }
    }

    #[test]
    fn permutations_and_their_inverses() {
        for bits in [0, 1, 4, 7, 12] {
            let length = 1 << bits;
            let there = elements(ElementType::U32, length, Init::Permutation);
            let back = elements(ElementType::U32, length, Init::InversePermutation);
            let mut seen: Vec<i64> = (0..length)
                .map(|index| {
                    let Value::Int(to) = there.value(index) else {
                        panic!()
                    };
                    assert_eq!(back.value(to as u64), Value::Int(index as i64));
                    to
                })
                .collect();
            seen.sort_unstable();
            assert!(
                seen.iter()
                    .enumerate()
                    .all(|(place, value)| *value == place as i64)
            );
        }
    }

    #[test]
    fn random_numbers_fill_their_range() {
        let floats = elements(
            ElementType::F32,
            10_000,
            Init::Random {
                low: -1.0,
                high: 3.0,
            },
        );
        let values: Vec<f64> = (0..10_000).map(|index| floats.stored(index)).collect();
        assert!(values.iter().all(|value| (-1.0..3.0).contains(value)));
        let mean = values.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 1.0).abs() < 0.05, "{mean}");
        let integers = elements(
            ElementType::I8,
            1000,
            Init::Random {
                low: -3.0,
                high: 4.0,
            },
        );
        let mut seen: Vec<i64> = (0..1000)
            .map(|index| integers.stored(index) as i64)
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [-3, -2, -1, 0, 1, 2, 3]);
        let normal = elements(ElementType::F64, 10_000, Init::Normal);
        let spread = (0..10_000)
            .map(|index| normal.stored(index).powi(2))
            .sum::<f64>()
            / 10_000.0;
        assert!((spread - 1.0).abs() < 0.05, "{spread}");
    }

    /// What gallery/init.cu computes, worked out by hand in Python for these indices.
    #[test]
    fn numbers_are_those_of_the_gallery() {
        assert_eq!([number(0, 1), number(1, 1), number(123_456, 801)], GALLERY);
    }

    const GALLERY: [u32; 3] = [0x2306_4794, 0x7f58_f66b, 0x2213_55dd];

    #[test]
    fn bytes_are_those_of_the_values_from_any_element_on() {
        let kinds = [
            ElementType::F32,
            ElementType::F16,
            ElementType::I64,
            ElementType::U8,
        ];
        let random = Init::Random {
            low: 0.0,
            high: 100.0,
        };
        for (kind, init) in kinds
            .into_iter()
            .flat_map(|kind| [(kind, random), (kind, Init::Iota)])
        {
            for (take, group, offset) in [(1, 1, 0), (2, 5, 1)] {
                let all = Elements {
                    take,
                    group,
                    offset,
                    ..elements(kind, 1000, init)
                };
                let size = kind.size();
                let mut bytes = vec![0; 50 * size + size / 2];
                all.write(13, &mut bytes);
                for (index, element) in (13..).zip(bytes.chunks_exact(size)) {
                    assert_eq!(
                        element,
                        &kind.bytes(all.value(index))[..size],
                        "{kind} {init} {index}"
                    );
                }
            }
        }
    }

    #[test]
    fn another_layout_has_the_same_values() {
        let fields = elements(
            ElementType::F32,
            240,
            Init::Random {
                low: 0.0,
                high: 1.0,
            },
        );
        let one = Elements {
            length: 10,
            take: 1,
            group: 24,
            offset: 8,
            ..fields
        };
        for record in 0..10 {
            assert_eq!(one.value(record), fields.value(record * 24 + 8));
        }
    }
}
