//! What became of a practice round, as data.

use schemars::JsonSchema;
use serde::Serialize;

use crate::question::Outcome;

/// Name of the contract.
pub const SCHEMA: &str = "ridgepoint.learn";
/// Its version.
pub const VERSION: u32 = 1;

/// A practice round: what `ridge learn --quiz ANSWERS --format json` writes.
///
/// Fields are only ever added within a version, and what is not known is `null`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "Practice round")]
pub struct Document {
    /// Always `ridgepoint.learn`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The lesson; absent for a round with a question of each.
    pub lesson: Option<String>,
    /// The device that questions are about.
    pub device: String,
    /// The seed that draws the same questions again.
    pub seed: u64,
    /// Questions of the whole round.
    pub questions: usize,
    /// Those that were answered.
    pub asked: usize,
    /// Those that were answered right.
    pub right: usize,
    /// Whether all were answered.
    pub is_complete: bool,
    /// Whether all were answered, and four of five right.
    pub is_passed: bool,
    /// The answers, in order.
    pub answers: Vec<Answered>,
}

/// A question that was answered.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Answered {
    /// The lesson that it is about.
    pub lesson: String,
    /// The kind of question.
    pub kind: String,
    /// What was known.
    pub given: Vec<String>,
    /// What was asked.
    pub ask: String,
    /// The choices, from a on; empty where a number was asked for.
    pub choices: Vec<String>,
    /// What was answered, as it was typed.
    pub answer: String,
    /// What that is worth.
    pub outcome: Outcome,
    /// The mistake that it looks like.
    pub remark: Option<String>,
    /// The right answer in words.
    pub right: String,
    /// The right number; absent for choices.
    pub right_value: Option<f64>,
    /// The unit of the right number; absent for choices.
    pub unit: Option<String>,
    /// How far off a number may be, as a share; 0 where it has to be exact, absent for choices.
    pub tolerance: Option<f64>,
    /// How the right answer follows.
    pub calculation: Vec<String>,
}
