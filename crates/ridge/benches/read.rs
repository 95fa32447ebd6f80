//! How long reading all metrics of a report takes, in units of one plain walk over its bytes.
//!
//! `cargo bench -p ridge --bench read -- --check` fails when the reader is slower than it promises. The report is the
//! one that `RIDGE_BENCH_REPORT` names, or 55 MB made of the committed one. Samples of all variants are taken in turn,
//! so that another load on the machine hits all of them alike.
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]
#![expect(clippy::print_stderr, reason = "so is its complaint")]

mod common;
// The map wrapper of the command, so that this program needs no unsafe code of its own.
#[path = "../src/input/map.rs"]
mod map;

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use common::{median, ms, timed};
use map::Map;
use ncu_rep::{Metrics, Profile, Report};
use rayon::prelude::*;

const TARGET_BYTES: u64 = 55 << 20;
const SAMPLES: usize = 31;
/// One walk over the scalars may take this many sums of the same bytes, on one thread.
const SCALARS_LIMIT: f64 = 6.0;
/// With all instances.
const INSTANCES_LIMIT: f64 = 25.0;
const MEMORY_LIMIT_BYTES: u64 = 64 << 20;

struct Variant {
    name: &'static str,
    limit: Option<f64>,
    work: fn(&[u8]) -> f64,
    samples: Vec<Duration>,
    /// Quotients with the sum that ran next to it.
    ratios: Vec<f64>,
}

