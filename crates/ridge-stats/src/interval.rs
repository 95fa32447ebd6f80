//! The confidence interval of the median.

use crate::binomial;
use crate::error::{Error, check_setting};

/// How often an interval has to hold the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confidence(f64);

impl Confidence {
    /// Nineteen times of twenty: the default everywhere.
    pub const P95: Self = Self(0.95);

    /// A share between one half and one.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] when it is not above 0.5 and at most 0.999999. Nearer to one the tails are lost in rounding.
    pub fn new(share: f64) -> Result<Self, Error> {
        check_setting(
            "confidence",
            share,
            |share| share > 0.5 && share <= 0.999_999,
            "above 0.5 and at most 0.999999",
        )?;
        Ok(Self(share))
    }

    /// The share.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The probability on each side of the interval.
    pub(crate) fn tail(self) -> f64 {
        (1.0 - self.0) / 2.0
    }
}

impl Default for Confidence {
    fn default() -> Self {
        Self::P95
    }
}

/// Two bounds that hold the truth as often as the confidence says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower bound.
    pub lower: f64,
    /// The upper bound.
    pub upper: f64,
}

impl Interval {
    /// Half of the distance of the bounds; 0 where ties make them one.
    #[must_use]
    pub fn half_width(self) -> f64 {
        // Halves first, so that huge bounds do not overflow.
        self.upper / 2.0 - self.lower / 2.0
    }
}

/// An interval of the median from two of the samples, whatever their distribution.
///
/// Of `n` independent samples the number below the median follows `Bin(n, ½)`. With the largest `k` for which
/// `P(X < k) ≤ α / 2`, the samples of rank `k` and `n + 1 − k` hold the median between them with a probability of at
/// least `1 − α`; ties only add to it. Samples that depend on each other count as `effective_n`, at most `n`: the variance
/// of the number below the median is then larger by `n / effective_n`, and the ranks move away from the middle by the same
/// factor. Ranks between two samples are moved outwards.
///
/// Absent below as many effective samples as the confidence needs: 6 for 95 %, where the smallest and the largest are the
/// bounds. `sorted` holds finite numbers.
pub(crate) fn of_median(
    sorted: &[f64],
    effective_n: f64,
    confidence: Confidence,
) -> Option<Interval> {
    let n = sorted.len();
    let rank = rank(n, effective_n, confidence)?;
    Some(Interval {
        lower: sorted[rank - 1],
        upper: sorted[n - rank],
    })
}

/// The rank of the lower bound, from 1; that of the upper one is as far from the other end.
fn rank(n: usize, effective_n: f64, confidence: Confidence) -> Option<usize> {
    let counted = (effective_n.floor() as u64).min(n as u64);
    let rank = binomial::rank(counted, confidence.tail());
    if rank == 0 {
        return None;
    }
    if counted == n as u64 {
        return usize::try_from(rank).ok();
    }
    let from_middle = (counted as f64 + 1.0) / 2.0 - rank as f64;
    let stretched = (n as f64 + 1.0) / 2.0 - from_middle * (n as f64 / effective_n);
    // At n effective samples the rank is that of the outermost one or further in, so this is at least 1 up to rounding.
    Some((stretched.floor() as usize).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(n: usize) -> Option<(usize, usize)> {
        rank(n, n as f64, Confidence::P95).map(|low| (low, n + 1 - low))
    }

    #[test]
    fn ranks_are_the_tabulated_ones() {
        // Conover, "Practical Nonparametric Statistics", 3rd edition, section 3.2, and its table A3; the same as
        // scipy.stats.binom.ppf(0.025, n, 0.5) where P(X < k) is at most 0.025.
        for n in 1..6 {
            assert_eq!(ranks(n), None);
        }
        assert_eq!(ranks(6), Some((1, 6)));
        assert_eq!(ranks(8), Some((1, 8)));
        assert_eq!(ranks(9), Some((2, 8)));
        assert_eq!(ranks(10), Some((2, 9)));
        assert_eq!(ranks(20), Some((6, 15)));
        assert_eq!(ranks(30), Some((10, 21)));
        assert_eq!(ranks(50), Some((18, 33)));
        assert_eq!(ranks(100), Some((40, 61)));
        // From the normal approximation: 500.5 − 1.96 · √1000 / 2 = 469.5.
        assert_eq!(ranks(1000), Some((469, 532)));
    }

    #[test]
    fn dependent_samples_count_as_fewer() {
        // A quarter of the samples doubles the distance from the middle: 100 samples reach from 40 to 61, 10.5 from the
        // middle; 400 that count as 100 reach 42 from theirs.
        assert_eq!(rank(400, 100.0, Confidence::P95), Some(158));
        assert_eq!(rank(400, 400.0, Confidence::P95), Some(180));
        // As few as allowed: all of the range.
        assert_eq!(rank(60, 6.0, Confidence::P95), Some(5));
        assert_eq!(rank(60, 5.9, Confidence::P95), None);
        for n in 6..300 {
            for effective in 6..=n {
                let found = rank(n, effective as f64, Confidence::P95).unwrap();
                assert!(found >= 1 && found <= n / 2, "{n} {effective}: {found}");
            }
        }
    }

    #[test]
    fn ties_make_an_interval_without_width() {
        let interval = of_median(&[5.0; 30], 30.0, Confidence::P95).unwrap();
        assert!(interval.half_width().abs() < 1e-300);
        assert!((interval.lower - 5.0).abs() < 1e-300);
        let huge = Interval {
            lower: 0.0,
            upper: f64::MAX,
        };
        assert!(huge.half_width().is_finite());
    }

    #[test]
    fn confidence_has_limits() {
        for share in [0.5, 0.0, -1.0, 1.0, f64::NAN] {
            assert_eq!(Confidence::new(share).unwrap_err().code(), "STAT0008");
        }
        let surer = Confidence::new(0.99).unwrap();
        // scipy.stats.binom.cdf(7, 30, 0.5) = 0.0026, cdf(8, 30, 0.5) = 0.0081: rank 8.
        assert_eq!(rank(30, 30.0, surer), Some(8));
    }
}
