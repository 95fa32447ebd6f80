//! Times, rates and clocks, which need a unit, and counts, which have none.

use std::str::FromStr;

use super::{MOST, PREFIXES, ParseError, number_length};
use crate::quantity::{Bandwidth, ComputeRate, Cycles, Hertz, Nanos, Plausible};

/// What is measured, and how people write it.
struct Measure {
    example: &'static str,
    /// The units, with their factors.
    units: &'static [(&'static str, f64)],
    /// Whether a decimal prefix may stand before the unit.
    has_prefixes: bool,
    expected: &'static str,
    range: Plausible,
}

const TIME: Measure = Measure {
    example: "1.2ms or 402us",
    units: &[
        ("ns", 1.0),
        ("us", 1e3),
        // The micro sign and the Greek letter look the same.
        ("\u{b5}s", 1e3),
        ("\u{3bc}s", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
    ],
    has_prefixes: false,
    expected: "write ns, us, ms or s, such as 1.2ms",
    range: Nanos::PLAUSIBLE,
};
const BANDWIDTH: Measure = Measure {
    example: "3.35TB/s",
    units: &[("B/s", 1.0), ("byte/s", 1.0)],
    has_prefixes: true,
    expected: "write MB/s, GB/s or TB/s (decimal) or MiB/s, GiB/s (binary), such as 3.35TB/s",
    range: Bandwidth::PLAUSIBLE,
};
const COMPUTE: Measure = Measure {
    example: "66.9TFLOP/s",
    units: &[
        ("FLOP/s", 1.0),
        ("FLOPS", 1.0),
        ("FLOPs/s", 1.0),
        ("flop/s", 1.0),
        ("flops", 1.0),
        ("OP/s", 1.0),
        ("OPS", 1.0),
    ],
    has_prefixes: true,
    expected: "write GFLOP/s or TFLOP/s, or TOP/s for integers, such as 66.9TFLOP/s",
    range: ComputeRate::PLAUSIBLE,
};
const CLOCK: Measure = Measure {
    example: "1593MHz",
    units: &[("Hz", 1.0), ("hz", 1.0)],
    has_prefixes: true,
    expected: "write MHz or GHz, such as 1593MHz",
    range: Hertz::PLAUSIBLE,
};

fn parse(text: &str, measure: &Measure) -> Result<f64, ParseError> {
    let (number, unit) = split(text, measure.example)?;
    if unit.is_empty() {
        return Err(ParseError::NoUnit {
            expected: measure.expected,
        });
    }
    let of_unit = |unit: &str| {
        let known = measure.units.iter().find(|(name, _)| *name == unit);
        known.map(|(_, factor)| *factor)
    };
    let with_prefix = || {
        let (prefix, factor) = PREFIXES.iter().find(|(prefix, _)| {
            unit.strip_prefix(prefix)
                .is_some_and(|rest| of_unit(rest).is_some())
        })?;
        of_unit(unit.strip_prefix(prefix)?).map(|of_unit| of_unit * factor)
    };
    let factor = of_unit(unit)
        .or_else(|| measure.has_prefixes.then(with_prefix).flatten())
        .ok_or_else(|| ParseError::UnknownUnit {
            unit: unit.to_owned(),
            expected: measure.expected,
        })?;
    positive(number * factor, measure)
}

/// The number at the start of a text, and what follows it.
fn split<'t>(text: &'t str, example: &'static str) -> Result<(f64, &'t str), ParseError> {
    let text = text.trim();
    let (number, unit) = text.split_at(number_length(text));
    let number = number.parse().map_err(|_| match text.parse::<f64>() {
        // What Rust reads as a number, but nobody as an amount.
        Ok(_) => ParseError::OutOfRange,
        Err(_) => ParseError::NoNumber { example },
    })?;
    Ok((number, unit.trim_start()))
}

fn positive(value: f64, measure: &Measure) -> Result<f64, ParseError> {
    if value < 0.0 {
        Err(ParseError::Negative)
    } else if value == 0.0 {
        Err(ParseError::Zero {
            example: measure.example,
        })
    } else if measure.range.holds(value) {
        Ok(value)
    } else {
        Err(ParseError::Implausible {
            range: measure.range.text,
        })
    }
}

