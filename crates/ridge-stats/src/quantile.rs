//! The one definition of a quantile.

/// Type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996).
/// `sorted` is not empty and `p` within 0 to 1.
pub(crate) fn quantile(sorted: &[f64], p: f64) -> f64 {
    let last = sorted.len() - 1;
    let place = last as f64 * p;
    // Rounding can lead past the end only by less than one place.
    let below = (place.floor() as usize).min(last);
    let above = (below + 1).min(last);
    let part = place - place.floor();
    // The sum of parts does not overflow, and is exact where both are the same.
    let (low, high) = (sorted[below], sorted[above]);
    low + part * (high - low)
}

/// The quantile at one half.
pub(crate) fn median(sorted: &[f64]) -> f64 {
    quantile(sorted, 0.5)
}

/// The median of values in any order, which are sorted for it.
pub(crate) fn median_of(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    median(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_numpy() {
        // numpy 2.4.6: np.quantile([1, 2, 4, 8, 16, 32], [0, .1, .25, .5, .9, .99, 1])
        let values = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
        let expected = [
            (0.0, 1.0),
            (0.1, 1.5),
            (0.25, 2.5),
            (0.5, 6.0),
            (0.9, 24.0),
            (0.99, 31.2),
            (1.0, 32.0),
        ];
        for (p, value) in expected {
            assert!((quantile(&values, p) - value).abs() < 1e-12, "{p}");
        }
    }

    #[test]
    fn few_and_huge_values() {
        assert_eq!(quantile(&[7.0], 0.9).to_bits(), 7.0_f64.to_bits());
        let huge = [f64::MAX, f64::MAX];
        assert!(median(&huge).is_finite());
        assert!(quantile(&[0.0, f64::MAX], 0.3).is_finite());
    }
}
