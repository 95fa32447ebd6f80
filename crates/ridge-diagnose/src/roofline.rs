//! A profiled kernel as a subject of the roofline: what it computed and moved, and what its device could do at the clocks
//! of its run.

use ncu_rep::Metrics;
use ridge_model::arch::tensor::{Counter, Family, Operands};
use ridge_model::device::{Attributes, Origin};
use ridge_model::quantity::{Bandwidth, Bytes, ComputeRate, Flops, Hertz, Nanos};
use ridge_model::roof::{ComputeRoof, MemoryLevel, RoofClock};
use ridge_model::roofline::document::{Class, Side};
use ridge_model::roofline::{Amounts, Moved, Precision, RunRoofs, Subject};
use ridge_model::{Architecture, Device, NumberFormat, PeakUnit};

use crate::diagnose::{Group, Options, diagnose};
use crate::ledger;
use crate::mix::{InstructionMix, TENSOR};
use crate::profile::KernelProfile;
use crate::work::tensor::products;
use crate::work::{memory, threads};

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

/// Operations by kind, and the kinds that were not counted.
fn operations(profile: &KernelProfile<'_>) -> (Vec<Amounts>, Vec<&'static str>) {
    let metrics = &profile.metrics;
    let mix = InstructionMix::of(metrics);
    let (mut list, mut not_counted) = (Vec::new(), Vec::new());
    for format in threads::FORMATS {
        match threads::operations(format, metrics, mix.as_ref()) {
            Some(counted) => {
                let may_be_moves = may_be_moves(profile, format);
                let are_moves = may_be_moves && are_too_few(counted.count, metrics);
                list.push(Amounts {
                    precision: Precision::vector(format),
                    operations: Flops::new(if are_moves { 0.0 } else { counted.count }),
                    may_be_moves,
                    source: counted.source,
                });
            }
            None => not_counted.push(format.name()),
        }
    }
    let architecture = profile.architecture();
    let products = architecture
        .as_ref()
        .and_then(|architecture| products(metrics, &architecture.tensor));
    match (products, architecture) {
        (Some(products), Some(architecture)) => {
            for products in products {
                let precision = matrix(
                    &architecture,
                    products.operands,
                    products.family,
                    products.is_sparse,
                );
                match precision {
                    Some(precision) => add(
                        &mut list,
                        Amounts {
                            precision,
                            operations: Flops::new(products.operations),
                            source: vec![products.source],
                            may_be_moves: false,
                        },
                    ),
                    None if products.operations > 0.0 => not_counted.push("single-bit tensor"),
                    None => {}
                }
            }
        }
        _ if mix.is_some_and(|mix| mix.of_opcodes(TENSOR) <= 0.0) => {}
        _ => not_counted.push("tensor"),
    }
    (list, not_counted)
}

/// Whether all half-precision operations may be loads of constants, which compilers also write as a multiply-add of
/// zeros: multiply-adds alone, and few for each thread. A kernel that computes has a loop, or additions and products too.
fn may_be_moves(profile: &KernelProfile<'_>, format: NumberFormat) -> bool {
    /// Accumulators of tiled kernels are cleared so: one instruction for two of them, and tiles of 4 × 4 are common.
    const FEW: f64 = 8.0;
    if format != NumberFormat::Fp16 {
        return false;
    }
    let number = |name: &str| profile.metrics.number(name);
    let each = |operation: &str| {
        number(&format!(
            "smsp__sass_thread_inst_executed_op_h{operation}_pred_on.sum.per_cycle_elapsed"
        ))
    };
    let others = each("add").unwrap_or(0.0) + each("mul").unwrap_or(0.0);
    let per_thread = || {
        let count = each("fma")? * number("smsp__cycles_elapsed.avg")?;
        Some(count / profile.threads()? as f64)
    };
    others <= 0.0 && per_thread().is_some_and(|count| count <= FEW)
}

/// Whether there are too few operations for the data that passes to be computed with. The least that a kernel does on
/// half-precision values is one operation for each of a few arrays: adding two of them is one for six bytes.
fn are_too_few(operations: f64, metrics: &Metrics<'_>) -> bool {
    const LEAST_FOR_A_BYTE: f64 = 0.05;
    memory::l2(metrics).is_some_and(|traffic| {
        operations < LEAST_FOR_A_BYTE * (traffic.read_bytes + traffic.written_bytes)
    })
}

