//! What the lanes of vectors keep of the elements that went through them.
//!
//! Conditions become numbers of which the largest is kept, or signs that are added up: masks take more instructions on every
//! processor. Products are always fused with the sum that follows, so that results do not depend on the machine.

use super::kernel::{LANES, MAGNITUDE, Seen, Watch};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16, f64x8, i16x32, i32x16, u16x32, u32x16};

const EXPONENT: u32 = 0x7f80_0000;

/// Errors as values: held against the tolerance and the largest so far, and summed.
pub(super) struct Errors<S: Simd> {
    simd: S,
    relative: f32x16<S>,
    per_binade: f32x16<S>,
    min_normal: f32x16<S>,
    per_magnitude: f32x16<S>,
    peak_relative: f32x16<S>,
    /// How far errors are beyond what is relative of the tolerance at most, and within the largest relative error so far at least;
    /// and the largest error.
    beyond: f32x16<S>,
    within: f32x16<S>,
    largest: f32x16<S>,
    above: u32x16<S>,
    /// Of r - x, its square, its product with r, r² and r: of this step, and in binary64 of all steps before.
    step: [f32x16<S>; 5],
    sums: [[f64x8<S>; 2]; 5],
}

impl<S: Simd> Errors<S> {
    #[inline(always)]
    pub(super) fn new(simd: S, watch: &Watch) -> Self {
        let splat = |value| f32x16::splat(simd, value);
        Self {
            simd,
            relative: splat(-watch.relative),
            per_binade: splat(-watch.per_binade),
            min_normal: splat(watch.min_normal),
            per_magnitude: splat(-watch.magnitude.unwrap_or(0.0)),
            peak_relative: splat(watch.peak_relative),
            beyond: splat(0.0),
            within: splat(0.0),
            largest: splat(0.0),
            above: u32x16::splat(simd, 0),
            step: [splat(0.0); 5],
            sums: [[f64x8::splat(simd, 0.0); 2]; 5],
        }
    }

    /// Takes a group in. Where the format has `SUBNORMALS` that are common, the tolerance is that of the smallest normal number for
    /// them; else it is less, and they are looked at again.
    #[inline(always)]
    pub(super) fn look<const SUBNORMALS: bool>(
        &mut self,
        r: f32x16<S>,
        x: f32x16<S>,
        magnitudes: Option<f32x16<S>>,
    ) {
        let magnitude = u32x16::splat(self.simd, MAGNITUDE);
        let r_bits: u32x16<S> = r.bitcast();
        let x_bits: u32x16<S> = x.bitcast();
        let r_size: f32x16<S> = (r_bits & magnitude).bitcast();
        let x_size: f32x16<S> = (x_bits & magnitude).bitcast();
        // Its sign is that of an output above its reference.
        let down = r - x;
        let bits: u32x16<S> = down.bitcast();
        self.above += bits >> 31_u32;
        let error: f32x16<S> = (bits & magnitude).bitcast();
        let binade: f32x16<S> = (r_bits & u32x16::splat(self.simd, EXPONENT)).bitcast();
        let binade = if SUBNORMALS {
            binade.max(self.min_normal)
        } else {
            binade
        };
        // The factors are negative.
        let mut beyond = self.relative.mul_add_precise(r_size, error);
        beyond = self.per_binade.mul_add_precise(binade, beyond);
        if let Some(magnitudes) = magnitudes {
            beyond = self.per_magnitude.mul_add_precise(magnitudes, beyond);
        }
        self.beyond = beyond.max(self.beyond);
        let within = self
            .peak_relative
            .mul_sub_precise(r_size.max(x_size), error);
        self.within = within.min(self.within);
        self.largest = error.max(self.largest);
        let [d, dd, dr, rr, sum] = &mut self.step;
        *d += down;
        *dd = down.mul_add_precise(down, *dd);
        *dr = down.mul_add_precise(r, *dr);
        *rr = r.mul_add_precise(r, *rr);
        *sum += r;
    }

    /// Ends a step, after which sums go on in binary64.
    #[inline(always)]
    pub(super) fn end_step(&mut self) {
        for ([low, high], step) in self.sums.iter_mut().zip(&mut self.step) {
            let [lower, upper]: [f64x8<S>; 2] = step.widen().into();
            *low += lower;
            *high += upper;
            *step = f32x16::splat(self.simd, 0.0);
        }
    }

    #[inline(always)]
    pub(super) fn finish(self, watch: &Watch, seen: &mut Seen) {
        let any = |lanes: f32x16<S>, is_one: fn(f32, f32) -> bool, limit| {
            let lanes: [f32; LANES] = lanes.into();
            lanes
                .iter()
                .any(|lane| lane.is_nan() || is_one(*lane, limit))
        };
        seen.may_fail = any(self.beyond, |lane, limit| lane > limit, watch.absolute);
        seen.has_peak = any(self.within, |lane, limit| lane < limit, 0.0)
            || any(
                self.largest,
                |lane, limit| lane > limit,
                watch.peak_absolute,
            );
        let above: [u32; LANES] = self.above.into();
        seen.above = above.iter().map(|lane| u64::from(*lane)).sum();
        let [down, dd, down_r, rr, r] = self.sums.map(total);
        seen.sums = [-down, dd, -down_r, rr, r];
    }
}

