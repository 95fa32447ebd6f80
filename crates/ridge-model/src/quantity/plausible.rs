//! What a quantity can be at all.
//!
//! A number outside of these ranges is a slip of the keyboard or a damaged input, and it is refused where it is read: with
//! it, quotients overflow to `inf` or vanish, and a rate of `inf` would stand beside real ones. The ranges leave three orders of
//! magnitude and more on both sides of everything that exists, and all quotients and products of a few of them are finite.
//!
//! | quantity | from | to | beside |
//! |---|---|---|---|
//! | time | 0.001 ns | 10^9 s | a cycle takes 0.5 ns; 32 years |
//! | clock | 1 MHz | 100 GHz | SMs run at 0.2 to 3 GHz, memories at up to 20 |
//! | bandwidth | 1 kB/s | 1 EB/s | a slow link has 1 MB/s, an L1 of a whole device 50 TB/s |
//! | rate of computing | 1 kFLOP/s | 1 YFLOP/s | one thread makes a million a second, a device 10 PFLOP/s |
//! | bytes, operations | 1 | 2^64 | what a 64-bit counter holds; none at all is possible too |
//! | cycles | 0.001 | 10^15 | a week |

use super::{Bandwidth, Bytes, ComputeRate, Cycles, Flops, Hertz, Nanos};

/// From where to where a quantity can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plausible {
    /// The least, in the unit of the type.
    pub least: f64,
    /// The most.
    pub most: f64,
    /// Both in words.
    pub text: &'static str,
}

impl Plausible {
    /// Whether a number, in the unit of the type, can be.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        // NaN is in no range.
        (self.least..=self.most).contains(&value)
    }
}

macro_rules! plausible {
    ($name:ident, $least:expr, $most:expr, $text:literal, $zero:literal) => {
        impl $name {
            /// What can be; see the module's table.
            pub const PLAUSIBLE: Plausible = Plausible {
                least: $least,
                most: $most,
                text: $text,
            };

            /// The same where it can be, else nothing.
            #[must_use]
            pub fn plausible(self) -> Option<Self> {
                let is_none = $zero && self == Self::ZERO;
                (is_none || Self::PLAUSIBLE.holds(self.get())).then_some(self)
            }
        }
    };
}

plausible!(Nanos, 1e-3, 1e18, "0.001 ns to 1e9 s", false);
plausible!(Hertz, 1e6, 1e11, "1 MHz to 100 GHz", false);
plausible!(Bandwidth, 1e3, 1e18, "1 kB/s to 1 EB/s", false);
plausible!(ComputeRate, 1e3, 1e24, "1 kFLOP/s to 1e24 FLOP/s", false);
plausible!(Cycles, 1e-3, 1e15, "0.001 to 1e15 cycles", false);
plausible!(Bytes, 1.0, super::parse::MOST, "1 to 2^64 bytes", true);
plausible!(Flops, 1.0, super::parse::MOST, "1 to 2^64 operations", true);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_are_nothing() {
        for value in [
            5e-324,
            1e-300,
            1e300,
            f64::MAX,
            f64::INFINITY,
            f64::NAN,
            -1.0,
        ] {
            assert_eq!(Nanos::new(value).plausible(), None, "{value}");
            assert_eq!(Hertz::new(value).plausible(), None, "{value}");
            assert_eq!(Bandwidth::new(value).plausible(), None, "{value}");
            assert_eq!(ComputeRate::new(value).plausible(), None, "{value}");
            assert_eq!(Bytes::new(value).plausible(), None, "{value}");
            assert_eq!(Flops::new(value).plausible(), None, "{value}");
        }
        assert_eq!(Bytes::ZERO.plausible(), Some(Bytes::ZERO));
        assert_eq!(Nanos::ZERO.plausible(), None);
    }

    #[test]
    fn quotients_of_what_can_be_are_finite() {
        let (time, bytes) = (Nanos::PLAUSIBLE, Bytes::PLAUSIBLE);
        for value in [
            bytes.most / (time.least / 1e9) / Bandwidth::PLAUSIBLE.least,
            bytes.least / (time.most / 1e9) / Bandwidth::PLAUSIBLE.most,
            ComputeRate::PLAUSIBLE.most / Bandwidth::PLAUSIBLE.least,
            ComputeRate::PLAUSIBLE.least / Bandwidth::PLAUSIBLE.most,
            Cycles::PLAUSIBLE.most / Hertz::PLAUSIBLE.least,
        ] {
            assert!(value.is_normal(), "{value}");
        }
    }
}
