//! Numbers in sentences and tables: one way to write them.

/// A count with its noun, in thousands.
#[must_use]
pub fn count_of(count: u64, one: &str, many: &str) -> String {
    let noun = if count == 1 { one } else { many };
    format!("{} {noun}", grouped(count))
}

/// A count in groups of three digits.
#[must_use]
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) && digits.len() > 4 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A share in per cent, never 0 or 100 where it is not.
#[must_use]
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if share > 0.0 && percent < 0.01 {
        "less than 0.01 %".to_owned()
    } else if share < 1.0 && percent > 99.9 {
        "more than 99.9 %".to_owned()
    } else if percent < 1.0 && share > 0.0 {
        format!("{percent:.2} %")
    } else if share > 0.0 && share < 1.0 && !(10.0..99.0).contains(&percent) {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// A name with its article.
#[must_use]
pub fn with_article(name: &str) -> String {
    // Formats are spelled: an f32, an e4m3, an i8; but a bf16, a tf32, a u8.
    let is_an = name.starts_with(['f', 'e', 'i']);
    format!("{} {name}", if is_an { "an" } else { "a" })
}

/// Places from one to another.
#[must_use]
pub fn span(lowest: u64, highest: u64) -> String {
    if lowest == highest {
        lowest.to_string()
    } else {
        format!("{lowest}–{highest}")
    }
}

/// A number with three figures.
#[must_use]
pub fn figures(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let size = value.abs();
    if !(1e-3..1e6).contains(&size) {
        return format!("{value:.2e}");
    }
    let decimals = (2 - size.log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_true() {
        assert_eq!(count_of(1, "element", "elements"), "1 element");
        assert_eq!(
            count_of(1_234_567, "element", "elements"),
            "1,234,567 elements"
        );
        assert_eq!(count_of(4096, "element", "elements"), "4096 elements");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(1e-6), "less than 0.01 %");
        assert_eq!(percent(0.12), "12 %");
        assert_eq!(percent(0.998), "99.8 %");
        assert_eq!(with_article("f16"), "an f16");
        assert_eq!(with_article("bf16"), "a bf16");
        assert_eq!(percent(0.9999), "more than 99.9 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(figures(2.1), "2.1");
        assert_eq!(figures(1234.0), "1234");
        assert_eq!(figures(1.5e-7), "1.50e-7");
        assert_eq!(figures(2.0), "2");
        assert_eq!(span(4080, 4095), "4080–4095");
    }
}
