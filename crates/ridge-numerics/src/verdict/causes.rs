//! What went wrong, as far as the wrong elements tell.
//!
//! Each explanation is tried on a sample of the elements beyond the tolerance and has to hold for nearly all of them. None knows more
//! than how numbers and tiles work.

use schemars::JsonSchema;
use serde::Serialize;

use crate::format::Format;
use crate::measure::Measures;
use crate::view::View;
use crate::words::{count_of, percent, span};

/// What an output looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CauseKind {
    /// Elements hold what memory held before.
    Unwritten,
    /// Elements are all one number.
    Constant,
    /// NaN where there should be numbers.
    NotANumber,
    /// Infinity where there should be numbers.
    Overflow,
    /// The largest number instead of infinity, or the other way round.
    Saturation,
    /// The end of an axis.
    Tail,
    /// A part of the tensor.
    Region,
    /// The same places of each tile.
    TileEdge,
    /// Rows are columns.
    Transposed,
    /// Elements stand some places off.
    Shifted,
    /// The opposite sign.
    Sign,
    /// A constant factor.
    Factor,
    /// A constant was added or left out.
    Offset,
    /// A vector was added to each row or column, or left out.
    BiasVector,
    /// All values of the output are numbers of a narrower format.
    Narrowed,
    /// Errors as large as those of inputs in a narrower format.
    LowerPrecision,
    /// Subnormal numbers are 0.
    FlushToZero,
    /// Rounded towards 0.
    Truncation,
    /// Few elements, here and there.
    Scattered,
}

/// An explanation.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Cause {
    /// Which.
    pub kind: CauseKind,
    /// In a few words that go on after a colon.
    pub text: String,
    /// What to look at.
    pub action: String,
}

fn cause(kind: CauseKind, text: impl Into<String>, action: &str) -> Option<Cause> {
    Some(Cause {
        kind,
        text: text.into(),
        action: action.to_owned(),
    })
}

/// An explanation holds for so many of the sample.
const NEARLY_ALL: f64 = 0.9;
/// With fewer wrong elements no pattern is told from chance.
const ENOUGH: usize = 8;

/// What is known of the wrong elements.
pub(super) struct Evidence<'e> {
    pub(super) reference: &'e View<'e>,
    pub(super) output: &'e View<'e>,
    pub(super) measures: &'e Measures,
    /// Wrong elements with reference and output.
    sample: Vec<(u64, f64, f64)>,
}

impl<'e> Evidence<'e> {
    pub(super) fn new(
        reference: &'e View<'e>,
        output: &'e View<'e>,
        measures: &'e Measures,
    ) -> Self {
        let sample = measures
            .sample
            .iter()
            .filter_map(|element| {
                Some((
                    *element,
                    reference.value(*element)?,
                    output.value(*element)?,
                ))
            })
            .collect();
        Self {
            reference,
            output,
            measures,
            sample,
        }
    }

    /// The explanations that hold, the one that says most first.
    pub(super) fn causes(&self) -> Vec<Cause> {
        let what = [
            self.same_code(),
            self.not_a_number(),
            self.saturation(),
            self.overflow(),
            self.flush_to_zero(),
        ];
        let how = [
            self.transposed(),
            self.shifted(),
            self.ratio(),
            self.offset(),
            self.bias_vector(),
            self.truncation(),
            self.lower_precision(),
        ];
        let mut causes: Vec<Cause> = what.into_iter().flatten().collect();
        if causes.is_empty() {
            causes.extend(how.into_iter().flatten().take(1));
        }
        let place = self.tail().or_else(|| self.tile_edge());
        match place {
            Some(place) => causes.push(place),
            None if causes.is_empty() => causes.extend(self.scattered()),
            None => {}
        }
        causes
    }

    fn share(&self, holds: impl Fn(&(u64, f64, f64)) -> bool) -> f64 {
        let holding = self.sample.iter().filter(|one| holds(one)).count();
        holding as f64 / self.sample.len().max(1) as f64
    }

