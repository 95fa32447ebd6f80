//! The measures as they are reported.

use schemars::JsonSchema;
use serde::Serialize;

use super::failures::{AXES, Axes, RESIDUES, Ranked};
use super::partial::{Partial, Task};
use super::sums::Sums;
use crate::view::View;

/// A value of an element: a number, or what JSON has no number for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Number {
    /// A finite number.
    Finite(f64),
    /// None.
    Special(Special),
}

/// A value that is no finite number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub enum Special {
    /// Not a number.
    #[serde(rename = "NaN")]
    Nan,
    /// Infinity.
    #[serde(rename = "Infinity")]
    Infinity,
    /// Infinity below 0.
    #[serde(rename = "-Infinity")]
    NegativeInfinity,
}

impl Number {
    /// The number, if it is one.
    #[must_use]
    pub const fn finite(self) -> Option<f64> {
        match self {
            Self::Finite(value) => Some(value),
            Self::Special(_) => None,
        }
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        if value.is_nan() {
            Self::Special(Special::Nan)
        } else if value.is_finite() {
            Self::Finite(value)
        } else if value > 0.0 {
            Self::Special(Special::Infinity)
        } else {
            Self::Special(Special::NegativeInfinity)
        }
    }
}

/// How an output differs from its reference.
///
/// Counts are of elements. Absolute errors have the unit of the elements, ULP are those of the output's format, the rest are
/// fractions.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Measures {
    /// Elements of each tensor.
    pub elements: u64,
    /// Pairs of finite numbers: norms and errors are of those.
    pub compared: u64,
    /// Elements that are equal; where the reference is finer than the output, those that are the reference rounded to nearest.
    pub equal: u64,
    /// Elements beyond the tolerance.
    pub failing: u64,
    /// Those of them that are wrong beyond doubt.
    pub certainly_failing: u64,
    /// The largest absolute error.
    pub absolute: Option<Peak>,
    /// The largest error as a share of the larger of both magnitudes.
    pub relative: Option<Peak>,
    /// Magnitudes count as this at least in relative errors.
    pub relative_floor: f64,
    /// Errors in ULP.
    pub ulps: Ulps,
    /// The Euclidean norm of the errors over that of the reference; `null` where the reference is 0.
    pub relative_l2: Option<f64>,
    /// The largest absolute error over the largest magnitude of the reference.
    pub max_norm_relative: Option<f64>,
    /// 1 less the cosine of the angle between both tensors; `null` where one is 0.
    pub one_minus_cosine: Option<f64>,
    /// The largest finite magnitude of the reference.
    pub largest_reference: f64,
    /// That of the output.
    pub largest_output: f64,
    /// The root mean square of the reference.
    pub reference_rms: Option<f64>,
    /// Elements whose sign is the opposite of that of the reference.
    pub sign_flips: u64,
    /// NaN and infinity.
    pub non_finite: NonFinite,
    /// Subnormal numbers.
    pub subnormals: Subnormals,
    /// Whether errors go to one side.
    pub bias: Bias,
    /// Whether all elements of the reference are one number.
    pub is_reference_constant: bool,
    /// Whether all elements of the output are one number.
    pub is_output_constant: bool,
    /// The factor between both tensors.
    pub factor: Option<Factor>,
    /// The constant between both tensors.
    pub offset: Option<Offset>,
    /// The first elements beyond the tolerance.
    pub first: Vec<Element>,
    /// The worst elements beyond the tolerance; without any, the one with the largest error in ULP.
    pub worst: Vec<Element>,
    /// Where elements beyond the tolerance lie; empty without any.
    pub places: Vec<AxisPlaces>,
    /// Errors over the tensor as a matrix.
    pub map: ErrorMap,
    /// Some elements beyond the tolerance, to try explanations on.
    #[serde(skip)]
    pub(crate) sample: Vec<u64>,
}

/// The largest of some errors.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Peak {
    /// The error.
    pub value: f64,
    /// The first element that has it.
    pub index: Vec<u64>,
}

