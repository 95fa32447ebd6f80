//! The loops over elements that are finite, which are nearly all: wide vectors, no branches.
//!
//! Whatever needs a second look is only noticed here, for the block as a whole. Lanes are sixteen on every processor, so that
//! results do not depend on the machine.

use super::lanes::{Bits, Errors, HalfBits, sum_wide};
use super::tally::{STEP, Tally};
use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, f32x16, i32x16, u8x64, u32x16};

/// Elements of a block: three arrays of them fit into the first-level cache.
pub(super) const BLOCK: usize = 2048;
/// Blocks are read in groups of so many.
pub(super) const LANES: usize = 16;

pub(super) const MAGNITUDE: u32 = 0x7fff_ffff;
/// The bits of infinity.
pub(super) const INFINITE: u32 = 0x7f80_0000;

/// Values of a block as binary32, and how far apart they are.
pub(super) struct Arrays {
    pub(super) r: [f32; BLOCK],
    pub(super) x: [f32; BLOCK],
    /// Σ|a||b| of each element, where it is known.
    pub(super) magnitudes: [f32; BLOCK],
    /// Places among the numbers of the format, for formats whose places do not follow from the bits of binary32.
    pub(super) places: [[i32; BLOCK]; 2],
    pub(super) ulps: Box<[u32; BLOCK]>,
}

impl Arrays {
    pub(super) fn new() -> Box<Self> {
        Box::new(Self {
            r: [0.0; BLOCK],
            x: [0.0; BLOCK],
            magnitudes: [0.0; BLOCK],
            places: [[0; BLOCK]; 2],
            ulps: Box::new([0; BLOCK]),
        })
    }
}

/// Elements of a block as they are read, little end first, of reference and output.
#[derive(Clone, Copy, Debug)]
pub(super) enum Block<'b> {
    /// Binary32.
    Single(&'b [u8], &'b [u8]),
    /// The upper half of binary32.
    Brain(&'b [u8], &'b [u8]),
    /// Values that lie in the arrays already.
    Held,
}

impl Block<'_> {
    /// Puts the values into the arrays, for a second look at single elements.
    pub(super) fn hold(self, arrays: &mut Arrays) {
        match self {
            Self::Single(r, x) => {
                single(r, &mut arrays.r);
                single(x, &mut arrays.x);
            }
            Self::Brain(r, x) => {
                brain(r, &mut arrays.r);
                brain(x, &mut arrays.x);
            }
            Self::Held => {}
        }
    }
}

fn single(bytes: &[u8], out: &mut [f32]) {
    for (out, element) in out.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *out = f32::from_le_bytes(*element);
    }
}

fn brain(bytes: &[u8], out: &mut [f32]) {
    for (out, element) in out.iter_mut().zip(bytes.as_chunks::<2>().0) {
        *out = f32::from_bits(u32::from(u16::from_le_bytes(*element)) << 16);
    }
}

/// How a group of elements lies in memory.
trait Group {
    fn values<S: Simd>(&self, simd: S) -> f32x16<S>;
}

/// Bytes as words, the first byte the lowest.
#[inline(always)]
fn words<S: Simd>(simd: S, bytes: &[u8; 4 * LANES]) -> u32x16<S> {
    if cfg!(target_endian = "little") {
        u8x64::from_slice(simd, bytes).bitcast()
    } else {
        let mut words = [0; LANES];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        u32x16::from_slice(simd, &words)
    }
}

impl Group for [u8; 4 * LANES] {
    #[inline(always)]
    fn values<S: Simd>(&self, simd: S) -> f32x16<S> {
        words(simd, self).bitcast()
    }
}

impl Group for [u8; 2 * LANES] {
    #[inline(always)]
    fn values<S: Simd>(&self, simd: S) -> f32x16<S> {
        let mut codes = [0; LANES];
        for (code, element) in codes.iter_mut().zip(self.as_chunks::<2>().0) {
            *code = u32::from(u16::from_le_bytes(*element)) << 16;
        }
        u32x16::from_slice(simd, &codes).bitcast()
    }
}

