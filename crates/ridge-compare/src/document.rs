//! The answer of `ridge diff`, as data: every renderer prints this and computes nothing.
//!
//! Fields are only ever added within a version. Fractions are 0 to 1, times are nanoseconds, absent is `null`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::bench::Comparison;
use crate::kernels::document::{Conclusion, Kernels, Warning as KernelWarning};
use crate::kernels::matching::MOST_ALIKE;
use crate::timelines::document::Timelines;
use crate::verdict::Verdict;

/// Name of the contract.
pub const SCHEMA: &str = "ridgepoint.diff";
/// Its version.
pub const VERSION: u32 = 1;

/// Two results against each other: what `ridge diff --format json` writes.
///
/// Fields are only ever added within a version. Fractions are 0 to 1, times are nanoseconds, sizes are bytes, and what is
/// not known is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "Difference")]
pub struct Document {
    /// Always `ridgepoint.diff`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The file before, as it was named.
    pub before: String,
    /// The file after.
    pub after: String,
    /// The worst verdict of all that was compared; absent where nothing belongs together.
    pub verdict: Option<Verdict>,
    /// What makes the answer less certain.
    pub warnings: Vec<Note>,
    /// Kernels of reports and diagnoses; absent for other inputs.
    pub kernels: Option<Kernels>,
    /// Timelines of traces; absent for other inputs.
    pub timelines: Option<Timelines>,
    /// States of results of `ridge bench`; absent for other inputs.
    pub benchmarks: Option<Comparison>,
}

/// What makes the answer less certain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Note {
    /// Stable code.
    pub code: String,
    /// What was seen, and why it matters.
    pub message: String,
    /// The conclusions that it spoils.
    pub spoils: Vec<Conclusion>,
    /// The file that it is about; absent where it is about both.
    pub file: Option<String>,
}

impl Note {
    /// One that spoils nothing by itself.
    #[must_use]
    pub fn remark(code: &str, message: String) -> Self {
        Self {
            code: code.to_owned(),
            message,
            spoils: Vec::new(),
            file: None,
        }
    }

    /// That not all names could be compared with each other.
    #[must_use]
    pub fn too_many_names() -> Self {
        Self::remark(
            "names-not-compared",
            format!(
                "there are too many kernels without a partner to compare all their names: of each side the {MOST_ALIKE} that take most time were; name others with --match BEFORE=AFTER"
            ),
        )
    }

    pub(crate) fn of(warning: &KernelWarning) -> Self {
        Self {
            code: warning.code.clone(),
            message: warning.message.clone(),
            spoils: warning.spoils.clone(),
            file: None,
        }
    }
}
