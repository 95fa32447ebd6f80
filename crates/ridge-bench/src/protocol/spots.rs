//! Which samples are looked at, so that a kernel cannot tell them from the others.

use crate::check::scramble;

/// One in so many samples has a canary, on average: it costs two or three small copies between host and device. Of 30 samples,
/// which are the fewest, all but 2 % of measurements have one by this alone, and each has one at the first place below.
const CANARIES: u64 = 8;
/// Samples within which one is compared as a whole, chosen at random: one in each range.
const RANGES: [(u64, u64); 4] = [(2, 30), (30, 300), (300, 3_000), (3_000, 30_000)];

/// The places of one mode.
pub(super) struct Spots {
    seed: u64,
    compared: [u64; 4],
    /// The sample before which inputs get other values.
    pub(super) new_inputs: u64,
}

impl Spots {
    pub(super) fn new(seed: u32, mode: u64) -> Self {
        let seed = scramble(scramble(u64::from(seed)) ^ mode);
        let compared = RANGES.map(|(from, to)| from + scramble(seed ^ from) % (to - from));
        // Among the first samples, and not the one that is compared without it.
        let (from, to) = RANGES[0];
        let place = from + scramble(seed ^ u64::MAX) % (to - from);
        let new_inputs = if place == compared[0] { 1 } else { place };
        Self {
            seed,
            compared,
            new_inputs,
        }
    }

    /// Whether all of what a sample left is compared.
    pub(super) fn is_compared(&self, sample: u64) -> bool {
        self.compared.contains(&sample)
    }

    /// Whether an element of each output is overwritten before a sample.
    pub(super) fn has_canary(&self, sample: u64) -> bool {
        self.is_compared(sample) || self.draw(sample, 0).is_multiple_of(CANARIES)
    }

    /// Which element of an output.
    pub(super) fn element(&self, sample: u64, output: usize, length: u64) -> u64 {
        self.draw(sample, output as u64 + 1) % length.max(1)
    }

    fn draw(&self, sample: u64, what: u64) -> u64 {
        scramble(scramble(self.seed ^ sample) ^ what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_differ_between_seeds_and_modes_and_lie_in_their_ranges() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..200 {
            for mode in 0..5 {
                let spots = Spots::new(seed, mode);
                for (place, (from, to)) in spots.compared.iter().zip(RANGES) {
                    assert!((from..to).contains(place), "{place}");
                    assert!(spots.has_canary(*place));
                }
                assert!((1..30).contains(&spots.new_inputs));
                assert_ne!(spots.new_inputs, spots.compared[0]);
                seen.insert((spots.compared, spots.new_inputs));
            }
        }
        assert!(seen.len() > 990, "{}", seen.len());
    }

    #[test]
    fn one_in_eight_samples_has_a_canary_anywhere_in_the_output() {
        let spots = Spots::new(7, 0);
        let with = (0..8_000).filter(|sample| spots.has_canary(*sample));
        let places: Vec<u64> = with.map(|sample| spots.element(sample, 0, 16)).collect();
        assert!((900..1_100).contains(&places.len()), "{}", places.len());
        for element in 0..16 {
            assert!(places.contains(&element), "{element}");
        }
    }
}
