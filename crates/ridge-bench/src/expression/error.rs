//! What can be wrong with an expression, and where.

use std::fmt;
use std::ops::Range;

use ridge_model::spelling;

/// Why an expression cannot be read or has no value.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpressionError {
    pub(super) reason: Reason,
    pub(super) span: Range<usize>,
}

/// The reason of an [`ExpressionError`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// There is nothing to read.
    Empty,
    /// Something else has to stand here.
    Unexpected {
        /// What stands here.
        found: String,
        /// What would be right.
        expected: &'static str,
    },
    /// A number that is too large for 64 bits, or no number at all.
    BadNumber(String),
    /// More levels of parentheses and operators than are read.
    TooDeep,
    /// More text than is read.
    TooLong,
    /// A name that nothing has.
    UnknownName {
        /// The name.
        name: String,
        /// A name that is near.
        nearest: Option<String>,
    },
    /// A function that there is not.
    UnknownFunction {
        /// Its name.
        name: String,
        /// One that is near.
        nearest: Option<String>,
    },
    /// A function with too many or too few arguments.
    Arguments {
        /// Its name.
        function: &'static str,
        /// How many it takes.
        expected: &'static str,
        /// How many there are.
        found: usize,
    },
    /// A value of the wrong kind.
    Kind {
        /// What is needed.
        expected: &'static str,
        /// What was found.
        found: String,
    },
    /// A division by zero, or a remainder of it.
    DivisionByZero {
        /// The divisor as it is written.
        divisor: String,
    },
    /// A value beyond 64 bits.
    Overflow {
        /// The operation as it is written.
        operation: String,
    },
    /// A value that is infinite or not a number.
    NotFinite {
        /// The operation as it is written.
        operation: String,
    },
    /// An index outside an array.
    OutOfRange {
        /// The array.
        array: String,
        /// The index.
        index: i64,
        /// How many elements there are.
        length: u64,
    },
    /// A sum of more terms than are computed.
    TooManyTerms {
        /// How many.
        terms: i64,
    },
}

impl ExpressionError {
    /// The reason.
    #[must_use]
    pub const fn reason(&self) -> &Reason {
        &self.reason
    }

    /// The bytes of the text that it is about.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The stable code of the reason.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.reason {
            Reason::Empty => "EXP0001",
            Reason::Unexpected { .. } => "EXP0002",
            Reason::BadNumber(_) => "EXP0003",
            Reason::TooDeep => "EXP0004",
            Reason::TooLong => "EXP0005",
            Reason::UnknownName { .. } => "EXP0006",
            Reason::UnknownFunction { .. } => "EXP0007",
            Reason::Arguments { .. } => "EXP0008",
            Reason::Kind { .. } => "EXP0009",
            Reason::DivisionByZero { .. } => "EXP0010",
            Reason::Overflow { .. } => "EXP0011",
            Reason::NotFinite { .. } => "EXP0012",
            Reason::OutOfRange { .. } => "EXP0013",
            Reason::TooManyTerms { .. } => "EXP0014",
        }
    }

    /// What helps, where that can be told.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match &self.reason {
            Reason::UnknownName { nearest, .. } => nearest.as_ref().map(|name| format!("`{name}`")),
            Reason::UnknownFunction { nearest, .. } => Some(nearest.as_ref().map_or_else(
                || format!("functions are {}", super::function_names().join(", ")),
                |name| format!("`{name}`"),
            )),
            _ => None,
        }
    }
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Reason::Empty => write!(f, "the expression is empty"),
            Reason::Unexpected { found, expected } => {
                write!(f, "expected {expected}, found {found}")
            }
            Reason::BadNumber(text) => write!(f, "{text} is no number that fits into 64 bits"),
            Reason::TooDeep => write!(
                f,
                "the expression is nested more than {} levels deep",
                super::MAX_DEPTH
            ),
            Reason::TooLong => write!(
                f,
                "the expression has more than {} bytes",
                super::MAX_LENGTH
            ),
            Reason::UnknownName { name, .. } => write!(f, "nothing is called `{name}`"),
            Reason::UnknownFunction { name, .. } => write!(f, "there is no function `{name}`"),
            Reason::Arguments {
                function,
                expected,
                found,
            } => write!(f, "`{function}` takes {expected}, not {found}"),
            Reason::Kind { expected, found } => write!(f, "expected {expected}, found {found}"),
            Reason::DivisionByZero { divisor } => write!(f, "division by zero: `{divisor}` is 0"),
            Reason::Overflow { operation } => {
                write!(f, "`{operation}` is beyond the range of 64-bit integers")
            }
            Reason::NotFinite { operation } => write!(f, "`{operation}` is not a finite number"),
            Reason::OutOfRange {
                array,
                index,
                length,
            } => write!(
                f,
                "`{array}` has {length} elements, and there is none at {index}"
            ),
            Reason::TooManyTerms { terms } => write!(
                f,
                "a sum of {terms} terms is more than the {} that are computed",
                super::MAX_TERMS
            ),
        }
    }
}

impl std::error::Error for ExpressionError {}

/// The candidate that a mistyped name most likely means; none that differs in more than a third of its letters.
pub(crate) fn nearest<'c>(
    name: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<String> {
    let plain = spelling::plain(name);
    candidates
        .into_iter()
        .map(|candidate| {
            (
                spelling::distance(&plain, &spelling::plain(candidate)),
                candidate,
            )
        })
        .min()
        .filter(|(distance, candidate)| {
            *distance
                <= candidate
                    .chars()
                    .count()
                    .max(plain.chars().count())
                    .div_ceil(3)
        })
        .map(|(_, candidate)| candidate.to_owned())
}
