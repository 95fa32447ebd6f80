//! The program spends more time on copies between host and device than on kernels.
//!
//! # What it says
//! Copies beside which no kernel runs take more of the span than kernels do: the program is as fast as its copies.
//!
//! # Evidence
//! Time in which a copy between host and device runs and no kernel, against the time of kernels; the bytes that they
//! move, and how fast.
//!
//! # Why it costs time
//! A link to the host moves 25 to 60 GB a second, device memory a hundred times as many: what is copied has to be
//! computed with for a long time before the copy does not matter.
//!
//! # What to do
//! Keep data on the device from one step to the next; copy results as small as they can be (reduce on the device, smaller
//! formats); copy once and not in every step; let copies run beside kernels. `pageable-transfer` and
//! `serialised-transfer` say what faster and hidden copies would save.
//!
//! # When it is wrong
//! The bound takes every copy away, which no program can that has input and output. A trace of a few steps holds the
//! first copy of data that stay on the device for hours.
//!
//! # References
//! CUDA C++ Best Practices Guide, "Data Transfer Between Host and Device"; `docs/design/timeline.md`.

use ridge_model::quantity::{Bytes, Nanos};

use super::{Rest, Saving, count, finding, measured};
use crate::analysis::{Seen, Union, to_f64};
use crate::document::{Confidence, Direction, Finding};
use crate::timeline::{CopyKind, Work};

pub(super) const ID: &str = "transfer-bound";

/// Copies have to take a tenth of the span: below, whatever is done about them changes little.
const TENTH: f64 = 0.10;

/// Whether a piece of work is a copy between host and device.
pub(super) fn is_host_copy(work: &Work) -> bool {
    work.copied().is_some_and(|copied| {
        matches!(copied.kind, CopyKind::HostToDevice | CopyKind::DeviceToHost)
    })
}

pub(super) fn check(seen: &Seen<'_>) -> Option<Finding> {
    let copies = || seen.work().filter(|work| is_host_copy(work));
    let exposed = exposed_ns(seen, copies().map(|work| (work.start_ns, work.end_ns)));
    let device = &seen.device;
    if exposed < TENTH * seen.span_ns() || exposed <= device.kernel_ns {
        return None;
    }
    let number = copies().count() as u64;
    let bytes: Option<u64> = copies()
        .filter_map(|work| work.copied())
        .map(|copied| copied.bytes)
        .sum();
    let mut evidence = vec![
        measured(
            "time in which a copy between host and device runs and no kernel",
            exposed,
            "ns",
        )
        .against(0.0),
        measured("time of kernels", device.kernel_ns, "ns"),
        measured("copies between host and device", count(number), ""),
    ];
    let moved = bytes.map_or_else(String::new, |bytes| {
        evidence.push(measured("bytes that they move", count(bytes), "byte"));
        format!(" with {}", Bytes::from_count(bytes))
    });
    let title = format!(
        "{number} copies between host and device{moved} take {} beside which no kernel runs; kernels take {}",
        Nanos::new(exposed),
        Nanos::new(device.kernel_ns)
    );
    // Running beside kernels hides no more than kernels take.
    let saving = Saving {
        ceiling_ns: exposed,
        expected_ns: exposed.min(device.kernel_ns - device.overlap_ns),
    };
    Some(finding(
        seen,
        ID,
        title,
        saving,
        Confidence::High,
        Rest {
            evidence,
            actions: vec![
                "keep data on the device between steps, and copy only what changes",
                "copy less: reduce on the device, use a smaller format, pack what is sparse",
                "let copies run beside kernels: pinned memory, a stream of their own, the next batch while this one computes",
            ],
            verify: vec![("time of copies that no kernel hides", Direction::Down)],
        },
    ))
}

/// How much of intervals lies beside no kernel.
pub(super) fn exposed_ns(seen: &Seen<'_>, intervals: impl Iterator<Item = (i64, i64)>) -> f64 {
    let union = Union::of_sorted(intervals);
    to_f64(union.length() - union.overlap(&seen.kernels))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Program;
    use super::*;
    use crate::timeline::Memory;

    /// Ten copies and ten kernels, one after the other.
    fn program(copy_us: i64, kernel_us: i64) -> Program {
        let mut program = Program::new();
        for turn in 0..10 {
            let at = turn * (copy_us + kernel_us);
            program.copy(
                CopyKind::HostToDevice,
                Memory::Pinned,
                1 << 20,
                (at, at + copy_us),
            );
            program.kernel_at("k", (at + copy_us, at + copy_us + kernel_us));
        }
        program
    }

    #[test]
    fn copies_longer_than_kernels() {
        let found = program(90, 10).finding(ID).unwrap();
        assert!((found.saving_ceiling - 0.9).abs() < 1e-9, "{found:?}");
        // Hidden behind kernels, a ninth of them would go.
        assert!((found.saving_expected - 0.1).abs() < 1e-9, "{found:?}");
        assert!(
            found
                .title
                .contains("10 copies between host and device with 10.5 MB take 900 us"),
            "{}",
            found.title
        );
    }

    #[test]
    fn kernels_longer_than_copies() {
        assert_eq!(program(49, 51).finding(ID), None);
    }

    #[test]
    fn copies_behind_kernels_cost_nothing() {
        let mut program = Program::new();
        program.kernel_at("k", (0, 100));
        program.copy(CopyKind::DeviceToHost, Memory::Pinned, 1 << 20, (0, 95));
        program.copy(
            CopyKind::DeviceToDevice,
            Memory::Device,
            1 << 20,
            (100, 400),
        );
        assert_eq!(program.finding(ID), None);
    }
}