/// Errors in ULP of the output.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Ulps {
    /// The largest.
    pub peak: Option<Peak>,
    /// Half of the elements have no larger error; right within `resolution`.
    pub p50: Option<f64>,
    /// Of 99 % of the elements.
    pub p99: Option<f64>,
    /// How much larger than said a quantile may be, as a share of it; whole numbers up to 32 are exact.
    pub resolution: f64,
    /// The largest absolute error in ULP of the largest element of the reference: near 0 an ULP is so small that errors of other
    /// elements' size are many.
    pub at_largest: Option<f64>,
    /// Elements by error.
    pub histogram: Vec<SizeBin>,
}

/// Elements whose errors are of one size.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SizeBin {
    /// Errors up to this, and beyond the bound of the bin before.
    pub up_to: f64,
    /// Elements.
    pub count: u64,
}

/// NaN and infinity, by element.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NonFinite {
    /// NaN in both.
    pub nan_both: u64,
    /// NaN in the output alone.
    pub nan_extra: u64,
    /// NaN in the reference alone.
    pub nan_missing: u64,
    /// The same infinity in both.
    pub infinite_both: u64,
    /// Infinity in the output where the reference is finite and not too large for the output's format.
    pub infinite_extra: u64,
    /// Infinity in the reference where the output is finite.
    pub infinite_missing: u64,
    /// Infinities of opposite signs.
    pub infinite_sign: u64,
    /// The reference is too large for the output's format, and the output is that format's largest number.
    pub overflow_saturated: u64,
    /// The reference is too large for the output's format, and the output is infinite, or NaN where the format has no infinity.
    pub overflow_converted: u64,
}

/// Numbers below the smallest normal one of the output's format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Subnormals {
    /// Those of the reference.
    pub reference: u64,
    /// Those of them that are 0 in the output.
    pub lost: u64,
}

/// Whether errors go to one side, as those of rounding to nearest do not.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Bias {
    /// The mean error, output less reference.
    pub mean_error: Option<f64>,
    /// How far the mean of so many errors of this spread is from 0 by chance.
    pub standard_error: Option<f64>,
    /// Elements above their reference.
    pub above: u64,
    /// Elements below it.
    pub below: u64,
    /// Elements further from 0 than their reference.
    pub outward: u64,
    /// Elements nearer to 0 than it.
    pub inward: u64,
    /// (above - below) / √(above + below): of a fair coin within ±3 but for one case in 370.
    pub z_above: Option<f64>,
    /// (outward - inward) / √(outward + inward).
    pub z_outward: Option<f64>,
}

/// A factor between both tensors, by least squares.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Factor {
    /// Output over reference.
    pub value: f64,
    /// The share of the output's squares that it does not explain.
    pub left: f64,
}

/// A constant between both tensors, by least squares.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Offset {
    /// Output less reference.
    pub value: f64,
    /// The share of the errors' squares that it does not explain.
    pub left: f64,
}

/// An element of both tensors.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Element {
    /// Its place on each axis.
    pub index: Vec<u64>,
    /// What it has to be.
    pub reference: Number,
    /// What it is.
    pub output: Number,
    /// The error in ULP; `null` where one of both is no finite number.
    pub ulps: Option<f64>,
    /// The error over the tolerance; `null` where one of both is no finite number, or there is no tolerance.
    pub times_tolerance: Option<f64>,
    /// The elements before and after it on the last axis.
    pub neighbours: Vec<Neighbour>,
}

/// An element beside another one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Neighbour {
    /// How far it is, on the last axis.
    pub offset: i8,
    /// What it has to be.
    pub reference: Number,
    /// What it is.
    pub output: Number,
}

/// Where on an axis the elements beyond the tolerance lie.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AxisPlaces {
    /// The axis; -1 is the last. Axes before the last four count as one.
    pub axis: i8,
    /// Its length.
    pub length: u64,
    /// The lowest place.
    pub lowest: u64,
    /// The highest place.
    pub highest: u64,
    /// Elements by place modulo 128, from which those modulo 64, 32, 16 and 8 follow.
    pub modulo_128: Vec<u64>,
}

