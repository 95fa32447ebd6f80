//! Numbers as the profiler prints them: with separators of thousands, in the style of the locale.

use crate::metric::Value;

/// Which character starts the fraction. The other one, spaces and apostrophes may separate thousands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Point,
    Comma,
}

/// Decides the style of a table from its numbers: many of them can be read in one way only.
#[derive(Debug, Default)]
pub(super) struct Vote {
    point: usize,
    comma: usize,
}

impl Vote {
    /// Looks at one cell.
    pub(super) fn add(&mut self, cell: &str) {
        match (
            plain(cell, Style::Point).is_some(),
            plain(cell, Style::Comma).is_some(),
        ) {
            (true, false) => self.point = self.point.saturating_add(1),
            (false, true) => self.comma = self.comma.saturating_add(1),
            _ => {}
        }
    }

    /// Whether more cells would hardly change the answer.
    pub(super) fn is_settled(&self) -> bool {
        self.point.abs_diff(self.comma) >= 16
    }

    /// The style; without evidence the one that goes with the separator of the cells.
    pub(super) fn style(&self, separator: u8) -> Style {
        match self.point.cmp(&self.comma) {
            std::cmp::Ordering::Greater => Style::Point,
            std::cmp::Ordering::Less => Style::Comma,
            std::cmp::Ordering::Equal if separator == b';' => Style::Comma,
            std::cmp::Ordering::Equal => Style::Point,
        }
    }
}

/// Whether a cell says that there is no value, as opposed to saying nothing.
pub(super) fn is_absent(cell: &str) -> bool {
    matches!(cell, "" | "-" | "--")
        || [
            "no data",
            "n/a",
            "na",
            "nan",
            "-nan",
            "nan(ind)",
            "-nan(ind)",
            "inf",
            "-inf",
        ]
        .iter()
        .any(|word| cell.eq_ignore_ascii_case(word))
}

/// Reads a number and shifts it by a power of ten; `None` when the cell is no number.
///
/// Whole numbers without a shift stay exact. Shifted ones are rounded once: the digits are read together with the
/// power, not multiplied afterwards.
pub(super) fn number(cell: &str, style: Style, exponent: i32) -> Option<Value<'static>> {
    let other = match style {
        Style::Point => Style::Comma,
        Style::Comma => Style::Point,
    };
    // A number that the table's style cannot read may still be readable in just one way.
    let digits = plain(cell, style).or_else(|| plain(cell, other))?;
    if exponent == 0
        && let Ok(whole) = digits.parse::<u64>()
    {
        return Some(Value::U64(whole));
    }
    let value = match (exponent, digits.contains('e')) {
        (0, _) => digits.parse::<f64>().ok()?,
        (_, false) => format!("{digits}e{exponent}").parse::<f64>().ok()?,
        (_, true) => digits.parse::<f64>().ok()? * 10_f64.powi(exponent),
    };
    value.is_finite().then_some(Value::F64(value))
}

/// Longest text that is taken for a number.
const MAX_DIGITS: usize = 64;

