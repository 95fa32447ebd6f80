//! The binary report: blocks, capture details, sources and profiled workloads.

pub(crate) mod collection;
pub(crate) mod frame;
mod header;
mod nvtx;
mod profile;
mod rules;
mod session;
mod source;
mod stack;

pub use collection::{CacheControl, ClockControl, Collection, ReplayMode};
pub use header::{ClockStatus, Dim3, Header, Launch, Scope, WorkloadKind};
pub use nvtx::{NvtxDomain, NvtxRange, NvtxState, NvtxThread};
pub use profile::{Profile, Section};
pub use rules::{
    FocusMetric, MessageKind, RuleItem, RuleMessage, RuleResult, Severity, SourceMarker, Speedup,
    Table, TableColumn,
};
pub use session::{Device, ExecutableSettings, Session, System, Version};
pub use source::{Relocation, Source, SourceFile, SourceKey};
pub use stack::{Frame, Stack, StackKind};

use crate::error::{Error, Kind};
use crate::metric::Names;
use frame::Entry;
use source::SourceIndex;

/// A value that was read as far as possible, and what was left out of it.
#[derive(Clone, Debug, Default)]
pub struct Partial<T> {
    /// What could be read.
    pub value: T,
    /// What could not; empty when everything was read.
    pub problems: Vec<Error>,
}

/// Problems kept for one part; a damaged part says the same thing over and over.
const MAX_PROBLEMS: usize = 100;

/// Decoded parts may take so many times their bytes in memory; the scalar metrics of real results take up to 9 times.
const PART_FACTOR: u64 = 16;

/// Collects problems up to a bound.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<Error>);

impl Problems {
    pub(crate) fn push(&mut self, error: Error) {
        if self.0.len() < MAX_PROBLEMS {
            self.0.push(error);
        } else if self.0.len() == MAX_PROBLEMS {
            self.0
                .push(Error::new(Kind::TooMany { limit: 100 }, None, "problems"));
        }
    }

    /// Adds the problem that ends the reading: it has a place whatever came before.
    pub(crate) fn end(&mut self, error: Error) {
        self.0.push(error);
    }

    pub(crate) fn into_vec(self) -> Vec<Error> {
        self.0
    }
}

/// A process that was profiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// Process id.
    pub id: u64,
    /// Name of the machine it ran on.
    pub host: String,
    /// Path of its program.
    pub executable: String,
}

/// An Nsight Compute report, indexed but not decoded.
///
/// Parsing looks at the frame of the file only; metrics, rules and code are decoded when they are asked for. A report
/// is `Sync`, so its profiles can be decoded in parallel.
#[derive(Debug)]
pub struct Report<'a> {
    bytes: &'a [u8],
    format_version: Option<u64>,
    session: Session<'a>,
    processes: Vec<Process>,
    names: Names<'a>,
    sources: SourceIndex,
    entries: Vec<Entry>,
    problems: Vec<Error>,
}

impl<'a> Report<'a> {
    /// Indexes an unpacked report. See [`crate::unpack`] for compressed ones.
    ///
    /// # Errors
    /// When the input is no report at all. Damage further on is listed by [`Report::problems`] instead, and what
    /// stands before it (and, where the frame allows, behind it) is there.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        frame::parse(bytes)
    }

    /// Whether the input starts like an unpacked report.
    #[must_use]
    pub fn looks_like(bytes: &[u8]) -> bool {
        bytes.starts_with(&frame::MAGIC)
    }

    /// The version of the file format.
    #[must_use]
    pub fn format_version(&self) -> Option<u64> {
        self.format_version
    }

    /// What was profiled, where and with what: merged from all blocks.
    #[must_use]
    pub fn session(&self) -> &Session<'a> {
        &self.session
    }

    /// The processes that were profiled, in order of appearance.
    #[must_use]
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// The number of profiled workloads.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the report holds no profiled workload.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The profiled workloads in stored order, which is the order of launches.
    pub fn profiles(&self) -> impl ExactSizeIterator<Item = Profile<'_>> {
        self.entries.iter().map(|entry| Profile::new(self, entry))
    }

    /// One profiled workload by its place.
    #[must_use]
    pub fn profile(&self, index: usize) -> Option<Profile<'_>> {
        self.entries
            .get(index)
            .map(|entry| Profile::new(self, entry))
    }

    /// The keys of all sources, in order of appearance.
    pub fn sources(&self) -> impl Iterator<Item = SourceKey> + '_ {
        self.sources.keys()
    }

    /// Decodes a source by its key: code, line tables, symbols, imported files. [`Header::sources`] has the keys of a
    /// workload.
    #[must_use]
    pub fn source(&self, key: SourceKey) -> Option<Partial<Source<'a>>> {
        self.sources.decode(self.bytes, key)
    }

    /// What could not be read while indexing. Decoding a part later may find more.
    #[must_use]
    pub fn problems(&self) -> &[Error] {
        &self.problems
    }
}