fn main() -> ExitCode {
    let is_check = std::env::args().any(|argument| argument == "--check");
    match run() {
        Ok(within) if within || !is_check => ExitCode::SUCCESS,
        Ok(_) => {
            eprintln!("the reader is slower than it promises");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("cannot measure: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<bool> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("report.ncu-rep");
    let seed = common::seed()?;
    if seed.len() as u64 > TARGET_BYTES / 2 {
        std::fs::write(&path, &seed)?;
    } else {
        common::grow(&seed, TARGET_BYTES, false, &path)?;
    }
    let map = Map::new(&File::open(&path)?)?;
    let bytes = map.bytes();
    describe(bytes)?;

    let mut is_within = memory(bytes)?;
    let mut sums = Vec::new();
    let mut variants = variants();
    // A word on the command line picks variants by name, as other harnesses do.
    if let Some(word) = std::env::args().skip(1).find(|word| !word.starts_with('-')) {
        variants.retain(|variant| variant.name.contains(&word));
    }
    for _ in 0..SAMPLES {
        for variant in &mut variants {
            let (time, _) = timed(|| black_box((variant.work)(black_box(bytes))));
            // The sum is repeated for as long: a load on the machine takes its part of both.
            let mut count = 0;
            let start = Instant::now();
            while count < 2 || start.elapsed() < time {
                black_box(sum_of_words(black_box(bytes)));
                count += 1;
            }
            let sum = start.elapsed() / count;
            sums.push(sum);
            variant.samples.push(time);
            variant.ratios.push(time.as_secs_f64() / sum.as_secs_f64());
        }
    }
    let sum = median(&mut sums);
    let rate = bytes.len() as f64 / sum.as_secs_f64() / 1e9;
    println!(
        "{:<34} {:>9.2} ms  {rate:.1} GB/s",
        "sum of words, 1 thread",
        ms(sum)
    );
    for variant in &mut variants {
        let time = median(&mut variant.samples);
        variant.ratios.sort_by(f64::total_cmp);
        let ratio = variant.ratios[SAMPLES / 2];
        let (verdict, limit) = match variant.limit {
            Some(limit) if ratio > limit => ("over", format!(", limit {limit}")),
            Some(limit) => ("ok", format!(", limit {limit}")),
            None => ("", String::new()),
        };
        is_within &= verdict != "over";
        println!(
            "{:<34} {:>9.2} ms  x {ratio:.2} (min {:.2}, max {:.2}{limit}) {verdict}",
            variant.name,
            ms(time),
            variant.ratios[0],
            variant.ratios[SAMPLES - 1],
        );
    }
    Ok(is_within)
}

fn variants() -> Vec<Variant> {
    let variant = |name, limit, work| Variant {
        name,
        limit,
        work,
        samples: Vec::new(),
        ratios: Vec::new(),
    };
    vec![
        variant("scalars, 1 thread", Some(SCALARS_LIMIT), |bytes| {
            each(bytes, scalars)
        }),
        variant("scalars, all threads", None, |bytes| {
            each_in_parallel(bytes, scalars)
        }),
        variant("with instances, 1 thread", Some(INSTANCES_LIMIT), |bytes| {
            each(bytes, with_instances)
        }),
        variant("with instances, all threads", None, |bytes| {
            each_in_parallel(bytes, with_instances)
        }),
    ]
}

fn describe(bytes: &[u8]) -> io::Result<()> {
    let report = Report::parse(bytes).map_err(|error| io::Error::other(error.to_string()))?;
    let (mut metrics, mut instances) = (0, 0);
    for profile in report.profiles() {
        let list = profile.metrics().value;
        metrics += list.len();
        instances += list
            .iter()
            .map(|metric| metric.instances().count())
            .sum::<usize>();
    }
    println!(
        "{} bytes, {} workloads, {metrics} metrics, {instances} instances; {SAMPLES} samples, {} threads",
        bytes.len(),
        report.len(),
        rayon::current_num_threads(),
    );
    Ok(())
}

/// What the metrics of all workloads take beside the map when they are all kept; says whether it is little enough.
fn memory(bytes: &[u8]) -> io::Result<bool> {
    let taken = || common::anonymous_memory("self").unwrap_or(0);
    let before = taken();
    let report = Report::parse(bytes).map_err(|error| io::Error::other(error.to_string()))?;
    let all: Vec<Metrics<'_>> = report
        .profiles()
        .map(|profile| profile.metrics().value)
        .collect();
    let kept = taken().saturating_sub(before);
    black_box(all);
    println!(
        "all scalars kept: {:.1} MiB beside the map, limit {}",
        kept as f64 / f64::from(1 << 20),
        MEMORY_LIMIT_BYTES >> 20
    );
    Ok(kept <= MEMORY_LIMIT_BYTES)
}

/// The plain walk: memory decides how fast it is, and the compiler makes vector instructions of it.
#[inline(never)]
fn sum_of_words(bytes: &[u8]) -> u64 {
    bytes.as_chunks::<8>().0.iter().fold(0, |sum: u64, word| {
        sum.wrapping_add(u64::from_le_bytes(*word))
    })
}

fn each(bytes: &[u8], work: fn(&Metrics<'_>) -> f64) -> f64 {
    Report::parse(bytes).map_or(f64::NAN, |report| {
        report
            .profiles()
            .map(|profile| work(&profile.metrics().value))
            .sum()
    })
}

fn each_in_parallel(bytes: &[u8], work: fn(&Metrics<'_>) -> f64) -> f64 {
    Report::parse(bytes).map_or(f64::NAN, |report| {
        let profiles: Vec<Profile<'_>> = report.profiles().collect();
        profiles
            .par_iter()
            .map(|profile| work(&profile.metrics().value))
            .sum()
    })
}

fn scalars(metrics: &Metrics<'_>) -> f64 {
    metrics.iter().filter_map(ncu_rep::Metric::number).sum()
}

fn with_instances(metrics: &Metrics<'_>) -> f64 {
    let mut sum = 0.0;
    for metric in metrics {
        sum += metric.number().unwrap_or(0.0);
        for instance in metric.instances().flatten() {
            let [key, value] =
                [instance.key, instance.value].map(|part| part.and_then(|part| part.number()));
            sum += key.unwrap_or(0.0) + value.unwrap_or(0.0);
        }
    }
    sum
}
