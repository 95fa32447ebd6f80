//! What is missing to hide latency.

use super::Inputs;
use crate::attainable::attainable;
use crate::document::{LatencyVerdict, Loads, Waiting, Warps};
use crate::limiter::BUSY;

/// The larger part of the waiting decides.
const MOSTLY: f64 = 0.5;
/// A server with constant service times that is busy for a share `ρ` keeps a request for `1 + ρ / (2 (1 − ρ))` of its
/// service time (Pollaczek-Khinchine). At the share from which a unit counts as the limit, that is 1.75: below it no
/// queue that the ledger shows makes an access longer than this.
pub(crate) const QUEUED: f64 = 1.0 + BUSY / (2.0 * (1.0 - BUSY));

pub(super) fn verdict(
    inputs: &Inputs<'_, '_>,
    loads: Option<&Loads>,
    warps: Option<&Warps>,
    waiting: Option<&Waiting>,
) -> Option<LatencyVerdict> {
    let (warps, waiting) = (warps?, waiting?);
    if inputs.busiest >= BUSY || warps.issuing.is_some_and(|share| share >= BUSY) {
        return Some(LatencyVerdict::Hidden);
    }
    let on_chip = waiting.on_chip + waiting.fixed;
    if waiting.memory + on_chip < MOSTLY {
        return Some(LatencyVerdict::OtherWaiting);
    }
    let factor = missing(inputs)?;
    if on_chip > waiting.memory {
        return Some(LatencyVerdict::DependentArithmetic { factor });
    }
    let loads = loads?;
    let unloaded = loads.unloaded_cycles?;
    // Without samples the latency is not known, but it is never less than what it exposes.
    let stretch = loads.cycles.unwrap_or(loads.exposed_cycles) / unloaded;
    if stretch > QUEUED {
        return Some(LatencyVerdict::AccessTooExpensive { factor: stretch });
    }
    loads.cycles?;
    Some(of_concurrency(factor, warps.missing_factor?))
}

/// By how much throughput has to grow until the busiest unit is at its attainable share, while an SM has work.
fn missing(inputs: &Inputs<'_, '_>) -> Option<f64> {
    let busiest = inputs.ledger.busiest()?;
    let works = 1.0 - inputs.idle;
    let factor = attainable(busiest.stage).share * works / busiest.busy_share;
    factor.is_finite().then_some(factor.max(1.0))
}

/// Divides what is missing into what the warps of a full device supply and what each warp has to; the larger names it.
fn of_concurrency(factor: f64, missing_warps: f64) -> LatencyVerdict {
    let by_warps = missing_warps.clamp(1.0, factor);
    let by_each_warp = factor / by_warps;
    if by_warps >= by_each_warp {
        LatencyVerdict::NotEnoughWarps {
            factor,
            by_warps,
            by_each_warp,
        }
    } else {
        LatencyVerdict::NotEnoughInFlight {
            factor,
            by_warps,
            by_each_warp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_at_sixty_per_cent_adds_three_quarters() {
        assert!((QUEUED - 1.75).abs() < 1e-12);
    }

    /// Twelve times as much is missing: full SMs have eight times the warps, and each warp one and a half times.
    #[test]
    fn what_is_missing_is_divided_between_warps_and_their_loads() {
        let found = of_concurrency(12.0, 8.0);
        assert_eq!(
            found,
            LatencyVerdict::NotEnoughWarps {
                factor: 12.0,
                by_warps: 8.0,
                by_each_warp: 1.5
            }
        );
        // With all warps there, all of it has to come from each of them.
        let found = of_concurrency(3.0, 1.0);
        assert_eq!(
            found,
            LatencyVerdict::NotEnoughInFlight {
                factor: 3.0,
                by_warps: 1.0,
                by_each_warp: 3.0
            }
        );
        // More warps than needed count no more than what is missing.
        let found = of_concurrency(2.0, 8.0);
        assert_eq!(
            found,
            LatencyVerdict::NotEnoughWarps {
                factor: 2.0,
                by_warps: 2.0,
                by_each_warp: 1.0
            }
        );
    }
}
