//! The Hodges-Lehmann estimate: robust like the median, and almost as sharp as the mean.

/// All Walsh averages `(xᵢ + xⱼ) / 2` with `i ≤ j`, sorted once. A resample of the values changes only how often each
/// counts.
pub(super) struct WalshAverages {
    /// The average with the places of both values.
    sorted: Vec<(f64, u16, u16)>,
    values: usize,
}

impl WalshAverages {
    /// Of at most 2¹⁶ values.
    pub(super) fn new(values: &[f64]) -> Self {
        let mut sorted = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
        for (i, a) in (0..).zip(values) {
            for (j, b) in (0..).zip(&values[..=usize::from(i)]) {
                sorted.push((a / 2.0 + b / 2.0, i, j));
            }
        }
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        Self {
            sorted,
            values: values.len(),
        }
    }

    /// Of the values as they are.
    pub(super) fn estimate(&self) -> f64 {
        self.of_resample(&vec![1; self.values])
    }

    /// Of a resample, in which each value occurs as often as `counts` says: the median of the averages, where the copies of
    /// a value form pairs among themselves. Half the sum of the two middle ones of an even number.
    pub(super) fn of_resample(&self, counts: &[u32]) -> f64 {
        let drawn: u64 = counts.iter().map(|count| u64::from(*count)).sum();
        let pairs = drawn * (drawn + 1) / 2;
        let (lower, upper) = (pairs.div_ceil(2), pairs / 2 + 1);
        let mut passed = 0;
        let mut low = None;
        for (average, i, j) in &self.sorted {
            let (a, b) = (
                u64::from(counts[usize::from(*i)]),
                u64::from(counts[usize::from(*j)]),
            );
            passed += if i == j { a * (a + 1) / 2 } else { a * b };
            if passed >= lower && low.is_none() {
                low = Some(*average);
            }
            if passed >= upper {
                return low.unwrap_or(*average) / 2.0 + average / 2.0;
            }
        }
        // Only without any value.
        f64::NAN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::quantile::median_of;

    #[test]
    #[expect(clippy::approx_constant, reason = "3.14 is what a patient scored")]
    fn the_published_example() {
        // Hollander and Wolfe, "Nonparametric Statistical Methods", example 3.1 (Hamilton depression scale, nine patients):
        // the estimate from these differences is −0.46.
        let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
        let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
        let differences: Vec<f64> = before.iter().zip(after).map(|(x, y)| y - x).collect();
        let found = WalshAverages::new(&differences).estimate();
        assert!((found + 0.46).abs() < 1e-12, "{found}");
    }

    #[test]
    fn few_values_by_hand() {
        assert!((WalshAverages::new(&[3.0]).estimate() - 3.0).abs() < 1e-15);
        // Averages 1, 2.5, 4.
        assert!((WalshAverages::new(&[1.0, 4.0]).estimate() - 2.5).abs() < 1e-15);
        // Averages 0 0.5 1 2.5 3 5: the middle of 1 and 2.5.
        assert!((WalshAverages::new(&[0.0, 1.0, 5.0]).estimate() - 1.75).abs() < 1e-15);
    }

    #[test]
    fn counts_stand_for_copies() {
        let mut random = Random::new(8);
        for _ in 0..50 {
            let values: Vec<f64> = (0..7).map(|_| random.unit()).collect();
            let counts: Vec<u32> = (0..7).map(|_| random.below(4) as u32).collect();
            let copies: Vec<f64> = values
                .iter()
                .zip(&counts)
                .flat_map(|(value, count)| vec![*value; *count as usize])
                .collect();
            if copies.is_empty() {
                continue;
            }
            let mut averages = Vec::new();
            for (at, a) in copies.iter().enumerate() {
                averages.extend(copies[..=at].iter().map(|b| (a + b) / 2.0));
            }
            let expected = median_of(&mut averages);
            let found = WalshAverages::new(&values).of_resample(&counts);
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }
}
