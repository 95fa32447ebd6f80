//! Whether an output is right, in a sentence, and what went wrong where it is not.

mod causes;

pub use causes::{Cause, CauseKind};

use schemars::JsonSchema;
use serde::Serialize;

use crate::format::Format;
use crate::measure::Measures;
use crate::tolerance::Tolerance;
use crate::view::View;
use crate::words::{count_of, figures, percent};
use causes::Evidence;

/// A reduction of more terms is no explanation.
const LONGEST_REDUCTION: f64 = 1_048_576.0;
/// A fair coin is further from even once in a million times.
const MANY_DEVIATIONS: f64 = 5.0;

/// Whether an output is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// All elements are within the tolerance, and the output is one that can be judged.
    Right,
    /// It is not what it has to be.
    Wrong,
    /// Neither can be said.
    CannotTell,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Verdict {
    /// Whether the output is right.
    pub outcome: Outcome,
    /// Why, in a sentence.
    pub sentence: String,
    /// What went wrong.
    pub causes: Vec<Cause>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
    /// What to do next, where something is missing for an answer.
    pub next: Option<String>,
}

impl Verdict {
    fn new(outcome: Outcome, sentence: impl Into<String>) -> Self {
        Self {
            outcome,
            sentence: sentence.into(),
            causes: Vec::new(),
            notes: Vec::new(),
            next: None,
        }
    }

    fn with_next(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }

    /// What can be said before any element is looked at; `None` where elements can be compared.
    #[must_use]
    pub fn before(reference: &View<'_>, output: &View<'_>) -> Option<Self> {
        if reference.shape() != output.shape() {
            return Some(of_shapes(reference.shape(), output.shape()));
        }
        if !can_judge(reference.format(), output.format()) {
            let sentence = format!(
                "wrong type: the output is {}, the reference {}",
                output.format(),
                reference.format()
            );
            let next = if output.format().is_float() && reference.format().is_float() {
                "give a reference of the output's type, or of one that holds all its numbers"
            } else {
                "give a reference of the output's type"
            };
            return Some(Self::new(Outcome::Wrong, sentence).with_next(next));
        }
        output.is_empty().then(|| {
            Self::new(
                Outcome::CannotTell,
                format!(
                    "nothing was compared: both tensors are empty (shape {:?})",
                    output.shape()
                ),
            )
            .with_next("check what wrote the files, or compare a case that has elements")
        })
    }

    /// What the measures say.
    #[must_use]
    pub fn of(
        reference: &View<'_>,
        output: &View<'_>,
        measures: &Measures,
        tolerance: &Tolerance,
    ) -> Self {
        if let Some(verdict) = degenerate(reference, output, measures) {
            return verdict;
        }
        let mut verdict = if measures.failing == 0 {
            right(measures, tolerance)
        } else {
            failing(reference, output, measures, tolerance)
        };
        verdict.notes = notes(measures);
        verdict
    }
}

/// Whether a reference of one format can judge an output of another: it has to hold all its numbers.
fn can_judge(reference: Format, output: Format) -> bool {
    if reference == output {
        return true;
    }
    match (reference.layout(), output.layout()) {
        (Some(r), Some(o)) => {
            r.sign >= o.sign
                && r.mantissa >= o.mantissa
                && reference.max_finite() >= output.max_finite()
                && r.min_exponent() - r.mantissa as i32 <= o.min_exponent() - o.mantissa as i32
        }
        _ => false,
    }
}

fn of_shapes(reference: &[u64], output: &[u64]) -> Verdict {
    let sentence = format!("wrong shape: the output has {output:?}, the reference {reference:?}");
    let elements = |shape: &[u64]| shape.iter().product::<u64>();
    let reversed: Vec<u64> = reference.iter().rev().copied().collect();
    let next = if output == reversed {
        "the axes are the other way round: transpose one of both before they are compared"
    } else if elements(reference) == elements(output) {
        "both have as many elements: reshape one of both if they mean the same"
    } else if is_broadcast(reference, output) {
        "NumPy would broadcast these shapes and compare one number with many, which hides mistakes: expand one of both on purpose"
    } else {
        "check which tensors were saved"
    };
    Verdict::new(Outcome::Wrong, sentence).with_next(next)
}

fn is_broadcast(one: &[u64], other: &[u64]) -> bool {
    one.iter()
        .rev()
        .zip(other.iter().rev())
        .all(|(a, b)| a == b || *a == 1 || *b == 1)
}

