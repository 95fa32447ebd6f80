//! Significant figures, decimal prefixes and digit groups: the one place where digits are made.

use std::fmt::{self, Formatter, Write as _};

/// Significant figures when the format string asks for none.
const DEFAULT_FIGURES: usize = 3;
/// More figures than an `f64` holds are noise.
const MOST_FIGURES: usize = 17;
/// Values of this many integer digits and more in the largest unit are written in scientific notation.
const LONGEST_INTEGER: i32 = 6;
/// Smaller powers of ten in the smallest unit are written in scientific notation.
const SMALLEST_DECIMAL: i32 = -4;

/// A unit that stands for `10^exponent` of the first one in its list.
pub(super) struct Step {
    pub(super) exponent: i32,
    pub(super) text: &'static str,
}

const fn step(exponent: i32, text: &'static str) -> Step {
    Step { exponent, text }
}

/// Decimal prefixes for amounts and rates; there are none below one, because `12 mB` helps nobody.
pub(super) const SI: &[Step] = &[
    step(0, ""),
    step(3, "k"),
    step(6, "M"),
    step(9, "G"),
    step(12, "T"),
    step(15, "P"),
    step(18, "E"),
];
/// Units of time above a nanosecond; the longest is the second.
pub(super) const TIME: &[Step] = &[step(0, "ns"), step(3, "us"), step(6, "ms"), step(9, "s")];
/// No prefix at all.
pub(super) const PLAIN: &[Step] = &[step(0, "")];

/// The number of significant figures that a format string asks for.
pub(super) fn wanted(f: &Formatter<'_>) -> usize {
    f.precision()
        .unwrap_or(DEFAULT_FIGURES)
        .clamp(1, MOST_FIGURES)
}

/// The magnitude of `value` in the step that suits it: digits without sign, and the step's text.
pub(super) fn scaled(value: f64, figures: usize, steps: &'static [Step]) -> (String, &'static str) {
    let (first, last) = match (steps.first(), steps.last()) {
        (Some(first), Some(last)) => (first, last),
        _ => return (String::new(), ""),
    };
    let value = value.abs();
    if value.is_nan() {
        return ("NaN".to_owned(), first.text);
    }
    if value.is_infinite() {
        return ("inf".to_owned(), first.text);
    }
    if value < 1000.0 && is_whole(value) {
        return (format!("{value:.0}"), first.text);
    }
    let decimal = Decimal::round(value, figures);
    let step = steps
        .iter()
        .rev()
        .find(|step| step.exponent <= decimal.exponent)
        .unwrap_or(first);
    let place = decimal.exponent - step.exponent;
    if step.exponent == last.exponent && place >= LONGEST_INTEGER {
        return (decimal.scientific(place), last.text);
    }
    if place < SMALLEST_DECIMAL {
        return (decimal.scientific(place), first.text);
    }
    if usize::try_from(place).is_ok_and(|place| place >= figures) {
        // More integer digits than figures: zeros in their place would be wrong digits, so all are written.
        return (whole_digits(value, decimal.exponent, step), step.text);
    }
    (decimal.positional(place), step.text)
}

/// All integer digits of `value` in `step`; `exponent` may be one too high, from rounding to fewer figures.
fn whole_digits(value: f64, exponent: i32, step: &Step) -> String {
    let digits =
        |exponent: i32| usize::try_from(exponent - step.exponent).map_or(1, |place| place + 1);
    let mut decimal = Decimal::round(value, digits(exponent));
    if decimal.exponent < exponent {
        decimal = Decimal::round(value, digits(exponent - 1));
    }
    decimal.positional(decimal.exponent - step.exponent)
}

/// Whether a finite number has no fraction.
pub(super) fn is_whole(value: f64) -> bool {
    value.fract() == 0.0
}

/// A positive number rounded to some decimal digits: `d.ddd * 10^exponent`.
struct Decimal {
    digits: String,
    exponent: i32,
}

impl Decimal {
    /// Rounds exactly, from the binary value, as the standard library's scientific notation does.
    fn round(value: f64, figures: usize) -> Self {
        let text = format!("{value:.*e}", figures.saturating_sub(1));
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        Self {
            digits: mantissa.chars().filter(char::is_ascii_digit).collect(),
            exponent: exponent.parse().unwrap_or(0),
        }
    }

