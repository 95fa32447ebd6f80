//! A collection that is kept: a file that tells of its reports, beside them.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use ncu_rep::Report;
use ridge_collect::launches::LaunchGroup;
use ridge_diagnose::document::{Collected, Kernel, Timed};
use serde::{Deserialize, Serialize};

use crate::error::ExpectedError;
use crate::evidence::common_program;
use crate::filter::Address;
use crate::input::Input;
use crate::output::{Output, temporary};

/// The name of the file.
pub(crate) const FILE: &str = "collection.json";
const SCHEMA: &str = "ridgepoint.collection";
const VERSION: u32 = 1;
/// No collection is longer: a line for each kernel and each run.
const MOST_BYTES: u64 = 64 << 20;

/// What the file holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Stored {
    schema: String,
    version: u32,
    pub(crate) collected: Collected,
    launches: Vec<Row>,
}

/// Launches of one kernel with one size, as they were timed.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Row {
    name: String,
    signature: String,
    grid: [u32; 3],
    block: [u32; 3],
    #[serde(flatten)]
    timed: Timed,
}

impl Stored {
    pub(crate) fn new(collected: Collected, groups: &[LaunchGroup]) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            collected,
            launches: groups
                .iter()
                .map(|group| Row {
                    name: group.name.clone(),
                    signature: group.signature.clone(),
                    grid: group.grid,
                    block: group.block,
                    timed: Timed {
                        launches: group.count,
                        total_ns: group.total_ns,
                        median_ns: group.median_ns,
                    },
                })
                .collect(),
        }
    }

    /// Writes the file whole or not at all.
    pub(crate) fn write(&self, folder: &Path) -> Result<PathBuf, ExpectedError> {
        let path = folder.join(FILE);
        let unable = |error: &dyn std::fmt::Display| {
            ExpectedError::unable(format!("cannot write {}: {error}", path.display()))
        };
        let file = temporary()
            .tempfile_in(folder)
            .map_err(|error| unable(&error))?;
        serde_json::to_writer_pretty(&file, self).map_err(|error| unable(&error))?;
        file.persist(&path).map_err(|error| unable(&error.error))?;
        Ok(path)
    }

    /// Why there is nothing to diagnose: no run of the profiler left a report.
    pub(crate) fn without_reports(&self, name: &std::ffi::OsStr) -> ExpectedError {
        let why = self
            .collected
            .tiers
            .iter()
            .rev()
            .find_map(|tier| tier.failure.as_deref());
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        let path = Path::new(name);
        let error = ExpectedError::unreadable(format!(
            "{} holds no report of the profiler{why}",
            path.display()
        ));
        let trace = self
            .collected
            .traced
            .as_ref()
            .and_then(|traced| traced.file.as_deref());
        match trace {
            Some(trace) => error.with_hint(format!(
                "`ridge timeline {}` shows what was recorded",
                path.with_file_name(trace).display()
            )),
            None => error,
        }
    }

    /// Adds to a kernel what was timed apart from the counters.
    pub(crate) fn time(&self, kernel: &mut Kernel) {
        let is_it = |row: &&Row| {
            row.signature == kernel.signature
                && Some(row.grid) == kernel.grid
                && Some(row.block) == kernel.block
        };
        let Some(row) = self.launches.iter().find(is_it) else {
            return;
        };
        let all: f64 = self.launches.iter().map(|row| row.timed.total_ns).sum();
        kernel.timed = Some(row.timed);
        kernel.time_share = (all > 0.0).then(|| row.timed.total_ns / all);
    }
}

/// Reports that answer together.
pub(crate) struct InputSet {
    /// How the set is named.
    pub(crate) name: OsString,
    pub(crate) files: Vec<OsString>,
    pub(crate) collection: Option<Stored>,
}

impl InputSet {
    fn of_file(file: &OsString) -> Self {
        Self {
            name: file.clone(),
            files: vec![file.clone()],
            collection: None,
        }
    }

    /// The reports of a collection that were written.
    pub(crate) fn of_collection(path: &Path, stored: Stored) -> Self {
        let folder = path.parent().unwrap_or(Path::new(""));
        let files = stored
            .collected
            .tiers
            .iter()
            .filter(|tier| tier.tier > 0)
            .filter_map(|tier| tier.report.as_deref())
            .map(|report| folder.join(report).into_os_string())
            .collect();
        Self {
            name: path.as_os_str().to_owned(),
            files,
            collection: Some(stored),
        }
    }
}

/// Puts files together that complete each other: those that a collection names, and reports of one program that hold only
/// metrics that were asked for by name.
pub(crate) fn input_sets(files: &[OsString], output: &Output) -> Vec<InputSet> {
    let mut sets: Vec<InputSet> = Vec::new();
    let mut programs: Vec<(String, usize)> = Vec::new();
    for file in files {
        if let Some(stored) = stored(Path::new(file)) {
            sets.push(InputSet::of_collection(Path::new(file), stored));
        }
    }
    let named: Vec<PathBuf> = sets
        .iter()
        .flat_map(|set| &set.files)
        .filter_map(|file| Path::new(file).canonicalize().ok())
        .collect();
    let is_one = files.len() == 1;
    for file in files {
        let path = Path::new(file).canonicalize().ok();
        let is_known = path.as_ref().is_some_and(|path| named.contains(path));
        if is_known
            || sets
                .iter()
                .any(|set| set.name == *file && set.collection.is_some())
        {
            continue;
        }
        let program = (!is_one).then(|| program(file, output)).flatten();
        let same = programs
            .iter()
            .find(|(known, _)| Some(known) == program.as_ref());
        match same {
            Some(&(_, place)) => {
                let set = &mut sets[place];
                set.name.push(" + ");
                set.name.push(file);
                set.files.push(file.clone());
            }
            None => {
                programs.extend(program.map(|program| (program, sets.len())));
                sets.push(InputSet::of_file(file));
            }
        }
    }
    sets
}

/// The program of a report that may be completed by others.
fn program(file: &OsString, output: &Output) -> Option<String> {
    let address = Address::of_argument(file).ok()?;
    if address.file == "-" || address.kernel.is_some() {
        return None;
    }
    let input = Input::open(&address, output).ok()?;
    common_program(&Report::parse(input.bytes()).ok()?)
}

/// What a file holds, if it tells of a collection.
fn stored(path: &Path) -> Option<Stored> {
    let mut file = File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut start = [0_u8; 256];
    let count = file.read(&mut start).ok()?;
    let start = String::from_utf8_lossy(start.get(..count)?).into_owned();
    if !start.trim_start().starts_with('{') || !start.contains(SCHEMA) {
        return None;
    }
    let mut text = String::new();
    File::open(path)
        .ok()?
        .take(MOST_BYTES)
        .read_to_string(&mut text)
        .ok()?;
    let stored: Stored = serde_json::from_str(&text).ok()?;
    (stored.schema == SCHEMA).then_some(stored)
}
