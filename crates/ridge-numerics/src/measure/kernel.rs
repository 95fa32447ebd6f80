//! The loops over elements that are finite and right, which are nearly all: wide vectors, no branches.
//!
//! Whatever needs a second look is only noticed here, for the block as a whole. Lanes are eight on every processor, and nothing is
//! fused, so that results do not depend on the machine.

use super::histogram;
use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, f32x8, f64x4, i32x8, u32x8};

/// Elements of a block: three arrays of them fit into the first-level cache.
pub(super) const BLOCK: usize = 2048;
const LANES: usize = 8;

const MAGNITUDE: u32 = 0x7fff_ffff;
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
    pub(super) ulps: [u32; BLOCK],
    /// The bins of those.
    pub(super) bins: [u32; BLOCK],
}

impl Arrays {
    pub(super) fn new() -> Box<Self> {
        Box::new(Self {
            r: [0.0; BLOCK],
            x: [0.0; BLOCK],
            magnitudes: [0.0; BLOCK],
            places: [[0; BLOCK]; 2],
            ulps: [0; BLOCK],
            bins: [0; BLOCK],
        })
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
    /// Relative errors are of this at least.
    pub(super) floor: f32,
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
    /// The smallest magnitude of the reference that is not 0, as bits less 1.
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

#[inline(always)]
fn count<S: Simd>(vector: u32x8<S>) -> u64 {
    let lanes: [u32; LANES] = vector.into();
    lanes.iter().map(|lane| u64::from(*lane)).sum()
}

#[inline(always)]
fn any<S: Simd>(vector: u32x8<S>) -> u32 {
    let lanes: [u32; LANES] = vector.into();
    lanes.iter().fold(0, |all, lane| all | lane)
}

/// Looks at a block of whole vectors.
#[inline(always)]
fn look<S: Simd, const HAS_PLACES: bool, const HAS_MAGNITUDES: bool>(
    simd: S,
    arrays: &mut Arrays,
    length: usize,
    watch: &Watch,
) -> Seen {
    let magnitude = u32x8::splat(simd, MAGNITUDE);
    let one = u32x8::splat(simd, 1);
    let zero = u32x8::splat(simd, 0);
    let exponent = u32x8::splat(simd, INFINITE);
    let absolute = f32x8::splat(simd, watch.absolute);
    let relative = f32x8::splat(simd, watch.relative);
    let per_binade = f32x8::splat(simd, watch.per_binade);
    let per_magnitude = f32x8::splat(simd, watch.magnitude.unwrap_or(0.0));
    let min_normal = f32x8::splat(simd, watch.min_normal);
    let floor = f32x8::splat(simd, watch.floor);
    let peak_absolute = f32x8::splat(simd, watch.peak_absolute);
    let peak_relative = f32x8::splat(simd, watch.peak_relative);
    let shift = match watch.distance {
        Distance::Bits(shift) => shift,
        Distance::Places => 0,
    };
    let (mut largest_r, mut largest_x, mut largest_ulps) = (zero, zero, zero);
    let mut smallest_r = magnitude;
    let (mut signs, mut failing, mut peak, mut above, mut outward) = (zero, zero, zero, zero, zero);
    let [reference_places, output_places] = &arrays.places;
    let places = reference_places
        .chunks_exact(LANES)
        .zip(output_places.chunks_exact(LANES));
    let vectors = arrays.r[..length]
        .chunks_exact(LANES)
        .zip(arrays.x.chunks_exact(LANES))
        .zip(arrays.magnitudes.chunks_exact(LANES))
        .zip(arrays.ulps.chunks_exact_mut(LANES))
        .zip(places);
    for ((((r, x), sums), distances), places) in vectors {
        let r = f32x8::from_slice(simd, r);
        let x = f32x8::from_slice(simd, x);
        let r_bits: u32x8<S> = r.bitcast();
        let x_bits: u32x8<S> = x.bitcast();
        let r_magnitude = r_bits & magnitude;
        let x_magnitude = x_bits & magnitude;
        let differing = r_bits ^ x_bits;
        signs |= differing;
        let larger = r_magnitude.max(x_magnitude);
        let ulps = if HAS_PLACES {
            let a = i32x8::from_slice(simd, places.0);
            let b = i32x8::from_slice(simd, places.1);
            let distance: u32x8<S> = (a.max(b) - a.min(b)).bitcast();
            distance
        } else {
            let differing: i32x8<S> = differing.bitcast();
            let other_side: u32x8<S> = (differing >> 31_u32).bitcast();
            let across = r_magnitude + x_magnitude;
            let along = (larger << 1_u32) - across;
            ((across & other_side) | (along & !other_side)) >> shift
        };
        ulps.store_slice(distances);
        largest_r = largest_r.max(r_magnitude);
        largest_x = largest_x.max(x_magnitude);
        largest_ulps = largest_ulps.max(ulps);
        smallest_r = smallest_r.min(r_magnitude - one);
        let error: u32x8<S> = (x - r).bitcast();
        let error: f32x8<S> = (error & magnitude).bitcast();
        let r_size: f32x8<S> = r_magnitude.bitcast();
        let x_size: f32x8<S> = x_magnitude.bitcast();
        let binade: f32x8<S> = (r_magnitude & exponent).bitcast();
        let mut tolerance = absolute + relative * r_size + per_binade * binade.max(min_normal);
        if HAS_MAGNITUDES {
            tolerance += per_magnitude * f32x8::from_slice(simd, sums);
        }
        failing |= simd.select_u32x8(error.simd_gt(tolerance), one, zero);
        let size: f32x8<S> = larger.bitcast();
        let is_peak = error.simd_gt(peak_relative * size.max(floor)) | error.simd_gt(peak_absolute);
        peak |= simd.select_u32x8(is_peak, one, zero);
        above += simd.select_u32x8(x.simd_gt(r), one, zero);
        outward += simd.select_u32x8(x_size.simd_gt(r_size), one, zero);
    }
    Seen {
        largest_r: largest_r.reduce_max(),
        largest_x: largest_x.reduce_max(),
        largest_ulps: largest_ulps.reduce_max(),
        smallest_r: smallest_r.reduce_min(),
        has_sign_change: any(signs) & !MAGNITUDE != 0,
        may_fail: any(failing) != 0,
        has_peak: any(peak) != 0,
        above: count(above),
        outward: count(outward),
        sums: [0.0; 5],
    }
}

/// Sums in binary64.
#[inline(always)]
fn sum_wide<S: Simd>(simd: S, r: &[f32], x: &[f32]) -> [f64; 5] {
    let mut sums = [[f64x4::splat(simd, 0.0); 2]; 5];
    for (r, x) in r.chunks_exact(LANES).zip(x.chunks_exact(LANES)) {
        let r = f32x8::from_slice(simd, r);
        let d = f32x8::from_slice(simd, x) - r;
        let d: [f64x4<S>; 2] = simd.widen_f32x8(d).into();
        let r: [f64x4<S>; 2] = simd.widen_f32x8(r).into();
        for half in 0..2 {
            let (d, r) = (d[half], r[half]);
            sums[0][half] += d;
            sums[1][half] += d * d;
            sums[2][half] += d * r;
            sums[3][half] += r * r;
            sums[4][half] += r;
        }
    }
    sums.map(|[low, high]| {
        let lanes: [f64; 4] = (low + high).into();
        (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
    })
}

/// Vectors that are summed in binary32 before the sum goes on in binary64.
const SHORT: usize = 16;
/// Where the largest magnitude of a block lies between these, squares of errors that count beside it are normal numbers of
/// binary32, and so are sums of few of them.
const SHORT_RANGE: std::ops::RangeInclusive<f32> = 1e-6..=1e15;

/// Sums of few elements in binary32, their sums in binary64: a lane adds 16 terms before it is widened, so that a sum is right
/// within 2^-20 of its terms.
#[inline(always)]
fn sum_short<S: Simd>(simd: S, r: &[f32], x: &[f32]) -> [f64; 5] {
    let mut sums = [[f64x4::splat(simd, 0.0); 2]; 5];
    for (r, x) in r.chunks(LANES * SHORT).zip(x.chunks(LANES * SHORT)) {
        let mut short = [f32x8::splat(simd, 0.0); 5];
        for (r, x) in r.chunks_exact(LANES).zip(x.chunks_exact(LANES)) {
            let r = f32x8::from_slice(simd, r);
            let d = f32x8::from_slice(simd, x) - r;
            short[0] += d;
            short[1] += d * d;
            short[2] += d * r;
            short[3] += r * r;
            short[4] += r;
        }
        for (sum, short) in sums.iter_mut().zip(short) {
            let (low, high) = simd.widen_f32x8(short);
            sum[0] += low;
            sum[1] += high;
        }
    }
    sums.map(|[low, high]| {
        let lanes: [f64; 4] = (low + high).into();
        (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
    })
}

/// Counts distances of 0 to N - 1.
#[inline(always)]
fn count_small<S: Simd, const N: usize>(simd: S, ulps: &[u32]) -> [u64; 8] {
    let one = u32x8::splat(simd, 1);
    let zero = u32x8::splat(simd, 0);
    let mut counts = [zero; N];
    for ulps in ulps.chunks_exact(LANES) {
        let ulps = u32x8::from_slice(simd, ulps);
        for (value, known) in (0_u32..).zip(&mut counts) {
            let equal = ulps.simd_eq(u32x8::splat(simd, value));
            *known += simd.select_u32x8(equal, one, zero);
        }
    }
    let mut all = [0; 8];
    for (all, known) in all.iter_mut().zip(counts) {
        *all = count(known);
    }
    all
}

/// The bins of distances, as `histogram::bin_of_count` has them.
#[inline(always)]
fn find_bins<S: Simd>(simd: S, ulps: &[u32], bins: &mut [u32]) {
    let most = u32x8::splat(simd, MAGNITUDE);
    let first = u32x8::splat(simd, histogram::FIRST);
    for (ulps, bins) in ulps.chunks_exact(LANES).zip(bins.chunks_exact_mut(LANES)) {
        let ulps: i32x8<S> = u32x8::from_slice(simd, ulps).min(most).bitcast();
        let ulps: f32x8<S> = ulps.to_float();
        let bits: u32x8<S> = ulps.bitcast();
        ((bits >> histogram::SHIFT).max(first) - first).store_slice(bins);
    }
}

/// Puts the bins of distances beside them.
pub(super) fn bins(level: Level, arrays: &mut Arrays, length: usize) {
    dispatch!(level, simd => {
        let arrays = &mut *arrays;
        simd.vectorize(
            #[inline(always)]
            || find_bins(simd, &arrays.ulps[..length], &mut arrays.bins[..length]),
        )
    });
}

/// Looks at the first elements of the arrays; their number has to be one of whole vectors.
pub(super) fn run(level: Level, arrays: &mut Arrays, length: usize, watch: &Watch) -> Seen {
    dispatch!(level, simd => {
        let arrays = &mut *arrays;
        simd.vectorize(
            #[inline(always)]
            || {
                let mut seen = match (watch.distance, watch.magnitude) {
                    (Distance::Bits(_), None) => look::<_, false, false>(simd, arrays, length, watch),
                    (Distance::Bits(_), Some(_)) => look::<_, false, true>(simd, arrays, length, watch),
                    (Distance::Places, None) => look::<_, true, false>(simd, arrays, length, watch),
                    (Distance::Places, Some(_)) => look::<_, true, true>(simd, arrays, length, watch),
                };
                let (r, x) = (&arrays.r[..length], &arrays.x[..length]);
                let largest = f32::from_bits(seen.largest_r.max(seen.largest_x));
                seen.sums = if SHORT_RANGE.contains(&largest) {
                    sum_short(simd, r, x)
                } else {
                    sum_wide(simd, r, x)
                };
                seen
            },
        )
    })
}

/// Counts distances of 0 to 7 ULP, where the largest of them is known and no larger.
pub(super) fn counts(level: Level, ulps: &[u32], largest: u32) -> [u64; 8] {
    dispatch!(level, simd => simd.vectorize(
        #[inline(always)]
        || match largest {
            0..2 => count_small::<_, 2>(simd, ulps),
            2..4 => count_small::<_, 4>(simd, ulps),
            _ => count_small::<_, 8>(simd, ulps),
        },
    ))
}

/// Widens elements of two bytes that are the upper half of binary32.
#[inline(always)]
fn widen(bytes: &[u8], out: &mut [f32]) {
    let (elements, _) = bytes.as_chunks::<2>();
    for (out, element) in out.iter_mut().zip(elements) {
        *out = f32::from_bits(u32::from(u16::from_le_bytes(*element)) << 16);
    }
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

/// Reads binary32.
pub(super) fn read_f32(bytes: &[u8], out: &mut [f32]) {
    let (elements, _) = bytes.as_chunks::<4>();
    for (out, element) in out.iter_mut().zip(elements) {
        *out = f32::from_le_bytes(*element);
    }
}

/// Reads bfloat16.
pub(super) fn read_bf16(level: Level, bytes: &[u8], out: &mut [f32]) {
    dispatch!(level, simd => simd.vectorize(#[inline(always)] || widen(bytes, &mut *out)));
}

/// Reads binary16.
pub(super) fn read_f16(level: Level, bytes: &[u8], out: &mut [f32], places: &mut [i32]) {
    dispatch!(level, simd => simd.vectorize(#[inline(always)] || halves(bytes, &mut *out, &mut *places)));
}
