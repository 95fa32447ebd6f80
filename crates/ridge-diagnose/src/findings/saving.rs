//! What a remedy can save: the ledger with the flaw against the ledger without it.
//!
//! The duration has two parts: the time for which the busiest unit works, a share `ρ` of it, and waiting that nothing
//! hides. A remedy relieves units, and does something to the waiting.

use crate::attainable::attainable;
use crate::ledger::{Ledger, Relief, Resource};

/// What a remedy does.
#[derive(Clone, Debug)]
pub(crate) struct Remedy {
    /// The most that the complete remedy can relieve: no duration falls below the busiest unit that remains.
    pub(crate) at_most: Relief,
    /// What it relieves as a rule.
    pub(crate) likely: Relief,
    /// What becomes of the waiting.
    pub(crate) waiting: Waiting,
    /// A bound on the duration that no unit of the ledger shows, as a share of today's.
    pub(crate) not_below: f64,
    /// The same as an estimate: at least the bound.
    pub(crate) hardly_below: f64,
    /// How close to saturation the relieved unit is, where its share of the peak does not show it.
    pub(crate) saturation: f64,
}

/// What becomes of the waiting.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Waiting {
    /// Part of it was queueing behind the unit that is relieved.
    ///
    /// In a queue the time spent waiting for a server that is busy for a share `ρ` grows with `ρ / (1 − ρ)`: near
    /// saturation nearly all waiting is queueing, at low load nearly all is plain latency, which stays. `ρ²` is taken
    /// as the part that is queueing, and it shrinks as the unit is relieved.
    Queueing,
    /// So much of it goes, since it was waiting for what the remedy removes.
    Removed(f64),
    /// All of it is hidden behind other work: the remedy supplies enough of it.
    Hidden,
}

impl Remedy {
    /// The same relief as bound and as estimate, with queueing relieved.
    pub(crate) fn new(relief: Relief) -> Self {
        Self {
            at_most: relief.clone(),
            likely: relief,
            waiting: Waiting::Queueing,
            not_below: 0.0,
            hardly_below: 0.0,
            saturation: 0.0,
        }
    }

    /// A remedy that takes no work away and hides the waiting.
    pub(crate) fn hiding() -> Self {
        Self {
            waiting: Waiting::Hidden,
            ..Self::new(Relief::none())
        }
    }

    pub(crate) fn likely(mut self, relief: Relief) -> Self {
        self.likely = relief;
        self
    }

    pub(crate) fn waiting(mut self, waiting: Waiting) -> Self {
        self.waiting = waiting;
        self
    }

    pub(crate) fn not_below(mut self, share: f64) -> Self {
        self.not_below = share.clamp(0.0, 1.0);
        self.hardly_below(share)
    }

    pub(crate) fn saturated(mut self, load: f64) -> Self {
        self.saturation = load.clamp(0.0, 1.0);
        self
    }

    /// For a share of the duration nothing ran, and nothing of that goes away.
    pub(crate) fn beside_idle(mut self, share: f64) -> Self {
        self.not_below = self.not_below.max(share);
        self.hardly_below = self.hardly_below.max(share);
        self
    }

    pub(crate) fn hardly_below(mut self, share: f64) -> Self {
        self.hardly_below = share.clamp(self.not_below, 1.0);
        self
    }
}

/// Bound, estimate and what binds afterwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Saving {
    pub(crate) ceiling: f64,
    pub(crate) expected: f64,
    pub(crate) next_limit: Option<Resource>,
}

/// Compares the ledger with itself after a remedy. Absent when the ledger is empty.
pub(crate) fn saving(ledger: &Ledger, remedy: &Remedy) -> Option<Saving> {
    let busiest = ledger.busiest()?;
    let today = busiest.busy_share.min(1.0);
    let (_, floor) = ledger.bound_after(&remedy.at_most)?;
    let ceiling = (1.0 - floor.max(remedy.not_below)).clamp(0.0, 1.0);
    let (next, busy) = ledger.bound_after(&remedy.likely)?;
    let relieved = if today > 0.0 {
        (1.0 - busy / today).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let stays = match remedy.waiting {
        Waiting::Queueing => {
            let load = (busiest.busy_share / attainable(busiest.stage).share)
                .max(remedy.saturation)
                .min(1.0);
            1.0 - load * load * relieved
        }
        Waiting::Removed(part) => 1.0 - part.clamp(0.0, 1.0),
        Waiting::Hidden => 0.0,
    };
    let duration = (busy + (1.0 - today) * stays)
        .max(busy / attainable(next.stage).share)
        .max(remedy.hardly_below)
        .min(1.0);
    let expected = (1.0 - duration).clamp(0.0, ceiling);
    // Where the waiting that stays is longer than the work, waiting is the next limit.
    let waits = duration - busy;
    let next_limit = if waits > busy {
        Resource::Latency
    } else {
        next.resource
    };
    Some(Saving {
        ceiling,
        expected,
        next_limit: Some(next_limit),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_ledger_says_nothing() {
        assert_eq!(saving(&Ledger::default(), &Remedy::hiding()), None);
    }
    #[test]
    fn time_in_which_nothing_runs_stays() {
        let remedy = Remedy::hiding().beside_idle(0.9);
        assert_eq!((remedy.not_below, remedy.hardly_below), (0.9, 0.9));
        let bounded = Remedy::hiding().not_below(0.95).beside_idle(0.9);
        assert_eq!((bounded.not_below, bounded.hardly_below), (0.95, 0.95));
    }
}
