//! Why a shape means no work.

use std::fmt::{self, Display, Formatter};

/// Why a shape means no work. Each reason has a code that never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DemandError {
    /// A dimension is zero.
    Zero {
        /// The dimension.
        name: &'static str,
    },
    /// There are more bytes or operations than 2^64.
    TooLarge {
        /// What there is too much of.
        what: &'static str,
    },
    /// A number has to divide another.
    DoesNotDivide {
        /// The divisor.
        divisor: &'static str,
        /// What it has to divide.
        dividend: &'static str,
    },
    /// A number is larger than another allows.
    DoesNotFit {
        /// The larger one.
        name: &'static str,
        /// What it has to fit into.
        within: &'static str,
    },
}

impl DemandError {
    /// The stable code of the reason.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Zero { .. } => "MOD0301",
            Self::TooLarge { .. } => "MOD0302",
            Self::DoesNotDivide { .. } => "MOD0303",
            Self::DoesNotFit { .. } => "MOD0304",
        }
    }
}

impl Display for DemandError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero { name } => write!(f, "{name} is 0, so there is nothing to do"),
            Self::TooLarge { what } => {
                write!(
                    f,
                    "this shape makes more than 2^64 {what}, which no device finishes"
                )
            }
            Self::DoesNotDivide { divisor, dividend } => {
                write!(f, "{divisor} does not divide {dividend}")
            }
            Self::DoesNotFit { name, within } => write!(f, "{name} is larger than {within}"),
        }
    }
}

impl std::error::Error for DemandError {}
