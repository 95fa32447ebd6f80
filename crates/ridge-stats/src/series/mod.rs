//! Changes of the level in a series of results over time.

mod clean;
mod drift;
mod fit;
mod rank;
mod scan;
mod tail;

use crate::compare::Effect;
use crate::error::{Error, check_setting};
use crate::interval::Interval;
use crate::quantile::median_of;
use fit::{Piece, Step};

/// One result of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The value, which stands for many samples.
    pub value: f64,
    /// Where the value is, as far as its own samples tell, at 95 %.
    pub interval: Option<Interval>,
}

/// What a search for changes asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeRules {
    /// The share of series without any change in which one may be found. Above 0, at most 0.1; 0.01 by default.
    pub false_alarms: f64,
}

impl Default for ChangeRules {
    fn default() -> Self {
        Self { false_alarms: 0.01 }
    }
}

/// The level moves slowly over a segment, so that no single point can be named.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// The fitted value at the end less that at the start.
    pub difference: f64,
    /// The same as a ratio, end over start. Absent unless all values of the series are above zero.
    pub ratio: Option<Effect>,
}

/// Points between two changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Its first point, from 0.
    pub start: usize,
    /// The first point behind it.
    pub end: usize,
    /// The median of its values.
    pub level: f64,
    /// Whether the level moves within it.
    pub drift: Option<Drift>,
}

/// A step from one level to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The first point of the new level, from 0: the change lies between this point and the one before it.
    pub at: usize,
    /// The earliest point that may be the first of the new level, at 95 %.
    pub earliest: usize,
    /// The latest such point.
    pub latest: usize,
    /// By how much the values rise.
    pub difference: f64,
    /// The new level over the old one. Absent unless all values of the series are above zero.
    pub ratio: Option<Effect>,
    /// One less the probability that chance makes a change like this anywhere in the series.
    pub confidence: f64,
}

/// What a series comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Changes {
    /// The segments in order; together they are the series.
    pub segments: Vec<Segment>,
    /// The changes between them, one less than segments.
    pub changes: Vec<Change>,
    /// The smallest number of points in which a change could have been found, however large it is. With fewer points than
    /// that nothing was looked for.
    pub least_points: usize,
}

/// The part of the false alarms that all steps together may have by the formulas, and that drifts may have. The rest is for what
/// the formulas do not know of few points that depend on each other.
const OF_STEPS: f64 = 0.8;
const OF_DRIFTS: f64 = 0.2;
/// Places in a piece that count as tests of their own; neighbours are almost the same test.
const PLACES: f64 = 4.0;
/// Ranks are looked at for what heavy tails do. Long series need no smaller probability than this for that, and short levels in
/// them would never be found.
const LEAST_OF_RANKS: f64 = 2e-5;
/// The robust fit finds a step at most by this factor clearer than least squares do.
const SCREEN: f64 = 1.25;
/// 95 % of a normal distribution lie within.
const Z95: f64 = 1.959_964;
/// A place is possible as long as it explains less by no more than this many variances of a point.
const PLACE_LOSS: f64 = 7.0;