/// Outputs that are no answer whatever the tolerance is.
fn degenerate(reference: &View<'_>, output: &View<'_>, measures: &Measures) -> Option<Verdict> {
    let elements = measures.elements;
    let non_finite = &measures.non_finite;
    let nan = non_finite.nan_both + non_finite.nan_extra;
    let wrong = |sentence: String| Verdict::new(Outcome::Wrong, sentence);
    if non_finite.nan_both == elements {
        return Some(
            Verdict::new(
                Outcome::CannotTell,
                "the reference is NaN everywhere, and so is the output: nothing was tested",
            )
            .with_next("use inputs whose result is a number"),
        );
    }
    if nan == elements {
        let code = output.code(0).unwrap_or(0);
        let size = output.format().size_bytes();
        let is_pattern = code.to_le_bytes()[..size].iter().all(|byte| *byte == 0xff);
        let verdict = wrong(if is_pattern {
            "the output was not written: all of it holds the pattern 0xff, which is NaN".to_owned()
        } else {
            "the output is NaN everywhere".to_owned()
        });
        return Some(verdict.with_next(
            "check that the kernel ran (the error after the launch) and wrote this buffer, then its inputs for NaN",
        ));
    }
    // A single element is always constant.
    if !measures.is_output_constant || elements < 2 {
        return None;
    }
    let value = output.value(0).unwrap_or(f64::NAN);
    let expected = reference.value(0).unwrap_or(f64::NAN);
    if measures.is_reference_constant {
        if value == 0.0 && expected == 0.0 {
            return Some(
                Verdict::new(
                    Outcome::CannotTell,
                    "the reference is 0 everywhere, and so is the output: memory that was cleared and never written looks the same",
                )
                .with_next("use inputs whose result is not 0"),
            );
        }
        return None;
    }
    Some(if value == 0.0 {
        wrong("the output is 0 everywhere: not written, or written elsewhere".to_owned()).with_next(
            "check that the kernel ran (the error after the launch) and wrote this buffer",
        )
    } else {
        let code = output.code(0).unwrap_or(0);
        let size = output.format().size_bytes();
        let bytes = &code.to_le_bytes()[..size];
        let pattern = if size > 1 && bytes.iter().all(|byte| *byte == bytes[0]) {
            format!(
                " (0x{code:0width$x}, a fill pattern: nobody wrote it)",
                width = 2 * size
            )
        } else {
            String::new()
        };
        wrong(format!(
            "the output is {} everywhere{pattern}, and the reference is not",
            figures(value)
        ))
        .with_next("check that the kernel ran and wrote this buffer, and that indices change")
    })
}

/// The largest error in ULP, in words.
fn worst(measures: &Measures) -> String {
    /// Errors so many times those at the largest element come from an ULP that is small, near 0.
    const NEAR_ZERO: f64 = 8.0;
    match (&measures.ulps.peak, measures.ulps.at_largest) {
        (Some(peak), _) if peak.value == 0.0 => "all elements are equal".to_owned(),
        (Some(peak), Some(at_largest)) if peak.value > NEAR_ZERO * at_largest.max(1.0) => format!(
            "worst error {} ULP of the largest element, and {} of its own near 0",
            figures(at_largest),
            figures(peak.value)
        ),
        (Some(peak), _) => format!("worst {} ULP", figures(peak.value)),
        (None, _) => "no element is a finite number in both".to_owned(),
    }
}

fn right(measures: &Measures, tolerance: &Tolerance) -> Verdict {
    let sentence = if measures.equal == measures.elements {
        let how = if measures
            .ulps
            .peak
            .as_ref()
            .is_some_and(|peak| peak.value > 0.0)
        {
            "the reference, rounded"
        } else {
            "equal"
        };
        format!(
            "right: all {} {how}",
            count_of(measures.elements, "element is", "elements are")
        )
    } else {
        format!("right: within {}; {}", tolerance.name, worst(measures))
    };
    Verdict::new(Outcome::Right, sentence)
}

fn failing(
    reference: &View<'_>,
    output: &View<'_>,
    measures: &Measures,
    tolerance: &Tolerance,
) -> Verdict {
    let evidence = Evidence::new(reference, output, measures);
    let causes = evidence.causes();
    let share = measures.failing as f64 / measures.elements as f64;
    let wrong = if measures.failing < 10 {
        count_of(measures.failing, "element", "elements")
    } else {
        format!("{} of the elements", percent(share))
    };
    let is_structural = causes
        .iter()
        .any(|cause| cause.kind != CauseKind::LowerPrecision);
    let non_finite = &measures.non_finite;
    let has_mismatch = non_finite.nan_extra
        + non_finite.nan_missing
        + non_finite.infinite_extra
        + non_finite.infinite_missing
        + non_finite.infinite_sign
        > 0;
    if !is_structural
        && !has_mismatch
        && !tolerance.is_chosen
        && let Some(verdict) = undecided(measures, tolerance, &wrong)
    {
        return Verdict { causes, ..verdict };
    }
    let head = format!("not {}: {wrong} wrong", tolerance.name);
    let sentence = if causes.is_empty() {
        let excess = measures
            .worst
            .first()
            .and_then(|worst| worst.times_tolerance)
            .map_or_else(String::new, |times| {
                format!(", the worst by {} times the tolerance", figures(times))
            });
        format!("{head}{excess}; no pattern was recognised")
    } else {
        let texts: Vec<&str> = causes.iter().map(|cause| cause.text.as_str()).collect();
        format!("{head}; {}", texts.join("; "))
    };
    Verdict {
        causes,
        ..Verdict::new(Outcome::Wrong, sentence)
    }
}

