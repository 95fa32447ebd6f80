//! What is asked of the recorder and of the profiler, and the same as commands for people.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use ridge_collect::ncu::{Replay, Request, shown};
use ridge_collect::plan::cost::COUNTED;
use ridge_collect::plan::groups::{self, Group};
use ridge_collect::plan::{FIRST, metrics};

use super::CollectOptions;
use crate::recorder::Recorder;

/// The recording of the first run.
pub(super) const TRACE: &str = "trace.ridgetrace";

/// The groups of both tiers.
pub(super) fn both() -> Vec<&'static Group> {
    let mut all = FIRST.to_vec();
    all.push(&groups::LOCAL);
    all
}

/// What is asked of the profiler for a tier.
pub(super) fn request(
    options: &CollectOptions,
    folder: &Path,
    tier: u8,
    groups: &[&Group],
    kernels: Vec<(String, Vec<u64>)>,
) -> Request {
    Request {
        metrics: metrics(groups).into_iter().map(str::to_owned).collect(),
        kernels,
        from_start: options.from_start,
        // Times of launches are those with caches as they are; counters are those of a launch that finds them empty, as in
        // every set of the profiler.
        flushes_caches: tier > 0,
        has_source: tier == 1,
        replay: options.replay,
        report: folder.join(format!("tier{tier}.ncu-rep")),
        log: folder.join(format!("tier{tier}.log")),
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

/// The commands that would be run. Which kernels the later ones are about is known after the first.
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
        &of(&request(options, &folder, 0, &[], Vec::new())),
    );
    let unit = match options.replay {
        Replay::Kernel => "passes",
        Replay::Application => "runs of the program",
    };
    add(
        &format!(
            "tier 1, class of the limit, ledger, waiting and places: kernels with nine tenths of the time, one launch each: {} {unit} on compute capability 9.0",
            COUNTED.first
        ),
        &of(&request(options, &folder, 1, FIRST, kernels.clone())),
    );
    add(
        &format!(
            "tier 2, for kernels that use local memory, what is in it: {} {unit} on compute capability 9.0",
            COUNTED.second
        ),
        &of(&request(
            options,
            &folder,
            2,
            &[&groups::LOCAL],
            kernels.clone(),
        )),
    );
    add(
        &format!(
            "in place of both, where one of these kernels has local memory: tiers 1 and 2 in one run, {} {unit} on compute capability 9.0",
            COUNTED.both
        ),
        &of(&request(options, &folder, 1, &both(), kernels)),
    );
    text
}
