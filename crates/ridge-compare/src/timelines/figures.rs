//! The figures that findings about programs ask to look at.

use ridge_trace::document::{Device, GapClass, HostCause, Trace, Transfer};
use ridge_trace::{CallClass, CopyKind, Memory};

/// The value of a figure with its unit; absent where the name is not known, or the trace does not tell.
pub(super) fn figure(trace: &Trace, device: &Device, name: &str) -> Option<(f64, &'static str)> {
    let time = |value: f64| Some((value, "ns"));
    match name {
        "idle time" => time(device.idle_ns),
        "time in gaps of the class host wait" => time(
            device
                .gaps
                .classes
                .iter()
                .filter(|gaps| gaps.class == GapClass::HostWait)
                .map(|gaps| gaps.lengths.sum_ns)
                .sum(),
        ),
        "busy share of the span" => {
            (device.span_ns > 0.0).then(|| (100.0 * device.busy_ns / device.span_ns, "%"))
        }
        "time of pageable copies" => time(
            transfers(device, is_pageable)
                .map(|copies| copies.durations.sum_ns)
                .sum(),
        ),
        "rate of copies between host and device" => rate(device),
        "copies and kernels at once" => time(device.overlap_ns),
        "time of copies that no kernel hides" => time(device.copy_exposed_ns),
        "gaps behind calls that wait or allocate" => time(
            device
                .gaps
                .causes
                .iter()
                .filter(|gaps| waits(gaps.cause, gaps.call.as_deref()))
                .map(|gaps| gaps.sum_ns)
                .sum(),
        ),
        "number of calls that wait" => {
            let of_class = trace
                .calls
                .iter()
                .filter(|call| matches!(call.class, CallClass::Synchronise | CallClass::Copy));
            // Counts of calls are far below 2^53.
            Some((of_class.map(|call| call.durations.count as f64).sum(), ""))
        }
        "number of kernels" => Some((device.counts.kernels as f64, "")),
        "time of kernels" => time(device.kernel_ns),
        _ => None,
    }
}

fn transfers(device: &Device, is_meant: fn(&Transfer) -> bool) -> impl Iterator<Item = &Transfer> {
    device
        .transfers
        .iter()
        .filter(move |copies| is_meant(copies))
}

fn is_pageable(copies: &Transfer) -> bool {
    copies.from == Memory::Pageable || copies.to == Memory::Pageable
}

fn crosses_link(copies: &Transfer) -> bool {
    matches!(copies.kind, CopyKind::HostToDevice | CopyKind::DeviceToHost)
}

fn rate(device: &Device) -> Option<(f64, &'static str)> {
    let bytes: Option<u64> = transfers(device, crosses_link)
        .map(|copies| copies.bytes)
        .sum();
    let seconds: f64 = transfers(device, crosses_link)
        .map(|copies| copies.durations.sum_ns / 1e9)
        .sum();
    (seconds > 0.0).then_some((bytes? as f64 / seconds, "byte/s"))
}

/// Whether a gap is behind a call that waits or allocates.
fn waits(cause: HostCause, call: Option<&str>) -> bool {
    match cause {
        HostCause::Synchronisation => true,
        HostCause::OtherCall => call.is_some_and(|call| CallClass::of(call) == CallClass::Allocate),
        _ => false,
    }
}
