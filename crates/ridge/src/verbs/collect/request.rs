//! What is asked of the recorder and of the profiler, and the same as commands for people.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use ridge_collect::ncu::{Replay, Request, shown};
use ridge_collect::plan::{COUNTERS, metrics, passes};

use super::CollectOptions;
use crate::recorder::Recorder;

/// The recording of the first run.
pub(super) const TRACE: &str = "trace.ridgetrace";

/// A run of the profiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tier {
    /// Launches and their times, where nothing could be recorded.
    Times,
    /// Everything that a diagnosis needs.
    Counters,
}

impl Tier {
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Times => 0,
            Self::Counters => 1,
        }
    }

    pub(super) fn purpose(self) -> &'static str {
        match self {
            Self::Times => "launches and their times",
            Self::Counters => {
                "class of the limit, ledger, what warps wait for and where, and what is in local memory"
            }
        }
    }
}

/// What is asked of the profiler for a tier.
pub(super) fn request(
    options: &CollectOptions,
    folder: &Path,
    tier: Tier,
    kernels: Vec<(String, Vec<u64>)>,
) -> Request {
    let has_counters = tier == Tier::Counters;
    let groups = if has_counters { COUNTERS } else { &[] };
    let number = tier.number();
    Request {
        metrics: metrics(groups).into_iter().map(str::to_owned).collect(),
        kernels,
        from_start: options.from_start,
        // Times of launches are those with caches as they are; counters are those of a launch that finds them empty, as in
        // every set of the profiler.
        flushes_caches: has_counters,
        has_source: has_counters,
        replay: options.replay,
        report: folder.join(format!("tier{number}.ncu-rep")),
        log: folder.join(format!("tier{number}.log")),
        target: options.target.clone(),
    }
}

/// The command of the first run: the program with what brings the recorder into it.
pub(super) fn recorded(environment: &[(&str, OsString)], target: &[OsString]) -> String {
    let mut words: Vec<OsString> = environment
        .iter()
        .map(|(name, value)| {
            let mut word = OsString::from(format!("{name}="));
            word.push(value);
            word
        })
        .collect();
    words.extend(target.iter().cloned());
    shown(OsStr::new("env"), &words)
}

/// The commands that would be run. Which kernels the last one is about is known after the first.
pub(super) fn dry(options: &CollectOptions) -> String {
    let folder = options.keep.clone().unwrap_or_else(|| PathBuf::from("."));
    let kernels = vec![("KERNELS".to_owned(), vec![])];
    let mut text = String::new();
    let mut add = |title: &str, command: &str| {
        text.extend(["# ", title, "\n", command, "\n"]);
    };
    let of = |request: &Request| shown("ncu".as_ref(), &request.arguments());
    let private = folder.join(".ridge-trace-XXXXXX");
    add(
        "launches and their times: a recording, without the profiler, as `ridge trace` makes it",
        &recorded(&Recorder::environment_in(&private), &options.target),
    );
    add(
        "in place of that where nothing can be recorded: 1 pass",
        &of(&request(options, &folder, Tier::Times, Vec::new())),
    );
    let unit = match options.replay {
        Replay::Kernel => "passes",
        Replay::Application => "runs of the program",
    };
    add(
        &format!(
            "tier 1, {}: kernels with nine tenths of the time, one launch each: {} {unit} on compute capability 9.0",
            Tier::Counters.purpose(),
            passes::OF_COUNTERS
        ),
        &of(&request(options, &folder, Tier::Counters, kernels)),
    );
    text
}
