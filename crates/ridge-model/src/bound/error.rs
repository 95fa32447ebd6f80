//! Why there is no bound.

use std::fmt::{self, Display, Formatter};

/// Why there is no bound. Each reason has a code that never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BoundError {
    /// No resource is needed.
    NothingToDo,
    /// The device has no such unit, or the table does not know its peak.
    NoPeak {
        /// The device.
        device: String,
        /// What was asked for.
        wanted: String,
        /// What there is.
        available: Vec<String>,
    },
    /// The table does not know a rate of the device.
    NoRate {
        /// The device.
        device: String,
        /// Of what.
        what: &'static str,
    },
    /// The table does not know a clock of the device.
    NoClock {
        /// The device.
        device: String,
    },
}

impl BoundError {
    /// The stable code of the reason.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NothingToDo => "MOD0201",
            Self::NoPeak { .. } => "MOD0202",
            Self::NoRate { .. } => "MOD0203",
            Self::NoClock { .. } => "MOD0204",
        }
    }
}

impl Display for BoundError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingToDo => {
                f.write_str("nothing is needed of any resource, so there is no bound")
            }
            Self::NoPeak { device, wanted, .. } => {
                write!(f, "no {wanted} peak is known for {device}")
            }
            Self::NoRate { device, what } => write!(f, "no {what} is known for {device}"),
            Self::NoClock { device } => {
                write!(
                    f,
                    "no SM clock is known for {device}, so nothing can be scaled to one"
                )
            }
        }
    }
}

impl std::error::Error for BoundError {}