/// Errors over the tensor as a matrix: the last axis is a row.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ErrorMap {
    /// Rows of the tensor: all axes but the last together.
    pub rows: u64,
    /// Columns of the tensor.
    pub columns: u64,
    /// Rows of cells.
    pub row_cells: u64,
    /// Columns of cells.
    pub column_cells: u64,
    /// The share of the elements whose errors in ULP are in the cells; failing elements are counted all.
    pub looked_at: f64,
    /// The cells, row by row.
    pub cells: Vec<Cell>,
}

/// A cell of the map.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Cell {
    /// The share of its elements that are beyond the tolerance.
    pub failing: f64,
    /// The largest error in ULP; `null` where one is not finite.
    pub peak_ulps: Option<f64>,
}

fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}

/// How far from even two counts are, in standard deviations.
fn z(one: u64, other: u64) -> Option<f64> {
    let total = one + other;
    (total > 0).then(|| (one as f64 - other as f64) / (total as f64).sqrt())
}

impl Measures {
    pub(super) fn new(task: &Task<'_>, partial: Partial, sums: &Sums) -> Self {
        let counts = partial.counts;
        let view = task.output;
        let peak = |peak: super::partial::Peak| {
            (counts.compared > 0).then(|| Peak {
                value: peak.value,
                index: view.index(peak.element),
            })
        };
        let largest_error = partial.peaks.absolute.value;
        let mean = sums.mean_error();
        let unequal = counts.compared - counts.same;
        let below = unequal - counts.above;
        let inward = unequal - counts.mirrored - counts.outward;
        let failures = partial.failures;
        let element = |ranked: &Ranked| Element::new(task, ranked.element);
        let worst = if failures.worst.is_empty() && counts.compared > 0 {
            vec![Element::new(task, partial.peaks.ulps.element)]
        } else {
            failures.worst.iter().map(element).collect()
        };
        Self {
            elements: task.elements,
            compared: counts.compared,
            equal: counts.equal,
            failing: failures.count,
            certainly_failing: counts.certain,
            absolute: peak(partial.peaks.absolute),
            relative: peak(partial.peaks.relative),
            relative_floor: task.judge.relative_floor,
            ulps: Ulps {
                peak: peak(partial.peaks.ulps),
                p50: partial.histogram.quantile(0.5),
                p99: partial.histogram.quantile(0.99),
                resolution: 1.0 / 16.0,
                at_largest: (counts.compared > 0)
                    .then(|| largest_error / view.format().ulp_of(partial.largest_reference)),
                histogram: partial
                    .histogram
                    .octaves()
                    .into_iter()
                    .map(|(up_to, count)| SizeBin { up_to, count })
                    .collect(),
            },
            relative_l2: sums.relative_l2().and_then(finite),
            max_norm_relative: (partial.largest_reference > 0.0)
                .then(|| largest_error / partial.largest_reference)
                .and_then(finite),
            one_minus_cosine: sums.one_minus_cosine().and_then(finite),
            largest_reference: partial.largest_reference,
            largest_output: partial.largest_output,
            reference_rms: sums.root_mean_square().and_then(finite),
            sign_flips: counts.sign_flips,
            non_finite: NonFinite {
                nan_both: counts.nan_both,
                nan_extra: counts.nan_extra,
                nan_missing: counts.nan_missing,
                infinite_both: counts.infinite_both,
                infinite_extra: counts.infinite_extra,
                infinite_missing: counts.infinite_missing,
                infinite_sign: counts.infinite_sign,
                overflow_saturated: counts.overflow_saturated,
                overflow_converted: counts.overflow_converted,
            },
            subnormals: Subnormals {
                reference: counts.subnormal,
                lost: counts.subnormal_lost,
            },
            bias: Bias {
                mean_error: mean.map(|(mean, _)| mean).and_then(finite),
                standard_error: mean.map(|(_, error)| error).and_then(finite),
                above: counts.above,
                below,
                outward: counts.outward,
                inward,
                z_above: z(counts.above, below),
                z_outward: z(counts.outward, inward),
            },
            is_reference_constant: partial.is_reference_constant,
            is_output_constant: partial.is_output_constant,
            factor: sums.factor().map(|(value, left)| Factor { value, left }),
            offset: sums.offset().map(|(value, left)| Offset { value, left }),
            first: failures
                .first
                .iter()
                .map(|element| Element::new(task, *element))
                .collect(),
            worst,
            places: places(&task.axes, &failures),
            map: map(task, &failures, &partial.map, partial.mapped),
            sample: failures.sample(),
        }
    }
}

