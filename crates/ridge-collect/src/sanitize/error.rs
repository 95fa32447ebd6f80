//! Why an output cannot be read.

use std::fmt;

/// Why an output of `compute-sanitizer` cannot be read, or not as a whole. Places are bytes from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing in it.
    Empty,
    /// No line of it is one of the tool.
    NotSanitizer,
    /// It is the binary form of `--save`.
    Binary,
    /// XML of another root element.
    OtherXml {
        /// The root.
        root: String,
    },
    /// The XML defines a document type or entities, which could make a small file a large one.
    DocumentType {
        /// Where.
        offset: usize,
    },
    /// The XML names an entity that is not one of the five.
    Entity {
        /// Where.
        offset: usize,
    },
    /// The XML is not well-formed.
    Malformed {
        /// Where.
        offset: usize,
        /// What was being read.
        what: &'static str,
    },
    /// The XML ends inside an element.
    CutOff {
        /// Where.
        offset: usize,
    },
    /// Elements lie deeper in each other than any output has them.
    TooDeep {
        /// Where.
        offset: usize,
    },
    /// A record has more parts than any output has.
    TooLarge {
        /// Where.
        offset: usize,
    },
}

impl Error {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Empty => "SAN0001",
            Self::NotSanitizer => "SAN0002",
            Self::Binary => "SAN0003",
            Self::OtherXml { .. } => "SAN0004",
            Self::DocumentType { .. } => "SAN0005",
            Self::Entity { .. } => "SAN0006",
            Self::Malformed { .. } => "SAN0007",
            Self::CutOff { .. } => "SAN0008",
            Self::TooDeep { .. } => "SAN0009",
            Self::TooLarge { .. } => "SAN0010",
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Binary => {
                "`compute-sanitizer --read FILE` prints it as text; with --xml beside --save the tool writes XML"
            }
            Self::CutOff { .. } => "the tool was ended before it closed the file; run it again",
            Self::DocumentType { .. }
            | Self::Entity { .. }
            | Self::TooDeep { .. }
            | Self::TooLarge { .. } => {
                "no version of the tool writes that; see where the file comes from"
            }
            _ => {
                "name what `compute-sanitizer` printed or wrote with --log-file, or with --save FILE --xml"
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "it is empty"),
            Self::NotSanitizer => write!(f, "no line of it is one of compute-sanitizer"),
            Self::Binary => write!(
                f,
                "it is binary, as compute-sanitizer writes with --save but without --xml"
            ),
            Self::OtherXml { root } => write!(
                f,
                "its root element is {root:?}, not ComputeSanitizerOutput"
            ),
            Self::DocumentType { offset } => {
                write!(f, "a document type at byte {offset} is refused")
            }
            Self::Entity { offset } => write!(f, "an unknown entity at byte {offset} is refused"),
            Self::Malformed { offset, what } => {
                write!(f, "{what} at byte {offset} is not well-formed XML")
            }
            Self::CutOff { offset } => write!(f, "it ends at byte {offset}, inside an element"),
            Self::TooDeep { offset } => write!(f, "elements at byte {offset} lie too deep"),
            Self::TooLarge { offset } => {
                write!(f, "the record at byte {offset} has too many parts")
            }
        }
    }
}

impl std::error::Error for Error {}
