//! What changed in a series of results, and with which commit.

pub mod document;

use document::{ChangeRow, Document, DriftRow, PointRow, SCHEMA, SegmentRow, SeriesRow, VERSION};
use ridge_stats::{Change, ChangeRules, Changes, Drift, Interval, Point, Segment, find_changes};

use crate::{Observation, SeriesKey};

/// The document of series: each with its points in the order of time.
///
/// A series without points is left out.
#[must_use]
pub fn document<'o>(
    series: impl IntoIterator<Item = (SeriesKey, &'o [Observation])>,
    left_out: u64,
) -> Document {
    let rules = ChangeRules::default();
    Document {
        schema: SCHEMA,
        version: VERSION,
        false_alarms: rules.false_alarms,
        series: series
            .into_iter()
            .filter_map(|(key, observations)| row(key, observations, &rules))
            .collect(),
        left_out,
    }
}

fn row(key: SeriesKey, observations: &[Observation], rules: &ChangeRules) -> Option<SeriesRow> {
    let points: Vec<Point> = observations
        .iter()
        .map(|of| Point {
            value: of.value,
            interval: of
                .low
                .zip(of.high)
                .map(|(lower, upper)| Interval { lower, upper }),
        })
        .collect();
    // Stored values are finite, so that only a series without points is refused.
    let found = find_changes(&points, rules).ok()?;
    let is_lower_better = is_lower_better(&key.unit);
    let Changes {
        segments,
        changes,
        least_points,
    } = &found;
    Some(SeriesRow {
        count: observations.len(),
        least_points: *least_points,
        points: Some(observations.iter().map(point).collect()),
        segments: segments.iter().map(segment).collect(),
        changes: changes
            .iter()
            .zip(segments.windows(2))
            .filter_map(|(found, around)| change(found, around, observations, is_lower_better))
            .collect(),
        is_lower_better,
        subject: key.subject,
        metric: key.metric,
        unit: key.unit,
        gpu: key.gpu,
    })
}

/// Times are better when they are shorter, rates when they are higher. Of other numbers, such as bytes and shares, more may be
/// either.
fn is_lower_better(unit: &str) -> Option<bool> {
    match unit {
        "ns" | "us" | "ms" | "s" => Some(true),
        rate if rate.ends_with("/s") => Some(false),
        _ => None,
    }
}

fn point(of: &Observation) -> PointRow {
    PointRow {
        result: of.result.to_string(),
        time: of.time.to_string(),
        commit: of.revision.commit.clone(),
        branch: of.revision.branch.clone(),
        is_dirty: of.revision.is_dirty,
        host: of.host.clone(),
        value: of.value,
        low: of.low,
        high: of.high,
        samples: of.samples,
    }
}

fn segment(of: &Segment) -> SegmentRow {
    SegmentRow {
        first: of.start,
        last: of.end.saturating_sub(1),
        level: of.level,
        drift: of.drift.as_ref().map(drift),
    }
}

fn drift(of: &Drift) -> DriftRow {
    let interval = of.ratio.and_then(|ratio| ratio.interval);
    DriftRow {
        difference: of.difference,
        ratio: of.ratio.map(|ratio| ratio.ratio),
        ratio_low: interval.map(|interval| interval.lower),
        ratio_high: interval.map(|interval| interval.upper),
    }
}

fn change(
    found: &Change,
    around: &[Segment],
    observations: &[Observation],
    is_lower_better: Option<bool>,
) -> Option<ChangeRow> {
    let [before, behind] = around else {
        return None;
    };
    let first = observations.get(found.at)?;
    let commit = |at: usize| {
        let of = observations.get(at)?;
        of.revision.commit.clone()
    };
    let interval = found.ratio.and_then(|ratio| ratio.interval);
    Some(ChangeRow {
        point: found.at,
        earliest: found.earliest,
        latest: found.latest,
        commit_before: commit(found.at.checked_sub(1)?),
        commit: commit(found.at),
        commit_earliest: commit(found.earliest),
        commit_latest: commit(found.latest),
        result: first.result.to_string(),
        time: first.time.to_string(),
        level_before: before.level,
        level: behind.level,
        difference: found.difference,
        ratio: found.ratio.map(|ratio| ratio.ratio),
        ratio_low: interval.map(|interval| interval.lower),
        ratio_high: interval.map(|interval| interval.upper),
        confidence: found.confidence,
        is_worse: is_lower_better
            .map(|is_lower_better| (found.difference > 0.0) == is_lower_better),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Id, Revision, Timestamp};

    fn key(unit: &str) -> SeriesKey {
        SeriesKey {
            subject: "copy/scalar".to_owned(),
            metric: "time.cold".to_owned(),
            unit: unit.to_owned(),
            gpu: Some("NVIDIA H200".to_owned()),
        }
    }

    fn observations(values: impl Iterator<Item = f64>) -> Vec<Observation> {
        (0..)
            .zip(values)
            .map(|(i, value)| Observation {
                result: Id::of_parts([format!("{i}").as_bytes()]),
                time: Timestamp::from_micros(i * 60_000_000),
                revision: Revision {
                    commit: Some(format!("{i:040x}")),
                    branch: None,
                    is_dirty: Some(false),
                },
                host: None,
                value,
                low: Some(value - 0.1),
                high: Some(value + 0.1),
                samples: Some(30),
            })
            .collect()
    }

    fn jitter(i: u32) -> f64 {
        f64::from(i * 7 % 10) / 10.0
    }

    #[test]
    fn a_change_has_its_commit_and_its_size() {
        let of = observations((0..40).map(|i| if i < 25 { 100.0 } else { 105.0 } + jitter(i)));
        let slower = document([(key("ns"), of.as_slice())], 0);
        let series = &slower.series[0];
        assert_eq!((series.count, series.segments.len()), (40, 2));
        let change = &series.changes[0];
        assert_eq!(change.point, 25);
        assert_eq!(change.commit.as_deref(), Some(&*format!("{:040x}", 25)));
        assert_eq!(
            change.commit_before.as_deref(),
            Some(&*format!("{:040x}", 24))
        );
        assert_eq!(change.time, "1970-01-01T00:25:00Z");
        assert_eq!(change.is_worse, Some(true));
        let ratio = change.ratio.unwrap();
        assert!((ratio - 1.05).abs() < 0.003, "{ratio}");
        assert!(change.ratio_low.unwrap() < ratio && ratio < change.ratio_high.unwrap());
        let rate = document([(key("B/s"), of.as_slice())], 0);
        assert_eq!(rate.series[0].changes[0].is_worse, Some(false));
        let share = document([(key("fraction"), of.as_slice())], 0);
        assert_eq!(share.series[0].changes[0].is_worse, None);
    }

    #[test]
    fn a_series_without_points_is_none() {
        assert!(document([(key("ns"), [].as_slice())], 3).series.is_empty());
        let one = observations([1.0].into_iter());
        let found = document([(key("ns"), one.as_slice())], 0);
        assert!(found.series[0].changes.is_empty());
        assert!(found.series[0].least_points > 1);
    }
}
