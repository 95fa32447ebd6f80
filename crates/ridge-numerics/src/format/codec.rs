//! Codes to values and back.

use super::{Format, Layout, Specials, power_of_two};

/// What becomes of a value beyond the largest finite number, an infinity included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// The largest finite number with its sign, as the conversions of CUDA's FP8 types do by default.
    Saturate,
    /// Infinity; NaN where the format has no infinity, as the frameworks' conversions do; the largest finite number where it
    /// has neither. Integers saturate.
    NonFinite,
}

/// Bits of the mantissa of `f64`.
const F64_MANTISSA: u32 = f64::MANTISSA_DIGITS - 1;

impl Format {
    /// The value of a code, exactly, except that integers beyond 2^53 are rounded: [`Format::decode_integer`] does not. Bits
    /// above the format's are ignored. For complex formats the value of a part.
    #[must_use]
    #[inline]
    pub fn decode(self, code: u64) -> f64 {
        match self {
            Self::F64 | Self::C128 => f64::from_bits(code),
            Self::F32 | Self::C64 => f64::from(f32::from_bits(code as u32)),
            Self::Tf32 => decode_tf32(code as u32),
            Self::Bf16 => f64::from(f32::from_bits((code as u32) << 16)),
            Self::I8 => f64::from(code as i8),
            Self::I16 => f64::from(code as i16),
            Self::I32 => f64::from(code as i32),
            Self::I64 => code as i64 as f64,
            Self::U8 => f64::from(code as u8),
            Self::U16 => f64::from(code as u16),
            Self::U32 => f64::from(code as u32),
            Self::U64 => code as f64,
            Self::Bool => f64::from(u8::from(code as u8 != 0)),
            float => float
                .layout()
                .map_or(f64::NAN, |layout| decode_small(layout, code)),
        }
    }

    /// The value of an integer's or boolean's code, exactly. `None` for floating-point formats.
    #[must_use]
    pub const fn decode_integer(self, code: u64) -> Option<i128> {
        Some(match self {
            Self::I8 => code as i8 as i128,
            Self::I16 => code as i16 as i128,
            Self::I32 => code as i32 as i128,
            Self::I64 => code as i64 as i128,
            Self::U8 => code as u8 as i128,
            Self::U16 => code as u16 as i128,
            Self::U32 => code as u32 as i128,
            Self::U64 => code as i128,
            Self::Bool => (code as u8 != 0) as i128,
            _ => return None,
        })
    }

    /// The code of the number nearest to a value; of two equally near ones that with an even last bit. It is rounded once,
    /// from `f64`. For complex formats the code of a part.
    ///
    /// * A NaN keeps its sign. Formats without NaN get their largest number, as in PTX's conversions; integers get 0.
    /// * Formats without negative zero get zero.
    /// * [`Format::E8m0`] has only positive numbers: zero and what is less become NaN, what is smaller than its smallest number
    ///   becomes that. Halfway between two numbers it rounds up.
    /// * A boolean is whether the value differs from 0.
    #[must_use]
    pub fn encode(self, value: f64, overflow: Overflow) -> u64 {
        let integer = value.round_ties_even();
        // Casts to integers saturate, and make 0 of NaN.
        match self {
            Self::F64 | Self::C128 if overflow == Overflow::NonFinite || value.is_finite() => {
                value.to_bits()
            }
            Self::F32 | Self::C64 if overflow == Overflow::NonFinite => {
                u64::from((value as f32).to_bits())
            }
            Self::I8 => u64::from(integer as i8 as u8),
            Self::I16 => u64::from(integer as i16 as u16),
            Self::I32 => u64::from(integer as i32 as u32),
            Self::I64 => integer as i64 as u64,
            Self::U8 => u64::from(integer as u8),
            Self::U16 => u64::from(integer as u16),
            Self::U32 => u64::from(integer as u32),
            Self::U64 => integer as u64,
            // NaN differs from 0.
            Self::Bool => u64::from(value.abs() > 0.0 || value.is_nan()),
            Self::E8m0 => encode_scale(value, overflow),
            float => float
                .layout()
                .map_or(0, |layout| encode_float(layout, value, overflow)),
        }
    }

    /// Whether a code is a NaN.
    #[must_use]
    #[inline]
    pub const fn is_nan_code(self, code: u64) -> bool {
        let Some(layout) = self.layout() else {
            return false;
        };
        let magnitude = code & self.magnitude_mask();
        match layout.specials {
            Specials::Ieee => magnitude > ((layout.max_code() + 1) << layout.padding),
            Specials::NanOnly => magnitude == layout.max_code() + 1,
            Specials::Fnuz => magnitude == 0 && code & self.sign_mask() != 0,
            Specials::FiniteOnly => false,
        }
    }

    /// The bits of a code below the sign, padding included.
    pub(super) const fn magnitude_mask(self) -> u64 {
        match self.layout() {
            Some(layout) => (1 << (layout.exponent + layout.mantissa + layout.padding)) - 1,
            None => u64::MAX,
        }
    }

    /// The bit of the sign, of floating-point formats with one.
    pub(super) const fn sign_mask(self) -> u64 {
        match self.layout() {
            Some(layout) if layout.sign == 1 => self.magnitude_mask() + 1,
            _ => 0,
        }
    }
}

