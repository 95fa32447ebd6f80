//! What `ridge history` writes as JSON: lists, comparisons, and the lines by which stores exchange results.
//!
//! Fields are only ever added within a version. Fractions are 0 to 1, absent is `null`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{Head, Point};

/// Name of the contract of lists.
pub const LISTING: &str = "ridgepoint.history";
/// Name of the contract of comparisons.
pub const COMPARISON: &str = "ridgepoint.history-comparison";
/// Name of the contract of lines for exchange.
pub const RECORD: &str = "ridgepoint.history-record";
/// Version of the three.
pub const VERSION: u32 = 1;

/// Past results, newest first: what `ridge history list --format json` writes.
///
/// Fields are only ever added within a version, and what is not known is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "History")]
pub struct Listing {
    /// Always `ridgepoint.history`.
    #[schemars(extend("const" = LISTING))]
    pub schema: &'static str,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The store: a file, or the address of a server without its password.
    pub store: String,
    /// How many results there are that were asked for, listed or not.
    pub total: u64,
    /// Those that are listed.
    pub results: Vec<Entry>,
}

/// A result without its document and points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    /// The identifier: SHA-256 of the content.
    pub id: String,
    /// When it was made, in UTC, in the form of RFC 3339.
    pub time: String,
    /// The command that gave it: `bench`, `why`, `trace` or `ceilings`.
    pub kind: String,
    /// What was measured.
    pub name: String,
    /// The machine.
    pub host: Option<String>,
    /// The model of GPU.
    pub gpu: Option<String>,
    /// The identifier of the GPU.
    pub gpu_uuid: Option<String>,
    /// The version of the driver.
    pub driver: Option<String>,
    /// The slowest SM clock of what was measured.
    pub sm_clock_low_hz: Option<f64>,
    /// The fastest.
    pub sm_clock_high_hz: Option<f64>,
    /// The commit.
    pub commit: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// Whether files under version control differed from the commit.
    pub is_dirty: Option<bool>,
    /// The command line.
    pub command: Option<String>,
    /// Labels, in the order of their names.
    pub labels: Vec<Label>,
    /// The version of ridge that made it.
    pub tool_version: Option<String>,
    /// Version of the document's schema.
    pub document_version: u32,
}

/// A label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Label {
    /// Its name.
    pub name: String,
    /// Its value; empty where it has none.
    pub value: String,
}

/// A point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointEntry {
    /// What was measured.
    pub subject: String,
    /// What of it.
    pub metric: String,
    /// The unit.
    pub unit: String,
    /// The value.
    pub value: f64,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// Samples behind it.
    pub samples: Option<u64>,
}

/// A result of a history with its document: a line of `ridge history export`, and what `ridge history show --format json`
/// writes.
///
/// Fields are only ever added within a version, and what is not known is `null`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "History record")]
pub struct Exchange {
    /// Always `ridgepoint.history-record`.
    #[schemars(extend("const" = RECORD))]
    pub schema: String,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// What lists show of it.
    pub result: Entry,
    /// The numbers of it that make series.
    pub points: Vec<PointEntry>,
    /// The answer of the command, as its own schema describes it.
    #[schemars(with = "serde_json::Value")]
    pub document: Box<RawValue>,
}

/// Two results side by side: what `ridge history compare --format json` writes.
///
/// Fields are only ever added within a version, and what is not known is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "History comparison")]
pub struct Comparison {
    /// Always `ridgepoint.history-comparison`.
    #[schemars(extend("const" = COMPARISON))]
    pub schema: &'static str,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The first result.
    pub before: Entry,
    /// The second one.
    pub after: Entry,
    /// Numbers that both have.
    pub changes: Vec<Change>,
    /// Numbers that only the first has.
    pub only_before: Vec<PointEntry>,
    /// Numbers that only the second has.
    pub only_after: Vec<PointEntry>,
    /// What differs between the two beside the code, and what that spoils.
    pub warnings: Vec<String>,
}

