//! Seeded noise: the same stream on every machine.

/// A generator with 64 bits of state (SplitMix64).
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        scramble(self.0)
    }

    /// Uniform in 0 to 1, without 1.
    pub(super) fn uniform(&mut self) -> f64 {
        // 53 bits are what a double holds.
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Normal with mean 0 and standard deviation 1, by Box and Muller.
    pub(super) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// The increment of SplitMix64: 2^64 divided by the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64.
pub(super) const fn scramble(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// One number from several; their order matters.
pub(super) fn mix(values: &[u64]) -> u64 {
    values.iter().fold(STEP, |state, value| {
        scramble(state.rotate_left(23) ^ value.wrapping_add(STEP))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs for seed 1234567, as published with the reference implementation of SplitMix64.
    #[test]
    fn the_stream_is_the_published_one() {
        let mut random = Random::new(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn normal_numbers_have_mean_0_and_deviation_1() {
        let mut random = Random::new(7);
        let numbers: Vec<f64> = (0..20_000).map(|_| random.normal()).collect();
        let count = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / count;
        let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        assert!(mean.abs() < 0.03, "{mean}");
        assert!((variance - 1.0).abs() < 0.05, "{variance}");
    }
}
