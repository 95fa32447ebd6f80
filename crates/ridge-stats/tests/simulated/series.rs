//! How often a change is found where there is none, and how often one that is there. The tables of
//! `docs/design/change-points.md` are made of the figures that these tests print.

use proptest::prelude::*;
use ridge_stats::{ChangeRules, Changes, Point, find_changes};

use crate::noise::Source;

/// How the results of one level scatter. The standard deviation is that of the logarithms, except where it does not exist.
#[derive(Clone, Copy, Debug)]
enum Process {
    /// Normal and independent.
    White,
    /// First-order dependence.
    Ar1(f64),
    /// Student's t with so many degrees of freedom: for 2 the variance is infinite, for 1 the mean does not exist.
    Student(u32),
    /// One in twenty is a tenth to twice as slow.
    Spikes,
    /// Half of the series four times as noisy, in quarters.
    Varies,
    /// Steps of one and a half standard deviations.
    Quantised,
    /// 40 % of the results are three standard deviations slower.
    Bimodal,
    /// A slope over the whole series, in standard deviations.
    Drift(f64),
    /// Up by eight standard deviations and back.
    Hump,
}

const SHARE: f64 = 0.01;

fn series(source: &mut Source, process: Process, n: usize) -> Vec<f64> {
    let mut state = source.normal();
    let count = n as f64;
    (0..n)
        .map(|i| match process {
            Process::White => source.normal(),
            Process::Ar1(phi) => {
                state = phi * state + (1.0 - phi * phi).sqrt() * source.normal();
                state
            }
            Process::Student(freedom) => {
                let normal = source.normal();
                let squares: f64 = (0..freedom).map(|_| source.normal().powi(2)).sum();
                // Times do not leave the range of numbers.
                (normal / (squares / f64::from(freedom)).sqrt()).clamp(-1e4, 1e4)
            }
            Process::Spikes => {
                let late = if source.unit() < 0.05 {
                    (0.1 + source.unit()) / SHARE
                } else {
                    0.0
                };
                source.normal() + late
            }
            Process::Varies => source.normal() * if i * 4 / n % 2 == 1 { 4.0 } else { 1.0 },
            Process::Quantised => (source.normal() / 1.5).round() * 1.5,
            Process::Bimodal => 0.3 * source.normal() + if source.unit() < 0.4 { 3.0 } else { 0.0 },
            Process::Drift(change) => source.normal() + change * i as f64 / count,
            Process::Hump => {
                source.normal() + 8.0 * (std::f64::consts::PI * i as f64 / count).sin()
            }
        })
        .map(|value| SHARE * value)
        .collect()
}

fn changes(logarithms: &[f64]) -> Changes {
    let points: Vec<Point> = logarithms
        .iter()
        .map(|value| Point {
            value: 1e5 * value.exp(),
            interval: None,
        })
        .collect();
    find_changes(&points, &ChangeRules::default()).unwrap()
}

/// Shares of series with a step, and with a drift.
#[expect(clippy::print_stdout, reason = "the tables are made of it")]
fn alarms(process: Process, n: usize, runs: usize) -> (f64, f64) {
    let mut source = Source::new(77);
    let (mut steps, mut drifts) = (0, 0);
    for _ in 0..runs {
        let found = changes(&series(&mut source, process, n));
        steps += usize::from(!found.changes.is_empty());
        drifts += usize::from(found.segments.iter().any(|part| part.drift.is_some()));
    }
    let share = |count: usize| count as f64 / runs as f64;
    println!(
        "{process:?}, {n} points: a step in {:.1} %, a drift in {:.1} %",
        100.0 * share(steps),
        100.0 * share(drifts)
    );
    (share(steps), share(drifts))
}

/// 1 % of series, and three standard errors of it in 1000 of them.
const AT_MOST: f64 = 0.01 + 3.0 * 0.003_15;

fn hardly_any_steps(process: Process) {
    let mut total = 0.0;
    for n in [20, 50, 100, 300] {
        let (steps, _) = alarms(process, n, 1_000);
        assert!(steps <= AT_MOST, "{process:?}, {n} points: {steps}");
        total += steps / 4.0;
    }
    assert!(total <= 0.01, "{process:?}: {total}");
}

