//! The answer of `ridge numerics REF OUT`, as data: every renderer prints this and computes nothing.

use schemars::JsonSchema;
use serde::Serialize;

use crate::measure::{Limits, Magnitudes, MeasureError, Measures, measure};
use crate::tolerance::{Computation, Tolerance, ToleranceError};
use crate::verdict::Verdict;
use crate::view::View;

/// Name of the contract.
pub const SCHEMA: &str = "ridgepoint.numerics";
/// Its version.
pub const VERSION: u32 = 1;

/// How an output compares with its reference: what `ridge numerics --format json` writes.
///
/// Fields are only ever added within a version. Fractions are 0 to 1, ULP are those of the output's format, absolute errors have the
/// unit of the elements, and what is not known is `null`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "Numerics")]
pub struct Document {
    /// Always `ridgepoint.numerics`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// What the output has to be.
    pub reference: Side,
    /// What it is.
    pub output: Side,
    /// Whether it is right.
    pub verdict: Verdict,
    /// What elements may differ by; `null` where no element was compared.
    pub tolerance: Option<Allowed>,
    /// How both differ; `null` where no element was compared.
    pub measures: Option<Measures>,
}

/// One of both tensors.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Side {
    /// Where it comes from, as it was named.
    pub name: String,
    /// The format of its elements.
    pub format: String,
    /// Lengths of its axes.
    pub shape: Vec<u64>,
}

/// What elements may differ by: the sum of the limits.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Allowed {
    /// What it is called in a sentence.
    pub name: String,
    /// The same for each element.
    pub absolute: f64,
    /// As a share of the reference.
    pub relative: f64,
    /// In ULP of the output's format.
    pub ulps: f64,
    /// As a share of Σ|a||b|.
    pub magnitude: f64,
    /// Whether 0 is right where the reference is a subnormal number.
    pub accepts_flush_to_zero: bool,
    /// Why, in whole sentences.
    pub reasons: Vec<String>,
}

impl Side {
    fn new(name: &str, view: &View<'_>) -> Self {
        Self {
            name: name.to_owned(),
            format: view.format().to_string(),
            shape: view.shape().to_vec(),
        }
    }
}

impl Allowed {
    fn new(tolerance: &Tolerance) -> Self {
        let Limits {
            absolute,
            relative,
            ulps,
            magnitude,
        } = tolerance.judge.tolerance;
        Self {
            name: tolerance.name.clone(),
            absolute,
            relative,
            ulps,
            magnitude,
            accepts_flush_to_zero: tolerance.judge.accepts_flush_to_zero,
            reasons: tolerance.reasons.clone(),
        }
    }
}

/// So many elements tell the size of the reference before all are read.
const LOOKED_AT: u64 = 1 << 16;

/// The root mean square of a reference, from elements spread over it.
fn root_mean_square(view: &View<'_>) -> Option<f64> {
    let elements = view.len();
    let count = elements.min(LOOKED_AT);
    let values: Vec<f64> = (0..count)
        .map(|place| (u128::from(place) * u128::from(elements) / u128::from(count)) as u64)
        .filter_map(|element| view.value(element))
        .filter(|value| value.is_finite())
        .collect();
    let largest = values
        .iter()
        .fold(0.0, |most: f64, value| most.max(value.abs()));
    if values.is_empty() || largest == 0.0 {
        return None;
    }
    let squares: f64 = values
        .iter()
        .map(|value| (value / largest) * (value / largest))
        .sum();
    Some(largest * (squares / values.len() as f64).sqrt())
}

/// Compares an output with its reference.
///
/// # Errors
/// When what is said of the computation does not fit the output.
pub fn compare(
    names: [&str; 2],
    reference: &View<'_>,
    output: &View<'_>,
    magnitudes: Option<&Magnitudes<'_>>,
    computation: &Computation,
    threads: usize,
) -> Result<Document, ToleranceError> {
    let computation = Computation {
        has_magnitudes: magnitudes.is_some(),
        is_reference_rounded: reference.format() == output.format(),
        reference_rms: root_mean_square(reference),
        ..*computation
    };
    // What cannot be compared needs no tolerance.
    let tolerance = match Verdict::before(reference, output) {
        Some(_) => Tolerance::new(output.format(), &Computation::default())?,
        None => Tolerance::new(output.format(), &computation)?,
    };
    hold(names, reference, output, magnitudes, &tolerance, threads)
}

/// Holds an output against its reference with a tolerance.
///
/// # Errors
/// When there are not as many magnitudes as elements.
pub fn hold(
    names: [&str; 2],
    reference: &View<'_>,
    output: &View<'_>,
    magnitudes: Option<&Magnitudes<'_>>,
    tolerance: &Tolerance,
    threads: usize,
) -> Result<Document, ToleranceError> {
    let document = |verdict, tolerance: Option<&Tolerance>, measures| Document {
        schema: SCHEMA,
        version: VERSION,
        reference: Side::new(names[0], reference),
        output: Side::new(names[1], output),
        verdict,
        tolerance: tolerance.map(Allowed::new),
        measures,
    };
    if let Some(verdict) = Verdict::before(reference, output) {
        return Ok(document(verdict, None, None));
    }
    let measures = match measure(reference, output, magnitudes, &tolerance.judge, threads) {
        Ok(measures) => measures,
        // Shapes are the same here, so that this is about the magnitudes.
        Err(MeasureError::Shapes { .. } | MeasureError::Magnitudes { .. }) => {
            return Err(ToleranceError::Magnitudes);
        }
    };
    let verdict = Verdict::of(reference, output, &measures, tolerance);
    Ok(document(verdict, Some(tolerance), Some(measures)))
}
