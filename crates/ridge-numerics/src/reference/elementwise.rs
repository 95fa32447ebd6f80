//! Functions of elements.

use std::fmt;
use std::str::FromStr;

use super::array::{Array, ShapeError};
use super::parallel::{Threads, pieces};
use super::{Precision, Reference};

/// A function of one, two or three elements.
///
/// Values are those of `f64` functions, right to about one unit in the last place of `f64`. Noise is half the documented maximum
/// error in units in the last place times the value, so that four times it, beside one rounding, is the documented bound. Where
/// a function is made of others and cancels, such as gelu for negative inputs, it is the size of what cancels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function(&'static Row);

/// A name that is no function's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFunction;

impl fmt::Display for UnknownFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no function of this name; there are ")?;
        for (index, row) in ROWS.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{}", row.name)?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownFunction {}

#[derive(Debug)]
enum Body {
    One(fn(f64) -> f64),
    Two(fn(f64, f64) -> f64),
    Three(fn(f64, f64, f64) -> f64),
    /// With the size of what is rounded on the way, where it is not the value's own.
    Cancelling(fn(f64, f64, f64) -> (f64, f64), usize),
}

#[derive(Debug)]
struct Row {
    name: &'static str,
    body: Body,
    /// Maximum errors in units in the last place, of FP32 and of FP64, after the CUDA C++ programming guide, appendix on
    /// mathematical functions. Of compositions: what their parts add up to.
    bounds: (f64, f64),
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Row {}

const fn one(name: &'static str, body: fn(f64) -> f64, single: f64, double: f64) -> Row {
    Row {
        name,
        body: Body::One(body),
        bounds: (single, double),
    }
}

const fn two(name: &'static str, body: fn(f64, f64) -> f64, single: f64, double: f64) -> Row {
    Row {
        name,
        body: Body::Two(body),
        bounds: (single, double),
    }
}

static ROWS: [Row; 39] = [
    one("neg", |x| -x, 0.0, 0.0),
    one("abs", f64::abs, 0.0, 0.0),
    one("relu", |x| if x < 0.0 { 0.0 } else { x }, 0.0, 0.0),
    one("square", |x| x * x, 0.0, 0.0),
    one("reciprocal", f64::recip, 0.0, 0.0),
    one("sqrt", f64::sqrt, 0.0, 0.0),
    one("rsqrt", |x| 1.0 / x.sqrt(), 2.0, 1.0),
    one("cbrt", f64::cbrt, 1.0, 1.0),
    one("exp", f64::exp, 2.0, 1.0),
    one("exp2", f64::exp2, 2.0, 1.0),
    one("exp10", |x| 10_f64.powf(x), 2.0, 1.0),
    one("expm1", f64::exp_m1, 1.0, 1.0),
    one("log", f64::ln, 1.0, 1.0),
    one("log2", f64::log2, 1.0, 1.0),
    one("log10", f64::log10, 2.0, 1.0),
    one("log1p", f64::ln_1p, 1.0, 1.0),
    one("sin", f64::sin, 2.0, 2.0),
    one("cos", f64::cos, 2.0, 2.0),
    one("tan", f64::tan, 4.0, 2.0),
    one("asin", f64::asin, 2.0, 2.0),
    one("acos", f64::acos, 2.0, 2.0),
    one("atan", f64::atan, 2.0, 2.0),
    one("sinh", f64::sinh, 3.0, 2.0),
    one("cosh", f64::cosh, 2.0, 1.0),
    one("tanh", f64::tanh, 2.0, 1.0),
    one("erf", libm::erf, 2.0, 2.0),
    one("erfc", libm::erfc, 4.0, 5.0),
    // The exponential, a sum and a division: 2 + 1/2 + 1/2, and the rounding of the argument.
    one("sigmoid", |x| 1.0 / (1.0 + (-x).exp()), 4.0, 3.0),
    one("silu", |x| x / (1.0 + (-x).exp()), 4.0, 3.0),
    Row {
        name: "gelu",
        body: Body::Cancelling(
            |x, _, _| {
                let scaled = x / std::f64::consts::SQRT_2;
                let value = 0.5 * x * libm::erfc(-scaled);
                (value, 0.5 * x.abs() * (1.0 + libm::erf(scaled).abs()))
            },
            1,
        ),
        bounds: (4.0, 4.0),
    },
    two("add", |x, y| x + y, 0.0, 0.0),
    two("sub", |x, y| x - y, 0.0, 0.0),
    two("mul", |x, y| x * y, 0.0, 0.0),
    two("div", |x, y| x / y, 0.0, 0.0),
    two("pow", f64::powf, 4.0, 2.0),
    two("atan2", f64::atan2, 3.0, 2.0),
    two("hypot", f64::hypot, 3.0, 2.0),
    Row {
        name: "fma",
        body: Body::Three(f64::mul_add),
        bounds: (0.0, 0.0),
    },
    Row {
        // With or without contraction: the product may be rounded.
        name: "muladd",
        body: Body::Cancelling(|x, y, z| (x.mul_add(y, z), (x * y).abs()), 3),
        bounds: (0.5, 0.5),
    },
];

impl Function {
    /// The names of all functions.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ROWS.iter().map(|row| row.name)
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// How many inputs it takes: 1 to 3.
    #[must_use]
    pub const fn arity(self) -> usize {
        match self.0.body {
            Body::One(_) => 1,
            Body::Two(_) => 2,
            Body::Three(_) => 3,
            Body::Cancelling(_, arity) => arity,
        }
    }

