//! What stored answers of `ridge numerics` say, for those who put them beside other results: bytes to values.
//!
//! Only what such a reader needs is kept; fields that this version does not know are skipped.

use std::fmt;

use serde::Deserialize;

use crate::{determinism, document, flags};

/// A stored answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored {
    /// An output held against its reference.
    Comparison(Comparison),
    /// Outputs of several runs of one program.
    Repeat(Repeat),
    /// What flags or code do to results.
    Arithmetic(Arithmetic),
}

/// Whether an output is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// All elements are within the tolerance.
    Right,
    /// It is not what it has to be.
    Wrong,
    /// Neither can be said.
    CannotTell,
}

/// An output held against its reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What the output has to be, as it was named.
    pub reference: String,
    /// What it is, as it was named.
    pub output: String,
    /// The format of its elements.
    pub format: String,
    /// Whether it is right.
    pub outcome: Outcome,
    /// Why, in a sentence.
    pub sentence: String,
    /// The tolerance in words; absent where no element was compared.
    pub tolerance: Option<String>,
    /// What to do next, where something is missing for an answer.
    pub next: Option<String>,
    /// Elements beyond the tolerance, of how many; absent where none was compared.
    pub failing: Option<(u64, u64)>,
}

/// Outputs of several runs of one program.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Repeat {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// How many runs gave an output.
    pub runs: u64,
    /// How many different outputs there were.
    pub distinct: u64,
    /// Whether all were the same, bit by bit.
    pub is_identical: bool,
    /// Where all were the same: the largest share of runs that could differ unseen, at 95 % confidence.
    pub could_be_missed: Option<f64>,
    /// The answer in a sentence.
    pub sentence: String,
    /// What to do, most useful first.
    pub actions: Vec<String>,
}

/// What flags or code do to results.
#[derive(Clone, Debug, PartialEq)]
pub struct Arithmetic {
    /// The flags or the file that was looked at.
    pub subject: String,
    /// Names of what may differ, with whether it is certain.
    pub effects: Vec<(String, bool)>,
}

/// Why some bytes are no answer that this version reads.
#[derive(Debug)]
pub struct ReadError(Problem);

#[derive(Debug)]
enum Problem {
    Malformed(serde_json::Error),
    Version(u32),
}

impl ReadError {
    /// A name that does not change.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.0 {
            Problem::Malformed(_) => "NUM0040",
            Problem::Version(_) => "NUM0041",
        }
    }

    /// What to try.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self.0 {
            Problem::Malformed(_) => "`ridge numerics … -o numerics.json` writes such a file whole",
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
                write!(f, "the document of `ridge numerics` is damaged: {error}")
            }
            Problem::Version(version) => write!(
                f,
                "the document of `ridge numerics` has version {version}, which is later than what this command reads"
            ),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            Problem::Malformed(error) => Some(error),
            Problem::Version(_) => None,
        }
    }
}

/// What every document has.
#[derive(Deserialize)]
struct Head {
    schema: String,
    version: u32,
}

#[derive(Deserialize)]
struct Side {
    name: String,
    format: String,
}

#[derive(Deserialize)]
struct Verdict {
    outcome: Outcome,
    sentence: String,
    next: Option<String>,
}

#[derive(Deserialize)]
struct Allowed {
    name: String,
}

#[derive(Deserialize)]
struct Measures {
    failing: u64,
    elements: u64,
}

#[derive(Deserialize)]
struct ComparisonBody {
    reference: Side,
    output: Side,
    verdict: Verdict,
    tolerance: Option<Allowed>,
    measures: Option<Measures>,
}

#[derive(Deserialize)]
struct Flags {
    given: String,
}

#[derive(Deserialize)]
struct Code {
    input: String,
}

#[derive(Deserialize)]
struct Effect {
    id: String,
    is_certain: bool,
}

#[derive(Deserialize)]
struct ArithmeticBody {
    flags: Option<Flags>,
    code: Option<Code>,
    effects: Vec<Effect>,
}

/// The kinds that are read, with their versions.
const KINDS: [(&str, u32); 3] = [
    (document::SCHEMA, document::VERSION),
    (
        determinism::document::SCHEMA,
        determinism::document::VERSION,
    ),
    (flags::document::SCHEMA, flags::document::VERSION),
];

