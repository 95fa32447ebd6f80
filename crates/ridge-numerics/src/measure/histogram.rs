//! Errors in ULP by size.

/// Sixteen bins for each factor of two: a quantile is right within a sixteenth. Whole numbers up to 32 have a bin of their own.
const BINS_PER_OCTAVE: u32 = 16;
/// Errors below 2^-6 ULP count as 0. They only occur where the reference is finer than the output.
const LOWEST_OCTAVE: u32 = 6;
/// Bits of an `f32` below those that tell its bin.
pub(super) const SHIFT: u32 = 23 - BINS_PER_OCTAVE.ilog2();
/// The bin of 2^-6 among those of all positive numbers, less the one for 0.
pub(super) const FIRST: u32 = ((127 - LOWEST_OCTAVE) << BINS_PER_OCTAVE.ilog2()) - 1;
/// Up to 2^65.
pub(super) const BINS: usize = ((LOWEST_OCTAVE + 65) * BINS_PER_OCTAVE + 2) as usize;

/// Room for the bins, a power of two: with a mask for the place no bound has to be checked.
pub(super) const ROOM: usize = BINS.next_power_of_two();

/// The bin of an error.
#[inline]
pub(super) fn bin(ulps: f32) -> usize {
    ((ulps.to_bits() >> SHIFT).max(FIRST) - FIRST).min(BINS as u32 - 1) as usize
}

/// The bin of a whole number of ULP.
#[inline]
pub(super) fn bin_of_count(ulps: u32) -> usize {
    // Conversions of signed integers are one instruction; above 2^31 all share the last place of that octave.
    bin(ulps.min(i32::MAX as u32) as i32 as f32)
}

/// The smallest error that a bin holds.
fn lower(bin: usize) -> f64 {
    if bin == 0 {
        return 0.0;
    }
    f64::from(f32::from_bits((bin as u32 + FIRST) << SHIFT))
}

/// How many errors are of which size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Histogram {
    counts: Box<[u64; BINS]>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: Box::new([0; BINS]),
        }
    }
}

impl Histogram {
    pub(super) fn add(&mut self, ulps: f64) {
        self.add_many(bin(ulps as f32), 1);
    }

    pub(super) fn add_many(&mut self, bin: usize, count: u64) {
        if let Some(known) = self.counts.get_mut(bin) {
            *known += count;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (mine, others) in self.counts.iter_mut().zip(other.counts.iter()) {
            *mine += others;
        }
    }

    /// The error that a share of all errors does not exceed, as the lower edge of its bin; `None` without errors.
    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        let total: u64 = self.counts.iter().sum();
        if total == 0 {
            return None;
        }
        let rank = ((share * total as f64).ceil() as u64).clamp(1, total);
        let mut seen = 0;
        let place = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        })?;
        Some(lower(place))
    }

    /// Errors by size: 0, then up to 1, 2, 4 and so on; each with its upper bound, the last that holds any comes last.
    pub(super) fn octaves(&self) -> Vec<(f64, u64)> {
        let mut octaves: Vec<(f64, u64)> = vec![(0.0, self.counts[0])];
        let mut next = 0.5_f64.powi(LOWEST_OCTAVE as i32);
        for (place, count) in self.counts.iter().enumerate().skip(1) {
            // Whole powers of two belong to what they bound: 1 ULP is "up to 1".
            while octaves
                .last()
                .is_some_and(|(bound, _)| *bound < lower(place))
            {
                octaves.push((next, 0));
                next *= 2.0;
            }
            if let Some((_, known)) = octaves.last_mut() {
                *known += count;
            }
        }
        while octaves.len() > 1 && octaves.last().is_some_and(|(_, count)| *count == 0) {
            octaves.pop();
        }
        // Fractions of an ULP are of interest only where there are any.
        let first = octaves
            .iter()
            .position(|(bound, count)| *bound >= 0.5 || (*bound > 0.0 && *count > 0))
            .unwrap_or(octaves.len());
        octaves.drain(1.min(first)..first);
        octaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_counts_are_exact_and_large_ones_within_a_sixteenth() {
        for ulps in 0..=32_u32 {
            assert_eq!(lower(bin_of_count(ulps)), f64::from(ulps));
        }
        for ulps in [33, 100, 1000, 65_535, 1 << 20, 1 << 30] {
            let edge = lower(bin_of_count(ulps));
            assert!(edge <= f64::from(ulps) && f64::from(ulps) < edge * 17.0 / 16.0);
        }
        assert!(bin(f32::INFINITY) < BINS && bin(3.0e19) < BINS);
        assert_eq!(bin(0.01), 0);
    }

    #[test]
    fn quantiles_and_octaves_count_every_error() {
        let mut histogram = Histogram::default();
        for ulps in [0.0, 0.0, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 1000.0] {
            histogram.add(ulps);
        }
        assert_eq!(histogram.quantile(0.5), Some(1.0));
        assert_eq!(histogram.quantile(0.9), Some(5.0));
        assert_eq!(histogram.quantile(1.0), Some(992.0));
        assert_eq!(Histogram::default().quantile(0.5), None);
        assert_eq!(
            histogram.octaves(),
            [
                (0.0, 2),
                (0.25, 1),
                (0.5, 1),
                (1.0, 1),
                (2.0, 1),
                (4.0, 2),
                (8.0, 1),
                (16.0, 0),
                (32.0, 0),
                (64.0, 0),
                (128.0, 0),
                (256.0, 0),
                (512.0, 0),
                (1024.0, 1)
            ]
        );
    }
}
