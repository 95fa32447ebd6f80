//! Clock rates.

use std::fmt::{self, Display, Formatter};

use super::figures::{self, SI};

super::quantity! {
    /// Cycles per second: an SM clock, a memory clock, or an issue rate.
    Hertz
}

impl Display for Hertz {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (digits, prefix) = figures::scaled(self.0, figures::wanted(f), SI);
        figures::write(f, self.0, &digits, &format!("{prefix}Hz"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_read_as_on_a_datasheet() {
        assert_eq!(Hertz::new(1.98e9).to_string(), "1.98 GHz");
        assert_eq!(format!("{:.4}", Hertz::new(1_755_000_000.0)), "1.755 GHz");
        assert_eq!(Hertz::new(345e6).to_string(), "345 MHz");
        assert_eq!(Hertz::ZERO.to_string(), "0 Hz");
    }
}
