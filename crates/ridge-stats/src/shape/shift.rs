//! Samples whose level jumps once, also near an end of the run.

use crate::spread;

/// The samples before a place and those after it are at different levels.
///
/// [`super::Trend`] sees a jump in the middle of a run, and not one of which few samples tell: but those few are all that
/// says that another run may be at the other level from its start. So each place of the run is tried. With the robust scores
/// `u = (x − median) / (1.4826 · MAD)`, cut at ±3 so that an outlier is not a level, and `s` before and after the place `t` as
/// the means, the statistic is `|s₁ − s₂| / √(τ (1 / t + 1 / (n − t)))`, where `τ = n / effective_n` takes care of neighbours
/// that depend on each other. There is a jump where its largest value is above 4.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shift {
    /// The mean score after the jump less that before it, in units of the samples, as a share of the median.
    pub(crate) change: f64,
}

/// A score beyond this says no more.
const MOST: f64 = 3.0;
/// Above what the largest statistic counts: set by simulation (`tests/simulated/processes.rs`). Two samples of a level that is
/// far away have 4.2, an outlier has 3.
const SIGNIFICANT: f64 = 4.0;
/// The standard deviation of normal samples over their median absolute deviation.
const NORMAL: f64 = 1.4826;
/// Fewer samples show no level.
const LEAST_SAMPLES: usize = 12;

/// Looks for a jump. Scores are at least of `step`, by which a timer rounds.
pub(crate) fn find(
    in_order: &[f64],
    sorted: &[f64],
    median: f64,
    effective_n: f64,
    step: f64,
) -> Option<Shift> {
    let n = in_order.len();
    if n < LEAST_SAMPLES || median <= 0.0 {
        return None;
    }
    let unit = (NORMAL * spread::median_absolute_deviation(sorted)).max(step);
    if unit <= 0.0 {
        return None;
    }
    let score = |value: &f64| ((value - median) / unit).clamp(-MOST, MOST);
    let all: f64 = in_order.iter().map(score).sum();
    let inflation = n as f64 / effective_n;
    let (mut before, mut found) = (0.0, None);
    let mut largest = SIGNIFICANT;
    for (place, value) in in_order[..n - 1].iter().enumerate() {
        before += score(value);
        let (first, second) = ((place + 1) as f64, (n - place - 1) as f64);
        let difference = (all - before) / second - before / first;
        let statistic = difference.abs() / (inflation * (1.0 / first + 1.0 / second)).sqrt();
        if statistic > largest {
            largest = statistic;
            found = Some(Shift {
                change: difference * unit / median,
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_in(values: &[f64]) -> Option<Shift> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let median = crate::quantile::median(&sorted);
        find(values, &sorted, median, values.len() as f64, 0.0)
    }

    /// Around 100 with a MAD of 1.
    fn level(n: usize) -> Vec<f64> {
        (0..n).map(|at| 99.0 + (at * 7 % 5) as f64 / 2.0).collect()
    }

    #[test]
    fn two_samples_of_another_level_are_seen_and_one_is_not() {
        assert_eq!(find_in(&level(100)), None);
        let mut values = level(100);
        values[0] = 90.0;
        assert_eq!(find_in(&values), None);
        values[1] = 90.0;
        let found = find_in(&values).unwrap();
        assert!(found.change > 0.02, "{found:?}");
        values.reverse();
        assert!(find_in(&values).unwrap().change < -0.02);
        // Two slow ones that are no neighbours of an end are outliers.
        let mut values = level(100);
        values[40] = 150.0;
        values[60] = 150.0;
        assert_eq!(find_in(&values), None);
    }

    #[test]
    fn what_has_no_spread_has_no_level() {
        assert_eq!(find_in(&[5.0; 50]), None);
        assert_eq!(find_in(&level(11)), None);
    }
}
