//! What is wrong with a spec, and where.

use std::fmt;
use std::ops::Range;

use crate::expression::ExpressionError;

/// A place in a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The whole line.
    pub text: String,
    /// How many characters of it are meant; at least 1.
    pub width: usize,
}

impl Place {
    /// The place of some bytes of a text.
    #[must_use]
    pub fn of(text: &str, span: &Range<usize>) -> Self {
        let start = span.start.min(text.len());
        let before = text.get(..start).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |place| place + 1);
        let line_end = text
            .get(line_start..)
            .and_then(|rest| rest.find('\n'))
            .map_or(text.len(), |length| line_start + length);
        let line = text.get(line_start..line_end).unwrap_or_default();
        let meant = text.get(start..span.end.min(line_end)).unwrap_or_default();
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            text: line.trim_end_matches('\r').to_owned(),
            width: meant.chars().count().max(1),
        }
    }
}

/// What is wrong with a spec.
#[derive(Clone, Debug, PartialEq)]
pub struct SpecError {
    pub(crate) problem: Problem,
    pub(crate) place: Option<Box<Place>>,
}

/// The reason of a [`SpecError`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// It is no TOML.
    Syntax(String),
    /// A key that means nothing there.
    UnknownKey {
        /// The key.
        key: String,
        /// The table that it stands in.
        table: String,
        /// A key that is near.
        nearest: Option<String>,
        /// The keys that mean something.
        known: Vec<&'static str>,
    },
    /// Two spellings of one key.
    Twice {
        /// The key.
        key: &'static str,
        /// Its other spelling.
        also: &'static str,
    },
    /// A key that has to be there.
    MissingKey {
        /// The key.
        key: &'static str,
        /// The table that it belongs in.
        table: String,
    },
    /// A value of the wrong type.
    WrongType {
        /// The key.
        key: String,
        /// What is needed.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A word that is none of those that are known.
    UnknownWord {
        /// What kind of word.
        what: &'static str,
        /// The word.
        word: String,
        /// One that is near.
        nearest: Option<String>,
        /// Those that are known.
        known: Vec<String>,
    },
    /// A name that two things have.
    NameTwice(String),
    /// A name that cannot be used in expressions.
    BadName(String),
    /// There is no kernel.
    NoKernels,
    /// An axis without values.
    EmptyAxis(String),
    /// More states than are run.
    TooManyStates(usize),
    /// No state is left by the restrictions.
    NothingLeft {
        /// States before the restrictions.
        states: usize,
        /// The restriction that removes most.
        restriction: String,
    },
    /// An expression is wrong.
    Expression(ExpressionError),
    /// A value outside its range.
    OutOfRange {
        /// What it is of.
        key: String,
        /// The value.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// Keys that do not go together.
    Conflict(String),
}

impl SpecError {
    /// The reason.
    #[must_use]
    pub const fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Where it is, if it is at one place.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.place.as_deref()
    }

    /// The stable code of the reason.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match &self.problem {
            Problem::Syntax(_) => "SPC0001",
            Problem::UnknownKey { .. } => "SPC0002",
            Problem::Twice { .. } => "SPC0003",
            Problem::MissingKey { .. } => "SPC0004",
            Problem::WrongType { .. } => "SPC0005",
            Problem::UnknownWord { .. } => "SPC0006",
            Problem::NameTwice(_) => "SPC0007",
            Problem::BadName(_) => "SPC0008",
            Problem::NoKernels => "SPC0009",
            Problem::EmptyAxis(_) => "SPC0010",
            Problem::TooManyStates(_) => "SPC0011",
            Problem::NothingLeft { .. } => "SPC0012",
            Problem::Expression(error) => error.code(),
            Problem::OutOfRange { .. } => "SPC0013",
            Problem::Conflict(_) => "SPC0014",
        }
    }

    /// What helps.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match &self.problem {
            Problem::UnknownKey {
                nearest: Some(nearest),
                ..
            }
            | Problem::UnknownWord {
                nearest: Some(nearest),
                ..
            } => Some(format!("`{nearest}`")),
            Problem::UnknownKey { known, .. } => {
                Some(format!("keys here are {}", known.join(", ")))
            }
            Problem::UnknownWord { known, what, .. } => Some(if known.is_empty() {
                format!("there is no {what} in this spec")
            } else {
                format!("one of {}", known.join(", "))
            }),
            Problem::Expression(error) => error.hint(),
            Problem::NoKernels => {
                Some("a table [kernels.NAME] with entry, grid, block and args".to_owned())
            }
            Problem::EmptyAxis(_) => Some("give it at least one value, or remove it".to_owned()),
            Problem::TooManyStates(_) => Some(
                "restrict them with `where`, or choose values with --axis NAME=VALUES".to_owned(),
            ),
            Problem::NothingLeft { .. } => {
                Some("loosen the restriction, or change the values of the axes".to_owned())
            }
            _ => None,
        }
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::Syntax(message) => write!(f, "this is no TOML: {message}"),
            Problem::UnknownKey { key, table, .. } => write!(f, "{table} has no key `{key}`"),
            Problem::Twice { key, also } => {
                write!(f, "`{key}` and `{also}` are two spellings of one key")
            }
            Problem::MissingKey { key, table } => write!(f, "{table} lacks the key `{key}`"),
            Problem::WrongType {
                key,
                expected,
                found,
            } => {
                write!(f, "`{key}` has to be {expected}, but is {found}")
            }
            Problem::UnknownWord { what, word, .. } => write!(f, "there is no {what} `{word}`"),
            Problem::NameTwice(name) => write!(f, "two things are called `{name}`"),
            Problem::BadName(name) => write!(
                f,
                "`{name}` cannot be a name: it needs letters, digits and `_`, and no digit first"
            ),
            Problem::NoKernels => write!(f, "the spec describes no kernel"),
            Problem::EmptyAxis(axis) => write!(f, "the axis `{axis}` has no values"),
            Problem::TooManyStates(count) => write!(
                f,
                "the axes make {count} states, more than the {} that one run measures",
                super::MAX_STATES
            ),
            Problem::NothingLeft {
                states,
                restriction,
            } => write!(
                f,
                "the restrictions leave none of {states} states; `{restriction}` removes most"
            ),
            Problem::Expression(error) => error.fmt(f),
            Problem::OutOfRange {
                key,
                value,
                allowed,
            } => {
                write!(f, "`{key}` is {value}, but has to be {allowed}")
            }
            Problem::Conflict(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for SpecError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            Problem::Expression(error) => Some(error),
            _ => None,
        }
    }
}
