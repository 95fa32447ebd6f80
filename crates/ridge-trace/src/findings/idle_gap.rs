//! The device has nothing to do for long times that no launch and no wait explains.
//!
//! # What it says
//! Between pieces of work there are long gaps: the host does something else (reading data, Python, logging, a collection
//! of garbage), a copy or an event keeps the next work from starting, or the trace does not tell.
//!
//! # Evidence
//! Gaps of at least 100 us behind which the host was late and no call of it waited for the device, and gaps of at least
//! 100 us for which the work was queued in time, or for which the trace does not have the call; the longest ones with the
//! work before and behind them.
//!
//! # Why it costs time
//! Nothing runs.
//!
//! # What to do
//! Look at what the host does in the longest gaps (ranges with NVTX or `record_function` show it). Prepare the next batch in
//! other threads or processes; log and save less often, or from another thread; keep checks of the host out of the loop.
//! For gaps of queued work look at the pair of work around them: an event of another stream, or one copy engine for both
//! directions.
//!
//! # When it is wrong
//! A trace that was started late, that spans a pause which the user made, or that several programs share shows gaps that
//! are none of the program's. That half of the time can go is a convention. Time in which the profiler itself held up the host is not counted where the trace tells it.
//! Work of another process on the same device is not in the trace.
//!
//! # References
//! PyTorch documentation, "Performance Tuning Guide"; `docs/design/timeline.md`.

use ridge_model::quantity::{Nanos, counted};

use super::{LONG_GAP_NS, Rest, Saving, WORTHWHILE, base_name, count, finding, measured};
use crate::analysis::gaps::{Gap, GapClass};
use crate::analysis::{HostCause, Seen, to_f64};
use crate::document::{Confidence, Direction, Finding};
use crate::timeline::CallClass;

/// How much of what the host does in between can be moved to other threads or left out: nothing in a trace tells, so that
/// it is a convention.
const MOVED: f64 = 0.5;

pub(super) const ID: &str = "idle-gap";

pub(super) fn check(seen: &Seen<'_>) -> Option<Finding> {
    let is_allocation = |gap: &Gap| {
        gap.call
            .is_some_and(|name| CallClass::of(seen.timeline.name(name)) == CallClass::Allocate)
    };
    let is_idle = |gap: &&Gap| {
        gap.length_ns() >= LONG_GAP_NS
            && match gap.class {
                GapClass::HostWait => match gap.cause {
                    Some(HostCause::HostCode | HostCause::Launching) => true,
                    Some(HostCause::OtherCall) => !is_allocation(gap),
                    _ => false,
                },
                GapClass::Dependency | GapClass::Unknown => true,
                GapClass::LaunchFloor => false,
            }
    };
    let gaps = || seen.gaps.iter().filter(is_idle);
    let sum = |wanted: fn(&Gap) -> bool| -> f64 {
        gaps()
            .filter(|gap| wanted(gap))
            .map(|gap| to_f64(gap.length_ns()))
            .sum()
    };
    let all = sum(|_| true);
    if all < WORTHWHILE * seen.span_ns() {
        return None;
    }
    let (host, queued) = (
        sum(|gap| gap.class == GapClass::HostWait),
        sum(|gap| gap.class == GapClass::Dependency),
    );
    let unknown = all - host - queued;
    let longest = gaps().max_by_key(|gap| gap.length_ns())?;
    let number = gaps().count() as u64;
    let what = [
        (host, "the host was late"),
        (queued, "queued work did not start"),
        (unknown, "the trace does not tell why"),
    ];
    let parts: Vec<String> = what
        .iter()
        .filter(|(sum, _)| *sum > 0.0)
        .map(|(sum, what)| format!("{} {what}", Nanos::new(*sum)))
        .collect();
    let title = format!(
        "{} of at least 100 us, {} together ({}); the longest is {} behind {}",
        counted(number, "gap"),
        Nanos::new(all),
        parts.join(", "),
        Nanos::new(to_f64(longest.length_ns())),
        longest.before.map_or("the start of the range", |before| {
            base_name(seen.timeline.name(seen.timeline.work[before].name))
        }),
    );
    // Nobody asked for the work sooner, or nobody knows: that it can be asked for sooner is an assumption.
    let confidence = if unknown > host + queued {
        Confidence::Low
    } else {
        Confidence::Medium
    };
    Some(finding(
        seen,
        ID,
        title,
        Saving {
            ceiling_ns: all,
            expected_ns: MOVED * all,
        },
        confidence,
        Rest {
            evidence: vec![
                measured("gaps of at least 100 us", all, "ns").against(0.0),
                measured("how many of them", count(number), ""),
                measured("the longest", to_f64(longest.length_ns()), "ns"),
                measured("host late", host, "ns"),
                measured("work queued in time", queued, "ns"),
                measured("call not in the trace", unknown, "ns"),
            ],
            actions: vec![
                "see what the host does in the longest gaps: mark its phases with NVTX ranges",
                "prepare the next input in other threads, and log and save outside of the loop",
                "where queued work waited, look at the events and copies around the gap",
            ],
            verify: vec![("idle time", Direction::Down)],
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Program;
    use super::*;

    fn program(gap_us: i64) -> Program {
        let mut program = Program::new();
        for turn in 0..10 {
            let at = turn * (1000 + gap_us);
            program.kernel("step", (at, at + 5), (at + 6, at + 1006));
        }
        program
    }

    #[test]
    fn long_pauses_of_the_host() {
        let found = program(500).finding(ID).unwrap();
        assert_eq!(
            found.title,
            "9 gaps of at least 100 us, 4.50 ms together (4.50 ms the host was late); the longest is 500 us behind step"
        );
        assert_eq!(found.confidence, Confidence::Medium);
    }

    #[test]
    fn short_pauses_are_launches() {
        let program = program(90);
        assert_eq!(program.finding(ID), None);
        assert!(program.finding("launch-bound").is_some());
    }

    #[test]
    fn without_calls_nobody_knows_why() {
        let mut program = Program::new();
        program.kernel_at("a", (0, 1000));
        program.kernel_at("b", (1500, 2500));
        let found = program.finding(ID).unwrap();
        assert_eq!(found.confidence, Confidence::Low);
        assert!(
            found.title.contains("the trace does not tell why"),
            "{}",
            found.title
        );
    }

    /// What waits for the device is another finding.
    #[test]
    fn gaps_behind_waits_are_none() {
        let mut program = Program::new();
        for turn in 0..10 {
            let at = turn * 1500;
            program.kernel("step", (at, at + 5), (at + 6, at + 1006));
            program.call("cudaDeviceSynchronize", (at + 7, at + 1010));
        }
        assert_eq!(program.finding(ID), None);
        assert!(program.finding("unexpected-sync").is_some());
    }
}
