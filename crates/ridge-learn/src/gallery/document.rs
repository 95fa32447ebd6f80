//! The answer of `ridge gallery`, as data.
//!
//! Fields are only ever added within a version. Shares are 0 to 1, times have their unit in the key, absent is `null`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Case, Diagnosed};

/// Name of the contract.
pub const SCHEMA: &str = "ridgepoint.gallery";
/// Its version.
pub const VERSION: u32 = 1;

/// Cases of the gallery: what `ridge gallery --format json` writes.
///
/// Fields are only ever added within a version. Shares are 0 to 1, times have their unit in the key, and what is not known is
/// `null`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "Gallery")]
pub struct Document {
    /// Always `ridgepoint.gallery`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The cases, in order of their names.
    pub cases: Vec<CaseRow>,
}

/// A case.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CaseRow {
    /// Its name.
    pub name: String,
    /// What it shows, in words.
    pub title: String,
    /// The finding that is right for the slow version.
    pub finding: String,
    /// Findings that are right too.
    pub also_right: Vec<String>,
    /// What is wrong, how to see it, and the fix.
    pub sections: Vec<Section>,
    /// What has to be known about the measurement.
    pub note: Option<String>,
    /// Median times, measured without a profiler on one H200.
    pub measured: Measured,
    /// The diagnosis of the slow version.
    pub slow: Diagnosed,
    /// The diagnosis of the fixed version; absent where there is none.
    pub fixed: Option<Diagnosed>,
    /// The CUDA source of both versions, where it was asked for.
    pub source: Option<String>,
}

/// A part of the explanation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Section {
    /// What it is about.
    pub heading: String,
    /// The text, as Markdown.
    pub text: String,
}

/// What was measured.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Measured {
    /// The slow version with its data in the caches.
    pub slow_hot_us: f64,
    /// The slow version after the L2 was overwritten.
    pub slow_cold_us: f64,
    /// The fixed version with its data in the caches.
    pub fixed_hot_us: Option<f64>,
    /// The fixed version after the L2 was overwritten.
    pub fixed_cold_us: Option<f64>,
    /// The part of the hot time that the fix saved.
    pub saved: Option<f64>,
    /// Bytes that the computation has to move at least.
    pub min_bytes: f64,
    /// Floating-point operations of the computation.
    pub flops: f64,
    /// Relative L2 difference of the outputs.
    pub difference: Option<f64>,
}

impl Document {
    /// Of some cases, with their sources or without.
    #[must_use]
    pub fn of<'c>(cases: impl IntoIterator<Item = &'c Case>, has_source: bool) -> Self {
        let row = |case: &Case| {
            let entry = &case.entry;
            CaseRow {
                name: entry.name.clone(),
                title: case.title.to_owned(),
                finding: entry.label.clone(),
                also_right: entry.accept.clone(),
                sections: case
                    .sections
                    .iter()
                    .map(|(heading, text)| Section {
                        heading: (*heading).to_owned(),
                        text: (*text).to_owned(),
                    })
                    .collect(),
                note: entry.note.clone(),
                measured: Measured {
                    slow_hot_us: entry.slow_hot_us,
                    slow_cold_us: entry.slow_cold_us,
                    fixed_hot_us: entry.fixed_hot_us,
                    fixed_cold_us: entry.fixed_cold_us,
                    saved: case.saved(),
                    min_bytes: entry.min_bytes,
                    flops: entry.flops,
                    difference: entry.difference,
                },
                slow: entry.slow.clone(),
                fixed: entry.fixed.clone(),
                source: has_source.then(|| case.kernels.to_owned()),
            }
        };
        Self {
            schema: SCHEMA,
            version: VERSION,
            cases: cases.into_iter().map(row).collect(),
        }
    }
}
