//! Any number with any unit, for metrics whose unit is known only at run time.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

use super::figures::{self, SI};
use super::{Nanos, ratio};

/// Whole counts below this are written out with groups; larger ones get a prefix.
const LONGEST_COUNT: f64 = 100_000.0;

/// A unit in the profiler's spelling and without prefix: `byte/s`, `inst/cycle`, `sector`, `%`, or nothing for a
/// plain number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unit(Cow<'static, str>);

impl Unit {
    /// A plain number.
    pub const NONE: Self = Self::from_static("");
    /// Nanoseconds.
    pub const NANOS: Self = Self::from_static("ns");
    /// Bytes.
    pub const BYTES: Self = Self::from_static("byte");
    /// Bytes per second.
    pub const BYTES_PER_SECOND: Self = Self::from_static("byte/s");
    /// Cycles per second.
    pub const HERTZ: Self = Self::from_static("Hz");
    /// Clock cycles.
    pub const CYCLES: Self = Self::from_static("cycle");
    /// Floating-point operations.
    pub const FLOPS: Self = Self::from_static("FLOP");
    /// Floating-point operations per second.
    pub const FLOPS_PER_SECOND: Self = Self::from_static("FLOP/s");
    /// Arithmetic intensity.
    pub const FLOPS_PER_BYTE: Self = Self::from_static("FLOP/byte");
    /// Percent: the number 100 is the whole.
    pub const PERCENT: Self = Self::from_static("%");
    /// Warp instructions.
    pub const INSTRUCTIONS: Self = Self::from_static("inst");
    /// Instructions per cycle.
    pub const INSTRUCTIONS_PER_CYCLE: Self = Self::from_static("inst/cycle");
    /// Memory sectors of 32 bytes.
    pub const SECTORS: Self = Self::from_static("sector");

    /// A unit known when the program is built.
    #[must_use]
    pub const fn from_static(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// A unit known only at run time.
    #[must_use]
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self(name.into())
    }

    /// The unit's name, as JSON and CSV carry it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// A number and its unit.
///
/// ```
/// use ridge_model::quantity::{Amount, Unit};
///
/// assert_eq!(Amount::new(44_040_192.0, Unit::SECTORS).to_string(), "44.0 Msector");
/// assert_eq!(Amount::new(2.74e12, Unit::BYTES_PER_SECOND).to_string(), "2.74 TB/s");
/// assert_eq!(Amount::new(0.531, Unit::INSTRUCTIONS_PER_CYCLE).to_string(), "0.531 inst/cycle");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Amount {
    value: f64,
    unit: Unit,
}

impl Amount {
    /// A number that is already in `unit`.
    #[must_use]
    pub const fn new(value: f64, unit: Unit) -> Self {
        Self { value, unit }
    }

    /// A plain whole number; above 2^53 it is rounded to the nearest representable one.
    #[must_use]
    pub const fn count(value: u64) -> Self {
        Self::new(value as f64, Unit::NONE)
    }

    /// The number, in [`Amount::unit`].
    #[must_use]
    pub const fn get(&self) -> f64 {
        self.value
    }

    /// The unit.
    #[must_use]
    pub const fn unit(&self) -> &Unit {
        &self.unit
    }
}

impl Display for Amount {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let value = self.value;
        let unit = self.unit.name();
        match unit {
            "ns" => return Nanos::new(value).fmt(f),
            "us" => return Nanos::new(value * 1e3).fmt(f),
            "ms" => return Nanos::new(value * 1e6).fmt(f),
            "s" => return Nanos::from_seconds(value).fmt(f),
            "%" => return ratio::write_percent(f, value),
            _ => {}
        }
        let symbol = symbol(unit);
        if value.abs() < LONGEST_COUNT && figures::is_whole(value) && !is_byte(unit) {
            let digits = format!("{:.0}", value.abs());
            return figures::write(f, value, &figures::group_digits(&digits), &symbol);
        }
        let (digits, prefix) = figures::scaled(value, figures::wanted(f), SI);
        figures::write(f, value, &digits, &format!("{prefix}{symbol}"))
    }
}

fn is_byte(unit: &str) -> bool {
    unit.split('/').next() == Some("byte")
}