/// Finds the steps and drifts in a series of results in the order of time.
///
/// A step is found when it stands out of a slope through the same points, explains more than a cubic curve does, and both sides
/// differ in rank: neither a slow movement nor a spike is one, and noise may have any distribution, vary and depend on its
/// neighbours. Fewer than five points after a step are never enough. Ratios are those of values, differences are in their unit;
/// the test works on logarithms where all values are above zero. `docs/design/change-points.md` tells how, and how often it is
/// wrong. O(n log² n).
///
/// # Errors
///
/// [`Error::Empty`], [`Error::NotFinite`] with the place of the first such value, [`Error::Setting`].
pub fn find_changes(points: &[Point], rules: &ChangeRules) -> Result<Changes, Error> {
    check_setting(
        "false_alarms",
        rules.false_alarms,
        |share| share > 0.0 && share <= 0.1,
        "above 0 and at most 0.1",
    )?;
    if points.is_empty() {
        return Err(Error::Empty);
    }
    for (index, point) in points.iter().enumerate() {
        if !point.value.is_finite() {
            return Err(Error::NotFinite {
                index,
                value: point.value,
            });
        }
    }
    let is_ratio = points.iter().all(|point| point.value > 0.0);
    // Squares of huge or tiny differences would leave the range of numbers.
    let unit = points
        .iter()
        .fold(0.0_f64, |most, point| most.max(point.value.abs()));
    let unit = if is_ratio || unit == 0.0 { 1.0 } else { unit };
    let scale = |value: f64| {
        if is_ratio { value.ln() } else { value / unit }
    };
    let x: Vec<f64> = points.iter().map(|point| scale(point.value)).collect();
    let step_of_values = step_of_values(&x);
    let least: Vec<f64> = points
        .iter()
        .map(|point| {
            let own = point.interval.map_or(0.0, |interval| {
                let width = scale(interval.upper) - scale(interval.lower);
                if width.is_finite() {
                    width / 2.0 / Z95
                } else {
                    0.0
                }
            });
            own.max(step_of_values / SCATTER_IN_STEP).powi(2)
        })
        .collect();
    let cleaned = clean::without_spikes(&x, step_of_values);
    let dependence = clean::dependence(&x);
    let series = Piece {
        x: &x,
        cleaned: &cleaned,
        least: &least,
        dependence,
    };
    let values = if is_ratio {
        Values::Ratios
    } else {
        Values::Differences { unit }
    };
    let search = Search::new(series, rules);
    let mut places = search.narrowest_first();
    search.between(&mut places);
    let places = search.settle(places);
    Ok(search.describe(points, &places, values))
}

/// What the numbers that are searched are of the values.
#[derive(Clone, Copy)]
enum Values {
    /// Their logarithms.
    Ratios,
    /// Themselves in this unit.
    Differences { unit: f64 },
}

/// Values that are always the same scatter with less than this part of a step: at a fourth of it one in twenty would leave it.
const SCATTER_IN_STEP: f64 = 6.0;

/// A timer's step is no larger part of a time than this; values that lie further apart are what they are, such as registers.
const COARSEST: f64 = 0.01;

/// The smallest distance of values that occur, as the step of a timer or counter.
fn step_of_values(x: &[f64]) -> f64 {
    let mut sorted = x.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let smallest = sorted
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .filter(|gap| *gap > 0.0)
        .fold(f64::INFINITY, f64::min);
    if smallest.is_finite() {
        smallest.min(COARSEST)
    } else {
        0.0
    }
}

/// Where a step is, and how many points at the ends of what lies between its neighbours are left out to see it.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: usize,
    head: usize,
    tail: usize,
}

struct Search<'a> {
    series: Piece<'a>,
    /// Pieces of the same length together, the longest first.
    layers: Vec<Vec<(usize, usize)>>,
    /// The largest probability of a step that is one.
    limit: f64,
    /// By how many tests probabilities are multiplied.
    tests: f64,
    least_points: usize,
    drift_share: f64,
}

impl<'a> Search<'a> {
    fn new(series: Piece<'a>, rules: &ChangeRules) -> Self {
        let n = series.x.len();
        // What cannot be significant even if no value is out of order is not looked at, and does not count as a test.
        let mut layers = scan::layers(n, 2 * scan::LEAST_SIDE);
        let (limit, tests) = loop {
            let tests = PLACES * (layers.iter().map(Vec::len).sum::<usize>() as f64).max(1.0);
            let limit = OF_STEPS * rules.false_alarms / tests;
            let last = layers.last().map(|layer| layer[0].1);
            if last.is_none_or(|length| can_be_found(length, limit_of_ranks(limit))) {
                break (limit, tests);
            }
            layers.pop();
        };
        let least_points = (2 * scan::LEAST_SIDE..)
            .find(|n| can_be_found(*n, OF_STEPS * rules.false_alarms / PLACES))
            .unwrap_or(usize::MAX);
        Self {
            series,
            layers,
            limit,
            tests,
            least_points,
            drift_share: OF_DRIFTS * rules.false_alarms,
        }
    }