    /// Whether another element of the reference explains nearly all wrong elements: what is left is far smaller than the error.
    fn explained_by(&self, other: impl Fn(u64) -> Option<u64>) -> bool {
        let finite: Vec<_> = self
            .sample
            .iter()
            .filter(|(_, r, x)| r.is_finite() && x.is_finite())
            .filter_map(|(element, r, x)| Some((*r, *x, self.reference.value(other(*element)?)?)))
            .collect();
        let holding = finite
            .iter()
            .filter(|(r, x, other)| (x - other).abs() * 16.0 <= (x - r).abs())
            .count();
        finite.len() >= ENOUGH
            && holding as f64 >= NEARLY_ALL * finite.len() as f64
            && finite.len() as f64 >= 0.5 * self.sample.len() as f64
    }

    /// Nearly all wrong elements hold one code.
    fn same_code(&self) -> Option<Cause> {
        let mut codes: Vec<u64> = self
            .sample
            .iter()
            .filter_map(|(element, ..)| self.output.code(*element))
            .collect();
        codes.sort_unstable();
        let most = codes
            .chunk_by(|a, b| a == b)
            .max_by_key(|same| same.len())?;
        if (most.len() as f64) < NEARLY_ALL * self.sample.len() as f64 {
            return None;
        }
        let code = most[0];
        let format = self.output.format();
        let value = format.decode(code);
        let is_whole = self.measures.failing * 10 >= self.measures.elements * 9;
        let lost = self.measures.subnormals.lost;
        if value == 0.0 {
            // Subnormal numbers that became 0 have a cause of their own.
            if lost * 10 >= self.measures.failing * 9 {
                return None;
            }
            let text = if is_whole {
                "the output is 0"
            } else {
                "they are 0"
            };
            return cause(
                CauseKind::Unwritten,
                format!("{text}, as memory that was cleared and not written"),
                "check the bounds of the grid, the guard of the last block, and that the kernel ran at all",
            );
        }
        if self.sample.len() < 2 {
            return None;
        }
        let size = format.size_bytes();
        let bytes = &code.to_le_bytes()[..size];
        let is_pattern =
            bytes.iter().all(|byte| *byte == bytes[0]) && (size > 1 || bytes[0] == 0xff);
        if is_pattern && (value.is_nan() || format.is_float() || bytes[0] >= 0x80) {
            return cause(
                CauseKind::Unwritten,
                format!(
                    "they hold 0x{code:0width$x}, a fill pattern: memory that nobody wrote",
                    width = 2 * size
                ),
                "check the bounds of the grid, the guard of the last block, and that the kernel ran at all",
            );
        }
        if value.is_finite() && self.sample.len() >= ENOUGH {
            return cause(
                CauseKind::Constant,
                format!("they are all {value}"),
                "look for an index that does not change, or a value that is kept from an earlier step",
            );
        }
        None
    }

    fn not_a_number(&self) -> Option<Cause> {
        let found = &self.measures.non_finite;
        if found.nan_extra > 0 {
            return cause(
                CauseKind::NotANumber,
                format!(
                    "{} NaN where the reference is a number",
                    count_of(found.nan_extra, "element is", "elements are")
                ),
                "look for inf - inf, 0 * inf, 0 / 0, a root of a negative number, or memory that was not written (`ridge sanitize` runs initcheck)",
            );
        }
        (found.nan_missing > 0).then(|| Cause {
            kind: CauseKind::NotANumber,
            text: format!("{} a number where the reference is NaN", count_of(found.nan_missing, "element is", "elements are")),
            action: "min and max of CUDA return the operand that is no NaN; look for those, and for a guard that hides NaN".to_owned(),
        })
    }

