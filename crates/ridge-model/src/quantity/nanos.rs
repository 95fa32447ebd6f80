//! Durations.

use std::fmt::{self, Display, Formatter};

use super::figures::{self, TIME};

super::quantity! {
    /// A duration in nanoseconds: a time span, a difference of two, or a mean; not a timestamp.
    ///
    /// Displays in ns, us, ms or s. Whole nanoseconds are exact up to 104 days.
    Nanos
}

impl Nanos {
    /// A duration given in seconds.
    #[must_use]
    pub const fn from_seconds(seconds: f64) -> Self {
        Self(seconds * 1e9)
    }

    /// The duration in seconds.
    #[must_use]
    pub const fn seconds(self) -> f64 {
        self.0 / 1e9
    }
}

impl Display for Nanos {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (digits, unit) = figures::scaled(self.0, figures::wanted(f), TIME);
        figures::write(f, self.0, &digits, unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(nanos: f64) -> String {
        Nanos::new(nanos).to_string()
    }

    #[test]
    fn durations_read_well_at_every_size() {
        let lines: Vec<String> = [
            0.0, 0.25, 5.0, 832.0, 1_234.5, 12_345.0, 123_456.0, 1.5e6, 2.0e9, 75.0e9, 3_600.0e9,
            1e17,
        ]
        .into_iter()
        .map(text)
        .collect();
        insta::assert_snapshot!(lines.join("\n"), @"
        0 ns
        0.250 ns
        5 ns
        832 ns
        1.23 us
        12.3 us
        123 us
        1.50 ms
        2.00 s
        75.0 s
        3,600 s
        1.00e8 s
        ");
    }

    #[test]
    fn rounding_carries_into_the_next_unit() {
        assert_eq!(text(999_960.0), "1.00 ms");
        assert_eq!(text(999.6), "1.00 us");
        assert_eq!(text(999_999_999.0), "1.00 s");
        assert_eq!(format!("{:.4}", Nanos::new(999_960.0)), "1.000 ms");
        assert_eq!(format!("{:.4}", Nanos::new(999_940.0)), "999.9 us");
    }

    #[test]
    fn odd_values_are_sane() {
        assert_eq!(text(-1_500.0), "-1.50 us");
        assert_eq!(text(-0.0), "0 ns");
        assert_eq!(text(f64::NAN), "NaN ns");
        assert_eq!(text(f64::INFINITY), "inf ns");
        assert_eq!(text(f64::NEG_INFINITY), "-inf ns");
        assert_eq!(text(5e-324), "4.94e-324 ns");
        assert_eq!(Nanos::from_count(u64::MAX).to_string(), "1.84e10 s");
    }

    #[test]
    fn format_strings_choose_figures_sign_and_width() {
        let nanos = Nanos::new(12_346.0);
        assert_eq!(format!("{nanos:.4}"), "12.35 us");
        assert_eq!(format!("{nanos:+}"), "+12.3 us");
        assert_eq!(format!("{:+}", Nanos::ZERO), "0 ns");
        assert_eq!(format!("{nanos:*<10}"), "12.3 us***");
        assert_eq!(format!("{nanos:10}|"), "   12.3 us|");
    }

    #[test]
    fn arithmetic_keeps_the_unit() {
        let total: Nanos = [1.0, 2.0, 3.5].into_iter().map(Nanos::new).sum();
        assert_eq!(total, Nanos::new(6.5));
        assert_eq!(total - Nanos::new(0.5), Nanos::new(6.0));
        assert_eq!((Nanos::new(3.0) / Nanos::new(4.0)).to_string(), "75.0 %");
        assert_eq!(Nanos::from_seconds(0.25), Nanos::new(2.5e8));
    }
}
