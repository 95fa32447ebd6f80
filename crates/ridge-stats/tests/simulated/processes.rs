//! The table of simulated processes in `docs/design/statistics.md`: results that exist, each side from one run or from several,
//! with nothing but the runs themselves to tell how far equal ones differ.

use ridge_stats::{Rules, Samples, Verdict, compare_runs};

use crate::noise::{Noise, Source, run};

/// What comparisons of a process come to.
#[derive(Debug, Default)]
struct Shares {
    same: f64,
    slower: f64,
    faster: f64,
}

/// What is simulated: how samples of a run scatter, and what all samples of a run have in common.
#[derive(Clone, Copy, Debug)]
struct Process {
    name: &'static str,
    noise: Noise,
    /// Standard deviation of a factor of each run.
    between: f64,
}

const fn process(name: &'static str, noise: Noise) -> Process {
    Process {
        name,
        noise,
        between: 0.0,
    }
}

const PROCESSES: [Process; 15] = [
    process("lognormal 1 %", Noise::Lognormal { share: 0.01 }),
    process("lognormal 3 %", Noise::Lognormal { share: 0.03 }),
    process("one in 20 is slow", Noise::Outliers { share: 0.01 }),
    process(
        "AR(1) 0.5",
        Noise::Ar1 {
            phi: 0.5,
            share: 0.01,
        },
    ),
    process(
        "AR(1) 0.8",
        Noise::Ar1 {
            phi: 0.8,
            share: 0.01,
        },
    ),
    process(
        "two modes, 5 % apart, 70 : 30",
        Noise::Bimodal {
            distance: 0.05,
            upper: 0.3,
            share: 0.01,
        },
    ),
    process(
        "two modes, 3 % apart, 50 : 50",
        Noise::Bimodal {
            distance: 0.03,
            upper: 0.5,
            share: 0.01,
        },
    ),
    process(
        "steps of 0.3 %",
        Noise::Quantised {
            step: 32.0,
            share: 0.01,
        },
    ),
    process(
        "drift 1 %",
        Noise::Drift {
            change: 0.01,
            share: 0.01,
        },
    ),
    process(
        "drift 2 %",
        Noise::Drift {
            change: 0.02,
            share: 0.01,
        },
    ),
    process(
        "drift 5 %",
        Noise::Drift {
            change: 0.05,
            share: 0.01,
        },
    ),
    process(
        "level shift 1 %",
        Noise::Shift {
            size: 0.01,
            share: 0.01,
        },
    ),
    process(
        "level shift 2 %",
        Noise::Shift {
            size: 0.02,
            share: 0.01,
        },
    ),
    process(
        "level shift 5 %",
        Noise::Shift {
            size: 0.05,
            share: 0.01,
        },
    ),
    Process {
        name: "processes 0.5 %",
        noise: Noise::Lognormal { share: 0.01 },
        between: 0.005,
    },
];

const RULES: Rules = Rules {
    margin: 0.01,
    least_band: 0.005,
    machine_band: None,
    confidence: ridge_stats::Confidence::P95,
    min_replicates: 1,
    needs_control: false,
    uncontrolled_band: 0.02,
    resamples: 100,
    seed: 1,
};

