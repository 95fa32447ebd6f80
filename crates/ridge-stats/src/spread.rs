//! How far samples lie apart.

use crate::quantile::{median, median_of, quantile};

/// `median(|xᵢ − median(x)|)`, without a factor that would make it the standard deviation of a normal distribution.
pub(crate) fn median_absolute_deviation(sorted: &[f64]) -> f64 {
    let middle = median(sorted);
    let mut deviations: Vec<f64> = sorted.iter().map(|value| (value - middle).abs()).collect();
    median_of(&mut deviations)
}

/// The quantile at three quarters less that at one quarter.
pub(crate) fn interquartile_range(sorted: &[f64]) -> f64 {
    quantile(sorted, 0.75) - quantile(sorted, 0.25)
}

/// The mean, updated value by value so that a sum cannot overflow.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values
        .iter()
        .zip(1_u32..)
        .fold(0.0, |mean, (value, n)| mean + (value - mean) / f64::from(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_by_hand() {
        // The median is 2, the deviations are 1 1 0 0 2 4 7, whose median is 1.
        let values = [1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0];
        assert!((median_absolute_deviation(&values) - 1.0).abs() < 1e-15);
        // Places 1.5 and 4.5: 1.5 and 5.
        assert!((interquartile_range(&values) - 3.5).abs() < 1e-15);
        assert!((mean(&values) - 25.0 / 7.0).abs() < 1e-12);
    }

    #[test]
    fn a_mean_of_huge_values_is_finite() {
        assert!(mean(&[f64::MAX; 5]).is_finite());
    }
}
