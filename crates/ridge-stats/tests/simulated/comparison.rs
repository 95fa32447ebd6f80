//! How often a verdict is wrong, and how often there is one.

use proptest::prelude::*;
use ridge_stats::{
    Comparison, Round, Rounds, Rules, Samples, Verdict, compare_rounds, compare_samples,
};

use crate::noise::{Noise, Source, run};

/// Shares of the verdicts.
#[derive(Debug, Default)]
struct Shares {
    same: f64,
    faster: f64,
    slower: f64,
    cannot_tell: f64,
}

impl Shares {
    fn over(runs: usize, mut compare: impl FnMut(u64) -> Comparison) -> Self {
        let mut shares = Self::default();
        let each = 1.0 / runs as f64;
        for run in 0..runs as u64 {
            match compare(run).verdict {
                Verdict::Same => shares.same += each,
                Verdict::Faster => shares.faster += each,
                Verdict::Slower => shares.slower += each,
                Verdict::CannotTell => shares.cannot_tell += each,
            }
        }
        shares
    }

    /// Of an A/A comparison.
    fn false_alarms(&self) -> f64 {
        self.faster + self.slower
    }
}

/// What M30 and M31 of the measurement notes are stated for: ten rounds a replicate, 1 % noise in the ratio of each round,
/// an effect of the process on each ratio, and a drift of 5 % over the replicate that all arms share.
fn rounds(source: &mut Source, replicates: usize, process: f64, truth: f64) -> Rounds {
    let noise = 0.01 / std::f64::consts::SQRT_2;
    let mut replicate = || {
        let (of_b, of_control) = (process * source.normal(), process * source.normal());
        let mut round = |at: usize| {
            let drift = 100.0 * (1.0 + 0.05 * at as f64 / 10.0);
            let mut arm = |effect: f64| drift * (effect + noise * source.normal()).exp();
            Round {
                a: arm(0.0),
                b: arm(truth.ln_1p() + of_b),
                control: Some(arm(of_control)),
            }
        };
        (0..10).map(&mut round).collect()
    };
    Rounds::new((0..replicates).map(|_| replicate()).collect()).unwrap()
}

fn verdicts(replicates: usize, process: f64, truth: f64) -> Shares {
    let mut source = Source::new(3);
    Shares::over(1_000, |seed| {
        let rules = Rules {
            seed,
            resamples: 400,
            ..Rules::default()
        };
        compare_rounds(&rounds(&mut source, replicates, process, truth), &rules).unwrap()
    })
}

/// M30: at most 1 %.
#[test]
fn equal_arms_are_hardly_ever_called_different() {
    for replicates in [3, 5] {
        for process in [0.0, 0.005, 0.01] {
            let found = verdicts(replicates, process, 0.0);
            assert!(
                found.false_alarms() <= 0.01,
                "{replicates} replicates, process {process}: {found:?}"
            );
        }
    }
}

/// M31, and the table of the measurement notes.
#[test]
fn small_differences_are_seen() {
    let found = verdicts(5, 0.0, 0.015);
    assert!(found.slower >= 0.95 && found.same <= 0.02, "{found:?}");
    let found = verdicts(5, 0.005, 0.02);
    assert!(found.slower >= 0.9, "{found:?}");
    let found = verdicts(5, 0.005, 0.015);
    assert!(found.slower >= 0.65 && found.same <= 0.02, "{found:?}");
    let found = verdicts(3, 0.0, 0.015);
    assert!(found.slower >= 0.88 && found.same <= 0.02, "{found:?}");
    let found = verdicts(3, 0.0, 0.02);
    assert!(found.slower >= 0.98, "{found:?}");
    let found = verdicts(5, 0.0, -0.015);
    assert!(found.faster >= 0.95, "{found:?}");
}

#[test]
fn equal_arms_are_called_the_same() {
    assert!(verdicts(3, 0.0, 0.0).same >= 0.95);
    assert!(verdicts(5, 0.0, 0.0).same >= 0.99);
    assert!(verdicts(5, 0.005, 0.0).same >= 0.8);
}