impl Element {
    fn new(task: &Task<'_>, element: u64) -> Self {
        let value = |view: &View<'_>, element: u64| view.value(element).unwrap_or(f64::NAN);
        let (r, x) = (value(task.reference, element), value(task.output, element));
        let format = task.output.format();
        let is_finite = r.is_finite() && x.is_finite();
        let ulp = format.ulp_of(r);
        let codes = (
            task.reference.code(element).unwrap_or(0),
            task.output.code(element).unwrap_or(0),
        );
        let ulps = if task.reference.format() == format {
            format.ordered(codes.0).abs_diff(format.ordered(codes.1)) as f64
        } else {
            (x - r).abs() / ulp
        };
        let magnitude = task
            .magnitudes
            .as_ref()
            .map_or(0.0, |magnitudes| magnitudes.value(element));
        let tolerance = task.judge.tolerance.at(r, ulp, magnitude);
        let columns = task.output.matrix().1;
        let column = element % columns.max(1);
        let neighbours = [(-1, column.checked_sub(1)), (1, column.checked_add(1))]
            .into_iter()
            .filter_map(|(offset, place)| {
                let place = place.filter(|place| *place < columns)?;
                let element = element - column + place;
                Some(Neighbour {
                    offset,
                    reference: value(task.reference, element).into(),
                    output: value(task.output, element).into(),
                })
            })
            .collect();
        Self {
            index: task.output.index(element),
            reference: r.into(),
            output: x.into(),
            ulps: is_finite.then_some(ulps),
            times_tolerance: (is_finite && tolerance > 0.0)
                .then(|| (x - r).abs() / tolerance)
                .and_then(finite),
            neighbours,
        }
    }
}

fn places(axes: &Axes, failures: &super::failures::Failures) -> Vec<AxisPlaces> {
    if failures.count == 0 {
        return Vec::new();
    }
    (AXES - axes.count..AXES)
        .map(|axis| {
            let places = &failures.axes[axis];
            AxisPlaces {
                axis: axis as i8 - AXES as i8,
                length: axes.lengths[axis],
                lowest: places.lowest,
                highest: places.highest,
                modulo_128: places.residues[..RESIDUES.min(axes.lengths[axis] as usize)].to_vec(),
            }
        })
        .collect()
}

fn map(
    task: &Task<'_>,
    failures: &super::failures::Failures,
    peaks: &[f32],
    looked_at: u64,
) -> ErrorMap {
    let (rows, columns) = task.output.matrix();
    let (row_cells, column_cells) = task.axes.cells();
    let cells = (0..row_cells)
        .flat_map(|row| (0..column_cells).map(move |column| (row, column)))
        .zip(failures.map.iter().zip(peaks))
        .map(|((row, column), (failing, peak))| Cell {
            failing: *failing as f64 / task.axes.cell_size(row, column).max(1) as f64,
            peak_ulps: finite(f64::from(*peak)),
        })
        .collect();
    ErrorMap {
        rows,
        columns,
        row_cells,
        column_cells,
        looked_at: if task.elements == 0 {
            0.0
        } else {
            looked_at as f64 / task.elements as f64
        },
        cells,
    }
}
