//! How often modes and trends are seen that are there, and that are not.

use ridge_stats::{Confidence, Samples, Summary};

use crate::noise::{Noise, Source, run, share};

const RUNS: usize = 2_000;

fn summaries(noise: Noise, n: usize) -> impl FnMut(usize) -> Summary {
    let mut source = Source::new(1);
    move |_| {
        let samples = Samples::new(run(&mut source, noise, 3_712.0, n)).unwrap();
        Summary::of(&samples, Confidence::P95)
    }
}

fn with_modes(noise: Noise, n: usize) -> f64 {
    let mut summary = summaries(noise, n);
    share(RUNS, |at| summary(at).modes.is_some())
}

fn with_trend(noise: Noise, n: usize) -> f64 {
    let mut summary = summaries(noise, n);
    share(RUNS, |at| summary(at).trend.is_some())
}

const ONE_MODE: [Noise; 7] = [
    Noise::Lognormal { share: 0.02 },
    // As skewed as times get.
    Noise::Lognormal { share: 0.5 },
    Noise::Outliers { share: 0.02 },
    Noise::Ar1 {
        phi: 0.5,
        share: 0.05,
    },
    // Few levels, and many.
    Noise::Quantised {
        step: 32.0,
        share: 0.005,
    },
    Noise::Quantised {
        step: 32.0,
        share: 0.03,
    },
    Noise::Drift {
        change: 0.05,
        share: 0.02,
    },
];

#[test]
fn one_mode_is_hardly_ever_taken_for_two() {
    for noise in ONE_MODE {
        for n in [50, 200, 1_000] {
            let found = with_modes(noise, n);
            assert!(found <= 0.01, "{noise:?}, {n} samples: {found}");
        }
    }
}

/// Of one mode, none has a flatter middle.
#[test]
fn the_worst_distribution_of_one_mode_keeps_the_stated_rate() {
    for n in [50, 200, 1_000] {
        let found = with_modes(Noise::Uniform { width: 0.5 }, n);
        assert!(found <= 0.017, "{n} samples: {found}");
    }
}

#[test]
fn two_modes_are_seen() {
    let found = |distance: f64, upper: f64, n: usize| {
        let noise = Noise::Bimodal {
            distance,
            upper,
            share: 0.01,
        };
        with_modes(noise, n)
    };
    assert!(found(0.05, 0.4, 200) >= 0.97);
    assert!(found(0.04, 0.3, 1_000) >= 0.94);
    assert!(found(0.1, 0.1, 200) >= 0.9);
}

#[test]
fn no_trend_is_seen_where_there_is_none() {
    for noise in ONE_MODE {
        if matches!(noise, Noise::Drift { .. }) {
            continue;
        }
        for n in [50, 200, 1_000] {
            let found = with_trend(noise, n);
            // 1 %, and a little more for neighbours that depend on each other.
            assert!(found <= 0.025, "{noise:?}, {n} samples: {found}");
        }
    }
}

#[test]
fn a_trend_is_seen() {
    let found = |change: f64, n: usize| {
        with_trend(
            Noise::Drift {
                change,
                share: 0.01,
            },
            n,
        )
    };
    assert!(found(0.02, 200) >= 0.99);
    assert!(found(0.01, 1_000) >= 0.99);
    assert!(found(0.05, 50) >= 0.9);
}

#[test]
fn the_timer_is_seen_where_it_is_coarse() {
    let mut coarse = summaries(
        Noise::Quantised {
            step: 32.0,
            share: 0.02,
        },
        100,
    );
    let found = share(200, |at| {
        let quantisation = coarse(at).quantisation;
        quantisation.is_some_and(|found| (found.step - 32.0).abs() < 0.1)
    });
    assert!(found >= 0.99, "{found}");
    let mut fine = summaries(Noise::Lognormal { share: 0.02 }, 100);
    assert!(share(200, |at| fine(at).quantisation.is_some()) <= 0.0);
}