fn hardly_any_alarms(process: Process) {
    let mut total = 0.0;
    for n in [20, 50, 100, 300] {
        let (steps, drifts) = alarms(process, n, 1_000);
        assert!(
            steps + drifts <= AT_MOST,
            "{process:?}, {n} points: {steps} {drifts}"
        );
        total += (steps + drifts) / 4.0;
    }
    assert!(total <= 0.01, "{process:?}: {total}");
}

#[test]
fn nothing_is_found_in_noise() {
    hardly_any_alarms(Process::White);
    hardly_any_alarms(Process::Quantised);
    hardly_any_alarms(Process::Bimodal);
}

#[test]
fn nothing_is_found_in_dependent_noise() {
    hardly_any_alarms(Process::Ar1(0.3));
    hardly_any_alarms(Process::Ar1(0.5));
}

#[test]
fn nothing_is_found_in_noise_with_heavy_tails() {
    hardly_any_alarms(Process::Student(2));
    hardly_any_alarms(Process::Student(1));
    hardly_any_alarms(Process::Spikes);
}

#[test]
fn nothing_is_found_in_noise_that_varies() {
    hardly_any_alarms(Process::Varies);
}

#[test]
fn a_drift_is_no_step() {
    hardly_any_steps(Process::Drift(1.0));
    hardly_any_steps(Process::Drift(5.0));
    hardly_any_steps(Process::Drift(20.0));
    hardly_any_steps(Process::Hump);
}

#[test]
fn a_drift_is_called_one() {
    assert!(alarms(Process::Drift(5.0), 50, 300).1 >= 0.93);
    assert!(alarms(Process::Drift(2.5), 100, 300).1 >= 0.93);
    assert!(alarms(Process::Drift(1.0), 300, 300).1 >= 0.78);
}

/// The share in which one step is found within three points of its place, and of those found, the shares of those whose
/// interval of the ratio and range of places hold the truth.
#[expect(clippy::print_stdout, reason = "the tables are made of it")]
fn found(process: Process, n: usize, at: usize, height: f64) -> (f64, f64, f64) {
    let runs = 400;
    let mut source = Source::new(5);
    let (mut near, mut ratios, mut places) = (0, 0, 0);
    for _ in 0..runs {
        let mut values = series(&mut source, process, n);
        for value in &mut values[at..] {
            *value += SHARE * height;
        }
        let Some(change) = changes(&values)
            .changes
            .into_iter()
            .find(|change| change.at.abs_diff(at) <= 3)
        else {
            continue;
        };
        near += 1;
        let interval = change.ratio.unwrap().interval.unwrap();
        let truth = (SHARE * height).exp();
        ratios += usize::from(interval.lower <= truth && truth <= interval.upper);
        places += usize::from(change.earliest <= at && at <= change.latest);
    }
    let share = |part: usize, of: usize| part as f64 / of.max(1) as f64;
    let result = (share(near, runs), share(ratios, near), share(places, near));
    println!(
        "{process:?}, {n} points, step of {height} at {at}: found {:.0} %, ratio held {:.1} %, place held {:.1} %",
        100.0 * result.0,
        100.0 * result.1,
        100.0 * result.2
    );
    result
}

/// One line of the table of power: the step in standard deviations with the share in per cent that is found at least.
fn power(process: Process, n: usize, at: usize, steps: &[(f64, f64)]) {
    for (height, per_cent) in steps {
        let (near, ratios, places) = found(process, n, at, *height);
        // Three standard errors of 400 runs.
        let least = per_cent / 100.0;
        let least = least - 3.0 * (least * (1.0 - least) / 400.0).sqrt();
        assert!(
            near >= least,
            "{process:?}, {n} points, step of {height} at {at}: found {near}"
        );
        if near > 0.5 {
            assert!(
                ratios >= 0.9,
                "{process:?}, {n}, {height} at {at}: ratio {ratios}"
            );
            assert!(
                places >= 0.87,
                "{process:?}, {n}, {height} at {at}: place {places}"
            );
        }
    }
}