    /// The step in a piece, if it is one.
    fn test(&self, start: usize, end: usize) -> Option<(usize, f64)> {
        let piece = self.series.part(start, end);
        let best = scan::best(piece.cleaned)?;
        // Least squares are cheap and not far off.
        let screen = tail::z_of_t(
            best.t / piece.dependence.of_sums.sqrt(),
            piece.x.len() as f64,
        );
        if tail::two_sided(SCREEN * screen) > self.limit {
            return None;
        }
        let step = fit::step(piece, best.at, true);
        let p = fit::p_of_height(&step);
        let is_step = p <= self.limit
            && best.gain > scan::gain_of_curve(piece.cleaned)
            && fit::p_of_ranks(piece, best.at, &step) <= limit_of_ranks(self.limit);
        is_step.then_some((start + best.at, p))
    }

    /// The narrowest pieces with a step hold one only (Baranowski, Chen and Fryzlewicz, "Narrowest-over-threshold detection",
    /// Journal of the Royal Statistical Society B 81, 2019).
    fn narrowest_first(&self) -> Vec<usize> {
        let mut places = std::collections::BTreeSet::new();
        for layer in self.layers.iter().rev() {
            let mut found: Vec<(usize, usize, usize, f64)> = layer
                .iter()
                .filter(|(start, end)| places.range(start + 1..*end).next().is_none())
                .filter_map(|(start, end)| {
                    self.test(*start, *end).map(|(at, p)| (*start, *end, at, p))
                })
                .collect();
            found.sort_by(|a, b| a.3.total_cmp(&b.3));
            for (start, end, at, _) in found {
                if places.range(start + 1..end).next().is_none() {
                    places.insert(at);
                }
            }
        }
        places.into_iter().collect()
    }

    /// Looks once more at what lies between the places, since pieces were laid without knowing them.
    fn between(&self, places: &mut Vec<usize>) {
        let n = self.series.x.len();
        let mut edges = vec![0];
        edges.extend_from_slice(places);
        edges.push(n);
        for pair in edges.windows(2) {
            if let Some((at, _)) = self.test(pair[0], pair[1]) {
                places.push(at);
            }
        }
        places.sort_unstable();
        places.dedup();
    }

    /// Moves each place to where it fits best between its neighbours, and drops those that are no step any more. Then spikes
    /// next to a place are looked at once more: without them a point may have gone to the wrong side.
    fn settle(&self, mut places: Vec<usize>) -> Vec<Place> {
        let n = self.series.x.len();
        let mut settled = Vec::new();
        for _ in 0..2 {
            settled.clear();
            let mut at = 0;
            while at < places.len() {
                let start = if at == 0 { 0 } else { places[at - 1] };
                let end = places.get(at + 1).copied().unwrap_or(n);
                match self.confirm(start, end) {
                    Some(place) => {
                        places[at] = place.at;
                        settled.push(place);
                        at += 1;
                    }
                    None => {
                        places.remove(at);
                    }
                }
            }
        }
        for at in 0..settled.len() {
            let start = if at == 0 { 0 } else { settled[at - 1].at };
            let end = settled.get(at + 1).map_or(n, |next| next.at);
            settled[at].at = start + nearest(&self.series.x[start..end], settled[at].at - start);
        }
        settled
    }

    /// The step between two neighbours. A few points at an end that are of another level, and too few for one of their own, bend
    /// the slope and the curve that a step is held against: without them it is looked at once more.
    fn confirm(&self, start: usize, end: usize) -> Option<Place> {
        const SHORT: usize = scan::LEAST_SIDE - 1;
        [(0, 0), (SHORT, 0), (0, SHORT), (SHORT, SHORT)]
            .into_iter()
            .filter(|(head, tail)| end - start >= 2 * scan::LEAST_SIDE + head + tail)
            .find_map(|(head, tail)| {
                let (at, _) = self.test(start + head, end - tail)?;
                Some(Place { at, head, tail })
            })
    }

