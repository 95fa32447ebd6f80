//! Why a source cannot be looked at.

use std::fmt;

/// Why nothing can be said of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A byte that no source has.
    Binary {
        /// Where it is.
        offset: usize,
    },
    /// More than any source that people write.
    TooLarge {
        /// Its size in bytes.
        bytes: usize,
        /// The largest that is read.
        limit: usize,
    },
    /// The parser gave up: the text has no structure.
    NotSource,
    /// The grammar and the parser do not fit each other.
    Grammar,
    /// A list of compile commands is no JSON, or not one of this kind.
    Commands {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}

impl Error {
    /// A code that stays the same.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Binary { .. } => "LINT0001",
            Self::TooLarge { .. } => "LINT0002",
            Self::NotSource => "LINT0003",
            Self::Grammar => "LINT0004",
            Self::Commands { .. } => "LINT0005",
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Binary { .. } => "name CUDA source (.cu, .cuh), not what was compiled from it",
            Self::TooLarge { .. } => "name the source itself, not the output of the preprocessor",
            Self::NotSource => "name CUDA source (.cu, .cuh)",
            Self::Grammar => "please report this",
            Self::Commands { .. } => "cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON writes such a list",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Binary { offset } => write!(f, "byte {offset} is zero, as in no source"),
            Self::TooLarge { bytes, limit } => {
                write!(
                    f,
                    "it has {bytes} bytes, more than the {limit} of the largest source that is read"
                )
            }
            Self::NotSource => write!(f, "it has no structure that the parser can follow"),
            Self::Grammar => write!(f, "the grammar does not fit the parser"),
            Self::Commands { line, reason } => write!(f, "line {line}: {reason}"),
        }
    }
}

impl std::error::Error for Error {}