    /// The documented maximum error in units in the last place when it is computed in FP32, or in FP64.
    #[must_use]
    pub const fn max_ulp(self, is_double: bool) -> f64 {
        let (single, double) = self.0.bounds;
        if is_double { double } else { single }
    }

    /// Applies it to each element. Inputs of one element serve all elements of the others.
    ///
    /// # Errors
    /// When there are not as many inputs as it takes, or their shapes differ.
    pub fn compute(
        self,
        inputs: &[Array<'_>],
        precision: Precision,
        threads: Threads,
    ) -> Result<Reference, ShapeError> {
        if inputs.len() != self.arity() {
            return Err(ShapeError::Differ {
                one: "inputs of the function",
                is: self.arity(),
                other: "inputs that are given",
                but: inputs.len(),
            });
        }
        let whole = inputs
            .iter()
            .find(|input| input.values().len() != 1)
            .unwrap_or(&inputs[0]);
        for input in inputs {
            if input.values().len() != 1 && input.shape() != whole.shape() {
                return Err(ShapeError::Dimensions {
                    what: "an input",
                    shape: input.shape().to_vec(),
                    needs: "the shape of the other inputs, or one element,",
                });
            }
        }
        let size = whole.values().len();
        let mut reference = Reference {
            shape: whole.shape().to_vec(),
            values: vec![0.0; size],
            noise: vec![0.0; size],
            length: 1,
        };
        let at = |input: usize, index: usize| {
            let values = inputs.get(input).map_or(&[][..], Array::values);
            match values {
                [one] => *one,
                many => many.get(index).copied().unwrap_or(0.0),
            }
        };
        let is_double = precision == Precision::DoubleDouble;
        // The reference of FP64 functions is one of FP64 itself, and may be off by one.
        let own = if is_double && self.max_ulp(true) > 0.0 {
            1.0
        } else {
            0.0
        };
        let bound = (self.max_ulp(is_double) + own) / 2.0;
        const PIECE: usize = 1 << 13;
        pieces(
            &mut reference.values,
            &mut reference.noise,
            PIECE,
            threads,
            |piece, values, noise| {
                for (place, (value, noise)) in values.iter_mut().zip(noise).enumerate() {
                    let index = piece * PIECE + place;
                    let x = at(0, index);
                    let size;
                    (*value, size) = match self.0.body {
                        Body::One(body) => (body(x), None),
                        Body::Two(body) => (body(x, at(1, index)), None),
                        Body::Three(body) => (body(x, at(1, index), at(2, index)), None),
                        Body::Cancelling(body, _) => {
                            let (value, size) = body(x, at(1, index), at(2, index));
                            (value, Some(size))
                        }
                    };
                    *noise = if bound == 0.0 {
                        0.0
                    } else {
                        bound * size.unwrap_or(value.abs())
                    };
                }
            },
        );
        Ok(reference)
    }
}

impl FromStr for Function {
    type Err = UnknownFunction;

