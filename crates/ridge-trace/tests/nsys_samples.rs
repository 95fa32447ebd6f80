//! Databases of Nsight Systems that other people published, with numbers that SQL counts in them. `fixtures/traces/README.md`
//! tells where they are from and what was taken out of them.

use std::io::Read;

use ridge_trace::document::{Bound, Device, Trace, Transfer};
use ridge_trace::{AnnotationKind, CopyKind, Memory, SyncKind, Timeline, WorkKind, analyse, nsys};

fn timeline(packed: &[u8]) -> Timeline {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed)
        .read_to_end(&mut bytes)
        .unwrap();
    nsys::read(&bytes).unwrap()
}

/// A second of training on two H100s, schema 3.25.0.
fn h100() -> Timeline {
    timeline(include_bytes!(
        "../../../fixtures/traces/nsys_h100_2gpu_1s.sqlite.gz"
    ))
}

/// A small program on an RTX 3080, schema 3.24.14, with a description of the GPU.
fn mock() -> Timeline {
    timeline(include_bytes!(
        "../../../fixtures/traces/nsys_mock.sqlite.gz"
    ))
}

/// Thirteen columns of kernels, five of calls, a GPU of which only the name is there, and no enums.
fn reduced() -> Timeline {
    timeline(include_bytes!(
        "../../../fixtures/traces/nsys_healthy_1pct.sqlite.gz"
    ))
}

#[track_caller]
fn near(actual: f64, expected: f64, share: f64) {
    assert!(
        (actual - expected).abs() <= share * expected,
        "{actual} is not {expected}"
    );
}

fn transfer(device: &Device, kind: CopyKind, from: Memory) -> &Transfer {
    let mut transfers = device.transfers.iter();
    transfers
        .find(|transfer| (transfer.kind, transfer.from) == (kind, from))
        .unwrap()
}

#[test]
fn records_of_two_gpus() {
    let timeline = h100();
    assert_eq!(timeline.tool_version.as_deref(), Some("2026.2.1.210"));
    let count = |wanted: fn(&WorkKind) -> bool| {
        let works = timeline.work.iter();
        works.filter(|work| wanted(&work.kind)).count()
    };
    assert_eq!(count(|kind| matches!(kind, WorkKind::Kernel { .. })), 3442);
    assert_eq!(count(|kind| matches!(kind, WorkKind::Copy(_))), 904);
    assert_eq!(count(|kind| matches!(kind, WorkKind::Memset { .. })), 22);
    assert_eq!(timeline.calls.len(), 5796);
    let ranges = timeline.annotations.iter();
    assert_eq!(
        ranges
            .filter(|range| range.kind == AnnotationKind::User)
            .count(),
        16_782
    );
    // Joined by number and process: by number alone it would be 1643 kernels.
    let matched = |wanted: fn(&WorkKind) -> bool| {
        let works = timeline.work.iter();
        works
            .filter(|work| wanted(&work.kind) && work.call.is_some())
            .count()
    };
    assert_eq!(
        matched(|kind| matches!(kind, WorkKind::Kernel { .. })),
        1632
    );
    assert_eq!(matched(|kind| matches!(kind, WorkKind::Copy(_))), 438);
    assert_eq!(matched(|kind| matches!(kind, WorkKind::Memset { .. })), 22);
    assert_eq!(timeline.completeness.unmatched, (3442 - 1632) + (904 - 438));
    let waits = |kind: SyncKind| {
        let all = timeline.synchronisations.iter();
        all.filter(|wait| wait.kind == kind)
            .fold((0, 0), |(count, ns), wait| {
                (count + 1, ns + wait.end_ns - wait.start_ns)
            })
    };
    assert_eq!(waits(SyncKind::Stream), (8, 856_914_700));
    assert_eq!(waits(SyncKind::StreamWait), (236, 376_422));
    assert!(timeline.completeness.problems.is_empty());
    assert_eq!(timeline.completeness.contradictory, 0);
}

