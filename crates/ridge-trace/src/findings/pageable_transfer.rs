//! Copies from or to pageable host memory: the driver copies them a second time, and the host waits.
//!
//! # What it says
//! Copies between the device and host memory that the system may move. The driver passes them through a pinned buffer of
//! its own, piece by piece; the call returns only when that is done.
//!
//! # Evidence
//! Time and bytes of such copies, against the time that the same bytes take from pinned memory: at the rate of pinned
//! copies in the same trace, else at what the link was measured to carry, else at 88 per cent of the data sheet's rate.
//! Gaps behind them, while the host still copied, come on top.
//!
//! # Why it costs time
//! A pageable copy reaches a third of the link at best, and a twentieth where the pages have never been touched (8.4 to
//! 8.9 GB/s to the device and 1.64 GB/s to the host were measured on an H200 whose link carries 55 GB/s). No kernel is
//! launched meanwhile by the same thread, and nothing overlaps.
//!
//! # What to do
//! Allocate host buffers once with `cudaHostAlloc` or `cudaHostRegister` and use them again (`pin_memory=True` of a
//! `DataLoader`, `tensor.pin_memory()`), and copy with `cudaMemcpyAsync` (`non_blocking=True`).
//!
//! # When it is wrong
//! Pinning memory takes time too, about as long as touching it: a buffer that is used once gains nothing. Pinned memory
//! is taken from the rest of the machine.
//!
//! # References
//! CUDA C++ Best Practices Guide, "Pinned Memory"; PyTorch documentation, "A guide on good usage of non_blocking and
//! pin_memory()"; `docs/design/timeline.md`.

use ridge_model::device::Origin;
use ridge_model::quantity::{Bandwidth, Bytes, Nanos};

use super::{Rest, Saving, WORTHWHILE, count, finding, measured};
use crate::analysis::{HostCause, Seen, to_f64};
use crate::document::{Confidence, Direction, Finding, Transfer};
use crate::timeline::{CopyKind, Memory};

pub(super) const ID: &str = "pageable-transfer";

/// What pinned copies reach of the raw rate of a link: 55.4 of 63.0 GB/s on an H200.
const REACHED_OF_RAW: f64 = 0.88;
/// What pageable copies of memory that is in use reach of pinned ones: 19.0 of 55.4 GB/s on an H200. For links of which
/// nothing is known.
const PAGEABLE_OF_PINNED: f64 = 0.34;

/// What the bytes of a direction would take from pinned memory.
struct Pinned {
    expected_bytes_per_s: f64,
    best_bytes_per_s: f64,
    origin: Origin,
    source: &'static str,
}

pub(super) fn check(seen: &Seen<'_>) -> Option<Finding> {
    let is_pageable =
        |transfer: &&Transfer| transfer.from == Memory::Pageable || transfer.to == Memory::Pageable;
    let mut saving = Saving::default();
    let (mut time, mut copies, mut bytes) = (0.0, 0, Some(0_u64));
    let mut evidence = Vec::new();
    let mut confidence = Confidence::High;
    for transfer in seen.device.transfers.iter().filter(is_pageable) {
        let sum = transfer.durations.sum_ns;
        time += sum;
        copies += transfer.durations.count;
        bytes = bytes
            .zip(transfer.bytes)
            .map(|(all, own)| all.saturating_add(own));
        let direction = transfer.kind.name();
        if let Some(rate) = transfer.rate_bytes_per_s {
            evidence.push(measured(
                format!("rate of pageable copies {direction}"),
                rate,
                "byte/s",
            ));
        }
        match transfer.bytes.zip(pinned(seen, transfer.kind)) {
            Some((bytes, pinned)) => {
                let at = |rate: f64| (sum - count(bytes) / rate * 1e9).max(0.0);
                saving.ceiling_ns += at(pinned.best_bytes_per_s);
                saving.expected_ns += at(pinned.expected_bytes_per_s);
                let metric = format!("rate of pinned copies {direction}: {}", pinned.source);
                evidence.push(
                    measured(metric, pinned.expected_bytes_per_s, "byte/s").from(pinned.origin),
                );
                if pinned.origin != Origin::Measured {
                    confidence = Confidence::Medium;
                }
            }
            None => {
                saving.ceiling_ns += sum;
                saving.expected_ns += sum * (1.0 - PAGEABLE_OF_PINNED);
                confidence = Confidence::Low;
            }
        }
    }
    let behind = seen
        .gaps
        .iter()
        .filter(|gap| gap.cause == Some(HostCause::PageableCopy));
    let behind: f64 = behind.map(|gap| to_f64(gap.length_ns())).sum();
    // The host's part of such a copy goes with it; what the host does besides stays.
    saving.ceiling_ns += behind;
    if saving.expected_ns < WORTHWHILE * seen.span_ns() {
        return None;
    }
    evidence.insert(
        0,
        measured("time of pageable copies", time, "ns").against(0.0),
    );
    if behind > 0.0 {
        evidence.push(measured("gaps behind them", behind, "ns"));
    }
    let bytes = bytes.filter(|bytes| *bytes > 0);
    let (moved, rate) = bytes.map_or_else(Default::default, |bytes| {
        let rate = Bandwidth::new(count(bytes) / time * 1e9);
        (
            format!(" of {}", Bytes::from_count(bytes)),
            format!(", at {rate}"),
        )
    });
    let title = format!(
        "{copies} {} from or to pageable memory{moved} {} {}{rate}",
        if copies == 1 { "copy" } else { "copies" },
        if copies == 1 { "takes" } else { "take" },
        Nanos::new(time),
    );
    Some(finding(
        seen,
        ID,
        title,
        saving,
        confidence,
        Rest {
            evidence,
            actions: vec![
                "allocate the host buffers once, pinned, and use them again (cudaHostAlloc; pin_memory=True)",
                "then copy asynchronously (cudaMemcpyAsync; non_blocking=True) and wait only where the data are needed",
            ],
            verify: vec![
                ("time of pageable copies", Direction::Down),
                ("rate of copies between host and device", Direction::Up),
            ],
        },
    ))
}

