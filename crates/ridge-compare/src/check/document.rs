//! The answer of `ridge check`, as data: every renderer prints this and computes nothing.

use ridge_bench::protocol::Mode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Verdict;
use crate::bench::{Unmatched, Warning};

/// Name of the contract.
pub const SCHEMA: &str = "ridgepoint.check";
/// Its version.
pub const VERSION: u32 = 1;

/// Results against budgets and a baseline: what `ridge check --format json` writes.
///
/// Fields are only ever added within a version. Fractions are 0 to 1, times are nanoseconds, sizes are bytes, and what is
/// not known is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Check")]
pub struct Document {
    /// Always `ridgepoint.check`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The version of the command.
    pub tool_version: String,
    /// The worst outcome of all checks.
    pub outcome: Outcome,
    /// The file with the budgets; `null` where there is none.
    pub config: Option<String>,
    /// The baseline; `null` where there is none.
    pub baseline: Option<BaselineFacts>,
    /// The results, as they were named.
    pub results: Vec<String>,
    /// What was checked, worst first.
    pub checks: Vec<Check>,
    /// States that only the results or only the baseline have.
    pub unmatched: Vec<Unmatched>,
    /// What differs from the baseline beside the code.
    pub warnings: Vec<Warning>,
    /// How often specs were measured; 0 where only results were read.
    pub measured_runs: usize,
    /// Whether a new baseline was recorded.
    pub is_recorded: bool,
}

impl Document {
    /// Whether some bytes are meant to be such a document: a JSON object that names the contract near its start.
    #[must_use]
    pub fn looks_like(bytes: &[u8]) -> bool {
        let head = &bytes[..bytes.len().min(256)];
        let name = const { b"\"ridgepoint.check\"" };
        head.windows(name.len()).any(|part| part == name)
    }

    /// Reads a document, to write it in another form. Fields that this version does not know are skipped.
    ///
    /// # Errors
    /// In words, when the bytes are no whole document, or one of a later version.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let document: Self = serde_json::from_slice(bytes)
            .map_err(|error| format!("the document of `ridge check` is damaged: {error}"))?;
        if document.schema != SCHEMA || document.version > VERSION {
            return Err(format!(
                "it is a document of kind {:?} and version {}, and this command reads {SCHEMA:?} up to {VERSION}",
                document.schema, document.version
            ));
        }
        Ok(document)
    }
}

/// What is compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BaselineFacts {
    /// As it was asked for.
    pub name: String,
    /// The commit that it is of; `null` where nobody said.
    pub commit: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// How many results it has.
    pub runs: usize,
}

/// What a check comes to.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It holds.
    Pass,
    /// Nobody can tell yet.
    CannotTell,
    /// It does not hold.
    Broken,
    /// The measurement is not valid.
    Invalid,
}

impl Outcome {
    /// The word that people read.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::CannotTell => "cannot tell",
            Self::Broken => "broken",
            Self::Invalid => "invalid",
        }
    }
}

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The time counts at all.
    Validity,
    /// The time is that of the baseline, or less.
    Baseline,
    /// The time is within its budget.
    Time,
    /// As much of the lower bound is reached as was asked for.
    ShareOfBound,
    /// A thread has no more registers.
    Registers,
    /// A thread has no more local memory.
    LocalMemory,
    /// The theoretical occupancy is as high.
    Occupancy,
    /// A finding does not come back.
    Finding,
    /// Everything that was to be measured is there.
    Completeness,
}

impl Rule {
    /// All of them, in the order of their names in the schema.
    pub const ALL: [Self; 9] = [
        Self::Validity,
        Self::Baseline,
        Self::Time,
        Self::ShareOfBound,
        Self::Registers,
        Self::LocalMemory,
        Self::Occupancy,
        Self::Finding,
        Self::Completeness,
    ];

    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Validity => "validity",
            Self::Baseline => "baseline",
            Self::Time => "time",
            Self::ShareOfBound => "share-of-bound",
            Self::Registers => "registers",
            Self::LocalMemory => "local-memory",
            Self::Occupancy => "occupancy",
            Self::Finding => "finding",
            Self::Completeness => "completeness",
        }
    }

    /// What it asks, in a sentence.
    #[must_use]
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::Validity => {
                "A measured time has to be valid: clock held, outputs right, not below its lower bound."
            }
            Self::Baseline => {
                "A kernel must not be slower than the baseline, beyond what equal measurements differ by."
            }
            Self::Time => "A kernel must not take longer than its budget.",
            Self::ShareOfBound => "A kernel has to reach a share of its lower bound.",
            Self::Registers => "A thread must not need more registers than its budget.",
            Self::LocalMemory => {
                "A thread must not need more local memory than its budget, be it spilled registers or arrays."
            }
            Self::Occupancy => "The theoretical occupancy must not fall below its budget.",
            Self::Finding => "A finding that was mended must not come back.",
            Self::Completeness => {
                "Every run has to come to its end, and every state of the baseline has to be measured."
            }
        }
    }
}

/// One thing that was checked on one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// What is checked.
    pub rule: Rule,
    /// What it comes to.
    pub outcome: Outcome,
    /// The state or kernel; the pattern of the budget where no result has anything for it.
    pub subject: String,
    /// The mode; `null` for profiled kernels.
    pub mode: Option<Mode>,
    /// The verdict against the baseline; `null` for budgets.
    pub verdict: Option<Verdict>,
    /// What was found; of a time against the baseline, the ratio to it.
    pub value: Option<f64>,
    /// The lower end of its interval.
    pub lower: Option<f64>,
    /// The upper end.
    pub upper: Option<f64>,
    /// What is allowed.
    pub limit: Option<f64>,
    /// The unit of these: `ns`, `bytes`, `share`, `ratio`, `registers`; empty where there is none.
    pub unit: String,
    /// What was found, in a sentence.
    pub text: String,
    /// What to do.
    pub hint: Option<String>,
    /// The file that a mark in a review goes to: the configuration for budgets, else the result.
    pub file: Option<String>,
    /// The line there.
    pub line: Option<usize>,
    /// The place of the result in `results`.
    pub result: Option<usize>,
}