    /// The largest number on one side, infinity on the other.
    fn saturation(&self) -> Option<Cause> {
        let most = self.output.format().max_finite();
        let share = self.share(|(_, r, x)| {
            (r.is_infinite() && x.abs() == most) || (x.is_infinite() && r.abs() == most)
        });
        if share < NEARLY_ALL {
            return None;
        }
        let (has, not) = if self.measures.non_finite.infinite_missing > 0 {
            ("saturates", "becomes infinite")
        } else {
            ("becomes infinite", "saturates")
        };
        cause(
            CauseKind::Saturation,
            format!("what is too large {has} in the output and {not} in the reference"),
            "conversions differ in this: compare with the same one, or scale the values",
        )
    }

    fn overflow(&self) -> Option<Cause> {
        let found = &self.measures.non_finite;
        let extra = found.infinite_extra;
        if extra == 0 || self.saturation().is_some() {
            return (found.infinite_missing + found.infinite_sign > 0
                && self.saturation().is_none())
            .then(|| Cause {
                kind: CauseKind::Overflow,
                text: format!(
                    "{} another value where the reference is infinite",
                    count_of(
                        found.infinite_missing + found.infinite_sign,
                        "element has",
                        "elements have"
                    )
                ),
                action: "look for a clamp, or for a sum in another order that does not overflow"
                    .to_owned(),
            });
        }
        cause(
            CauseKind::Overflow,
            format!(
                "{} infinite where the reference is finite: an overflow on the way",
                count_of(extra, "element is", "elements are")
            ),
            "accumulate in a format with more range, or scale (softmax: subtract the maximum first)",
        )
    }

    fn flush_to_zero(&self) -> Option<Cause> {
        let least = self.output.format().min_normal()?;
        let share = self.share(|(_, r, x)| *x == 0.0 && r.abs() < least && *r != 0.0);
        if share < NEARLY_ALL {
            return None;
        }
        cause(
            CauseKind::FlushToZero,
            "they are 0 where the reference is a subnormal number: flush to zero",
            "build without -ftz=true and --use_fast_math if such small numbers matter, or accept it with --preset fast-math",
        )
    }

    fn transposed(&self) -> Option<Cause> {
        let [.., rows, columns] = *self.reference.shape() else {
            return None;
        };
        let size = rows.checked_mul(columns)?;
        if rows < 2
            || columns < 2
            || !self.explained_by(|element| {
                // The output holds a matrix of so many columns as the reference has rows.
                let (matrix, place) = (element / size, element % size);
                Some(matrix * size + (place % rows) * columns + place / rows)
            })
        {
            return None;
        }
        cause(
            CauseKind::Transposed,
            "the output is the reference transposed",
            "check the layouts (row-major or column-major) and the leading dimensions",
        )
    }

    fn shifted(&self) -> Option<Cause> {
        let columns = self.reference.matrix().1 as i64;
        let elements = self.reference.len() as i64;
        let steps = [1, 2, 4, 8, 16, 32, columns]
            .into_iter()
            .filter(|step| *step < elements)
            .flat_map(|step| [-step, step]);
        for step in steps {
            let other = |element: u64| {
                let other = (element as i64).checked_add(step)?;
                (0..elements).contains(&other).then_some(other as u64)
            };
            if self.explained_by(other) {
                let text = if step.abs() == columns && columns > 1 {
                    format!(
                        "each row is that {} it",
                        if step > 0 { "after" } else { "before" }
                    )
                } else {
                    format!(
                        "each element is the one {} {} it",
                        count_of(step.unsigned_abs(), "place", "places"),
                        if step > 0 { "after" } else { "before" }
                    )
                };
                return cause(
                    CauseKind::Shifted,
                    text,
                    "look for an index or a row that is off by that much, in loading or in storing",
                );
            }
        }
        None
    }

