//! What the diagnosis of a report takes beyond reading it: every launch is diagnosed, not one of each group.
//!
//! `cargo bench -p ridge --bench diagnose -- --check` fails when it takes more than promised for 45 launches. The report
//! is the one that `RIDGE_BENCH_REPORT` names, or 45 launches made of the committed one.
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]
#![expect(clippy::print_stderr, reason = "so is its complaint")]

#[expect(dead_code, reason = "other benches use the rest of it")]
mod common;

use std::collections::HashMap;
use std::hint::black_box;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

use common::{median, ms, timed};
use ncu_rep::report::SourceKey;
use ncu_rep::{Profile, Report};
use rayon::prelude::*;
use ridge_diagnose::{CodeMap, Group, KernelProfile, Options, diagnose};

const LAUNCHES: usize = 45;
const SAMPLES: usize = 31;
/// On one thread, code included.
const LIMIT: Duration = Duration::from_millis(30);

fn main() -> ExitCode {
    let is_check = std::env::args().any(|argument| argument == "--check");
    match run() {
        Ok(within) if within || !is_check => ExitCode::SUCCESS,
        Ok(_) => {
            eprintln!("the diagnosis is slower than it promises");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("cannot measure: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<bool> {
    let seed = common::seed()?;
    let report = Report::parse(&seed).map_err(|error| io::Error::other(error.to_string()))?;
    let found: Vec<Profile<'_>> = report.profiles().collect();
    let launches: Vec<Profile<'_>> = found.iter().copied().cycle().take(LAUNCHES).collect();
    let [mut read, mut code, mut one, mut all, mut total] = [const { Vec::new() }; 5];
    for _ in 0..SAMPLES {
        let (time, profiles) = timed(|| launches.iter().map(profile).collect::<Vec<_>>());
        read.push(time);
        let (code_time, codes) = timed(|| {
            report
                .sources()
                .filter_map(|key| Some((key, CodeMap::new(&report.source(key)?.value))))
                .collect::<HashMap<SourceKey, CodeMap>>()
        });
        code.push(code_time);
        let answer = |(profile, reference): &(KernelProfile<'_>, Option<SourceKey>)| {
            let code = reference.and_then(|key| codes.get(&key));
            let group = Group {
                launches: vec![(profile.launch_index, profile.duration_ns())],
                ..Group::default()
            };
            black_box(diagnose(profile, &group, code, &Options::default()));
        };
        let (time, ()) = timed(|| profiles.iter().for_each(answer));
        one.push(time);
        total.push(time + code_time);
        all.push(timed(|| profiles.par_iter().for_each(answer)).0);
    }
    println!(
        "{LAUNCHES} launches, {SAMPLES} samples, {} threads",
        rayon::current_num_threads()
    );
    let total = row("diagnosis with code, 1 thread", &mut total);
    row("  code maps, 1 thread", &mut code);
    row("  diagnosis, 1 thread", &mut one);
    row("  diagnosis, all threads", &mut all);
    row("reading, for comparison", &mut read);
    Ok(total <= LIMIT)
}

fn row(name: &str, samples: &mut [Duration]) -> Duration {
    let middle = median(samples);
    println!(
        "{name:<32} {:>8.2} ms (min {:.2}, max {:.2})",
        ms(middle),
        ms(samples[0]),
        ms(samples[samples.len() - 1])
    );
    middle
}

/// What the diagnosis looks at, and the reference of the code.
fn profile<'r>(launch: &Profile<'r>) -> (KernelProfile<'r>, Option<SourceKey>) {
    let header = launch.header().value;
    let name = header.name().unwrap_or_default().to_owned();
    let sections = launch.sections().value.into_iter();
    let profile = KernelProfile {
        signature: name.clone(),
        name,
        mangled: header.mangled_name.as_deref().map(str::to_owned),
        is_mixture: false,
        grid: header.launches.first().map(|launch| launch.grid),
        block: header.launches.first().map(|launch| launch.block),
        launch_index: 0,
        sections: sections.map(|section| section.id.into_owned()).collect(),
        metrics: launch.metrics().value,
    };
    (profile, header.sources.first().copied())
}
