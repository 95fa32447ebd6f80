//! Short kernels of the same size follow each other: one kernel could do the work of several.
//!
//! # What it says
//! Different kernels with the same grid run one after the other on a stream, each for a few microseconds, as the element-wise
//! operations of a framework do when nothing fuses them.
//!
//! # Evidence
//! Runs of three and more such kernels, none longer than 20 us, with no more than the gap of a full queue or a late host
//! between them: how many kernels, their time, and the time between them.
//!
//! # Why it costs time
//! Each kernel reads from memory what the one before wrote, fills and drains the device, and waits a microsecond for its
//! turn. One kernel that does all steps takes hardly longer than the longest of them.
//!
//! # What to do
//! Fuse by hand, or let a compiler do it (`torch.compile`, XLA, Triton), or use operations of a library that do several
//! steps (fused optimisers, normalisation with activation).
//!
//! # When it is wrong
//! A trace does not tell addresses: kernels with the same grid may work on different arrays, or need results of all blocks
//! of the one before, and then do not fuse. The bound assumes that a fused kernel takes as long as the longest of its
//! parts; where each part reads arrays of its own, it takes longer, so that half of it is expected. Launches of one kernel
//! at one size in a row are left out: they are steps that depend on each other, or repetitions.
//!
//! # References
//! PyTorch documentation, "torch.compile"; `docs/design/timeline.md`. A profile of the kernels tells which pass arrays to
//! each other: see above.

use ridge_model::quantity::{Nanos, counted};

use super::{Rest, Saving, WORTHWHILE, count, finding, measured};
use crate::analysis::{Seen, to_f64};
use crate::document::{Confidence, Direction, Finding};
use crate::timeline::{Launch, Work, WorkKind};

pub(super) const ID: &str = "unfused-kernels";

/// A kernel that only moves data moves less than 100 MB in it, on any device: longer ones gain little by losing their
/// start and end.
const SHORT_NS: i64 = 20_000;
/// Fewer kernels in a row are often what a compiler leaves.
const LEAST: usize = 3;

/// What a run of kernels could save.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    runs: u64,
    kernels: u64,
    time_ns: i64,
    longest_ns: i64,
    between_ns: i64,
}

pub(super) fn check(seen: &Seen<'_>) -> Option<Finding> {
    let mut found = Found::default();
    let mut by_stream: std::collections::HashMap<crate::StreamId, Vec<&Work>> =
        std::collections::HashMap::new();
    for work in seen.work() {
        by_stream.entry(work.stream).or_default().push(work);
    }
    for stream in by_stream.values() {
        runs_of(seen, stream, &mut found);
    }
    let fused = to_f64(found.time_ns - found.longest_ns);
    let between = to_f64(found.between_ns);
    let saving = Saving {
        ceiling_ns: fused + between,
        expected_ns: 0.5 * fused + between,
    };
    if saving.expected_ns < WORTHWHILE * seen.span_ns() {
        return None;
    }
    let title = format!(
        "{} of one size follow each other in {} of three and more, each below 20 us: {} in kernels, {} between them",
        counted(found.kernels, "kernel"),
        counted(found.runs, "run"),
        Nanos::new(to_f64(found.time_ns)),
        Nanos::new(between),
    );
    Some(finding(
        seen,
        ID,
        title,
        saving,
        Confidence::Low,
        Rest {
            evidence: vec![
                measured("kernels in such runs", count(found.kernels), "").against(0.0),
                measured("runs", count(found.runs), ""),
                measured("time of these kernels", to_f64(found.time_ns), "ns"),
                measured(
                    "time of the longest of each run",
                    to_f64(found.longest_ns),
                    "ns",
                ),
                measured("time between them with a full queue", between, "ns"),
            ],
            actions: vec![
                "let a compiler fuse them (torch.compile, XLA, Triton), or write one kernel for the steps",
                "use operations of a library that do several steps at once",
            ],
            verify: vec![
                ("number of kernels", Direction::Down),
                ("time of kernels", Direction::Down),
            ],
        },
    ))
}

