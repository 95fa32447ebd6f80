//! What an expression is worth.

use std::fmt;

/// A value: a whole number, a number with a fraction, or a truth value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Int(i64),
    /// A number with a fraction; always finite.
    Float(f64),
    /// What a comparison gives.
    Bool(bool),
}

impl Value {
    /// The value as a number with a fraction; absent for truth values.
    #[must_use]
    pub const fn number(self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(value as f64),
            Self::Float(value) => Some(value),
            Self::Bool(_) => None,
        }
    }

    /// What kind of value it is, in words.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Int(_) => "a whole number",
            Self::Float(_) => "a number with a fraction",
            Self::Bool(_) => "a truth value",
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => value.fmt(f),
            // Debug keeps the point, so that the text reads as the same kind of value.
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Bool(value) => value.fmt(f),
        }
    }
}
