//! Types of elements, and their bytes.

use std::fmt;

use ridge_numerics::format::{Format, Overflow};
use serde::{Deserialize, Serialize};

use crate::expression::Value;

/// The type of an element or a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are the types")]
pub enum ElementType {
    F64,
    F32,
    F16,
    Bf16,
    E4m3,
    E5m2,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

impl ElementType {
    const ALL: [(Self, &'static str); 14] = [
        (Self::F64, "f64"),
        (Self::F32, "f32"),
        (Self::F16, "f16"),
        (Self::Bf16, "bf16"),
        (Self::E4m3, "e4m3"),
        (Self::E5m2, "e5m2"),
        (Self::I8, "i8"),
        (Self::U8, "u8"),
        (Self::I16, "i16"),
        (Self::U16, "u16"),
        (Self::I32, "i32"),
        (Self::U32, "u32"),
        (Self::I64, "i64"),
        (Self::U64, "u64"),
    ];

    /// The type of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(kind, _)| *kind)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(kind, _)| *kind == self)
            .map_or("", |(_, name)| name)
    }

    /// Its number format.
    #[must_use]
    pub const fn format(self) -> Format {
        match self {
            Self::F64 => Format::F64,
            Self::F32 => Format::F32,
            Self::F16 => Format::F16,
            Self::Bf16 => Format::Bf16,
            Self::E4m3 => Format::E4m3,
            Self::E5m2 => Format::E5m2,
            Self::I8 => Format::I8,
            Self::U8 => Format::U8,
            Self::I16 => Format::I16,
            Self::U16 => Format::U16,
            Self::I32 => Format::I32,
            Self::U32 => Format::U32,
            Self::I64 => Format::I64,
            Self::U64 => Format::U64,
        }
    }

