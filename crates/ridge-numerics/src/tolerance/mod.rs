//! What an output may differ by, with the reasons.
//!
//! A sum of K products in an accumulator with unit roundoff u_acc has rounding errors of about √K u_acc Σ|a||b| when they are
//! random, and of at most γ_K Σ|a||b| with γ_K = K u_acc / (1 - K u_acc); storing it adds u_out |c|. A function has the error
//! that its maker states. `docs/design/numerics.md` has the derivation.

mod functions;

pub use functions::{Function, function, functions};

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::format::Format;
use crate::measure::{Judge, Limits};
use crate::words::with_article;

/// Standard deviations of the random model that are allowed.
const DEVIATIONS: f64 = 4.0;
/// The largest K that the worst case says anything about.
const MAX_GAMMA: f64 = 0.5;

/// A rule that others use, or that a kind of computation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// `torch.testing.assert_close`.
    Torch,
    /// `numpy.allclose`.
    Numpy,
    /// The correctly rounded reference.
    Strict,
    /// A product on tensor cores: inputs of binary32 rounded to TF32, and an accumulator that truncates.
    TensorCore,
    /// Functions built with `--use_fast_math`.
    FastMath,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Torch,
        Self::Numpy,
        Self::Strict,
        Self::TensorCore,
        Self::FastMath,
    ];

    /// How it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Torch => "torch",
            Self::Numpy => "numpy",
            Self::Strict => "strict",
            Self::TensorCore => "tensor-core",
            Self::FastMath => "fast-math",
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Preset {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|preset| preset.name() == name)
            .ok_or_else(|| {
                let names: Vec<&str> = Self::ALL.iter().map(|preset| preset.name()).collect();
                format!("expected one of {}", names.join(", "))
            })
    }
}

/// What is known of a computation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Computation {
    /// Length of the reduction.
    pub reduction: Option<u64>,
    /// The format that sums are kept in; binary32 where nothing is said, binary64 for outputs of that format.
    pub accumulate: Option<Format>,
    /// The function that was computed.
    pub function: Option<Function>,
    /// A rule instead.
    pub preset: Option<Preset>,
    /// Limits instead.
    pub own: Option<Limits>,
    /// Whether Σ|a||b| of each element is known.
    pub has_magnitudes: bool,
    /// Whether the reference was rounded to the format of the output, as the output was.
    pub is_reference_rounded: bool,
    /// Root mean square of the reference, from which Σ|a||b| is estimated where it is not known.
    pub reference_rms: Option<f64>,
}

/// What an output may differ by, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Tolerance {
    /// The limits.
    pub judge: Judge,
    /// What they are called in a sentence: "rounding of a bf16 product with K = 4096".
    pub name: String,
    /// Why they are what they are, in whole sentences.
    pub reasons: Vec<String>,
    /// Whether somebody chose the limits, so that what is beyond them is wrong whatever the cause.
    pub is_chosen: bool,
    /// What a reduction of one term would add, as an absolute error, where the length of the reduction is not known: from an error
    /// follows how long it would have to be.
    pub(crate) per_term: Option<f64>,
}

/// Why there is no tolerance.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToleranceError {
    /// The format has no rounding that something could follow from.
    NoRoundoff(Format),
    /// A preset needs the length of the reduction.
    NoReduction(Preset),
    /// A preset is about other formats.
    NotFor(Preset, Format),
    /// There are not as many Σ|a||b| as elements.
    Magnitudes,
}

impl fmt::Display for ToleranceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRoundoff(format) => {
                write!(f, "{format} has no unit roundoff to accumulate with")
            }
            Self::NoReduction(preset) => {
                write!(
                    f,
                    "{preset} is about products, and their length K is not known"
                )
            }
            Self::NotFor(preset, format) => write!(f, "{preset} has no rule for {format}"),
            Self::Magnitudes => f.write_str("there are not as many sums of magnitudes as elements"),
        }
    }
}

impl std::error::Error for ToleranceError {}

