//! Outputs of several runs of one program on equal inputs: what differs, by how much, and why that is likely.
//!
//! Bits are compared, not values: `-0` differs from `0`, and a NaN is equal to itself. How far elements are apart is told in steps
//! from number to number of the format (units in the last place), and beside the size of the output, since a sum that cancels
//! varies by many units of its small result.
//!
//! ```
//! use ridge_numerics::determinism::{Cause, compare};
//! use ridge_numerics::format::{Endian, Format};
//!
//! let run = |first: f32| -> Vec<u8> {
//!     [first, 2.0, 3.0].iter().flat_map(|value| value.to_le_bytes()).collect()
//! };
//! let (a, b) = (run(1.0), run(1.0 + f32::EPSILON));
//! let variation = compare(&[&a, &b], Format::F32, Endian::Little).unwrap();
//! assert_eq!((variation.elements, variation.varying), (3, 1));
//! assert_eq!(variation.worst.unwrap().steps, Some(1));
//! assert_eq!(variation.cause, Cause::Rounding);
//! ```

mod cause;
pub mod document;

pub use cause::Cause;

use crate::format::{Endian, Format};

/// What differs between runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Variation {
    /// Elements of an output; of complex ones their parts.
    pub elements: u64,
    /// Elements that are not the same in all runs.
    pub varying: u64,
    /// The first of them.
    pub first: Option<u64>,
    /// The one that varies most, beside the size of the output.
    pub worst: Option<Worst>,
    /// The median of the steps by which varying elements vary, as an upper bound that is a power of two, less one.
    pub median_steps: u64,
    /// The most steps by which one varies; NaN on one side is not counted.
    pub max_steps: u64,
    /// The largest spread over the larger of the element's size and the root mean square of the output.
    pub max_relative: f64,
    /// The largest distance of a run from the first, as a vector, over the length of the first.
    pub relative_l2: f64,
    /// Varying elements that are NaN or infinite in some runs only.
    pub not_finite: u64,
    /// Varying elements that in some run are subnormal, or beyond 2^20 times the largest element that all runs agree on.
    pub implausible: u64,
    /// Stretches of neighbouring elements that vary.
    pub stretches: u64,
    /// Whether all runs hold the same elements, in another order.
    pub is_reordered: bool,
    /// What is likely behind it.
    pub cause: Cause,
}

/// The element that varies most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst {
    /// Its place.
    pub index: u64,
    /// The smallest value that is a number.
    pub lowest: f64,
    /// The largest value that is a number.
    pub highest: f64,
    /// Steps from one to the other. `None` where it is NaN in some run.
    pub steps: Option<u64>,
}

/// Outputs that cannot be compared: none, or of different lengths, or no whole number of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incomparable;

impl std::fmt::Display for Incomparable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("outputs of different lengths, or no whole number of elements")
    }
}

impl std::error::Error for Incomparable {}

/// Elements that are looked at together: what is kept of them is small beside a cache.
const BLOCK: usize = 1 << 10;

/// What is far beyond the elements that agree, as a factor: no rounding and no partial sum reaches it.
const FAR: f64 = 1_048_576.0;

/// One element over all runs.
struct Spread {
    lowest: f64,
    highest: f64,
    /// Places in the order of the format's numbers.
    low: i64,
    high: i64,
    has_nan: bool,
    has_infinity: bool,
    has_subnormal: bool,
}

impl Spread {
    fn of(format: Format, codes: impl Iterator<Item = u64>) -> Self {
        let mut spread = Self {
            lowest: f64::INFINITY,
            highest: f64::NEG_INFINITY,
            low: i64::MAX,
            high: i64::MIN,
            has_nan: false,
            has_infinity: false,
            has_subnormal: false,
        };
        let least = format.min_normal().unwrap_or(0.0);
        for code in codes {
            if format.is_nan_code(code) {
                spread.has_nan = true;
                continue;
            }
            let value = format.decode(code);
            spread.has_infinity |= value.is_infinite();
            spread.has_subnormal |= value != 0.0 && value.abs() < least;
            spread.lowest = spread.lowest.min(value);
            spread.highest = spread.highest.max(value);
            let place = format.ordered(code);
            spread.low = spread.low.min(place);
            spread.high = spread.high.max(place);
        }
        spread
    }

    const fn steps(&self) -> Option<u64> {
        if self.has_nan {
            None
        } else {
            Some(self.high.abs_diff(self.low))
        }
    }
}

/// A hash of an element that can be added up in any order.
const fn scattered(code: u64) -> u64 {
    let mut x = code.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The codes of all runs, block by block.
struct Codes<'a> {
    runs: &'a [&'a [u8]],
    format: Format,
    endian: Endian,
    elements: usize,
}

impl Codes<'_> {
    /// Calls a function with the first index of each block and the codes of each run.
    fn blocks(&self, mut look: impl FnMut(usize, &[Vec<u64>])) {
        let size = self.format.part().size_bytes();
        let mut codes = vec![vec![0_u64; BLOCK]; self.runs.len()];
        for first in (0..self.elements).step_by(BLOCK) {
            let count = BLOCK.min(self.elements - first);
            for (run, codes) in self.runs.iter().zip(&mut codes) {
                codes.resize(count, 0);
                let bytes = &run[first * size..(first + count) * size];
                self.format.part().codes(bytes, self.endian, codes);
            }
            look(first, &codes);
        }
    }
}

