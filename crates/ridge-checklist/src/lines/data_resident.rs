//! Memory of the GPU is ten to a hundred times as fast as the link to the host. Data that is copied for each call pays the
//! link each time; data that stays on the device pays it once.
//!
//! # How it is answered
//! No where a trace has `transfer-bound`, `pageable-transfer` or `serialised-transfer`. The figures are the account of the
//! link: for each direction and kind of memory how many copies, bytes, time and rate against what the link carries, and how
//! often each byte has to be used on the device for kernels to take as long as the link does.
//!
//! # What to do
//! Keep data on the device between calls, and copy only what changes. Allocate host buffers once, pinned. Copy the next
//! part while a kernel works on this one. Leave steps on the GPU that are no faster there, if that saves a copy.
//!
//! # When it is wrong
//! A trace of one call has the first copies in it, which a longer run pays once: record several calls. Managed memory that
//! moves page by page is in the account only where the tool records it.

use ridge_model::quantity::Bytes;
use ridge_trace::document::Device;

pub(super) use super::ask_for_trace as ask;
use crate::document::Evidence;
use crate::inputs::{Inputs, Named, Program};
use crate::part::{Part, figure};
use crate::words::percent;
use crate::{rates, trace};

pub(super) const ID: &str = "data-resident";
pub(super) const QUESTION: &str = "Does data stay on the device, and not travel with each call?";

const FINDINGS: &[&str] = &["transfer-bound", "pageable-transfer", "serialised-transfer"];

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    let programs = inputs.programs.iter();
    programs
        .filter_map(|program| of_program(inputs, program))
        .collect()
}

fn of_program(inputs: &Inputs, program: &Named<Program>) -> Option<Part> {
    let devices = &program.content.trace.devices;
    if devices.is_empty() {
        return None;
    }
    let file = program.name.as_str();
    let part = trace::faults(program, FINDINGS).unwrap_or_else(|| fine(file, devices));
    let account = devices
        .iter()
        .flat_map(|device| account(inputs, file, device));
    // The account comes first: it says more than the sums of a finding.
    let rest = part.evidence.clone();
    let mut part = part;
    part.evidence = account.chain(rest).collect();
    Some(part)
}

fn fine(file: &str, devices: &[Device]) -> Part {
    let bytes: u64 = devices
        .iter()
        .flat_map(|device| &device.transfers)
        .filter(|transfer| crosses(transfer))
        .filter_map(|transfer| transfer.bytes)
        .sum();
    let span: f64 = devices.iter().map(|device| device.span_ns).sum();
    let exposed: f64 = devices.iter().map(|device| device.copy_exposed_ns).sum();
    if bytes == 0 {
        return Part::yes(format!("{file}: nothing is copied between host and device"));
    }
    let share = if span > 0.0 { exposed / span } else { 0.0 };
    Part::yes(format!(
        "{file}: {} cross the link, and copies that no kernel hides take {} of the time",
        Bytes::new(bytes as f64),
        percent(share)
    ))
}

/// Whether a copy crosses the link to the host.
fn crosses(transfer: &ridge_trace::document::Transfer) -> bool {
    use ridge_trace::CopyKind::{DeviceToHost, HostToDevice, UnifiedToDevice, UnifiedToHost};
    matches!(
        transfer.kind,
        DeviceToHost | HostToDevice | UnifiedToDevice | UnifiedToHost
    )
}

/// What crossed the link, and what that cost.
fn account(inputs: &Inputs, file: &str, device: &Device) -> Vec<Evidence> {
    use ridge_trace::Memory;
    let name = format!("device {}", device.number);
    let about = Some(name.as_str());
    let mut list = Vec::new();
    if device.span_ns > 0.0 {
        list.push(figure(
            file,
            about,
            "copies that no kernel hides, of the time",
            device.copy_exposed_ns / device.span_ns,
            "fraction",
        ));
    }
    for transfer in device.transfers.iter().filter(|transfer| crosses(transfer)) {
        let host = [transfer.from, transfer.to];
        let memory = if host.contains(&Memory::Pageable) {
            "pageable"
        } else if host.contains(&Memory::Pinned) {
            "pinned"
        } else {
            "other"
        };
        let what = format!(
            "{} {memory}, {} copies",
            transfer.kind.name(),
            transfer.durations.count
        );
        if let Some(bytes) = transfer.bytes {
            list.push(figure(
                file,
                about,
                format!("{what}: bytes"),
                bytes as f64,
                "byte",
            ));
        }
        list.push(figure(
            file,
            about,
            format!("{what}: time"),
            transfer.durations.sum_ns,
            "ns",
        ));
        if let Some(rate) = transfer.rate_bytes_per_s {
            let rate = figure(file, about, format!("{what}: rate"), rate, "byte/s");
            list.push(match &transfer.link {
                Some(link) => rate.healthy(link.bytes_per_s),
                None => rate,
            });
        }
    }
    let rates = device
        .name
        .as_deref()
        .and_then(|name| rates::of(inputs, name, device.compute_capability.as_deref()));
    if let Some((link, rates)) = rates.and_then(|rates| Some((rates.link?, rates))) {
        list.push(figure(
            &rates.source,
            about,
            "break-even with a copy: uses in device memory of each byte that crosses the link",
            rates.memory / link,
            "",
        ));
    }
    list
}
