//! When enough samples are taken.

use std::time::Duration;

use crate::dependence;
use crate::error::{Error, check_setting};
use crate::interval::{self, Confidence, Interval};
use crate::quantile;
use crate::samples::{self, Samples};

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoppingRule {
    /// Half the width of the median's interval that is narrow enough, as a share of the median. Above 0 and below 1; 0.005
    /// by default.
    pub precision: f64,
    /// Of the interval.
    pub confidence: Confidence,
    /// Samples before precision can end it: at least 6, 30 by default.
    pub min_samples: usize,
    /// Samples at which it ends in any case; at least `min_samples`, 1,000,000 by default.
    pub max_samples: usize,
    /// Time before precision can end it; none by default.
    pub min_time: Duration,
    /// Time at which it ends in any case, however few samples there are; 5 s by default. At least `min_time`.
    pub max_time: Duration,
    /// The smallest difference that the timer can show, in the unit of the samples. No interval has to be narrower than a
    /// step to either side. Absent for a fine timer.
    pub step: Option<f64>,
}

impl Default for StoppingRule {
    fn default() -> Self {
        Self {
            precision: 0.005,
            confidence: Confidence::P95,
            min_samples: 30,
            max_samples: 1_000_000,
            min_time: Duration::ZERO,
            max_time: Duration::from_secs(5),
            step: None,
        }
    }
}

/// Why sampling stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Half the width of the interval, and half a step of the timer with it, is at most the precision.
    Precision,
    /// Half the width of the interval is at most a step of the timer, but the precision is not reached: more samples of a
    /// timer this coarse would not tell more.
    TimerStep,
    /// As many samples as allowed.
    MaxSamples,
    /// As much time as allowed.
    MaxTime,
}

/// Takes samples one by one and says when there are enough.
///
/// The interval of the median is looked at when the first look is due, at `min_samples`, and then where it can be expected
/// to be narrow enough: its width falls with the root of the samples, so from the width at n follows the n that is needed.
/// The next look is there, but at least 5 % and at most 50 % further on. Few looks leave little room to stop by luck, and
/// a look costs a merge of what is new and some passes; over all samples that is well below a microsecond each.
///
/// The clock is the caller's: each sample comes with the time since the start.
///
/// ```
/// use std::time::Duration;
/// use ridge_stats::{StopReason, Stopping, StoppingRule};
///
/// let mut stopping = Stopping::new(StoppingRule::default())?;
/// let mut taken = 0;
/// let reason = loop {
///     taken += 1;
///     if let Some(reason) = stopping.push(3_712.0, Duration::from_micros(10 * taken))? {
///         break reason;
///     }
/// };
/// assert_eq!((reason, taken), (StopReason::Precision, 30));
/// let samples = stopping.into_samples()?;
/// assert_eq!(samples.len(), 30);
/// # Ok::<(), ridge_stats::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stopping {
    rule: StoppingRule,
    in_order: Vec<f64>,
    /// All samples up to the last look, sorted.
    sorted: Vec<f64>,
    next_look: usize,
    interval: Option<Interval>,
    reason: Option<StopReason>,
}

/// How much further on the next look is at least, so that the sum of all looks stays a small multiple of the last.
const LEAST_GROWTH: f64 = 1.05;
/// And at most: a guess from few samples can be far off.
const MOST_GROWTH: f64 = 1.5;

impl Stopping {
    /// Starts without samples.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] with the first setting that makes no sense.
    pub fn new(rule: StoppingRule) -> Result<Self, Error> {
        check_setting(
            "precision",
            rule.precision,
            |precision| precision > 0.0 && precision < 1.0,
            "above 0 and below 1",
        )?;
        check_setting(
            "min_samples",
            rule.min_samples as f64,
            |samples| samples >= 6.0,
            "at least 6, or there is no interval",
        )?;
        check_setting(
            "max_samples",
            rule.max_samples as f64,
            |_| rule.max_samples >= rule.min_samples,
            "at least min_samples",
        )?;
        check_setting(
            "max_time in seconds",
            rule.max_time.as_secs_f64(),
            |_| rule.max_time >= rule.min_time && rule.max_time > Duration::ZERO,
            "above zero and at least min_time",
        )?;
        if let Some(step) = rule.step {
            samples::check_step(step)?;
        }
        Ok(Self {
            in_order: Vec::with_capacity(rule.min_samples),
            sorted: Vec::with_capacity(rule.min_samples),
            next_look: rule.min_samples,
            interval: None,
            reason: None,
            rule,
        })
    }

