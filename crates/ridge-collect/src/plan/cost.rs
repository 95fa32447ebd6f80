//! Whether the counters of both tiers are collected in one run or in two.
//!
//! Two runs cost another start of program and profiler. One run costs passes: the profiler takes one list of metrics for all
//! kernels of a run, so that kernels without local memory are run for the second list too. A trace tells beforehand how many
//! those are.

use crate::ncu::Replay;

/// How often the profiler runs a launch for each list of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes {
    /// The first tier.
    pub first: u64,
    /// The second tier.
    pub second: u64,
    /// Both lists in one.
    pub both: u64,
    /// The full set.
    pub full: u64,
}

/// As counted on compute capability 9.0 (`docs/measurements/collect.md`).
pub const COUNTED: Passes = Passes {
    first: 11,
    second: 5,
    both: 12,
    full: 38,
};

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
/// use ridge_collect::plan::cost::{COUNTED, Runs, Wanted, runs};
///
/// let wanted = Wanted { kernels: 3, with_local: Some(3), replay: Replay::Kernel };
/// assert_eq!(runs(wanted, &COUNTED), Runs::Together);
/// // Two kernels are run once more for nothing, and the program is not started again.
/// assert_eq!(runs(Wanted { with_local: Some(1), ..wanted }, &COUNTED), Runs::Together);
/// assert_eq!(runs(Wanted { with_local: Some(0), ..wanted }, &COUNTED), Runs::Apart);
/// ```
#[must_use]
pub fn runs(wanted: Wanted, passes: &Passes) -> Runs {
    let Some(with_local) = wanted.with_local.filter(|count| *count > 0) else {
        return Runs::Apart;
    };
    let (together, apart, full) = match wanted.replay {
        Replay::Kernel => (
            passes.both.saturating_mul(wanted.kernels),
            passes
                .first
                .saturating_mul(wanted.kernels)
                .saturating_add(passes.second.saturating_mul(with_local)),
            passes.full.saturating_mul(wanted.kernels),
        ),
        // A pass is a run of the program, for all kernels at once.
        Replay::Application => (
            passes.both,
            passes.first.saturating_add(passes.second),
            passes.full,
        ),
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
        let wanted = Wanted {
            kernels,
            with_local,
            replay,
        };
        runs(wanted, &COUNTED)
    }

    #[test]
    fn one_run_where_the_lists_share_enough_passes() {
        let wanted = Wanted {
            kernels: 9,
            with_local: Some(1),
            replay: Replay::Kernel,
        };
        let of = |both| runs(wanted, &Passes { both, ..COUNTED });
        // A third of 38 is 12.7.
        assert_eq!(of(12), Runs::Together);
        assert_eq!(of(13), Runs::Apart);
    }

    #[test]
    fn one_run_where_every_kernel_needs_both() {
        assert_eq!(of(1, Some(1), Replay::Kernel), Runs::Together);
        assert_eq!(of(40, Some(40), Replay::Kernel), Runs::Together);
        let dear = Passes {
            both: 16,
            ..COUNTED
        };
        let wanted = Wanted {
            kernels: 40,
            with_local: Some(39),
            replay: Replay::Kernel,
        };
        assert_eq!(runs(wanted, &dear), Runs::Apart);
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
