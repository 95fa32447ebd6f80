//! One error type: what could not be read, where, and under which stable code.

use std::borrow::Cow;
use std::fmt;

/// Why a report, or a part of one, could not be read.
///
/// The same type serves for a failure of the whole ([`crate::Report::parse`] returns it) and for a part that was
/// left out while the rest was read ([`crate::Report::problems`] lists those).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: Kind,
    offset: Option<u64>,
    field: Cow<'static, str>,
}

/// The inner reason. Private, so that new reasons are no breaking change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Kind {
    #[error("the input is empty")]
    Empty,
    #[error("not an Nsight Compute report: {0}")]
    NotAReport(Cow<'static, str>),
    #[error("the input ends early: {needed} bytes are announced, {available} remain")]
    Truncated { needed: u64, available: u64 },
    #[error("a size of {needed} bytes runs past its parent, which has {available} left")]
    Overrun { needed: u64, available: u64 },
    #[error("malformed wire data: {0}")]
    Wire(&'static str),
    #[error("text is not valid UTF-8; bad bytes were replaced")]
    Utf8,
    #[error("string {index} is not in the table of {len}")]
    StringIndex { index: u64, len: u64 },
    #[error("format version {0} is newer than this reader; it was read as far as possible")]
    UnknownVersion(u64),
    #[cfg(feature = "decompress")]
    #[error("the compressed stream {}: {reason}", if *ends_early { "ends early" } else { "is damaged" })]
    Decompress { reason: String, ends_early: bool },
    #[cfg(feature = "decompress")]
    #[error(
        "the content exceeds the limit of {limit} bytes; unpack it first and pass the unpacked file"
    )]
    TooLarge { limit: u64 },
    #[error("more than {limit} entries; the rest was left out")]
    TooMany { limit: u64 },
    #[error("{announced} entries are announced, {found} are present")]
    Count { announced: u64, found: u64 },
    #[error("{bytes} bytes stand behind the last entry that is announced")]
    Unannounced { bytes: u64 },
    #[error("decoded it takes more than {limit} bytes; the rest was left out")]
    Swollen { limit: u64 },
    #[cfg(feature = "lines")]
    #[error("not a readable cubin: {0}")]
    Cubin(Cow<'static, str>),
    #[error("not a readable CSV export: {0}")]
    Csv(Cow<'static, str>),
    #[error("{0} is no number that a counter can have; it is left out")]
    Implausible(String),
    #[error("cannot write: {0}")]
    Write(String),
    #[error("format version {0} is newer than what can be redacted safely; nothing was written")]
    VersionToRedact(u64),
    #[error(
        "a redacted message is longer than {limit} bytes, which is the most that a report can hold"
    )]
    MessageSize { limit: u64 },
}

impl Error {
    pub(crate) fn new(
        kind: Kind,
        offset: impl Into<Option<u64>>,
        field: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self(Box::new(Inner {
            kind,
            offset: offset.into(),
            field: field.into(),
        }))
    }

    /// The stable code of the reason, such as `NCU0003`. Codes are never reused.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self.0.kind {
            Kind::Empty => "NCU0001",
            Kind::NotAReport(_) => "NCU0002",
            Kind::Truncated { .. } => "NCU0003",
            Kind::Overrun { .. } => "NCU0004",
            Kind::Wire(_) => "NCU0005",
            Kind::Utf8 => "NCU0006",
            Kind::StringIndex { .. } => "NCU0007",
            Kind::UnknownVersion(_) => "NCU0008",
            #[cfg(feature = "decompress")]
            Kind::Decompress { .. } => "NCU0009",
            #[cfg(feature = "decompress")]
            Kind::TooLarge { .. } => "NCU0010",
            Kind::TooMany { .. } => "NCU0011",
            Kind::Count { .. } => "NCU0012",
            #[cfg(feature = "lines")]
            Kind::Cubin(_) => "NCU0013",
            Kind::Csv(_) => "NCU0014",
            Kind::Swollen { .. } => "NCU0015",
            Kind::Unannounced { .. } => "NCU0016",
            Kind::Write(_) => "NCU0017",
            Kind::VersionToRedact(_) => "NCU0018",
            Kind::MessageSize { .. } => "NCU0019",
            Kind::Implausible(_) => "NCU0020",
        }
    }

    /// The byte offset in the unpacked input at which reading failed, where one is known.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// What was being read, such as `block header` or `kernel result, metrics`.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.0.field
    }

    /// The reason alone, without place.
    #[must_use]
    pub fn reason(&self) -> String {
        self.0.kind.to_string()
    }

    /// Whether the input stops in the middle of something that it announced.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        match self.0.kind {
            Kind::Truncated { .. } => true,
            #[cfg(feature = "decompress")]
            Kind::Decompress { ends_early, .. } => ends_early,
            _ => false,
        }
    }

    /// Whether this is only a remark: everything was read.
    #[must_use]
    pub fn is_remark(&self) -> bool {
        matches!(self.0.kind, Kind::UnknownVersion(_) | Kind::Utf8)
    }

    /// Whether the input is something else than what this reader is for.
    #[must_use]
    pub fn is_other_format(&self) -> bool {
        matches!(self.0.kind, Kind::Empty | Kind::NotAReport(_))
    }

    /// The same error, where the parent is whole: what runs past its end is not the input that ends early.
    #[must_use]
    pub(crate) fn inside_parent(mut self) -> Self {
        if let Kind::Truncated { needed, available } = self.0.kind {
            self.0.kind = Kind::Overrun { needed, available };
        }
        self
    }

    /// The same error, with the name of the enclosing message put before the field.
    #[must_use]
    pub(crate) fn inside(mut self, parent: &str) -> Self {
        self.0.field = match self.0.field.is_empty() {
            true => Cow::Owned(parent.to_owned()),
            false => Cow::Owned(format!("{parent}, {}", self.0.field)),
        };
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.field.is_empty() {
            write!(f, "{}: ", self.0.field)?;
        }
        write!(f, "{}", self.0.kind)?;
        if let Some(offset) = self.0.offset {
            write!(f, " (byte {offset})")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_names_field_reason_and_place() {
        let error = Error::new(
            Kind::Truncated {
                needed: 9,
                available: 4,
            },
            17,
            "block header",
        )
        .inside("block 3");
        assert_eq!(
            error.to_string(),
            "block 3, block header: the input ends early: 9 bytes are announced, 4 remain (byte 17)"
        );
        assert_eq!(error.code(), "NCU0003");
        assert!(error.is_truncated());
    }

    #[test]
    fn error_is_one_word() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }
}
