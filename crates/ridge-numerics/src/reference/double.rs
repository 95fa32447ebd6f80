//! Numbers of twice the precision of `f64`.

/// An unevaluated sum of two `f64` that do not overlap: about 106 bits of mantissa with the range of `f64`.
///
/// Sums and products are those of Dekker (1971) and Knuth (The Art of Computer Programming, volume 2, 4.2.2): exact
/// transformations of two `f64` into a result and its rounding error. A NaN or an infinity makes `high` one, as in `f64`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DoubleDouble {
    /// The sum, rounded to `f64`.
    pub high: f64,
    /// What is left of it.
    pub low: f64,
}

/// A sum and its rounding error, whose sum is exact.
pub(super) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// As [`two_sum`] where |a| ≥ |b| or a is 0.
fn fast_two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// A product and its rounding error, whose sum is exact unless the error is below the smallest number.
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    if cfg!(target_feature = "fma") {
        return (product, a.mul_add(b, -product));
    }
    // Without the instruction a fused operation is a slow function of the library. Splitting needs range to spare.
    const LARGEST: f64 = f64::MAX / 134_217_729.0;
    if a.abs() > LARGEST || b.abs() > LARGEST {
        return (product, a.mul_add(b, -product));
    }
    let ((a_high, a_low), (b_high, b_low)) = (split(a), split(b));
    let error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    (product, error)
}

/// Two parts of 26 bits (Veltkamp).
fn split(a: f64) -> (f64, f64) {
    let scaled = 134_217_729.0 * a;
    let high = scaled - (scaled - a);
    (high, a - high)
}

impl DoubleDouble {
    /// Adds a value.
    #[must_use]
    pub fn plus(self, value: f64) -> Self {
        let (sum, error) = two_sum(self.high, value);
        self.with(sum, error + self.low)
    }

    /// Adds a product.
    #[must_use]
    pub fn plus_product(self, a: f64, b: f64) -> Self {
        let (product, rest) = two_product(a, b);
        let (sum, error) = two_sum(self.high, product);
        self.with(sum, error + (self.low + rest))
    }

    fn with(self, sum: f64, error: f64) -> Self {
        // Past the range errors are NaN, and would hide an infinity.
        if !sum.is_finite() {
            return Self {
                high: sum,
                low: 0.0,
            };
        }
        let (high, low) = fast_two_sum(sum, error);
        Self { high, low }
    }

    /// The value, rounded to `f64`.
    #[must_use]
    pub fn value(self) -> f64 {
        self.high + self.low
    }

    /// How far a value is from it, as a signed `f64`: `value − self`.
    #[must_use]
    pub fn distance_to(self, value: f64) -> f64 {
        (value - self.high) - self.low
    }

    /// The sum of values.
    #[must_use]
    pub fn sum(values: impl IntoIterator<Item = f64>) -> Self {
        values.into_iter().fold(Self::default(), Self::plus)
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "expected values are exact")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A finite `f64` as an integer times 2^-400, for magnitudes between 2^-340 and 2^340.
    fn scaled(value: f64) -> Vec<i64> {
        // Digits to the base 2^32, signed: enough for sums of a few products, which are compared digit by digit after carrying.
        let mut digits = vec![0_i64; 60];
        let bits = value.to_bits();
        let exponent = ((bits >> 52) & 0x7ff) as i32 - 1075;
        let mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
        if value == 0.0 {
            return digits;
        }
        let place = (exponent + 800) as usize;
        let wide = u128::from(mantissa) << (place % 32);
        for part in 0..3 {
            let digit = ((wide >> (32 * part)) & 0xffff_ffff) as i64;
            digits[place / 32 + part] = if value < 0.0 { -digit } else { digit };
        }
        digits
    }

    fn carried(mut digits: Vec<i64>) -> Vec<i64> {
        for place in 0..digits.len() - 1 {
            let carry = digits[place].div_euclid(1 << 32);
            digits[place] -= carry << 32;
            digits[place + 1] += carry;
        }
        digits
    }

    fn added(all: &[f64]) -> Vec<i64> {
        let mut digits = vec![0_i64; 60];
        for value in all {
            for (digit, own) in digits.iter_mut().zip(scaled(*value)) {
                *digit += own;
            }
        }
        carried(digits)
    }

    fn number() -> impl Strategy<Value = f64> {
        (any::<bool>(), -160_i32..160, 0_u64..1 << 52).prop_map(|(negative, exponent, mantissa)| {
            let bits = u64::from(negative) << 63 | ((exponent + 1023) as u64) << 52 | mantissa;
            f64::from_bits(bits)
        })
    }

    proptest! {
        // Against integers of any size, made here from the bits.
        #[test]
        fn a_sum_and_its_error_are_exact(a in number(), b in number()) {
            let (sum, error) = two_sum(a, b);
            prop_assert_eq!(added(&[a, b]), added(&[sum, error]));
        }

        #[test]
        fn a_product_and_its_error_are_exact(a in number(), b in number()) {
            let (product, error) = two_product(a, b);
            prop_assert_eq!(product.to_bits(), (a * b).to_bits());
            // The fused operation of the standard library rounds the exact error once, and the error is an `f64`.
            prop_assert_eq!(error, a.mul_add(b, -product));
        }
    }

    #[test]
    fn what_f64_loses_is_kept() {
        let sum = DoubleDouble::sum([1e16, 1.0, -1e16]);
        assert_eq!(sum.value(), 1.0);
        let square = DoubleDouble::default()
            .plus_product(1.0 + f64::EPSILON, 1.0 + f64::EPSILON)
            .plus(-1.0 - 2.0 * f64::EPSILON);
        assert_eq!(square.value(), f64::EPSILON * f64::EPSILON);
    }

    #[test]
    fn infinities_stay_infinite() {
        assert_eq!(
            DoubleDouble::sum([f64::MAX, f64::MAX, 1.0]).value(),
            f64::INFINITY
        );
        assert!(
            DoubleDouble::sum([f64::INFINITY, f64::NEG_INFINITY])
                .value()
                .is_nan()
        );
        let large = DoubleDouble::default().plus_product(1e300, 1e-300);
        assert!((large.value() - 1.0).abs() < 1e-15);
    }
}
