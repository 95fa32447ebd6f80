//! How formats are called: here, in NumPy, in PyTorch and in safetensors.

use std::fmt;
use std::str::FromStr;

use super::{Endian, Format};

/// A name that is no format's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFormat {
    /// What was given.
    pub name: String,
}

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.escape_debug();
        write!(f, "no number format is called `{name}`; there are ")?;
        for (index, format) in Format::ALL.into_iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{format}")?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownFormat {}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Format {
    /// The short name, such as `bf16`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.names()[0]
    }

    /// The format of a type code of NumPy with its mark for the order of bytes, such as `<f4` or `|u1`.
    #[must_use]
    pub fn from_numpy(code: &str) -> Option<(Self, Endian)> {
        let (mark, kind) = code.split_at_checked(1)?;
        let endian = match mark {
            "<" | "|" | "=" => Endian::Little,
            ">" => Endian::Big,
            _ => return None,
        };
        let format = match kind {
            "f8" => Self::F64,
            "f4" => Self::F32,
            "f2" => Self::F16,
            "i1" => Self::I8,
            "i2" => Self::I16,
            "i4" => Self::I32,
            "i8" => Self::I64,
            "u1" => Self::U8,
            "u2" => Self::U16,
            "u4" => Self::U32,
            "u8" => Self::U64,
            "b1" => Self::Bool,
            "c8" => Self::C64,
            "c16" => Self::C128,
            _ => return None,
        };
        Some((format, endian))
    }

    /// The short name, then others, in lower case.
    const fn names(self) -> &'static [&'static str] {
        match self {
            Self::F64 => &["f64", "fp64", "float64", "double"],
            Self::F32 => &["f32", "fp32", "float32", "float", "single"],
            Self::Tf32 => &["tf32"],
            Self::F16 => &["f16", "fp16", "float16", "half"],
            Self::Bf16 => &["bf16", "bfloat16"],
            // ml_dtypes calls another format `float8_e4m3`, one with infinities: that name is not taken.
            Self::E4m3 => &[
                "e4m3",
                "e4m3fn",
                "float8_e4m3fn",
                "f8_e4m3",
                "f8_e4m3fn",
                "fp8_e4m3",
            ],
            Self::E5m2 => &["e5m2", "float8_e5m2", "f8_e5m2", "fp8_e5m2"],
            Self::E4m3Fnuz => &["e4m3fnuz", "float8_e4m3fnuz", "f8_e4m3fnuz"],
            Self::E5m2Fnuz => &["e5m2fnuz", "float8_e5m2fnuz", "f8_e5m2fnuz"],
            Self::E2m3 => &["e2m3", "float6_e2m3fn", "f6_e2m3", "fp6_e2m3"],
            Self::E3m2 => &["e3m2", "float6_e3m2fn", "f6_e3m2", "fp6_e3m2"],
            // `f4` is the name in safetensors; NumPy's `f4` always has a mark for the order of bytes.
            Self::E2m1 => &["e2m1", "float4_e2m1fn", "f4", "fp4", "fp4_e2m1"],
            Self::E8m0 => &["e8m0", "float8_e8m0fnu", "f8_e8m0"],
            Self::I8 => &["i8", "int8", "s8"],
            Self::I16 => &["i16", "int16", "s16"],
            Self::I32 => &["i32", "int32", "s32"],
            Self::I64 => &["i64", "int64", "s64"],
            Self::U8 => &["u8", "uint8"],
            Self::U16 => &["u16", "uint16"],
            Self::U32 => &["u32", "uint32"],
            Self::U64 => &["u64", "uint64"],
            Self::Bool => &["bool", "bool_"],
            Self::C64 => &["c64", "complex64"],
            Self::C128 => &["c128", "complex128"],
        }
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    /// Reads a name without regard to case: `bf16`, `bfloat16`, `torch.bfloat16`, `BF16` and the like. Digits count bits:
    /// `i8` has 8 of them. NumPy's short codes count bytes instead, and start with a mark for the order of bytes: `<f4`.
    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        let unknown = || UnknownFormat {
            // Of a name that long nobody needs the rest.
            name: name.chars().take(80).collect(),
        };
        if let Some((format, _)) = Self::from_numpy(name) {
            return Ok(format);
        }
        let lower = name.to_ascii_lowercase();
        let bare = lower
            .strip_prefix("torch.")
            .or_else(|| lower.strip_prefix("numpy."))
            .or_else(|| lower.strip_prefix("np."))
            .unwrap_or(&lower);
        Self::ALL
            .into_iter()
            .find(|format| format.names().contains(&bare))
            .ok_or_else(unknown)
    }
}
