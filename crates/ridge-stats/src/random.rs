//! Random numbers that are the same everywhere for the same seed.

/// `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): 64 bits of state,
/// no bad seeds, one addition and two multiplications a number. Good enough to shuffle and to resample; not for secrets.
///
/// ```
/// let mut order = ["A", "B", "control"];
/// ridge_stats::Random::new(7).shuffle(&mut order);
/// let mut again = ["A", "B", "control"];
/// ridge_stats::Random::new(7).shuffle(&mut again);
/// assert_eq!(order, again);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Starts the sequence of a seed. Any seed will do.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, or 0 if that is 0. No number is favoured by more than `bound` in 2⁶⁴.
    pub const fn below(&mut self, bound: usize) -> usize {
        ((self.next_u64() as u128 * bound as u128) >> 64) as usize
    }

    /// A number from 0 up to but not including 1, a multiple of 2⁻⁵³.
    pub const fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Brings values into a random order; all orders are equally likely (Fisher and Yates).
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_published_ones() {
        // The sequence for 1234567 that Rosetta Code gives for this generator.
        let mut random = Random::new(1_234_567);
        let numbers: Vec<u64> = (0..5).map(|_| random.next_u64()).collect();
        assert_eq!(
            numbers,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821,
            ]
        );
    }

    #[test]
    fn all_orders_are_equally_likely() {
        let mut counts = std::collections::BTreeMap::new();
        let mut random = Random::new(1);
        for _ in 0..6_000 {
            let mut order = [0, 1, 2];
            random.shuffle(&mut order);
            *counts.entry(order).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 6);
        // The standard deviation of each count is 29.
        assert!(
            counts.values().all(|count| (880..=1120).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn bounds_hold() {
        let mut random = Random::new(3);
        assert_eq!(random.below(0), 0);
        assert_eq!(random.below(1), 0);
        assert!((0..1_000).all(|_| random.below(3) < 3));
        assert!((0..1_000).all(|_| (0.0..1.0).contains(&random.unit())));
    }
}
