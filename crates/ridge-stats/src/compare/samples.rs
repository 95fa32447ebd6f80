//! Two arms that were measured one after the other.

use super::band::{Band, BandSource};
use super::verdict::{Doubt, few, judge};
use super::{Comparison, Effect, Rules};
use crate::error::{Arm, Error};
use crate::interval::Interval;
use crate::samples::Samples;
use crate::summary::{Summary, step_of};

/// The median of an arm with its interval, as logarithms, and what else matters for a comparison.
pub(super) struct Judged {
    pub(super) median: f64,
    pub(super) interval: Option<Interval>,
    pub(super) summary: Summary,
    pub(super) step: Option<f64>,
}

impl Judged {
    pub(super) fn new(arm: Arm, samples: &Samples, rules: &Rules) -> Result<Self, Error> {
        let summary = Summary::of(samples, rules.confidence);
        if summary.median <= 0.0 {
            return Err(Error::ZeroMedian { arm });
        }
        let step = step_of(samples, summary.quantisation);
        // What the timer shows was rounded by up to half a step.
        let rounding = step.unwrap_or(0.0) / 2.0;
        let interval = summary
            .interval
            .filter(|interval| interval.lower > rounding)
            .map(|interval| Interval {
                lower: (interval.lower - rounding).ln(),
                upper: (interval.upper + rounding).ln(),
            });
        Ok(Self {
            median: summary.median.ln(),
            interval,
            summary,
            step,
        })
    }

    /// How far apart its modes are.
    pub(super) fn distance_of_modes(&self) -> f64 {
        self.summary
            .modes
            .filter(|modes| modes.lower > 0.0)
            .map_or(0.0, |modes| modes.upper.ln() - modes.lower.ln())
    }
}

/// The interval of a difference from those of both sides: each end is as far away as the root of the sum of the squares of
/// the distances that make it so (Zou and Donner, "Construction of confidence limits about effect measures", Statistics in
/// Medicine 27, 2008).
fn of_difference(b: &Judged, a: &Judged) -> Option<Interval> {
    let (of_b, of_a) = (b.interval?, a.interval?);
    let difference = b.median - a.median;
    Some(Interval {
        lower: difference - (b.median - of_b.lower).hypot(of_a.upper - a.median),
        upper: difference + (of_b.upper - b.median).hypot(a.median - of_a.lower),
    })
}

