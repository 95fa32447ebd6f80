//! Number formats: what they are called and how many bits they take.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::Serialize;

/// A number format that some unit of a GPU computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NumberFormat {
    /// 64-bit floating point.
    Fp64,
    /// 32-bit floating point.
    Fp32,
    /// 32-bit floating point of which a tensor unit uses 19 bits; stored in 32.
    Tf32,
    /// 16-bit floating point with the exponent of FP32.
    Bf16,
    /// 16-bit floating point.
    Fp16,
    /// 8-bit floating point with 4 bits of exponent.
    #[serde(rename = "fp8-e4m3")]
    Fp8E4m3,
    /// 8-bit floating point with 5 bits of exponent.
    #[serde(rename = "fp8-e5m2")]
    Fp8E5m2,
    /// 4-bit floating point (E2M1); block scales are not counted.
    Fp4,
    /// 32-bit integers: what the products of narrower ones are summed in.
    Int32,
    /// 8-bit integers.
    Int8,
    /// 4-bit integers.
    Int4,
}

impl NumberFormat {
    /// All formats, widest first, integers last.
    pub const ALL: [Self; 11] = [
        Self::Fp64,
        Self::Fp32,
        Self::Tf32,
        Self::Bf16,
        Self::Fp16,
        Self::Fp8E4m3,
        Self::Fp8E5m2,
        Self::Fp4,
        Self::Int32,
        Self::Int8,
        Self::Int4,
    ];

    /// The bits that a value takes in memory.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Fp64 => 64,
            Self::Fp32 | Self::Tf32 | Self::Int32 => 32,
            Self::Bf16 | Self::Fp16 => 16,
            Self::Fp8E4m3 | Self::Fp8E5m2 | Self::Int8 => 8,
            Self::Fp4 | Self::Int4 => 4,
        }
    }

    /// The bytes that a value takes in memory: half a byte for the 4-bit formats.
    #[must_use]
    pub fn size_in_bytes(self) -> f64 {
        f64::from(self.bits()) / 8.0
    }

    /// Whether the format holds integers, whose operations are no FLOP.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::Int32 | Self::Int8 | Self::Int4)
    }

    /// The format under which the peak is listed: both kinds of 8-bit floating point run at one rate.
    #[must_use]
    pub const fn rated_as(self) -> Self {
        match self {
            Self::Fp8E5m2 => Self::Fp8E4m3,
            other => other,
        }
    }

    /// The format in which products of this one are summed where nothing else is said.
    #[must_use]
    pub const fn usual_accumulator(self) -> Self {
        match self {
            Self::Fp64 => Self::Fp64,
            format if format.is_integer() => Self::Int32,
            _ => Self::Fp32,
        }
    }

    /// The name of the peak: that of the format, without the variants of 8-bit floating point.
    #[must_use]
    pub const fn peak_name(self) -> &'static str {
        match self {
            Self::Fp8E4m3 | Self::Fp8E5m2 => "FP8",
            other => other.name(),
        }
    }

    /// The name, as people write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fp64 => "FP64",
            Self::Fp32 => "FP32",
            Self::Tf32 => "TF32",
            Self::Bf16 => "BF16",
            Self::Fp16 => "FP16",
            Self::Fp8E4m3 => "FP8 E4M3",
            Self::Fp8E5m2 => "FP8 E5M2",
            Self::Fp4 => "FP4",
            Self::Int32 => "INT32",
            Self::Int8 => "INT8",
            Self::Int4 => "INT4",
        }
    }

    /// Other words for it, in lower case and without hyphens, underscores and spaces.
    const fn words(self) -> &'static [&'static str] {
        match self {
            Self::Fp64 => &["fp64", "f64", "float64", "double"],
            Self::Fp32 => &["fp32", "f32", "float32", "float", "single"],
            Self::Tf32 => &["tf32", "tensorfloat32"],
            Self::Bf16 => &["bf16", "bfloat16", "nvbfloat16"],
            Self::Fp16 => &["fp16", "f16", "float16", "half"],
            Self::Fp8E4m3 => &["fp8", "fp8e4m3", "e4m3", "e4m3fn", "float8e4m3fn"],
            Self::Fp8E5m2 => &["fp8e5m2", "e5m2", "float8e5m2"],
            Self::Fp4 => &["fp4", "fp4e2m1", "e2m1", "float4e2m1", "nvfp4", "mxfp4"],
            Self::Int32 => &["int32", "i32", "s32"],
            Self::Int8 => &["int8", "i8", "s8", "u8", "uint8"],
            Self::Int4 => &["int4", "i4", "s4", "u4", "uint4"],
        }
    }
}

impl Display for NumberFormat {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that names no number format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFormat {
    /// The text.
    pub name: String,
}

impl Display for UnknownFormat {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is no number format; expected fp64, fp32, tf32, bf16, fp16, fp8 (e4m3 or e5m2), fp4, int8 or int4",
            self.name
        )
    }
}

impl std::error::Error for UnknownFormat {}

/// Reads a name; case, spaces, hyphens and underscores do not matter, and `fp8` alone is E4M3.
///
/// ```
/// use ridge_model::NumberFormat;
///
/// assert_eq!("bfloat16".parse(), Ok(NumberFormat::Bf16));
/// assert_eq!("FP8-E5M2".parse(), Ok(NumberFormat::Fp8E5m2));
/// assert!("fp7".parse::<NumberFormat>().is_err());
/// ```
impl FromStr for NumberFormat {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        let word = crate::spelling::plain(text);
        Self::ALL
            .into_iter()
            .find(|format| format.words().contains(&word.as_str()))
            .ok_or_else(|| UnknownFormat {
                name: text.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_found_by_its_names() {
        for format in NumberFormat::ALL {
            assert_eq!(format.name().parse(), Ok(format));
            let written = serde_json::to_value(format).unwrap();
            assert_eq!(written.as_str().unwrap().parse(), Ok(format));
        }
    }

    #[test]
    fn no_word_means_two_formats() {
        let mut words: Vec<&str> = NumberFormat::ALL
            .iter()
            .flat_map(|format| format.words())
            .copied()
            .collect();
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), count);
    }

    #[test]
    fn bits_are_those_of_memory() {
        assert_eq!(NumberFormat::Tf32.bits(), 32);
        assert!((NumberFormat::Fp4.size_in_bytes() - 0.5).abs() < f64::EPSILON);
    }
}
