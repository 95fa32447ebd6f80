//! The last wave of blocks is mostly empty.
//!
//! # What it says
//! The grid is a little larger than a whole number of waves: while the last blocks run, most SMs have nothing left to
//! do.
//!
//! # Evidence
//! Waves just above a whole number and few of them, and a measured difference between the busiest and the average SM.
//! The grid alone is no evidence: a loop over the grid hides it.
//!
//! # Why it costs time
//! The duration is that of the busiest SM; the others wait for it.
//!
//! # What to do
//! Make blocks finer, so that the last wave is short; choose the grid as a multiple of what the device holds; let
//! blocks fetch work until none is left (persistent kernel, stream-K).
//!
//! # When it is wrong
//! When blocks take different times for other reasons the same counters show it: that is `load-imbalance`.
//!
//! # References
//! CUDA C++ Best Practices Guide, "Thread and Block Heuristics"; NVIDIA, "Matrix Multiplication Background", wave
//! quantization.

use super::draft::Draft;
use super::saving::Remedy;
use super::{Case, Outcome};

pub(super) const ID: &str = "tail-effect";

const NEEDS: &[&str] = &["LaunchStats", "WorkloadDistribution", "SpeedOfLight"];

/// With more waves than this a tail is a small part of the duration: at most a ninth.
const FEW_WAVES: f64 = 8.0;
/// A last wave that is fuller than this leaves little to gain.
const MOSTLY_FULL: f64 = 0.8;

/// A balance far below what waves of equal blocks give has another reason: blocks of very different length.
const EXPLAINED: f64 = 0.75;

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let (Some(waves), Some(balance), Some(active)) = (case.waves(), case.balance(), case.active())
    else {
        return Outcome::NotChecked(NEEDS);
    };
    let last = waves - waves.floor();
    // With blocks of one length the busiest SM works for whole waves, the average one for all of them together.
    let by_waves = waves / waves.ceil();
    if !(1.0..FEW_WAVES).contains(&waves)
        || last <= 0.0
        || last > MOSTLY_FULL
        || balance > super::BALANCED
        || balance < EXPLAINED * by_waves
    {
        return Outcome::Clear;
    }
    let title = format!(
        "{waves:.2} waves: the last one fills {:.0} % of the device, and the average SM is active for {:.0} % of the busiest one's time",
        100.0 * last,
        100.0 * balance
    );
    Draft::new(ID, title)
        .seen("launch__waves_per_multiprocessor", waves, "wave")
        .seen_against("sm__cycles_active.avg / sm__cycles_active.max", balance, "fraction", 1.0)
        .act(&[
            "use smaller blocks: the last wave gets shorter with them",
            "choose the grid as a multiple of the blocks that fit on the device at once",
            "let a fixed number of blocks fetch work until none is left (persistent kernel, stream-K)",
        ])
        .reaches("sm__cycles_active.max", case.number("sm__cycles_active.avg").unwrap_or(0.0))
        .weigh(case, &balanced(active), NEEDS)
}

/// What remains when all SMs finish together.
///
/// The work of the average SM stays. It may run somewhat faster when no block is alone on an SM, which the bound
/// allows for; and even finely divided work leaves SMs idle for a few per cent at the start and the end.
pub(super) fn balanced(active: f64) -> Remedy {
    /// A block alone on an SM runs at a lower rate than several together; beyond this no kernel was seen to gain.
    const ALONE: f64 = 0.85;
    /// Balanced kernels of the corpus keep the average SM active for 95 to 99 % of the duration.
    const USUALLY_ACTIVE: f64 = 0.95;
    Remedy::hiding()
        .not_below(active * ALONE)
        .hardly_below(active / USUALLY_ACTIVE)
}
