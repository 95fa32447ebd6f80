//! Whether the counters of both tiers are collected in one run or in two.
//!
//! Two runs cost another start of program and profiler. One run costs passes: the profiler takes one list of metrics for all
//! kernels of a run, so that kernels without local memory are run for the second list too. A trace tells beforehand how many
//! those are.

use crate::ncu::Replay;

/// Passes of the first tier on compute capability 9.0 (`docs/measurements/collect.md`).
pub const FIRST_PASSES: u64 = 11;
/// Passes of the second tier there.
pub const SECOND_PASSES: u64 = 5;
/// Passes of `--set full` there.
pub const FULL_PASSES: u64 = 38;
/// Passes of both lists in one: nobody has counted them. Lists share passes and never need more than one after the other, so
/// that this is the most that they can need.
pub const BOTH_PASSES: u64 = FIRST_PASSES + SECOND_PASSES;

/// What is known of the kernels that are to be profiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// How many.
    pub kernels: u64,
    /// How many of them have local memory; absent where no trace tells.
    pub with_local: Option<u64>,
    /// How a launch is repeated.
    pub replay: Replay,
}

/// How the tiers are collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// Both lists in one run.
    Together,
    /// The second list in a run of its own, for the kernels that turn out to need it.
    Apart,
}

/// Chooses, by passes: one run where it takes no more passes than two would, or where all passes stay within a third of those
/// of the full set. What it saves is then the start of program and profiler, and the program's own time.
///
/// ```
/// use ridge_collect::ncu::Replay;
/// use ridge_collect::plan::cost::{Runs, Wanted, runs};
///
/// let wanted = Wanted { kernels: 3, with_local: Some(3), replay: Replay::Kernel };
/// assert_eq!(runs(wanted), Runs::Together);
/// // Two kernels would be run five times more for nothing.
/// assert_eq!(runs(Wanted { with_local: Some(1), ..wanted }), Runs::Apart);
/// ```
#[must_use]
pub fn runs(wanted: Wanted) -> Runs {
    let Some(with_local) = wanted.with_local.filter(|count| *count > 0) else {
        return Runs::Apart;
    };
    let (together, apart, full) = match wanted.replay {
        Replay::Kernel => (
            BOTH_PASSES.saturating_mul(wanted.kernels),
            FIRST_PASSES
                .saturating_mul(wanted.kernels)
                .saturating_add(SECOND_PASSES.saturating_mul(with_local)),
            FULL_PASSES.saturating_mul(wanted.kernels),
        ),
        // A pass is a run of the program, for all kernels at once.
        Replay::Application => (BOTH_PASSES, FIRST_PASSES + SECOND_PASSES, FULL_PASSES),
    };
    if together <= apart || together.saturating_mul(3) <= full {
        Runs::Together
    } else {
        Runs::Apart
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kernels: u64, with_local: Option<u64>, replay: Replay) -> Runs {
        runs(Wanted {
            kernels,
            with_local,
            replay,
        })
    }

    #[test]
    fn one_run_where_every_kernel_needs_both() {
        assert_eq!(of(1, Some(1), Replay::Kernel), Runs::Together);
        assert_eq!(of(40, Some(40), Replay::Kernel), Runs::Together);
        assert_eq!(of(40, Some(39), Replay::Kernel), Runs::Apart);
        assert_eq!(of(2, Some(0), Replay::Kernel), Runs::Apart);
    }

    #[test]
    fn what_no_trace_tells_is_not_taken_for_granted() {
        assert_eq!(of(1, None, Replay::Kernel), Runs::Apart);
        assert_eq!(of(1, None, Replay::Application), Runs::Apart);
    }

    #[test]
    fn a_program_that_is_run_for_each_pass_is_started_once() {
        assert_eq!(of(9, Some(1), Replay::Application), Runs::Together);
        assert_eq!(of(9, Some(0), Replay::Application), Runs::Apart);
    }
}