    fn describe(&self, points: &[Point], places: &[Place], values: Values) -> Changes {
        let n = points.len();
        let mut edges = vec![0];
        edges.extend(places.iter().map(|place| place.at));
        edges.push(n);
        let segments: Vec<Segment> = edges
            .windows(2)
            .map(|pair| {
                let (start, end) = (pair[0], pair[1]);
                let mut in_segment: Vec<f64> =
                    points[start..end].iter().map(|point| point.value).collect();
                let level = median_of(&mut in_segment);
                let limit = self.drift_share / (edges.len() - 1) as f64;
                let drift = drift::find(self.series.part(start, end), limit)
                    .map(|found| found.describe(values));
                Segment {
                    start,
                    end,
                    level,
                    drift,
                }
            })
            .collect();
        let changes = segments
            .windows(2)
            .zip(places)
            .map(|(pair, place)| self.change(&pair[0], &pair[1], *place, values))
            .collect();
        Changes {
            segments,
            changes,
            least_points: self.least_points,
        }
    }

    fn change(&self, before: &Segment, after: &Segment, place: Place, values: Values) -> Change {
        // Neighbours move by a few points after a place is settled: what is left out leaves enough.
        let head = place
            .head
            .min((after.start - before.start).saturating_sub(scan::LEAST_SIDE));
        let tail = place
            .tail
            .min((after.end - after.start).saturating_sub(scan::LEAST_SIDE));
        let start = before.start + head;
        let piece = self.series.part(start, after.end - tail);
        let at = after.start - start;
        let with_slope = fit::step(piece, at, true);
        let p = fit::p_of_height(&with_slope);
        let moves = before.drift.is_some() || after.drift.is_some();
        let step = if moves {
            with_slope
        } else {
            fit::step(piece, at, false)
        };
        let (difference, ratio) = match values {
            Values::Ratios => (before.level * step.height.exp_m1(), Some(effect(&step))),
            Values::Differences { unit } => (step.height * unit, None),
        };
        let (earliest, latest) = possible(piece, at, &step);
        Change {
            at: after.start,
            earliest: start + earliest,
            latest: start + latest,
            difference,
            ratio,
            confidence: (1.0 - p * self.tests / OF_STEPS).max(0.0),
        }
    }
}

/// The place near one at which points are nearest to the medians of their sides.
fn nearest(x: &[f64], at: usize) -> usize {
    let before = median_of(&mut x[..at].to_vec());
    let after = median_of(&mut x[at..].to_vec());
    let first = at.saturating_sub(clean::REACH).max(scan::LEAST_SIDE);
    let last = (at + clean::REACH).min(x.len() - scan::LEAST_SIDE);
    // What is saved when the points from `first` on to a place are of the old level.
    let (mut best, mut saved, mut most) = (at, 0.0, f64::NEG_INFINITY);
    for place in first..=last {
        // The place that was found stays where others are as good.
        if saved > most || (place == at && saved >= most) {
            (best, most) = (place, saved);
        }
        if let Some(value) = x.get(place) {
            let (to_before, to_after) = ((value - before).abs(), (value - after).abs());
            // A spike is of neither level.
            if to_before.min(to_after) <= (after - before).abs() {
                saved += to_after - to_before;
            }
        }
    }
    best
}

/// The ratio of a step between logarithms.
fn effect(step: &Step) -> Effect {
    let half = step.half_width(Z95);
    Effect::from_log(
        step.height,
        Some(Interval {
            lower: step.height - half,
            upper: step.height + half,
        }),
    )
}