/// M33: what moves slowly cancels out in a round, in whatever order the arms come.
#[test]
fn a_drift_over_the_rounds_leaves_the_effect() {
    let mut source = Source::new(8);
    for seed in 0..50 {
        let mut random = ridge_stats::Random::new(seed);
        let mut time = 0.0;
        let mut replicate = || {
            let mut round = || {
                let mut order = [0, 1, 2];
                random.shuffle(&mut order);
                let mut arms = [0.0; 3];
                for arm in order {
                    // 5 % over the 90 places of all three replicates.
                    let drift = 1.0 + 0.05 * time / 90.0;
                    arms[arm] = 100.0 * drift * (0.001 * source.normal()).exp();
                    time += 1.0;
                }
                Round {
                    a: arms[0],
                    b: arms[1] * 1.03,
                    control: Some(arms[2]),
                }
            };
            (0..10).map(|_| round()).collect()
        };
        let rounds = Rounds::new((0..3).map(|_| replicate()).collect()).unwrap();
        let found = compare_rounds(&rounds, &Rules::default()).unwrap();
        assert!((found.effect.ratio / 1.03 - 1.0).abs() < 0.002, "{found:?}");
        assert_eq!(found.verdict, Verdict::Slower);
    }
}

/// A run of each arm, one after the other, in the order A, B, control.
fn runs(noise: Noise, n: usize, truth: f64, has_control: bool) -> Shares {
    let (base, step) = match noise {
        Noise::Quantised { step, .. } => (12_000.0, Some(step)),
        _ => (100.0, None),
    };
    let mut source = Source::new(7);
    let mut arm = |place: f64, factor: f64| {
        // The drift goes on from run to run.
        let start = match noise {
            Noise::Drift { change, .. } => 1.0 + place * change,
            _ => 1.0,
        };
        let samples = Samples::new(run(&mut source, noise, base * start * factor, n)).unwrap();
        match step {
            Some(step) => samples.with_step(step).unwrap(),
            None => samples,
        }
    };
    let rules = Rules {
        min_replicates: 1,
        needs_control: false,
        ..Rules::default()
    };
    Shares::over(500, |_| {
        let (a, b, control) = (arm(0.0, 1.0), arm(1.0, 1.0 + truth), arm(2.0, 1.0));
        compare_samples(&a, &b, has_control.then_some(&control), &rules).unwrap()
    })
}

const STEADY: [Noise; 6] = [
    Noise::Lognormal { share: 0.02 },
    Noise::Outliers { share: 0.02 },
    Noise::Ar1 {
        phi: 0.5,
        share: 0.02,
    },
    Noise::Bimodal {
        distance: 0.05,
        upper: 0.3,
        share: 0.01,
    },
    Noise::Bimodal {
        distance: 0.03,
        upper: 0.5,
        share: 0.01,
    },
    Noise::Quantised {
        step: 32.0,
        share: 0.01,
    },
];

#[test]
fn runs_of_the_same_are_hardly_ever_called_different() {
    for n in [50, 400] {
        for noise in STEADY {
            for has_control in [true, false] {
                let found = runs(noise, n, 0.0, has_control);
                assert!(
                    found.false_alarms() <= 0.02,
                    "{noise:?}, {n} samples: {found:?}"
                );
            }
        }
        // Only a control tells a drift from a difference.
        for change in [0.002, 0.005, 0.01, 0.02, 0.05] {
            let noise = Noise::Drift {
                change,
                share: 0.01,
            };
            let found = runs(noise, n, 0.0, true);
            assert!(
                found.false_alarms() <= 0.02,
                "{noise:?}, {n} samples: {found:?}"
            );
        }
    }
}

#[test]
fn differences_between_steady_runs_are_seen() {
    for noise in [STEADY[0], STEADY[1], STEADY[5]] {
        let found = runs(noise, 400, 0.015, true);
        assert!(found.slower >= 0.9, "{noise:?}: {found:?}");
        let found = runs(noise, 400, -0.03, true);
        assert!(found.faster >= 0.9, "{noise:?}: {found:?}");
    }
    let dependent = runs(STEADY[2], 400, 0.03, true);
    assert!(dependent.slower >= 0.9, "{dependent:?}");
}

