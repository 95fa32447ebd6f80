//! SMs or warps finish at very different times.
//!
//! # What it says
//! Some blocks have far more to do than others, and the device waits for the last one.
//!
//! # Evidence
//! Active cycles of the busiest SM against the average one, without a short last wave that would explain it.
//!
//! # Why it costs time
//! The duration is that of the busiest SM; the others wait for it.
//!
//! # What to do
//! Pair long work with short work, sort work by length and start with the longest, let blocks fetch work dynamically,
//! split long items.
//!
//! # When it is wrong
//! A grid with an unfavourable last wave shows the same counters: see `tail-effect`.
//!
//! # References
//! CUDA C++ Best Practices Guide; R. Farber, "Parallel Programming with OpenACC", load balancing.

use super::draft::Draft;
use super::tail_effect::balanced;
use super::{Case, Outcome, tail_effect};

pub(super) const ID: &str = "load-imbalance";

const NEEDS: &[&str] = &["WorkloadDistribution", "LaunchStats", "SpeedOfLight"];

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let (Some(balance), Some(active)) = (case.balance(), case.active()) else {
        return Outcome::NotChecked(NEEDS);
    };
    let blocks = case.number("launch__grid_size");
    // With fewer blocks than SMs the idle ones are no imbalance; a short last wave is the other finding.
    let is_filled = blocks
        .zip(case.multiprocessors())
        .is_none_or(|(blocks, units)| blocks >= units);
    let has_tail = matches!(tail_effect::check(case), Outcome::Found(_));
    if balance > super::BALANCED || !is_filled || has_tail {
        return Outcome::Clear;
    }
    let title = format!(
        "the average SM is active for {:.0} % of the busiest one's time",
        100.0 * balance
    );
    Draft::new(ID, title)
        .seen_against(
            "sm__cycles_active.avg / sm__cycles_active.max",
            balance,
            "fraction",
            1.0,
        )
        .seen(
            "sm__cycles_active.max",
            case.number("sm__cycles_active.max").unwrap_or(0.0),
            "cycle",
        )
        .act(&[
            "start with the longest items, or pair long ones with short ones",
            "let blocks fetch the next item from a counter instead of a fixed share",
            "split long items over several blocks",
        ])
        .reaches(
            "sm__cycles_active.max",
            case.number("sm__cycles_active.avg").unwrap_or(0.0),
        )
        .weigh(case, &balanced(active), NEEDS)
}