    /// The middle one of some numbers of the sample.
    fn median(&self, of: impl Fn(f64, f64) -> f64) -> Option<f64> {
        let mut values: Vec<f64> = self
            .sample
            .iter()
            .map(|(_, r, x)| of(*r, *x))
            .filter(|value| value.is_finite())
            .collect();
        if values.len() < ENOUGH {
            return None;
        }
        values.sort_by(f64::total_cmp);
        Some(values[values.len() / 2])
    }

    /// How much an output may be off by its own rounding.
    fn own_rounding(&self, value: f64) -> f64 {
        let format = self.output.format();
        if format.is_float() {
            format.ulp_of(value)
        } else {
            0.5
        }
    }

    fn ratio(&self) -> Option<Cause> {
        let ratio = self.median(|r, x| x / r)?;
        let share = self.share(|(_, r, x)| {
            (x - ratio * r).abs() <= self.own_rounding(*x) + 1e-3 * (x - r).abs()
        });
        // What is no more than a rounding is no factor.
        let is_seen = self.share(|(_, r, x)| (x - r).abs() > 4.0 * self.own_rounding(*x));
        if share < NEARLY_ALL || is_seen < NEARLY_ALL || ratio == 0.0 {
            return None;
        }
        if (ratio + 1.0).abs() < 1e-3 {
            return cause(
                CauseKind::Sign,
                "they have the opposite sign",
                "look for a subtraction the wrong way round, or a lost minus",
            );
        }
        let power = ratio.abs().log2();
        let name = if (power - power.round()).abs() < 1e-3 && power.round() != 0.0 {
            format!(
                "{}{}",
                if ratio < 0.0 { "-" } else { "" },
                power.round().exp2()
            )
        } else {
            format!("{ratio:.4}")
        };
        cause(
            CauseKind::Factor,
            format!("they are {name} times the reference"),
            "look for a scale (alpha, 1/√d, a block scale, a mean instead of a sum) that is missing or applied twice, or work that is counted twice",
        )
    }

    fn offset(&self) -> Option<Cause> {
        let offset = self.median(|r, x| x - r)?;
        let share = self.share(|(_, r, x)| {
            (x - r - offset).abs() <= self.own_rounding(*x) + 1e-3 * offset.abs()
        });
        // What is no more than a rounding is no offset.
        let is_seen = self.share(|(_, _, x)| offset.abs() > 4.0 * self.own_rounding(*x));
        if share < NEARLY_ALL || is_seen < NEARLY_ALL {
            return None;
        }
        cause(
            CauseKind::Offset,
            format!("each is {offset:+.4} off, a constant"),
            "look for a constant that is missing or added twice",
        )
    }

    /// Errors that depend on the column alone, or on the row alone.
    fn bias_vector(&self) -> Option<Cause> {
        const MOST: u64 = 24;
        let (rows, columns) = self.reference.matrix();
        if rows < 8 || columns < 8 || self.measures.failing * 2 < self.measures.elements {
            return None;
        }
        let spread = |length: u64| {
            let count = length.min(MOST);
            (0..count).map(move |place| place * length / count)
        };
        let mut errors: Vec<Vec<f64>> = Vec::new();
        for row in spread(rows) {
            let mut line = Vec::new();
            for column in spread(columns) {
                let element = row * columns + column;
                let error = self.output.value(element)? - self.reference.value(element)?;
                if !error.is_finite() {
                    return None;
                }
                line.push(error);
            }
            errors.push(line);
        }
        let of_columns: Vec<Vec<f64>> = (0..errors[0].len())
            .map(|column| errors.iter().map(|line| line[column]).collect())
            .collect();
        let total = spread_of(&errors.concat());
        let within = |lines: &[Vec<f64>]| {
            lines.iter().map(|line| spread_of(line)).sum::<f64>() / lines.len() as f64
        };
        let (along, axis) = if within(&of_columns) < 0.01 * total {
            ("column", "row")
        } else if within(&errors) < 0.01 * total {
            ("row", "column")
        } else {
            return None;
        };
        cause(
            CauseKind::BiasVector,
            format!(
                "all of a {along} are off by the same: a vector that is missing in each {axis}, or added twice"
            ),
            "look at the bias of the epilogue, and at beta * C",
        )
    }

