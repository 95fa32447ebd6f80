//! Typed quantities and their text for people.
//!
//! Every type here displays with its unit and three significant figures; a precision asks for another number of
//! *figures* (not decimals), `{:+}` writes the sign of positive values, and width, fill and alignment work as usual.
//! Full precision, for JSON, comes from `get`.
//!
//! Rules, for all types:
//! * prefixes are decimal and chosen after rounding, so 999.96 us is `1.00 ms` and never `1000 us`;
//! * whole values in the base unit have no decimals (`512 B`, `5 ns`);
//! * zero is `0` with its unit, `NaN` and `inf` are written as such, and an absent value is [`ABSENT`], never zero.

mod absent;
mod amount;
mod bytes;
mod count;
mod figures;
mod hertz;
mod nanos;
mod parse;
mod plausible;
mod rate;
mod ratio;

pub use absent::{ABSENT, OrAbsent, or_absent};
pub use amount::{Amount, Unit};
pub use bytes::{Binary, Bytes};
pub use count::{Cycles, Flops};
pub use figures::{counted, grouped};
pub use hertz::Hertz;
pub use nanos::Nanos;
pub use parse::{ParseError, parse_count, parse_cycles};
pub use plausible::Plausible;
pub use rate::{Bandwidth, ComputeRate, Intensity};
pub use ratio::{Factor, Ratio};

/// Defines a newtype over `f64` with the arithmetic that keeps its unit.
macro_rules! quantity {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
        pub struct $name(f64);

        impl $name {
            /// Zero.
            pub const ZERO: Self = Self(0.0);

            /// Wraps a number that is already in the unit of the type.
            #[must_use]
            pub const fn new(value: f64) -> Self {
                Self(value)
            }

            /// Wraps a whole number; above 2^53 it is rounded to the nearest representable one.
            #[must_use]
            pub const fn from_count(value: u64) -> Self {
                Self(value as f64)
            }

            /// The number, in the unit of the type.
            #[must_use]
            pub const fn get(self) -> f64 {
                self.0
            }
        }

        impl std::ops::Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl std::ops::Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl std::ops::Mul<f64> for $name {
            type Output = Self;
            fn mul(self, factor: f64) -> Self {
                Self(self.0 * factor)
            }
        }

        impl std::ops::Div<f64> for $name {
            type Output = Self;
            fn div(self, divisor: f64) -> Self {
                Self(self.0 / divisor)
            }
        }

        impl std::ops::Div for $name {
            type Output = $crate::quantity::Ratio;
            /// How much of `other` this is; dividing by zero gives a ratio that is not finite.
            fn div(self, other: Self) -> $crate::quantity::Ratio {
                $crate::quantity::Ratio::new(self.0 / other.0)
            }
        }

        impl std::iter::Sum for $name {
            fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
                Self(values.map(Self::get).sum())
            }
        }
    };
}
use quantity;
