//! The formats: their layout and what follows from it.

mod codec;
mod diagram;
mod names;
mod packed;
mod slice;
mod ulp;

pub use codec::Overflow;
pub use names::UnknownFormat;
pub use slice::Endian;

use serde::{Deserialize, Serialize};

/// How one element of a tensor is written in bits.
///
/// A *code* is the element as an unsigned integer, in the low bits of a `u64`. Complex elements have two parts, the real one
/// first; codes are those of the parts, and what is said about values holds for each part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// IEEE 754 binary64.
    F64,
    /// IEEE 754 binary32.
    F32,
    /// TF32: 19 bits at the top of a 32-bit word. The low 13 bits of a code mean nothing, except that they can make a NaN.
    Tf32,
    /// IEEE 754 binary16.
    F16,
    /// bfloat16: the upper half of binary32.
    Bf16,
    /// FP8 E4M3 of the OCP specification (`float8_e4m3fn`): no infinity.
    E4m3,
    /// FP8 E5M2 of the OCP specification.
    E5m2,
    /// FP8 E4M3 with bias 8, one NaN, no infinity and no negative zero.
    E4m3Fnuz,
    /// FP8 E5M2 with bias 16, one NaN, no infinity and no negative zero.
    E5m2Fnuz,
    /// FP6 E2M3 of the MX specification: finite numbers only.
    E2m3,
    /// FP6 E3M2 of the MX specification: finite numbers only.
    E3m2,
    /// FP4 E2M1 of the MX specification: finite numbers only.
    E2m1,
    /// E8M0, the scale of MX blocks: powers of two and one NaN; neither zero nor sign.
    E8m0,
    /// 8-bit integer in two's complement.
    I8,
    /// 16-bit integer in two's complement.
    I16,
    /// 32-bit integer in two's complement.
    I32,
    /// 64-bit integer in two's complement.
    I64,
    /// 8-bit integer without sign.
    U8,
    /// 16-bit integer without sign.
    U16,
    /// 32-bit integer without sign.
    U32,
    /// 64-bit integer without sign.
    U64,
    /// One byte, 0 or 1; every other byte counts as 1.
    Bool,
    /// Two [`Format::F32`].
    C64,
    /// Two [`Format::F64`].
    C128,
}

/// Which codes of a floating-point format are no finite numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Specials {
    /// As in IEEE 754: the highest exponent holds infinities and NaNs.
    Ieee,
    /// No infinity; the highest magnitude is NaN, with either sign.
    NanOnly,
    /// No infinity and no negative zero; the code of negative zero is the one NaN.
    Fnuz,
    /// Neither infinity nor NaN.
    FiniteOnly,
}

/// The fields of a floating-point format, from the highest bit: sign, exponent, mantissa, padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bits of the sign, 0 or 1.
    pub sign: u32,
    /// Bits of the exponent.
    pub exponent: u32,
    /// Stored bits of the mantissa, the leading 1 not counted.
    pub mantissa: u32,
    /// What is subtracted from the stored exponent.
    pub bias: i32,
    /// Codes that are no finite numbers.
    pub specials: Specials,
    /// Bits below the mantissa that mean nothing.
    pub padding: u32,
}

impl Layout {
    const fn new(exponent: u32, mantissa: u32, bias: i32, specials: Specials) -> Self {
        Self {
            sign: 1,
            exponent,
            mantissa,
            bias,
            specials,
            padding: 0,
        }
    }

    /// The exponent of the smallest normal number, as a power of two.
    #[must_use]
    pub const fn min_exponent(self) -> i32 {
        // Without sign the format is E8M0, whose exponent 0 is no subnormal number.
        if self.sign == 0 {
            -self.bias
        } else {
            1 - self.bias
        }
    }

    /// The code of the largest finite number, padding left out.
    const fn max_code(self) -> u64 {
        let all = (1_u64 << (self.exponent + self.mantissa)) - 1;
        match self.specials {
            Specials::Ieee => all - (1 << self.mantissa),
            Specials::NanOnly => all - 1,
            Specials::Fnuz | Specials::FiniteOnly => all,
        }
    }
}