impl Group for [f32; LANES] {
    #[inline(always)]
    fn values<S: Simd>(&self, simd: S) -> f32x16<S> {
        f32x16::from_slice(simd, self)
    }
}

/// Where distances in ULP come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Distance {
    /// The format is binary32 without so many low bits.
    Bits(u32),
    /// From the places.
    Places,
}

/// What a block is looked at for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watch {
    pub(super) distance: Distance,
    /// The tolerance: a constant, shares of the reference, of its power of two and of the magnitude.
    pub(super) absolute: f32,
    pub(super) relative: f32,
    pub(super) per_binade: f32,
    pub(super) magnitude: Option<f32>,
    /// The smallest normal number of the format.
    pub(super) min_normal: f32,
    /// The largest errors so far.
    pub(super) peak_absolute: f32,
    pub(super) peak_relative: f32,
}

/// What was seen in a block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// The largest magnitudes, as bits.
    pub(super) largest_r: u32,
    pub(super) largest_x: u32,
    pub(super) largest_ulps: u32,
    /// How many errors are of one ULP, where none is larger.
    pub(super) ones: u64,
    /// The smallest magnitude of the reference that is not 0, or any that is not subnormal.
    pub(super) smallest_r: u32,
    pub(super) has_sign_change: bool,
    pub(super) may_fail: bool,
    pub(super) has_peak: bool,
    /// Elements above their reference, and those further from 0 than it.
    pub(super) above: u64,
    pub(super) outward: u64,
    /// Sums of d, d², d r, r² and r.
    pub(super) sums: [f64; 5],
}

impl Seen {
    /// Whether there may be subnormal numbers in the reference.
    pub(super) const fn has_subnormal(&self, watch: &Watch) -> bool {
        self.smallest_r < watch.min_normal.to_bits()
    }
}

/// Groups of a step: sums of a lane are of that many elements in binary32, and go on in binary64, so that a sum is right within
/// 2^-20 of its terms.
const SHORT: usize = 16;
const _: () = assert!(
    SHORT * LANES == STEP,
    "a step of the tally goes with each of them"
);
/// Where the largest magnitude of a block lies between these, squares of errors that count beside it are normal numbers of
/// binary32, and so are sums of few of them.
const SHORT_RANGE: std::ops::RangeInclusive<f32> = 1e-6..=1e15;

/// What lies beside the elements of a block.
struct Beside<'a> {
    magnitudes: &'a [f32; BLOCK],
    places: &'a [[i32; BLOCK]; 2],
    ulps: &'a mut [u32; BLOCK],
}

/// Looks at a block of whole groups.
#[inline(always)]
fn look<S: Simd, G: Group, const HAS_PLACES: bool, const HAS_MAGNITUDES: bool>(
    simd: S,
    (r, x): (&[G], &[G]),
    beside: Beside<'_>,
    watch: &Watch,
    tally: &mut Tally,
) -> Seen {
    let shift = match watch.distance {
        Distance::Bits(shift) => shift,
        Distance::Places => 0,
    };
    let mut bits = Bits::new(simd);
    let mut errors = Errors::new(simd, watch);
    let mut ulps = beside.ulps.as_chunks_mut::<LANES>().0.iter_mut();
    let mut magnitudes = beside.magnitudes.as_chunks::<LANES>().0.iter();
    let [r_places, x_places] = beside.places;
    let mut r_places = r_places.as_chunks::<LANES>().0.iter();
    let mut x_places = x_places.as_chunks::<LANES>().0.iter();
    for (r, x) in r.chunks(SHORT).zip(x.chunks(SHORT)) {
        for ((r, x), ulps) in r.iter().zip(x).zip(&mut ulps) {
            let (r, x) = (r.values(simd), x.values(simd));
            let mut places = None;
            if HAS_PLACES {
                let (Some(a), Some(b)) = (r_places.next(), x_places.next()) else {
                    break;
                };
                let (a, b) = (i32x16::from_slice(simd, a), i32x16::from_slice(simd, b));
                places = Some((a.max(b) - a.min(b)).bitcast());
            }
            let distances = bits.look(r.bitcast(), x.bitcast(), places);
            (distances >> shift).store_slice(ulps);
            let mut sums = None;
            if HAS_MAGNITUDES {
                let Some(magnitudes) = magnitudes.next() else {
                    break;
                };
                sums = Some(f32x16::from_slice(simd, magnitudes));
            }
            errors.look::<HAS_PLACES>(r, x, sums);
        }
        errors.end_step();
        tally.step(simd);
    }
    let mut seen = Seen::default();
    bits.finish(&mut seen);
    seen.largest_ulps >>= shift;
    seen.ones >>= shift;
    errors.finish(watch, &mut seen);
    seen
}