    /// Takes one more sample, with the time since the start, and says why to stop if there is a reason. A time before
    /// that of an earlier sample does no harm. Samples that are taken after a reason are kept, and the reason stays.
    ///
    /// # Errors
    ///
    /// [`Error::NotFinite`] or [`Error::Negative`]; the sample is not taken then, and the others stay.
    pub fn push(&mut self, sample: f64, elapsed: Duration) -> Result<Option<StopReason>, Error> {
        samples::check(self.in_order.len(), sample)?;
        self.in_order.push(sample);
        if self.reason.is_none() {
            self.reason = self.judge(elapsed);
        }
        Ok(self.reason)
    }

    /// How many samples there are.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.in_order.len()
    }

    /// The interval at the last look. Absent before it, and when there were too few effective samples.
    #[must_use]
    pub fn interval(&self) -> Option<Interval> {
        self.interval
    }

    /// Why it stopped; absent while more samples are needed.
    #[must_use]
    pub fn reason(&self) -> Option<StopReason> {
        self.reason
    }

    /// Hands over the samples, with the step of the rule.
    ///
    /// # Errors
    ///
    /// [`Error::Empty`] when there are none.
    pub fn into_samples(mut self) -> Result<Samples, Error> {
        if self.in_order.is_empty() {
            return Err(Error::Empty);
        }
        self.sort();
        Ok(Samples::from_checked(
            self.in_order,
            self.sorted,
            self.rule.step,
        ))
    }

    fn judge(&mut self, elapsed: Duration) -> Option<StopReason> {
        let taken = self.in_order.len();
        let limit = if taken >= self.rule.max_samples {
            Some(StopReason::MaxSamples)
        } else if elapsed >= self.rule.max_time {
            Some(StopReason::MaxTime)
        } else {
            None
        };
        // A last look at a limit: it may be narrow enough already.
        let is_due = taken >= self.next_look || (limit.is_some() && taken >= self.rule.min_samples);
        let narrow = (is_due && elapsed >= self.rule.min_time).then(|| self.look());
        narrow.flatten().or(limit)
    }

    /// Computes the interval, and either ends or sets the next look.
    fn look(&mut self) -> Option<StopReason> {
        self.sort();
        let effective = dependence::effective_n(&self.in_order, &self.sorted);
        self.interval = interval::of_median(&self.sorted, effective, self.rule.confidence);
        let wanted = self.rule.precision * quantile::median(&self.sorted);
        let step = self.rule.step.unwrap_or(0.0);
        // What the timer shows was rounded by up to half a step, whatever the samples agree on.
        let narrow = wanted - step / 2.0;
        let mut growth = MOST_GROWTH;
        if let Some(half_width) = self.interval.map(Interval::half_width) {
            if half_width <= narrow {
                return Some(StopReason::Precision);
            }
            if half_width <= step {
                return Some(StopReason::TimerStep);
            }
            // A wanted width of zero gives infinity, which the bound takes care of.
            growth = (half_width / narrow.max(step))
                .powi(2)
                .clamp(LEAST_GROWTH, MOST_GROWTH);
        }
        self.next_look = (self.in_order.len() as f64 * growth).ceil() as usize;
        None
    }

    /// Brings the new samples among the sorted ones. The sort is the one that merges runs.
    fn sort(&mut self) {
        let new = self.sorted.len();
        self.sorted.extend_from_slice(&self.in_order[new..]);
        self.sorted[new..].sort_unstable_by(f64::total_cmp);
        self.sorted.sort_by(f64::total_cmp);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    fn run(rule: StoppingRule, mut sample: impl FnMut() -> f64) -> (StopReason, usize) {
        let mut stopping = Stopping::new(rule).unwrap();
        loop {
            let elapsed = Duration::from_micros(20) * u32::try_from(stopping.taken() + 1).unwrap();
            if let Some(reason) = stopping.push(sample(), elapsed).unwrap() {
                return (reason, stopping.taken());
            }
        }
    }

    #[test]
    fn each_reason_is_given() {
        let rule = StoppingRule::default();
        let mut random = Random::new(4);
        assert_eq!(run(rule, || 5.0), (StopReason::Precision, 30));
        let wild = || 100.0 * random.unit();
        let few = StoppingRule {
            max_samples: 500,
            ..rule
        };
        assert_eq!(run(few, wild), (StopReason::MaxSamples, 500));
        let mut random = Random::new(4);
        let wild = || 100.0 * random.unit();
        let short = StoppingRule {
            max_time: Duration::from_millis(2),
            ..rule
        };
        assert_eq!(run(short, wild), (StopReason::MaxTime, 100));
        // Three microseconds that are seen in steps of 32 ns: 1 % each.
        let mut random = Random::new(4);
        let coarse = || 3_008.0 + 32.0 * random.below(2) as f64;
        let stepped = StoppingRule {
            step: Some(32.0),
            ..rule
        };
        assert_eq!(run(stepped, coarse), (StopReason::TimerStep, 30));
    }

    #[test]
    fn time_ends_it_before_the_first_look_and_delays_precision() {
        let rule = StoppingRule {
            max_time: Duration::from_micros(60),
            ..StoppingRule::default()
        };
        assert_eq!(run(rule, || 5.0), (StopReason::MaxTime, 3));
        let rule = StoppingRule {
            min_time: Duration::from_millis(1),
            ..StoppingRule::default()
        };
        assert_eq!(run(rule, || 5.0), (StopReason::Precision, 50));
    }

    #[test]
    fn zeros_are_narrow_enough() {
        assert_eq!(
            run(StoppingRule::default(), || 0.0),
            (StopReason::Precision, 30)
        );
    }

    #[test]
    fn what_is_no_sample_is_not_taken() {
        let mut stopping = Stopping::new(StoppingRule::default()).unwrap();
        let now = Duration::ZERO;
        stopping.push(1.0, now).unwrap();
        for (bad, code) in [
            (f64::NAN, "STAT0002"),
            (f64::INFINITY, "STAT0002"),
            (-1.0, "STAT0003"),
        ] {
            assert_eq!(stopping.push(bad, now).unwrap_err().code(), code);
        }
        assert_eq!(stopping.taken(), 1);
        assert_eq!(stopping.into_samples().unwrap().in_order(), [1.0]);
        let empty = Stopping::new(StoppingRule::default()).unwrap();
        assert_eq!(empty.into_samples(), Err(Error::Empty));
    }

    #[test]
    fn samples_after_the_end_are_kept_and_the_reason_stays() {
        let mut stopping = Stopping::new(StoppingRule::default()).unwrap();
        for taken in 1..100_u32 {
            let value = f64::from(taken % 7) * 1e-6 + 9.0;
            stopping.push(value, Duration::ZERO).unwrap();
        }
        assert_eq!(stopping.reason(), Some(StopReason::Precision));
        let samples = stopping.into_samples().unwrap();
        assert_eq!(samples.len(), 99);
        assert!(samples.sorted().is_sorted());
        assert_eq!(samples.sorted().len(), 99);
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        let base = StoppingRule::default();
        let bad = [
            StoppingRule {
                precision: 0.0,
                ..base
            },
            StoppingRule {
                precision: f64::NAN,
                ..base
            },
            StoppingRule {
                min_samples: 5,
                ..base
            },
            StoppingRule {
                max_samples: 29,
                ..base
            },
            StoppingRule {
                max_time: Duration::ZERO,
                ..base
            },
            StoppingRule {
                min_time: Duration::from_secs(6),
                ..base
            },
            StoppingRule {
                step: Some(0.0),
                ..base
            },
        ];
        for rule in bad {
            assert_eq!(
                Stopping::new(rule).unwrap_err().code(),
                "STAT0008",
                "{rule:?}"
            );
        }
    }
}