impl Tolerance {
    /// What an output of a format may differ by.
    ///
    /// # Errors
    /// When what is known does not fit together.
    pub fn new(output: Format, of: &Computation) -> Result<Self, ToleranceError> {
        if let Some(own) = of.own {
            return Ok(Self::own(output, own));
        }
        match of.preset {
            Some(Preset::Torch) => Self::torch(output),
            Some(Preset::Numpy) => Ok(Self::numpy(output)),
            Some(Preset::Strict) => Ok(Self::strict(output)),
            Some(Preset::FastMath) => Self::fast_math(output, of),
            Some(Preset::TensorCore) if of.reduction.is_none() => {
                Err(ToleranceError::NoReduction(Preset::TensorCore))
            }
            Some(Preset::TensorCore) | None => match (of.reduction, of.function) {
                (Some(length), _) => Self::product(output, of, length),
                (None, Some(function)) => Ok(Self::of_function(output, of, function)),
                (None, None) => Ok(Self::elementwise(output, of)),
            },
        }
    }

    fn with(output: Format, tolerance: Limits, name: &str, reasons: Vec<String>) -> Self {
        Self {
            judge: Judge {
                tolerance,
                certain: None,
                accepts_flush_to_zero: false,
                relative_floor: output.min_normal().unwrap_or(1.0),
            },
            name: name.to_owned(),
            reasons,
            is_chosen: true,
            per_term: None,
        }
    }

    fn own(output: Format, own: Limits) -> Self {
        let parts: Vec<String> = [
            (own.absolute > 0.0).then(|| format!("{:e}", own.absolute)),
            (own.relative > 0.0).then(|| format!("{:e} of the reference", own.relative)),
            (own.ulps > 0.0).then(|| format!("{} ULP", own.ulps)),
        ]
        .into_iter()
        .flatten()
        .collect();
        let text = if parts.is_empty() {
            "no difference at all".to_owned()
        } else {
            parts.join(" + ")
        };
        let reason = format!("The limits were given: {text}.");
        Self::with(output, own, "the limits that were given", vec![reason])
    }

    /// Values: `torch.testing.assert_close`, documentation of PyTorch 2.
    fn torch(output: Format) -> Result<Self, ToleranceError> {
        let (relative, absolute) = match output {
            Format::F16 => (1e-3, 1e-5),
            Format::Bf16 => (1.6e-2, 1e-5),
            Format::F32 | Format::C64 => (1.3e-6, 1e-5),
            Format::F64 | Format::C128 => (1e-7, 1e-7),
            Format::Tf32 => return Err(ToleranceError::NotFor(Preset::Torch, output)),
            // Every other type has to be equal, FP8 included.
            _ => (0.0, 0.0),
        };
        let limits = Limits {
            absolute,
            relative,
            ..Limits::default()
        };
        let reason = format!(
            "torch.testing.assert_close allows {absolute:e} + {relative:e} of the reference for {output}. It does not look at how the output was computed."
        );
        Ok(Self::with(
            output,
            limits,
            "torch.testing.assert_close",
            vec![reason],
        ))
    }

    fn numpy(output: Format) -> Self {
        let limits = Limits {
            absolute: 1e-8,
            relative: 1e-5,
            ..Limits::default()
        };
        let reason = "numpy.allclose allows 1e-8 + 1e-5 of the reference for every type. It does not look at how the output was computed.";
        Self::with(output, limits, "numpy.allclose", vec![reason.to_owned()])
    }

    fn strict(output: Format) -> Self {
        let ulps = if output.is_float() { 0.5 } else { 0.0 };
        let limits = Limits {
            ulps,
            ..Limits::default()
        };
        let reason = format!(
            "Each element has to be the reference, rounded to the nearest number of {output}: half an ULP off at most, and equal where the reference has the format of the output."
        );
        Self::with(output, limits, "correct rounding", vec![reason])
    }

