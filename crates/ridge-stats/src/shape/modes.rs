//! Samples that gather around two values.

use crate::binomial;

/// Two groups of samples with fewer samples between them than around either.
///
/// The samples are cut in two where the sum of the distances from the medians of both parts is least. Were the distribution
/// of one mode, then a window that moves over it would hold first more and then fewer samples, so that between two others
/// it is not expected to hold fewer than both. There are two modes when a window between the parts' medians, a quarter of
/// their distance wide, holds so few samples that both comparisons, with the window around either median, fail a one-sided
/// sign test at 1 %. No shape is assumed: skewed and heavy-tailed distributions of one mode are covered too.
///
/// False alarms in simulations (`tests/simulated/shape.rs`): 1 % of uniform samples, the worst case, where all windows expect
/// as many, and at most 0.5 % of others. Two modes of normal samples are seen in 99 % of runs of 200 when they are 5 standard
/// deviations apart and the smaller has 40 %, and in 97 % of runs of 1000 when they are 4 apart and it has 30 %.
///
/// Counts are scaled by the effective over the real number of samples. Ties are spread evenly over the timer's step, which
/// rounded them; without a step they stay where they are. There are none below 30 samples, without spread, when the smaller
/// part holds less than 5 % of the samples, which makes them outliers, and when the medians of the parts lie within 0.5 % of
/// the median or 1.5 steps. Samples are finite, so NaN and infinity do not occur.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modes {
    /// The median of the lower group, in the unit of the samples.
    pub lower: f64,
    /// The median of the upper group.
    pub upper: f64,
    /// The share of the samples in the upper group.
    pub upper_share: f64,
}

/// Fewer samples have no modes.
const LEAST_SAMPLES: usize = 30;
/// A smaller group is one of outliers.
const LEAST_SHARE: f64 = 0.05;
/// Groups that lie nearer to each other, as a share of the median, make no difference: the default precision.
const LEAST_SEPARATION: f64 = 0.005;
/// Groups that are no more steps of the timer apart are neighbours.
const LEAST_STEPS: f64 = 1.5;
/// Width of a window as a share of the distance of the groups. Narrower ones hold too few samples, and wider ones would
/// overlap with those that stand between them.
const WINDOW: f64 = 0.25;
/// Where the windows between the groups stand, as shares of the distance.
const BETWEEN: [f64; 5] = [0.25, 0.375, 0.5, 0.625, 0.75];
/// Of the sign test in each window. Set by simulation (`tests/simulated/shape.rs`): with it 1 % of uniform samples, the worst of one
/// mode, show two.
const LEVEL: f64 = 0.01;

/// Looks for a valley. `sorted` holds finite numbers.
pub(crate) fn find(sorted: &[f64], median: f64, effective_n: f64, step: f64) -> Option<Modes> {
    let n = sorted.len();
    if n < LEAST_SAMPLES {
        return None;
    }
    let cut = cut(sorted);
    let upper_share = (n - cut) as f64 / n as f64;
    if upper_share.min(1.0 - upper_share) < LEAST_SHARE {
        return None;
    }
    let lower = crate::quantile::median(&sorted[..cut]);
    let upper = crate::quantile::median(&sorted[cut..]);
    let distance = upper - lower;
    if distance <= (LEAST_SEPARATION * median).max(LEAST_STEPS * step) {
        return None;
    }
    let count = |centre: f64| {
        let half = distance * WINDOW / 2.0;
        let held = held(sorted, centre - half, centre + half, step);
        (held * effective_n / n as f64).round() as u64
    };
    let around = count(lower).min(count(upper));
    // The sign test with the smaller of the two is the weaker one, so both fail when it does.
    let is_valley = |place: &f64| {
        let between = count(lower + place * distance);
        between < around && binomial::at_most(between + around, between) <= LEVEL
    };
    BETWEEN.iter().any(is_valley).then_some(Modes {
        lower,
        upper,
        upper_share,
    })
}

/// How many samples lie within the bounds, each spread evenly over the step around it.
fn held(sorted: &[f64], from: f64, to: f64, step: f64) -> f64 {
    let reach = step / 2.0;
    let first = sorted.partition_point(|value| value + reach < from);
    let touching = sorted[first..]
        .iter()
        .take_while(|value| *value - reach <= to);
    if step > 0.0 {
        touching
            .map(|value| ((value + reach).min(to) - (value - reach).max(from)) / step)
            .sum()
    } else {
        touching.count() as f64
    }
}

/// How many samples the lower part holds, of the two that lie nearest to their medians: from 1 to n − 1.
fn cut(sorted: &[f64]) -> usize {
    // Sums of what is above the smallest, so that they keep their digits.
    let smallest = sorted[0];
    let sums: Vec<f64> = std::iter::once(0.0)
        .chain(sorted.iter().scan(0.0, |sum, value| {
            *sum += value - smallest;
            Some(*sum)
        }))
        .collect();
    // The distances from the median: what lies above the middle less what lies below it.
    let distances = |from: usize, to: usize| {
        let half = (to - from) / 2;
        (sums[to] - sums[to - half]) - (sums[from + half] - sums[from])
    };
    let n = sorted.len();
    let cost = |at: usize| distances(0, at) + distances(at, n);
    (1..n)
        .min_by(|a, b| cost(*a).total_cmp(&cost(*b)))
        .unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cut_by_hand() {
        // 1 2 | 8 9 9 costs 1 + 1; 1 | 2 8 9 9 costs 0 + 8.
        assert_eq!(cut(&[1.0, 2.0, 8.0, 9.0, 9.0]), 2);
        assert_eq!(cut(&[1.0, 1.0, 1.0, 5.0]), 3);
    }

    #[test]
    fn two_levels_apart_are_two_modes() {
        let mut values = vec![100.0; 40];
        values.extend([110.0; 20]);
        let found = find(&values, 100.0, 60.0, 1.0).unwrap();
        assert!((found.lower - 100.0).abs() < 1e-12);
        assert!((found.upper - 110.0).abs() < 1e-12);
        assert!((found.upper_share - 1.0 / 3.0).abs() < 1e-12);
        // As neighbours on the timer's scale they are one, and so are parts too near to matter.
        assert_eq!(find(&values, 100.0, 60.0, 10.0), None);
        assert_eq!(find(&values, 5_000.0, 60.0, 1.0), None);
        // As few samples as tell the same, it may be chance.
        assert_eq!(find(&values, 100.0, 6.0, 1.0), None);
    }

    #[test]
    fn outliers_and_equal_samples_are_no_mode() {
        let mut values = vec![100.0; 98];
        values.extend([500.0; 2]);
        assert_eq!(find(&values, 100.0, 100.0, 0.0), None);
        assert_eq!(find(&[7.0; 100], 7.0, 100.0, 0.0), None);
    }

    #[test]
    fn a_tie_is_spread_over_the_step() {
        let values = [10.0, 10.0, 12.0];
        assert!((held(&values, 10.0, 11.0, 2.0) - 1.0).abs() < 1e-12);
        assert!((held(&values, 10.0, 12.0, 2.0) - 1.5).abs() < 1e-12);
        assert!((held(&values, 10.0, 12.0, 0.0) - 3.0).abs() < 1e-12);
    }
}
