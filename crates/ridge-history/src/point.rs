//! Points of series: single numbers of a result.

use crate::{Id, Revision, Timestamp};

/// A number of a result. Points of one subject, metric, unit and GPU make a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// What was measured: benchmark and state, kernel and launch, program, or figure.
    pub subject: String,
    /// What of it, such as `time.cold`. `docs/reference/history.md` lists the metrics.
    pub metric: String,
    /// The unit: `ns`, `bytes`, `fraction`, `B/s` and the like.
    pub unit: String,
    /// The value, a median where there are samples. It is finite.
    pub value: f64,
    /// The lower end of the 95 % interval of the value.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// Samples behind it. The samples themselves are in the document.
    pub samples: Option<u64>,
}

/// What a series is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesKey {
    /// What was measured.
    pub subject: String,
    /// What of it.
    pub metric: String,
    /// The unit.
    pub unit: String,
    /// The model of GPU; absent where the result does not tell.
    pub gpu: Option<String>,
}

/// A series that there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// What it is about.
    pub key: SeriesKey,
    /// How many points it has.
    pub points: u64,
    /// The time of the first one.
    pub first: Timestamp,
    /// The time of the last one.
    pub last: Timestamp,
}

/// A point in its place in time.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The result that it is of.
    pub result: Id,
    /// When that was made.
    pub time: Timestamp,
    /// The state of the source.
    pub revision: Revision,
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