    fn fast_math(output: Format, of: &Computation) -> Result<Self, ToleranceError> {
        if output == Format::F64 || !output.is_float() {
            return Err(ToleranceError::NotFor(Preset::FastMath, output));
        }
        // The worst of what --use_fast_math replaces and that has one bound for its whole working range: __sinf and __cosf in
        // [-pi, pi] 2^-21.19 absolute, __tanhf 2^-11 relative; division and square root 2 ULP.
        let (relative, absolute, what) = match of.function {
            Some(Function { name: "tanh", .. }) => {
                (0.5_f64.powi(11), 0.0, "__tanhf is right within 2^-11 of its value".to_owned())
            }
            Some(Function { name: "sin" | "cos", .. }) => (
                0.0,
                0.5_f64.powf(21.19),
                "__sinf and __cosf are right within 2^-21.19 for arguments in [-π, π]".to_owned(),
            ),
            Some(function) => {
                let ulps = function.approximate_ulps.unwrap_or(function.ulps).max(2.0) + 0.5;
                (
                    ulps * ulp_share(Format::F32),
                    0.5_f64.powf(21.41),
                    format!("what replaces {} is right within about {ulps} ULP of FP32, or 2^-21.41 near 1", function.name),
                )
            }
            None => (
                8.0 * ulp_share(Format::F32),
                0.5_f64.powf(21.19),
                "intrinsics are right within some ULP of FP32, or 2^-21.19 where they are small; 8 ULP cover __expf for arguments within ±5".to_owned(),
            ),
        };
        let limits = Limits {
            absolute,
            relative,
            ulps: 0.5,
            ..Limits::default()
        };
        let mut tolerance = Self::with(
            output,
            limits,
            "what --use_fast_math allows",
            vec![
                format!("Under --use_fast_math {what} (NVIDIA's bounds)."),
                "It flushes subnormal numbers to zero, which is accepted.".to_owned(),
            ],
        );
        tolerance.judge.accepts_flush_to_zero = true;
        Ok(tolerance)
    }

    fn of_function(output: Format, of: &Computation, function: Function) -> Self {
        let computed = function.format;
        let ulps = function.ulps;
        let (limits, more) = if output == computed {
            (
                Limits {
                    ulps: ulps + 0.5,
                    ..Limits::default()
                },
                "bounds count from the correctly rounded result, which is half an ULP off at most",
            )
        } else {
            (
                Limits {
                    ulps: if of.is_reference_rounded { 1.0 } else { 0.5 },
                    relative: (ulps + 0.5) * ulp_share(computed),
                    ..Limits::default()
                },
                "storing the result adds half an ULP, and the reference another one where it was stored so too",
            )
        };
        Self {
            is_chosen: false,
            ..Self::with(
                output,
                limits,
                &format!("the error of {}", function.name),
                vec![format!(
                    "NVIDIA states an error of at most {ulps} ULP of {computed} for {}; {more}.",
                    function.name
                )],
            )
        }
    }

    /// Nothing is known but the format.
    fn elementwise(output: Format, of: &Computation) -> Self {
        let accumulate = of.accumulate.unwrap_or_else(|| usual_accumulator(output));
        let per_term = accumulate
            .unit_roundoff()
            .zip(of.reference_rms)
            .map(|(roundoff, rms)| DEVIATIONS * roundoff * 2.0 / std::f64::consts::PI * rms);
        let (ulps, reason) = if output.is_float() {
            (
                1.0,
                format!(
                    "Nothing is known but the format: each element may be one of the two numbers of {output} next to the reference (1 ULP), as after one or two roundings."
                ),
            )
        } else {
            (
                0.0,
                format!(
                    "Elements are {output}, in which arithmetic is exact: they have to be equal."
                ),
            )
        };
        let limits = Limits {
            ulps,
            ..Limits::default()
        };
        Self {
            is_chosen: false,
            per_term,
            ..Self::with(
                output,
                limits,
                &format!("rounding of {output}"),
                vec![reason],
            )
        }
    }