/// Looks at a block of the upper halves of binary32: two groups at a time are one vector of words of 16 bits.
#[inline(always)]
fn look_brain<S: Simd>(
    simd: S,
    (r, x): (&[[u8; 4 * LANES]], &[[u8; 4 * LANES]]),
    ulps: &mut [u32; BLOCK],
    watch: &Watch,
    tally: &mut Tally,
) -> Seen {
    let upper = u32x16::splat(simd, 0xffff_0000);
    let mut bits = HalfBits::new(simd);
    let mut errors = Errors::new(simd, watch);
    let mut ulps = ulps.as_chunks_mut::<{ 2 * LANES }>().0.iter_mut();
    for (r, x) in r.chunks(SHORT / 2).zip(x.chunks(SHORT / 2)) {
        for ((r, x), ulps) in r.iter().zip(x).zip(&mut ulps) {
            let r: u32x16<S> = words(simd, r);
            let x: u32x16<S> = words(simd, x);
            let (low, high) = bits.look(r.bitcast(), x.bitcast(), None).widen();
            let (first, second) = ulps.split_at_mut(LANES);
            low.store_slice(first);
            high.store_slice(second);
            // Every second element, and those between.
            errors.look::<false>((r << 16_u32).bitcast(), (x << 16_u32).bitcast(), None);
            errors.look::<false>((r & upper).bitcast(), (x & upper).bitcast(), None);
        }
        errors.end_step();
        tally.step(simd);
    }
    let mut seen = Seen::default();
    bits.finish(&mut seen);
    errors.finish(watch, &mut seen);
    seen
}

/// The smallest magnitude beside 0.
#[inline(always)]
fn smallest_above_zero<S: Simd, G: Group>(simd: S, elements: &[G]) -> u32 {
    let magnitude = u32x16::splat(simd, MAGNITUDE);
    let one = u32x16::splat(simd, 1);
    let mut smallest = magnitude;
    for group in elements {
        let bits: u32x16<S> = group.values(simd).bitcast();
        // Less 1, which makes 0 the largest number.
        smallest = smallest.min((bits & magnitude) - one);
    }
    smallest.reduce_min() + 1
}

#[inline(always)]
fn seen<S: Simd, G: Group>(
    simd: S,
    block: (&[G], &[G]),
    beside: Beside<'_>,
    watch: &Watch,
    tally: &mut Tally,
) -> Seen {
    match (watch.distance, watch.magnitude) {
        (Distance::Bits(_), None) => look::<S, G, false, false>(simd, block, beside, watch, tally),
        (Distance::Bits(_), Some(_)) => {
            look::<S, G, false, true>(simd, block, beside, watch, tally)
        }
        (Distance::Places, None) => look::<S, G, true, false>(simd, block, beside, watch, tally),
        (Distance::Places, Some(_)) => look::<S, G, true, true>(simd, block, beside, watch, tally),
    }
}

