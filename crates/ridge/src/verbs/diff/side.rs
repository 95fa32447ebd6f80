//! One side of a comparison: what a file holds, recognised by its content.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ridge_bench::document::Document as Bench;
use ridge_diagnose::document::Document as Diagnosis;
use ridge_trace::{native, nsys};

use crate::error::ExpectedError;
use crate::evidence::shown_name;
use crate::filter::Address;
use crate::input::Input;
use crate::output::Output;
use crate::verbs::collect::{InputSet, input_sets};
use crate::verbs::narrowed;
use crate::verbs::timeline::{Read, trace_of};
use crate::verbs::why::diagnosis_of;

/// Which JSON a side can be.
pub(crate) const JSON_KINDS: &str = "JSON is read that `ridge why` or `ridge bench` wrote, the collection.json of a kept folder, and traces of the PyTorch profiler";

/// What a file holds.
pub(crate) enum Content {
    /// Kernels with their diagnosis.
    Diagnosis(Box<Diagnosis>),
    /// What `ridge bench` measured.
    Bench(Box<Bench>),
    /// What a program did over time.
    Trace(Box<Read>),
}

impl Content {
    /// What it is, in words.
    pub(super) const fn words(&self) -> &'static str {
        match self {
            Self::Diagnosis(_) => "kernels with counters",
            Self::Bench(_) => "a result of `ridge bench`",
            Self::Trace(_) => "a trace",
        }
    }
}

/// One side.
pub(crate) struct Side {
    /// The file as it was named.
    pub(crate) name: String,
    pub(crate) content: Content,
    /// Whether all of it could be read.
    pub(crate) is_whole: bool,
    /// Files with the counters of kernels, to draw them; none of a diagnosis that was saved.
    pub(super) reports: Vec<OsString>,
    /// What was opened, to see whether both sides are the same.
    inputs: Vec<Input>,
    path: Option<PathBuf>,
    address: Address,
}

impl Side {
    pub(super) fn read(file: &OsString, output: &Output) -> Result<Self, ExpectedError> {
        let mut sets = input_sets(std::slice::from_ref(file), output);
        let set = match sets.pop() {
            Some(set) if sets.is_empty() => set,
            _ => return Err(ExpectedError::internal("one file makes one set")),
        };
        let inputs = Self::open(&set, output)?;
        Self::of_opened(set, inputs, output)
    }

    /// Opens the files of a set.
    pub(crate) fn open(
        set: &InputSet,
        output: &Output,
    ) -> Result<Vec<(Input, Address)>, ExpectedError> {
        let mut inputs = Vec::with_capacity(set.files.len());
        for file in &set.files {
            let address = Address::of_argument(file)?;
            inputs.push((Input::open(&address, output)?, address));
        }
        Ok(inputs)
    }

    /// Reads a set whose files are open.
    pub(crate) fn of_opened(
        set: InputSet,
        inputs: Vec<(Input, Address)>,
        output: &Output,
    ) -> Result<Self, ExpectedError> {
        let address = match inputs.as_slice() {
            [(_, address)] if set.collection.is_none() => address.clone(),
            _ => Address::whole(&set.name),
        };
        let mut side = Self {
            name: set.name.to_string_lossy().into_owned(),
            content: Content::Diagnosis(Box::new(Diagnosis::of_kernels(Vec::new()))),
            is_whole: true,
            reports: Vec::new(),
            inputs: Vec::new(),
            path: Path::new(&address.file).canonicalize().ok(),
            address: address.clone(),
        };
        match inputs.first() {
            Some((input, _))
                if set.collection.is_none() && Diagnosis::looks_like(input.bytes()) =>
            {
                side.content = Content::Diagnosis(Box::new(saved(input, &address)?));
                side.is_whole = input.problem.is_none();
            }
            Some((input, _)) if Bench::looks_like(input.bytes()) => {
                side.content = Content::Bench(Box::new(bench(input, &address)?));
            }
            Some((input, address)) if is_trace(input.bytes()) => {
                let read = trace_of(input, &address.file, output).map_err(|error| {
                    if native::is_recording(input.bytes()) || nsys::is_database(input.bytes()) {
                        return error;
                    }
                    error.with_hint(JSON_KINDS)
                })?;
                side.is_whole = read.is_whole;
                side.content = Content::Trace(Box::new(read));
            }
            _ => side.add_reports(&inputs, &set, output)?,
        }
        if set.collection.is_some() {
            // What was timed apart from the counters is in the file that names the reports.
            side.inputs
                .push(Input::open(&Address::whole(&set.name), output)?);
        }
        side.inputs
            .extend(inputs.into_iter().map(|(input, _)| input));
        Ok(side)
    }

