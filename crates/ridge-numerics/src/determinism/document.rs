//! The answer about runs of one program, as data: every renderer prints this and computes nothing.
//!
//! Fields are only ever added within a version. Absent is `null`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Cause, Variation, missed_share};
use crate::format::Format;

/// Name of the contract.
pub const SCHEMA: &str = "ridgepoint.numerics-repeat";
/// Its version.
pub const VERSION: u32 = 1;

/// Whether a program gives the same output every time: what `ridge numerics --repeat N -- CMD` writes with `--format json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "Runs of one program")]
pub struct Document {
    /// Always `ridgepoint.numerics-repeat`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The version of the command.
    pub tool_version: String,
    /// The program and its arguments, as they were given.
    pub command: Vec<String>,
    /// How many runs ended well and gave an output.
    pub runs: u64,
    /// How many runs were asked for.
    pub asked: u64,
    /// Bytes of the output of the first run.
    pub bytes: u64,
    /// How many different outputs there were.
    pub distinct: u64,
    /// How many runs gave each of them, in the order in which they were first seen.
    pub counts: Vec<u64>,
    /// Whether all were the same, bit by bit.
    pub is_identical: bool,
    /// Where all were the same: the largest share of runs that could differ and yet not have been seen, at 95 % confidence.
    pub could_be_missed: Option<f64>,
    /// The answer in a sentence.
    pub sentence: String,
    /// What differs, for each tensor of the outputs; empty where nothing does, or where the outputs hold no tensors.
    pub tensors: Vec<TensorVariation>,
    /// What is likely behind it; that of the tensor where it is worst.
    pub cause: CauseName,
    /// What to do, most useful first.
    pub actions: Vec<String>,
    /// Commands that tell more.
    pub commands: Vec<String>,
}

/// What is likely behind elements that vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CauseName {
    /// Nothing varies.
    None,
    /// Sums in another order: differences of the size of rounding.
    RoundingOrder,
    /// The same elements in other places.
    ElementOrder,
    /// A value read before or after it was written.
    Race,
    /// Memory that nothing was written to.
    UninitializedMemory,
    /// The runs did not compute the same.
    OtherInputs,
    /// None of these fits, or the outputs cannot be compared element by element.
    Unclear,
}

impl From<Cause> for CauseName {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::None => Self::None,
            Cause::Rounding => Self::RoundingOrder,
            Cause::Order => Self::ElementOrder,
            Cause::Race => Self::Race,
            Cause::Uninitialized => Self::UninitializedMemory,
            Cause::Inputs => Self::OtherInputs,
            Cause::Unclear => Self::Unclear,
        }
    }
}

impl CauseName {
    /// The cause in words, after "likely".
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::RoundingOrder => {
                "sums in another order: atomics, or parts of a sum added as they come"
            }
            Self::ElementOrder => "threads that take the next free place of the output",
            Self::Race => "a race: something is read before or while it is written",
            Self::UninitializedMemory => "memory that is read before it is written",
            Self::OtherInputs => "other inputs in each run: a seed or a clock",
            Self::Unclear => "not clear from the outputs",
        }
    }
}

/// What differs in one tensor.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TensorVariation {
    /// Its name in the file; `null` where there is only one.
    pub name: Option<String>,
    /// The format of its elements.
    pub format: String,
    /// Its shape.
    pub shape: Vec<u64>,
    /// Elements, of complex ones their parts.
    pub elements: u64,
    /// Elements that are not the same in all runs.
    pub varying: u64,
    /// Stretches of neighbours that vary.
    pub stretches: u64,
    /// The index of the first that varies.
    pub first: Vec<u64>,
    /// The median of the steps between numbers by which they vary, as an upper bound.
    pub median_steps: u64,
    /// The most steps.
    pub max_steps: u64,
    /// The largest spread over the larger of the element's size and the root mean square of the output.
    pub max_relative: f64,
    /// The largest distance of a run from the first, over the length of the first; `null` where that is 0.
    pub relative_l2: Option<f64>,
    /// Varying elements that are NaN or infinite in some runs only.
    pub not_finite: u64,
    /// Varying elements that are subnormal or huge in some run.
    pub implausible: u64,
    /// Whether the same elements stand in another order.
    pub is_reordered: bool,
    /// The element that varies most.
    pub worst: Option<WorstElement>,
    /// What is likely behind it.
    pub cause: CauseName,
}