#[test]
fn steps_in_noise_are_found() {
    power(
        Process::White,
        20,
        10,
        &[(2.0, 0.0), (3.0, 4.0), (5.0, 26.0), (10.0, 86.0)],
    );
    power(
        Process::White,
        50,
        25,
        &[(2.0, 8.0), (3.0, 38.0), (5.0, 89.0), (10.0, 98.0)],
    );
    power(
        Process::White,
        50,
        45,
        &[(2.0, 3.0), (3.0, 18.0), (5.0, 66.0), (10.0, 98.0)],
    );
    power(
        Process::White,
        100,
        50,
        &[(2.0, 46.0), (3.0, 93.0), (5.0, 99.0), (10.0, 100.0)],
    );
    power(
        Process::White,
        100,
        90,
        &[(2.0, 30.0), (3.0, 81.0), (5.0, 98.0), (10.0, 100.0)],
    );
    power(
        Process::White,
        300,
        290,
        &[(2.0, 37.0), (3.0, 90.0), (5.0, 100.0), (10.0, 100.0)],
    );
    power(
        Process::Ar1(0.5),
        20,
        10,
        &[(2.0, 1.0), (3.0, 6.0), (5.0, 23.0), (10.0, 56.0)],
    );
    power(
        Process::Ar1(0.5),
        50,
        25,
        &[(2.0, 4.0), (3.0, 13.0), (5.0, 45.0), (10.0, 80.0)],
    );
    power(
        Process::Ar1(0.5),
        50,
        45,
        &[(2.0, 2.0), (3.0, 6.0), (5.0, 26.0), (10.0, 62.0)],
    );
    power(
        Process::Ar1(0.5),
        100,
        50,
        &[(2.0, 8.0), (3.0, 29.0), (5.0, 74.0), (10.0, 94.0)],
    );
    power(
        Process::Ar1(0.5),
        100,
        90,
        &[(2.0, 6.0), (3.0, 17.0), (5.0, 56.0), (10.0, 84.0)],
    );
    power(
        Process::Ar1(0.5),
        300,
        290,
        &[(2.0, 1.0), (3.0, 7.0), (5.0, 46.0), (10.0, 88.0)],
    );
    power(
        Process::Student(2),
        20,
        10,
        &[(2.0, 0.0), (3.0, 2.0), (5.0, 6.0), (10.0, 42.0)],
    );
    power(
        Process::Student(2),
        50,
        25,
        &[(2.0, 1.0), (3.0, 8.0), (5.0, 44.0), (10.0, 88.0)],
    );
    power(
        Process::Student(2),
        50,
        45,
        &[(2.0, 0.0), (3.0, 4.0), (5.0, 21.0), (10.0, 68.0)],
    );
    power(
        Process::Student(2),
        100,
        50,
        &[(2.0, 6.0), (3.0, 37.0), (5.0, 87.0), (10.0, 99.0)],
    );
    power(
        Process::Student(2),
        100,
        90,
        &[(2.0, 4.0), (3.0, 25.0), (5.0, 70.0), (10.0, 95.0)],
    );
    power(
        Process::Student(2),
        300,
        290,
        &[(2.0, 5.0), (3.0, 30.0), (5.0, 80.0), (10.0, 98.0)],
    );
}

proptest! {
    /// Whatever is searched: segments follow each other, and a change lies where its range says.
    #[test]
    fn what_is_found_fits_together(
        values in prop::collection::vec(prop_oneof![
            4 => 99.0..101.0_f64,
            2 => 109.0..111.0_f64,
            1 => prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL,
        ], 1..200),
    ) {
        let points: Vec<Point> = values.iter().map(|value| Point { value: *value, interval: None }).collect();
        let found = find_changes(&points, &ChangeRules::default()).unwrap();
        prop_assert_eq!(found.segments.len(), found.changes.len() + 1);
        let mut at = 0;
        for segment in &found.segments {
            prop_assert_eq!(segment.start, at);
            prop_assert!(segment.end > segment.start);
            at = segment.end;
        }
        prop_assert_eq!(at, values.len());
        for (change, next) in found.changes.iter().zip(&found.segments[1..]) {
            prop_assert_eq!(change.at, next.start);
            prop_assert!(change.earliest <= change.at && change.at <= change.latest);
            prop_assert!((0.0..=1.0).contains(&change.confidence));
        }
    }

    /// The unit of the values does not matter, nor which end time starts from.
    #[test]
    fn units_do_not_matter(seed in 0..500_u64, factor in 1e-6..1e6_f64) {
        let mut source = Source::new(seed);
        let mut values = series(&mut source, Process::White, 60);
        for value in &mut values[25..] {
            *value += 8.0 * SHARE;
        }
        let places = |logarithms: &[f64]| -> Vec<usize> {
            changes(logarithms).changes.iter().map(|change| change.at).collect()
        };
        let found = places(&values);
        let scaled: Vec<f64> = values.iter().map(|value| value + factor.ln()).collect();
        prop_assert_eq!(&places(&scaled), &found);
    }
}
