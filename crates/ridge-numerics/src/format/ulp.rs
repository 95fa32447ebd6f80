//! Units in the last place: how far apart neighbouring numbers are, and how many lie between two.

use super::Format;

impl Format {
    /// The distance between neighbouring numbers at a value, upwards at a power of two. It is that of the smallest numbers
    /// below the normal ones, and that of the largest ones above the range. 1 for integers, NaN for NaN.
    #[must_use]
    #[inline]
    pub fn ulp_of(self, value: f64) -> f64 {
        if value.is_nan() {
            return f64::NAN;
        }
        let Some(layout) = self.layout() else {
            return 1.0;
        };
        let highest = ((layout.max_code() >> layout.mantissa) as i32) - layout.bias;
        let stored = (value.abs().to_bits() >> 52) as i32;
        let power = (stored - 1023).clamp(layout.min_exponent(), highest);
        // The smallest numbers of `f64` itself lie below its normal powers.
        match power - layout.mantissa as i32 {
            normal @ -1022.. => super::power_of_two(normal),
            below => f64::from_bits(1 << (below + 1074).max(0)),
        }
    }

    /// The place of a code among all codes in the order of their values: neighbours differ by 1, and both zeros have the same
    /// place, 0. NaNs lie beyond the infinities. For complex formats the place of a part.
    #[must_use]
    #[inline]
    pub const fn ordered(self, code: u64) -> i64 {
        match self {
            Self::I8 => code as i8 as i64,
            Self::I16 => code as i16 as i64,
            Self::I32 => code as i32 as i64,
            Self::I64 => code as i64,
            Self::U8 => code as u8 as i64,
            Self::U16 => code as u16 as i64,
            Self::U32 => code as u32 as i64,
            // The order of integers without sign, moved down to those with one.
            Self::U64 => (code ^ 1 << 63) as i64,
            Self::Bool => (code as u8 != 0) as i64,
            float => {
                let padding = match float.layout() {
                    Some(layout) => layout.padding,
                    None => 0,
                };
                let magnitude = ((code & float.magnitude_mask()) >> padding) as i64;
                if code & float.sign_mask() == 0 {
                    magnitude
                } else {
                    -magnitude
                }
            }
        }
    }

    /// How many steps from number to number lie between two codes: 0 for the same value. Infinities count as the numbers that
    /// follow the largest. Two NaNs are 0 apart; `None` where only one of the codes is NaN.
    #[must_use]
    #[inline]
    pub const fn ulp_distance(self, a: u64, b: u64) -> Option<u64> {
        match (self.is_nan_code(a), self.is_nan_code(b)) {
            (false, false) => Some(self.ordered(a).abs_diff(self.ordered(b))),
            (true, true) => Some(0),
            _ => None,
        }
    }
}
