//! Counts of errors by size. Errors of a block are counted while the next one is read: counting waits for the processor, and reading
//! for memory.

use super::histogram::{self, Histogram};
use super::kernel::{BLOCK, LANES};
use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, f32x16, i32x16, u8x64, u32x16};

/// Errors that are counted at a time.
pub(super) const STEP: usize = 256;

/// Errors in ULP that wait, and counts of others.
pub(super) struct Tally {
    waiting: Box<[u32; BLOCK]>,
    length: usize,
    counted: usize,
    largest: u32,
    /// In four parts: neighbours are often of the same size, and one count after another would wait.
    bins: Box<[[u32; histogram::ROOM]; 4]>,
}

impl Tally {
    pub(super) fn new() -> Self {
        Self {
            waiting: Box::new([0; BLOCK]),
            length: 0,
            counted: 0,
            largest: 0,
            bins: Box::new([[0; histogram::ROOM]; 4]),
        }
    }

    /// Takes errors of whole groups over, in exchange for room for others.
    pub(super) fn take(&mut self, ulps: &mut Box<[u32; BLOCK]>, length: usize, largest: u32) {
        debug_assert!(self.counted >= self.length, "errors would be lost");
        std::mem::swap(&mut self.waiting, ulps);
        self.length = length;
        self.counted = 0;
        self.largest = largest;
    }

    /// Takes errors of a block over, of which some are 1 and the others 0.
    pub(super) fn add_ones(&mut self, ones: u32, length: u32) {
        self.bins[0][histogram::bin_of_count(1)] += ones;
        self.bins[0][0] += length - ones;
    }

    /// Counts some of those that wait; whether there are more.
    #[inline(always)]
    pub(super) fn step<S: Simd>(&mut self, simd: S) -> bool {
        let end = self.length.min(self.counted + STEP);
        let ulps = self.waiting.get(self.counted..end).unwrap_or_default();
        match self.largest {
            // Comparing with each of few numbers is faster than a table.
            0..4 => count_small::<_, 4>(simd, ulps, &mut self.bins[0]),
            4..8 => count_small::<_, 8>(simd, ulps, &mut self.bins[0]),
            8..16 => count_small::<_, 16>(simd, ulps, &mut self.bins[0]),
            _ => count(simd, ulps, &mut self.bins),
        }
        self.counted = end;
        end < self.length
    }

    /// Counts all that wait, and moves the counts to a histogram. Returns how many errors were 0.
    pub(super) fn empty(&mut self, level: Level, histogram: &mut Histogram) -> u64 {
        dispatch!(level, simd => simd.vectorize(#[inline(always)] || while self.step(simd) {}));
        let mut none = 0;
        for part in self.bins.iter_mut() {
            for (bin, count) in part.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
                let count = u64::from(std::mem::take(count));
                histogram.add_many(bin, count);
                none += if bin == 0 { count } else { 0 };
            }
        }
        none
    }
}

/// Counts errors of 0 to N - 1, four groups as the bytes of one vector.
#[inline(always)]
fn count_small<S: Simd, const N: usize>(simd: S, ulps: &[u32], bins: &mut [u32; histogram::ROOM]) {
    let mut counts = [0; N];
    let (groups, _) = ulps.as_chunks::<LANES>();
    let (fours, rest) = groups.as_chunks::<4>();
    for four in fours {
        let [a, b, c, d] = four.each_ref().map(|group| u32x16::from_slice(simd, group));
        let bytes: u8x64<S> = (a | (b << 8) | (c << 16) | (d << 24)).bitcast();
        for (value, known) in (0..).zip(&mut counts).skip(1) {
            *known += bytes
                .simd_eq(u8x64::splat(simd, value))
                .to_bitmask()
                .count_ones();
        }
    }
    for ulps in rest.as_flattened() {
        counts[*ulps as usize % N] += 1;
    }
    let others: u32 = counts[1..].iter().sum();
    counts[0] = ulps.len() as u32 - others;
    for (value, count) in (0..).zip(counts) {
        bins[histogram::bin_of_count(value)] += count;
    }
}

/// Counts errors of any size.
#[inline(always)]
fn count<S: Simd>(simd: S, ulps: &[u32], bins: &mut [[u32; histogram::ROOM]; 4]) {
    let mut places = [0; STEP];
    find_bins(simd, ulps, &mut places);
    let [one, two, three, four] = bins;
    let place = |bin: u32| bin as usize & (histogram::ROOM - 1);
    for group in places[..ulps.len()].as_chunks::<4>().0 {
        one[place(group[0])] += 1;
        two[place(group[1])] += 1;
        three[place(group[2])] += 1;
        four[place(group[3])] += 1;
    }
}

/// The bins of errors, as `histogram::bin_of_count` has them.
#[inline(always)]
fn find_bins<S: Simd>(simd: S, ulps: &[u32], bins: &mut [u32; STEP]) {
    let most = u32x16::splat(simd, i32::MAX as u32);
    let first = u32x16::splat(simd, histogram::FIRST);
    let groups = ulps.as_chunks::<LANES>().0;
    for (ulps, bins) in groups.iter().zip(bins.as_chunks_mut::<LANES>().0) {
        let ulps: i32x16<S> = u32x16::from_slice(simd, ulps).min(most).bitcast();
        let ulps: f32x16<S> = ulps.to_float();
        let bits: u32x16<S> = ulps.bitcast();
        ((bits >> histogram::SHIFT).max(first) - first).store_slice(bins);
    }
}