/// The sum of lanes.
#[inline(always)]
fn total<S: Simd>([low, high]: [f64x8<S>; 2]) -> f64 {
    let [a, b, c, d, e, f, g, h]: [f64; LANES / 2] = (low + high).into();
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// Sums of x - r, its square, its product with r, r² and r, where steps in binary32 would overflow or lose too much.
#[inline(always)]
pub(super) fn sum_wide<S: Simd>(
    simd: S,
    groups: impl Iterator<Item = (f32x16<S>, f32x16<S>)>,
) -> [f64; 5] {
    let mut sums = [[f64x8::splat(simd, 0.0); 2]; 5];
    for (r, x) in groups {
        let x: [f64x8<S>; 2] = x.widen().into();
        let r: [f64x8<S>; 2] = r.widen().into();
        for half in 0..2 {
            let r = r[half];
            let d = x[half] - r;
            sums[0][half] += d;
            sums[1][half] = d.mul_add_precise(d, sums[1][half]);
            sums[2][half] = d.mul_add_precise(r, sums[2][half]);
            sums[3][half] = r.mul_add_precise(r, sums[3][half]);
            sums[4][half] += r;
        }
    }
    sums.map(total)
}

/// Defines what is kept of the bits of elements, for vectors of a kind of words.
macro_rules! bits {
    ($name:ident, $words:ident, $signed:ident, $word:ty, $lanes:expr) => {
        /// What is kept of the bits of elements.
        pub(super) struct $name<S: Simd> {
            magnitude: $words<S>,
            largest_r: $words<S>,
            largest_x: $words<S>,
            largest_ulps: $words<S>,
            total_ulps: $words<S>,
            smallest_r: $words<S>,
            differing: $words<S>,
            outward: $words<S>,
        }

        impl<S: Simd> $name<S> {
            #[inline(always)]
            pub(super) fn new(simd: S) -> Self {
                let zero = $words::splat(simd, 0);
                let magnitude = $words::splat(simd, <$word>::MAX >> 1);
                Self {
                    magnitude,
                    largest_r: zero,
                    largest_x: zero,
                    largest_ulps: zero,
                    total_ulps: zero,
                    smallest_r: magnitude,
                    differing: zero,
                    outward: zero,
                }
            }

            /// Takes a group in, with its distances in ULP where they do not follow from the bits; returns the distances.
            #[inline(always)]
            pub(super) fn look(
                &mut self,
                r: $words<S>,
                x: $words<S>,
                known: Option<$words<S>>,
            ) -> $words<S> {
                let r_magnitude = r & self.magnitude;
                let x_magnitude = x & self.magnitude;
                let differing = r ^ x;
                self.differing |= differing;
                // Its sign is that of an output further from 0 than its reference.
                let inward: $signed<S> = (r_magnitude - x_magnitude).bitcast();
                let ulps = known.unwrap_or_else(|| {
                    let differing: $signed<S> = differing.bitcast();
                    let other_side: $words<S> = (differing >> (<$word>::BITS - 1)).bitcast();
                    let across = r_magnitude + x_magnitude;
                    let along: $words<S> = inward.abs().bitcast();
                    (across & other_side) | (along & !other_side)
                });
                let inward: $words<S> = inward.bitcast();
                self.outward += inward >> (<$word>::BITS - 1);
                self.largest_r = self.largest_r.max(r_magnitude);
                self.largest_x = self.largest_x.max(x_magnitude);
                self.largest_ulps = self.largest_ulps.max(ulps);
                self.total_ulps += ulps;
                self.smallest_r = self.smallest_r.min(r_magnitude);
                ulps
            }

            #[inline(always)]
            pub(super) fn finish(self, seen: &mut Seen) {
                let widened = |word: $word| u32::from(word) << (u32::BITS - <$word>::BITS);
                seen.largest_r = widened(self.largest_r.reduce_max());
                seen.largest_x = widened(self.largest_x.reduce_max());
                seen.largest_ulps = u32::from(self.largest_ulps.reduce_max());
                let total: [$word; $lanes] = self.total_ulps.into();
                seen.ones = total.iter().map(|lane| u64::from(*lane)).sum();
                seen.smallest_r = widened(self.smallest_r.reduce_min());
                let differing: [$word; $lanes] = self.differing.into();
                let differing = differing.iter().fold(0, |all, lane| all | lane);
                seen.has_sign_change = differing > <$word>::MAX >> 1;
                let outward: [$word; $lanes] = self.outward.into();
                seen.outward = outward.iter().map(|lane| u64::from(*lane)).sum();
            }
        }
    };
}

bits!(Bits, u32x16, i32x16, u32, LANES);
bits!(HalfBits, u16x32, i16x32, u16, 2 * LANES);
