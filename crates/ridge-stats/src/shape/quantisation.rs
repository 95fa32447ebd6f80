//! Samples that are multiples of the timer's step.

/// The samples take few values, with a common distance.
///
/// Values count as one up to 2⁻²² of the largest, since event times come as 32-bit floats. The step is the greatest common
/// divisor of the distances of neighbouring values by Euclid's algorithm, up to that rounding, and refined over the whole
/// range. Two values give their distance, of which the timer's step may be a part.
///
/// There is none below 10 samples, when fewer than two samples share a value on average (a fine timer), when there is a single
/// value, when the median is zero, and when the distances have no common part above the rounding. Samples are finite, so
/// NaN and infinity do not occur.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantisation {
    /// The largest distance of which all differences are multiples, in the unit of the samples. The timer's step is this
    /// or a whole part of it.
    pub step: f64,
    /// How many values occur.
    pub levels: usize,
    /// `step` over the median: differences below this share are not seen in a single sample.
    pub share_of_median: f64,
}

/// Two values with a difference below this share of the largest are the same: the event time of CUDA is a 32-bit float,
/// whose spacing is 2⁻²³ at most, rounded once more in the conversion.
const SAME: f64 = 1.0 / (1 << 22) as f64;
/// A step has to stand out of that rounding.
const STEP_ABOVE_ROUNDING: f64 = 8.0;
/// Samples for each level at least. Values of a fine timer hardly occur twice.
const SAMPLES_PER_LEVEL: usize = 2;
/// Fewer samples show no step.
const LEAST_SAMPLES: usize = 10;

/// Looks for a common distance of the values that occur.
pub(crate) fn find(sorted: &[f64], median: f64) -> Option<Quantisation> {
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    if sorted.len() < LEAST_SAMPLES || median <= 0.0 {
        return None;
    }
    let same = last * SAME;
    let mut gaps = Vec::new();
    let mut level = first;
    for value in sorted {
        if value - level > same {
            gaps.push(value - level);
            level = *value;
        }
    }
    let levels = gaps.len() + 1;
    if gaps.is_empty() || levels * SAMPLES_PER_LEVEL > sorted.len() {
        return None;
    }
    let rough = gaps
        .iter()
        .fold(0.0, |common, gap| common_part(common, *gap, 4.0 * same));
    if rough <= STEP_ABOVE_ROUNDING * same {
        return None;
    }
    // Errors of the single gaps cancel over the whole range.
    let range = level - first;
    let step = range / (range / rough).round();
    let is_multiple = |gap: &f64| (gap - (gap / step).round() * step).abs() <= 4.0 * same;
    gaps.iter().all(is_multiple).then(|| Quantisation {
        step,
        levels,
        share_of_median: step / median,
    })
}

/// Euclid's algorithm, with remainders up to `rounding` as none.
fn common_part(a: f64, b: f64, rounding: f64) -> f64 {
    let (mut large, mut small) = (a.max(b), a.min(b));
    while small > rounding {
        let rest = large % small;
        // Just below a multiple is a multiple too.
        let rest = if small - rest <= rounding { 0.0 } else { rest };
        (large, small) = (small, rest);
    }
    large
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::quantile::median;

    fn of(mut values: Vec<f64>) -> Option<Quantisation> {
        values.sort_unstable_by(f64::total_cmp);
        let middle = median(&values);
        find(&values, middle)
    }

    /// Times as CUDA's events report them: 32-bit milliseconds, multiples of 32 ns.
    fn events(base_ns: f64, levels: usize, n: usize) -> Vec<f64> {
        let mut random = Random::new(9);
        (0..n)
            .map(|_| base_ns + 32.0 * random.below(levels) as f64)
            .map(|ns| f64::from((ns / 1e6) as f32) * 1e6)
            .collect()
    }

    #[test]
    fn the_step_of_event_times_is_found() {
        for (base, levels, n) in [(3_712.0, 3, 60), (128_000.0, 20, 200), (3_712.0, 2, 30)] {
            let found = of(events(base, levels, n)).unwrap();
            assert!((found.step - 32.0).abs() < 0.05, "{found:?}");
            assert_eq!(found.levels, levels);
            assert!((found.share_of_median - found.step / base).abs() < 0.001);
        }
    }

    #[test]
    fn a_fine_timer_has_no_step() {
        let mut random = Random::new(2);
        assert_eq!(
            of((0..500).map(|_| 1_000.0 + random.unit()).collect()),
            None
        );
        // Ties alone do not make one: 16 values without a common part.
        let values: Vec<f64> = (0..16).map(|_| 1_000.0 + 100.0 * random.unit()).collect();
        assert_eq!(of(values.repeat(20)), None);
    }

    #[test]
    fn values_that_tell_nothing() {
        assert_eq!(of(vec![5.0; 100]), None);
        assert_eq!(of(vec![1.0, 2.0, 1.0, 2.0]), None);
        assert_eq!(of(vec![0.0; 20]), None);
        // At 200 ms the rounding of a 32-bit float is half a step.
        assert_eq!(of(events(200e6, 20, 200)), None);
    }
}
