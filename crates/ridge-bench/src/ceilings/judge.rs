//! Puts data sheet and architecture beside figures, and says which are outside of what is expected.

use ridge_model::device::{Device, PeakRequest, PeakUnit};
use ridge_model::{Architecture, NumberFormat};

use super::document::{Document, Family, Figure, Path, PeerLink};
use crate::document::Remark;

/// Bytes that L1 and shared memory give an SM in a cycle, on every architecture from 7.0 on.
const NEAR_BYTES: f64 = 128.0;
/// The bands of `docs/design/ceilings.md`: shares of the data sheet, or of the architecture at the clock of the run.
const COPY: (f64, f64) = (0.85, 0.94);
const FP32: f64 = 0.90;
const LIBRARY: f64 = 0.70;
const LIBRARY_AT_CLOCK: f64 = 0.85;
const LINK: f64 = 0.80;
/// What is this far above has to be a fault of the measurement.
const ABOVE: f64 = 1.03;

/// Puts peaks beside the figures of a document and fills its warnings.
pub fn judge(document: &mut Document, device: Option<&Device>) {
    let capability = document.machine.attributes().capability;
    let architecture = capability.and_then(Architecture::of);
    for figure in &mut document.figures {
        figure.peak = device.and_then(|device| peak(figure, device));
        figure.architecture_per_sm_cycle =
            architecture.and_then(|architecture| per_cycle(figure, &architecture, device));
    }
    document.warnings = document.figures.iter().flat_map(warnings).collect();
    if document.machine.is_simulated {
        document.warnings.clear();
    }
}

/// The format and unit whose peak a figure is about.
fn request(figure: &Figure) -> Option<PeakRequest> {
    let format: NumberFormat = figure.format.as_deref()?.parse().ok()?;
    let unit = match (figure.family, figure.path) {
        (Family::Vector, _) => PeakUnit::Vector,
        (Family::Tensor, Path::Loop) => PeakUnit::TensorWarp,
        (Family::Tensor, _) => PeakUnit::Tensor,
        _ => return None,
    };
    let sums16 = figure.id.ends_with("sum16").then_some(NumberFormat::Fp16);
    Some(PeakRequest {
        accumulator: sums16,
        ..PeakRequest::of(format).on(unit)
    })
}

fn of_table(request: PeakRequest, device: &Device) -> Option<&ridge_model::device::Peak> {
    device.peak(request).or_else(|| {
        // Where mma.sync is all there is, its peak is listed as the tensor one.
        (request.unit == Some(PeakUnit::TensorWarp))
            .then(|| device.peak(request.on(PeakUnit::Tensor)))
            .flatten()
    })
}

fn peak(figure: &Figure, device: &Device) -> Option<f64> {
    match figure.family {
        Family::Dram => device.bandwidth.map(|fact| fact.value.get()),
        Family::L2 => device.l2_bandwidth.map(|fact| fact.value.get()),
        Family::L1 => device.l1_bandwidth().map(|fact| fact.value.get()),
        Family::Link => {
            let ways = if figure.id == "link-duplex-pinned" {
                2.0
            } else {
                1.0
            };
            device.host_link.map(|fact| fact.value.get() * ways)
        }
        Family::Peer => {
            let ways = if figure.id == "peer-duplex" { 2.0 } else { 1.0 };
            let peer = figure.peer.as_ref().filter(|peer| peer.has_access)?;
            let link = match peer.link? {
                PeerLink::NvLink => device.nvlink,
                PeerLink::Pcie => device.host_link,
            };
            link.map(|fact| fact.value.get() * ways)
        }
        Family::Vector | Family::Tensor => {
            of_table(request(figure)?, device).map(|peak| peak.rate.get())
        }
        Family::Atomics | Family::Launch => None,
    }
}