    fn add_reports(
        &mut self,
        inputs: &[(Input, Address)],
        set: &InputSet,
        output: &Output,
    ) -> Result<(), ExpectedError> {
        let (diagnosis, is_whole) = diagnosis_of(inputs, set, output)?;
        self.is_whole = is_whole && inputs.iter().all(|(input, _)| input.problem.is_none());
        self.content = Content::Diagnosis(Box::new(diagnosis));
        // Standard input was read and cannot be read again.
        self.reports = set
            .files
            .iter()
            .filter(|file| !file.to_string_lossy().starts_with('-'))
            .cloned()
            .collect();
        Ok(())
    }

    /// The kernel of a trace that is meant. Launches of a trace have no numbers.
    pub(crate) fn only(&self) -> Result<Option<&str>, ExpectedError> {
        match (&self.address.kernel, self.address.launch) {
            (Some(kernel), Some(launch)) => Err(ExpectedError::usage(format!(
                "launch {launch} of a trace cannot be chosen"
            ))
            .with_hint(format!("name the kernel alone: FILE#{kernel}"))),
            (kernel, _) => Ok(kernel.as_deref()),
        }
    }

    /// What the file holds, which it then no longer does.
    pub(crate) fn take_content(&mut self) -> Content {
        let nothing = Diagnosis::of_kernels(Vec::new());
        std::mem::replace(&mut self.content, Content::Diagnosis(Box::new(nothing)))
    }

    /// Whether both are the same part of the same bytes.
    pub(crate) fn is_same_part(&self, other: &Self) -> bool {
        let part = |side: &'_ Self| (side.address.kernel.clone(), side.address.launch);
        part(self) == part(other) && self.is_same(other)
    }

    /// Whether both sides are of the same bytes.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let bytes = |side: &'_ Self| -> Vec<usize> {
            side.inputs
                .iter()
                .map(|input| input.bytes().len())
                .collect()
        };
        let is_same_path = self.path.is_some() && self.path == other.path;
        is_same_path
            || (!self.inputs.is_empty()
                && bytes(self) == bytes(other)
                && self
                    .inputs
                    .iter()
                    .zip(&other.inputs)
                    .all(|(one, other)| one.bytes() == other.bytes()))
    }
}

/// Reads what `ridge why` wrote, or one kernel of it.
fn saved(input: &Input, address: &Address) -> Result<Diagnosis, ExpectedError> {
    let text = address.text();
    let file = shown_name(&text);
    let mut diagnosis = Diagnosis::read(input.bytes()).map_err(|error| {
        let failure = match &input.problem {
            // What does not unpack to its end is cut off, whatever is in it.
            Some(problem) => ExpectedError::unreadable(format!("cannot read {file}: {problem}")),
            None => {
                ExpectedError::unreadable(format!("cannot read {file}: {error} ({})", error.code()))
            }
        };
        failure.with_hint(error.hint())
    })?;
    narrowed::kernels(&mut diagnosis, address)?;
    Ok(diagnosis)
}

/// Whether some bytes are meant to be a trace: a recording, a database, or JSON, which no report is.
fn is_trace(bytes: &[u8]) -> bool {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let is_json = matches!(text.trim_ascii_start().first(), Some(b'{' | b'['));
    is_json || native::is_recording(bytes) || nsys::is_database(bytes)
}

/// Reads what `ridge bench` wrote, or the states of one kernel of it.
pub(super) fn bench(input: &Input, address: &Address) -> Result<Bench, ExpectedError> {
    let text = address.text();
    let name = shown_name(&text);
    let mut document = Bench::read(input.bytes()).map_err(|error| {
        let failure = match &input.problem {
            Some(problem) => ExpectedError::unreadable(format!("cannot read {name}: {problem}")),
            None => {
                ExpectedError::unreadable(format!("cannot read {name}: {error} ({})", error.code()))
            }
        };
        failure.with_hint(error.hint())
    })?;
    narrowed::states(&mut document, address)?;
    Ok(document)
}

/// The complaint that `--match` names what is not there.
pub(super) fn no_such<'n>(
    name: &str,
    side: &str,
    known: impl Iterator<Item = &'n str>,
) -> ExpectedError {
    /// So many names are offered.
    const OFFERED: usize = 8;
    let mut names: Vec<&str> = Vec::new();
    for name in known {
        if names.len() > OFFERED {
            break;
        }
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = if names.len() > OFFERED { ", …" } else { "" };
    names.truncate(OFFERED);
    ExpectedError::usage(format!("--match: there is no kernel {name:?} {side}"))
        .with_hint(format!("one of {}{more}", names.join(", ")))
}
