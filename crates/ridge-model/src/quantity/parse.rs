//! Quantities as people type them: `192MiB`, `1.5 GB`, `2.1G`, `3e9`.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use super::{Bytes, Flops};

mod measures;

pub use measures::{parse_count, parse_cycles};

/// Why a text is no quantity. Each reason has a code that never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseError {
    /// There is nothing, or no number at the start.
    NoNumber {
        /// An amount that would be understood.
        example: &'static str,
    },
    /// The number is below zero.
    Negative,
    /// The number is zero, or less than one of what is counted.
    BelowOne {
        /// What is counted.
        what: &'static str,
    },
    /// The number is larger than 2^64, infinite or not a number.
    OutOfRange,
    /// What follows the number is not understood.
    UnknownUnit {
        /// What follows the number.
        unit: String,
        /// What may follow it.
        expected: &'static str,
    },
    /// The number is zero.
    Zero {
        /// An amount that would be understood.
        example: &'static str,
    },
    /// A unit is missing, but without it the number could mean anything.
    NoUnit {
        /// What may follow it.
        expected: &'static str,
    },
    /// The number is no whole one.
    NotWhole {
        /// An amount that would be understood.
        example: &'static str,
    },
    /// The number is one that the quantity cannot have.
    Implausible {
        /// From where to where it can be.
        range: &'static str,
    },
}

impl ParseError {
    /// The stable code of the reason.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoNumber { .. } => "MOD0001",
            Self::Negative => "MOD0002",
            Self::BelowOne { .. } => "MOD0003",
            Self::OutOfRange => "MOD0004",
            Self::UnknownUnit { .. } => "MOD0005",
            Self::Zero { .. } => "MOD0006",
            Self::NoUnit { .. } => "MOD0007",
            Self::NotWhole { .. } => "MOD0008",
            Self::Implausible { .. } => "MOD0009",
        }
    }
}

impl Display for ParseError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNumber { example } => write!(f, "expected an amount such as {example}"),
            Self::Negative => f.write_str("an amount below zero means nothing here"),
            Self::BelowOne { what } => write!(f, "expected at least one {what}"),
            Self::OutOfRange => f.write_str("expected a finite number of at most 2^64"),
            Self::UnknownUnit { unit, expected } => {
                write!(f, "{unit:?} is no unit here; {expected}")
            }
            Self::Zero { example } => {
                write!(
                    f,
                    "zero means nothing here; expected an amount such as {example}"
                )
            }
            Self::NoUnit { expected } => write!(f, "the unit is missing; {expected}"),
            Self::NotWhole { example } => write!(f, "expected a whole number such as {example}"),
            Self::Implausible { range } => {
                write!(f, "too small or too large to be real; expected {range}")
            }
        }
    }
}

impl std::error::Error for ParseError {}

/// Factors of the prefixes; upper and lower case differ, since `m` would be a thousandth.
const PREFIXES: &[(&str, f64)] = &[
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("Pi", 1_125_899_906_842_624.0),
    ("Ei", 1_152_921_504_606_846_976.0),
    ("k", 1e3),
    // Not SI, but it can mean nothing else.
    ("K", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
    ("E", 1e18),
];

/// What is counted, and how people write it.
struct Kind {
    what: &'static str,
    example: &'static str,
    /// What may stand behind the prefix, beside nothing.
    units: &'static [&'static str],
    expected: &'static str,
}

const BYTES: Kind = Kind {
    what: "byte",
    example: "192MiB, 1.5GB or 4096",
    units: &["B", "byte", "bytes"],
    expected: "write B, kB, MB, GB, TB or KiB, MiB, GiB, TiB (a small b means bits, a small m a thousandth)",
};
const FLOPS: Kind = Kind {
    what: "operation",
    example: "2.1G, 2.1GFLOP or 3e9",
    units: &["FLOP", "FLOPs", "flop", "flops"],
    expected: "write the number of operations as k, M, G, T or P, with or without FLOP; it is no rate, so not FLOP/s or FLOPS",
};

/// The largest amount: 2^64, more than any memory holds.
pub(super) const MOST: f64 = 18_446_744_073_709_551_616.0;

fn parse(text: &str, kind: &Kind) -> Result<f64, ParseError> {
    let text = text.trim();
    let (number, unit) = text.split_at(number_length(text));
    let number: f64 = number.parse().map_err(|_| {
        // What Rust reads as a number, but nobody as an amount.
        match text.parse::<f64>() {
            Ok(_) => ParseError::OutOfRange,
            Err(_) => ParseError::NoNumber {
                example: kind.example,
            },
        }
    })?;
    let factor = factor(unit.trim_start(), kind)?;
    let value = number * factor;
    if value < 0.0 {
        Err(ParseError::Negative)
    } else if !value.is_finite() || value > MOST {
        Err(ParseError::OutOfRange)
    } else if value < 1.0 {
        Err(ParseError::BelowOne { what: kind.what })
    } else {
        Ok(value)
    }
}

/// How much of a text is a number: sign, digits, point, and an exponent where digits follow its letter, so that the `E`
/// of `2EiB` stays a prefix.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let sign = |at: usize| usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
    let mut end = sign(0);
    end += digits(end);
    if bytes.get(end) == Some(&b'.') {
        end += 1 + digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let start = end + 1 + sign(end + 1);
        let exponent = digits(start.min(bytes.len()));
        if exponent > 0 {
            end = start + exponent;
        }
    }
    end
}