/// Compares the outputs of runs, element by element. Memory does not grow with the outputs.
///
/// # Errors
/// When there is none, or they differ in length, or their length is no multiple of an element's.
pub fn compare(runs: &[&[u8]], format: Format, endian: Endian) -> Result<Variation, Incomparable> {
    let size = format.part().size_bytes();
    let length = runs.first().ok_or(Incomparable)?.len();
    if runs.iter().any(|run| run.len() != length) || !length.is_multiple_of(size) {
        return Err(Incomparable);
    }
    let codes = Codes {
        runs,
        format,
        endian,
        elements: length / size,
    };
    let agreed = Agreed::of(&codes);
    Ok(agreed.variation(&codes))
}

/// What the first look at all elements tells: the size of the output.
struct Agreed {
    rms: f64,
    largest: f64,
    /// The largest distance of a run from the first, over the length of the first.
    relative_l2: f64,
    is_reordered: bool,
}

impl Agreed {
    fn of(codes: &Codes<'_>) -> Self {
        let format = codes.format.part();
        let (mut squares, mut counted, mut largest) = (0.0, 0_u64, 0.0_f64);
        let mut distances = vec![0.0; codes.runs.len()];
        let mut contents = vec![0_u64; codes.runs.len()];
        codes.blocks(|_, runs| {
            for (codes, content) in runs.iter().zip(&mut contents) {
                for code in codes {
                    *content = content.wrapping_add(scattered(*code));
                }
            }
            for (place, code) in runs[0].iter().enumerate() {
                let value = format.decode(*code);
                if !value.is_finite() {
                    continue;
                }
                squares += value * value;
                counted += 1;
                let mut agrees = true;
                for (run, distance) in runs[1..].iter().zip(&mut distances) {
                    if run[place] != *code {
                        agrees = false;
                        let other = format.decode(run[place]);
                        if other.is_finite() {
                            *distance += (other - value) * (other - value);
                        }
                    }
                }
                if agrees {
                    largest = largest.max(value.abs());
                }
            }
        });
        let distance = distances.into_iter().fold(0.0, f64::max);
        Self {
            rms: (squares / counted.max(1) as f64).sqrt(),
            largest,
            relative_l2: if squares > 0.0 {
                (distance / squares).sqrt()
            } else if distance > 0.0 {
                f64::INFINITY
            } else {
                0.0
            },
            is_reordered: contents.iter().all(|content| *content == contents[0]),
        }
    }

    /// The second look: the elements that vary.
    fn variation(&self, codes: &Codes<'_>) -> Variation {
        let format = codes.format.part();
        let mut variation = Variation {
            elements: codes.elements as u64,
            varying: 0,
            first: None,
            worst: None,
            median_steps: 0,
            max_steps: 0,
            max_relative: 0.0,
            relative_l2: self.relative_l2,
            not_finite: 0,
            implausible: 0,
            stretches: 0,
            is_reordered: false,
            cause: Cause::None,
        };
        // How many elements vary by a number of steps with so many bits.
        let mut by_bits = [0_u64; 65];
        let mut last = None;
        let mut worst = 0.0;
        codes.blocks(|first, runs| {
            for (place, code) in runs[0].iter().enumerate() {
                if runs[1..].iter().all(|run| run[place] == *code) {
                    continue;
                }
                let index = (first + place) as u64;
                let spread = Spread::of(format, runs.iter().map(|run| run[place]));
                variation.varying += 1;
                variation.first.get_or_insert(index);
                if last.is_none_or(|last: u64| last + 1 != index) {
                    variation.stretches += 1;
                }
                last = Some(index);
                let size = spread.lowest.abs().max(spread.highest.abs());
                let relative = if spread.has_nan || spread.has_infinity {
                    variation.not_finite += 1;
                    f64::INFINITY
                } else if size == 0.0 {
                    0.0
                } else {
                    (spread.highest - spread.lowest) / size.max(self.rms)
                };
                let is_far = self.largest > 0.0 && size > FAR * self.largest;
                variation.implausible += u64::from(spread.has_subnormal || is_far);
                if let Some(steps) = spread.steps() {
                    by_bits[(u64::BITS - steps.leading_zeros()) as usize] += 1;
                    variation.max_steps = variation.max_steps.max(steps);
                }
                if relative.is_finite() {
                    variation.max_relative = variation.max_relative.max(relative);
                }
                if variation.worst.is_none() || relative > worst {
                    worst = relative;
                    variation.worst = Some(Worst {
                        index,
                        lowest: spread.lowest,
                        highest: spread.highest,
                        steps: spread.steps(),
                    });
                }
            }
        });
        let counted: u64 = by_bits.iter().sum();
        let mut below = 0;
        for (bits, count) in by_bits.iter().enumerate() {
            below += count;
            if counted > 0 && below * 2 >= counted {
                variation.median_steps =
                    1_u64.checked_shl(bits as u32).unwrap_or(0).wrapping_sub(1);
                break;
            }
        }
        variation.is_reordered = variation.varying > 0 && self.is_reordered;
        variation.cause = cause::of(&variation, format);
        variation
    }
}

/// The largest share of runs that differ which so many equal runs may have missed, at 95 % confidence: 1 − 0.05^(1/N). With one
/// run nothing is known.
#[must_use]
pub fn missed_share(runs: usize) -> f64 {
    match runs {
        0 | 1 => 1.0,
        // The first run is what the others are compared with.
        runs => 1.0 - 0.05_f64.powf(1.0 / (runs - 1) as f64),
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "expected values are exact")]
mod tests;