/// The padding is left out, but a NaN that has its only set bits there stays one.
fn decode_tf32(code: u32) -> f64 {
    let whole = f32::from_bits(code);
    f64::from(if whole.is_nan() {
        whole
    } else {
        f32::from_bits(code & !0x1fff)
    })
}

/// The value of a code of 16 bits or less.
fn decode_small(layout: Layout, code: u64) -> f64 {
    let Layout {
        exponent, mantissa, ..
    } = layout;
    let magnitude = code & ((1 << (exponent + mantissa)) - 1);
    let is_negative = layout.sign == 1 && code >> (exponent + mantissa) & 1 == 1;
    let sign = if is_negative { -1.0 } else { 1.0 };
    match layout.specials {
        Specials::Fnuz if is_negative && magnitude == 0 => return f64::NAN,
        Specials::NanOnly if magnitude > layout.max_code() => return f64::NAN.copysign(sign),
        Specials::Ieee if magnitude > layout.max_code() => {
            let is_infinite = magnitude == layout.max_code() + 1;
            return if is_infinite { f64::INFINITY } else { f64::NAN }.copysign(sign);
        }
        _ => {}
    }
    let stored = (magnitude >> mantissa) as i32;
    if layout.sign == 0 {
        return power_of_two(stored - layout.bias);
    }
    let fraction = (magnitude & ((1 << mantissa) - 1)) as f64;
    // Both factors and the product are exact: at most 11 bits, and powers that `f64` has.
    let value = if stored == 0 {
        fraction * power_of_two(layout.min_exponent() - mantissa as i32)
    } else {
        (fraction + power_of_two(mantissa as i32))
            * power_of_two(stored - layout.bias - mantissa as i32)
    };
    value.copysign(sign)
}

fn encode_float(layout: Layout, value: f64, overflow: Overflow) -> u64 {
    let Layout {
        exponent,
        mantissa,
        specials,
        padding,
        ..
    } = layout;
    let sign_bit = 1_u64 << (exponent + mantissa);
    let sign = if value.is_sign_negative() {
        sign_bit
    } else {
        0
    };
    let max_code = layout.max_code();
    let code = if value.is_nan() {
        match specials {
            // The highest bit of the mantissa makes a quiet NaN.
            Specials::Ieee => sign | (max_code + 1) | 1 << (mantissa - 1),
            Specials::NanOnly => sign | (max_code + 1),
            Specials::Fnuz => sign_bit,
            Specials::FiniteOnly => max_code,
        }
    } else {
        match round(layout, value) {
            Some(magnitude) if magnitude <= max_code => {
                // The code of negative zero is NaN there.
                if magnitude == 0 && specials == Specials::Fnuz {
                    0
                } else {
                    sign | magnitude
                }
            }
            _ => match (overflow, specials) {
                (Overflow::NonFinite, Specials::Ieee | Specials::NanOnly) => sign | (max_code + 1),
                (Overflow::NonFinite, Specials::Fnuz) => sign_bit,
                _ => sign | max_code,
            },
        }
    };
    code << padding
}

/// The magnitude's code as if the exponent had no upper limit. `None` for infinities.
fn round(layout: Layout, value: f64) -> Option<u64> {
    let bits = value.abs().to_bits();
    let stored = (bits >> F64_MANTISSA) as i32;
    if stored == 0x7ff {
        return None;
    }
    let fraction = bits & ((1 << F64_MANTISSA) - 1);
    // The value is `significand * 2^(power - 52)`.
    let (significand, power) = if stored == 0 {
        (fraction, -1022)
    } else {
        (fraction | 1 << F64_MANTISSA, stored - 1023)
    };
    let lowest = layout.min_exponent();
    let scale = power.max(lowest);
    // Bits that the format does not have at this size of the value.
    let dropped = F64_MANTISSA - layout.mantissa + (scale - power) as u32;
    let rounded = match dropped {
        0 => significand,
        // The significand has 53 bits: this is less than a half.
        54.. => 0,
        _ => {
            let kept = significand >> dropped;
            let rest = significand & ((1 << dropped) - 1);
            let half = 1 << (dropped - 1);
            kept + u64::from(rest > half || (rest == half && kept & 1 == 1))
        }
    };
    // The leading 1 of normal numbers, and a carry out of the mantissa, count the exponent up.
    Some((((scale - lowest) as u64) << layout.mantissa) + rounded)
}

/// A power of two for [`Format::E8m0`]. It has no mantissa whose last bit could be even: a value halfway goes up, as in
/// ml_dtypes, which lets fewer elements of a block overflow.
fn encode_scale(value: f64, overflow: Overflow) -> u64 {
    const NAN: u64 = 0xff;
    const MAX: u64 = 0xfe;
    if value.is_nan() || value <= 0.0 {
        return NAN;
    }
    let bits = value.to_bits();
    let exponent = (bits >> F64_MANTISSA) as i64 - 1023 + 127;
    let is_up = bits >> (F64_MANTISSA - 1) & 1;
    match (exponent + is_up as i64, overflow) {
        (..=0, _) => 0,
        (code @ 1..=0xfe, _) => code as u64,
        (_, Overflow::Saturate) => MAX,
        (_, Overflow::NonFinite) => NAN,
    }
}
