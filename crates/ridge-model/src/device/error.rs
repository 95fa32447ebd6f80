//! What can be wrong with a table, and with a name that is looked up in it.

use std::fmt::{self, Display, Formatter};

/// Why a text is no table of devices. Each reason has a code that never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableError {
    /// The table is larger than any table of GPUs.
    TooLarge {
        /// What is allowed.
        limit_bytes: usize,
    },
    /// There is no header line.
    Empty,
    /// A quoted cell has no end.
    OpenQuote {
        /// The line where it starts, from 1.
        line: usize,
    },
    /// The header names a column that is not known.
    UnknownColumn {
        /// The name.
        name: String,
        /// A known one that is near.
        nearest: Option<&'static str>,
    },
    /// The header names a column twice.
    DoubleColumn {
        /// The name.
        name: String,
    },
    /// The header lacks a column without which a row means nothing.
    MissingColumn {
        /// The name.
        name: &'static str,
    },
    /// A row has more cells than the header.
    TooManyCells {
        /// The line, from 1.
        line: usize,
    },
    /// A cell has no value, but the row means nothing without it.
    MissingCell {
        /// The line, from 1.
        line: usize,
        /// The column.
        column: &'static str,
    },
    /// A cell has a value that does not fit the column.
    BadCell {
        /// The line, from 1.
        line: usize,
        /// The column.
        column: &'static str,
        /// The value.
        value: String,
        /// What would fit.
        expected: &'static str,
    },
    /// Two rows have the same name.
    DoubleName {
        /// The line of the second, from 1.
        line: usize,
        /// The name.
        name: String,
    },
}

impl TableError {
    /// The stable code of the reason.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "MOD0101",
            Self::Empty => "MOD0102",
            Self::OpenQuote { .. } => "MOD0103",
            Self::UnknownColumn { .. } => "MOD0104",
            Self::DoubleColumn { .. } => "MOD0105",
            Self::MissingColumn { .. } => "MOD0106",
            Self::TooManyCells { .. } => "MOD0107",
            Self::MissingCell { .. } => "MOD0108",
            Self::BadCell { .. } => "MOD0109",
            Self::DoubleName { .. } => "MOD0110",
        }
    }
}

impl Display for TableError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { limit_bytes } => {
                write!(
                    f,
                    "it is larger than {limit_bytes} bytes, so it is no table of GPUs"
                )
            }
            Self::Empty => f.write_str("it has no header line"),
            Self::OpenQuote { line } => {
                write!(f, "line {line}: the quote that starts there has no end")
            }
            Self::UnknownColumn { name, nearest } => {
                write!(f, "header: {name:?} is no column")?;
                match nearest {
                    Some(nearest) => write!(f, "; did you mean {nearest:?}"),
                    None => Ok(()),
                }
            }
            Self::DoubleColumn { name } => {
                write!(f, "header: the column {name:?} stands there twice")
            }
            Self::MissingColumn { name } => write!(f, "header: the column {name:?} is missing"),
            Self::TooManyCells { line } => {
                write!(f, "line {line}: it has more cells than the header")
            }
            Self::MissingCell { line, column } => {
                write!(f, "line {line}, column {column}: it is empty, but needed")
            }
            Self::BadCell {
                line,
                column,
                value,
                expected,
            } => write!(
                f,
                "line {line}, column {column}: {value:?} is not {expected}"
            ),
            Self::DoubleName { line, name } => {
                write!(f, "line {line}: another row has the name {name:?} already")
            }
        }
    }
}

impl std::error::Error for TableError {}

/// Why a name stands for no single device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceError {
    /// No device has the name.
    Unknown {
        /// The name.
        name: String,
        /// Names that are near, nearest first.
        nearest: Vec<String>,
    },
    /// Several devices fit.
    Several {
        /// The name.
        name: String,
        /// The devices, in the order of the table.
        matches: Vec<String>,
    },
}

impl DeviceError {
    /// The stable code of the reason.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "MOD0121",
            Self::Several { .. } => "MOD0122",
        }
    }
}

impl Display for DeviceError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, .. } => write!(f, "{name:?} is no known device"),
            Self::Several { name, matches } => {
                write!(f, "{name:?} fits several devices: {}", matches.join(", "))
            }
        }
    }
}

impl std::error::Error for DeviceError {}