    /// Its size in bytes.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::F64 | Self::I64 | Self::U64 => 8,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F16 | Self::Bf16 | Self::I16 | Self::U16 => 2,
            Self::E4m3 | Self::E5m2 | Self::I8 | Self::U8 => 1,
        }
    }

    /// Whether it has a fraction.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            Self::F64 | Self::F32 | Self::F16 | Self::Bf16 | Self::E4m3 | Self::E5m2
        )
    }

    /// The least and the greatest value of an integer type.
    #[must_use]
    pub const fn range(self) -> Option<(i64, i64)> {
        Some(match self {
            Self::I8 => (i8::MIN as i64, i8::MAX as i64),
            Self::U8 => (0, u8::MAX as i64),
            Self::I16 => (i16::MIN as i64, i16::MAX as i64),
            Self::U16 => (0, u16::MAX as i64),
            Self::I32 => (i32::MIN as i64, i32::MAX as i64),
            Self::U32 => (0, u32::MAX as i64),
            Self::I64 => (i64::MIN, i64::MAX),
            // Expressions end there.
            Self::U64 => (0, i64::MAX),
            _ => return None,
        })
    }

    /// Appends the bytes of a number, as [`ElementType::bytes`] has them.
    pub fn push(self, value: Value, out: &mut Vec<u8>) {
        out.extend(&self.bytes(value)[..self.size()]);
    }

    /// The bytes of a number, rounded to nearest even; integers keep their low bits. Those behind the size are zero.
    #[must_use]
    pub fn bytes(self, value: Value) -> [u8; 8] {
        let float = match value {
            Value::Int(value) => value as f64,
            Value::Float(value) => value,
            Value::Bool(value) => f64::from(u8::from(value)),
        };
        let int = match value {
            Value::Int(value) => value,
            Value::Float(value) => value as i64,
            Value::Bool(value) => i64::from(value),
        };
        let bits = match self {
            Self::F64 => float.to_bits(),
            Self::F32 => u64::from((float as f32).to_bits()),
            // Through f32, as kernels that fill buffers do.
            Self::F16 | Self::Bf16 => self
                .format()
                .encode(f64::from(float as f32), Overflow::NonFinite),
            // What is too large becomes the greatest number, as it does in conversions of CUDA (`__NV_SATFINITE`).
            Self::E4m3 | Self::E5m2 => self.format().encode(float, Overflow::Saturate),
            _ => int as u64 & (u64::MAX >> (64 - 8 * self.size())),
        };
        bits.to_le_bytes()
    }

    /// The bits that are all set in what is no finite number, and in nothing else; absent for integers.
    #[must_use]
    pub const fn exponent(self) -> Option<u64> {
        match self {
            Self::F64 => Some(0x7ff0_0000_0000_0000),
            Self::F32 => Some(0x7f80_0000),
            Self::F16 => Some(0x7c00),
            Self::Bf16 => Some(0x7f80),
            // Without infinities: one mantissa is not a number, the others are finite.
            Self::E4m3 => Some(0x7f),
            Self::E5m2 => Some(0x7c),
            _ => None,
        }
    }

    /// The number in some bytes; not a number where there are too few.
    #[must_use]
    pub fn number(self, bytes: &[u8]) -> f64 {
        let mut code = [0; 8];
        let Some(bytes) = bytes.get(..self.size()) else {
            return f64::NAN;
        };
        code[..bytes.len()].copy_from_slice(bytes);
        self.format().decode(u64::from_le_bytes(code))
    }

    /// The byte of which a buffer that is only written is full before a launch: not a number in every floating-point
    /// type, and -1 or the greatest value in integers.
    pub const POISON: u8 = 0xff;
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_those_of_the_standard() {
        // Values and bits from the tables of IEEE 754-2019.
        for (value, bits) in [
            (0.0, 0),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65519.9, 0x7bff),
            (65520.0, 0x7c00),
            (6.103_515_6e-5, 0x0400),
            (5.960_464_5e-8, 0x0001),
            (2.980_232_2e-8, 0x0000),
            (0.333_251_95, 0x3555),
            (1.000_488_3, 0x3c00),
            (1.001_464_8, 0x3c02),
        ] {
            let bytes = ElementType::F16.bytes(Value::Float(value));
            assert_eq!(u64::from_le_bytes(bytes), bits, "{value}");
        }
        for bits in (0..=u16::MAX).filter(|bits| bits & 0x7c00 != 0x7c00) {
            let value = ElementType::F16.number(&bits.to_le_bytes());
            let bytes = ElementType::F16.bytes(Value::Float(value));
            assert_eq!(u64::from_le_bytes(bytes), u64::from(bits));
        }
    }

    /// Every byte of both formats, from the bits alone and in whole numbers: sign, exponent and fraction as the tables of the
    /// specification (revision 1.0, section 5) name them; and its named values.
    #[test]
    fn eights_are_those_of_the_specification() {
        for (kind, e, m, bias) in [
            (ElementType::E4m3, 4_u32, 3_u32, 7_i32),
            (ElementType::E5m2, 5, 2, 15),
        ] {
            for bits in 0..=u8::MAX {
                let found = kind.number(&[bits]);
                let exponent = i32::from((bits >> m) & ((1 << e) - 1));
                let fraction = i64::from(bits & ((1 << m) - 1));
                let is_top = exponent == (1 << e) - 1;
                let is_special = match kind {
                    ElementType::E4m3 => is_top && fraction == 7,
                    _ => is_top,
                };
                if is_special {
                    let is_infinite = kind == ElementType::E5m2 && fraction == 0;
                    assert!(
                        if is_infinite {
                            found.is_infinite()
                        } else {
                            found.is_nan()
                        },
                        "{kind} {bits:#x}"
                    );
                    continue;
                }
                // The number in units of the least subnormal one is whole.
                let units = if exponent == 0 {
                    fraction
                } else {
                    ((1 << m) + fraction) << (exponent - 1)
                };
                let unit = 2.0_f64.powi(1 - bias - m as i32);
                let sign = if bits & 0x80 == 0 { 1.0 } else { -1.0 };
                assert_eq!(
                    found.to_bits(),
                    (sign * units as f64 * unit).to_bits(),
                    "{kind} {bits:#x}"
                );
                let mut bytes = Vec::new();
                kind.push(Value::Float(found), &mut bytes);
                assert_eq!(bytes, [bits], "{kind} {bits:#x}");
            }
        }
        // Greatest, least normal and least numbers, of the table of the specification.
        for (kind, bits, value) in [
            (ElementType::E4m3, 0x7e, 448.0),
            (ElementType::E4m3, 0x08, 0.015_625),
            (ElementType::E4m3, 0x07, 0.013_671_875),
            (ElementType::E4m3, 0x01, 0.001_953_125),
            (ElementType::E5m2, 0x7b, 57344.0),
            (ElementType::E5m2, 0x04, 6.103_515_625e-5),
            (ElementType::E5m2, 0x01, 1.525_878_906_25e-5),
        ] {
            assert_eq!(
                kind.number(&[bits]).to_bits(),
                f64::to_bits(value),
                "{kind}"
            );
        }
    }

    /// Between two neighbours the nearer one, in the middle the even one, beyond the greatest that one.
    #[test]
    fn eights_are_rounded_to_the_nearest_and_saturate() {
        let bits = |kind: ElementType, value: f64| {
            let mut bytes = Vec::new();
            kind.push(Value::Float(value), &mut bytes);
            bytes[0]
        };
        for (kind, greatest) in [(ElementType::E4m3, 0x7e_u8), (ElementType::E5m2, 0x7b)] {
            for low in 0..greatest {
                let (a, b) = (kind.number(&[low]), kind.number(&[low + 1]));
                let middle = (a + b) / 2.0;
                let even = if low % 2 == 0 { low } else { low + 1 };
                assert_eq!(bits(kind, middle), even, "{kind} {low:#x}");
                assert_eq!(bits(kind, middle.next_down()), low, "{kind} {low:#x}");
                assert_eq!(bits(kind, middle.next_up()), low + 1, "{kind} {low:#x}");
                assert_eq!(
                    bits(kind, -middle.next_up()),
                    0x80 | (low + 1),
                    "{kind} {low:#x}"
                );
            }
            for large in [1e6, 1e300, f64::INFINITY] {
                assert_eq!(bits(kind, large), greatest);
                assert_eq!(bits(kind, -large), 0x80 | greatest);
            }
            assert!(kind.number(&[bits(kind, f64::NAN)]).is_nan());
            assert_eq!(bits(kind, -0.0), 0x80);
        }
    }

    #[test]
    fn poison_is_no_number() {
        for (kind, _) in ElementType::ALL {
            let value = kind.number(&[ElementType::POISON; 8]);
            assert!(
                if kind.is_float() {
                    value.is_nan()
                } else {
                    value.abs() >= 1.0
                },
                "{kind}"
            );
        }
    }

    #[test]
    fn what_is_not_finite_has_all_bits_of_the_exponent() {
        for (kind, mask) in ElementType::ALL
            .iter()
            .filter_map(|(kind, _)| Some((kind, kind.exponent()?)))
        {
            for value in [0.0, -1.5, 65504.0, f64::INFINITY, -f64::INFINITY, f64::NAN] {
                let bytes = kind.bytes(Value::Float(value));
                // Types of 8 bits saturate, so that not every infinity stays one.
                let is_finite = kind.number(&bytes[..kind.size()]).is_finite();
                assert_eq!(
                    u64::from_le_bytes(bytes) & mask == mask,
                    !is_finite,
                    "{kind} {value}"
                );
                assert!(!value.is_nan() || !is_finite, "{kind}");
            }
        }
    }

    #[test]
    fn what_is_pushed_is_read() {
        for (kind, _) in ElementType::ALL {
            let mut bytes = Vec::new();
            // E5M2 has three significant bits.
            kind.push(Value::Int(96), &mut bytes);
            assert_eq!(bytes.len(), kind.size());
            assert!((kind.number(&bytes) - 96.0).abs() < 1e-9, "{kind}");
        }
    }
}
