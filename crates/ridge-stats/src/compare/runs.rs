//! Two things that were measured in several runs each, not in turns.

use super::band::{Band, BandSource};
use super::samples::Judged;
use super::verdict::{Doubt, few, judge};
use super::{Comparison, Effect, Rules};
use crate::error::{Arm, Error};
use crate::interval::Interval;
use crate::samples::Samples;

/// Degrees of freedom from which on the spread between runs is taken from the runs: three on each side. With two the interval
/// would be ten deviations wide, which tells less than the band of single runs.
const LEAST_FREEDOM: usize = 4;

/// The two-sided 1 % points of Student's t for 1 to 20 degrees of freedom (any table; `scipy.stats.t.ppf(0.995, n)`).
const STUDENT: [f64; 20] = [
    63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012,
    2.977, 2.947, 2.921, 2.898, 2.878, 2.861, 2.845,
];

/// The two-sided 1 % point of the normal distribution: for fewer degrees of freedom than that, where the band of single runs makes
/// up for what it is too small by.
const NORMAL: f64 = 2.576;

/// The two-sided 1 % point of Student's t; that of 20 for more degrees of freedom, which is at most 10 % too wide.
fn student(freedom: usize) -> f64 {
    STUDENT[freedom.clamp(1, STUDENT.len()) - 1]
}

/// The runs of one side: the mean of the logarithms of their medians, and how well it is known from within the runs.
struct Side {
    runs: Vec<Judged>,
    mean: f64,
    within: Option<Interval>,
}

impl Side {
    fn new(arm: Arm, samples: &[Samples], rules: &Rules) -> Result<Self, Error> {
        if samples.is_empty() {
            return Err(Error::Empty);
        }
        let runs = samples
            .iter()
            .map(|samples| Judged::new(arm, samples, rules))
            .collect::<Result<Vec<_>, _>>()?;
        let count = runs.len() as f64;
        let mean = runs.iter().map(|run| run.median).sum::<f64>() / count;
        let reach = |end: fn(&Judged, Interval) -> f64| -> Option<f64> {
            let squares: Option<f64> = runs
                .iter()
                .map(|run| run.interval.map(|interval| end(run, interval).powi(2)))
                .sum();
            squares.map(|squares| squares.sqrt() / count)
        };
        let below = reach(|run, interval| run.median - interval.lower);
        let above = reach(|run, interval| interval.upper - run.median);
        Ok(Self {
            within: below.zip(above).map(|(below, above)| Interval {
                lower: mean - below,
                upper: mean + above,
            }),
            mean,
            runs,
        })
    }

    /// The sum of the squares of what the runs differ by.
    fn scatter(&self) -> f64 {
        self.runs
            .iter()
            .map(|run| (run.median - self.mean).powi(2))
            .sum()
    }

    fn count(&self) -> f64 {
        self.runs.len() as f64
    }
}

