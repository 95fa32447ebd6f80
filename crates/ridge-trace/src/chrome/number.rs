//! Numbers as traces spell them.

/// Microseconds in decimal as nanoseconds, exactly: times since 1970 have more digits than a float holds.
pub(super) fn micros_as_ns(text: &str) -> Option<i64> {
    let text = text.trim();
    if text.bytes().any(|byte| matches!(byte, b'e' | b'E')) {
        let value: f64 = text.parse().ok()?;
        let ns = (value * 1e3).round();
        // The range in which floats and integers agree on what is a whole number.
        #[expect(clippy::cast_possible_truncation, reason = "checked to be in range")]
        return (ns.abs() < 9e15).then_some(ns as i64);
    }
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !are_digits(whole) || !are_digits(fraction) {
        return None;
    }
    let whole: i64 = whole.parse().ok()?;
    let mut thousandths = 0;
    for place in 0..3 {
        thousandths = thousandths * 10
            + fraction
                .as_bytes()
                .get(place)
                .map_or(0, |digit| i64::from(digit - b'0'));
    }
    thousandths += i64::from(
        fraction
            .as_bytes()
            .get(3)
            .is_some_and(|digit| *digit >= b'5'),
    );
    let ns = whole.checked_mul(1000)?.checked_add(thousandths)?;
    Some(if is_negative { -ns } else { ns })
}

/// A whole number that is not negative; a fraction of 0 is borne.
pub(super) fn whole(text: &str) -> Option<u64> {
    let text = text.trim();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|byte| byte == b'0') {
        return None;
    }
    match whole.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => whole.parse().ok(),
    }
}

/// The number at the end of a text: `stream 7` is 7.
pub(super) fn whole_at_end(text: &str) -> Option<u64> {
    let start = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    text.get(start..).and_then(|digits| digits.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_keep_every_nanosecond() {
        for (text, ns) in [
            ("5138616340888.198", Some(5_138_616_340_888_198)),
            ("1712195495506161.2", Some(1_712_195_495_506_161_200)),
            ("1694039969479080", Some(1_694_039_969_479_080_000)),
            ("0.0015", Some(2)),
            ("-1.5", Some(-1500)),
            ("1.5e3", Some(1_500_000)),
            ("inf", None),
            ("nan", None),
            ("", None),
            (".5", None),
            ("1e300", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(micros_as_ns(text), ns, "{text}");
        }
    }

    #[test]
    fn whole_numbers() {
        assert_eq!(whole("67108864"), Some(67_108_864));
        assert_eq!(whole("12.0"), Some(12));
        assert_eq!(whole("0x10"), Some(16));
        assert_eq!(whole("-1"), None);
        assert_eq!(whole("1.5"), None);
        assert_eq!(whole_at_end("stream 7"), Some(7));
        assert_eq!(whole_at_end("Spans"), None);
    }
}
