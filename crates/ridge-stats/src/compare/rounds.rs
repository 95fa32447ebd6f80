//! Two arms that were measured in turns.

use std::ops::Range;

use super::band::Band;
use super::bootstrap;
use super::hodges_lehmann::WalshAverages;
use super::verdict::{Doubt, few, judge};
use super::{Comparison, Effect, Rules};
use crate::error::{Arm, Error};
use crate::interval::Interval;
use crate::quantile;
use crate::samples::check_step;
use crate::{Random, Samples};

/// One pass over all arms, in a random order: the median of each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Of A.
    pub a: f64,
    /// Of B.
    pub b: f64,
    /// Of A once more, under another name.
    pub control: Option<f64>,
}

impl Round {
    /// From the samples of a round.
    #[must_use]
    pub fn of(a: &Samples, b: &Samples, control: Option<&Samples>) -> Self {
        Self {
            a: a.median(),
            b: b.median(),
            control: control.map(Samples::median),
        }
    }
}

/// All rounds of a comparison, by replicate. All values are finite and above zero, and either every round has a control or
/// none.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounds {
    in_order: Vec<Round>,
    replicates: Vec<Range<usize>>,
    step: Option<f64>,
}

/// Rounds at most: pairs of them are sorted, and 125,000 pairs take half a second with a thousand resamples.
const MOST_ROUNDS: usize = 500;
/// Rounds at least for an interval at 95 %: with fewer, not even the range of the rounds would be one (the smallest n of
/// Wilcoxon's signed ranks as of the order statistics).
const LEAST_ROUNDS: usize = 6;

impl Rounds {
    /// Takes the rounds of each replicate, in the order in which they were measured. A replicate without rounds does not
    /// count.
    ///
    /// # Errors
    ///
    /// [`Error::Empty`] without any round, [`Error::BadRound`] for a value that is not a finite number above zero,
    /// [`Error::SomeControls`], and [`Error::TooManyRounds`] above 500.
    pub fn new(replicates: Vec<Vec<Round>>) -> Result<Self, Error> {
        let has_control = replicates
            .iter()
            .flatten()
            .next()
            .ok_or(Error::Empty)?
            .control
            .is_some();
        let mut in_order = Vec::new();
        let mut ranges = Vec::new();
        for (replicate, rounds) in replicates.into_iter().enumerate() {
            let start = in_order.len();
            for (round, values) in rounds.into_iter().enumerate() {
                let arms = [
                    (Arm::A, Some(values.a)),
                    (Arm::B, Some(values.b)),
                    (Arm::Control, values.control),
                ];
                for (arm, value) in arms {
                    let Some(value) = value else { continue };
                    if !value.is_finite() || value <= 0.0 {
                        return Err(Error::BadRound {
                            replicate,
                            round,
                            arm,
                            value,
                        });
                    }
                }
                if values.control.is_some() != has_control {
                    return Err(Error::SomeControls { replicate, round });
                }
                in_order.push(values);
            }
            if in_order.len() > start {
                ranges.push(start..in_order.len());
            }
        }
        if in_order.len() > MOST_ROUNDS {
            return Err(Error::TooManyRounds {
                rounds: in_order.len(),
                limit: MOST_ROUNDS,
            });
        }
        Ok(Self {
            in_order,
            replicates: ranges,
            step: None,
        })
    }

    /// Says the smallest difference that the timer can show, in the unit of the rounds.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] when it is not a finite number above zero.
    pub fn with_step(mut self, step: f64) -> Result<Self, Error> {
        check_step(step)?;
        self.step = Some(step);
        Ok(self)
    }

    fn median(&self, arm: impl Fn(&Round) -> f64) -> f64 {
        quantile::median_of(&mut self.in_order.iter().map(arm).collect::<Vec<_>>())
    }
}