impl Stored {
    /// Whether some bytes are meant to be such an answer: a JSON object that names one of the contracts. They may be damaged.
    #[must_use]
    pub fn looks_like(bytes: &[u8]) -> bool {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = text.trim_ascii_start();
        text.first() == Some(&b'{')
            && KINDS.iter().any(|(name, _)| {
                let name = format!("\"{name}\"");
                // It stands near the beginning, where this command writes it.
                let head = &text[..text.len().min(256)];
                head.windows(name.len()).any(|part| part == name.as_bytes())
            })
    }

    /// Reads an answer.
    ///
    /// # Errors
    /// When the bytes are no whole document of one of the kinds, or one of a later version.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let malformed = |error| ReadError(Problem::Malformed(error));
        let head: Head = serde_json::from_slice(text).map_err(malformed)?;
        let known = KINDS.iter().find(|(name, _)| *name == head.schema);
        if known.is_some_and(|(_, version)| head.version > *version) {
            return Err(ReadError(Problem::Version(head.version)));
        }
        Ok(match head.schema.as_str() {
            determinism::document::SCHEMA => {
                Self::Repeat(serde_json::from_slice(text).map_err(malformed)?)
            }
            flags::document::SCHEMA => {
                let body: ArithmeticBody = serde_json::from_slice(text).map_err(malformed)?;
                Self::Arithmetic(body.into())
            }
            // Another schema lacks the fields, which the error names.
            _ => {
                let body: ComparisonBody = serde_json::from_slice(text).map_err(malformed)?;
                Self::Comparison(body.into())
            }
        })
    }
}

impl From<ComparisonBody> for Comparison {
    fn from(body: ComparisonBody) -> Self {
        Self {
            reference: body.reference.name,
            output: body.output.name,
            format: body.output.format,
            outcome: body.verdict.outcome,
            sentence: body.verdict.sentence,
            tolerance: body.tolerance.map(|allowed| allowed.name),
            next: body.verdict.next,
            failing: body
                .measures
                .map(|measures| (measures.failing, measures.elements)),
        }
    }
}

impl From<ArithmeticBody> for Arithmetic {
    fn from(body: ArithmeticBody) -> Self {
        let subjects = body
            .flags
            .map(|flags| format!("flags {}", flags.given))
            .into_iter()
            .chain(body.code.map(|code| code.input));
        Self {
            subject: subjects.collect::<Vec<_>>().join(", "),
            effects: body
                .effects
                .into_iter()
                .map(|effect| (effect.id, effect.is_certain))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPARISON: &str = r#"{"schema": "ridgepoint.numerics", "version": 1,
        "reference": {"name": "r.npy", "format": "f64", "shape": [3]},
        "output": {"name": "o.npy", "format": "f32", "shape": [3]},
        "verdict": {"outcome": "wrong", "sentence": "s", "causes": [], "notes": [], "next": "n"},
        "tolerance": {"name": "1 ULP"}, "measures": {"elements": 3, "failing": 1}, "later": 1}"#;

    #[test]
    fn what_the_command_writes_is_read() {
        assert!(Stored::looks_like(COMPARISON.as_bytes()));
        let Stored::Comparison(read) = Stored::read(COMPARISON.as_bytes()).unwrap() else {
            panic!("it is a comparison");
        };
        assert_eq!(read.outcome, Outcome::Wrong);
        assert_eq!(read.failing, Some((1, 3)));
        assert_eq!(read.next.as_deref(), Some("n"));
        let settings = flags::Settings::parse(["--use_fast_math"]);
        let document =
            flags::document::Document::of(Some(("--use_fast_math", &settings)), None, "0");
        let bytes = serde_json::to_vec(&document).unwrap();
        assert!(Stored::looks_like(&bytes));
        let Stored::Arithmetic(read) = Stored::read(&bytes).unwrap() else {
            panic!("it is about flags");
        };
        assert!(read.effects.contains(&("flush-to-zero".to_owned(), true)));
        assert_eq!(read.subject, "flags --use_fast_math");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let later = COMPARISON.replace("\"version\": 1", "\"version\": 2");
        assert_eq!(
            Stored::read(later.as_bytes()).unwrap_err().code(),
            "NUM0041"
        );
        for end in (0..COMPARISON.len()).step_by(5) {
            let error = Stored::read(&COMPARISON.as_bytes()[..end]).unwrap_err();
            assert_eq!(error.code(), "NUM0040");
        }
        assert!(!Stored::looks_like(b"{\"schema\": \"ridgepoint.bench\"}"));
    }
}
