//! Stored documents: bytes to values.

use std::fmt;

use serde::Deserialize;

use super::{Document, SCHEMA, VERSION};

/// Why some bytes are no document that this version reads.
#[derive(Debug)]
pub struct ReadError(Problem);

#[derive(Debug)]
enum Problem {
    /// It is no JSON, or lacks a field.
    Malformed(serde_json::Error),
    /// It is another document.
    Schema(String),
    /// It is of a later version.
    Version(u32),
}

impl ReadError {
    /// A name that does not change.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.0 {
            Problem::Malformed(_) => "BEN0030",
            Problem::Schema(_) => "BEN0031",
            Problem::Version(_) => "BEN0032",
        }
    }

    /// What to try.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self.0 {
            Problem::Malformed(_) => {
                "`ridge bench … -o results.json` writes such a document whole; one that was cut off has to be measured again"
            }
            Problem::Schema(_) => "name what `ridge bench --format json` wrote",
            Problem::Version(_) => {
                "read it with the version of ridge that wrote it, or a later one"
            }
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Problem::Malformed(error) => {
                write!(f, "the document of `ridge bench` is damaged: {error}")
            }
            Problem::Schema(schema) => {
                write!(f, "it is a document of kind {schema:?}, not {SCHEMA:?}")
            }
            Problem::Version(version) => write!(
                f,
                "the document of `ridge bench` has version {version}, and this command reads up to {VERSION}"
            ),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            Problem::Malformed(error) => Some(error),
            Problem::Schema(_) | Problem::Version(_) => None,
        }
    }
}

/// What every version has.
#[derive(Deserialize)]
struct Head {
    schema: String,
    version: u32,
}

impl Document {
    /// Whether some bytes are meant to be such a document: a JSON object that names the contract. They may be damaged.
    #[must_use]
    pub fn looks_like(bytes: &[u8]) -> bool {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let start = text.iter().find(|byte| !byte.is_ascii_whitespace());
        let name = const { b"\"ridgepoint.bench\"" };
        start == Some(&b'{') && text.windows(name.len()).any(|part| part == name)
    }

    /// Reads a document. Fields that this version does not know are skipped, and numbers that no measurement can have are left
    /// out, with the reason among what is not valid.
    ///
    /// # Errors
    /// When the bytes are no whole document, one of another kind, or one of a later version.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let malformed = |error| ReadError(Problem::Malformed(error));
        let head: Head = serde_json::from_slice(text).map_err(malformed)?;
        if head.schema != SCHEMA {
            return Err(ReadError(Problem::Schema(head.schema)));
        }
        if head.version > VERSION {
            return Err(ReadError(Problem::Version(head.version)));
        }
        let mut document: Self = serde_json::from_slice(text).map_err(malformed)?;
        document.leave_out_implausible();
        Ok(document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = include_str!("../../../../fixtures/formats/bench-1/copy.json");

    #[test]
    fn what_is_written_is_read() {
        assert!(Document::looks_like(DOCUMENT.as_bytes()));
        let document = Document::read(DOCUMENT.as_bytes()).unwrap();
        assert_eq!(document.states.len(), 2);
        let again = serde_json::to_vec(&document).unwrap();
        assert_eq!(Document::read(&again).unwrap(), document);
        let marked = [b"\xef\xbb\xbf \n".as_slice(), DOCUMENT.as_bytes()].concat();
        assert!(Document::looks_like(&marked));
        assert_eq!(Document::read(&marked).unwrap(), document);
    }

    #[test]
    fn what_is_cut_off_is_no_document() {
        for end in (0..DOCUMENT.trim_end().len()).step_by(97) {
            let error = Document::read(&DOCUMENT.as_bytes()[..end]).unwrap_err();
            assert_eq!(error.code(), "BEN0030");
            assert!(error.to_string().contains("line"), "{error}");
        }
    }

    #[test]
    fn other_documents_are_told() {
        let other = DOCUMENT.replacen("ridgepoint.bench", "ridgepoint.roofline", 1);
        assert!(!Document::looks_like(other.as_bytes()));
        assert_eq!(
            Document::read(other.as_bytes()).unwrap_err().code(),
            "BEN0031"
        );
        let later = DOCUMENT.replacen("\"version\": 1", "\"version\": 2", 1);
        let error = Document::read(later.as_bytes()).unwrap_err();
        assert_eq!(error.code(), "BEN0032");
        assert!(error.to_string().contains("version 2"), "{error}");
        assert!(!Document::looks_like(b"PK\"ridgepoint.bench\""));
    }
}
