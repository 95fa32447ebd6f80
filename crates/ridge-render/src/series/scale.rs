//! Which values a picture of a series spans.

use ridge_history::changes::document::SeriesRow;

use super::words;

/// Points that are further from their level than so many times the usual distance lie beyond the edge: one run that took a
/// hundred times as long would press all others into a line.
const FAR: f64 = 12.0;
/// What is left above and below, as a share of the span.
const EDGE: f64 = 0.08;
/// The least span, as a share of the values: less looks like a change where there is none.
const LEAST: f64 = 0.01;

/// The lowest and the highest value that are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Scale {
    pub(super) fn of(series: &SeriesRow) -> Self {
        let points = series.points.as_deref().unwrap_or_default();
        let mut distances = Vec::with_capacity(points.len());
        for segment in &series.segments {
            let of_segment = points.get(segment.first..=segment.last).unwrap_or_default();
            distances.extend(
                of_segment
                    .iter()
                    .map(|point| (point.value - segment.level).abs()),
            );
        }
        let middle = distances.len() / 2;
        let usual = if distances.is_empty() {
            0.0
        } else {
            *distances.select_nth_unstable_by(middle, f64::total_cmp).1
        };
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for segment in &series.segments {
            low = low.min(segment.level);
            high = high.max(segment.level);
            for point in points.get(segment.first..=segment.last).unwrap_or_default() {
                // Without any usual distance all points are drawn.
                if usual <= 0.0 || (point.value - segment.level).abs() <= FAR * usual {
                    low = low.min(point.value);
                    high = high.max(point.value);
                }
            }
        }
        if !(low.is_finite() && high.is_finite()) {
            return Self {
                low: 0.0,
                high: 1.0,
            };
        }
        let least = LEAST * low.abs().max(high.abs());
        let least = if least > 0.0 { least } else { 1.0 };
        // Halves first, so that huge values do not overflow.
        let half = (high / 2.0 - low / 2.0) * (1.0 + 2.0 * EDGE);
        let half = half.max(least / 2.0);
        let centre = high / 2.0 + low / 2.0;
        Self {
            low: centre - half,
            high: centre + half,
        }
    }

    /// The place of a value, 0 at the bottom and 1 at the top; outside for what lies beyond.
    pub(super) fn place(self, value: f64) -> f64 {
        (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
    }

    /// Round values within, about so many, in words.
    pub(super) fn ticks(self, wanted: f64, unit: &str) -> Vec<(f64, String)> {
        let (values, step) = self.round_values(wanted);
        let label = |value: f64| (value, words::tick(value, step, unit));
        values.into_iter().map(label).collect()
    }

    fn round_values(self, wanted: f64) -> (Vec<f64>, f64) {
        let least = (self.high - self.low) / wanted;
        if !(least.is_finite() && least > 0.0) {
            return (Vec::new(), 1.0);
        }
        let power = 10_f64.powf(least.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|factor| factor * power)
            .find(|step| *step >= least)
            .unwrap_or(least);
        let first = (self.low / step).ceil();
        let values = (0..=(2.0 * wanted) as u32)
            .map(|at| (first + f64::from(at)) * step)
            .take_while(|value| *value <= self.high)
            .collect();
        (values, step)
    }
}

/// The place of a point among `count`, 0 to 1; in the middle where it is alone.
pub(super) fn along(at: usize, count: usize) -> f64 {
    if count < 2 {
        0.5
    } else {
        at as f64 / (count - 1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        let scale = Scale {
            low: 29_850.0,
            high: 31_450.0,
        };
        let expected = [30_000.0, 30_500.0, 31_000.0];
        for (found, expected) in scale.round_values(4.0).0.into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6);
        }
        assert_eq!(scale.round_values(4.0).0.len(), 3);
        assert!((scale.place(30_650.0) - 0.5).abs() < 1e-12);
        let huge = Scale {
            low: -f64::MAX,
            high: f64::MAX,
        };
        assert!(huge.ticks(4.0, "ns").is_empty() && (huge.place(0.0) - 0.5).abs() < 1e-12);
    }
}
