//! Durations to a few figures, by the project's one definition of a quantile.

use ridge_stats::Samples;

use crate::document::Distribution;

/// None of no durations.
pub(crate) fn of(durations_ns: impl IntoIterator<Item = i64>) -> Option<Distribution> {
    let values: Vec<f64> = durations_ns.into_iter().map(to_f64).collect();
    let sum_ns = values.iter().sum();
    let samples = Samples::new(values).ok()?;
    let sorted = samples.sorted();
    Some(Distribution {
        count: samples.len() as u64,
        sum_ns,
        min_ns: *sorted.first()?,
        p10_ns: samples.quantile(0.1)?,
        median_ns: samples.median(),
        p90_ns: samples.quantile(0.9)?,
        max_ns: *sorted.last()?,
    })
}

/// Durations within a trace are far below 2^53 ns, which is a hundred days.
#[expect(
    clippy::cast_precision_loss,
    reason = "a duration has fewer digits than a float"
)]
pub(crate) fn to_f64(ns: i64) -> f64 {
    ns as f64
}