/// Compares B with A over rounds.
///
/// In each round `d = ln(b / a)`, so that what moves all arms of a round alike cancels out. The effect is the Hodges-Lehmann
/// estimate over all rounds: the median of all `(dᵢ + dⱼ) / 2` with `i ≤ j`. Its interval is that of a percentile bootstrap
/// that draws replicates first and then rounds, in blocks of neighbours; a step of the timer widens it by what rounding can
/// do to a ratio of two medians, `step / √2` over the smaller of them. The control's is the same with `ln(control / a)`.
///
/// The band is the largest of the farther end of the control's interval, two steps of the timer, the machine's band and
/// the least band. SAME is an interval within the margin; if it is not, FASTER one below and SLOWER one above the band.
///
/// Exchanging A and B exchanges FASTER and SLOWER, where the control keeps its ratio. Rounds without any spread have an
/// interval without width. Below 6 rounds there is none, and then, without control or machine's band, and below the
/// replicates of the rules, nothing can be told.
///
/// The share of false alarms and the power in simulations stand in `docs/design/statistics.md`.
///
/// # Errors
///
/// [`Error::Setting`] with the first rule that makes no sense.
pub fn compare_rounds(rounds: &Rounds, rules: &Rules) -> Result<Comparison, Error> {
    rules.check()?;
    let smaller = rounds
        .median(|round| round.a)
        .min(rounds.median(|round| round.b));
    let rounding = rounds.step.unwrap_or(0.0) / smaller * std::f64::consts::FRAC_1_SQRT_2;
    let logs = |value: fn(&Round) -> Option<f64>| -> Option<WalshAverages> {
        let logs: Option<Vec<f64>> = rounds
            .in_order
            .iter()
            .map(|round| Some(value(round)?.ln() - round.a.ln()))
            .collect();
        Some(WalshAverages::new(&logs?))
    };
    let of_control = logs(|round| round.control);
    let averages: Vec<WalshAverages> = logs(|round| Some(round.b))
        .into_iter()
        .chain(of_control)
        .collect();
    let estimates: Vec<f64> = averages.iter().map(WalshAverages::estimate).collect();
    let intervals = intervals(rounds, rules, &averages, rounding);
    let interval = |at: usize| intervals.as_ref().map(|intervals| intervals[at]);
    let control = estimates.get(1).map(|estimate| (*estimate, interval(1)));
    let band = Band::new(
        rules,
        rounds.step,
        smaller,
        control.and_then(|(_, interval)| interval),
    );
    let doubts = doubts(rounds, rules, control.is_some());
    let (verdict, doubts) = judge(interval(0), band, rules.margin, doubts);
    Ok(Comparison {
        verdict,
        effect: Effect::from_log(estimates[0], interval(0)),
        control: control.map(|(estimate, interval)| Effect::from_log(estimate, interval)),
        band: band.share(),
        band_source: band.source,
        margin: rules.margin,
        replicates: rounds.replicates.len(),
        rounds: rounds.in_order.len(),
        doubts,
    })
}

/// What rules out any verdict.
fn doubts(rounds: &Rounds, rules: &Rules, has_control: bool) -> Vec<Doubt> {
    let (found, replicates) = (rounds.in_order.len(), rounds.replicates.len());
    let few_rounds = (found < LEAST_ROUNDS).then_some(Doubt::FewRounds {
        rounds: found,
        needed: LEAST_ROUNDS,
    });
    few_rounds
        .into_iter()
        .chain(few(rules, replicates, has_control))
        .collect()
}