#[test]
fn times_of_two_gpus() {
    let trace: Trace = analyse(&h100(), "h100", &[]);
    for (number, busy_ns, span_ns) in [
        (0, 962_890_247.0, 969_447_605.0),
        (1, 962_810_705.0, 969_258_578.0),
    ] {
        let device = trace
            .devices
            .iter()
            .find(|device| device.number == number)
            .unwrap();
        near(device.busy_ns, busy_ns, 1e-12);
        near(device.span_ns, span_ns, 1e-12);
        let pinned = transfer(device, CopyKind::HostToDevice, Memory::Pinned);
        assert_eq!(
            (pinned.durations.count, pinned.bytes),
            (223, Some(25_475_252_224))
        );
        near(pinned.rate_bytes_per_s.unwrap(), 27.7e9, 0.005);
        let within = transfer(device, CopyKind::DeviceToDevice, Memory::Device);
        assert_eq!(
            (within.durations.count, within.bytes),
            (225, Some(29_684_236_288))
        );
        // Of copies of at least 1 MiB; of all of them it is 1514 GB/s.
        near(within.rate_bytes_per_s.unwrap(), 1522.4e9, 0.001);
    }
    // 95 % of the time is copies from pinned memory, which no kernel hides.
    assert_eq!(trace.verdict.unwrap().bound, Bound::Copies);
    let call = |name: &str| trace.calls.iter().find(|call| call.name == name).unwrap();
    let launches = call("cudaLaunchKernel").durations;
    assert_eq!(launches.count, 2788);
    near(launches.sum_ns, 509_738_501.0, 1e-12);
    let waits = call("cudaStreamSynchronize").durations;
    assert_eq!((waits.count, waits.sum_ns), (8, 856_929_451.0));
}

#[test]
fn a_described_gpu() {
    let timeline = mock();
    let device = &timeline.devices[0];
    assert_eq!(device.name.as_deref(), Some("NVIDIA GeForce RTX 3080"));
    assert_eq!(device.compute_capability, Some((8, 6)));
    assert_eq!(device.multiprocessors, Some(68));
    assert_eq!(device.memory_bytes, Some(10_736_893_952));
    assert_eq!(device.memory_bytes_per_s, Some(760.08e9));
    assert_eq!((timeline.work.len(), timeline.calls.len()), (3, 9));
    assert_eq!(timeline.completeness.unmatched, 0);
    let copied = timeline.work[2].copied().unwrap();
    // To pinned memory: the enums of the file say what 2, 2 and 1 are.
    assert_eq!(
        (copied.kind, copied.from, copied.to, copied.bytes),
        (
            CopyKind::DeviceToHost,
            Memory::Device,
            Memory::Pinned,
            Some(4)
        )
    );
    let name = timeline.name(timeline.work[1].name);
    assert!(
        name.starts_with("void at::native::reduce_kernel<(int)512"),
        "{name}"
    );
    let overheads: Vec<&str> = timeline
        .overheads
        .iter()
        .map(|cost| timeline.name(cost.name))
        .collect();
    assert!(
        overheads.contains(&"Lazy Function Loading"),
        "{overheads:?}"
    );
}

#[test]
fn reduced_columns() {
    let timeline = reduced();
    assert_eq!((timeline.work.len(), timeline.calls.len()), (400, 400));
    assert_eq!(timeline.completeness.unmatched, 0);
    assert_eq!(
        timeline.devices[0].name.as_deref(),
        Some("NVIDIA H100 80GB HBM3")
    );
    assert_eq!(timeline.devices[0].compute_capability, None);
    let trace = analyse(&timeline, "reduced", &[]);
    let device = &trace.devices[0];
    assert_eq!((device.busy_ns, device.span_ns), (400e6, 403.99e6));
    let sums: Vec<(&str, f64)> = device
        .kernels
        .iter()
        .map(|kernel| (kernel.name.as_str(), kernel.durations.sum_ns))
        .collect();
    assert_eq!(
        sums,
        [
            (
                "void at::native::elementwise_add<float>(float*, float*)",
                200e6
            ),
            (
                "void cutlass::gemm_nn_128x128<float>(float*, float*)",
                200e6
            )
        ]
    );
}
