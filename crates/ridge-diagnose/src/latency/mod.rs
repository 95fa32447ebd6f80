//! The latency model: how much is in flight, how much has to be, and what is missing.
//!
//! Little's law ties throughput `X`, latency `L` and what is in flight `N` together: `N = X · L`. Counters give `X`, and
//! the cycles that warps spend waiting for loads. What follows from them, and what does not, is in
//! `docs/design/latency.md`.

mod levels;
mod loads;
#[cfg(test)]
mod testing;
mod verdict;
mod waiting;

pub(crate) use verdict::QUEUED;

use ncu_rep::Metrics;
use ridge_model::latency::Latencies;

use crate::document::Latency;
use crate::ledger::Ledger;
use crate::mix::InstructionMix;
use crate::stalls::Stall;

/// What the model is computed from.
pub(crate) struct Inputs<'i, 'r> {
    pub(crate) metrics: &'i Metrics<'r>,
    pub(crate) ledger: &'i Ledger,
    pub(crate) stalls: &'i [Stall],
    pub(crate) mix: Option<&'i InstructionMix>,
    pub(crate) latencies: Option<Latencies>,
    /// How busy the busiest unit is.
    pub(crate) busiest: f64,
    /// The part of the duration for which no SM had a warp.
    pub(crate) idle: f64,
    /// The average SM's active cycles over the busiest one's.
    pub(crate) balance: Option<f64>,
}

impl Inputs<'_, '_> {
    /// A counter that makes sense: finite and not negative.
    fn number(&self, name: &str) -> Option<f64> {
        self.metrics
            .number(name)
            .filter(|number| number.is_finite() && *number >= 0.0)
    }

    fn positive(&self, name: &str) -> Option<f64> {
        self.number(name).filter(|number| *number > 0.0)
    }
}

/// Computes the model; absent when nothing of it can be computed.
pub(crate) fn latency(inputs: &Inputs<'_, '_>) -> Option<Latency> {
    let loads = loads::loads(inputs);
    let warps = waiting::warps(inputs);
    let waiting = waiting::waiting(inputs.stalls);
    let levels = levels::levels(inputs, loads.as_ref());
    let verdict = verdict::verdict(inputs, loads.as_ref(), warps.as_ref(), waiting.as_ref());
    let is_empty = levels.is_empty() && loads.is_none() && warps.is_none() && waiting.is_none();
    (!is_empty).then_some(Latency {
        levels,
        loads,
        warps,
        waiting,
        verdict,
    })
}