    /// A sum of so many products.
    fn product(output: Format, of: &Computation, length: u64) -> Result<Self, ToleranceError> {
        let accumulate = of.accumulate.unwrap_or_else(|| usual_accumulator(output));
        let is_exact = !accumulate.is_float();
        let roundoff = match accumulate.unit_roundoff() {
            Some(roundoff) => roundoff,
            None if is_exact => 0.0,
            None => return Err(ToleranceError::NoRoundoff(accumulate)),
        };
        let is_tensor_core = of.preset == Some(Preset::TensorCore);
        let (k, root) = (length as f64, (length as f64).sqrt());
        // Truncation errs by up to a whole unit in the last place, twice what rounding to nearest does.
        let roundoff = if is_tensor_core {
            2.0 * roundoff
        } else {
            roundoff
        };
        let mut random = DEVIATIONS * roundoff * root;
        let gamma = k * roundoff;
        let mut worst = (gamma < MAX_GAMMA).then(|| gamma / (1.0 - gamma));
        let mut reasons = vec![if is_exact {
            format!("Sums are kept in {accumulate}, exactly, as long as they fit.")
        } else {
            format!(
                "K = {length} roundings in an accumulator of {accumulate} (unit roundoff {roundoff:.3e}{}) add about √K of them: {DEVIATIONS} · {roundoff:.2e} · √{length} = {random:.2e} of Σ|a||b|.",
                if is_tensor_core {
                    ", doubled for truncation"
                } else {
                    ""
                },
            )
        }];
        if is_tensor_core && output == Format::F32 {
            // Both factors of each product are rounded to TF32, independently.
            let input = Format::Tf32.unit_roundoff().unwrap_or(0.0);
            random += DEVIATIONS * input;
            worst = worst.map(|worst| worst + 2.0 * input);
            reasons.push(format!(
                "Inputs of FP32 are rounded to TF32 (unit roundoff {input:.2e}), which adds {:.2e} of Σ|a||b|.",
                DEVIATIONS * input
            ));
        }
        let (unit, smallest) = match output.unit_roundoff() {
            Some(unit) => (unit, output.min_subnormal().unwrap_or(0.0)),
            // Integers are rounded to the nearest, if at all.
            None => (0.0, if is_exact { 0.0 } else { 0.5 }),
        };
        let rounding = if of.is_reference_rounded {
            2.0 * unit
        } else {
            unit
        };
        if rounding > 0.0 {
            let and = if of.is_reference_rounded {
                ", and the reference was rounded to that as well"
            } else {
                ""
            };
            reasons.push(format!(
                "Storing the sum as {output} adds {unit:.2e} of it{and}."
            ));
        }
        let of_sum = |share: f64| {
            if of.has_magnitudes {
                Limits {
                    absolute: smallest,
                    relative: rounding,
                    magnitude: share,
                    ulps: 0.0,
                }
            } else {
                // Factors of mean 0: Σ|a||b| is about 2/π √K root mean squares of the sums; without cancellation it is |c|.
                let spread = 2.0 / std::f64::consts::PI * root * of.reference_rms.unwrap_or(0.0);
                Limits {
                    absolute: smallest + share * spread,
                    relative: rounding + share,
                    ..Limits::default()
                }
            }
        };
        if !is_exact {
            reasons.push(if of.has_magnitudes {
                "Σ|a||b| is known for each element.".to_owned()
            } else {
                "Σ|a||b| is not known: it is taken as |c| + 2/π √K rms(c), as of factors that are independent and have mean 0.".to_owned()
            });
        }
        let kind = if is_tensor_core {
            "tensor-core"
        } else {
            output.name()
        };
        let mut tolerance = Self {
            is_chosen: false,
            ..Self::with(
                output,
                of_sum(random),
                &format!(
                    "rounding of {} product with K = {length}",
                    with_article(kind)
                ),
                reasons,
            )
        };
        tolerance.judge.certain = Some(match worst {
            Some(worst) => of_sum(worst.max(random)),
            None => Limits {
                absolute: f64::INFINITY,
                ..Limits::default()
            },
        });
        if of.accumulate.is_some() && accumulate != usual_accumulator(output) {
            tolerance.name = format!("{}, summed in {accumulate}", tolerance.name);
        }
        Ok(tolerance)
    }
}

/// Where sums are kept unless something else is said.
fn usual_accumulator(output: Format) -> Format {
    match output {
        Format::F64 | Format::C128 => Format::F64,
        format if format.is_float() => Format::F32,
        _ => Format::I32,
    }
}

