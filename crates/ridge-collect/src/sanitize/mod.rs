//! What `compute-sanitizer` says: its text and its XML to records, records to groups, and a verdict that calls a program
//! clean only when the tool says so itself.

pub mod document;
mod error;
mod group;
mod noise;
mod plan;
mod record;
mod text;
mod verdict;
mod xml;

pub use error::Error;
pub use group::{Group, groups};
pub use noise::{Noise, noise};
pub use plan::{End, Options, Ran, arguments, version};
pub use record::{
    Access, FaultKind, HostFrame, Memory, Nearest, Notice, NoticeKind, Place, Record, Run,
    Severity, Side, Summary, Tool,
};
pub use verdict::{Judgement, Outcome, Reason, Verdict, judge, outcome};

/// What was read of an input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The runs of tools that it holds, in their order.
    pub runs: Vec<Run>,
    /// Why it was not read as a whole, if it was not.
    pub problem: Option<Error>,
}

/// Reads an output of `compute-sanitizer`, text or XML; which of the two is told by its first character.
///
/// # Errors
/// When the input is neither. One that is damaged further on is read as far as it goes: see [`Reading::problem`].
pub fn read(bytes: &[u8]) -> Result<Reading, Error> {
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match start.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => Err(Error::Empty),
        Some(b'<') => xml::read(start),
        Some(_) => text::read(start),
    }
}