    /// Numbers of a narrower format, or errors as large as its rounding of the inputs.
    fn lower_precision(&self) -> Option<Cause> {
        const TRIED: u64 = 2048;
        let output = self.output.format();
        let own = output.unit_roundoff()?;
        let mut narrower = [
            Format::F32,
            Format::F16,
            Format::Tf32,
            Format::Bf16,
            Format::E4m3,
            Format::E5m2,
        ]
        .into_iter()
        .filter(|format| format.unit_roundoff().is_some_and(|unit| unit > own));
        let elements = self.output.len();
        let tried: Vec<f64> = (0..elements.min(TRIED))
            .map(|place| {
                (u128::from(place) * u128::from(elements) / u128::from(elements.min(TRIED))) as u64
            })
            .filter_map(|element| self.output.value(element))
            .filter(|value| value.is_finite() && *value != 0.0)
            .collect();
        let holds = |format: Format| {
            tried.iter().all(|value| {
                format.decode(format.encode(*value, crate::format::Overflow::NonFinite)) == *value
            })
        };
        let is_wide = self.measures.failing * 100 >= self.measures.elements;
        if tried.len() >= 4 * ENOUGH && is_wide {
            // The narrowest that holds them says most.
            if let Some(format) = narrower.clone().rfind(|format| holds(*format)) {
                return cause(
                    CauseKind::Narrowed,
                    format!(
                        "all values of the output are numbers of {format}: it was rounded to {format} on the way"
                    ),
                    "look for an intermediate of that type, in shared memory or in a conversion",
                );
            }
        }
        let l2 = self.measures.relative_l2?;
        let peak = self.measures.max_norm_relative?;
        // Rounding both factors of each product by up to u makes errors of about u √(2/3) of the sum's spread. Other causes leave a
        // few errors far larger than the rest.
        let format = narrower
            .rfind(|format| {
                format
                    .unit_roundoff()
                    .is_some_and(|unit| (0.2 * unit..2.5 * unit).contains(&l2))
            })
            .filter(|_| is_wide && peak < 20.0 * l2)?;
        let name = if format == Format::Tf32 {
            "tf32 or f16".to_owned()
        } else {
            format.to_string()
        };
        cause(
            CauseKind::LowerPrecision,
            format!(
                "errors are everywhere, and as large as those of inputs rounded to {name} (relative L2 {l2:.1e})"
            ),
            "check the compute type: allow_tf32, the math mode of cuBLAS, the type of fragments and of accumulators",
        )
    }

    fn truncation(&self) -> Option<Cause> {
        let bias = &self.measures.bias;
        let unequal = bias.outward + bias.inward;
        let is_small = self.measures.ulps.p99.is_some_and(|ulps| ulps <= 2.0);
        if unequal < 64 || !is_small || bias.inward * 20 < unequal * 19 {
            return None;
        }
        cause(
            CauseKind::Truncation,
            format!(
                "{} of the elements that differ are nearer to 0 than the reference: truncated, not rounded",
                percent(bias.inward as f64 / unequal as f64)
            ),
            "convert with __float2bfloat16_rn or its like, not by cutting off bits (_rz)",
        )
    }