/// The number without separators of thousands and with a point for the fraction.
///
/// Separators have to stand where they belong, or the text is no number in this style: three digits behind each, one
/// to three and no leading zero before the first.
fn plain(cell: &str, style: Style) -> Option<String> {
    let cell = cell.trim();
    if cell.is_empty() || cell.len() > MAX_DIGITS {
        return None;
    }
    let (decimal, thousands) = match style {
        Style::Point => ('.', ','),
        Style::Comma => (',', '.'),
    };
    let mut plain = String::with_capacity(cell.len());
    let unsigned = match cell.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => {
            plain.push('-');
            rest
        }
        None => cell.strip_prefix('+').unwrap_or(cell),
    };
    let (mantissa, power) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, power)) => (mantissa, Some(power)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once(decimal) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let mut groups = whole.split([thousands, ' ', '\'', '\u{2019}', '\u{a0}', '\u{202f}']);
    let first = groups.next()?;
    plain.push_str(first);
    let mut is_grouped = false;
    for group in groups {
        if group.len() != 3 {
            return None;
        }
        is_grouped = true;
        plain.push_str(group);
    }
    if is_grouped && (first.is_empty() || first.len() > 3 || first.starts_with('0')) {
        return None;
    }
    if whole.is_empty() && fraction.is_none_or(str::is_empty) {
        return None;
    }
    if first.is_empty() {
        plain.push('0'); // `.5`
    }
    if let Some(fraction) = fraction.filter(|fraction| !fraction.is_empty()) {
        plain.push('.');
        plain.push_str(fraction);
    }
    if !plain
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.'))
    {
        return None;
    }
    if fraction.is_some_and(|fraction| !fraction.bytes().all(|byte| byte.is_ascii_digit())) {
        return None;
    }
    if let Some(power) = power {
        let power = power.parse::<i16>().ok()?;
        plain.push('e');
        plain.push_str(&power.to_string());
    }
    Some(plain)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn read(cell: &str, style: Style) -> Option<f64> {
        number(cell, style, 0)?.number()
    }

    #[test]
    fn point_style() {
        for (cell, value) in [
            ("4,950,735", 4_950_735.0),
            ("4,916,815.12", 4_916_815.12),
            ("1,024", 1024.0),
            ("0.47", 0.47),
            ("-16.2", -16.2),
            ("1e3", 1000.0),
            ("2.5E-3", 0.0025),
            ("12 345.5", 12345.5),
            ("1'234", 1234.0),
            (".5", 0.5),
            ("7.", 7.0),
        ] {
            assert_eq!(read(cell, Style::Point), Some(value), "{cell}");
        }
    }

    #[test]
    fn comma_style() {
        for (cell, value) in [
            ("4.950.735", 4_950_735.0),
            ("4.916.815,12", 4_916_815.12),
            ("1.024", 1024.0),
            ("1,024", 1.024),
            ("4 950 735,5", 4_950_735.5),
            ("4\u{a0}950\u{202f}735", 4_950_735.0),
            ("0,47", 0.47),
        ] {
            assert_eq!(read(cell, Style::Comma), Some(value), "{cell}");
        }
    }

    #[test]
    fn a_number_in_the_other_style_is_read_when_it_has_one_meaning() {
        assert_eq!(read("3,20", Style::Point), Some(3.2));
        assert_eq!(read("3.20", Style::Comma), Some(3.2));
    }

    #[test]
    fn text_is_no_number() {
        for cell in [
            "",
            "-",
            "all",
            "PolicySpread",
            "1,2,3",
            "0x10",
            "12a",
            "1-2",
            "3e",
            "e3",
            "1.2.3",
            ",",
            ".",
        ] {
            assert_eq!(number(cell, Style::Point, 0), None, "{cell}");
        }
        assert_eq!(number(&"9".repeat(65), Style::Point, 0), None);
    }

    #[test]
    fn prefixes_round_once() {
        // 435.3 * 1000 is not 435300 in floats.
        assert_eq!(
            number("435.30", Style::Point, 3),
            Some(Value::F64(435_300.0))
        );
        assert_eq!(
            number("18446744073709551615", Style::Point, 0),
            Some(Value::U64(u64::MAX))
        );
        assert_eq!(number("1e300", Style::Point, 300), None);
    }

    #[test]
    fn the_numbers_of_a_table_decide_its_style() {
        let style = |cells: &[&str], separator| {
            let mut vote = Vote::default();
            cells.iter().for_each(|cell| vote.add(cell));
            vote.style(separator)
        };
        assert_eq!(style(&["1,024", "82.34"], b','), Style::Point);
        assert_eq!(style(&["1.024", "82,34"], b','), Style::Comma);
        assert_eq!(style(&["1.024", "0,123"], b','), Style::Comma);
        assert_eq!(style(&["1.024", "12"], b';'), Style::Comma);
        assert_eq!(style(&["1.024", "12"], b','), Style::Point);
        assert_eq!(style(&["1.234.567"], b','), Style::Comma);
        let mut vote = Vote::default();
        (0..16).for_each(|_| vote.add("0.5"));
        assert!(vote.is_settled());
    }

    #[test]
    fn words_for_nothing() {
        for cell in ["", "-", "no data", "N/A", "nan", "-nan"] {
            assert!(is_absent(cell), "{cell}");
        }
        assert!(!is_absent("0"));
        assert_eq!(number("5", Style::Point, 9).unwrap().number(), Some(5e9));
    }
}
