//! Pinned copies and kernels take turns, although a device can do both at once.
//!
//! # What it says
//! Copies from and to pinned memory run while no kernel runs, and kernels while no copy does.
//!
//! # Evidence
//! Time of pinned copies between host and device beside which no kernel runs, against the time of kernels beside which no
//! copy runs; how many of the copies are on a stream that runs kernels too.
//!
//! # Why it costs time
//! Copy engines work beside the SMs. The two together need no longer than the longer one, if the work is cut into parts
//! whose copies and kernels do not wait for each other.
//!
//! # What to do
//! Cut the work into parts and use two or more streams: copy part i + 1 while part i computes (double buffering; prefetch
//! in the loader of data). Keep to streams other than the default one, which waits for all others.
//!
//! # When it is wrong
//! Where each kernel needs all of the copied data, and the next copy the kernel's result, there is nothing to overlap. The
//! part of the first copy and the last one stays in any case, which the estimate takes off.
//!
//! # References
//! CUDA C++ Best Practices Guide, "Asynchronous and Overlapping Transfers with Computation"; `docs/design/timeline.md`.

use std::collections::HashSet;

use ridge_model::quantity::Nanos;

use super::transfer_bound::{exposed_ns, is_host_copy};
use super::{Rest, Saving, WORTHWHILE, count, finding, measured};
use crate::analysis::Seen;
use crate::document::{Confidence, Direction, Finding};
use crate::timeline::{Copied, StreamId, Work};

pub(super) const ID: &str = "serialised-transfer";

pub(super) fn check(seen: &Seen<'_>) -> Option<Finding> {
    let is_pinned =
        |work: &&Work| is_host_copy(work) && work.copied().is_some_and(Copied::is_pinned);
    let copies = || seen.work().filter(is_pinned);
    let number = copies().count() as u64;
    let exposed = exposed_ns(seen, copies().map(|work| (work.start_ns, work.end_ns)));
    let alone = seen.device.kernel_ns - seen.device.overlap_ns;
    let ceiling_ns = exposed.min(alone);
    // Of n parts, n - 1 can hide behind the work of the part before.
    let saving = Saving {
        ceiling_ns,
        expected_ns: ceiling_ns * (1.0 - 1.0 / count(number.max(1))),
    };
    if saving.expected_ns < WORTHWHILE * seen.span_ns() {
        return None;
    }
    let with_kernels: HashSet<StreamId> = seen
        .work()
        .filter(|work| work.is_kernel())
        .map(|work| work.stream)
        .collect();
    let shared = copies()
        .filter(|work| with_kernels.contains(&work.stream))
        .count() as u64;
    let title = format!(
        "pinned copies take {} beside which no kernel runs, kernels {} beside which no copy does; {shared} of {number} copies are on a stream that runs kernels too",
        Nanos::new(exposed),
        Nanos::new(alone),
    );
    Some(finding(
        seen,
        ID,
        title,
        saving,
        Confidence::Medium,
        Rest {
            evidence: vec![
                measured("pinned copies beside which no kernel runs", exposed, "ns").against(0.0),
                measured("kernels beside which no copy runs", alone, "ns"),
                measured("copies and kernels at once", seen.device.overlap_ns, "ns"),
                measured(
                    "pinned copies on a stream that runs kernels too",
                    count(shared),
                    "",
                ),
            ],
            actions: vec![
                "copy the next part on a stream of its own while this one computes; order the two with events",
                "keep off the default stream, which waits for all others, or create streams that do not wait for it (cudaStreamNonBlocking)",
            ],
            verify: vec![
                ("copies and kernels at once", Direction::Up),
                ("time of copies that no kernel hides", Direction::Down),
            ],
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Program;
    use super::*;
    use crate::timeline::{CopyKind, Memory};

    /// Ten turns of a copy and a kernel; the copy begins `early_us` before the kernel before it ends.
    fn program(memory: Memory, early_us: i64) -> Program {
        let mut program = Program::new();
        for turn in 0..10 {
            let at = turn * (150 - early_us);
            program.copy(CopyKind::HostToDevice, memory, 1 << 20, (at, at + 50));
            program.kernel_at("k", (at + 50, at + 150));
        }
        program
    }

    #[test]
    fn turns_of_copies_and_kernels() {
        let found = program(Memory::Pinned, 0).finding(ID).unwrap();
        assert!((found.saving_ceiling - 1.0 / 3.0).abs() < 1e-9, "{found:?}");
        assert!((found.saving_expected - 0.3).abs() < 1e-9, "{found:?}");
        assert!(
            found
                .title
                .contains("10 of 10 copies are on a stream that runs kernels too"),
            "{}",
            found.title
        );
    }

    #[test]
    fn copies_that_overlap_are_none() {
        assert_eq!(program(Memory::Pinned, 50).finding(ID), None);
    }

    /// Pageable copies cannot overlap before they are pinned: that is another finding.
    #[test]
    fn pageable_copies_are_none() {
        assert_eq!(program(Memory::Pageable, 0).finding(ID), None);
    }
}