fn any_round() -> impl Strategy<Value = (f64, f64, f64)> {
    let spread = -0.03..0.03_f64;
    (spread.clone(), spread.clone(), spread)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// M35: exchanging A and B exchanges FASTER and SLOWER and keeps the others, where the control keeps its ratio.
    #[test]
    fn exchanging_the_arms_exchanges_the_verdicts(
        rounds in prop::collection::vec(prop::collection::vec(any_round(), 1..12), 1..5),
        effect in -0.05..0.05_f64,
        seed: u64,
    ) {
        let build = |is_exchanged: bool| {
            let round = |(a, b, control): &(f64, f64, f64)| {
                let (a, b) = (a.exp(), (b + effect).exp());
                let (a, b) = if is_exchanged { (b, a) } else { (a, b) };
                Round { a, b, control: Some(a * (control / 5.0).exp()) }
            };
            let replicate = |rounds: &Vec<_>| rounds.iter().map(round).collect();
            Rounds::new(rounds.iter().map(replicate).collect()).unwrap()
        };
        let rules = Rules { seed, min_replicates: 1, resamples: 200, ..Rules::default() };
        let one = compare_rounds(&build(false), &rules).unwrap();
        let other = compare_rounds(&build(true), &rules).unwrap();
        let expected = match one.verdict {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            same => same,
        };
        prop_assert_eq!(other.verdict, expected);
        prop_assert!((one.effect.ratio * other.effect.ratio - 1.0).abs() < 1e-9);
        // There is a doubt if and only if there is no verdict.
        prop_assert_eq!(one.doubts.is_empty(), one.verdict != Verdict::CannotTell);
    }

    /// M34: a verdict is what its definition says, and so excludes the others.
    #[test]
    fn a_verdict_is_what_its_interval_says(
        a in prop::collection::vec(1.0..1.2_f64, 1..80),
        b in prop::collection::vec(1.0..1.2_f64, 1..80),
        factor in 0.5..2.0_f64,
        margin in 0.001..0.3_f64,
        machine in 0.0..0.3_f64,
    ) {
        let b = b.iter().map(|b| b * factor).collect();
        let (a, b) = (Samples::new(a).unwrap(), Samples::new(b).unwrap());
        let rules = Rules { margin, machine_band: Some(machine), min_replicates: 1, ..Rules::default() };
        let found = compare_samples(&a, &b, None, &rules).unwrap();
        prop_assert_eq!(found.doubts.is_empty(), found.verdict != Verdict::CannotTell);
        prop_assert!(found.band >= machine.max(0.005) - 1e-12);
        let Some(interval) = found.effect.interval else {
            prop_assert_eq!(found.verdict, Verdict::CannotTell);
            return Ok(());
        };
        prop_assert!(interval.lower <= found.effect.ratio && found.effect.ratio <= interval.upper);
        match found.verdict {
            Verdict::Same => prop_assert!(
                interval.lower * (1.0 + margin) >= 1.0 - 1e-12 && interval.upper <= 1.0 + margin + 1e-12
            ),
            Verdict::Slower => prop_assert!(interval.lower > 1.0 + found.band - 1e-12),
            Verdict::Faster => prop_assert!(interval.upper * (1.0 + found.band) < 1.0 + 1e-12),
            Verdict::CannotTell => {}
        }
    }

    /// Nothing panics, and nothing is NaN, whatever the samples.
    #[test]
    fn any_samples_have_a_summary(values in prop::collection::vec(0.0..=f64::MAX, 1..120), ties in 1..4_usize) {
        let values: Vec<f64> = values.iter().flat_map(|value| vec![*value; ties]).collect();
        let samples = Samples::new(values).unwrap();
        let summary = ridge_stats::Summary::of(&samples, ridge_stats::Confidence::P95);
        prop_assert!(summary.min <= summary.median && summary.median <= summary.max);
        prop_assert!(summary.mean.is_finite() && summary.effective_n >= 1.0);
        prop_assert!(summary.effective_n <= summary.n as f64);
        let plain = [
            summary.p10, summary.p90, summary.p99, summary.interquartile_range,
            summary.median_absolute_deviation, summary.autocorrelation, summary.relative_half_width(),
        ];
        prop_assert!(plain.into_iter().flatten().all(f64::is_finite), "{:?}", summary);
        if let Some(interval) = summary.interval {
            prop_assert!(interval.lower <= summary.median && summary.median <= interval.upper);
        }
    }
}