/// What pinned copies of a direction reach.
fn pinned(seen: &Seen<'_>, kind: CopyKind) -> Option<Pinned> {
    let of_link = seen
        .link
        .and_then(|link| Some((link.of(kind)?, link.origin)));
    let seen_rate = seen.device.transfers.iter().find(|transfer| {
        transfer.kind == kind
            && transfer.is_rate_of_large
            && (transfer.from == Memory::Pinned || transfer.to == Memory::Pinned)
    });
    if let Some(rate) = seen_rate.and_then(|transfer| transfer.rate_bytes_per_s) {
        return Some(Pinned {
            expected_bytes_per_s: rate,
            best_bytes_per_s: of_link.map_or(rate, |(link, _)| link.max(rate)),
            origin: Origin::Measured,
            source: "in this trace",
        });
    }
    let (link, origin) = of_link?;
    Some(if origin == Origin::Measured {
        Pinned {
            expected_bytes_per_s: link,
            best_bytes_per_s: link,
            origin,
            source: "the link as it was measured",
        }
    } else {
        Pinned {
            expected_bytes_per_s: REACHED_OF_RAW * link,
            best_bytes_per_s: link,
            origin: Origin::Derived,
            source: "88 % of the raw rate of the data sheet",
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::Program;
    use super::*;
    use crate::HostLink;

    /// A second of kernels, and 1 GB at 2 GB/s.
    fn program(memory: Memory) -> Program {
        let mut program = Program::new();
        program.copy(CopyKind::HostToDevice, memory, 1_000_000_000, (0, 500_000));
        program.kernel_at("k", (500_000, 1_500_000));
        program
    }

    #[test]
    fn slow_copies_against_pinned_ones_of_the_same_trace() {
        let mut program = program(Memory::Pageable);
        program.copy(
            CopyKind::HostToDevice,
            Memory::Pinned,
            1_000_000_000,
            (1_500_000, 1_520_000),
        );
        let found = program.finding(ID).unwrap();
        // 480 of 1520 ms.
        assert!(
            (found.saving_expected - 480.0 / 1520.0).abs() < 1e-9,
            "{found:?}"
        );
        assert_eq!(found.confidence, Confidence::High);
        assert_eq!(
            found.title,
            "1 copy from or to pageable memory of 1.00 GB takes 500 ms, at 2.00 GB/s"
        );
    }

    #[test]
    fn slow_copies_against_the_data_sheet() {
        let link = HostLink {
            device: 0,
            to_device_bytes_per_s: Some(50e9),
            to_host_bytes_per_s: Some(50e9),
            origin: Origin::Documented,
            source: "data sheet".to_owned(),
        };
        let found = program(Memory::Pageable).finding_with(ID, &[link]).unwrap();
        assert!(
            (found.saving_ceiling - 480.0 / 1500.0).abs() < 1e-9,
            "{found:?}"
        );
        assert!(found.saving_expected < found.saving_ceiling);
        assert_eq!(found.confidence, Confidence::Medium);
    }

    #[test]
    fn without_a_rate_the_bound_is_the_whole_copy() {
        let found = program(Memory::Pageable).finding(ID).unwrap();
        assert!((found.saving_ceiling - 1.0 / 3.0).abs() < 1e-9, "{found:?}");
        assert_eq!(found.confidence, Confidence::Low);
    }

    #[test]
    fn pinned_copies_are_none_whatever_their_rate() {
        assert_eq!(program(Memory::Pinned).finding(ID), None);
        assert_eq!(program(Memory::Unknown).finding(ID), None);
    }

    /// The other bytes take 20 ms at the same rate: nothing to gain.
    #[test]
    fn a_pageable_copy_as_fast_as_a_pinned_one() {
        let mut program = Program::new();
        program.copy(
            CopyKind::HostToDevice,
            Memory::Pageable,
            1_000_000_000,
            (0, 20_500),
        );
        program.copy(
            CopyKind::HostToDevice,
            Memory::Pinned,
            1_000_000_000,
            (20_500, 40_500),
        );
        assert_eq!(program.finding(ID), None);
    }
}
