//! Numbers of a real trace, counted by another program with the same formulas.

use std::io::Read;

use ridge_trace::document::{Bound, Device, Distribution, GapClass, HostCause, Trace};
use ridge_trace::{CallClass, HostLink, Timeline, analyse, read};

fn timeline() -> Timeline {
    let packed: &[u8] = include_bytes!("../../../fixtures/traces/pytorch_kineto.json.gz");
    let mut json = Vec::new();
    flate2::read::GzDecoder::new(packed)
        .read_to_end(&mut json)
        .unwrap();
    read(&json).unwrap()
}

fn trace() -> Trace {
    analyse(&timeline(), "kineto.json.gz", &[])
}

#[track_caller]
fn near(actual: f64, expected: f64, tolerance: f64) {
    assert!(
        (actual - expected).abs() <= tolerance,
        "{actual} is not {expected} ± {tolerance}"
    );
}

/// Nanoseconds against microseconds with one decimal.
#[track_caller]
fn us(actual_ns: f64, expected_us: f64) {
    near(actual_ns / 1e3, expected_us, 0.051);
}

fn class(device: &Device, class: GapClass) -> Distribution {
    device
        .gaps
        .classes
        .iter()
        .find(|of| of.class == class)
        .unwrap()
        .lengths
}

#[test]
fn records_are_counted() {
    let timeline = timeline();
    let trace = trace();
    let device = &trace.devices[0];
    assert_eq!(
        (
            device.counts.kernels,
            device.counts.copies,
            device.counts.memsets
        ),
        (138, 18, 18)
    );
    assert_eq!(
        (
            timeline.calls.len(),
            timeline.annotations.len(),
            timeline.overheads.len()
        ),
        (244, 366, 2)
    );
    assert_eq!(device.streams.len(), 1);
    assert_eq!(device.streams[0].number, 7);
    assert_eq!(timeline.completeness.unmatched, 0);
    assert!(
        timeline.completeness.skipped.is_empty(),
        "{:?}",
        timeline.completeness.skipped
    );
    // Sixteen rows of metadata are no devices.
    assert_eq!(trace.devices.len(), 1);
    assert_eq!(device.name.as_deref(), Some("NVIDIA H200"));
    assert_eq!(device.compute_capability.as_deref(), Some("9.0"));
}

#[test]
fn the_span_is_divided() {
    let trace = trace();
    let device = &trace.devices[0];
    us(device.span_ns, 167_805.8);
    us(device.busy_ns, 161_251.9);
    near(device.busy_ns / device.span_ns, 0.9609, 0.00005);
    us(device.kernel_ns, 11_827.1);
    us(device.copy_ns, 149_407.7);
    us(device.memset_ns, 17.1);
    near(device.overlap_ns, 0.0, 0.0);
    near(device.copy_exposed_ns, device.copy_ns, 0.0);
    near(device.idle_ns, device.span_ns - device.busy_ns, 0.0);
}

#[test]
fn calls_and_queues() {
    let trace = trace();
    let launches = &trace.devices[0].launches;
    assert_eq!(launches.matched, 174);
    let call = launches.call.unwrap();
    near(call.sum_ns / 1e3, 151_968.0, 0.5);
    near(call.min_ns, 2_939.0, 0.5);
    // Quantiles by type 7; the sheet counts p50 8.52 and p90 18.09, which are the next larger values.
    near(call.median_ns / 1e3, 8.49, 0.04);
    near(call.p90_ns / 1e3, 18.09, 0.01);
    let queue = launches.queue.unwrap();
    near(queue.median_ns / 1e3, 2_912.0, 0.5);
    near(queue.p90_ns / 1e3, 3_322.0, 1.0);
    assert_eq!(launches.began_in_call, 6);
    let latency = launches.latency.unwrap();
    assert_eq!(latency.count, 11);
    near(latency.min_ns / 1e3, 10.9, 0.05);
    near(latency.max_ns / 1e3, 204.2, 0.05);
    let named = |name: &str| trace.calls.iter().find(|call| call.name == name).unwrap();
    for (name, count) in [
        ("cudaLaunchKernel", 126),
        ("cudaLaunchKernelExC", 6),
        ("cuLaunchKernelEx", 6),
    ] {
        assert_eq!(
            (named(name).durations.count, named(name).class),
            (count, CallClass::Launch),
            "{name}"
        );
    }
    for (name, count, sum_us) in [
        ("cudaStreamSynchronize", 9, 8336.9),
        ("cudaDeviceSynchronize", 2, 31.7),
    ] {
        assert_eq!(named(name).durations.count, count, "{name}");
        us(named(name).durations.sum_ns, sum_us);
    }
}

