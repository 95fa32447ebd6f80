//! What a remedy can save: the ledger with the flaw against the ledger without it.

use crate::attainable::attainable;
use crate::ledger::{Ledger, Relief, Resource};

/// Bound, estimate and what binds afterwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Saving {
    pub(crate) ceiling: f64,
    pub(crate) expected: f64,
    pub(crate) next_limit: Option<Resource>,
}

/// Of the time in which no unit was busy, the part that goes away with a relieved bottleneck: some of it was queueing
/// behind the saturated unit and vanishes in proportion to the relief, the rest is latency, tail and imbalance and
/// stays. Nothing stored separates the two, so half is taken.
const QUEUEING: f64 = 0.5;

/// Compares the ledger with itself after a remedy.
///
/// `at_most` is the most that the complete remedy can relieve: no duration can fall below the busiest stage that
/// remains, so `1 − that` is a ceiling. `likely` is what it does as a rule; the expectation also respects what is
/// attainable on the next stage and keeps the waiting that the flaw does not explain.
///
/// Absent when the ledger is empty.
pub(crate) fn saving(ledger: &Ledger, at_most: &Relief, likely: &Relief) -> Option<Saving> {
    let today = ledger.busiest()?.busy_share.min(1.0);
    let (_, floor) = ledger.bound_after(at_most)?;
    let ceiling = (1.0 - floor).clamp(0.0, 1.0);
    let (next, busy) = ledger.bound_after(likely)?;
    let relieved = if today > 0.0 {
        (1.0 - busy / today).max(0.0)
    } else {
        0.0
    };
    let waiting = (1.0 - today) * (1.0 - QUEUEING * relieved);
    let duration = (busy + waiting).max(busy / attainable(next).share).min(1.0);
    let expected = (1.0 - duration).clamp(0.0, ceiling);
    Some(Saving {
        ceiling,
        expected,
        next_limit: Some(next.resource()),
    })
}
