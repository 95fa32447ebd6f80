//! What a set of samples comes to.

use crate::interval::{self, Confidence, Interval};
use crate::quantile::quantile;
use crate::samples::Samples;
use crate::shape::{Modes, Quantisation, Trend, modes, quantisation, trend};
use crate::{dependence, spread};

/// A tail is shown when it holds this many samples.
const LEAST_IN_TAIL: f64 = 3.0;

/// The statistics of a set of samples, each in the unit of the samples unless it says otherwise.
///
/// What too few samples cannot tell is absent. Samples that are all the same give zero for what measures spread, an
/// interval without width, and neither modes nor a trend. No sample is left out because of its value.
///
/// ```
/// use ridge_stats::{Confidence, Samples, Summary};
///
/// let times = (0..40_u32).map(|i| 100.0 + f64::from(i * 7 % 40)).collect();
/// let summary = Summary::of(&Samples::new(times)?, Confidence::P95);
/// assert_eq!(summary.median, 119.5);
/// assert_eq!(summary.p99, None); // 40 samples have no three in the last hundredth
/// let interval = summary.interval.unwrap();
/// assert!(interval.lower < 119.5 && 119.5 < interval.upper);
/// # Ok::<(), ridge_stats::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// How many samples; at least 1.
    pub n: usize,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// The quantile at one half: see [`Samples::quantile`].
    pub median: f64,
    /// The quantile at a tenth, from 30 samples on.
    pub p10: Option<f64>,
    /// The quantile at nine tenths, from 30 samples on.
    pub p90: Option<f64>,
    /// The quantile at 99 hundredths, from 300 samples on.
    pub p99: Option<f64>,
    /// The quantile at three quarters less that at one quarter, from 12 samples on.
    pub interquartile_range: Option<f64>,
    /// The median of `|xᵢ − median|`, without a factor, from 3 samples on. With a coarse timer it can be zero although
    /// samples differ; the timer's step is then the better measure.
    pub median_absolute_deviation: Option<f64>,
    /// The sum over n. Not a headline: few slow samples move it.
    pub mean: f64,
    /// The confidence of `interval`.
    pub confidence: Confidence,
    /// Two samples that hold the median of the distribution between them at least as often as the confidence says, whatever
    /// the distribution. With the largest `k` for which `P(X < k) ≤ (1 − confidence) / 2`, `X` from `Bin(n, ½)`, they are those
    /// of rank `k` and `n + 1 − k`. For samples that depend on each other `k` is that of `effective_n`, with its distance from
    /// the middle made larger by `n / effective_n`. Ties only add to the coverage; zero spread gives no width. What the timer
    /// rounds is not in it. Absent below 6 effective samples at 95 %, where it is the whole range.
    pub interval: Option<Interval>,
    /// How many independent samples would tell as much about the median, from 1 to n: `n / (1 + 2 Σ ρₖ)` with the
    /// autocorrelations of the signs of `xᵢ − median`, summed up to Geyer's initial monotone sequence. n when all are ties.
    /// With a lag-1 autocorrelation of 0.5 it is right from 30 samples on, with 0.8 from 300 on; before, it is too large.
    pub effective_n: f64,
    /// The autocorrelation of neighbouring samples, `Σ(xᵢ − x̄)(xᵢ₊₁ − x̄) / Σ(xᵢ − x̄)²`, from −1 to 1. Absent below 3
    /// samples and without spread.
    pub autocorrelation: Option<f64>,
    /// Two groups with a valley between them, from 30 samples on. Of samples with one mode at most 1 % show any.
    pub modes: Option<Modes>,
    /// A movement in one direction over the run, from 32 samples on. Of samples without trend 1 % show one.
    pub trend: Option<Trend>,
    /// The distance that the values have in common, from 10 samples on.
    pub quantisation: Option<Quantisation>,
}

impl Summary {
    /// Computes all of them: sorting is done, so it takes a few passes over the samples.
    #[must_use]
    pub fn of(samples: &Samples, confidence: Confidence) -> Self {
        let (sorted, in_order) = (samples.sorted(), samples.in_order());
        let n = sorted.len();
        let median = samples.median();
        let effective_n = dependence::effective_n(in_order, sorted);
        let quantisation = quantisation::find(sorted, median);
        let step = step_of(samples, quantisation);
        let in_tail = |share: f64| n as f64 * share >= LEAST_IN_TAIL - 1e-9;
        let tail = |p: f64| in_tail(p.min(1.0 - p)).then(|| quantile(sorted, p));
        Self {
            n,
            min: sorted[0],
            max: sorted[n - 1],
            median,
            p10: tail(0.1),
            p90: tail(0.9),
            p99: tail(0.99),
            interquartile_range: in_tail(0.25).then(|| spread::interquartile_range(sorted)),
            median_absolute_deviation: in_tail(1.0)
                .then(|| spread::median_absolute_deviation(sorted)),
            mean: spread::mean(in_order),
            confidence,
            interval: interval::of_median(sorted, effective_n, confidence),
            effective_n,
            autocorrelation: dependence::lag_1(in_order),
            modes: modes::find(sorted, median, effective_n, step.unwrap_or(0.0)),
            trend: trend::find(in_order, median),
            quantisation,
        }
    }

    /// Half the width of the interval over the median. Absent without interval, and when the median is zero.
    #[must_use]
    pub fn relative_half_width(&self) -> Option<f64> {
        let interval = self.interval.filter(|_| self.median > 0.0)?;
        Some(interval.half_width() / self.median)
    }
}

/// The step as the caller knows it, or as the samples show it.
pub(crate) fn step_of(samples: &Samples, shown: Option<Quantisation>) -> Option<f64> {
    samples.step().or(shown.map(|shown| shown.step))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: Vec<f64>) -> Summary {
        Summary::of(&Samples::new(values).unwrap(), Confidence::P95)
    }

    #[test]
    fn one_sample_tells_little() {
        let summary = of(vec![3.0]);
        assert_eq!(
            summary,
            Summary {
                n: 1,
                min: 3.0,
                max: 3.0,
                median: 3.0,
                p10: None,
                p90: None,
                p99: None,
                interquartile_range: None,
                median_absolute_deviation: None,
                mean: 3.0,
                confidence: Confidence::P95,
                interval: None,
                effective_n: 1.0,
                autocorrelation: None,
                modes: None,
                trend: None,
                quantisation: None,
            }
        );
        assert_eq!(summary.relative_half_width(), None);
    }

    #[test]
    fn tails_are_shown_when_they_hold_three_samples() {
        let ramp = |n: u32| of((0..n).map(|i| f64::from(i * 37 % n)).collect());
        assert_eq!(ramp(29).p10, None);
        assert_eq!(ramp(29).p90, None);
        assert!(ramp(30).p10.is_some() && ramp(30).p90.is_some());
        assert_eq!(ramp(299).p99, None);
        assert!(ramp(300).p99.is_some());
        assert_eq!(ramp(11).interquartile_range, None);
        assert!(ramp(12).interquartile_range.is_some());
    }

    #[test]
    fn samples_without_spread() {
        let summary = of(vec![64.0; 100]);
        assert_eq!(summary.interquartile_range, Some(0.0));
        assert_eq!(summary.median_absolute_deviation, Some(0.0));
        assert_eq!(summary.relative_half_width(), Some(0.0));
        assert_eq!(summary.autocorrelation, None);
        assert_eq!((summary.modes, summary.trend), (None, None));
        let zeros = of(vec![0.0; 100]);
        assert_eq!(zeros.relative_half_width(), None);
        assert!(zeros.interval.is_some());
    }
}