/// Reads a time with its unit.
///
/// ```
/// use ridge_model::quantity::Nanos;
///
/// assert_eq!("1.2ms".parse(), Ok(Nanos::new(1.2e6)));
/// assert!("1.2".parse::<Nanos>().is_err());
/// ```
impl FromStr for Nanos {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse(text, &TIME).map(Self::new)
    }
}

/// Reads bytes a second, such as `3.35TB/s`.
impl FromStr for Bandwidth {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse(text, &BANDWIDTH).map(Self::new)
    }
}

/// Reads operations a second, such as `66.9TFLOP/s`.
impl FromStr for ComputeRate {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse(text, &COMPUTE).map(Self::new)
    }
}

/// Reads a clock, such as `1593MHz`.
impl FromStr for Hertz {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse(text, &CLOCK).map(Self::new)
    }
}

/// Reads cycles, such as `30 cycles`.
///
/// # Errors
/// When the text is no number from 0.001 to 10^15 with the word behind it.
pub fn parse_cycles(text: &str) -> Result<Cycles, ParseError> {
    const CYCLES: Measure = Measure {
        example: "30cycles",
        units: &[("cycle", 1.0), ("cycles", 1.0)],
        has_prefixes: false,
        expected: "write cycles, such as 30cycles",
        range: Cycles::PLAUSIBLE,
    };
    parse(text, &CYCLES).map(Cycles::new)
}