fn factor(unit: &str, kind: &Kind) -> Result<f64, ParseError> {
    let is_unit = |unit: &str| unit.is_empty() || kind.units.contains(&unit);
    if is_unit(unit) {
        return Ok(1.0);
    }
    PREFIXES
        .iter()
        .find(|(prefix, _)| unit.strip_prefix(prefix).is_some_and(is_unit))
        .map(|(_, factor)| *factor)
        .ok_or_else(|| ParseError::UnknownUnit {
            unit: unit.to_owned(),
            expected: kind.expected,
        })
}

/// Reads bytes with a decimal or binary prefix, or with none: at least one, at most 2^64.
///
/// ```
/// use ridge_model::quantity::Bytes;
///
/// assert_eq!("192MiB".parse(), Ok(Bytes::from_count(192 << 20)));
/// assert_eq!("1.5 GB".parse(), Ok(Bytes::new(1.5e9)));
/// assert!("12mb".parse::<Bytes>().is_err());
/// ```
impl FromStr for Bytes {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse(text, &BYTES).map(Self::new)
    }
}

/// Reads a number of operations with a prefix, or with none: at least one, at most 2^64.
///
/// ```
/// use ridge_model::quantity::Flops;
///
/// assert_eq!("2.1G".parse(), Ok(Flops::new(2.1e9)));
/// assert_eq!("2.1 GFLOP".parse(), Ok(Flops::new(2.1e9)));
/// assert!("2.1 GFLOP/s".parse::<Flops>().is_err());
/// ```
impl FromStr for Flops {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse(text, &FLOPS).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(text: &str) -> f64 {
        let parsed: Result<Bytes, _> = text.parse();
        parsed
            .unwrap_or_else(|error| panic!("{text}: {error}"))
            .get()
    }

    #[test]
    fn prefixes_are_decimal_or_binary() {
        for (text, value) in [
            ("1", 1.0),
            ("4096", 4096.0),
            (" 4096 B ", 4096.0),
            ("+2kB", 2e3),
            ("2KB", 2e3),
            ("2KiB", 2048.0),
            ("192MiB", 201_326_592.0),
            ("192 MiB", 201_326_592.0),
            ("192Mi", 201_326_592.0),
            ("192M", 192e6),
            ("1.5GB", 1.5e9),
            (".5GB", 0.5e9),
            ("1e9", 1e9),
            ("1E9B", 1e9),
            ("1e+3kB", 1e6),
            ("2E", 2e18),
            ("2EB", 2e18),
            ("2EiB", 2_305_843_009_213_693_952.0),
            ("16EiB", MOST),
            ("7 bytes", 7.0),
        ] {
            assert!((bytes(text) - value).abs() <= 1e-12 * value, "{text}");
        }
    }

    #[test]
    fn operations_take_the_same_prefixes() {
        for text in ["2G", "2GFLOP", "2 GFLOPs", "2e9", "2000M", "0.002T"] {
            let flops: Flops = text.parse().unwrap();
            assert!((flops.get() - 2e9).abs() < 1.0, "{text}");
        }
    }

    #[test]
    fn what_is_no_amount_is_refused_with_a_reason() {
        let lines: Vec<String> = [
            "",
            "MiB",
            "many",
            "NaN",
            "inf",
            "-inf",
            "-5MiB",
            "0",
            "0MiB",
            "-0",
            "0.5",
            "1e-10GB",
            "1e400",
            "1e30",
            "17EiB",
            "12mb",
            "12Mb",
            "12MiX",
            "12MiB/s",
            "1,5GB",
            "1 000",
            "1_000",
            "0x10",
            "12\u{1b}[1m",
            "1e",
            "1.2.3",
            "١٢",
        ]
        .into_iter()
        .map(|text| {
            let error = text.parse::<Bytes>().unwrap_err();
            format!("{text:?}: {}", error.code())
        })
        .collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        "": MOD0001
        "MiB": MOD0001
        "many": MOD0001
        "NaN": MOD0004
        "inf": MOD0004
        "-inf": MOD0004
        "-5MiB": MOD0002
        "0": MOD0003
        "0MiB": MOD0003
        "-0": MOD0003
        "0.5": MOD0003
        "1e-10GB": MOD0003
        "1e400": MOD0004
        "1e30": MOD0004
        "17EiB": MOD0004
        "12mb": MOD0005
        "12Mb": MOD0005
        "12MiX": MOD0005
        "12MiB/s": MOD0005
        "1,5GB": MOD0005
        "1 000": MOD0005
        "1_000": MOD0005
        "0x10": MOD0005
        "12\u{1b}[1m": MOD0005
        "1e": MOD0005
        "1.2.3": MOD0005
        "١٢": MOD0001
        "#);
        assert!(matches!(
            "2GFLOPS".parse::<Flops>(),
            Err(ParseError::UnknownUnit { .. })
        ));
        assert!(matches!(
            "2GB".parse::<Flops>(),
            Err(ParseError::UnknownUnit { .. })
        ));
    }

    proptest! {
        #[test]
        fn every_amount_that_is_shown_is_understood(value in 1.0..1e18f64) {
            let bytes = Bytes::new(value);
            for text in [bytes.to_string(), bytes.binary().to_string()] {
                // Groups of digits are for people to read.
                let read: Bytes = text.replace(',', "").parse().unwrap();
                prop_assert!((read.get() / value - 1.0).abs() < 0.006, "{text} for {value}");
            }
        }

        #[test]
        fn no_text_makes_it_fail(text in ".{0,12}") {
            let _ = text.parse::<Bytes>();
            if let Ok(flops) = text.parse::<Flops>() {
                prop_assert!((1.0..=MOST).contains(&flops.get()));
            }
        }
    }
}
