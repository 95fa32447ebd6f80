//! What a collection would have collected says the same as the full set, on every report that is there.
//!
//! A collection is played by a full report from which everything is taken away that it does not ask for. The first finding
//! has to be that of the full set in at least 95 of 100 kernels, and no metric that the diagnosis reads may be forgotten.
#![expect(
    clippy::print_stderr,
    reason = "RIDGE_SHOW asks for the counts, which docs/measurements/collect.md has"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Failed, Trial};
use ncu_rep::report::Profile;
use ncu_rep::{Metrics, Reads, Report};
use rayon::prelude::*;
use ridge_collect::plan::{COUNTERS, groups, metrics};
use ridge_diagnose::document::Kernel;
use ridge_diagnose::{CodeMap, Group as Launches, KernelProfile, Options, diagnose, needs};

/// The share of kernels in which a collection says what the full set says.
const EQUAL: f64 = 0.95;

/// A report with fewer metrics was not made with the full set.
const FULL: usize = 1000;

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let corpus = std::env::var_os("RIDGE_CORPUS")
        .map_or_else(|| root.join("../shared/corpus"), PathBuf::from);
    let committed = vec![root.join("fixtures/gallery"), root.join("fixtures/reports")];
    let lent = vec![corpus.join("pairs"), corpus.join("reports")];
    let has_corpus = corpus.join("pairs").is_dir();
    let forgotten = committed.clone();
    let trials = vec![
        Trial::test("the first finding is that of the full set", move || {
            equal(&committed)
        }),
        Trial::test(
            "every metric that is read is collected or left out on purpose",
            move || nothing_forgotten(&forgotten),
        ),
        Trial::test(
            if has_corpus {
                "the first finding is that of the full set, corpus"
            } else {
                "the first finding is that of the full set, corpus (not found: set RIDGE_CORPUS)"
            },
            move || equal(&lent),
        )
        .with_ignored_flag(!has_corpus),
    ];
    libtest_mimic::run(&arguments, trials).exit();
}

fn reports(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten())
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().ends_with(".ncu-rep.zst"))
        .collect();
    paths.sort();
    paths
}

/// Calls something for every kernel of a report, with its profile and its code.
fn each<T>(
    path: &Path,
    mut look: impl FnMut(&Profile<'_>, Option<&CodeMap>, usize) -> Option<T>,
) -> Vec<T> {
    let file = std::fs::read(path).expect("a report can be read");
    let unpacked = ncu_rep::unpack(&file, u64::MAX);
    let report = Report::parse(&unpacked.bytes).expect("a report can be parsed");
    report
        .profiles()
        .enumerate()
        .filter_map(|(index, profile)| {
            let header = profile.header().value;
            let source = header.sources.first().and_then(|key| report.source(*key));
            let code = source.map(|source| CodeMap::new(&source.value));
            look(&profile, code.as_ref(), index)
        })
        .collect()
}

fn with_metrics<'r>(
    profile: &Profile<'r>,
    index: usize,
    metrics: Metrics<'r>,
) -> KernelProfile<'r> {
    KernelProfile {
        metrics,
        ..KernelProfile::of_launch(profile, index)
    }
}

/// What the profiler stores for its group of reasons: no count, and no reasons of cycles in which nothing issued.
fn is_sample(name: &str) -> bool {
    name.starts_with("smsp__pcsamp_")
        && name != "smsp__pcsamp_sample_count"
        && !name.ends_with("_not_issued")
}

/// Whether a profiler that was asked for these metrics would have stored one of this name.
fn is_collected(name: &str, asked: &[&str]) -> bool {
    /// What the profiler stores with every result.
    const FREE: &[&str] = &["launch__", "device__attribute_", "profiler__replayer"];
    /// The full set holds it as a sum of samples only.
    const SAMPLED: &str = ".l1tex__data_pipe_lsu_wavefronts.avg";
    let samples = asked.contains(&groups::SAMPLES.metrics[0]);
    FREE.iter().any(|prefix| name.starts_with(prefix))
        || asked.contains(&name)
        || name.ends_with(SAMPLED)
        || (samples && is_sample(name))
}

struct Outcome {
    kernel: String,
    full: String,
    collected: String,
}

fn first(kernel: &Kernel) -> String {
    kernel
        .findings
        .first()
        .map_or_else(|| "none".to_owned(), |finding| finding.id.clone())
}