fn runs_of(seen: &Seen<'_>, stream: &[&Work], found: &mut Found) {
    let mut start = 0;
    while start < stream.len() {
        let mut end = start + 1;
        while end < stream.len() && follows(seen, stream[end - 1], stream[end]) {
            end += 1;
        }
        let run = &stream[start..end];
        if run.len() >= LEAST {
            found.runs += 1;
            found.kernels += run.len() as u64;
            found.time_ns += run.iter().map(|work| work.duration_ns()).sum::<i64>();
            found.longest_ns += run.iter().map(|work| work.duration_ns()).max().unwrap_or(0);
            // Gaps for which the host was late are those of `launch-bound`.
            let gaps = run
                .windows(2)
                .filter(|pair| is_queued(seen, pair[0], pair[1]));
            found.between_ns += gaps
                .map(|pair| (pair[1].start_ns - pair[0].end_ns).max(0))
                .sum::<i64>();
        }
        start = end;
    }
}

/// Whether a kernel could be part of the one before.
fn follows(seen: &Seen<'_>, before: &Work, work: &Work) -> bool {
    let (Some(a), Some(b)) = (launch(seen, before), launch(seen, work)) else {
        return false;
    };
    let is_short = |work: &Work| work.duration_ns() <= SHORT_NS;
    let is_other = before.name != work.name;
    a.grid.is_some()
        && (a.grid, a.block) == (b.grid, b.block)
        && is_short(before)
        && is_short(work)
        && is_other
}

fn launch<'s>(seen: &'s Seen<'_>, work: &Work) -> Option<&'s Launch> {
    match work.kind {
        WorkKind::Kernel { launch } => Some(seen.timeline.launch(launch)),
        _ => None,
    }
}

/// Whether the second was asked for before the first ended.
fn is_queued(seen: &Seen<'_>, before: &Work, work: &Work) -> bool {
    seen.timeline
        .call_of(work)
        .is_some_and(|call| call.start_ns <= before.end_ns)
        && work.start_ns - before.end_ns < crate::analysis::gaps::FLOOR_NS
}

#[cfg(test)]
mod tests {
    use super::super::testing::Program;
    use super::*;

    /// Kernels of `us` with a gap of 1 us, all queued at the beginning.
    fn program(names: &[&str], us: i64) -> Program {
        let mut program = Program::new();
        for turn in 0..10 {
            for (place, name) in names.iter().enumerate() {
                let at = 1000 + (turn * names.len() as i64 + place as i64) * (us + 1);
                program.kernel(name, (turn, turn + 1), (at, at + us));
            }
        }
        program
    }

    #[test]
    fn a_chain_of_short_kernels() {
        let found = program(&["add", "mul", "tanh", "sub"], 4)
            .finding(ID)
            .unwrap();
        // All forty are one run, as far as a trace tells: 156 of 199 us of kernels, and 39 us between them.
        assert!(
            (found.saving_ceiling - 195.0 / 199.0).abs() < 1e-9,
            "{found:?}"
        );
        assert!(
            (found.saving_expected - (78.0 + 39.0) / 199.0).abs() < 1e-9,
            "{found:?}"
        );
        assert_eq!(found.confidence, Confidence::Low);
    }

    #[test]
    fn long_kernels_are_none() {
        assert_eq!(program(&["add", "mul", "tanh"], 21).finding(ID), None);
    }

    #[test]
    fn one_kernel_again_and_again_is_none() {
        assert_eq!(program(&["step"], 4).finding(ID), None);
    }

    #[test]
    fn other_grids_are_none() {
        let mut program = Program::new();
        for turn in 0..40 {
            program.grid = [1 + u32::try_from(turn % 2).unwrap(), 1, 1];
            program.kernel(
                ["a", "b"][usize::try_from(turn % 2).unwrap()],
                (0, 1),
                (10 + 5 * turn, 14 + 5 * turn),
            );
        }
        assert_eq!(program.finding(ID), None);
    }
}
