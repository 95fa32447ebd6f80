//! What is known of each case apart from its sources: the format of a line of `index.jsonl`, and how it is made.

use std::fmt;

use ridge_diagnose::document::{Class, Document, Finding, Kernel, Resource};
use ridge_diagnose::report_findings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rows of the ledger that are kept: the busiest.
const ROWS: usize = 5;
/// Reasons for waiting that are kept: the longest.
const WAITS: usize = 3;
/// Findings that are kept: the most useful.
const FINDINGS: usize = 3;

/// A case: what was measured, and what the diagnosis says of both versions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Name of the case and of its folder.
    pub name: String,
    /// The finding that is right for the slow version.
    pub label: String,
    /// Findings that are right too.
    pub accept: Vec<String>,
    /// The remedy in a few words.
    pub remedy: String,
    /// What has to be known about the measurement.
    pub note: Option<String>,
    /// Median time of the slow version with its data in the caches, in microseconds.
    pub slow_hot_us: f64,
    /// The same after the L2 was overwritten.
    pub slow_cold_us: f64,
    /// Times of the fixed version; absent where there is none.
    pub fixed_hot_us: Option<f64>,
    /// The same after the L2 was overwritten.
    pub fixed_cold_us: Option<f64>,
    /// Bytes that the computation has to move at least.
    pub min_bytes: f64,
    /// Floating-point operations of the computation.
    pub flops: f64,
    /// Relative L2 difference of the outputs; absent where there is no fixed version.
    pub difference: Option<f64>,
    /// The diagnosis of the slow kernel.
    pub slow: Diagnosed,
    /// The diagnosis of the fixed kernel; absent where there is none.
    pub fixed: Option<Diagnosed>,
}

/// The main lines of a diagnosis. What was not collected is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnosed {
    /// Name of the kernel.
    pub kernel: String,
    /// The device that it ran on.
    pub device: Option<String>,
    /// Blocks of the launch.
    pub blocks: Option<u64>,
    /// Threads of a block.
    pub threads: Option<u64>,
    /// Duration under the profiler, in nanoseconds.
    pub duration_ns: Option<f64>,
    /// What kind of limit binds it.
    pub class: Option<Class>,
    /// The resource that binds it.
    pub limiter: Option<Resource>,
    /// The busiest resources and the shares of the duration for which they were busy.
    pub rows: Vec<Row>,
    /// What warps wait for longest.
    pub waits: Vec<Wait>,
    /// Achieved occupancy, as a share.
    pub occupancy: Option<f64>,
    /// Findings, most useful first.
    pub findings: Vec<Found>,
}

/// A resource and how busy it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// The resource.
    pub resource: Resource,
    /// The share of the duration for which it was busy.
    pub share: f64,
}

/// A reason for which warps wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Wait {
    /// The profiler's name of the reason.
    pub reason: String,
    /// What warps wait for, in words.
    pub meaning: String,
    /// Share of the time between two instructions of a warp.
    pub share: f64,
}

/// A finding in one line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// Its stable name.
    pub id: String,
    /// What it says.
    pub title: String,
    /// The part of the duration that the remedy can save at most.
    pub at_most: f64,
    /// The best estimate of it.
    pub expected: f64,
    /// What binds after the remedy.
    pub next: Option<Resource>,
}

/// A share with four decimal digits: the index is read and compared by people too.
fn rounded(share: f64) -> f64 {
    (share * 1e4).round() / 1e4
}

impl Diagnosed {
    /// Condenses the diagnosis of a kernel. `of_report`: findings about several kernels that are about this one too.
    #[must_use]
    pub fn of<'f>(kernel: &'f Kernel, of_report: impl Iterator<Item = &'f Finding>) -> Self {
        let count = |size: [u32; 3]| size.into_iter().map(u64::from).product();
        let counter = |name: &str| {
            let found = kernel
                .counters
                .iter()
                .find(|counter| counter.metric == name);
            found.map(|counter| counter.value)
        };
        Self {
            kernel: kernel.name.clone(),
            device: kernel.device.clone(),
            blocks: kernel.grid.map(count),
            threads: kernel.block.map(count),
            duration_ns: kernel.duration_ns,
            class: kernel.limiter.as_ref().map(|limiter| limiter.class),
            limiter: kernel.limiter.as_ref().map(|limiter| limiter.resource),
            rows: kernel
                .resources
                .iter()
                .take(ROWS)
                .map(|row| Row {
                    resource: row.resource,
                    share: rounded(row.busy_share),
                })
                .collect(),
            waits: kernel
                .stalls
                .iter()
                .take(WAITS)
                .map(|stall| Wait {
                    reason: stall.reason.clone(),
                    meaning: stall.meaning.clone(),
                    share: rounded(stall.share),
                })
                .collect(),
            occupancy: counter("sm__warps_active.avg.pct_of_peak_sustained_active")
                .map(|percent| rounded(percent / 100.0)),
            findings: of_report
                .chain(&kernel.findings)
                .take(FINDINGS)
                .map(|finding| Found {
                    id: finding.id.clone(),
                    title: finding.title.clone(),
                    at_most: rounded(finding.saving_ceiling),
                    expected: rounded(finding.saving_expected),
                    next: finding.next_limit,
                })
                .collect(),
        }
    }
}