/// Compares the samples of B with those of A, each from one run, and the control's from another run of A.
///
/// The effect is `ln(median(B) / median(A))`. Its interval follows from the intervals of the medians (see
/// [`Summary::interval`]), so it holds whatever the distributions, and dependence between neighbours widens it; a step of
/// the timer, said or seen, widens each by half of it. Nothing is drawn at random.
///
/// What changed between the runs is not in the intervals but in the band: that of [`super::compare_rounds`], where the
/// control has to be from a run of its own. An arm with two modes adds their distance to it, because nothing says that the
/// next run has its median in the same one. A trend in any arm of more than half the band rules out a verdict: over a run
/// the arms may then differ by more than the band.
///
/// Without a control and without the band of this machine, rules that ask for a verdict all the same
/// (`needs_control: false`) get the `uncontrolled_band`: what two runs may differ by although each looks steady.
///
/// A run is one replicate, so that the default rules give no verdict; `min_replicates: 1` asks for it. Rounds in turns
/// ([`super::compare_rounds`]) tell more in the same time.
///
/// # Errors
///
/// [`Error::ZeroMedian`], and [`Error::Setting`] with the first rule that makes no sense.
pub fn compare_samples(
    a: &Samples,
    b: &Samples,
    control: Option<&Samples>,
    rules: &Rules,
) -> Result<Comparison, Error> {
    rules.check()?;
    let a = Judged::new(Arm::A, a, rules)?;
    let b = Judged::new(Arm::B, b, rules)?;
    let control = control
        .map(|samples| Judged::new(Arm::Control, samples, rules))
        .transpose()?;

    let effect = of_difference(&b, &a);
    let of_control = control
        .as_ref()
        .map(|control| (control.median - a.median, of_difference(control, &a)));
    let arms: Vec<(Arm, &Judged)> = [(Arm::A, &a), (Arm::B, &b)]
        .into_iter()
        .chain(control.as_ref().map(|control| (Arm::Control, control)))
        .collect();
    let largest = |value: fn(&Judged) -> f64| {
        arms.iter()
            .map(|(_, arm)| value(arm))
            .fold(0.0_f64, f64::max)
    };
    let step = Some(largest(|arm| arm.step.unwrap_or(0.0))).filter(|step| *step > 0.0);
    let smaller = a.summary.median.min(b.summary.median);
    let band = Band::new(
        rules,
        step,
        smaller,
        of_control.and_then(|(_, interval)| interval),
    );
    let is_uncontrolled = control.is_none() && rules.machine_band.is_none();
    let band = if is_uncontrolled && !rules.needs_control {
        band.at_least(rules.uncontrolled_band, BandSource::Uncontrolled)
    } else {
        band
    }
    .with_modes(largest(Judged::distance_of_modes));

    let mut doubts = Vec::new();
    for (arm, judged) in &arms {
        if judged.interval.is_none() {
            doubts.push(Doubt::FewSamples { arm: *arm });
        }
        let trend = judged.summary.trend;
        if let Some(trend) = trend.filter(|trend| trend.change.abs() > band.share() / 2.0) {
            doubts.push(Doubt::Drift {
                arm: *arm,
                change: trend.change,
            });
        }
    }
    doubts.extend(few(rules, 1, control.is_some()));
    let (verdict, doubts) = judge(effect, band, rules.margin, doubts);
    Ok(Comparison {
        verdict,
        effect: Effect::from_log(b.median - a.median, effect),
        control: of_control.map(|(ratio, interval)| Effect::from_log(ratio, interval)),
        band: band.share(),
        band_source: band.source,
        margin: rules.margin,
        replicates: 1,
        rounds: 1,
        doubts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BandSource, Random, Verdict};

    fn arm(centre: f64, seed: u64) -> Samples {
        let mut random = Random::new(seed);
        Samples::new(
            (0..200)
                .map(|_| centre * (1.0 + 0.02 * (random.unit() - 0.5)))
                .collect(),
        )
        .unwrap()
    }

    const ONE_RUN: Rules = Rules {
        margin: 0.01,
        least_band: 0.005,
        machine_band: None,
        confidence: crate::Confidence::P95,
        min_replicates: 1,
        needs_control: true,
        uncontrolled_band: 0.02,
        resamples: 1000,
        seed: 0,
    };

    fn compare(a: &Samples, b: &Samples, control: Option<&Samples>) -> Comparison {
        compare_samples(a, b, control, &ONE_RUN).unwrap()
    }

    #[test]
    fn clear_cases() {
        let (a, control) = (arm(100.0, 1), arm(100.0, 2));
        let verdict = |b: f64| compare(&a, &arm(b, 3), Some(&control)).verdict;
        assert_eq!(verdict(103.0), Verdict::Slower);
        assert_eq!(verdict(97.0), Verdict::Faster);
        assert_eq!(verdict(100.2), Verdict::Same);
    }

    #[test]
    fn the_interval_of_the_ratio_by_hand() {
        let judged = |median: f64, lower: f64, upper: f64| Judged {
            median,
            interval: Some(Interval { lower, upper }),
            summary: Summary::of(&arm(100.0, 1), crate::Confidence::P95),
            step: None,
        };
        // 5 − 2 less √(3² + 4²), and more √(6² + 8²).
        let found = of_difference(&judged(5.0, 2.0, 11.0), &judged(2.0, -6.0, 6.0)).unwrap();
        assert!((found.lower - (3.0 - 5.0)).abs() < 1e-12);
        assert!((found.upper - (3.0 + 10.0)).abs() < 1e-12);
    }

    #[test]
    fn one_run_is_too_little_unless_asked_for() {
        let (a, b) = (arm(100.0, 1), arm(110.0, 2));
        let strict = compare_samples(&a, &b, None, &Rules::default()).unwrap();
        assert_eq!(strict.verdict, Verdict::CannotTell);
        assert_eq!(
            strict.doubts,
            [
                Doubt::NoControl,
                Doubt::FewReplicates {
                    replicates: 1,
                    needed: 3
                }
            ]
        );
        let loose = Rules {
            needs_control: false,
            ..ONE_RUN
        };
        let found = compare_samples(&a, &b, None, &loose).unwrap();
        assert_eq!(found.verdict, Verdict::Slower);
    }

    #[test]
    fn a_drift_of_the_clock_is_no_verdict() {
        // The clock falls from 1965 to 1580 MHz half-way through B (M18 of the measurement notes).
        let a = arm(1_965.0, 1);
        let mut stepped = arm(1_965.0, 2).in_order().to_vec();
        for late in &mut stepped[100..] {
            *late *= 1_965.0 / 1_580.0;
        }
        let b = Samples::new(stepped).unwrap();
        let found = compare(&a, &b, Some(&arm(1_965.0, 3)));
        assert_eq!(found.verdict, Verdict::CannotTell);
        assert!(
            found
                .doubts
                .iter()
                .any(|doubt| matches!(doubt, Doubt::Drift { arm: Arm::B, .. })),
            "{found:?}"
        );
    }

    #[test]
    fn two_modes_widen_the_band_by_their_distance() {
        let mut random = Random::new(6);
        let mut split = |slow_share: f64| {
            let values = (0..400)
                .map(|_| {
                    let mode = if random.unit() < slow_share {
                        105.0
                    } else {
                        100.0
                    };
                    mode + random.unit() - 0.5
                })
                .collect();
            Samples::new(values).unwrap()
        };
        let (a, b, control) = (split(0.3), split(0.7), split(0.3));
        let found = compare(&a, &b, Some(&control));
        assert_eq!(found.verdict, Verdict::CannotTell);
        assert_eq!(found.band_source, BandSource::Modes);
        assert_eq!(
            found.doubts,
            [Doubt::WithinBand {
                source: BandSource::Modes
            }]
        );
        // Beyond what the modes can explain.
        let far = arm(120.0, 7);
        assert_eq!(compare(&a, &far, Some(&control)).verdict, Verdict::Slower);
    }

    #[test]
    fn few_and_zero_samples() {
        let few = Samples::new(vec![1.0; 5]).unwrap();
        let found = compare(&few, &arm(2.0, 1), Some(&arm(1.0, 2)));
        assert_eq!(found.effect.interval, None);
        assert_eq!(found.doubts, [Doubt::FewSamples { arm: Arm::A }]);
        let zero = Samples::new(vec![0.0; 50]).unwrap();
        let error = compare_samples(&few, &zero, None, &ONE_RUN).unwrap_err();
        assert_eq!(error, Error::ZeroMedian { arm: Arm::B });
        // Without spread the interval has no width, and equal arms are the same.
        let still = Samples::new(vec![7.0; 50]).unwrap();
        let found = compare(&still, &still, Some(&still));
        assert_eq!(found.verdict, Verdict::Same);
        assert_eq!(found.effect.interval.map(Interval::half_width), Some(0.0));
    }
}