    /// Writes the number with its decimal point `place` digits after the first digit.
    fn positional(&self, place: i32) -> String {
        let Ok(place) = usize::try_from(place) else {
            let zeros = usize::try_from(-place - 1).unwrap_or(0);
            return format!("0.{}{}", "0".repeat(zeros), self.digits);
        };
        let mut digits = self.digits.clone();
        while digits.len() <= place {
            digits.push('0');
        }
        let (integer, fraction) = digits.split_at(place + 1);
        let mut text = group_digits(integer);
        if !fraction.is_empty() {
            text.push('.');
            text.push_str(fraction);
        }
        text
    }

    /// Writes the number as a power of ten of a step, `place` powers below this one.
    fn scientific(&self, place: i32) -> String {
        let (first, rest) = self.digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        format!("{first}{point}{rest}e{place}")
    }
}

/// A whole number with a comma between groups of three digits.
///
/// ```
/// assert_eq!(ridge_model::quantity::grouped(1_048_576), "1,048,576");
/// ```
#[must_use]
pub fn grouped(number: u64) -> String {
    group_digits(&number.to_string())
}

/// A number of things, where the word takes an `s` for several.
///
/// ```
/// use ridge_model::quantity::counted;
///
/// assert_eq!(counted(1, "more point"), "1 more point");
/// assert_eq!(counted(1024, "thread"), "1,024 threads");
/// ```
#[must_use]
pub fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{} {what}s", grouped(count)),
    }
}

pub(super) fn group_digits(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes sign, magnitude and unit, padded as the format string asks.
///
/// `Formatter::pad` is of no use: it would cut the text at the precision, which here means figures.
pub(super) fn write(f: &mut Formatter<'_>, value: f64, magnitude: &str, unit: &str) -> fmt::Result {
    let is_zero = magnitude == "0";
    let sign = if value < 0.0 && !is_zero {
        "-"
    } else if f.sign_plus() && value > 0.0 && !is_zero {
        "+"
    } else {
        ""
    };
    let space = if unit.is_empty() { "" } else { " " };
    pad(f, &format!("{sign}{magnitude}{space}{unit}"))
}

/// Pads to the width of the format string, to the right unless it says otherwise, and ignores the precision.
pub(super) fn pad(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    let missing = f.width().unwrap_or(0).saturating_sub(text.chars().count());
    let before = match f.align() {
        Some(fmt::Alignment::Left) => 0,
        Some(fmt::Alignment::Center) => missing / 2,
        Some(fmt::Alignment::Right) | None => missing,
    };
    let fill = f.fill();
    for _ in 0..before {
        f.write_char(fill)?;
    }
    f.write_str(text)?;
    for _ in before..missing {
        f.write_char(fill)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn si(value: f64) -> String {
        let (digits, prefix) = scaled(value, 3, SI);
        format!("{digits}{prefix}")
    }

    #[test]
    fn the_prefix_is_chosen_after_rounding() {
        assert_eq!(si(999.4), "999");
        assert_eq!(si(999.5), "1.00k");
        assert_eq!(si(999_499.0), "999k");
        assert_eq!(si(999_500.0), "1.00M");
    }

    #[test]
    fn numbers_too_large_for_the_last_prefix_are_scientific() {
        assert_eq!(si(1.0e18), "1.00E");
        assert_eq!(si(1.8e21), "1,800E");
        assert_eq!(si(1.8e25), "1.80e7E");
        assert_eq!(si(f64::MAX), "1.80e290E");
    }

    #[test]
    fn numbers_too_small_for_decimals_are_scientific() {
        assert_eq!(si(0.000_123_4), "0.000123");
        assert_eq!(si(0.000_012_3), "1.23e-5");
        assert_eq!(si(5e-324), "4.94e-324");
    }

    #[test]
    fn more_integer_digits_than_figures_are_all_written() {
        let (digits, _) = scaled(12_345.6, 3, PLAIN);
        assert_eq!(digits, "12,346");
        let (digits, _) = scaled(9_999.6, 3, PLAIN);
        assert_eq!(digits, "10,000");
        let (digits, _) = scaled(9_999.4, 3, PLAIN);
        assert_eq!(digits, "9,999");
    }

    #[test]
    fn digits_are_grouped_from_the_right() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
    }
}