/// A line of `labels.jsonl`.
#[derive(Deserialize)]
struct Label {
    case: String,
    slow: String,
    fixed: Option<String>,
    label: String,
    accept: Vec<String>,
    fix: String,
    note: Option<String>,
    slow_us: f64,
    slow_cold_us: f64,
    fixed_us: f64,
    fixed_cold_us: f64,
    min_bytes: f64,
    flops: f64,
    rel_l2_fixed_vs_slow: f64,
}

/// Why a label and a diagnosis make no entry.
#[derive(Debug)]
#[non_exhaustive]
pub enum LabelError {
    /// The label is no such line.
    Malformed(serde_json::Error),
    /// The diagnosis does not hold a kernel of that name.
    NoKernel(String),
}

impl fmt::Display for LabelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(error) => write!(f, "the label cannot be read: {error}"),
            Self::NoKernel(name) => write!(f, "the report holds no kernel {name}"),
        }
    }
}

impl std::error::Error for LabelError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Malformed(error) => Some(error),
            Self::NoKernel(_) => None,
        }
    }
}

/// A kernel of a version, which may be several.
fn diagnosed(version: &[Kernel], name: &str) -> Result<Diagnosed, LabelError> {
    let place = version.iter().position(|kernel| kernel.name == name);
    let place = place.ok_or_else(|| LabelError::NoKernel(name.to_owned()))?;
    let of_version = report_findings(version);
    let own = of_version
        .iter()
        .filter(|finding| finding.kernels.contains(&place))
        .map(|finding| &finding.finding);
    Ok(Diagnosed::of(&version[place], own))
}

impl Entry {
    /// From a line of `labels.jsonl` and the diagnosis of its report.
    ///
    /// # Errors
    /// When the line is none, or the report holds other kernels.
    pub fn new(label: &str, document: &Document) -> Result<Self, LabelError> {
        let label: Label = serde_json::from_str(label).map_err(LabelError::Malformed)?;
        // One version takes the place of the other: what both in a row would show is about no program.
        let (fixed, slow): (Vec<Kernel>, Vec<Kernel>) = document
            .kernels
            .iter()
            .cloned()
            .partition(|kernel| Some(&kernel.name) == label.fixed.as_ref());
        let slow = diagnosed(&slow, &label.slow)?;
        let fixed_name = label.fixed.as_deref();
        let fixed = fixed_name.map(|name| diagnosed(&fixed, name));
        let fixed = fixed.transpose()?;
        let of_fixed = |value: f64| fixed.is_some().then_some(value);
        Ok(Self {
            slow_hot_us: label.slow_us,
            slow_cold_us: label.slow_cold_us,
            fixed_hot_us: of_fixed(label.fixed_us),
            fixed_cold_us: of_fixed(label.fixed_cold_us),
            difference: of_fixed(label.rel_l2_fixed_vs_slow),
            name: label.case,
            label: label.label,
            accept: label.accept,
            remedy: label.fix,
            note: label.note,
            min_bytes: label.min_bytes,
            flops: label.flops,
            slow,
            fixed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_no_label_is_refused() {
        let document = Document {
            schema: ridge_diagnose::document::SCHEMA,
            version: 1,
            sources: Vec::new(),
            kernels: Vec::new(),
            report_findings: Vec::new(),
            totals: Vec::new(),
            ranks: None,
            warnings: Vec::new(),
        };
        let error = Entry::new("{}", &document).unwrap_err();
        assert!(
            error.to_string().contains("missing field `case`"),
            "{error}"
        );
        let label = r#"{"case": "a", "slow": "a_slow", "fixed": null, "label": "x", "accept": [], "fix": "", "slow_us": 1,
            "slow_cold_us": 1, "fixed_us": 1, "fixed_cold_us": 1, "min_bytes": 1, "flops": 1, "rel_l2_fixed_vs_slow": -1}"#;
        let error = Entry::new(label, &document).unwrap_err();
        assert_eq!(error.to_string(), "the report holds no kernel a_slow");
    }
}