/// The element that varies most.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WorstElement {
    /// Its index in each dimension.
    pub index: Vec<u64>,
    /// The smallest value; `null` where no run has a finite one.
    pub lowest: Option<f64>,
    /// The largest value; `null` where no run has a finite one.
    pub highest: Option<f64>,
    /// Steps from one to the other; `null` where it is NaN in some run.
    pub steps: Option<u64>,
}

/// The index in each dimension of an element in C order.
fn place(shape: &[u64], index: u64) -> Vec<u64> {
    let mut rest = index;
    let mut place: Vec<u64> = shape
        .iter()
        .rev()
        .map(|size| {
            let size = (*size).max(1);
            let own = rest % size;
            rest /= size;
            own
        })
        .collect();
    place.reverse();
    place
}

impl TensorVariation {
    /// What differs in a tensor, with its shape, in which a complex element is one place.
    #[must_use]
    pub fn of(name: Option<String>, format: Format, shape: &[u64], variation: &Variation) -> Self {
        let mut sizes = shape.to_vec();
        if format.is_complex() {
            sizes.push(2);
        }
        let place = |index| place(&sizes, index);
        let finite = |value: f64| value.is_finite().then_some(value);
        Self {
            name,
            format: format.name().to_owned(),
            shape: shape.to_vec(),
            elements: variation.elements,
            varying: variation.varying,
            stretches: variation.stretches,
            first: variation.first.map(place).unwrap_or_default(),
            median_steps: variation.median_steps,
            max_steps: variation.max_steps,
            max_relative: variation.max_relative,
            relative_l2: finite(variation.relative_l2),
            not_finite: variation.not_finite,
            implausible: variation.implausible,
            is_reordered: variation.is_reordered,
            worst: variation.worst.map(|worst| WorstElement {
                index: place(worst.index),
                lowest: finite(worst.lowest),
                highest: finite(worst.highest),
                steps: worst.steps,
            }),
            cause: variation.cause.into(),
        }
    }
}

/// What a document is made from.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The program and its arguments, as they were given.
    pub command: Vec<String>,
    /// The same, quoted for a shell.
    pub command_line: String,
    /// Runs that were asked for.
    pub asked: usize,
    /// Bytes of the first output.
    pub bytes: u64,
    /// How many runs gave each different output.
    pub counts: Vec<u64>,
    /// What differs, for each tensor; `None` where the outputs cannot be compared element by element, with the reason.
    pub tensors: Result<Vec<TensorVariation>, String>,
}

impl Document {
    /// Puts the answer together.
    #[must_use]
    pub fn of(outcome: Outcome, tool_version: &str) -> Self {
        let runs: u64 = outcome.counts.iter().sum();
        let is_identical = outcome.counts.len() == 1;
        let could_be_missed =
            is_identical.then(|| missed_share(usize::try_from(runs).unwrap_or(usize::MAX)));
        // The gravest one, where tensors differ.
        let grave = |cause: &CauseName| match cause {
            CauseName::None => 0,
            CauseName::RoundingOrder => 1,
            CauseName::ElementOrder => 2,
            CauseName::Unclear => 3,
            CauseName::OtherInputs => 4,
            CauseName::Race => 5,
            CauseName::UninitializedMemory => 6,
        };
        let cause = if is_identical {
            CauseName::None
        } else {
            match &outcome.tensors {
                Ok(tensors) => tensors
                    .iter()
                    .map(|tensor| tensor.cause)
                    .max_by_key(grave)
                    .filter(|cause| *cause != CauseName::None)
                    .unwrap_or(CauseName::Unclear),
                Err(_) => CauseName::Unclear,
            }
        };
        let sentence = sentence(&outcome, runs, could_be_missed);
        let (actions, commands) = advice(cause, &outcome.command_line);
        Self {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            tool_version: tool_version.to_owned(),
            command: outcome.command,
            runs,
            asked: outcome.asked as u64,
            bytes: outcome.bytes,
            distinct: outcome.counts.len() as u64,
            counts: outcome.counts,
            is_identical,
            could_be_missed,
            sentence,
            tensors: outcome
                .tensors
                .unwrap_or_default()
                .into_iter()
                .filter(|tensor| tensor.varying > 0)
                .collect(),
            cause,
            actions,
            commands,
        }
    }
}

