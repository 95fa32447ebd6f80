//! The text of a value that is not there.

use std::fmt::{self, Display, Formatter};

use super::figures;

/// What stands where a value is absent; never `0`, which would be a measurement.
pub const ABSENT: &str = "–";

/// Displays a value, or [`ABSENT`]; made by [`or_absent`].
#[derive(Clone, Copy, Debug)]
pub struct OrAbsent<T>(Option<T>);

/// Displays a value that may be absent; the format string applies to both cases.
pub const fn or_absent<T: Display>(value: Option<T>) -> OrAbsent<T> {
    OrAbsent(value)
}

impl<T: Display> Display for OrAbsent<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(f),
            None => figures::pad(f, ABSENT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Nanos;

    #[test]
    fn width_applies_to_both_cases() {
        assert_eq!(
            format!("{:>8}", or_absent(Some(Nanos::new(12.0)))),
            "   12 ns"
        );
        assert_eq!(format!("{:>8}", or_absent(None::<Nanos>)), "       –");
        assert_eq!(format!("{:<3}|", or_absent(None::<Nanos>)), "–  |");
    }

    #[test]
    fn zero_is_not_absent() {
        assert_eq!(or_absent(Some(Nanos::ZERO)).to_string(), "0 ns");
    }
}
