//! What results are compared with, as it is stored.

use std::fmt;

use ridge_bench::document::Document as Bench;
use ridge_diagnose::document::Document as Diagnosis;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Found;

/// Name of the contract.
const SCHEMA: &str = "ridgepoint.baseline";
/// Its version.
const VERSION: u32 = 1;

/// Results that later ones are compared with, and where they are from.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    /// What it is called.
    pub label: Option<String>,
    /// The commit that was measured.
    pub commit: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// When it was recorded, in seconds since 1970.
    pub recorded_unix_s: Option<u64>,
    /// The results: several are runs of the same.
    pub results: Vec<Found>,
}

/// The file as it is written. Results stay as they are, with fields that this version does not know.
#[derive(Serialize, Deserialize)]
struct Stored {
    schema: String,
    version: u32,
    #[serde(default)]
    label: Option<String>,
    #[serde(default)]
    commit: Option<String>,
    #[serde(default)]
    branch: Option<String>,
    #[serde(default)]
    recorded_unix_s: Option<u64>,
    results: Vec<Value>,
}

/// Why some bytes are no baseline.
#[derive(Debug)]
pub struct BaselineError(String);

impl BaselineError {
    /// A name that does not change.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "CHK0002"
    }
}

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BaselineError {}

/// A result by what it is meant to be; `None` where it is neither.
pub(super) fn result(bytes: &[u8]) -> Option<Result<Found, String>> {
    if Bench::looks_like(bytes) {
        let read = Bench::read(bytes).map_err(|error| error.to_string());
        Some(read.map(|document| Found::Bench(Box::new(document))))
    } else if Diagnosis::looks_like(bytes) {
        let read = Diagnosis::read(bytes).map_err(|error| error.to_string());
        Some(read.map(|diagnosis| Found::Diagnosis(Box::new(diagnosis))))
    } else {
        None
    }
}

impl Baseline {
    /// Whether some bytes are meant to be a recorded baseline.
    #[must_use]
    pub fn looks_like(bytes: &[u8]) -> bool {
        // It begins with its schema, and holds documents that name theirs.
        let head = &bytes[..bytes.len().min(256)];
        let name = const { b"\"ridgepoint.baseline\"" };
        head.windows(name.len()).any(|part| part == name)
    }

    /// Reads a recorded baseline, or takes a result as one.
    ///
    /// # Errors
    /// When the bytes are neither, or damaged.
    pub fn read(bytes: &[u8]) -> Result<Self, BaselineError> {
        if !Self::looks_like(bytes) {
            return match result(bytes) {
                Some(found) => Ok(Self {
                    results: vec![found.map_err(BaselineError)?],
                    ..Self::default()
                }),
                None => Err(BaselineError(
                    "it is neither a baseline of `ridge check --update` nor a result of `ridge bench` or `ridge why`"
                        .to_owned(),
                )),
            };
        }
        let stored: Stored = serde_json::from_slice(bytes)
            .map_err(|error| BaselineError(format!("the baseline is damaged: {error}")))?;
        if stored.schema != SCHEMA || stored.version > VERSION {
            return Err(BaselineError(format!(
                "the baseline has version {}, and this command reads up to {VERSION}",
                stored.version
            )));
        }
        let results = stored
            .results
            .into_iter()
            .map(found)
            .collect::<Result<_, _>>()?;
        Ok(Self {
            label: stored.label,
            commit: stored.commit,
            branch: stored.branch,
            recorded_unix_s: stored.recorded_unix_s,
            results,
        })
    }

    /// The file of a baseline: its facts, and the results as they were written. Each has to be a JSON document.
    ///
    /// # Errors
    /// When a result is none.
    pub fn write(&self, results: &[&[u8]]) -> Result<String, BaselineError> {
        let parsed: Result<Vec<Value>, _> = results
            .iter()
            .map(|bytes| serde_json::from_slice(bytes))
            .collect();
        let failed = |error: serde_json::Error| {
            BaselineError(format!("a result cannot be recorded: {error}"))
        };
        let stored = Stored {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            label: self.label.clone(),
            commit: self.commit.clone(),
            branch: self.branch.clone(),
            recorded_unix_s: self.recorded_unix_s,
            results: parsed.map_err(failed)?,
        };
        let mut text = serde_json::to_string(&stored).map_err(failed)?;
        text.push('\n');
        Ok(text)
    }
}

fn found(value: Value) -> Result<Found, BaselineError> {
    let damaged = |error: serde_json::Error| {
        BaselineError(format!("a result of the baseline is damaged: {error}"))
    };
    let schema = value.get("schema").and_then(Value::as_str);
    if schema == Some(ridge_bench::document::SCHEMA) {
        let mut document = Bench::deserialize(&value).map_err(damaged)?;
        document.leave_out_implausible();
        return Ok(Found::Bench(Box::new(document)));
    }
    let bytes = serde_json::to_vec(&value).map_err(damaged)?;
    let diagnosis = Diagnosis::read(&bytes)
        .map_err(|error| BaselineError(format!("a result of the baseline is damaged: {error}")))?;
    Ok(Found::Diagnosis(Box::new(diagnosis)))
}