/// The unit as people write it beside a prefix: `B/s` for `byte/s`; other words stay.
fn symbol(unit: &str) -> Cow<'_, str> {
    match unit.strip_prefix("byte") {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => Cow::Owned(format!("B{rest}")),
        _ => Cow::Borrowed(unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(value: f64, unit: &'static str) -> String {
        Amount::new(value, Unit::from_static(unit)).to_string()
    }

    #[test]
    fn metrics_read_well_in_their_units() {
        let lines = [
            text(65_536.0, ""),
            text(1_048_576.0, ""),
            text(44_040_192.0, "sector"),
            text(1.234e9, "sector/s"),
            text(255.0, "register/thread"),
            text(49_152.0, "byte/block"),
            text(31.7, "byte/sector"),
            text(2_500.0, "byte/cycle"),
            text(3.35e12, "byte/s"),
            text(989.4e12, "FLOP/s"),
            text(12.5, "FLOP/byte"),
            text(0.004_21, "inst/cycle"),
            text(1.98e9, "Hz"),
            text(402_700.0, "ns"),
            text(0.004, "s"),
            text(93.1, "%"),
            text(1_234.5, "warp"),
            text(1_024.0, "thread"),
        ]
        .join("\n");
        insta::assert_snapshot!(lines, @"
        65,536
        1.05 M
        44.0 Msector
        1.23 Gsector/s
        255 register/thread
        49.2 kB/block
        31.7 B/sector
        2.50 kB/cycle
        3.35 TB/s
        989 TFLOP/s
        12.5 FLOP/byte
        0.00421 inst/cycle
        1.98 GHz
        403 us
        4.00 ms
        93.1 %
        1.23 kwarp
        1,024 thread
        ");
    }

    #[test]
    fn odd_values_are_sane() {
        assert_eq!(Amount::count(u64::MAX).to_string(), "18.4 E");
        assert_eq!(text(-7.0, "warp"), "-7 warp");
        assert_eq!(text(-0.0, "warp"), "0 warp");
        assert_eq!(text(f64::NAN, "warp"), "NaN warp");
        assert_eq!(text(f64::NEG_INFINITY, ""), "-inf");
        assert_eq!(
            text(f64::MIN_POSITIVE / 2.0, "inst/cycle"),
            "1.11e-308 inst/cycle"
        );
        assert_eq!(text(99_999.0, "inst"), "99,999 inst");
        assert_eq!(text(100_000.0, "inst"), "100 kinst");
        assert_eq!(text(99_999.5, "inst"), "100 kinst");
    }

    /// Reads a text of ours back, in the base unit.
    fn read_back(text: &str) -> f64 {
        let (digits, unit) = text.split_once(' ').unwrap_or((text, ""));
        let number: f64 = digits.replace(',', "").parse().expect("digits");
        let exponent = match unit {
            "ns" | "" | "B" => 0,
            "us" | "k" | "kB" => 3,
            "ms" | "M" | "MB" => 6,
            "s" | "G" | "GB" => 9,
            "T" | "TB" => 12,
            "P" | "PB" => 15,
            "E" | "EB" => 18,
            other => panic!("unit {other}"),
        };
        number * 10f64.powi(exponent)
    }

    proptest! {
        #[test]
        fn the_text_is_within_half_of_its_last_figure(value in any::<f64>(), unit in prop::sample::select(vec!["", "ns", "byte"])) {
            prop_assume!(value.is_finite() && value.abs() < 1e300);
            let shown = read_back(&text(value, unit));
            let error = (shown - value).abs();
            prop_assert!(error <= value.abs() * 0.005_000_1 || value.abs() < 1e-300, "{value} as {}", text(value, unit));
        }

        #[test]
        fn everyday_values_have_short_digits(mantissa in -1000.0..1000.0f64, exponent in -3..17, unit in prop::sample::select(vec!["", "byte", "warp", "Hz"])) {
            let text = text(mantissa * 10f64.powi(exponent), unit);
            let digits = text.split(' ').next().unwrap_or_default();
            let significant = digits.chars().filter(char::is_ascii_digit).collect::<String>();
            prop_assert!(significant.trim_start_matches('0').len() <= 5, "{text}");
            prop_assert!(!text.contains("e-") || mantissa.abs() < 1.0, "{text}");
        }

        #[test]
        fn times_never_show_a_thousand_of_a_unit(nanos in 0.0..999.0e9f64, figures in 3..5usize) {
            let text = format!("{:.*}", figures, Nanos::new(nanos));
            prop_assert!(!text.starts_with("1000") && !text.starts_with("1,000"), "{text}");
        }

        #[test]
        fn every_number_shows_its_unit(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assert!(text(value, "warp").ends_with("warp"));
            prop_assert!(text(value, "byte/s").ends_with("B/s"));
            prop_assert!(text(value, "ns").ends_with('s'));
            prop_assert!(text(value, "%").ends_with(" %"));
        }
    }
}