fn per_cycle(figure: &Figure, architecture: &Architecture, device: Option<&Device>) -> Option<f64> {
    let execution = &architecture.execution;
    let value = |lanes: Option<ridge_model::arch::Figure>| lanes.map(|lanes| lanes.value);
    match figure.id.as_str() {
        "int32-multiply-add" => return value(execution.integer_multiply_lanes),
        "int32-add" => return value(execution.alu_lanes),
        "xu" => return value(execution.xu_lanes),
        _ => {}
    }
    match figure.family {
        Family::L1 => Some(NEAR_BYTES),
        Family::Vector | Family::Tensor => {
            let device = device?;
            device.operations_per_cycle(of_table(request(figure)?, device)?)
        }
        _ => None,
    }
}

fn warnings(figure: &Figure) -> Vec<Remark> {
    let share = figure.peak.map(|peak| figure.burst.median / peak);
    let at_clock = figure
        .per_sm_cycle
        .zip(figure.architecture_per_sm_cycle)
        .map(|(seen, there)| seen / there);
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let mut found = Vec::new();
    let mut warn = |id: &str, text: String, hint: &str| {
        found.push(Remark {
            id: id.to_owned(),
            text,
            hint: Some(hint.to_owned()),
        });
    };
    if let Some(at_clock) = at_clock.filter(|share| *share > ABOVE) {
        warn(
            "above-architecture",
            format!(
                "{}: {} of what the architecture has at this clock, which cannot be",
                figure.name,
                percent(at_clock)
            ),
            "the clock changed within a repeat, or the table of architectures is wrong: please report it",
        );
    }
    match (figure.id.as_str(), share) {
        ("dram-copy", Some(share)) if share < COPY.0 => warn(
            "copy-low",
            format!(
                "DRAM copy reaches {} of the data sheet; 85 to 94 % are usual",
                percent(share)
            ),
            "look for another process on the GPU, a lowered memory clock, or a partition (MIG): `nvidia-smi -q -d CLOCK,PERFORMANCE`",
        ),
        ("dram-copy", Some(share)) if share > COPY.1 => warn(
            "copy-high",
            format!(
                "DRAM copy reaches {} of the data sheet; 85 to 94 % are usual",
                percent(share)
            ),
            "the buffers may fit into a cache, or the data sheet of the table is that of another board: `ridge devices NAME`",
        ),
        ("link-h2d-pinned" | "link-d2h-pinned", Some(share)) if share < LINK => warn(
            "link-low",
            format!(
                "{}: {} of the raw link; 80 % and more are usual",
                figure.name,
                percent(share)
            ),
            "look at the width and generation of the slot: `nvidia-smi -q | grep -A 8 'GPU Link Info'`; virtual machines and another NUMA node cost too",
        ),
        _ => {}
    }
    if figure.id == "fp32-fma"
        && let Some(at_clock) = at_clock.filter(|share| *share < FP32)
    {
        warn(
            "fp32-low",
            format!(
                "{}: {} of what the architecture has at this clock",
                figure.name,
                percent(at_clock)
            ),
            "another process may use the GPU: `nvidia-smi` lists them",
        );
    }
    if figure.path == Path::Library && figure.id == "tensor-bf16" {
        if let Some(share) = share.filter(|share| *share < LIBRARY) {
            warn(
                "library-low",
                format!(
                    "{} by cuBLASLt: {} of the data sheet; 70 % and more are usual",
                    figure.name,
                    percent(share)
                ),
                "look for a power limit or heat: the column of the clock, and `nvidia-smi -q -d PERFORMANCE`",
            );
        }
        if let Some(at_clock) = at_clock.filter(|share| *share < LIBRARY_AT_CLOCK) {
            warn(
                "library-low-at-clock",
                format!(
                    "{} by cuBLASLt: {} of what the architecture has at this clock; 85 % and more are usual",
                    figure.name,
                    percent(at_clock)
                ),
                "a newer cuBLAS may have better kernels for this GPU",
            );
        }
    }
    found
}