/// Reads a whole number: `4096`, `4k` or `4Ki`, `1e6`, or a power such as `2^24`. Zero is one too.
///
/// # Errors
/// When the text is no whole number below 2^64. Above 2^53 it is rounded to the nearest representable one.
///
/// ```
/// use ridge_model::quantity::parse_count;
///
/// assert_eq!(parse_count("2^24"), Ok(16_777_216));
/// assert_eq!(parse_count("4Ki"), Ok(4096));
/// assert!(parse_count("1.5").is_err());
/// ```
pub fn parse_count(text: &str) -> Result<u64, ParseError> {
    const EXAMPLE: &str = "4096, 2^24, 64k or 16Mi";
    let value = match text.trim().split_once('^') {
        Some((base, exponent)) => {
            let power = || {
                let base: u32 = base.trim().parse().ok()?;
                let exponent: i32 = exponent.trim().parse().ok().filter(|value| *value >= 0)?;
                Some(f64::from(base).powi(exponent))
            };
            power().ok_or(ParseError::NotWhole { example: EXAMPLE })?
        }
        None => {
            let (number, prefix) = split(text, EXAMPLE)?;
            let known = PREFIXES.iter().find(|(name, _)| *name == prefix);
            let factor = match known {
                Some((_, factor)) => *factor,
                None if prefix.is_empty() => 1.0,
                None => {
                    return Err(ParseError::UnknownUnit {
                        unit: prefix.to_owned(),
                        expected: "a count has none; write 4096, 2^24, 64k or 16Mi",
                    });
                }
            };
            number * factor
        }
    };
    if value < 0.0 {
        Err(ParseError::Negative)
    } else if !value.is_finite() || value >= MOST {
        Err(ParseError::OutOfRange)
    } else if value.fract() != 0.0 {
        Err(ParseError::NotWhole { example: EXAMPLE })
    } else {
        // Whole, not negative and below 2^64.
        Ok(value as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_are_read_as_they_are_written() {
        let nanos = |text: &str| text.parse::<Nanos>().unwrap().get();
        for (text, value) in [
            ("402us", 402e3),
            ("402 \u{b5}s", 402e3),
            ("402 \u{3bc}s", 402e3),
            ("5ns", 5.0),
            ("1.2ms", 1.2e6),
            ("0.5 s", 0.5e9),
            ("1e-3s", 1e6),
        ] {
            assert!((nanos(text) - value).abs() < 1e-6 * value, "{text}");
        }
        assert_eq!("3.35TB/s".parse(), Ok(Bandwidth::new(3.35e12)));
        assert_eq!("1 GiB/s".parse(), Ok(Bandwidth::new(1_073_741_824.0)));
        assert_eq!("67 TFLOPS".parse(), Ok(ComputeRate::new(67e12)));
        assert_eq!("2 POP/s".parse(), Ok(ComputeRate::new(2e15)));
        assert_eq!("1593MHz".parse(), Ok(Hertz::new(1.593e9)));
        assert_eq!(parse_cycles("30 cycles"), Ok(Cycles::new(30.0)));
    }

    #[test]
    fn what_is_no_measure_is_refused_with_a_reason() {
        let code = |text: &str| text.parse::<Nanos>().unwrap_err().code();
        for (text, expected) in [
            ("", "MOD0001"),
            ("us", "MOD0001"),
            ("NaN", "MOD0004"),
            ("NaN us", "MOD0001"),
            ("inf", "MOD0004"),
            ("-5us", "MOD0002"),
            ("0us", "MOD0006"),
            ("5", "MOD0007"),
            ("5MB", "MOD0005"),
            ("5kus", "MOD0005"),
            ("1e30s", "MOD0009"),
            ("1e400s", "MOD0009"),
            ("1e-300us", "MOD0009"),
            ("5us 3ns", "MOD0005"),
        ] {
            assert_eq!(code(text), expected, "{text}");
        }
        assert!(matches!(
            "5GB".parse::<Bandwidth>(),
            Err(ParseError::UnknownUnit { .. })
        ));
        assert!(matches!(
            "5TFLOP".parse::<ComputeRate>(),
            Err(ParseError::UnknownUnit { .. })
        ));
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_range() {
        let refused = |error: ParseError| {
            assert_eq!(error.code(), "MOD0009");
            error.to_string()
        };
        for text in ["1e-308GHz", "1Hz", "1e9GHz"] {
            let reason = refused(text.parse::<Hertz>().unwrap_err());
            assert!(reason.contains("1 MHz to 100 GHz"), "{reason}");
        }
        for text in ["1e-300GB/s", "1B/s", "1e30TB/s"] {
            let reason = refused(text.parse::<Bandwidth>().unwrap_err());
            assert!(reason.contains("1 kB/s to 1 EB/s"), "{reason}");
        }
        for text in ["1e-300TFLOP/s", "1FLOP/s", "1e300TFLOP/s"] {
            let reason = refused(text.parse::<ComputeRate>().unwrap_err());
            assert!(reason.contains("1 kFLOP/s to 1e24 FLOP/s"), "{reason}");
        }
        assert!(refused(parse_cycles("1e-300cycles").unwrap_err()).contains("1e15"));
    }

    #[test]
    fn counts_are_whole() {
        for (text, value) in [
            ("0", 0),
            ("4096", 4096),
            ("64k", 64_000),
            ("16Mi", 16_777_216),
            ("2^24", 16_777_216),
            ("10^6", 1_000_000),
            ("1e6", 1_000_000),
            ("1.5k", 1500),
            ("2^0", 1),
        ] {
            assert_eq!(parse_count(text), Ok(value), "{text}");
        }
        for (text, code) in [
            ("", "MOD0001"),
            ("-1", "MOD0002"),
            ("1.5", "MOD0008"),
            ("2^-1", "MOD0008"),
            ("2^x", "MOD0008"),
            ("2^64", "MOD0004"),
            ("2^99999", "MOD0004"),
            ("1e30", "MOD0004"),
            ("NaN", "MOD0004"),
            ("12MB", "MOD0005"),
            ("1,000", "MOD0005"),
        ] {
            assert_eq!(parse_count(text).unwrap_err().code(), code, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_time_that_is_shown_is_understood(value in 0.001..1e17f64) {
            let text = Nanos::new(value).to_string().replace(',', "");
            let read: Nanos = text.parse().unwrap();
            prop_assert!((read.get() / value - 1.0).abs() < 0.006, "{text} for {value}");
        }

        #[test]
        fn no_text_makes_it_fail(text in ".{0,12}") {
            let _ = text.parse::<Nanos>();
            let _ = text.parse::<Bandwidth>();
            let _ = text.parse::<ComputeRate>();
            let _ = parse_count(&text);
        }
    }
}