#[test]
fn gaps_have_classes() {
    let trace = trace();
    let device = &trace.devices[0];
    let all = device.gaps.all.unwrap();
    assert_eq!(all.count, 173);
    near(all.p10_ns, 1_056.0, 1.0);
    near(all.median_ns, 1_184.0, 1.0);
    // By type 7; the next larger value is 2.59.
    near(all.p90_ns, 2_573.0, 1.0);
    near(all.max_ns, 3_349_250.0, 500.0);
    for (of, count, sum_us) in [
        (GapClass::HostWait, 11, 6315.6),
        (GapClass::LaunchFloor, 157, 208.6),
        (GapClass::Dependency, 5, 29.8),
    ] {
        assert_eq!(class(device, of).count, count, "{of:?}");
        us(class(device, of).sum_ns, sum_us);
    }
    // One stream: its gaps are those of the device.
    assert_eq!(device.streams[0].gaps, device.gaps.all);
    let causes: Vec<(HostCause, Option<&str>, u64)> = device
        .gaps
        .causes
        .iter()
        .map(|cause| (cause.cause, cause.call.as_deref(), cause.count))
        .collect();
    assert_eq!(
        causes,
        [
            (HostCause::PageableCopy, Some("cudaMemcpyAsync"), 2),
            (HostCause::Synchronisation, Some("cudaStreamSynchronize"), 6),
            (HostCause::HostCode, None, 3)
        ]
    );
}

#[test]
fn kernels_have_distributions() {
    let trace = trace();
    let kernels = &trace.devices[0].kernels;
    near(
        kernels.iter().map(|kernel| kernel.time_share).sum(),
        1.0,
        1e-9,
    );
    assert_eq!(
        kernels
            .iter()
            .map(|kernel| kernel.durations.count)
            .sum::<u64>(),
        138
    );
    // 4096³ in BF16 are 137.4 GFLOP: 785 TFLOP/s are 175.0 us. In FP32 51.4 TFLOP/s are 2673 us.
    let median = |part: &str| {
        let kernel = kernels
            .iter()
            .find(|kernel| kernel.name.contains(part))
            .unwrap();
        kernel.durations.median_ns / 1e3
    };
    near(
        median("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT"),
        175.0,
        0.5,
    );
    near(kernels[0].durations.median_ns / 1e3, 2_673.0, 5.0);
    assert_eq!(kernels[0].durations.count, 3);
}

#[test]
fn copies_have_rates() {
    let trace = trace();
    let rates: Vec<String> = trace.devices[0]
        .transfers
        .iter()
        .map(|row| {
            let rate = row.rate_bytes_per_s.unwrap() / 1e9;
            format!(
                "{} {:?} {:?} {} {rate:.2}",
                row.kind.name(),
                row.from,
                row.to,
                row.durations.count
            )
        })
        .collect();
    assert_eq!(
        rates,
        [
            "DtoH Device Pageable 3 1.64",
            "HtoD Pageable Device 3 8.64",
            "HtoD Pinned Device 3 55.37",
            "DtoD Device Device 6 756.18",
            "DtoH Device Pinned 3 0.00"
        ]
    );
}

#[test]
fn the_verdict_is_the_copies() {
    let trace = trace();
    let verdict = trace.verdict.unwrap();
    assert_eq!(verdict.bound, Bound::Copies);
    assert_eq!(
        verdict.title,
        "87 % of the span of 168 ms is 6 pageable copies; all copies 89 %, kernels 7 %, idle 4 %"
    );
}

#[test]
fn pageable_copies_are_the_finding() {
    let link = HostLink {
        device: 0,
        to_device_bytes_per_s: Some(55.4e9),
        to_host_bytes_per_s: Some(55.2e9),
        origin: ridge_model::device::Origin::Measured,
        source: "measured".to_owned(),
    };
    for links in [vec![], vec![link]] {
        let trace = analyse(&timeline(), "kineto.json.gz", &links);
        let ids: Vec<&str> = trace
            .findings
            .iter()
            .map(|finding| finding.id.as_str())
            .collect();
        assert_eq!(ids, ["pageable-transfer", "transfer-bound"]);
        let finding = &trace.findings[0];
        // 145.8 ms of 167.8; with what the link carries, 7.3 ms would be left, and the gaps behind are 5.3 ms.
        assert!(
            (0.60..=0.90).contains(&finding.saving_ceiling),
            "{finding:?}"
        );
        assert!(finding.saving_expected <= finding.saving_ceiling);
        near(trace.findings[1].saving_ceiling, 0.89, 0.005);
    }
}

/// Whatever the document says about a device adds up.
#[test]
fn parts_add_up() {
    let trace = trace();
    let device = &trace.devices[0];
    near(device.busy_ns + device.idle_ns, device.span_ns, 0.5);
    near(device.gaps.all.unwrap().sum_ns, device.idle_ns, 0.5);
    near(
        device
            .gaps
            .classes
            .iter()
            .map(|class| class.lengths.sum_ns)
            .sum(),
        device.idle_ns,
        0.5,
    );
    near(
        device.gaps.causes.iter().map(|cause| cause.sum_ns).sum(),
        class(device, GapClass::HostWait).sum_ns,
        0.5,
    );
    for finding in &trace.findings {
        assert!(
            finding.saving_expected <= finding.saving_ceiling && finding.saving_ceiling <= 1.0,
            "{finding:?}"
        );
        near(
            finding.saving_ceiling_ns / device.span_ns,
            finding.saving_ceiling,
            1e-9,
        );
    }
}
