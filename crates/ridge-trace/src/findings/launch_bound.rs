//! The device waits for launches: the host asks for kernels more slowly than the device runs them.
//!
//! # What it says
//! Again and again the device is done before the host has asked for the next piece of work, because each launch, with the
//! code around it, takes the host longer than the work takes the device.
//!
//! # Evidence
//! The sum of the gaps of less than 100 us whose next work was asked for only after the work before had ended, and during
//! which the host was in launch calls or in code between them; how many kernels run for less time than their own launch
//! call takes; the launch sequence that repeats.
//!
//! # Why it costs time
//! A launch takes the host 3 us and more, with the code of a framework around it 10 to 50 us. Kernels shorter than that
//! leave the device idle for the rest.
//!
//! # What to do
//! Record the sequence that repeats as a CUDA graph (`torch.compile(mode="reduce-overhead")`, `torch.cuda.graph`), so that
//! one call launches all of it; fuse short kernels; make the batch larger; take other work out of the thread that
//! launches.
//!
//! # When it is wrong
//! Tracing itself makes calls slower, by 8 to 15 per cent and more: without the profiler the gaps are shorter. Time that
//! kernels wait in a full queue is no overhead and is not counted. Gaps behind a wait or an allocation belong to
//! `unexpected-sync`, longer ones to `idle-gap`.
//!
//! # References
//! NVIDIA developer blog, "Getting Started with CUDA Graphs"; PyTorch documentation, "CUDA Graphs";
//! `docs/design/timeline.md`.

use ridge_model::quantity::{Nanos, counted};

use super::{LONG_GAP_NS, QUEUED_GAP_NS, Rest, Saving, WORTHWHILE, count, finding, measured};
use crate::analysis::gaps::Gap;
use crate::analysis::{HostCause, Seen, to_f64};
use crate::document::{Confidence, Direction, Finding};

pub(super) const ID: &str = "launch-bound";

/// Whether a gap is that of a launch.
fn is_launch(gap: &&Gap) -> bool {
    matches!(gap.cause, Some(HostCause::Launching | HostCause::HostCode))
        && gap.length_ns() < LONG_GAP_NS
}

pub(super) fn check(seen: &Seen<'_>) -> Option<Finding> {
    let lengths = || {
        seen.gaps
            .iter()
            .filter(is_launch)
            .map(|gap| to_f64(gap.length_ns()))
    };
    let saving = Saving {
        ceiling_ns: lengths().sum(),
        expected_ns: lengths()
            .map(|length| (length - QUEUED_GAP_NS).max(0.0))
            .sum(),
    };
    if saving.expected_ns < WORTHWHILE * seen.span_ns() {
        return None;
    }
    let gaps = lengths().count() as u64;
    let launches = &seen.device.launches;
    let kernels = seen.device.counts.kernels;
    let mut evidence = vec![
        measured(
            "gaps in which the host was late with a launch",
            saving.ceiling_ns,
            "ns",
        )
        .against(0.0),
        measured("how many of them", count(gaps), ""),
        measured(
            "kernels that run for less time than their launch call takes",
            count(launches.kernels_below_call),
            "",
        ),
    ];
    if let Some(latency) = &launches.latency {
        evidence.push(measured(
            "median time from a launch call to the start, device waiting",
            latency.median_ns,
            "ns",
        ));
    }
    let sequence = seen
        .device
        .sequence
        .as_ref()
        .filter(|sequence| sequence.host_wait_ns > 0.0);
    let repeats = match sequence {
        Some(sequence) if !sequence.has_waits => {
            evidence.push(measured(
                "pieces of work in the sequence that repeats",
                count(sequence.length),
                "",
            ));
            evidence.push(measured(
                "times that it follows itself",
                count(sequence.times),
                "",
            ));
            format!(
                "; a sequence of {} repeats {} times, which a graph could launch at once",
                sequence.length, sequence.times
            )
        }
        _ => String::new(),
    };
    let title = format!(
        "the device waits {} in {} for the next launch; {} of {} run for less time than their launch call takes{repeats}",
        Nanos::new(saving.ceiling_ns),
        counted(gaps, "gap"),
        launches.kernels_below_call,
        counted(kernels, "kernel"),
    );
    Some(finding(
        seen,
        ID,
        title,
        saving,
        Confidence::Medium,
        Rest {
            evidence,
            actions: vec![
                "record the launches that repeat as a CUDA graph, and launch that",
                "fuse short kernels, or do more in each: a larger batch, several steps in one kernel",
                "take other work out of the thread that launches",
            ],
            verify: vec![
                ("time in gaps of the class host wait", Direction::Down),
                ("busy share of the span", Direction::Up),
            ],
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Program;
    use super::*;

    /// Kernels of 5 us, asked for every 15 us.
    fn program(kernel_us: i64, period_us: i64) -> Program {
        let mut program = Program::new();
        for turn in 0..50 {
            let at = turn * period_us;
            program.kernel("a", (at, at + 8), (at + 9, at + 9 + kernel_us));
        }
        program
    }

    #[test]
    fn short_kernels_that_come_one_by_one() {
        let found = program(5, 15).finding(ID).unwrap();
        // 49 gaps of 10 us in 49 * 15 + 5 us, of which a queue keeps 1.2 us each.
        assert!(
            (found.saving_ceiling - 490.0 / 740.0).abs() < 1e-6,
            "{found:?}"
        );
        assert!(
            (found.saving_expected - (490.0 - 49.0 * 1.2) / 740.0).abs() < 1e-6,
            "{found:?}"
        );
        assert!(
            found.title.contains("50 of 50 kernels run for less time"),
            "{}",
            found.title
        );
    }

    #[test]
    fn a_loop_is_offered_as_a_graph() {
        let mut program = Program::new();
        for turn in 0..20 {
            for (place, name) in ["a", "b", "c"].into_iter().enumerate() {
                let at = turn * 45 + 15 * place as i64;
                program.kernel(name, (at, at + 8), (at + 9, at + 14));
            }
        }
        let found = program.finding(ID).unwrap();
        assert!(
            found.title.contains("a sequence of 3 repeats 20 times"),
            "{}",
            found.title
        );
    }

    /// The same calls, but the kernels take longer than these: the queue is never empty.
    #[test]
    fn long_kernels_hide_their_launches() {
        let mut program = Program::new();
        for turn in 0..50 {
            program.kernel(
                "a",
                (turn * 15, turn * 15 + 8),
                (10 + turn * 21, 10 + turn * 21 + 20),
            );
        }
        assert_eq!(program.finding(ID), None);
    }

    /// 4 per cent of the time is not worthwhile.
    #[test]
    fn few_gaps_are_no_finding() {
        assert_eq!(program(96, 100).finding(ID), None);
        assert!(program(80, 100).finding(ID).is_some());
    }
}