    fn from_str(name: &str) -> Result<Self, UnknownFunction> {
        ROWS.iter()
            .find(|row| row.name.eq_ignore_ascii_case(name))
            .map(Self)
            .ok_or(UnknownFunction)
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "expected values are exact")]
mod tests {
    use super::*;

    fn apply(name: &str, inputs: &[f64]) -> (f64, f64) {
        let function: Function = name.parse().unwrap();
        let arrays: Vec<Array<'_>> = inputs
            .iter()
            .map(|input| Array::new(std::slice::from_ref(input), &[1]).unwrap())
            .collect();
        let reference = function
            .compute(&arrays, Precision::F64, Threads::ONE)
            .unwrap();
        (reference.values[0], reference.noise[0])
    }

    /// Values of mpmath at 40 digits, rounded to FP64.
    #[test]
    fn functions_give_known_values() {
        for (name, inputs, expected) in [
            ("exp", &[1.0][..], std::f64::consts::E),
            ("exp10", &[0.5], 3.162_277_660_168_379_5),
            ("rsqrt", &[2.0], std::f64::consts::FRAC_1_SQRT_2),
            ("erf", &[0.5], 0.520_499_877_813_046_5),
            ("erfc", &[4.0], 1.541_725_790_028_002e-8),
            ("sigmoid", &[-3.0], 0.047_425_873_177_566_78),
            ("silu", &[2.0], 1.761_594_155_955_764_9),
            ("gelu", &[-3.0], -0.004_049_694_094_890_284),
            ("gelu", &[1.0], 0.841_344_746_068_542_9),
            ("log1p", &[1e-10], 9.999_999_999_500_001e-11),
            ("pow", &[3.0, 0.5], 1.732_050_807_568_877_2),
            ("atan2", &[-1.0, -1.0], -2.356_194_490_192_345),
            ("hypot", &[3.0, 4.0], 5.0),
            ("fma", &[2.0, 3.0, 4.0], 10.0),
            ("muladd", &[2.0, 3.0, -6.0], 0.0),
            ("relu", &[-1.0], 0.0),
        ] {
            let (value, _) = apply(name, inputs);
            let allowed = 4.0 * f64::EPSILON * f64::abs(expected);
            assert!((value - expected).abs() <= allowed, "{name} {value}");
        }
        assert!(apply("relu", &[f64::NAN]).0.is_nan());
    }

    #[test]
    fn what_cancels_is_allowed_for() {
        // 1 + erf(−2.1) is 0.003, of two numbers near 1: FP32 leaves a few bits less.
        let (value, noise) = apply("gelu", &[-3.0]);
        assert!(noise > 100.0 * value.abs());
        // Rounded by itself, the product may be off by half a unit.
        assert!(apply("muladd", &[2.0, 3.0, -6.0]).1 > 0.0);
        assert_eq!(apply("add", &[1.0, 2.0]).1, 0.0);
        // Four times the noise is the documented bound in units of at most 2u.
        let (value, noise) = apply("exp", &[1.0]);
        assert!((4.0 * noise - 2.0 * 2.0 * value).abs() < 1e-12);
    }

    #[test]
    fn one_element_serves_all_others() {
        let function: Function = "mul".parse().unwrap();
        let x = [1.0, 2.0, 3.0];
        let inputs = [
            Array::new(&x, &[3]).unwrap(),
            Array::new(&[10.0], &[]).unwrap(),
        ];
        let reference = function
            .compute(&inputs, Precision::F64, Threads::ONE)
            .unwrap();
        assert_eq!(reference.values, [10.0, 20.0, 30.0]);
        assert_eq!(reference.shape, [3]);
        let error = function
            .compute(&inputs[..1], Precision::F64, Threads::ONE)
            .unwrap_err();
        assert_eq!(error.code(), "NREF0003");
        assert!(
            "tangent"
                .parse::<Function>()
                .unwrap_err()
                .to_string()
                .contains("tanh")
        );
    }
}
