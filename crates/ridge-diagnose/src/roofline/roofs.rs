//! What the device could do at the clocks of a run.

use ncu_rep::Metrics;
use ridge_model::arch::tensor::Counter;
use ridge_model::quantity::{Bandwidth, ComputeRate, Hertz};
use ridge_model::roof::{ComputeRoof, MemoryLevel, RoofClock};
use ridge_model::roofline::{Precision, RunRoofs};
use ridge_model::{Device, NumberFormat};

use super::operations::matrix;
use crate::clock::SmClock;
use crate::profile::KernelProfile;
use crate::work::memory;

/// Peaks at the clocks of the run: those that the report stores, else what the device makes of its clock.
pub(super) fn run_roofs(profile: &KernelProfile<'_>, device: Option<&Device>) -> RunRoofs {
    let metrics = &profile.metrics;
    let clock = SmClock::of(metrics);
    let memory = [
        (MemoryLevel::Dram, memory::dram_peak(metrics)),
        (MemoryLevel::L2, memory::l2_peak(metrics)),
        (
            MemoryLevel::L1,
            clock.and_then(|clock| memory::l1_peak(metrics, clock)),
        ),
    ]
    .into_iter()
    .filter_map(|(level, peak)| {
        let peak = peak.filter(|peak| peak.bytes_per_s > 0.0 && peak.bytes_per_s.is_finite())?;
        Some((level, Bandwidth::new(peak.bytes_per_s), peak.source))
    })
    .collect();
    let Some(clock) = clock else {
        return RunRoofs {
            sm_clock: None,
            memory,
            compute: Vec::new(),
        };
    };
    let mut compute = stored_peaks(profile, metrics, clock);
    for peak in device.iter().flat_map(|device| &device.peaks) {
        let precision = Precision::of(peak);
        if compute.iter().any(|(known, ..)| *known == precision) {
            continue;
        }
        if let Some(roof) = ComputeRoof::of(peak, RoofClock::Run(Hertz::new(clock.hz))) {
            compute.push((precision, roof.rate, vec![clock.metric.to_owned()]));
        }
    }
    RunRoofs {
        sm_clock: Some(Hertz::new(clock.hz)),
        memory,
        compute,
    }
}

/// The peaks that the report stores, in operations a cycle of the whole device, at the SM clock of the run.
fn stored_peaks(
    profile: &KernelProfile<'_>,
    metrics: &Metrics<'_>,
    clock: SmClock,
) -> Vec<(Precision, ComputeRate, Vec<String>)> {
    let stored = |precision: Precision, name: String, each: f64| {
        let per_cycle = metrics.number(&name).filter(|peak| *peak > 0.0)?;
        let rate = ComputeRate::new(each * per_cycle * clock.hz);
        Some((precision, rate, vec![name, clock.metric.to_owned()]))
    };
    // A multiply-add is two operations, a packed one four.
    let threads = [
        (NumberFormat::Fp32, 'f', 2.0),
        (NumberFormat::Fp64, 'd', 2.0),
        (NumberFormat::Fp16, 'h', 4.0),
    ]
    .into_iter()
    .filter_map(|(format, letter, each)| {
        let name =
            format!("sm__sass_thread_inst_executed_op_{letter}fma_pred_on.sum.peak_sustained");
        stored(Precision::vector(format), name, each)
    });
    let architecture = profile.architecture();
    let matrices = architecture.iter().flat_map(|architecture| {
        architecture
            .tensor
            .counters
            .iter()
            .filter(|counter| counter.has_own_peak)
            .filter_map(|counter: &Counter| {
                let precision = matrix(
                    architecture,
                    counter.operands,
                    counter.family,
                    counter.is_sparse,
                )?;
                let name = format!("{}.sum.peak_sustained", counter.name);
                stored(precision, name, 1.0)
            })
    });
    threads.chain(matrices).collect()
}
