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
/// After one whole wave, one that is 80 % full leaves a tenth of the time to gain (1.8 of 2 waves), and less after
/// more.
const MOSTLY_FULL: f64 = 0.8;

/// The busiest SM works longer than whole waves where blocks of one length get unequal shares of memory and start one
/// after the other. A quarter is allowed for that; a balance below has another reason: blocks of very different
/// length. A convention.
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
        .seen_against("launch__waves_per_multiprocessor", waves, "wave", waves.floor())
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
    /// A block alone on an SM lacks the warps to hide its latency, so that the tail does less for its time than a full
    /// SM does. What is gained when it is never alone is not counted: 15 % are allowed for in the bound, a convention.
    const ALONE: f64 = 0.85;
    /// Blocks start one after the other and the last ones end at different times: of 20 rounds of blocks about one
    /// goes into ramp-up and drain. An estimate.
    const USUALLY_ACTIVE: f64 = 0.95;
    Remedy::hiding()
        .not_below(active * ALONE)
        .hardly_below(active / USUALLY_ACTIVE)
}
