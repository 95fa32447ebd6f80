//! How long changes are looked for in series of a thousand to a hundred thousand points.
//!
//! `cargo bench -p ridge-stats --bench changes -- --check` fails when ten times the points cost more than twenty times the time:
//! the search is O(n log² n). Times depend on the machine, and are only printed.
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]

use std::process::ExitCode;
use std::time::Instant;

use ridge_stats::{ChangeRules, Point, Random, find_changes};

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
const SAMPLES: usize = 5;
/// Ten times log² 100,000 over log² 10,000, and room for caches.
const MOST_GROWTH: f64 = 20.0;

/// 1 % noise, and after each so many points a step of 10 %.
fn series(points: usize, between: usize) -> Vec<Point> {
    let mut random = Random::new(points as u64);
    (0..points)
        .map(|i| {
            let normal = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
            let level = if (i / between).is_multiple_of(2) {
                0.0
            } else {
                0.1
            };
            Point {
                value: 1e5 * (0.01 * normal + level).exp(),
                interval: None,
            }
        })
        .collect()
}

/// The median of some samples in milliseconds, and how many changes there are.
fn timed(points: &[Point]) -> (f64, usize) {
    let mut found = 0;
    let mut times: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let begin = Instant::now();
            let changes = find_changes(std::hint::black_box(points), &ChangeRules::default());
            found = changes.map_or(0, |changes| changes.changes.len());
            1e3 * begin.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[SAMPLES / 2], found)
}

fn main() -> ExitCode {
    let is_check = std::env::args().any(|argument| argument == "--check");
    let mut is_fine = true;
    for (name, between) in [
        ("without changes", usize::MAX),
        ("a change after each 50 points", 50),
    ] {
        let mut before: Option<f64> = None;
        for size in SIZES {
            let (ms, found) = timed(&series(size, between));
            println!("{name}, {size} points: {ms:.1} ms, {found} changes");
            is_fine &= before.is_none_or(|before| ms <= MOST_GROWTH * before);
            before = Some(ms);
        }
    }
    if is_check && !is_fine {
        println!("ten times the points cost more than {MOST_GROWTH} times the time");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
