//! The host waits for the device in the middle of the work, and the device then waits for the host.
//!
//! # What it says
//! A call that returns only when the device has finished (a wait, a synchronous copy, an allocation) stands between two
//! pieces of work. The device runs dry in it, and gets its next work only after the call has returned and the host has
//! launched again.
//!
//! # Evidence
//! Gaps of the device that such a call of the launching thread reaches into: how many, how long together, and which
//! functions. Of the time in these calls, the part in which the device was busy is the wait itself, and no loss.
//!
//! # Why it costs time
//! Behind each wait the device pays a whole launch, 10 us and more, and all that the host does before it. Without the
//! wait the next work is already queued when the device gets there.
//!
//! # What to do
//! Wait once, at the end. Results that the host only looks at now and then (a loss, `.item()`, `print`, `if` on a tensor)
//! can be read a step later, or copied to pinned memory with an event. Allocate before the loop: `cudaMalloc` and
//! `cudaFree` wait too; `cudaMallocAsync` or a caching allocator does not. `cudaMemcpy` waits; `cudaMemcpyAsync` on pinned
//! memory does not.
//!
//! # When it is wrong
//! Where the host needs the result to decide what comes next, the wait is part of the algorithm. The estimate leaves the
//! gap of a full queue, and assumes that the host is fast enough not to be late for another reason.
//!
//! # References
//! CUDA C++ Best Practices Guide, "Asynchronous and Overlapping Transfers with Computation"; PyTorch documentation,
//! "Performance Tuning Guide: Avoid unnecessary CPU-GPU synchronization"; `docs/design/timeline.md`.

use std::collections::HashMap;

use ridge_model::quantity::{Nanos, counted};

use super::{QUEUED_GAP_NS, Rest, Saving, WORTHWHILE, count, finding, measured};
use crate::analysis::gaps::Gap;
use crate::analysis::{HostCause, Seen, to_f64};
use crate::document::{Confidence, Direction, Finding};
use crate::timeline::{CallClass, NameId};

pub(super) const ID: &str = "unexpected-sync";

pub(super) fn check(seen: &Seen<'_>) -> Option<Finding> {
    let is_wait = |gap: &&Gap| match gap.cause {
        Some(HostCause::Synchronisation) => true,
        Some(HostCause::OtherCall) => gap
            .call
            .is_some_and(|name| CallClass::of(seen.timeline.name(name)) == CallClass::Allocate),
        _ => false,
    };
    let gaps = || seen.gaps.iter().filter(is_wait);
    let lengths = || gaps().map(|gap| to_f64(gap.length_ns()));
    let saving = Saving {
        ceiling_ns: lengths().sum(),
        expected_ns: lengths()
            .map(|length| (length - QUEUED_GAP_NS).max(0.0))
            .sum(),
    };
    if saving.expected_ns < WORTHWHILE * seen.span_ns() {
        return None;
    }
    let mut functions: HashMap<NameId, (u64, f64)> = HashMap::new();
    for gap in gaps() {
        if let Some(name) = gap.call {
            let entry = functions.entry(name).or_default();
            entry.0 += 1;
            entry.1 += to_f64(gap.length_ns());
        }
    }
    let mut functions: Vec<(&str, u64, f64)> = functions
        .into_iter()
        .map(|(name, (number, sum))| (seen.timeline.name(name), number, sum))
        .collect();
    functions.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(b.0)));
    let number = gaps().count() as u64;
    let mut evidence = vec![
        measured(
            "gaps behind calls that wait or allocate",
            saving.ceiling_ns,
            "ns",
        )
        .against(0.0),
        measured("how many of them", count(number), ""),
    ];
    for (name, _, sum) in &functions {
        evidence.push(measured(format!("gaps behind {name}"), *sum, "ns"));
    }
    let names: Vec<String> = functions
        .iter()
        .take(3)
        .map(|(name, number, _)| format!("{name} ({number})"))
        .collect();
    let title = format!(
        "{} behind calls that wait or allocate, {} together: {}",
        counted(number, "gap"),
        Nanos::new(saving.ceiling_ns),
        names.join(", ")
    );
    // What none of the calls does needs no advice.
    let has = |classes: &[CallClass]| {
        let mut all = functions.iter().map(|(name, ..)| CallClass::of(name));
        all.any(|class| classes.contains(&class))
    };
    let actions = [
        (
            has(&[CallClass::Synchronise]),
            "wait once, where the result is needed; read a loss or a flag a step later",
        ),
        (
            has(&[CallClass::Allocate]),
            "allocate before the loop, or from a pool in stream order (cudaMallocAsync)",
        ),
        (
            has(&[CallClass::Copy, CallClass::CopyAsync]),
            "copy with cudaMemcpyAsync from and to pinned memory",
        ),
    ];
    Some(finding(
        seen,
        ID,
        title,
        saving,
        Confidence::Medium,
        Rest {
            evidence,
            actions: actions
                .into_iter()
                .filter_map(|(is_asked, action)| is_asked.then_some(action))
                .collect(),
            verify: vec![
                ("gaps behind calls that wait or allocate", Direction::Down),
                ("number of calls that wait", Direction::Down),
            ],
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Program;
    use super::*;

    /// A kernel of 60 us, a wait for it, and the next kernel 20 us after its end.
    fn program(function: &str, wait: bool) -> Program {
        let mut program = Program::new();
        for turn in 0..20 {
            let at = turn * 80;
            program.kernel("a", (at, at + 8), (at + 10, at + 70));
            if wait {
                program.call(function, (at + 9, at + 73));
            }
        }
        program
    }

    #[test]
    fn a_wait_in_a_loop() {
        let found = program("cudaStreamSynchronize", true).finding(ID).unwrap();
        assert_eq!(
            found.title,
            "19 gaps behind calls that wait or allocate, 380 us together: cudaStreamSynchronize (19)"
        );
        assert!(
            (found.saving_ceiling - 380.0 / 1580.0).abs() < 1e-9,
            "{found:?}"
        );
    }

    #[test]
    fn the_same_gaps_without_a_wait_are_those_of_launches() {
        let program = program("", false);
        assert_eq!(program.finding(ID), None);
        assert!(program.finding("launch-bound").is_some());
    }

    #[test]
    fn calls_that_do_not_wait_are_none() {
        assert_eq!(program("cudaStreamWaitEvent", true).finding(ID), None);
    }

    #[test]
    fn an_allocation_that_fills_the_gap() {
        let mut program = Program::new();
        for turn in 0..20 {
            let at = turn * 80;
            program.kernel("a", (at, at + 8), (at + 10, at + 50));
            program.call("cudaMalloc", (at + 52, at + 78));
        }
        let found = program.finding(ID).unwrap();
        assert!(found.title.contains("cudaMalloc (19)"), "{}", found.title);
        assert_eq!(
            found.actions,
            ["allocate before the loop, or from a pool in stream order (cudaMallocAsync)"]
        );
    }

    /// A wait at the end costs nothing: no work follows.
    #[test]
    fn the_last_wait_is_none() {
        let mut program = Program::new();
        program.kernel("a", (0, 8), (10, 70));
        program.call("cudaDeviceSynchronize", (9, 500));
        assert_eq!(program.finding(ID), None);
    }
}
