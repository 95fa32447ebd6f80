//! What an output is held to when its reference is known with its noise.

use super::Reference;
use crate::format::Format;
use crate::measure::{Judge, Limits};
use crate::tolerance::Tolerance;

/// How many times the noise is allowed: noise is an upper estimate, and four standard deviations of errors of random sign are hardly
/// ever exceeded.
const ALLOWED: f64 = 4.0;

impl Reference {
    /// What an output of a format may differ by: `u_out · |r| + 4 · u_acc · noise + smallest number of the output`. The noise goes in as
    /// magnitudes. `what` is the operation, such as `softmax over rows of 4096`, and `noise` says what its noise is.
    #[must_use]
    pub fn tolerance(
        &self,
        what: &str,
        noise: &str,
        output: Format,
        accumulate: Format,
    ) -> Tolerance {
        let u = accumulate.unit_roundoff().unwrap_or(0.0);
        // The values of a reference are rounded to FP64 themselves.
        let roundings = if output == Format::F64 { 2.0 } else { 1.0 };
        let rounding = roundings * output.unit_roundoff().unwrap_or(0.0);
        // Integers are rounded to the nearest.
        let smallest = output.min_subnormal().unwrap_or(0.5);
        let limits = |magnitude| Limits {
            absolute: smallest,
            relative: rounding,
            ulps: 0.0,
            magnitude,
        };
        let mut reasons = Vec::new();
        if noise == NO_NOISE {
            reasons.push("Nothing is rounded on the way.".to_owned());
        } else {
            reasons.push(format!(
                "Computing in {accumulate} (unit roundoff {u:.2e}) errs by about {u:.2e} of the noise, which is {noise} here; {ALLOWED} times that is allowed."
            ));
        }
        if rounding > 0.0 {
            reasons.push(format!(
                "Storing the result as {output} adds {rounding:.2e} of it."
            ));
        }
        Tolerance {
            judge: Judge {
                tolerance: limits(ALLOWED * u),
                certain: Some(limits(u * self.worst_case().max(ALLOWED))),
                accepts_flush_to_zero: false,
                relative_floor: output.min_normal().unwrap_or(1.0),
            },
            name: format!("rounding of {what} in {accumulate}"),
            reasons,
            is_chosen: false,
            per_term: None,
        }
    }
}

/// What is said of the noise of operations that round nothing.
pub const NO_NOISE: &str = "0";

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "expected values are exact")]
mod tests {
    use super::*;

    #[test]
    fn limits_follow_from_noise_and_formats() {
        let reference = Reference {
            shape: vec![1],
            values: vec![1.0],
            noise: vec![8.0],
            length: 64,
        };
        let tolerance = reference.tolerance("a sum", "8", Format::Bf16, Format::F32);
        let limits = tolerance.judge.tolerance;
        assert_eq!(limits.relative, 2_f64.powi(-8));
        assert_eq!(limits.magnitude, 4.0 * 2_f64.powi(-24));
        // √64 = 8 times the noise at worst.
        let certain = tolerance.judge.certain.unwrap();
        assert_eq!(certain.magnitude, 8.0 * 2_f64.powi(-24));
        assert_eq!(tolerance.name, "rounding of a sum in f32");
        let double = reference.tolerance("a sum", "8", Format::F64, Format::F64);
        assert_eq!(double.judge.tolerance.relative, 2_f64.powi(-52));
        let integers = reference.tolerance("a maximum", NO_NOISE, Format::I32, Format::F32);
        assert_eq!(integers.judge.tolerance.absolute, 0.5);
        assert_eq!(integers.reasons, ["Nothing is rounded on the way."]);
    }
}
