//! Warps of a scheduler, and what their waiting consists of.

use super::Inputs;
use crate::document::{Waiting, Warps};
use crate::stalls::{Stall, waiting_for};

pub(super) fn warps(inputs: &Inputs<'_, '_>) -> Option<Warps> {
    let resident = inputs.number("smsp__warps_active.avg.per_cycle_active")?;
    let eligible = inputs.number("smsp__warps_eligible.avg.per_cycle_active")?;
    let most = inputs.positive("smsp__warps_active.avg.peak_sustained");
    // SMs without a block count as empty ones: a full device fills them too.
    let held = resident * inputs.balance.unwrap_or(1.0);
    Some(Warps {
        resident,
        eligible,
        issuing: inputs.number("smsp__issue_active.avg.per_cycle_active"),
        theoretical: inputs.positive("smsp__maximum_warps_avg_per_active_cycle"),
        most,
        missing_factor: most
            .filter(|_| held > 0.0)
            .map(|most| (most / held).max(1.0)),
    })
}

/// Results of the SM itself: shared memory and special functions, and matrix operations.
const ON_CHIP: &[&str] = &["short_scoreboard", "gmma"];

pub(super) fn waiting(stalls: &[Stall]) -> Option<Waiting> {
    if stalls.is_empty() {
        return None;
    }
    let memory = waiting_for(stalls, &["long_scoreboard"]);
    let on_chip = waiting_for(stalls, ON_CHIP);
    let fixed = waiting_for(stalls, &["wait"]);
    Some(Waiting {
        memory,
        on_chip,
        fixed,
        other: (1.0 - memory - on_chip - fixed).max(0.0),
    })
}
