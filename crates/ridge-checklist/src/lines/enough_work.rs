//! A launch costs the host about 2 us, and a GPU that works on little data is idle between launches. A port pays off from
//! the size on at which a kernel takes much longer than its launch.
//!
//! # How it is answered
//! No where kernels have `launch-bound`, or where a trace has so many kernels shorter than their own launch calls that what
//! the calls take beyond them is 2 % of the time beside copies, and the device idled as long. The figures have the
//! break-even sizes: the bytes that device memory moves in the time of one launch, and the bytes that the link to the host
//! carries while the kernel runs. Both come from measured ceilings where `ridge ceilings` has stored some for such a GPU,
//! else from the data sheet.
//!
//! # What to do
//! Give a launch more data: several problems in one, larger tiles, batched operations of a library. Record a sequence of
//! small launches as a CUDA graph, or fuse it. Where all data is small, the CPU may be the better place.
//!
//! # When it is wrong
//! A host that runs far ahead hides short kernels as long as its own calls keep up. Profilers make short kernels look longer,
//! and calls slower.

use ridge_diagnose::document::Kernel;
use ridge_model::quantity::{Nanos, counted};
use ridge_trace::document::Device;

use super::{neither, record};
use crate::document::Evidence;
use crate::inputs::{Inputs, Named, Program};
use crate::kernels::{Asked, OfSource, WORTHWHILE, counter, sources, whole_profile};
use crate::part::{Part, figure};
use crate::words::percent;
use crate::{rates, trace};

pub(super) const ID: &str = "enough-work";
pub(super) const QUESTION: &str = "Is there enough work in a launch to be worth it?";

const ASKED: Asked = Asked {
    findings: &["launch-bound"],
    fine: "takes longer than its launch",
    figures: |figures| figures.counter("gpu__time_duration.sum", None),
};
/// So many kernels have their break-even sizes told.
const TOLD: usize = 2;

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    let kernels = sources(inputs).into_iter().map(|source| {
        let mut part = source.answer(&ASKED);
        // The sizes come first: they tell how far it is.
        let rest = std::mem::replace(&mut part.evidence, break_even(inputs, &source));
        part.with(rest)
    });
    let programs = inputs.programs.iter();
    let programs = programs.filter_map(|program| of_program(inputs, program));
    kernels.chain(programs).collect()
}

pub(super) fn ask(inputs: &Inputs) -> (String, Vec<String>) {
    (neither(inputs), vec![record(inputs), whole_profile(None)])
}

/// The sizes from which on a launch, and a copy, are worth it.
fn break_even(inputs: &Inputs, source: &OfSource<'_>) -> Vec<Evidence> {
    let mut list = Vec::new();
    for kernel in source
        .kernels
        .iter()
        .take(TOLD)
        .map(|weighed| weighed.kernel)
    {
        list.extend(sizes(inputs, source.file, kernel));
    }
    list
}

fn sizes(inputs: &Inputs, file: &str, kernel: &Kernel) -> Vec<Evidence> {
    let rates = kernel
        .device
        .as_deref()
        .and_then(|name| rates::of(inputs, name, kernel.compute_capability.as_deref()));
    let Some(rates) = rates else {
        return Vec::new();
    };
    let about = Some(kernel.name.as_str());
    let moved = counter(kernel, "dram__bytes_read.sum")
        .zip(counter(kernel, "dram__bytes_write.sum"))
        .map(|(read, written)| read + written);
    let of_launch = rates.memory * rates.launch_ns / 1e9;
    let mut list = Vec::new();
    if let Some(moved) = moved {
        let metric = "dram__bytes_read.sum + dram__bytes_write.sum";
        list.push(figure(file, about, metric, moved, "byte").healthy(of_launch));
    }
    list.push(figure(
        &rates.source,
        about,
        "break-even with a launch: bytes of device memory in its time",
        of_launch,
        "byte",
    ));
    if let (Some(link), Some(duration)) = (rates.link, kernel.duration_ns) {
        list.push(figure(
            &rates.source,
            about,
            "break-even with a copy: bytes over the link to the host while the kernel runs",
            link * duration / 1e9,
            "byte",
        ));
    }
    list
}

fn of_program(inputs: &Inputs, program: &Named<Program>) -> Option<Part> {
    let found = &program.content.trace;
    let file = program.name.as_str();
    let command = trace::timeline(file);
    let finding = found
        .findings
        .iter()
        .find(|finding| finding.id == "launch-bound");
    let tiny = found
        .devices
        .iter()
        .filter_map(Tiny::of)
        .max_by(|a, b| a.share.total_cmp(&b.share));
    let mut part = match (finding, &tiny) {
        (Some(finding), _) => Part::no(format!("{file}: {}", finding.title))
            .with(finding.evidence.iter().map(|evidence| Evidence {
                healthy: evidence.healthy,
                ..figure(file, None, evidence.metric.clone(), evidence.value, &evidence.unit)
            }))
            .doing(finding.actions.iter().cloned())
            .then(command),
        (None, Some(tiny)) if tiny.share >= WORTHWHILE => Part::no(format!(
            "{file}: {} of {} run for less time than their launch call takes, {} (median): the calls take {} of the time beside copies",
            tiny.count,
            counted(tiny.of, "kernel"),
            Nanos::new(tiny.call_ns),
            percent(tiny.share)
        ))
        .saving(tiny.share)
        .doing([
            "fuse small kernels, or let a compiler do it (torch.compile, XLA)".to_owned(),
            "record the sequence as a CUDA graph, so that one call launches all of it".to_owned(),
        ])
        .then(command),
        // Without calls nobody knows what launches cost.
        (None, None) => {
            if found.devices.iter().all(|device| device.counts.kernels == 0) {
                return None;
            }
            return Some(Part::unknown(
                format!("{file} does not tell how long launch calls take"),
                record(inputs),
            ));
        }
        (None, Some(tiny)) => Part::yes(format!(
            "{file}: launches of {} leave the device no time idle that matters",
            counted(tiny.of, "kernel")
        )),
    };
    if let Some(tiny) = tiny {
        let about = Some(tiny.device.as_str());
        part = part.with([
            figure(
                file,
                about,
                "kernels shorter than their launch call",
                tiny.count as f64,
                "kernel",
            ),
            figure(file, about, "launch call (median)", tiny.call_ns, "ns"),
            figure(file, about, "these kernels together", tiny.kernels_ns, "ns"),
        ]);
    }
    Some(part)
}

/// Kernels that run for less time than their launch call takes.
struct Tiny {
    device: String,
    count: u64,
    of: u64,
    kernels_ns: f64,
    call_ns: f64,
    /// What the calls take beyond the kernels, as a share of the time beside copies, and no more than the device idled.
    share: f64,
}

impl Tiny {
    fn of(device: &Device) -> Option<Self> {
        let call = device.launches.call.as_ref()?;
        let count = device.launches.kernels_below_call;
        let beyond =
            (count as f64 * call.median_ns - device.launches.kernels_below_call_ns).max(0.0);
        let beside_copies = device.span_ns - device.copy_exposed_ns;
        Some(Self {
            device: format!("device {}", device.number),
            count,
            of: device.counts.kernels,
            kernels_ns: device.launches.kernels_below_call_ns,
            call_ns: call.median_ns,
            share: if beside_copies > 0.0 {
                beyond.min(device.idle_ns) / beside_copies
            } else {
                0.0
            },
        })
    }
}
