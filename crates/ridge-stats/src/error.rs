//! Why something cannot be computed.

use std::fmt::{self, Display, Formatter};

/// Why numbers or settings are refused. Each reason has a code that never changes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// There is no sample, or no round.
    Empty,
    /// A sample is NaN or infinite.
    NotFinite {
        /// Which one, from 0.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A sample is below zero, which no time is.
    Negative {
        /// Which one, from 0.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// The median is zero, so that nothing can be set in relation to it.
    ZeroMedian {
        /// Whose median.
        arm: Arm,
    },
    /// A value of a round is not a finite number above zero.
    BadRound {
        /// Which replicate, from 0.
        replicate: usize,
        /// Which round of it, from 0.
        round: usize,
        /// Which arm.
        arm: Arm,
        /// The value.
        value: f64,
    },
    /// Some rounds have a control and others have none.
    SomeControls {
        /// The replicate of the first round that differs from the first of all, from 0.
        replicate: usize,
        /// Which round of it, from 0.
        round: usize,
    },
    /// More rounds than can be compared; longer rounds serve better than more.
    TooManyRounds {
        /// How many there are.
        rounds: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A setting is outside what makes sense.
    Setting {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it has to be.
        allowed: &'static str,
    },
}

/// One side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arm {
    /// What is compared with: the old one.
    A,
    /// What is judged: the new one.
    B,
    /// A measured once more, under another name.
    Control,
}

impl Display for Arm {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::A => "A",
            Self::B => "B",
            Self::Control => "control",
        })
    }
}

impl Error {
    /// The stable code of the reason.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Empty => "STAT0001",
            Self::NotFinite { .. } => "STAT0002",
            Self::Negative { .. } => "STAT0003",
            Self::ZeroMedian { .. } => "STAT0004",
            Self::BadRound { .. } => "STAT0005",
            Self::SomeControls { .. } => "STAT0006",
            Self::TooManyRounds { .. } => "STAT0007",
            Self::Setting { .. } => "STAT0008",
        }
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there are no samples"),
            Self::NotFinite { index, value } => {
                write!(f, "sample {index} is {value}, which is not a finite number")
            }
            Self::Negative { index, value } => {
                write!(f, "sample {index} is {value}, which is below zero")
            }
            Self::ZeroMedian { arm } => write!(
                f,
                "the median of {arm} is zero, so there is no ratio to it; time more launches in one sample"
            ),
            Self::BadRound {
                replicate,
                round,
                arm,
                value,
            } => write!(
                f,
                "{arm} of round {round} in replicate {replicate} is {value}, which is not a finite number above zero"
            ),
            Self::SomeControls { replicate, round } => write!(
                f,
                "round {round} in replicate {replicate} differs from the first round in having a control"
            ),
            Self::TooManyRounds { rounds, limit } => write!(
                f,
                "{rounds} rounds are more than the {limit} that can be compared; take more samples in each round instead"
            ),
            Self::Setting {
                name,
                value,
                allowed,
            } => write!(f, "{name} is {value}, but has to be {allowed}"),
        }
    }
}

impl std::error::Error for Error {}

/// Refuses a setting that is not a finite number within `range`.
pub(crate) fn check_setting(
    name: &'static str,
    value: f64,
    is_allowed: impl Fn(f64) -> bool,
    allowed: &'static str,
) -> Result<(), Error> {
    if value.is_finite() && is_allowed(value) {
        Ok(())
    } else {
        Err(Error::Setting {
            name,
            value,
            allowed,
        })
    }
}