    /// The wrong elements fill the end of an axis, or another part of it.
    fn tail(&self) -> Option<Cause> {
        let places = &self.measures.places;
        let mut density = self.measures.failing as f64;
        for axis in places {
            density /= (axis.highest - axis.lowest + 1) as f64;
        }
        if density < 0.5 || self.measures.failing < ENOUGH as u64 {
            return None;
        }
        // The axis of which the smallest part is wrong.
        let part = |axis: &&crate::measure::AxisPlaces| {
            (axis.highest - axis.lowest + 1) as f64 / axis.length as f64
        };
        let axis = places
            .iter()
            .min_by(|a, b| part(a).total_cmp(&part(b)))
            .filter(|axis| part(axis) < 1.0)?;
        // Elements that are wrong here and there would all lie in a part of that size less than once in a million times.
        let unlikely = -part(&axis).ln() * self.measures.failing as f64;
        if unlikely < 1e6_f64.ln() {
            return None;
        }
        let name = axis_name(axis.axis, places.len());
        let span = span(axis.lowest, axis.highest);
        if axis.highest + 1 < axis.length || axis.lowest == 0 {
            let parts: Vec<String> = places
                .iter()
                .filter(|axis| part(axis) < 1.0)
                .map(|axis| {
                    let name = axis_name(axis.axis, places.len());
                    format!("{name} {}", crate::words::span(axis.lowest, axis.highest))
                })
                .collect();
            return cause(
                CauseKind::Region,
                format!("all in {}", parts.join(" and ")),
                "look at what computes this part: a tile, a block, a head, a split",
            );
        }
        let width = axis.length - axis.lowest;
        let tile = [256_u64, 128, 64, 32, 16, 8]
            .into_iter()
            .find(|tile| axis.lowest % tile == 0 && width <= *tile);
        let what = match tile {
            Some(tile) if axis.length % tile == 0 => format!("the last tile of {tile}"),
            Some(tile) => format!("the rest after whole tiles of {tile}"),
            None => "the tail".to_owned(),
        };
        cause(
            CauseKind::Tail,
            format!("all in {name} {span}: {what}"),
            "look at the guard of the last tile, the number of blocks (ceiling of the division), and the tail of vector loads",
        )
    }

    /// The same few places of each tile.
    fn tile_edge(&self) -> Option<Cause> {
        if self.measures.failing < 4 * ENOUGH as u64 {
            return None;
        }
        for axis in self.measures.places.iter().rev() {
            for tile in [8_usize, 16, 32, 64, 128] {
                if axis.length < 2 * tile as u64 {
                    continue;
                }
                let mut counts = vec![0_u64; tile];
                for (place, count) in axis.modulo_128.iter().enumerate() {
                    counts[place % tile] += count;
                }
                let used: Vec<usize> = (0..tile).filter(|place| counts[*place] > 0).collect();
                if used.len() * 4 > tile {
                    continue;
                }
                let name = axis_name(axis.axis, self.measures.places.len());
                let list: Vec<String> = used.iter().take(8).map(usize::to_string).collect();
                return cause(
                    CauseKind::TileEdge,
                    format!(
                        "all in {name} that are {} modulo {tile}: the same places of each tile",
                        list.join(", ")
                    ),
                    "look at the edge of tiles: halo, stride of shared memory, lanes that are left out",
                );
            }
        }
        None
    }

    fn scattered(&self) -> Option<Cause> {
        let few = self.measures.failing as f64 <= 0.01 * self.measures.elements as f64;
        let is_large = self
            .measures
            .worst
            .first()
            .is_some_and(|worst| worst.times_tolerance.is_none_or(|times| times > 16.0));
        if !few || !is_large {
            return None;
        }
        cause(
            CauseKind::Scattered,
            "few, far off, and without a pattern: as of a race or of memory that was not initialised",
            "run `ridge sanitize` (racecheck, initcheck), and compare several runs",
        )
    }
}

/// The mean square of what numbers differ from their mean.
fn spread_of(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values
        .iter()
        .map(|value| (value - mean) * (value - mean))
        .sum::<f64>()
        / values.len() as f64
}

/// What places on an axis are called.
fn axis_name(axis: i8, axes: usize) -> String {
    match (axis, axes) {
        (-1, 1) => "elements".to_owned(),
        (-1, _) => "columns".to_owned(),
        (-2, _) => "rows".to_owned(),
        (axis, _) => format!("places of axis {axis}"),
    }
}
