//! Shares, efficiencies and factors.

use std::fmt::{self, Display, Formatter};

use super::figures;

super::quantity! {
    /// A number without unit that compares two of the same: 1 is the whole.
    ///
    /// Displays in percent, at most two decimals; what would round to zero shows as `<0.01 %`.
    Ratio
}

impl Ratio {
    /// A ratio given in percent, as the profiler's `.pct` metrics are.
    #[must_use]
    pub const fn from_percent(percent: f64) -> Self {
        Self(percent / 100.0)
    }

    /// The ratio in percent.
    #[must_use]
    pub const fn percent(self) -> f64 {
        self.0 * 100.0
    }

    /// How far the ratio is from one: 1.043 becomes 0.043, and `{:+}` shows it as `+4.30 %`.
    #[must_use]
    pub const fn change(self) -> Self {
        Self(self.0 - 1.0)
    }

    /// The ratio as a factor, such as `1.43x` for a speed-up.
    #[must_use]
    pub const fn factor(self) -> Factor {
        Factor(self)
    }
}

impl Display for Ratio {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_percent(f, self.percent())
    }
}

/// Writes a number that is already in percent.
pub(super) fn write_percent(f: &mut Formatter<'_>, percent: f64) -> fmt::Result {
    /// Percentages need no more: a hundredth of a percent of a run is below every measurement's noise.
    const DECIMALS: usize = 2;
    let magnitude = percent.abs();
    if magnitude > 0.0 && magnitude < 0.005 {
        let text = if percent > 0.0 { "<0.01 %" } else { ">-0.01 %" };
        return figures::pad(f, text);
    }
    if magnitude < 1.0 && magnitude > 0.0 {
        return figures::write(f, percent, &format!("{magnitude:.DECIMALS$}"), "%");
    }
    // Scaling by 100 leaves dust in the last binary digit, and 56.00000000000001 is not whole.
    let nearest = magnitude.round();
    let is_whole = (magnitude - nearest).abs() <= f64::EPSILON * magnitude;
    let magnitude = if is_whole { nearest } else { magnitude };
    let figures = figures::wanted(f);
    let (digits, _) = if is_whole && magnitude < 100.0 && magnitude > 0.0 {
        // 75 % and 75.0 % in one column look like two kinds of numbers.
        let places = figures.saturating_sub(if magnitude < 10.0 { 1 } else { 2 });
        (format!("{magnitude:.*}", places.min(DECIMALS)), "")
    } else {
        figures::scaled(magnitude, figures, figures::PLAIN)
    };
    figures::write(f, percent, &digits, "%")
}

/// Displays a ratio as a factor; made by [`Ratio::factor`].
#[derive(Clone, Copy, Debug)]
pub struct Factor(Ratio);

impl Display for Factor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let value = self.0.0;
        let figures = figures::wanted(f);
        let (digits, _) = if figures::is_whole(value) && value.abs() < 10.0 {
            (format!("{:.*}", figures - 1, value.abs()), "")
        } else {
            figures::scaled(value, figures, figures::PLAIN)
        };
        let sign = if value < 0.0 { "-" } else { "" };
        figures::pad(f, &format!("{sign}{digits}x"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_read_as_percent() {
        let lines: Vec<String> = [
            0.0, 1e-9, 0.000_05, 0.004, 0.012_3, 0.07, 0.1, 0.56, 0.931, 0.999_6, 1.0, 1.5, 12.345,
            1e9,
        ]
        .into_iter()
        .map(|ratio| Ratio::new(ratio).to_string())
        .collect();
        insta::assert_snapshot!(lines.join("\n"), @"
        0 %
        <0.01 %
        0.01 %
        0.40 %
        1.23 %
        7.00 %
        10.0 %
        56.0 %
        93.1 %
        100 %
        100 %
        150 %
        1,234 %
        1.00e11 %
        ");
    }

    #[test]
    fn changes_carry_a_sign() {
        let change = |ratio| format!("{:+}", Ratio::new(ratio).change());
        assert_eq!(change(1.043), "+4.30 %");
        assert_eq!(change(0.5), "-50.0 %");
        assert_eq!(change(1.0), "0 %");
        assert_eq!(change(0.999_999), ">-0.01 %");
    }

    #[test]
    fn factors_read_as_times() {
        assert_eq!(Ratio::new(1.4267).factor().to_string(), "1.43x");
        assert_eq!(Ratio::new(1.0).factor().to_string(), "1.00x");
        assert_eq!(Ratio::new(2.0).factor().to_string(), "2.00x");
        assert_eq!(Ratio::new(31.55).factor().to_string(), "31.6x");
        assert_eq!(Ratio::new(1_234.0).factor().to_string(), "1,234x");
        assert_eq!(Ratio::new(f64::INFINITY).factor().to_string(), "infx");
    }

    #[test]
    fn odd_values_are_sane() {
        assert_eq!(Ratio::new(-0.25).to_string(), "-25.0 %");
        assert_eq!(Ratio::new(f64::NAN).to_string(), "NaN %");
        assert_eq!(Ratio::new(f64::NEG_INFINITY).to_string(), "-inf %");
        assert_eq!(Ratio::new(5e-324).to_string(), "<0.01 %");
        assert_eq!(Ratio::from_percent(42.5), Ratio::new(0.425));
    }
}