/// One interval for each set of averages, from the same draws. Absent below the least number of rounds.
fn intervals(
    rounds: &Rounds,
    rules: &Rules,
    averages: &[WalshAverages],
    rounding: f64,
) -> Option<Vec<Interval>> {
    if rounds.in_order.len() < LEAST_ROUNDS {
        return None;
    }
    let mut random = Random::new(rules.seed);
    let mut counts = vec![0; rounds.in_order.len()];
    let mut estimates = vec![Vec::with_capacity(rules.resamples); averages.len()];
    for _ in 0..rules.resamples {
        bootstrap::draw(&rounds.replicates, &mut random, &mut counts);
        for (estimates, averages) in estimates.iter_mut().zip(averages) {
            estimates.push(averages.of_resample(&counts));
        }
    }
    let tail = rules.confidence.tail();
    let interval = |estimates: &mut Vec<f64>| {
        estimates.sort_unstable_by(f64::total_cmp);
        Interval {
            lower: quantile::quantile(estimates, tail) - rounding,
            upper: quantile::quantile(estimates, 1.0 - tail) + rounding,
        }
    };
    Some(estimates.iter_mut().map(interval).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BandSource, Verdict};

    fn rounds(b: f64, replicates: usize, rounds: usize) -> Vec<Vec<Round>> {
        let round = |i: usize| {
            let noise = 1.0 + 0.001 * (i * 3 % 7) as f64;
            Round {
                a: 1_000.0 * noise,
                b: b * (2.0 - noise),
                control: Some(1_000.0),
            }
        };
        vec![(0..rounds).map(round).collect(); replicates]
    }

    fn compare(rounds: Vec<Vec<Round>>, rules: &Rules) -> Comparison {
        compare_rounds(&Rounds::new(rounds).unwrap(), rules).unwrap()
    }

    #[test]
    fn clear_cases() {
        let rules = Rules::default();
        assert_eq!(
            compare(rounds(1_050.0, 3, 10), &rules).verdict,
            Verdict::Slower
        );
        assert_eq!(
            compare(rounds(950.0, 3, 10), &rules).verdict,
            Verdict::Faster
        );
        let same = compare(rounds(1_006.0, 3, 10), &rules);
        assert_eq!(same.verdict, Verdict::Same);
        assert_eq!((same.replicates, same.rounds), (3, 30));
        assert!(same.doubts.is_empty());
    }

    #[test]
    fn too_little_to_go_by() {
        let rules = Rules::default();
        let few = compare(rounds(1_050.0, 2, 10), &rules);
        assert_eq!(few.verdict, Verdict::CannotTell);
        assert_eq!(
            few.doubts,
            [Doubt::FewReplicates {
                replicates: 2,
                needed: 3
            }]
        );
        let asked = Rules {
            min_replicates: 2,
            ..rules
        };
        assert_eq!(
            compare(rounds(1_050.0, 2, 10), &asked).verdict,
            Verdict::Slower
        );

        let mut without = rounds(1_050.0, 3, 10);
        for round in without.iter_mut().flatten() {
            round.control = None;
        }
        let uncontrolled = compare(without.clone(), &rules);
        assert_eq!(uncontrolled.verdict, Verdict::CannotTell);
        assert_eq!(uncontrolled.doubts, [Doubt::NoControl]);
        assert_eq!(uncontrolled.control, None);
        let known = Rules {
            machine_band: Some(0.02),
            ..rules
        };
        let known = compare(without, &known);
        assert_eq!(known.verdict, Verdict::Slower);
        assert_eq!(known.band_source, BandSource::Machine);

        let single = compare(rounds(1_050.0, 3, 1), &rules);
        assert_eq!(single.effect.interval, None);
        assert_eq!(
            single.doubts,
            [Doubt::FewRounds {
                rounds: 3,
                needed: 6
            }]
        );
    }

    #[test]
    fn a_coarse_timer_widens_the_band() {
        // 3 µs against 3.06: two steps of 32 ns are 2.1 %.
        let round = Round {
            a: 3_008.0,
            b: 3_072.0,
            control: Some(3_008.0),
        };
        let coarse = Rounds::new(vec![vec![round; 10]; 3])
            .unwrap()
            .with_step(32.0)
            .unwrap();
        let found = compare_rounds(&coarse, &Rules::default()).unwrap();
        assert_eq!(found.verdict, Verdict::CannotTell);
        assert_eq!(
            found.doubts,
            [Doubt::WithinBand {
                source: BandSource::TimerStep
            }]
        );
        let fine = compare(vec![vec![round; 10]; 3], &Rules::default());
        assert_eq!(fine.verdict, Verdict::Slower);
    }

    #[test]
    fn the_seed_decides_the_interval() {
        let rules = Rules::default();
        let other = Rules { seed: 1, ..rules };
        let mut random = Random::new(2);
        let mut replicate = || {
            let mut round = || Round {
                a: 100.0 + random.unit(),
                b: 100.0 + random.unit(),
                control: Some(100.0 + random.unit()),
            };
            (0..10).map(|_| round()).collect::<Vec<_>>()
        };
        let input = Rounds::new((0..3).map(|_| replicate()).collect()).unwrap();
        let first = compare_rounds(&input, &rules).unwrap();
        assert_eq!(first, compare_rounds(&input, &rules).unwrap());
        let second = compare_rounds(&input, &other).unwrap();
        assert_eq!(first.effect.ratio.to_bits(), second.effect.ratio.to_bits());
        assert_ne!(first.effect.interval, second.effect.interval);
    }

    #[test]
    fn bad_rounds_are_refused_with_their_place() {
        let good = Round {
            a: 1.0,
            b: 1.0,
            control: None,
        };
        assert_eq!(Rounds::new(vec![]), Err(Error::Empty));
        assert_eq!(Rounds::new(vec![vec![], vec![]]), Err(Error::Empty));
        for value in [0.0, -1.0, f64::INFINITY] {
            assert_eq!(
                Rounds::new(vec![vec![good], vec![good, Round { b: value, ..good }]]),
                Err(Error::BadRound {
                    replicate: 1,
                    round: 1,
                    arm: Arm::B,
                    value
                })
            );
        }
        let controlled = Round {
            control: Some(1.0),
            ..good
        };
        assert_eq!(
            Rounds::new(vec![vec![good, controlled]]),
            Err(Error::SomeControls {
                replicate: 0,
                round: 1
            })
        );
        let many = Rounds::new(vec![vec![good; 300]; 2]).unwrap_err();
        assert_eq!(many.code(), "STAT0007");
        // A process that ended before its first round is no replicate.
        let gap = Rounds::new(vec![vec![good], vec![], vec![good]]).unwrap();
        assert_eq!(gap.replicates, [0..1, 1..2]);
    }
}