/// An ULP as a share of a value, at most.
fn ulp_share(format: Format) -> f64 {
    2.0 * format.unit_roundoff().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(output: Format, computation: Computation) -> Tolerance {
        Tolerance::new(output, &computation).unwrap()
    }

    #[test]
    fn a_product_follows_from_formats_and_length() {
        let product = of(
            Format::Bf16,
            Computation {
                reduction: Some(4096),
                has_magnitudes: true,
                ..Computation::default()
            },
        );
        // u_out = 2^-8; 4 · 2^-24 · 64 = 2^-16 of Σ|a||b|; worst case 4096 · 2^-24 / (1 - 2^-12).
        assert_eq!(
            product.judge.tolerance,
            Limits {
                absolute: 2.0_f64.powi(-133),
                relative: 2.0_f64.powi(-8),
                ulps: 0.0,
                magnitude: 2.0_f64.powi(-16),
            }
        );
        let certain = product.judge.certain.unwrap().magnitude;
        assert!((certain - 2.0_f64.powi(-12) / (1.0 - 2.0_f64.powi(-12))).abs() < 1e-12);
        assert_eq!(product.name, "rounding of a bf16 product with K = 4096");
        let narrow = of(
            Format::F16,
            Computation {
                reduction: Some(4096),
                accumulate: Some(Format::F16),
                has_magnitudes: true,
                ..Computation::default()
            },
        );
        // 2 · 4096 · 2^-11 > 1/2: the worst case says nothing, nothing is certain.
        assert_eq!(narrow.judge.certain.unwrap().absolute, f64::INFINITY);
        assert!(narrow.name.ends_with("summed in f16"));
    }

    #[test]
    fn magnitudes_are_estimated_from_the_reference() {
        let estimated = of(
            Format::F32,
            Computation {
                reduction: Some(1024),
                reference_rms: Some(10.0),
                ..Computation::default()
            },
        );
        let share = 4.0 * 2.0_f64.powi(-24) * 32.0;
        let expected = share * 2.0 / std::f64::consts::PI * 32.0 * 10.0;
        let limits = estimated.judge.tolerance;
        assert!((limits.absolute / expected - 1.0).abs() < 1e-6);
        assert!((limits.relative - share - 2.0_f64.powi(-24)).abs() < 1e-12);
        assert!(
            estimated
                .reasons
                .iter()
                .any(|reason| reason.contains("not known"))
        );
    }

    #[test]
    fn integers_are_exact() {
        for reduction in [None, Some(512)] {
            let tolerance = of(
                Format::I8,
                Computation {
                    reduction,
                    reference_rms: Some(10.0),
                    ..Computation::default()
                },
            );
            assert_eq!(tolerance.judge.tolerance.at(100.0, 1.0, 0.0), 0.0);
        }
    }

    #[test]
    fn presets_are_those_of_their_makers() {
        let preset = |output, preset| {
            Tolerance::new(
                output,
                &Computation {
                    preset: Some(preset),
                    ..Computation::default()
                },
            )
        };
        let torch = preset(Format::Bf16, Preset::Torch).unwrap().judge.tolerance;
        assert_eq!((torch.relative, torch.absolute), (1.6e-2, 1e-5));
        let torch = preset(Format::E4m3, Preset::Torch).unwrap().judge.tolerance;
        assert_eq!(torch, Limits::default());
        let numpy = preset(Format::F16, Preset::Numpy).unwrap().judge.tolerance;
        assert_eq!((numpy.relative, numpy.absolute), (1e-5, 1e-8));
        assert!(
            preset(Format::F32, Preset::FastMath)
                .unwrap()
                .judge
                .accepts_flush_to_zero
        );
        assert_eq!(
            preset(Format::F32, Preset::TensorCore).unwrap_err(),
            ToleranceError::NoReduction(Preset::TensorCore)
        );
        assert_eq!("fast-math".parse(), Ok(Preset::FastMath));
        assert!(
            "fast"
                .parse::<Preset>()
                .unwrap_err()
                .contains("tensor-core")
        );
    }

    #[test]
    fn functions_have_the_bounds_of_the_table() {
        let expf = of(
            Format::F32,
            Computation {
                function: function("expf", Format::F32),
                ..Computation::default()
            },
        );
        assert_eq!(expf.judge.tolerance.ulps, 2.5);
        let half = of(
            Format::F16,
            Computation {
                function: function("exp", Format::F16),
                ..Computation::default()
            },
        );
        assert_eq!(half.judge.tolerance.ulps, 0.5);
        assert!((half.judge.tolerance.relative - 2.5 * 2.0_f64.powi(-23)).abs() < 1e-12);
    }
}
