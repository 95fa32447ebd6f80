//! The answer of `ridge checklist`, as data: every renderer prints this and computes nothing.
//!
//! Fields are only ever added within a version. Fractions are 0 to 1, absent is `null`.

use schemars::JsonSchema;
use serde::Serialize;

/// Name of the contract.
pub const SCHEMA: &str = "ridgepoint.checklist";
/// Its version.
pub const VERSION: u32 = 1;

/// Whether a port to the GPU is worth it and done well: what `ridge checklist --format json` writes.
///
/// Fields are only ever added within a version. Fractions are 0 to 1, and what is not known is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "Checklist")]
pub struct Document {
    /// Always `ridgepoint.checklist`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// What the answers rest on.
    pub sources: Vec<Source>,
    /// One for each question, in a fixed order.
    pub lines: Vec<Line>,
    /// What could not be read, and what makes the answers less certain.
    pub warnings: Vec<Warning>,
}

impl Document {
    /// How many lines have an answer.
    #[must_use]
    pub fn count(&self, answer: Answer) -> usize {
        let lines = self.lines.iter();
        lines.filter(|line| line.answer == answer).count()
    }
}

/// An input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Source {
    /// The file as it was named, or the option that gave it.
    pub name: String,
    /// What it holds.
    pub kind: SourceKind,
}

/// What an input holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// Kernels with counters: a report, a collection, or a saved diagnosis.
    Kernels,
    /// What a program did over time.
    Trace,
    /// A result of `ridge bench`.
    Bench,
    /// An output held against its reference: a result of `ridge numerics`.
    Comparison,
    /// Outputs of several runs: a result of `ridge numerics --repeat`.
    Repeat,
    /// What flags or code do to results: a result of `ridge numerics flags`.
    Arithmetic,
    /// How the program is built.
    Build,
    /// What the user states.
    Claims,
}

/// A part of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Whether it is worth a GPU.
    Worth,
    /// Whether kernels use it well.
    Kernels,
    /// Whether results are right.
    Results,
    /// Whether the figures can be trusted.
    Measurement,
}

/// The answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// It is so, as far as the inputs tell.
    Yes,
    /// It is not.
    No,
    /// The inputs do not tell.
    Unknown,
    /// The question does not arise, for the reason that is told.
    NotApplicable,
}

impl Answer {
    /// In words.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "unknown",
            Self::NotApplicable => "not applicable",
        }
    }
}

/// A question with its answer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Line {
    /// Its stable name, which `ridge explain` knows.
    pub id: &'static str,
    /// The part of the list that it is in.
    pub group: Group,
    /// The question.
    pub question: &'static str,
    /// The answer.
    pub answer: Answer,
    /// The share of the time that the remedy is expected to save: of all kernels of an input, or of the span of a trace. Of
    /// several inputs the largest; absent where the answer is not no, or nothing tells.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub saving_expected: Option<f64>,
    /// Why, in sentences; those that decide first.
    pub reasons: Vec<String>,
    /// The figures behind the answer.
    pub evidence: Vec<Evidence>,
    /// What to change where the answer is no, most likely first.
    pub actions: Vec<String>,
    /// Commands that settle the question, or tell more; empty where nothing is left to settle.
    pub next: Vec<String>,
}

/// A figure.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Evidence {
    /// What it is of: a metric as the profiler spells it, or how it was derived.
    pub metric: String,
    /// Its value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// What a healthy program shows.
    pub healthy: Option<f64>,
    /// The kernel, device or state that it is of.
    pub about: Option<String>,
    /// Where it comes from: a file, an option, or a data sheet.
    pub source: String,
}

/// What could not be read, or makes the answers less certain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Warning {
    /// Stable code.
    pub code: String,
    /// What was seen, why it matters, what to try.
    pub message: String,
    /// The input, as it was named.
    pub source: Option<String>,
}
