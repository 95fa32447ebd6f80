//! Numbers, indices and rows as the pages have them.

use crate::escape;

/// A number of at most six significant digits, with an exponent where it is far from 1.
pub(super) fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if (1e-4..1e7).contains(&value.abs()) {
        let digits = (5 - value.abs().log10().floor() as i32).clamp(0, 9);
        let text = format!("{value:.*}", digits as usize);
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    } else {
        format!("{value:.3e}")
    }
}

/// Three significant figures.
pub(super) fn figure(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if (1e-2..1e5).contains(&value.abs()) {
        let digits = (2 - value.abs().log10().floor() as i32).clamp(0, 4);
        format!("{value:.*}", digits as usize)
    } else {
        format!("{value:.2e}")
    }
}

/// A number that JSON could not hold is no finite one.
pub(super) fn finite_or(value: Option<f64>, absent: &str) -> String {
    value.map_or_else(|| absent.to_owned(), number)
}

/// An index or a shape.
pub(super) fn list(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    format!("[{}]", numbers.join(", "))
}

/// A row of a table of Markdown.
pub(super) fn row(out: &mut String, cells: &[&str]) {
    out.push('|');
    for cell in cells {
        out.push(' ');
        out.push_str(&escape::markdown(cell));
        out.push_str(" |");
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_keep_their_meaning() {
        assert_eq!(number(1.5), "1.5");
        assert_eq!(number(-1234.5678), "-1234.57");
        assert_eq!(number(100_000.0), "100000");
        assert_eq!(number(1.0e-9), "1.000e-9");
        assert_eq!(number(0.0), "0");
        assert_eq!(figure(0.5), "0.500");
        assert_eq!(figure(123.4), "123");
        assert_eq!(list(&[3, 4]), "[3, 4]");
    }
}
