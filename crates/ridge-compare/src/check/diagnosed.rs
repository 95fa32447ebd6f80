//! What a diagnosis says about kernels, in the words of budgets.

use ridge_diagnose::document::{Document, Kernel};

use ridge_model::quantity::Nanos;

use super::Found;
use super::facts::{Facts, Figure};

/// Registers of a thread, as the profiler spells it.
const REGISTERS: &str = "launch__registers_per_thread";

/// All kernels of a diagnosis.
pub(super) fn facts(diagnosis: &Document, result: usize) -> Vec<Facts> {
    let kernels = diagnosis.kernels.iter();
    kernels.map(|kernel| of_kernel(kernel, result)).collect()
}

fn of_kernel(kernel: &Kernel, result: usize) -> Facts {
    let duration = duration(kernel);
    // Of one launch: nothing tells how far another one differs.
    let single = |value: f64| Figure {
        value,
        interval: None,
    };
    let warps = kernel
        .latency
        .as_ref()
        .and_then(|latency| latency.warps.as_ref());
    let occupancy = warps.and_then(|warps| Some(warps.theoretical? / warps.most?));
    let needed = kernel
        .compulsory
        .as_ref()
        .and_then(|needed| needed.bound_ns);
    let registers = kernel
        .counters
        .iter()
        .find(|counter| counter.metric == REGISTERS)
        .map(|counter| counter.value)
        .filter(|value| (0.0..=f64::from(u16::MAX)).contains(value));
    Facts {
        name: shown(kernel),
        kernel: kernel.name.clone(),
        result,
        time: duration.map(single),
        share_of_bound: needed
            .zip(duration)
            .map(|(needed, time)| needed / time)
            .filter(|share| share.is_finite())
            .map(single),
        registers: registers.map(|value| value as u32),
        occupancy: occupancy.filter(|share| (0.0..=1.0).contains(share)),
        findings: Some(
            kernel
                .findings
                .iter()
                .map(|finding| finding.id.clone())
                .collect(),
        ),
        not_checked: kernel
            .not_checked
            .iter()
            .map(|check| check.id.clone())
            .collect(),
        ..Facts::default()
    }
}

/// Kernels by name, grid and block; none of a result that is no diagnosis.
pub(super) fn kernels(found: &Found) -> Vec<(String, &Kernel)> {
    match found {
        Found::Diagnosis(diagnosis) => diagnosis
            .kernels
            .iter()
            .map(|kernel| (shown(kernel), kernel))
            .collect(),
        Found::Bench(_) => Vec::new(),
    }
}

pub(super) fn duration(kernel: &Kernel) -> Option<f64> {
    kernel
        .duration_ns
        .filter(|time| Nanos::PLAUSIBLE.holds(*time))
}

/// The signature with the launch, by which kernels of two diagnoses are the same.
fn shown(kernel: &Kernel) -> String {
    let size = |size: Option<[u32; 3]>| {
        size.map_or_else(|| "?".to_owned(), |[x, y, z]| format!("{x}x{y}x{z}"))
    };
    format!(
        "{} {}/{}",
        kernel.signature,
        size(kernel.grid),
        size(kernel.block)
    )
}
