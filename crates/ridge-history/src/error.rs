//! Why something could not be stored or read.

use crate::Timestamp;

/// Why something could not be stored or read. Messages fit after "failed to" and never hold a password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file of the store cannot be opened or made.
    #[error("open the history {place}: {reason}")]
    Open {
        /// The file.
        place: String,
        /// What the system says.
        reason: String,
    },
    /// The file, or the schema of the database, is something else.
    #[error("use {place} as a history: it is {what}")]
    Foreign {
        /// The file or address.
        place: String,
        /// What it is.
        what: String,
    },
    /// A later version wrote the store: it is read, and not written to.
    #[error(
        "write to the history {place}: it has version {found}, and this version of ridge writes up to {known}"
    )]
    Newer {
        /// The file or address.
        place: String,
        /// Its version.
        found: i64,
        /// What this version knows.
        known: i64,
    },
    /// There is nothing to write to: the file, or the right to write.
    #[error("write to the history {place}: {reason}")]
    ReadOnly {
        /// The file or address.
        place: String,
        /// Why.
        reason: String,
    },
    /// Somebody else has been writing for longer than one waits.
    #[error("write to the history {place}: another process keeps writing to it")]
    Busy {
        /// The file.
        place: String,
    },
    /// There is no room.
    #[error("write to the history {place}: {reason}")]
    Full {
        /// The file or address.
        place: String,
        /// What the system says.
        reason: String,
    },
    /// What is stored contradicts itself.
    #[error("read the history {place}: {reason}")]
    Damaged {
        /// The file or address.
        place: String,
        /// What was found.
        reason: String,
    },
    /// There is no file of this name.
    #[error("read the history {place}: it does not exist")]
    Missing {
        /// The file.
        place: String,
    },
    /// There is a place for a history, and none in it yet.
    #[error("read the history {place}: it holds nothing yet")]
    Empty {
        /// The file or address.
        place: String,
    },
    /// The server cannot be reached, or is gone.
    #[error("reach the history {place}: {reason}")]
    Connection {
        /// The address, without its password.
        place: String,
        /// What the client says.
        reason: String,
    },
    /// There is no encrypted connection as the address asks for one, or the server is not the one that it should be.
    #[error("speak TLS with the server of the history {place}: {reason}")]
    Encryption {
        /// The address, without its password.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// The server does not let this user in, or not do that.
    #[error("use the history {place}: {reason}")]
    Refused {
        /// The address, without its password.
        place: String,
        /// What the server says.
        reason: String,
    },
    /// The database refuses a statement for another reason.
    #[error("query the history {place}: {reason}")]
    Query {
        /// The file or address.
        place: String,
        /// What the database says.
        reason: String,
    },
    /// An address that is none.
    #[error("understand the address of a history: {0}")]
    Address(String),
    /// A document that cannot be stored.
    #[error("read the document: {0}")]
    Document(String),
    /// A line of an exchange file.
    #[error("read line {line} of the exchange file: {reason}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A label that cannot be stored.
    #[error("use the label {label:?}: {reason}")]
    Label {
        /// The label.
        label: String,
        /// Why.
        reason: &'static str,
    },
    /// No time.
    #[error(
        "read the time {0:?}: expected a day such as 2026-11-30 or a time such as 2026-11-30T18:00:00Z"
    )]
    Time(String),
    /// A time that no result has.
    #[error(
        "take a result of the time {0}: it is before 1970 or behind 9999, so that the clock or the file it comes from is wrong"
    )]
    Implausible(Timestamp),
    /// No identifier.
    #[error("read the identifier {0:?}: expected 4 to 64 hexadecimal digits")]
    Id(String),
    /// No kind of result.
    #[error("read the kind {0:?}: there are bench, why, trace and ceilings")]
    Kind(String),
    /// Reading from or writing to a stream failed.
    #[error("{what}: {reason}")]
    Stream {
        /// What was done.
        what: &'static str,
        /// What the system says.
        reason: String,
    },
}

impl Error {
    /// A name that does not change.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Open { .. } => "HIS0001",
            Self::Foreign { .. } => "HIS0002",
            Self::Newer { .. } => "HIS0003",
            Self::ReadOnly { .. } => "HIS0004",
            Self::Busy { .. } => "HIS0005",
            Self::Full { .. } => "HIS0006",
            Self::Damaged { .. } => "HIS0007",
            Self::Connection { .. } => "HIS0008",
            Self::Refused { .. } => "HIS0009",
            Self::Query { .. } => "HIS0010",
            Self::Address(_) => "HIS0011",
            Self::Document(_) => "HIS0012",
            Self::Line { .. } => "HIS0013",
            Self::Label { .. } => "HIS0014",
            Self::Time(_) => "HIS0015",
            Self::Id(_) => "HIS0016",
            Self::Kind(_) => "HIS0017",
            Self::Stream { .. } => "HIS0018",
            Self::Implausible(_) => "HIS0019",
            Self::Empty { .. } => "HIS0020",
            Self::Missing { .. } => "HIS0021",
            Self::Encryption { .. } => "HIS0022",
        }
    }

    /// Whether the store is at fault, so that a result is better kept elsewhere until later.
    #[must_use]
    pub const fn is_of_store(&self) -> bool {
        matches!(
            self,
            Self::Open { .. }
                | Self::Foreign { .. }
                | Self::Newer { .. }
                | Self::ReadOnly { .. }
                | Self::Busy { .. }
                | Self::Full { .. }
                | Self::Damaged { .. }
                | Self::Empty { .. }
                | Self::Missing { .. }
                | Self::Connection { .. }
                | Self::Encryption { .. }
                | Self::Refused { .. }
                | Self::Query { .. }
        )
    }
}
