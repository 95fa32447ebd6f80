//! How often one of several ranks is called odd that is not, and one that is.

use ridge_stats::Oddity;

use crate::noise::{Noise, Source, run, share};

const RUNS: usize = 20_000;

/// The share of sets in which something is odd. `slower` is by how much the last rank is slower than the others, and `least`
/// the least distance that matters, both as shares of the median.
fn found(noise: Noise, ranks: usize, slower: f64, least: f64) -> f64 {
    let mut source = Source::new(5);
    share(RUNS, |_| {
        let mut values = run(&mut source, noise, 1_000.0, ranks);
        values[ranks - 1] *= 1.0 + slower;
        let found = Oddity::among(&values, least * 1_000.0).unwrap().unwrap();
        // Nothing odd is a false alarm only where nothing is; else it has to be the right one.
        match slower > 0.0 {
            true => found.odd == [ranks - 1],
            false => !found.odd.is_empty(),
        }
    })
}

const SIZES: [usize; 11] = [3, 4, 5, 6, 7, 8, 9, 16, 25, 64, 256];

/// Without a least distance, the factors alone keep false alarms at 1 of 100 sets.
#[test]
fn equal_ranks_have_an_odd_one_in_one_of_a_hundred_sets() {
    for ranks in SIZES {
        let share = found(Noise::Lognormal { share: 0.01 }, ranks, 0.0, 0.0);
        assert!(share <= 0.0125, "{ranks} ranks: {share}");
    }
}

/// With the least distance of 5 % that comparisons of ranks use, noise of 1 % hardly ever raises an alarm.
#[test]
fn a_least_distance_keeps_small_noise_out() {
    for ranks in SIZES {
        for noise in [
            Noise::Lognormal { share: 0.01 },
            Noise::Quantised {
                step: 32.0,
                share: 0.003,
            },
            Noise::Uniform { width: 0.04 },
        ] {
            let share = found(noise, ranks, 0.0, 0.05);
            assert!(share <= 0.0005, "{noise:?}, {ranks} ranks: {share}");
        }
    }
}

/// Where one in twenty values really is late, it is odd: that is no fault of the rule.
#[test]
fn outliers_are_what_is_looked_for() {
    let share = found(Noise::Outliers { share: 0.002 }, 8, 0.0, 0.05);
    // 1 - 0.95^8 = 34 % of sets have one.
    assert!((0.30..=0.36).contains(&share), "{share}");
}

/// One rank that is slower by a fifth, at the noise of medians of many launches.
#[test]
fn a_slow_rank_is_found() {
    // Ranks, noise, and the least share of sets in which it is found.
    for (ranks, noise, least) in [
        (3, 0.001, 0.55),
        (4, 0.002, 0.99),
        (8, 0.005, 0.99),
        (8, 0.01, 0.98),
        (8, 0.02, 0.60),
        (16, 0.01, 0.99),
        (64, 0.02, 0.99),
    ] {
        let share = found(Noise::Lognormal { share: noise }, ranks, 0.2, 0.05);
        assert!(share >= least, "{ranks} ranks, noise {noise}: {share}");
    }
}