/// Errors that rounding may have made, if more were known.
fn undecided(measures: &Measures, tolerance: &Tolerance, wrong: &str) -> Option<Verdict> {
    if tolerance.judge.certain.is_some() {
        return (measures.certainly_failing == 0).then(|| {
            Verdict::new(
                Outcome::CannotTell,
                format!(
                    "cannot tell: {wrong} beyond {} with random errors, but within the worst case; {}",
                    tolerance.name,
                    worst(measures)
                ),
            )
            .with_next("compare with the error of a plain kernel of the same formats, or give S = Σ|a||b| or a reference of more precision")
        });
    }
    let per_term = tolerance.per_term.filter(|per_term| *per_term > 0.0)?;
    let error = measures.absolute.as_ref()?.value;
    let length = (error / per_term).ceil().max(2.0);
    if length > LONGEST_REDUCTION {
        return None;
    }
    Some(
        Verdict::new(
            Outcome::CannotTell,
            format!(
                "cannot tell: {wrong} more than {} ULP off ({}); a sum of {} products or more would explain it",
                figures(tolerance.judge.tolerance.ulps),
                worst(measures),
                figures(length)
            ),
        )
        .with_next("say how it was computed: --k LENGTH for a reduction (and --accumulate FORMAT), --function NAME, or limits of your own"),
    )
}

fn notes(measures: &Measures) -> Vec<String> {
    let mut notes = Vec::new();
    let bias = &measures.bias;
    let unequal = bias.outward + bias.inward;
    let one_sided = |z: Option<f64>, share: f64| {
        z.is_some_and(|z| z.abs() > MANY_DEVIATIONS) && !(0.25..0.75).contains(&share)
    };
    let outward = bias.outward as f64 / unequal.max(1) as f64;
    let above = bias.above as f64 / (bias.above + bias.below).max(1) as f64;
    // Of a wrong output the cause is of interest, not the side.
    let is_right = measures.failing == 0;
    if is_right && one_sided(bias.z_outward, outward) {
        notes.push(format!(
            "errors go to one side: {} of the elements that differ are {} the reference; rounding to nearest goes to both sides alike",
            percent(outward.max(1.0 - outward)),
            if outward > 0.5 { "further from 0 than" } else { "nearer to 0 than" }
        ));
    } else if is_right && one_sided(bias.z_above, above) {
        notes.push(format!(
            "errors go to one side: {} of the elements that differ are {} the reference; rounding to nearest goes to both sides alike",
            percent(above.max(1.0 - above)),
            if above > 0.5 { "above" } else { "below" }
        ));
    }
    let non_finite = &measures.non_finite;
    if non_finite.nan_both > 0 {
        notes.push(format!(
            "{} NaN in both, which counts as equal",
            count_of(non_finite.nan_both, "element is", "elements are")
        ));
    }
    let overflow = non_finite.overflow_saturated + non_finite.overflow_converted;
    if overflow > 0 {
        notes.push(format!(
            "{} too large for the format of the output and {} there",
            count_of(
                overflow,
                "element of the reference is",
                "elements of the reference are"
            ),
            match (non_finite.overflow_saturated, non_finite.overflow_converted) {
                (_, 0) => "saturated",
                (0, _) => "infinite or NaN",
                _ => "partly saturated, partly infinite or NaN",
            }
        ));
    }
    if measures.subnormals.lost > 0 {
        notes.push(format!(
            "{} of {} are 0 in the output (flush to zero)",
            measures.subnormals.lost,
            count_of(
                measures.subnormals.reference,
                "subnormal number",
                "subnormal numbers"
            )
        ));
    }
    if measures.is_reference_constant && measures.elements > 1 {
        notes.push("the reference is one number everywhere, which tests little".to_owned());
    }
    notes
}

#[cfg(test)]
mod tests;
