//! A profiled kernel as a subject of the roofline: what it computed and moved, and what its device could do at the clocks
//! of its run.

mod operations;
mod roofs;

use ridge_model::Device;
use ridge_model::device::{Attributes, Origin};
use ridge_model::quantity::{Bytes, Hertz, Nanos};
use ridge_model::roof::MemoryLevel;
use ridge_model::roofline::document::{Class, Side};
use ridge_model::roofline::{Amounts, Moved, Subject};

use crate::diagnose::{Group, Options, diagnose};
use crate::ledger;
use crate::profile::KernelProfile;
use crate::work::memory;
use operations::operations;
use roofs::run_roofs;

/// The launch of a profile, which stands for the launches of its group.
///
/// `device` is the one that it ran on as far as it is known: where the report stores no peak of a unit, the device's
/// operations in a cycle at the clock of the run stand in.
#[must_use]
pub fn subject(
    profile: &KernelProfile<'_>,
    group: &Group,
    device: Option<&Device>,
    side: Option<Side>,
) -> Subject {
    let (operations, not_counted) = operations(profile);
    let total: f64 = group.launches.iter().filter_map(|(_, ns)| *ns).sum();
    Subject {
        name: profile.name.clone(),
        signature: Some(profile.signature.clone()).filter(|name| *name != profile.name),
        shape: profile
            .grid
            .zip(profile.block)
            .map(|(grid, block)| format!("{grid:?} {block:?}")),
        source: Some(group.source),
        side,
        launches: group.launches.iter().map(|(index, _)| *index).collect(),
        launch: Some(profile.launch_index),
        origin: Origin::Measured,
        left_out: None,
        time: profile.duration_ns().map(Nanos::new),
        total_time: (total > 0.0).then(|| Nanos::new(total)),
        class: class(profile),
        operations,
        not_counted,
        moved: moved(profile),
        run: run_roofs(profile, device),
    }
}

/// What the report says about the device of a launch.
#[must_use]
pub fn attributes(profile: &KernelProfile<'_>) -> Attributes {
    let metrics = &profile.metrics;
    let number = |name: &str| metrics.number(&format!("device__attribute_{name}"));
    let khz = |name| number(name).map(|khz| Hertz::new(1e3 * khz));
    let whole = |name: &str| {
        let value = metrics.integer(&format!("device__attribute_{name}"))?;
        u32::try_from(value).ok()
    };
    Attributes {
        name: profile.device().map(str::to_owned),
        capability: profile.capability(),
        multiprocessors: whole("multiprocessor_count").filter(|count| *count > 0),
        sm_clock: khz("clock_rate"),
        memory_clock: khz("memory_clock_rate"),
        memory_bus_bits: whole("global_memory_bus_width"),
        memory: None,
        l2: number("l2_cache_size").map(Bytes::new),
    }
}

fn class(profile: &KernelProfile<'_>) -> Option<Class> {
    let limiter = diagnose(profile, &Group::default(), None, &Options::default()).limiter?;
    Some(match limiter.class {
        ledger::Class::Memory => Class::Memory,
        ledger::Class::Compute => Class::Compute,
        ledger::Class::Latency => Class::Latency,
        ledger::Class::Launch => Class::Launch,
    })
}

/// What a launch computed and moved.
pub(crate) fn amounts(profile: &KernelProfile<'_>) -> (Vec<Amounts>, Vec<Moved>) {
    (operations(profile).0, moved(profile))
}

fn moved(profile: &KernelProfile<'_>) -> Vec<Moved> {
    let metrics = &profile.metrics;
    let seconds = profile.duration_ns().map(|ns| ns * 1e-9);
    let dram = memory::dram(metrics, seconds).map(|bytes| (bytes.count, bytes.source));
    let l2 = memory::l2(metrics)
        .map(|traffic| (traffic.read_bytes + traffic.written_bytes, traffic.source));
    let l1 = memory::l1(metrics).map(|bytes| (bytes.count, bytes.source));
    [
        (MemoryLevel::Dram, dram),
        (MemoryLevel::L2, l2),
        (MemoryLevel::L1, l1),
    ]
    .into_iter()
    .filter_map(|(level, counted)| {
        let (bytes, source) = counted.filter(|(bytes, _)| *bytes >= 0.0 && bytes.is_finite())?;
        Some(Moved {
            level,
            bytes: Bytes::new(bytes),
            source,
        })
    })
    .collect()
}