/// Different counters may be of one kind.
fn add(list: &mut Vec<Amounts>, more: Amounts) {
    match list
        .iter_mut()
        .find(|known| known.precision == more.precision)
    {
        Some(known) => {
            if more.operations.get() > 0.0 {
                known.source.extend(more.source);
            }
            known.operations = known.operations + more.operations;
        }
        None => list.push(more),
    }
}

/// The kind of a product; absent for single bits, which have no number format.
fn matrix(
    architecture: &Architecture,
    operands: Operands,
    family: Family,
    is_sparse: bool,
) -> Option<Precision> {
    use NumberFormat::{Bf16, Fp4, Fp8E4m3, Fp16, Fp32, Fp64, Int4, Int8, Int32, Tf32};
    let (input, accumulator) = match operands {
        Operands::Fp64 => (Fp64, Fp64),
        Operands::Tf32 => (Tf32, Fp32),
        Operands::Bf16 => (Bf16, Fp32),
        Operands::Fp16IntoFp32 => (Fp16, Fp32),
        Operands::Fp16IntoFp16 => (Fp16, Fp16),
        Operands::Fp8IntoFp32 => (Fp8E4m3, Fp32),
        Operands::Fp8IntoFp16 => (Fp8E4m3, Fp16),
        Operands::Fp4 => (Fp4, Fp32),
        Operands::Int8 => (Int8, Int32),
        Operands::Int4 => (Int4, Int32),
        Operands::Int1 => return None,
    };
    // Instructions of one warp have a peak of their own where those of four warps are faster.
    let has_groups = architecture
        .tensor
        .rates
        .iter()
        .any(|rate| rate.operands == operands && rate.family == Family::WarpGroup);
    let unit = if family == Family::Warp && has_groups {
        PeakUnit::TensorWarp
    } else {
        PeakUnit::Tensor
    };
    Some(Precision {
        is_sparse,
        ..Precision::matrix(input, accumulator, unit)
    })
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

const SM_CLOCKS: [&str; 3] = [
    "sm__cycles_elapsed.avg.per_second",
    "smsp__cycles_elapsed.avg.per_second",
    "gpc__cycles_elapsed.avg.per_second",
];

fn run_roofs(profile: &KernelProfile<'_>, device: Option<&Device>) -> RunRoofs {
    let metrics = &profile.metrics;
    let clock = sm_clock(metrics);
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
    let Some((clock_metric, hz)) = clock else {
        return RunRoofs {
            sm_clock: None,
            memory,
            compute: Vec::new(),
        };
    };
    let mut compute = stored_peaks(profile, metrics, clock_metric, hz);
    for peak in device.iter().flat_map(|device| &device.peaks) {
        let precision = Precision::of(peak);
        if compute.iter().any(|(known, ..)| *known == precision) {
            continue;
        }
        if let Some(roof) = ComputeRoof::of(peak, RoofClock::Run(Hertz::new(hz))) {
            compute.push((precision, roof.rate, vec![clock_metric.to_owned()]));
        }
    }
    RunRoofs {
        sm_clock: Some(Hertz::new(hz)),
        memory,
        compute,
    }
}

/// The SM clock of the run and the metric that tells it.
///
/// In kernels of a few microseconds the cycles are counted over more than the time, which makes a clock that the device
/// does not have: there its highest one stands in.
fn sm_clock(metrics: &Metrics<'_>) -> Option<(&'static str, f64)> {
    const HIGHEST: &str = "device__attribute_clock_rate";
    let (name, hz) = SM_CLOCKS
        .into_iter()
        .find_map(|name| Some((name, metrics.number(name).filter(|hz| *hz > 0.0)?)))?;
    let highest = metrics.number(HIGHEST).map(|khz| 1e3 * khz);
    match highest.filter(|highest| *highest > 0.0) {
        Some(highest) if hz > highest => Some((HIGHEST, highest)),
        _ => Some((name, hz)),
    }
}

/// The peaks that the report stores, in operations a cycle of the whole device, at the SM clock of the run.
fn stored_peaks(
    profile: &KernelProfile<'_>,
    metrics: &Metrics<'_>,
    clock_metric: &str,
    hz: f64,
) -> Vec<(Precision, ComputeRate, Vec<String>)> {
    let stored = |precision: Precision, name: String, each: f64| {
        let per_cycle = metrics.number(&name).filter(|peak| *peak > 0.0)?;
        let rate = ComputeRate::new(each * per_cycle * hz);
        Some((precision, rate, vec![name, clock_metric.to_owned()]))
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
