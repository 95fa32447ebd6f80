//! Amounts of memory and traffic.

use std::fmt::{self, Display, Formatter};

use super::figures::{self, SI};
use super::{Amount, Nanos, Unit};

super::quantity! {
    /// A number of bytes: traffic, a footprint or a capacity.
    ///
    /// Displays with decimal prefixes (kB, MB, GB), as the profiler does; [`Bytes::binary`] gives KiB and MiB.
    Bytes
}

impl Bytes {
    /// The same amount with binary prefixes, for capacities that are powers of two by design.
    #[must_use]
    pub const fn binary(self) -> Binary {
        Binary(self)
    }

    /// The text for amounts that people gave or that follow from shapes: with decimal prefixes where three figures are
    /// exact, as of `1.5 GB`, else with binary ones, as of `192 MiB`.
    #[must_use]
    pub fn natural(self) -> String {
        let three_figures: f64 = format!("{:.2e}", self.0).parse().unwrap_or(f64::NAN);
        if (three_figures - self.0).abs() < f64::EPSILON {
            self.to_string()
        } else {
            self.binary().to_string()
        }
    }

    /// The rate at which these bytes move in `time`.
    #[must_use]
    pub const fn per(self, time: Nanos) -> Amount {
        Amount::new(self.0 / time.seconds(), Unit::BYTES_PER_SECOND)
    }
}

impl Display for Bytes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (digits, prefix) = figures::scaled(self.0, figures::wanted(f), SI);
        figures::write(f, self.0, &digits, &format!("{prefix}B"))
    }
}

/// Displays bytes as B, KiB, MiB and so on; whole multiples have no decimals.
#[derive(Clone, Copy, Debug)]
pub struct Binary(Bytes);

impl Display for Binary {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let value = self.0.0;
        let figures = figures::wanted(f);
        let mut scaled = value.abs();
        let mut units = UNITS.iter().copied().peekable();
        let mut unit = units.next().unwrap_or("B");
        // Between 1000 and 1024 all four digits are written, and what rounds to 1024 is one of the next unit.
        while scaled >= 1023.5 && scaled.is_finite() {
            let Some(next) = units.next() else { break };
            scaled /= 1024.0;
            unit = next;
        }
        let (digits, _) = figures::scaled(scaled, figures, figures::PLAIN);
        figures::write(f, value, &digits, unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_decimal_by_default() {
        let lines: Vec<String> = [
            0,
            1,
            512,
            1_000,
            1_024,
            999_960,
            4_194_304,
            80_000_000_000,
            u64::MAX,
        ]
        .into_iter()
        .map(|count| Bytes::from_count(count).to_string())
        .collect();
        insta::assert_snapshot!(lines.join("\n"), @"
        0 B
        1 B
        512 B
        1.00 kB
        1.02 kB
        1.00 MB
        4.19 MB
        80.0 GB
        18.4 EB
        ");
    }

    #[test]
    fn binary_prefixes_carry_the_i() {
        let lines: Vec<String> = [
            0,
            1_023,
            1_024,
            1_536,
            49_152,
            233_472,
            1_025_000,
            1_048_575,
            52_428_800,
            u64::MAX,
        ]
        .into_iter()
        .map(|count| Bytes::from_count(count).binary().to_string())
        .collect();
        insta::assert_snapshot!(lines.join("\n"), @"
        0 B
        1,023 B
        1 KiB
        1.50 KiB
        48 KiB
        228 KiB
        1,001 KiB
        1.00 MiB
        50 MiB
        16 EiB
        ");
    }

    #[test]
    fn the_natural_prefix_is_the_exact_one() {
        for (count, text) in [
            (512, "512 B"),
            (1_500_000_000, "1.50 GB"),
            (1_000_000_000_000, "1.00 TB"),
            (201_326_592, "192 MiB"),
            (1 << 40, "1 TiB"),
            (16_781_312, "16.0 MiB"),
        ] {
            assert_eq!(Bytes::from_count(count).natural(), text);
        }
    }

    #[test]
    fn odd_values_are_sane() {
        assert_eq!(Bytes::new(-2_048.0).to_string(), "-2.05 kB");
        assert_eq!(Bytes::new(-2_048.0).binary().to_string(), "-2 KiB");
        assert_eq!(Bytes::new(f64::NAN).binary().to_string(), "NaN B");
        assert_eq!(Bytes::new(f64::INFINITY).binary().to_string(), "inf B");
        assert_eq!(Bytes::new(f64::MAX).to_string(), "1.80e290 EB");
        assert_eq!(Bytes::new(0.5).to_string(), "0.500 B");
    }

    #[test]
    fn a_rate_needs_a_time() {
        let rate = |nanos| Bytes::new(4.8e9).per(Nanos::new(nanos)).to_string();
        assert_eq!(rate(1e6), "4.80 TB/s");
        assert_eq!(rate(0.0), "inf B/s");
    }
}