/// A number of two results.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// What was measured.
    pub subject: String,
    /// What of it.
    pub metric: String,
    /// The unit.
    pub unit: String,
    /// The first value.
    pub before: f64,
    /// The second one.
    pub after: f64,
    /// The second over the first; `null` where the first is 0.
    pub ratio: Option<f64>,
    /// The lower end of the interval of the ratio; `null` where there is none.
    pub ratio_low: Option<f64>,
    /// The upper end.
    pub ratio_high: Option<f64>,
    /// `same`, `faster`, `slower`, `ambiguous` or `invalid`; `null` where single numbers are compared, which have none.
    pub verdict: Option<String>,
    /// Why there is no better verdict.
    pub reason: Option<String>,
}

impl From<&Head> for Entry {
    fn from(head: &Head) -> Self {
        Self {
            id: head.id.to_string(),
            time: head.time.to_string(),
            kind: head.kind.name().to_owned(),
            name: head.name.clone(),
            host: head.host.clone(),
            gpu: head.gpu.as_ref().map(|gpu| gpu.name.clone()),
            gpu_uuid: head.gpu.as_ref().and_then(|gpu| gpu.uuid.clone()),
            driver: head.driver.clone(),
            sm_clock_low_hz: head.sm_clock.map(|clock| clock.low_hz),
            sm_clock_high_hz: head.sm_clock.map(|clock| clock.high_hz),
            commit: head.revision.commit.clone(),
            branch: head.revision.branch.clone(),
            is_dirty: head.revision.is_dirty,
            command: head.command.clone(),
            labels: head
                .labels
                .iter()
                .map(|(name, value)| Label {
                    name: name.to_owned(),
                    value: value.to_owned(),
                })
                .collect(),
            tool_version: head.tool_version.clone(),
            document_version: head.schema_version,
        }
    }
}

impl From<&Point> for PointEntry {
    fn from(point: &Point) -> Self {
        Self {
            subject: point.subject.clone(),
            metric: point.metric.clone(),
            unit: point.unit.clone(),
            value: point.value,
            low: point.low,
            high: point.high,
            samples: point.samples,
        }
    }
}

impl From<PointEntry> for Point {
    fn from(entry: PointEntry) -> Self {
        Self {
            subject: entry.subject,
            metric: entry.metric,
            unit: entry.unit,
            value: entry.value,
            low: entry.low,
            high: entry.high,
            samples: entry.samples,
        }
    }
}

/// Two results side by side, number by number; verdicts are for those who compare samples.
#[must_use]
pub fn compare(before: (&Head, &[Point]), after: (&Head, &[Point])) -> Comparison {
    let alone = |points: &[Point], others: &[Point]| -> Vec<PointEntry> {
        let of = Known::of(others);
        points
            .iter()
            .filter(|point| !of.has(point))
            .map(PointEntry::from)
            .collect()
    };
    let first = Known::of(before.1);
    let changes = after
        .1
        .iter()
        .filter_map(|point| Some((first.find(point)?, point)))
        .map(|(one, other)| Change {
            subject: other.subject.clone(),
            metric: other.metric.clone(),
            unit: other.unit.clone(),
            before: one.value,
            after: other.value,
            ratio: Some(other.value / one.value).filter(|ratio| ratio.is_finite()),
            ratio_low: None,
            ratio_high: None,
            verdict: None,
            reason: None,
        })
        .collect();
    Comparison {
        schema: COMPARISON,
        version: VERSION,
        before: before.0.into(),
        after: after.0.into(),
        changes,
        only_before: alone(before.1, after.1),
        only_after: alone(after.1, before.1),
        warnings: Vec::new(),
    }
}

/// Points by what they are of.
struct Known<'p>(std::collections::HashMap<(&'p str, &'p str, &'p str), &'p Point>);

impl<'p> Known<'p> {
    fn of(points: &'p [Point]) -> Self {
        Self(points.iter().map(|point| (key(point), point)).collect())
    }

    fn find(&self, point: &Point) -> Option<&'p Point> {
        self.0.get(&key(point)).copied()
    }

    fn has(&self, point: &Point) -> bool {
        self.find(point).is_some()
    }
}

fn key(point: &Point) -> (&str, &str, &str) {
    (&point.subject, &point.metric, &point.unit)
}
