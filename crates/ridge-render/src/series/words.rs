//! What is said about series and their changes in words, the same in every format.

use ridge_history::changes::document::{ChangeRow, DriftRow, SegmentRow, SeriesRow};
use ridge_model::quantity::{Amount, Unit, counted};

/// Digits of a commit that people are shown.
const SHORT_COMMIT: usize = 10;

/// A value with its unit.
pub(super) fn value(value: f64, unit: &str) -> String {
    amount(value, unit).to_string()
}

/// A value of an axis, with the figures that tell it from the next one.
pub(super) fn tick(value: f64, step: f64, unit: &str) -> String {
    // Powers of ten have logarithms that are hardly below a whole number.
    let magnitude = |value: f64| (value.abs().log10() + 1e-9).floor();
    let figures = magnitude(value) - magnitude(step);
    let figures = if figures.is_finite() {
        (figures + 1.0).clamp(3.0, 9.0) as usize
    } else {
        3
    };
    format!("{:.figures$}", amount(value, unit))
}

fn amount(value: f64, unit: &str) -> Amount {
    match unit {
        "fraction" => Amount::new(100.0 * value, Unit::PERCENT),
        "bytes" => Amount::new(value, Unit::BYTES),
        "B/s" => Amount::new(value, Unit::BYTES_PER_SECOND),
        _ => Amount::new(value, Unit::new(unit.to_owned())),
    }
}

/// The first digits of a commit, or that there is none.
pub(super) fn commit(commit: Option<&str>) -> String {
    commit.map_or_else(
        || "no commit".to_owned(),
        |commit| commit.chars().take(SHORT_COMMIT).collect(),
    )
}

/// The day of a time.
pub(super) fn day(time: &str) -> &str {
    time.split('T').next().unwrap_or(time)
}

/// A change of a value as a share with its sign.
pub(super) fn signed_percent(ratio: f64) -> String {
    let percent = 100.0 * (ratio - 1.0);
    let size = percent.abs();
    let digits = match size {
        _ if size >= 99.95 => 0,
        _ if size >= 9.995 => 1,
        _ => 2,
    };
    let sign = if percent < 0.0 { '-' } else { '+' };
    format!("{sign}{size:.digits$} %")
}

fn signed(difference: f64, unit: &str) -> String {
    let sign = if difference < 0.0 { '-' } else { '+' };
    format!("{sign}{}", value(difference.abs(), unit))
}

/// The size of a change, the shortest way.
pub(super) fn size(change: &ChangeRow, unit: &str) -> String {
    change
        .ratio
        .map_or_else(|| signed(change.difference, unit), signed_percent)
}

/// From where to where the size of a change is at 95 %.
pub(super) fn interval(low: Option<f64>, high: Option<f64>) -> String {
    low.zip(high).map_or_else(String::new, |(low, high)| {
        format!("{} to {}", signed_percent(low), signed_percent(high))
    })
}

/// What a change means, for the units of which that is known.
pub(super) fn judgement(is_worse: Option<bool>, difference: f64) -> &'static str {
    match is_worse {
        Some(true) => "worse",
        Some(false) => "better",
        None if difference > 0.0 => "more",
        None => "less",
    }
}

/// A confidence is never shown as certain.
pub(super) fn confidence(share: f64) -> String {
    if share >= 0.9999 {
        return ">99.99 %".to_owned();
    }
    // Rounded down: what is said is so.
    format!("{:.2} %", (1e4 * share).floor() / 100.0)
}

/// The commits that a change lies between.
pub(super) fn place(change: &ChangeRow) -> String {
    let after = commit(change.commit.as_deref());
    if change.commit.is_some() && change.commit == change.commit_before {
        return format!("within {after}");
    }
    if change.earliest == change.latest {
        return after;
    }
    let (first, last) = (
        commit(change.commit_earliest.as_deref()),
        commit(change.commit_latest.as_deref()),
    );
    if first == last {
        after
    } else {
        format!("{after} ({first} to {last})")
    }
}

/// A change in a sentence.
pub(super) fn sentence(change: &ChangeRow, unit: &str) -> String {
    let within = interval(change.ratio_low, change.ratio_high);
    let within = if within.is_empty() {
        within
    } else {
        format!(" ({within})")
    };
    format!(
        "{}: {}{within}, {}, {} to {}, confidence {}",
        place(change),
        size(change, unit),
        judgement(change.is_worse, change.difference),
        value(change.level_before, unit),
        value(change.level, unit),
        confidence(change.confidence)
    )
}

/// A drift in a sentence.
pub(super) fn drift(series: &SeriesRow, segment: &SegmentRow, drift: &DriftRow) -> String {
    let of = |at: usize| {
        let point = series.points.as_ref()?.get(at)?;
        Some(commit(point.commit.as_deref()))
    };
    let between = of(segment.first)
        .zip(of(segment.last))
        .map_or_else(String::new, |(first, last)| {
            format!(" from {first} to {last}")
        });
    let size = drift
        .ratio
        .map_or_else(|| signed(drift.difference, &series.unit), signed_percent);
    let within = interval(drift.ratio_low, drift.ratio_high);
    let within = if within.is_empty() {
        within
    } else {
        format!(" ({within})")
    };
    format!("drift{between}: {size}{within}; no single commit stands out")
}

/// What a series is about, on one line.
pub(super) fn title(series: &SeriesRow) -> String {
    let gpu = series.gpu.as_deref().unwrap_or("no GPU named");
    format!("{}, {}, {gpu}", series.subject, series.metric)
}

/// How many results there are, and whether that is enough.
pub(super) fn extent(series: &SeriesRow) -> String {
    let points = series.points.as_deref().unwrap_or_default();
    let mut text = counted(series.count as u64, "result");
    let mut commits = 0_u64;
    let mut before = None;
    for point in points {
        if point.commit.is_some() && point.commit != before {
            commits += 1;
        }
        before.clone_from(&point.commit);
    }
    if commits > 0 {
        text.push_str(" of ");
        text.push_str(&counted(commits, "commit"));
    }
    if let (Some(first), Some(last)) = (points.first(), points.last()) {
        let (first, last) = (day(&first.time), day(&last.time));
        text.push_str(", ");
        text.push_str(first);
        if first != last {
            text.push_str(" to ");
            text.push_str(last);
        }
    }
    text
}

/// What is said where nothing was found.
pub(super) fn nothing(series: &SeriesRow) -> String {
    if series.count < series.least_points {
        format!(
            "too few results to find a change: at least {} are needed",
            series.least_points
        )
    } else {
        "no change found".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_sign_and_figures() {
        assert_eq!(signed_percent(1.05), "+5.00 %");
        assert_eq!(signed_percent(0.875), "-12.5 %");
        assert_eq!(signed_percent(3.0), "+200 %");
        assert_eq!(value(29_888.0, "ns"), "29.9 us");
        assert_eq!(value(0.875, "fraction"), "87.5 %");
        assert_eq!(value(40.0, "registers"), "40 registers");
        assert_eq!(tick(2.005e12, 5e9, "B/s"), "2.005 TB/s");
    }

    #[test]
    fn nothing_is_certain() {
        assert_eq!(confidence(1.0), ">99.99 %");
        assert_eq!(confidence(0.99499), "99.49 %");
    }
}
