//! Series with their changes as every format shows them: the contract of `ridge history plot` and `ridge history changes`.
//!
//! Fields are only ever added within a version. Fractions are 0 to 1, values are in the unit of their series, and what is not
//! known is `null`.

use schemars::JsonSchema;
use serde::Serialize;

/// Name of the contract.
pub const SCHEMA: &str = "ridgepoint.history-series";
/// Its version.
pub const VERSION: u32 = 1;

/// Series of results with what changed in them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "Series of results")]
pub struct Document {
    /// Always `ridgepoint.history-series`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The share of series without any change in which one is found all the same, at most.
    pub false_alarms: f64,
    /// The series, in the order of subject, metric, unit and GPU.
    pub series: Vec<SeriesRow>,
    /// How many more series match, but are left out here.
    pub left_out: u64,
}

/// A series.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SeriesRow {
    /// What was measured: benchmark and state, kernel and launch, program, or figure.
    pub subject: String,
    /// What of it, such as `time.cold`.
    pub metric: String,
    /// The unit of the values.
    pub unit: String,
    /// The model of GPU.
    pub gpu: Option<String>,
    /// Whether a smaller value is the better one; `null` where that depends.
    pub is_lower_better: Option<bool>,
    /// How many points there are.
    pub count: usize,
    /// With fewer points than this nothing can be found, however large it is.
    pub least_points: usize,
    /// The points in the order of time; `null` where only the changes were asked for.
    pub points: Option<Vec<PointRow>>,
    /// Parts of one level, in order; together they are the series.
    pub segments: Vec<SegmentRow>,
    /// Steps between the segments.
    pub changes: Vec<ChangeRow>,
}

/// A result in a series.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PointRow {
    /// The identifier of the result.
    pub result: String,
    /// When it was made, in UTC.
    pub time: String,
    /// The commit.
    pub commit: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// Whether files differed from the commit.
    pub is_dirty: Option<bool>,
    /// The machine.
    pub host: Option<String>,
    /// The value, a median where there are samples.
    pub value: f64,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// Samples behind it.
    pub samples: Option<u64>,
}

/// Points between two changes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SegmentRow {
    /// Its first point, from 0.
    pub first: usize,
    /// Its last point.
    pub last: usize,
    /// The median of its values.
    pub level: f64,
    /// A slow movement within it, for which no single commit can be named.
    pub drift: Option<DriftRow>,
}

/// A slow movement of the level.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DriftRow {
    /// The end less the start, by a fitted line.
    pub difference: f64,
    /// The end over the start; `null` unless all values are above zero.
    pub ratio: Option<f64>,
    /// The lower end of the 95 % interval of the ratio.
    pub ratio_low: Option<f64>,
    /// The upper end.
    pub ratio_high: Option<f64>,
}

/// A step from one level to another.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChangeRow {
    /// The first point of the new level, from 0.
    pub point: usize,
    /// The earliest point that may be the first of the new level, at 95 %.
    pub earliest: usize,
    /// The latest such point.
    pub latest: usize,
    /// The commit of the last point of the old level.
    pub commit_before: Option<String>,
    /// The commit of the first point of the new level.
    pub commit: Option<String>,
    /// The commit of the earliest point that may be the first of the new level.
    pub commit_earliest: Option<String>,
    /// The commit of the latest such point.
    pub commit_latest: Option<String>,
    /// The first result of the new level.
    pub result: String,
    /// When that was made, in UTC.
    pub time: String,
    /// The level before.
    pub level_before: f64,
    /// The level behind.
    pub level: f64,
    /// The new level less the old one.
    pub difference: f64,
    /// The new level over the old one; `null` unless all values are above zero.
    pub ratio: Option<f64>,
    /// The lower end of the 95 % interval of the ratio.
    pub ratio_low: Option<f64>,
    /// The upper end.
    pub ratio_high: Option<f64>,
    /// One less the probability that chance makes a change like this anywhere in the series.
    pub confidence: f64,
    /// Whether it is for the worse; `null` where that depends.
    pub is_worse: Option<bool>,
}
