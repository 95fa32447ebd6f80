//! How much consecutive samples tell the same thing.

use crate::quantile;
use crate::spread;

/// Groups of samples that the search for long dependence works on at most. It costs the square of them at worst, and the
/// variance of the groups is known to `√(2 / 1024)`, 4 %.
const MOST_GROUPS: usize = 1024;

/// The lag-1 autocorrelation `Σ(xᵢ − x̄)(xᵢ₊₁ − x̄) / Σ(xᵢ − x̄)²`. Absent below 3 samples and without spread.
pub(crate) fn lag_1(in_order: &[f64]) -> Option<f64> {
    if in_order.len() < 3 {
        return None;
    }
    let mean = spread::mean(in_order);
    let mut deviations: Vec<f64> = in_order.iter().map(|value| value - mean).collect();
    // Squares of huge or tiny deviations would leave the range of numbers.
    let largest = deviations
        .iter()
        .fold(0.0_f64, |most, value| most.max(value.abs()));
    // Rounding of the mean is no spread.
    if largest <= mean.abs() * f64::EPSILON {
        return None;
    }
    for value in &mut deviations {
        *value /= largest;
    }
    Some(autocovariance(&deviations, 1) / autocovariance(&deviations, 0))
}

/// How many independent samples would tell as much about the median as these do: from 1 to n.
///
/// The number of samples below the median decides how well the median is known, so what counts is the dependence of the
/// signs `sᵢ = sign(xᵢ − median)`, not that of the values, which single outliers govern. The variance of their sum is
/// larger than that of independent ones by `τ = 1 + 2 Σ ρₖ`, over the autocorrelations of the signs at all lags, and
/// n / τ is returned. The sum ends by Geyer's initial monotone sequence ("Practical Markov chain Monte Carlo", Statistical
/// Science 7, 1992): pairs `ρ₂ₖ + ρ₂ₖ₊₁` are added while they are above zero, none with more than the one before it.
/// `τ` below 1, from samples that alternate, counts as 1: it would promise more than n.
///
/// More than 1024 samples are first averaged in groups of neighbours, whose variance holds the near lags.
/// Ties with the median have the sign 0; when all are ties, n is returned.
pub(crate) fn effective_n(in_order: &[f64], sorted: &[f64]) -> f64 {
    let n = in_order.len();
    let median = quantile::median(sorted);
    let signs: Vec<f64> = in_order
        .iter()
        .map(|value| f64::from(i8::from(*value > median) - i8::from(*value < median)))
        .collect();
    let mean = spread::mean(&signs);
    let variance = signs.iter().map(|sign| (sign - mean).powi(2)).sum::<f64>() / n as f64;
    if variance <= 0.0 {
        return n as f64;
    }
    let size = n.div_ceil(MOST_GROUPS);
    // What is left over at the end is too little to matter.
    let groups: Vec<f64> = signs
        .chunks_exact(size)
        .map(|group| group.iter().sum::<f64>() / size as f64 - mean)
        .collect();
    let of_groups = autocovariance(&groups, 0);
    let inflation = size as f64 * (of_groups / variance) * inflation(&groups, of_groups);
    n as f64 / inflation.clamp(1.0, n as f64)
}

/// `1 + 2 Σ ρₖ`.
fn inflation(deviations: &[f64], variance: f64) -> f64 {
    if variance <= 0.0 {
        return 1.0;
    }
    let correlation = |lag| autocovariance(deviations, lag) / variance;
    let mut sum = 0.0;
    let mut before = f64::INFINITY;
    for lag in (0..deviations.len() / 2).step_by(2) {
        let pair = (correlation(lag) + correlation(lag + 1)).min(before);
        if pair <= 0.0 {
            break;
        }
        sum += pair;
        before = pair;
    }
    2.0 * sum - 1.0
}

/// Of deviations from the mean, divided by how many there are.
fn autocovariance(deviations: &[f64], lag: usize) -> f64 {
    let later = deviations.get(lag..).unwrap_or_default();
    let sum: f64 = deviations.iter().zip(later).map(|(a, b)| a * b).sum();
    sum / deviations.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effective(values: &[f64]) -> f64 {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        effective_n(values, &sorted)
    }

    #[test]
    fn the_lag_by_hand() {
        // Deviations −2 −1 0 1 2: products 2 + 0 + 0 + 2 over squares 10.
        assert!((lag_1(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap() - 0.4).abs() < 1e-15);
        // Deviations ±1, seven products of −1 over eight squares.
        let alternating = [1.0, 3.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0];
        assert!((lag_1(&alternating).unwrap() + 0.875).abs() < 1e-15);
        assert_eq!(lag_1(&[1.0, 2.0]), None);
        assert_eq!(lag_1(&[0.1; 10]), None);
        assert!(lag_1(&[0.0, f64::MAX, 0.0]).unwrap().is_finite());
    }

    #[test]
    fn samples_without_spread_or_with_a_rhythm_count_in_full() {
        assert!((effective(&[4.0; 40]) - 40.0).abs() < 1e-12);
        let alternating: Vec<f64> = (0..40).map(|i| f64::from(i % 2)).collect();
        assert!((effective(&alternating) - 40.0).abs() < 1e-12);
    }

    #[test]
    fn a_repeated_sample_counts_once() {
        let mut random = crate::Random::new(5);
        let times_10: Vec<f64> = (0..300).flat_map(|_| [random.unit(); 10]).collect();
        let found = effective(&times_10);
        assert!((200.0..=330.0).contains(&found), "{found}");
    }

    #[test]
    fn a_step_in_the_middle_leaves_almost_nothing() {
        let mut random = crate::Random::new(5);
        let step: Vec<f64> = (0..4_000)
            .map(|i| random.unit() + if i < 2_000 { 0.0 } else { 10.0 })
            .collect();
        let found = effective(&step);
        assert!(found < 6.0, "{found}");
    }
}
