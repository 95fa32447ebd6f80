//! What is known of a port.

use ridge_bench::document::Document as Bench;
use ridge_diagnose::document::Document as Diagnosis;
use ridge_model::measured::MeasuredCeilings;
use ridge_numerics::stored::{Arithmetic, Comparison, Repeat};
use ridge_trace::document::Trace;

use crate::document::Warning;
use crate::words::{path, quote};
use crate::{Build, Claims};

/// Something with the name of the file that it comes from.
#[derive(Clone, Debug)]
pub struct Named<T> {
    /// The file as it was named.
    pub name: String,
    /// What is in it.
    pub content: T,
}

impl<T> Named<T> {
    /// Names something.
    pub fn new(name: impl Into<String>, content: T) -> Self {
        Self {
            name: name.into(),
            content,
        }
    }
}

/// Kernels with counters.
#[derive(Clone, Debug)]
pub struct Diagnosed {
    /// What limits each of them.
    pub document: Diagnosis,
    /// Where it is from, for commands that look again.
    pub origin: Origin,
}

/// Where kernels with counters are from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// One file, of which kernels can be named.
    File(String),
    /// A collection, or files that complete each other.
    Files(Vec<String>),
    /// A saved answer: its sources name the files.
    Saved,
}

/// What a trace says of a program.
#[derive(Clone, Debug)]
pub struct Program {
    /// Figures of its timeline.
    pub trace: Trace,
    /// Small results that the host fetched and waited for.
    pub read_backs: ridge_trace::ReadBacks,
}

/// Everything that is known; lists may be empty.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Kernels with counters.
    pub diagnoses: Vec<Named<Diagnosed>>,
    /// Programs over time.
    pub programs: Vec<Named<Program>>,
    /// Benchmarks.
    pub benches: Vec<Named<Bench>>,
    /// Outputs held against references.
    pub comparisons: Vec<Named<Comparison>>,
    /// Outputs of several runs.
    pub repeats: Vec<Named<Repeat>>,
    /// What flags or code do to results.
    pub arithmetic: Vec<Named<Arithmetic>>,
    /// How it is built.
    pub builds: Vec<Named<Build>>,
    /// What the user states.
    pub claims: Option<Named<Claims>>,
    /// What was measured on GPUs before; the one of a device has its name.
    pub ceilings: Vec<(String, MeasuredCeilings)>,
    /// What could not be read, and what makes the answers less certain.
    pub warnings: Vec<Warning>,
}

impl Inputs {
    /// The program in commands: that of a report, whose arguments nobody knows, else a word for it.
    pub(crate) fn program(&self) -> String {
        let sources = self
            .diagnoses
            .iter()
            .flat_map(|named| &named.content.document.sources);
        let program = sources
            .filter_map(|source| source.program.as_deref())
            .next();
        program.map_or_else(
            || "PROGRAM".to_owned(),
            |program| format!("{} ...", quote(program)),
        )
    }

    /// The files in commands that ask the same of more.
    pub(crate) fn files(&self) -> String {
        let names = |list: Vec<&str>| {
            let words: Vec<String> = list.into_iter().map(path).collect();
            words.join(" ")
        };
        let kernels = self.diagnoses.iter().map(|named| named.name.as_str());
        let programs = self.programs.iter().map(|named| named.name.as_str());
        let benches = self.benches.iter().map(|named| named.name.as_str());
        let files = names(kernels.chain(programs).chain(benches).collect());
        if files.is_empty() {
            "FILE".to_owned()
        } else {
            files
        }
    }
}