fn sentence(outcome: &Outcome, runs: u64, could_be_missed: Option<f64>) -> String {
    if let Some(share) = could_be_missed {
        return format!(
            "bit-identical in {runs} runs; a difference that shows in up to {:.0} % of runs may have been missed (at 95 % confidence)",
            100.0 * share
        );
    }
    let distinct = outcome.counts.len();
    match &outcome.tensors {
        Err(reason) => format!("{distinct} different outputs in {runs} runs; {reason}"),
        Ok(tensors) => {
            let elements: u64 = tensors.iter().map(|tensor| tensor.elements).sum();
            let varying: u64 = tensors.iter().map(|tensor| tensor.varying).sum();
            if varying == 0 {
                return format!(
                    "{distinct} different files in {runs} runs, and every element of their tensors is the same: heads or names differ"
                );
            }
            format!(
                "{distinct} different outputs in {runs} runs: {varying} of {elements} elements vary"
            )
        }
    }
}

fn advice(cause: CauseName, command: &str) -> (Vec<String>, Vec<String>) {
    let sanitize = |tool: &str| format!("ridge sanitize --tool {tool} -- {command}");
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    match cause {
        CauseName::None => (Vec::new(), Vec::new()),
        CauseName::RoundingOrder => (
            texts(&[
                "if the last bits may vary, compare outputs with a tolerance and not bit by bit",
                "else replace floating-point atomics: one sum for each block, added up by a second kernel in a fixed order",
                "libraries: cuBLAS with CUBLAS_WORKSPACE_CONFIG=:4096:8, PyTorch with torch.use_deterministic_algorithms(True)",
            ]),
            vec!["ridge explain determinism".to_owned()],
        ),
        CauseName::ElementOrder => (
            texts(&[
                "if the order of the elements means nothing, sort before comparing",
                "else give each element its place by a prefix sum instead of an atomic counter",
            ]),
            vec!["ridge explain determinism".to_owned()],
        ),
        CauseName::Race => (
            texts(&[
                "look for shared memory that is read without a barrier, and for blocks that read what other blocks write in the same launch",
                "racecheck sees shared memory only: for global memory, run with one block less and see whether the places move",
            ]),
            vec![sanitize("racecheck"), sanitize("synccheck")],
        ),
        CauseName::UninitializedMemory => (
            texts(&[
                "fill outputs and scratch memory before the run, or compute them all: a tail that no thread writes is the usual place",
            ]),
            vec![sanitize("initcheck"), sanitize("memcheck")],
        ),
        CauseName::OtherInputs => (
            texts(&["fix seeds and inputs, so that every run computes the same, and repeat"]),
            Vec::new(),
        ),
        CauseName::Unclear => (
            texts(&["let the tools look for races and uninitialized memory"]),
            vec![sanitize("racecheck"), sanitize("initcheck")],
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::determinism::compare;
    use crate::format::Endian;

    fn outcome(counts: &[u64], tensors: Result<Vec<TensorVariation>, String>) -> Document {
        let outcome = Outcome {
            command: vec!["./app".to_owned()],
            command_line: "./app".to_owned(),
            asked: 10,
            bytes: 8,
            counts: counts.to_vec(),
            tensors,
        };
        Document::of(outcome, "0")
    }

    #[test]
    fn equal_outputs_say_what_they_do_not_prove() {
        let document = outcome(&[10], Ok(Vec::new()));
        assert!(document.is_identical);
        assert_eq!(
            document.sentence,
            "bit-identical in 10 runs; a difference that shows in up to 28 % of runs may have been missed (at 95 % confidence)"
        );
        assert_eq!(document.cause, CauseName::None);
        assert!(document.actions.is_empty());
    }

    #[test]
    fn the_gravest_cause_is_told_with_its_tool() {
        let bytes = |value: f32| value.to_le_bytes().to_vec();
        let of = |a: f32, b: f32| {
            let (a, b) = (bytes(a), bytes(b));
            let variation = compare(&[&a, &b], Format::F32, Endian::Little).unwrap();
            TensorVariation::of(None, Format::F32, &[1], &variation)
        };
        let document = outcome(
            &[9, 1],
            Ok(vec![
                of(1.0, 1.0 + f32::EPSILON),
                of(1.0, f32::NAN),
                of(2.0, 2.0),
            ]),
        );
        assert_eq!(document.cause, CauseName::UninitializedMemory);
        assert_eq!(document.tensors.len(), 2);
        assert_eq!(
            document.commands[0],
            "ridge sanitize --tool initcheck -- ./app"
        );
        assert_eq!(
            document.sentence,
            "2 different outputs in 10 runs: 2 of 3 elements vary"
        );
    }

    #[test]
    fn outputs_without_tensors_are_bytes() {
        let document = outcome(&[5, 5], Err("they hold no tensors".to_owned()));
        assert_eq!(document.cause, CauseName::Unclear);
        assert!(document.sentence.ends_with("they hold no tensors"));
    }
}