/// The places around the best one that explain almost as much.
fn possible(piece: Piece<'_>, at: usize, step: &Step) -> (usize, usize) {
    let (gains, _) = scan::gains(piece.cleaned);
    let allowed = PLACE_LOSS * step.variance * piece.dependence.of_sums;
    let is_possible = |place: &usize| gains[at] - gains[*place] <= allowed;
    let inside = scan::LEAST_SIDE..=piece.x.len() - scan::LEAST_SIDE;
    let earliest = (*inside.start()..=at)
        .rev()
        .take_while(is_possible)
        .last()
        .unwrap_or(at);
    let latest = (at..=*inside.end())
        .take_while(is_possible)
        .last()
        .unwrap_or(at);
    (earliest, latest)
}

/// What the probability of the ranks has to be at most.
fn limit_of_ranks(limit: f64) -> f64 {
    limit.max(LEAST_OF_RANKS)
}

/// Whether a piece so long has a place at which a step can be significant.
fn can_be_found(length: usize, limit: f64) -> bool {
    let left = length / 2;
    // Both sides without a pair out of order.
    let orders = (1..=left).fold(1.0, |product, i| {
        product * i as f64 / (length - left + i) as f64
    });
    2.0 * orders <= limit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = f64>) -> Changes {
        let points: Vec<Point> = values
            .into_iter()
            .map(|value| Point {
                value,
                interval: None,
            })
            .collect();
        find_changes(&points, &ChangeRules::default()).unwrap()
    }

    /// 0 to 0.9 in an order without a rhythm.
    fn jitter(i: u32) -> f64 {
        f64::from(i * 7 % 10) / 10.0
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let found = of((0..60).map(|i| if i < 37 { 100.0 } else { 110.0 } + jitter(i)));
        assert_eq!(found.changes.len(), 1, "{found:?}");
        let change = found.changes[0];
        assert_eq!((change.earliest, change.at, change.latest), (37, 37, 37));
        let ratio = change.ratio.unwrap();
        assert!((ratio.ratio - 1.1).abs() < 0.003, "{ratio:?}");
        let interval = ratio.interval.unwrap();
        assert!(interval.lower < 1.1 && 1.1 < interval.upper, "{interval:?}");
        assert!((change.difference - 10.0).abs() < 0.3);
        assert!(change.confidence > 0.99);
        let segments = &found.segments;
        assert_eq!((segments[0].start, segments[0].end), (0, 37));
        assert_eq!((segments[1].start, segments[1].end), (37, 60));
        assert!((segments[0].level - 100.4).abs() < 0.11);
    }

    #[test]
    fn several_steps_are_found_and_spikes_are_not() {
        let level = |i: u32| match i {
            0..30 => 100.0,
            30..70 => 90.0,
            70..78 => 95.0,
            _ => 110.0,
        };
        let found = of((0..120).map(|i| {
            let spike = if i % 29 == 5 { 80.0 } else { 0.0 };
            level(i) + jitter(i) + spike
        }));
        let places: Vec<usize> = found.changes.iter().map(|change| change.at).collect();
        assert_eq!(places, [30, 70, 78], "{found:?}");
    }

    #[test]
    fn a_spike_beside_a_step_leaves_it_where_it_is() {
        for spike in 36..44 {
            let found = of((0..80).map(|i| {
                let level = if i < 40 { 100.0 } else { 110.0 };
                level + jitter(i) + if i == spike { 70.0 } else { 0.0 }
            }));
            let places: Vec<usize> = found.changes.iter().map(|change| change.at).collect();
            // A spike before the step is as near to the new level as to the old one.
            assert!(
                places == [40] || spike == 39 && places == [39],
                "{spike}: {found:?}"
            );
        }
    }

    /// The first results are of an older level, too few for one of their own: what comes behind is found nevertheless, and so is
    /// what comes before a few results of a new level.
    #[test]
    fn a_short_level_at_an_end_hides_no_step() {
        let level = |i: u32, short: u32, other: f64| match i {
            _ if i < short => other,
            _ if i < short + 30 => 100.0,
            _ => 110.0,
        };
        for other in [150.0, 105.0, 90.0, 110.0, 60.0] {
            for short in 1..5 {
                let values: Vec<f64> = (0..short + 60)
                    .map(|i| level(i, short, other) + jitter(i))
                    .collect();
                let found = of(values.iter().copied());
                let at = short as usize + 30;
                assert_eq!(found.changes.len(), 1, "{other} {short}: {found:?}");
                let change = found.changes[0];
                assert_eq!(change.at, at, "{other} {short}");
                let ratio = change.ratio.unwrap().ratio;
                assert!((ratio - 1.1).abs() < 0.005, "{other} {short}: {ratio}");
                assert!(change.confidence > 0.99, "{other} {short}: {change:?}");
                // The same from behind.
                let found = of(values.iter().rev().copied());
                let places: Vec<usize> = found.changes.iter().map(|change| change.at).collect();
                assert_eq!(places, [30], "{other} {short}");
            }
        }
    }

    #[test]
    fn a_slope_is_a_drift() {
        let found = of((0..80).map(|i| 100.0 + f64::from(i) / 8.0 + jitter(i)));
        assert!(found.changes.is_empty(), "{found:?}");
        let drift = found.segments[0].drift.unwrap();
        assert!((drift.difference - 79.0 / 8.0).abs() < 0.5, "{drift:?}");
        let ratio = drift.ratio.unwrap();
        assert!((ratio.ratio - 1.098).abs() < 0.006, "{ratio:?}");
    }

    #[test]
    fn values_without_noise_and_of_any_sign() {
        let exact = of((0..40).map(|i| if i < 20 { 100.0 } else { 101.0 }));
        assert_eq!(exact.changes.len(), 1);
        assert_eq!(exact.changes[0].at, 20);
        let from_zero = of((0..40).map(|i| if i < 20 { 0.0 } else { 128.0 }));
        assert_eq!(from_zero.changes[0].at, 20);
        assert_eq!(from_zero.changes[0].ratio, None);
        assert!((from_zero.changes[0].difference - 128.0).abs() < 1e-9);
        assert!(of([0.0; 50]).changes.is_empty());
        assert!(of([7.0; 50]).changes.is_empty());
        let huge = of((0..60).map(|i| if i < 30 { -1.0 } else { 1.0 } * f64::MAX / 4.0));
        assert_eq!(huge.changes[0].at, 30);
        assert!(huge.changes[0].difference.is_finite());
    }

    #[test]
    fn few_points_tell_nothing() {
        for n in 1..20 {
            let found = of((0..n).map(|i| if i < n / 2 { 100.0 } else { 200.0 } + jitter(i)));
            assert_eq!(found.segments.len(), found.changes.len() + 1);
            if n < found.least_points as u32 {
                assert!(found.changes.is_empty(), "{n}");
            }
        }
        assert_eq!(of([1.0]).least_points, 13);
    }

    #[test]
    fn intervals_of_points_are_a_floor_of_the_noise() {
        let with = |half: f64| {
            let points: Vec<Point> = (0..40)
                .map(|i| {
                    let value = if i < 20 { 100.0 } else { 101.0 } + jitter(i) / 10.0;
                    Point {
                        value,
                        interval: Some(Interval {
                            lower: value - half,
                            upper: value + half,
                        }),
                    }
                })
                .collect();
            find_changes(&points, &ChangeRules::default())
                .unwrap()
                .changes
        };
        assert_eq!(with(0.1).len(), 1);
        assert!(with(5.0).is_empty());
    }

    #[test]
    fn what_is_no_series_is_refused() {
        let point = |value| Point {
            value,
            interval: None,
        };
        let rules = ChangeRules::default();
        assert_eq!(find_changes(&[], &rules), Err(Error::Empty));
        let error = find_changes(&[point(1.0), point(f64::NAN)], &rules).unwrap_err();
        assert_eq!(error.code(), "STAT0002");
        for false_alarms in [0.0, 0.2, f64::NAN] {
            let rules = ChangeRules { false_alarms };
            assert_eq!(
                find_changes(&[point(1.0)], &rules).unwrap_err().code(),
                "STAT0008"
            );
        }
    }
}
