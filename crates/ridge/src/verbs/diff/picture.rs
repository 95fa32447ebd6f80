//! Both sides on one roofline, with the pairs of the comparison.

use std::collections::HashMap;

use ridge_compare::document::Document;
use ridge_model::roofline::document::{Document as Roofline, Pair, Side as RooflineSide};

use super::Side;
use crate::output::Output;
use crate::verbs::roofline::{Named, points_of};

/// The chart; absent where the inputs hold no points, or both sides are not on one device.
pub(super) fn roofline(
    before: &Side,
    after: &Side,
    document: &Document,
    output: &Output,
) -> Option<Roofline> {
    let kernels = document.kernels.as_ref()?;
    // Reports of a collection complete each other: the first has what a point needs.
    let named = |side: &Side, of: RooflineSide| {
        Some(Named {
            file: side.reports.first()?.clone(),
            side: Some(of),
        })
    };
    let files = [
        named(before, RooflineSide::Before)?,
        named(after, RooflineSide::After)?,
    ];
    let mut roofline = points_of(&files, output).ok()?;
    for chart in &mut roofline.charts {
        let places: HashMap<(bool, usize), (usize, Option<f64>)> = chart
            .kernels
            .iter()
            .filter_map(|kernel| {
                Some((
                    (kernel.side? == RooflineSide::Before, kernel.launch?),
                    (kernel.id, kernel.time_ns),
                ))
            })
            .collect();
        chart.pairs = kernels
            .pairs
            .iter()
            .filter_map(|pair| {
                let one = places.get(&(true, pair.before.launch))?;
                let other = places.get(&(false, pair.after.launch))?;
                Some(Pair {
                    before: one.0,
                    after: other.0,
                    speedup: one.1.zip(other.1).map(|(one, other)| one / other),
                })
            })
            .collect();
    }
    // Without a point there is nothing to see.
    let has_points = roofline
        .charts
        .iter()
        .flat_map(|chart| &chart.kernels)
        .any(|kernel| !kernel.points.is_empty());
    has_points.then_some(roofline)
}