/// Compares so many times. A drift goes on from run to run where each side has one; a level is as it was before.
fn compare(process: Process, runs: usize, n: usize, truth: f64, times: usize) -> Shares {
    let (base, step) = match process.noise {
        Noise::Quantised { step, .. } => (10_667.0, Some(step)),
        _ => (100.0, None),
    };
    let mut source = Source::new(17);
    let mut shares = Shares::default();
    for _ in 0..times {
        let mut place = 0.0;
        let mut side = |factor: f64| -> Vec<Samples> {
            (0..runs)
                .map(|_| {
                    let moved = match process.noise {
                        Noise::Drift { change, .. } if runs == 1 => 1.0 + place * change,
                        _ => 1.0,
                    };
                    place += 1.0;
                    let effect = (process.between * source.normal()).exp();
                    let centre = base * factor * moved * effect;
                    let samples = Samples::new(run(&mut source, process.noise, centre, n)).unwrap();
                    match step {
                        Some(step) => samples.with_step(step).unwrap(),
                        None => samples,
                    }
                })
                .collect()
        };
        let (a, b) = (side(1.0), side(1.0 + truth));
        let each = 1.0 / times as f64;
        match compare_runs(&a, &b, &RULES).unwrap().verdict {
            Verdict::Same => shares.same += each,
            Verdict::Slower => shares.slower += each,
            Verdict::Faster => shares.faster += each,
            Verdict::CannotTell => {}
        }
    }
    shares
}

/// At most 1 % of equal ones are called different, whatever the process and however many runs and samples there are.
#[test]
fn equal_runs_are_hardly_ever_called_different() {
    for process in PROCESSES {
        for (runs, n) in [(1, 50), (1, 400), (3, 50), (3, 400)] {
            let found = compare(process, runs, n, 0.0, 1_000);
            assert!(
                found.slower + found.faster <= 0.01,
                "{}, {runs} runs of {n}: {found:?}",
                process.name
            );
        }
    }
}

/// How often a difference is seen at least, as the page says: 3 % from one run of 400 samples on each side, and 2 % from three.
/// What moves within a run is not told apart from a difference by a single one.
#[test]
fn differences_are_seen_as_often_as_the_page_says() {
    for (name, three_of_one, two_of_three) in [
        ("lognormal 1 %", 0.95, 0.95),
        ("lognormal 3 %", 0.9, 0.95),
        ("one in 20 is slow", 0.95, 0.95),
        ("AR(1) 0.5", 0.95, 0.95),
        ("AR(1) 0.8", 0.9, 0.95),
        ("steps of 0.3 %", 0.95, 0.95),
        ("drift 1 %", 0.85, 0.95),
        ("drift 2 %", 0.0, 0.95),
        ("level shift 1 %", 0.2, 0.75),
        ("processes 0.5 %", 0.75, 0.25),
    ] {
        let process = PROCESSES.into_iter().find(|process| process.name == name);
        let process = process.unwrap();
        for (runs, truth, least) in [(1, 0.03, three_of_one), (3, 0.02, two_of_three)] {
            let found = compare(process, runs, 400, truth, 400);
            assert!(
                found.slower >= least && found.faster <= 0.0,
                "{name}, {runs} runs, {truth}: {found:?}"
            );
            assert!(found.same <= 0.05, "{name}: {found:?}");
        }
    }
}

/// As `ridge check` measures: three runs of the baseline, then one run, and another as long as nothing can be told, up to nine. Each
/// of them is a look more, which makes false alarms likelier; the bound is the same.
#[test]
fn looking_again_and_again_hardly_ever_calls_equals_different() {
    for between in [0.0, 0.002, 0.005, 0.01] {
        let mut source = Source::new(23);
        let mut run_of = || {
            let centre = 100.0 * (between * source.normal()).exp();
            let noise = Noise::Lognormal { share: 0.01 };
            Samples::new(run(&mut source, noise, centre, 100)).unwrap()
        };
        let times = 1_000;
        let mut wrong = 0;
        for _ in 0..times {
            let a: Vec<Samples> = (0..3).map(|_| run_of()).collect();
            let mut b = Vec::new();
            let verdict = loop {
                b.push(run_of());
                let verdict = compare_runs(&a, &b, &RULES).unwrap().verdict;
                if verdict != Verdict::CannotTell || b.len() >= 9 {
                    break verdict;
                }
            };
            wrong += usize::from(matches!(verdict, Verdict::Slower | Verdict::Faster));
        }
        assert!(
            wrong * 100 <= times,
            "processes {between}: {wrong} of {times}"
        );
    }
}