/// What the block as a whole decides.
#[inline(always)]
fn finish<S: Simd, G: Group>(
    simd: S,
    (r, x): (&[G], &[G]),
    mut seen: Seen,
    watch: &Watch,
    tally: &mut Tally,
) -> Seen {
    if seen.has_subnormal(watch) {
        seen.smallest_r = smallest_above_zero(simd, r);
    }
    let largest = f32::from_bits(seen.largest_r.max(seen.largest_x));
    if !SHORT_RANGE.contains(&largest) {
        let pairs = r
            .iter()
            .zip(x)
            .map(|(r, x)| (r.values(simd), x.values(simd)));
        seen.sums = sum_wide(simd, pairs);
    }
    // The block before may have been longer.
    while tally.step(simd) {}
    seen
}

/// Looks at a block of whole groups, and counts the errors of the one before.
pub(super) fn run(
    level: Level,
    block: Block<'_>,
    arrays: &mut Arrays,
    length: usize,
    watch: &Watch,
    tally: &mut Tally,
) -> Seen {
    dispatch!(level, simd => {
        let (arrays, tally) = (&mut *arrays, &mut *tally);
        simd.vectorize(
            #[inline(always)]
            || {
                let Arrays { r, x, magnitudes, places, ulps } = arrays;
                match block {
                    Block::Single(r, x) => {
                        let block: (&[[u8; 4 * LANES]], _) = (r.as_chunks().0, x.as_chunks().0);
                        let beside = Beside { magnitudes, places, ulps };
                        let seen = seen(simd, block, beside, watch, tally);
                        finish(simd, block, seen, watch, tally)
                    }
                    Block::Brain(r, x) => {
                        let block: (&[[u8; 2 * LANES]], _) = (r.as_chunks().0, x.as_chunks().0);
                        let is_even = length.is_multiple_of(2 * LANES);
                        let seen = if is_even && watch.magnitude.is_none() {
                            let block = (r.as_chunks().0, x.as_chunks().0);
                            look_brain(simd, block, ulps, watch, tally)
                        } else {
                            let beside = Beside { magnitudes, places, ulps };
                            seen(simd, block, beside, watch, tally)
                        };
                        finish(simd, block, seen, watch, tally)
                    }
                    Block::Held => {
                        let (r, x) = (&r[..length], &x[..length]);
                        let block: (&[[f32; LANES]], _) = (r.as_chunks().0, x.as_chunks().0);
                        let beside = Beside { magnitudes, places, ulps };
                        let seen = seen(simd, block, beside, watch, tally);
                        finish(simd, block, seen, watch, tally)
                    }
                }
            },
        )
    })
}

/// The largest of some numbers.
pub(super) fn largest(level: Level, numbers: &[u32]) -> u32 {
    dispatch!(level, simd => simd.vectorize(
        #[inline(always)]
        || numbers.iter().fold(0, |most, number| most.max(*number))
    ))
}

/// Binary16 without a branch, and its places.
#[inline(always)]
fn halves(bytes: &[u8], out: &mut [f32], places: &mut [i32]) {
    let (elements, _) = bytes.as_chunks::<2>();
    for ((out, place), element) in out.iter_mut().zip(places).zip(elements) {
        let code = u32::from(u16::from_le_bytes(*element));
        let magnitude = code & 0x7fff;
        let negative = ((code >> 15) as i32).wrapping_neg();
        *place = (magnitude as i32 ^ negative) - negative;
        let moved = magnitude << 13;
        let small = (magnitude as i32 as f32 * (1.0 / 16_777_216.0)).to_bits();
        let normal = moved.wrapping_add((127 - 15) << 23);
        let special = moved | INFINITE;
        let bits = if magnitude < 0x0400 { small } else { normal };
        let bits = if magnitude < 0x7c00 { bits } else { special };
        *out = f32::from_bits(bits | (code & 0x8000) << 16);
    }
}

/// Reads binary16.
pub(super) fn read_f16(level: Level, bytes: &[u8], out: &mut [f32], places: &mut [i32]) {
    dispatch!(level, simd => simd.vectorize(#[inline(always)] || halves(bytes, &mut *out, &mut *places)));
}