/// Compares B with A, each from one or several runs: fresh processes that repeat the whole measurement, one after the other
/// or on another day.
///
/// The effect is the difference of the means of `ln(median)` over the runs of each side. Two things widen its interval. Within
/// runs: the intervals of the medians, as in [`super::compare_samples`]. Between runs, from six runs on (three on each
/// side, or five against one): the spread of the medians, as Student's interval at 99 % with the pooled variance of both sides;
/// with fewer, a normal one. The wider
/// of both counts at each end. So the runs of each side are the control of the other one: that nothing changed is what they
/// show among themselves.
///
/// With fewer runs nothing tells how far runs differ. Then there is no verdict, unless the rules bring the band of this
/// machine, or ask for a verdict all the same (`needs_control: false`); the band is then at least `uncontrolled_band`. In that
/// case a trend or a step within a run rules out a verdict, as for single runs; with enough runs it does not, because it is
/// in what they differ by.
///
/// Assumed is that the effects of processes are about normal and alike on both sides. A side with a rare slow process
/// widens the interval; it makes no verdict. Several runs have the band that single runs have, and modes add to it.
///
/// # Errors
///
/// [`Error::Empty`] without runs, [`Error::ZeroMedian`], and [`Error::Setting`] with the first rule that makes no sense.
pub fn compare_runs(a: &[Samples], b: &[Samples], rules: &Rules) -> Result<Comparison, Error> {
    rules.check()?;
    let (a, b) = (Side::new(Arm::A, a, rules)?, Side::new(Arm::B, b, rules)?);
    let difference = b.mean - a.mean;
    let freedom = a.runs.len() + b.runs.len() - 2;
    let is_controlled = freedom >= LEAST_FREEDOM;
    let between = if freedom == 0 {
        0.0
    } else {
        let variance = (a.scatter() + b.scatter()) / freedom as f64;
        let factor = if is_controlled {
            student(freedom)
        } else {
            NORMAL
        };
        factor * (variance * (1.0 / a.count() + 1.0 / b.count())).sqrt()
    };
    let effect = a.within.zip(b.within).map(|(of_a, of_b)| {
        let below = (b.mean - of_b.lower).hypot(of_a.upper - a.mean);
        let above = (of_b.upper - b.mean).hypot(a.mean - of_a.lower);
        Interval {
            lower: difference - below.max(between),
            upper: difference + above.max(between),
        }
    });

    let runs = || {
        let of = |arm, side| <[Judged]>::iter(side).map(move |run| (arm, run));
        of(Arm::A, &*a.runs).chain(of(Arm::B, &*b.runs))
    };
    let largest =
        |value: fn(&Judged) -> f64| runs().map(|(_, run)| value(run)).fold(0.0_f64, f64::max);
    let step = Some(largest(|run| run.step.unwrap_or(0.0))).filter(|step| *step > 0.0);
    let smaller = runs()
        .map(|(_, run)| run.summary.median)
        .fold(f64::INFINITY, f64::min);
    let band = Band::new(rules, step, smaller, None);
    let band = if is_controlled || rules.machine_band.is_some() || rules.needs_control {
        band
    } else {
        band.at_least(rules.uncontrolled_band, BandSource::Uncontrolled)
    }
    .with_modes(largest(Judged::distance_of_modes));

    let mut doubts = Vec::new();
    for (arm, run) in runs() {
        let mut doubt = |doubt: Doubt| {
            if !doubts.contains(&doubt) {
                doubts.push(doubt);
            }
        };
        if run.interval.is_none() {
            doubt(Doubt::FewSamples { arm });
        }
        if !is_controlled && let Some(movement) = run.movement(arm, band.share() / 2.0) {
            doubt(movement);
        }
    }
    let replicates = a.runs.len().min(b.runs.len());
    doubts.extend(few(rules, replicates, is_controlled));
    let (verdict, doubts) = judge(effect, band, rules.margin, doubts);
    Ok(Comparison {
        verdict,
        effect: Effect::from_log(difference, effect),
        control: None,
        band: band.share(),
        band_source: band.source,
        margin: rules.margin,
        replicates,
        rounds: 1,
        doubts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Random, Verdict};

    fn run(centre: f64, seed: u64) -> Samples {
        let mut random = Random::new(seed);
        let times = (0..200).map(|_| centre * (1.0 + 0.01 * (random.unit() - 0.5)));
        Samples::new(times.collect()).unwrap()
    }

    fn runs(centres: &[f64], seed: u64) -> Vec<Samples> {
        let seeds = seed * 100..;
        let runs = centres.iter().zip(seeds);
        runs.map(|(centre, seed)| run(*centre, seed)).collect()
    }

    fn compare(a: &[f64], b: &[f64], rules: &Rules) -> Comparison {
        compare_runs(&runs(a, 1), &runs(b, 2), rules).unwrap()
    }

    const ASKED: Rules = Rules {
        margin: 0.01,
        least_band: 0.005,
        machine_band: None,
        confidence: crate::Confidence::P95,
        min_replicates: 1,
        needs_control: false,
        uncontrolled_band: 0.02,
        resamples: 1000,
        seed: 0,
    };

    #[test]
    fn runs_of_a_side_are_its_control() {
        let steady = [100.0, 100.0, 100.0];
        let rules = Rules::default();
        assert_eq!(
            compare(&steady, &[102.0; 3], &rules).verdict,
            Verdict::Slower
        );
        assert_eq!(
            compare(&steady, &[98.0; 3], &rules).verdict,
            Verdict::Faster
        );
        assert_eq!(compare(&steady, &steady, &rules).verdict, Verdict::Same);
        // The same difference, of runs that differ as much among themselves.
        let found = compare(&[99.0, 100.0, 101.0], &[101.0, 102.0, 103.0], &rules);
        assert_eq!(found.verdict, Verdict::CannotTell);
        assert_eq!(found.doubts, [Doubt::WideInterval]);
        assert_eq!(found.replicates, 3);
    }

    #[test]
    fn too_few_runs_have_the_band_of_single_ones() {
        let found = compare(&[100.0; 3], &[101.5; 2], &ASKED);
        assert_eq!(found.band_source, BandSource::Uncontrolled);
        assert_eq!(found.verdict, Verdict::CannotTell);
        assert_eq!(
            compare(&[100.0; 5], &[101.5], &ASKED).verdict,
            Verdict::Slower
        );
    }

    #[test]
    fn the_interval_between_runs_by_hand() {
        // Deviations 0 ±0.01 of the logarithms on both sides: scatter 4e-4 over 4 degrees of freedom, 1e-4; times 2/3, the
        // root is 0.008165, and times 4.604 it is 0.03759.
        let a = [(-0.01_f64).exp(), 1.0, 0.01_f64.exp()].map(|share| vec![100.0 * share; 20]);
        let sides: Vec<Samples> = a
            .into_iter()
            .map(|times| Samples::new(times).unwrap())
            .collect();
        let found = compare_runs(&sides, &sides, &ASKED).unwrap();
        let interval = found.effect.interval.unwrap();
        assert!((interval.upper.ln() - 0.037_59).abs() < 1e-5, "{found:?}");
        assert!((interval.lower.ln() + 0.037_59).abs() < 1e-5, "{found:?}");
        assert!((student(1_000) - 2.845).abs() < 1e-12);
        assert!((student(2) - 9.925).abs() < 1e-12);
    }

    #[test]
    fn single_runs_have_the_band_that_is_asked_for() {
        let found = compare(&[100.0], &[101.5], &ASKED);
        assert_eq!(found.verdict, Verdict::CannotTell);
        assert_eq!(found.band_source, BandSource::Uncontrolled);
        assert_eq!(compare(&[100.0], &[103.0], &ASKED).verdict, Verdict::Slower);
        assert_eq!(compare(&[100.0], &[100.1], &ASKED).verdict, Verdict::Same);
        let known = Rules {
            machine_band: Some(0.005),
            ..ASKED
        };
        assert_eq!(compare(&[100.0], &[101.5], &known).verdict, Verdict::Slower);
        let strict = compare(&[100.0], &[103.0], &Rules::default());
        assert_eq!(strict.verdict, Verdict::CannotTell);
        assert_eq!(strict.doubts[0], Doubt::NoControl);
    }

    #[test]
    fn without_runs_there_is_nothing_to_compare() {
        let one = runs(&[1.0], 1);
        assert_eq!(compare_runs(&[], &one, &ASKED), Err(Error::Empty));
        assert_eq!(compare_runs(&one, &[], &ASKED), Err(Error::Empty));
    }
}