fn outcome(
    path: &Path,
    profile: &Profile<'_>,
    code: Option<&CodeMap>,
    index: usize,
) -> Option<Outcome> {
    let run = |asked: Option<&[&str]>| {
        let mut metrics = profile.metrics().value;
        metrics.leave_out_implausible();
        if metrics.len() < FULL {
            return None;
        }
        if let Some(asked) = asked {
            metrics.retain(|name| is_collected(name, asked));
        }
        let kernel = with_metrics(profile, index, metrics);
        let launches = Launches {
            launches: vec![(index, kernel.duration_ns())],
            ..Launches::default()
        };
        Some((
            kernel.name.clone(),
            diagnose(&kernel, &launches, code, &Options::default()),
        ))
    };
    let (name, full) = run(None)?;
    let (_, collected) = run(Some(&metrics(COUNTERS)))?;
    Some(Outcome {
        kernel: format!("{} {name}", path.file_name()?.to_string_lossy()),
        full: first(&full),
        collected: first(&collected),
    })
}

fn equal(folders: &[PathBuf]) -> Result<(), Failed> {
    let paths = reports(folders);
    let outcomes: Vec<Outcome> = paths
        .par_iter()
        .flat_map_iter(|path| {
            each(path, |profile, code, index| {
                outcome(path, profile, code, index)
            })
        })
        .collect();
    let differing: Vec<String> = outcomes
        .iter()
        .filter(|one| one.full != one.collected)
        .map(|one| format!("{}: {} against {}", one.kernel, one.collected, one.full))
        .collect();
    let summary = format!(
        "{} kernels: {} as with the full set",
        outcomes.len(),
        outcomes.len() - differing.len()
    );
    if std::env::var_os("RIDGE_SHOW").is_some() {
        eprintln!("{summary}\n{}", differing.join("\n"));
    }
    let share = 1.0 - differing.len() as f64 / outcomes.len().max(1) as f64;
    if outcomes.len() < 40 || share < EQUAL {
        return Err(format!("{summary}\n{}", differing.join("\n")).into());
    }
    Ok(())
}

/// What the diagnosis reads and no collection has, with the reason.
fn is_left_out(name: &str) -> bool {
    // Shares of a peak, each of one pass for a few: the ledger computes them from counters. The profiler's list of them
    // costs nine.
    let is_share = name.ends_with(".avg.pct_of_peak_sustained_elapsed");
    // Operations of the matrix pipes follow from the opcodes, which name the shape of each product.
    let is_tensor = name.starts_with("sm__ops_path_tensor");
    /// What stands in where a report lacks better counters, which a collection has: sectors for each request where accesses
    /// were not counted by instruction; names of other devices and sets; samples without the reasons that add up to them.
    const ELSEWHERE: &[&str] = &[
        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
        "lts__t_requests_srcunit_tex.sum",
        "profiler__pmsampler_dropped_samples",
        "l1tex__lsu_writeback_active_mem_lgds.sum",
        "sass__inst_executed_per_opcode",
        "smsp__pcsamp_sample_count",
    ];
    is_share || is_tensor || ELSEWHERE.contains(&name)
}

fn nothing_forgotten(folders: &[PathBuf]) -> Result<(), Failed> {
    let all = metrics(COUNTERS);
    let reads: Vec<(&'static str, BTreeSet<String>)> = reports(folders)
        .par_iter()
        .flat_map_iter(|path| {
            each(path, |profile, code, index| {
                let reads = Reads::default();
                let metrics = profile.metrics().value;
                let kernel = with_metrics(profile, index, metrics.noting(&reads));
                let needs = needs(&kernel, code, &reads);
                let mut parts = needs.checks;
                parts.push(("layers", needs.layers));
                parts.push(("places", needs.places));
                Some(parts)
            })
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
        })
        .collect();
    let mut forgotten: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (part, names) in reads {
        for name in names {
            let wanted = name.trim_end_matches('*');
            let is_known = is_collected(wanted, &all)
                || all
                    .iter()
                    .any(|known| name.ends_with('*') && known.starts_with(wanted))
                || (wanted.starts_with("breakdown:") || is_left_out(wanted));
            if !is_known {
                forgotten.entry(part).or_default().insert(name);
            }
        }
    }
    if forgotten.is_empty() {
        Ok(())
    } else {
        Err(format!("read, but never collected: {forgotten:#?}").into())
    }
}