/// 2 to a power within the normal numbers of `f64`.
pub(crate) const fn power_of_two(exponent: i32) -> f64 {
    debug_assert!(exponent >= -1022 && exponent <= 1023);
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 24] = [
        Self::F64,
        Self::F32,
        Self::Tf32,
        Self::F16,
        Self::Bf16,
        Self::E4m3,
        Self::E5m2,
        Self::E4m3Fnuz,
        Self::E5m2Fnuz,
        Self::E2m3,
        Self::E3m2,
        Self::E2m1,
        Self::E8m0,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::Bool,
        Self::C64,
        Self::C128,
    ];

    /// The fields of a floating-point format, for complex formats those of a part. `None` for integers and booleans.
    #[must_use]
    pub const fn layout(self) -> Option<Layout> {
        // Biases and specials: IEEE 754; OCP 8-bit Floating Point Specification 1.0, table 1; OCP Microscaling Formats 1.0,
        // section 5.3; for FNUZ the specification of the `float8` types in StableHLO.
        Some(match self {
            Self::F64 | Self::C128 => Layout::new(11, 52, 1023, Specials::Ieee),
            Self::F32 | Self::C64 => Layout::new(8, 23, 127, Specials::Ieee),
            Self::Tf32 => Layout {
                padding: 13,
                ..Layout::new(8, 10, 127, Specials::Ieee)
            },
            Self::F16 => Layout::new(5, 10, 15, Specials::Ieee),
            Self::Bf16 => Layout::new(8, 7, 127, Specials::Ieee),
            Self::E4m3 => Layout::new(4, 3, 7, Specials::NanOnly),
            Self::E5m2 => Layout::new(5, 2, 15, Specials::Ieee),
            Self::E4m3Fnuz => Layout::new(4, 3, 8, Specials::Fnuz),
            Self::E5m2Fnuz => Layout::new(5, 2, 16, Specials::Fnuz),
            Self::E2m3 => Layout::new(2, 3, 1, Specials::FiniteOnly),
            Self::E3m2 => Layout::new(3, 2, 3, Specials::FiniteOnly),
            Self::E2m1 => Layout::new(2, 1, 1, Specials::FiniteOnly),
            Self::E8m0 => Layout {
                sign: 0,
                ..Layout::new(8, 0, 127, Specials::NanOnly)
            },
            Self::I8
            | Self::I16
            | Self::I32
            | Self::I64
            | Self::U8
            | Self::U16
            | Self::U32
            | Self::U64
            | Self::Bool => return None,
        })
    }

    /// Bits of an element, without padding to bytes: 6 for FP6, 32 for TF32, 128 for [`Format::C128`].
    #[must_use]
    pub const fn size_bits(self) -> u32 {
        match self {
            Self::E2m1 => 4,
            Self::E2m3 | Self::E3m2 => 6,
            Self::E4m3
            | Self::E5m2
            | Self::E4m3Fnuz
            | Self::E5m2Fnuz
            | Self::E8m0
            | Self::I8
            | Self::U8
            | Self::Bool => 8,
            Self::F16 | Self::Bf16 | Self::I16 | Self::U16 => 16,
            Self::F32 | Self::Tf32 | Self::I32 | Self::U32 => 32,
            Self::F64 | Self::I64 | Self::U64 | Self::C64 => 64,
            Self::C128 => 128,
        }
    }

    /// Bytes of an element that stands by itself: FP6 and FP4 take the low bits of a byte.
    #[must_use]
    pub const fn size_bytes(self) -> usize {
        self.size_bits().div_ceil(8) as usize
    }

    /// The format of a part: of a complex format that of its real and imaginary part, else the format itself.
    #[must_use]
    pub const fn part(self) -> Self {
        match self {
            Self::C64 => Self::F32,
            Self::C128 => Self::F64,
            other => other,
        }
    }

    /// Parts of an element: 2 for complex formats, else 1.
    #[must_use]
    pub const fn parts(self) -> usize {
        match self {
            Self::C64 | Self::C128 => 2,
            _ => 1,
        }
    }

    /// Whether values are floating-point numbers, complex ones included.
    #[must_use]
    pub const fn is_float(self) -> bool {
        self.layout().is_some()
    }

    /// Whether elements are complex.
    #[must_use]
    pub const fn is_complex(self) -> bool {
        self.parts() == 2
    }

    /// The largest relative error of rounding to nearest within the normal numbers. `None` where there is no mantissa:
    /// integers, booleans and [`Format::E8m0`].
    #[must_use]
    pub const fn unit_roundoff(self) -> Option<f64> {
        match self.layout() {
            Some(layout) if layout.mantissa > 0 => {
                Some(power_of_two(-(layout.mantissa as i32) - 1))
            }
            _ => None,
        }
    }

    /// The largest finite value. For 64-bit integers the nearest `f64`.
    #[must_use]
    pub fn max_finite(self) -> f64 {
        match self {
            Self::I8 => f64::from(i8::MAX),
            Self::I16 => f64::from(i16::MAX),
            Self::I32 => f64::from(i32::MAX),
            Self::I64 => i64::MAX as f64,
            Self::U8 => f64::from(u8::MAX),
            Self::U16 => f64::from(u16::MAX),
            Self::U32 => f64::from(u32::MAX),
            Self::U64 => u64::MAX as f64,
            Self::Bool => 1.0,
            float => float.layout().map_or(f64::NAN, |layout| {
                float.decode(layout.max_code() << layout.padding)
            }),
        }
    }

    /// The smallest positive number with full precision. `None` for integers and booleans.
    #[must_use]
    pub fn min_normal(self) -> Option<f64> {
        self.layout()
            .map(|layout| power_of_two(layout.min_exponent()))
    }

    /// The smallest positive number. `None` where there are no subnormal numbers.
    #[must_use]
    pub fn min_subnormal(self) -> Option<f64> {
        let layout = self.layout().filter(|layout| layout.mantissa > 0)?;
        Some(self.decode(1 << layout.padding))
    }

    /// The largest n such that all integers from 0 to n are exact. `None` for [`Format::E8m0`], which has no zero.
    #[must_use]
    pub fn exact_integer_limit(self) -> Option<u64> {
        Some(match self {
            Self::I64 => i64::MAX as u64,
            Self::U64 => u64::MAX,
            Self::E8m0 => return None,
            other => {
                let max = other.max_finite();
                match other.layout() {
                    None => max as u64,
                    // A format with little range ends before its mantissa does.
                    Some(layout) => max.min(power_of_two(layout.mantissa as i32 + 1)) as u64,
                }
            }
        })
    }
}

#[cfg(test)]
mod tests;
