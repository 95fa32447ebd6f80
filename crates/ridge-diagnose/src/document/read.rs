//! Stored documents: bytes to values.

use std::fmt;

use serde::Deserialize;

use super::{Document, Kernel, Ranks, ReportFinding, SCHEMA, Source, Totals, VERSION, Warning};

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
            Problem::Malformed(_) => "DIA0001",
            Problem::Schema(_) => "DIA0002",
            Problem::Version(_) => "DIA0003",
        }
    }

    /// What to try.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self.0 {
            Problem::Malformed(_) => {
                "`ridge why REPORT -o why.json` writes such a document whole; make one that was cut off again"
            }
            Problem::Schema(_) => "name what `ridge why --format json` wrote",
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
                write!(f, "the document of `ridge why` is damaged: {error}")
            }
            Problem::Schema(schema) => {
                write!(f, "it is a document of kind {schema:?}, not {SCHEMA:?}")
            }
            Problem::Version(version) => write!(
                f,
                "the document of `ridge why` has version {version}, and this command reads up to {VERSION}"
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

/// The rest of it.
#[derive(Deserialize)]
struct Body {
    sources: Vec<Source>,
    kernels: Vec<Kernel>,
    report_findings: Vec<ReportFinding>,
    totals: Vec<Totals>,
    ranks: Option<Ranks>,
    warnings: Vec<Warning>,
}

impl Document {
    /// A document of kernels alone, whose inputs are told elsewhere.
    #[must_use]
    pub fn of_kernels(kernels: Vec<Kernel>) -> Self {
        Self {
            schema: SCHEMA,
            version: VERSION,
            sources: Vec::new(),
            kernels,
            report_findings: Vec::new(),
            totals: Vec::new(),
            ranks: None,
            warnings: Vec::new(),
        }
    }

    /// Whether some bytes are meant to be such a document: a JSON object that names the contract. They may be damaged.
    #[must_use]
    pub fn looks_like(bytes: &[u8]) -> bool {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = text.trim_ascii_start();
        let name = const { b"\"ridgepoint.diagnosis\"" };
        text.first() == Some(&b'{') && text.windows(name.len()).any(|part| part == name)
    }

    /// Reads a document. Fields that this version does not know are skipped.
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
        let body: Body = serde_json::from_slice(text).map_err(malformed)?;
        Ok(Self {
            schema: SCHEMA,
            version: VERSION,
            sources: body.sources,
            kernels: body.kernels,
            report_findings: body.report_findings,
            totals: body.totals,
            ranks: body.ranks,
            warnings: body.warnings,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> String {
        serde_json::json!({
            "schema": SCHEMA, "version": VERSION, "sources": [], "kernels": [], "report_findings": [],
            "totals": [], "warnings": [{"code": "partial-set", "message": "m", "source": null, "offset": 3, "field": null}],
            "of_a_later_version": [1, 2]
        })
        .to_string()
    }

    #[test]
    fn what_is_not_known_is_skipped() {
        let text = document();
        // Whoever writes it again may order the fields by name.
        assert!(Document::looks_like(text.as_bytes()));
        let read = Document::read(text.as_bytes()).unwrap();
        assert_eq!(read.warnings[0].offset, Some(3));
        let written = serde_json::to_vec(&read).unwrap();
        assert!(Document::looks_like(&written));
        assert!(Document::looks_like(
            &[b"\xef\xbb\xbf \n".as_slice(), &written].concat()
        ));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let text = document();
        let code = |text: &str| Document::read(text.as_bytes()).unwrap_err().code();
        assert_eq!(
            code(&text.replace("\"version\":1", "\"version\":2")),
            "DIA0003"
        );
        assert_eq!(code(&text.replace(".diagnosis", ".bench")), "DIA0002");
        for end in (0..text.len()).step_by(7) {
            assert_eq!(code(&text[..end]), "DIA0001");
        }
        assert!(!Document::looks_like(b"PK\"ridgepoint.diagnosis\""));
    }
}
