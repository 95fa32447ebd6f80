//! Why a trace cannot be read, or not all of it.

use std::fmt::{self, Display, Formatter};

use thiserror::Error;

/// Why nothing of an input can be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The input is of no kind that has a reader.
    #[error("recognise the input, which begins with {begins}")]
    Unknown {
        /// Its first bytes, as text where they are text.
        begins: String,
    },
    /// The input is JSON, but holds no events.
    #[error("find events: the JSON has no array of them and no key \"traceEvents\"")]
    NoEvents,
    /// The database cannot be opened.
    #[error("open the database: {reason}")]
    Database {
        /// What SQLite says.
        reason: String,
    },
    /// The database has no table of a trace.
    #[error("find activity: the database has none of the tables of a trace, such as {expected}")]
    NoTables {
        /// A table that was looked for.
        expected: &'static str,
    },
    /// A format that is newer than this version.
    #[error("read version {found} of {format}: up to version {known} is known")]
    Version {
        /// The format.
        format: &'static str,
        /// Its version in the input.
        found: u64,
        /// The newest version that is known.
        known: u64,
    },
}

impl Error {
    /// The input is of no kind that has a reader.
    #[must_use]
    pub fn unknown(input: &[u8]) -> Self {
        let begin = input.get(..input.len().min(16)).unwrap_or_default();
        let begins = match std::str::from_utf8(begin) {
            _ if begin.is_empty() => "nothing".to_owned(),
            Ok(text) => format!("{text:?}"),
            Err(_) => {
                let bytes: Vec<String> = begin
                    .iter()
                    .take(8)
                    .map(|byte| format!("{byte:02x}"))
                    .collect();
                format!("bytes {}", bytes.join(" "))
            }
        };
        Self::Unknown { begins }
    }

    /// The stable name of the reason.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "TRC0001",
            Self::NoEvents => "TRC0002",
            Self::Database { .. } => "TRC0003",
            Self::NoTables { .. } => "TRC0004",
            Self::Version { .. } => "TRC0005",
        }
    }
}

/// What could not be read of an input whose rest was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The stable name of the reason.
    pub code: &'static str,
    /// Byte in the unpacked input, where there is one.
    pub offset: Option<u64>,
    /// What was being read: a key, or a table with its column.
    pub field: String,
    /// What was found.
    pub reason: String,
}

impl Problem {
    /// The input ends within a value.
    pub const TRUNCATED: &'static str = "TRC0101";
    /// The bytes are not what the format allows.
    pub const MALFORMED: &'static str = "TRC0102";
    /// A record lacks what it needs, or contradicts itself.
    pub const RECORD: &'static str = "TRC0103";
    /// A table cannot be read to its end.
    pub const TABLE: &'static str = "TRC0104";
}

impl Display for Problem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.reason)?;
        match self.offset {
            Some(offset) => write!(f, " at byte {offset}"),
            None => Ok(()),
        }
    }
}
