//! Atomic additions: all threads to one word, each thread to its own, and in shared memory.

use std::rc::Rc;

use ridge_gpu::{Argument, Operations, Prepared};
use ridge_model::NumberFormat;
use ridge_model::device::PeakUnit;

use super::document::{Detail, Family, Measured, Path, Unit};
use super::probe::{Kernels, Label, Shape, bytes_of, check, writes};
use super::runner::{Manner, Runner, Variant};
use crate::protocol::Failure;

const SOURCE: &str = include_str!("kernels/atomics.cu");
const THREADS: u32 = 512;
const BLOCKS: u32 = 2;
/// Sums of ones in single precision are exact up to here.
const EXACT: u64 = 1 << 24;

/// A kernel, with how often each thread adds.
struct Kind {
    kernel: &'static str,
    id: &'static str,
    name: &'static str,
    rounds: u32,
    /// Whether all threads have one word.
    is_one: bool,
}

pub(super) fn measure(
    runner: &Runner<'_>,
    measured: &mut Measured,
    tell: &mut dyn FnMut(&str),
) -> Result<(), Failure> {
    let device = runner.device;
    tell("compiling the kernels of atomic additions");
    let blocks = device.properties().multiprocessors * BLOCKS;
    let threads = u64::from(blocks * THREADS);
    let exact = ((EXACT / threads) as u32 / 4 * 4).max(4);
    let kinds = [
        Kind {
            kernel: "one_float",
            id: "atomic-one-address",
            name: "FP32 additions, one address",
            rounds: exact.min(64),
            is_one: true,
        },
        Kind {
            kernel: "one_integer",
            id: "atomic-one-address-int32",
            name: "INT32 additions, one address, lanes of a warp added up first",
            rounds: 256,
            is_one: true,
        },
        Kind {
            kernel: "spread_integer",
            id: "atomic-spread",
            name: "INT32 additions, one address for each thread",
            rounds: 512,
            is_one: false,
        },
        Kind {
            kernel: "shared_integer",
            id: "atomic-shared",
            name: "INT32 additions in shared memory, one address for each thread",
            rounds: 4096,
            is_one: false,
        },
    ];
    let expressions: Vec<String> = kinds.iter().map(|kind| kind.kernel.to_owned()).collect();
    let kernels = Kernels::compile(device, "atomics.cu", SOURCE, &expressions)?;
    let to = device.allocate(threads * 4)?;
    for kind in &kinds {
        tell(kind.name);
        let function = kernels.function(device, kind.kernel)?;
        let count = threads * u64::from(kind.rounds);
        let image: Rc<[u8]> = match kind.kernel {
            "one_float" => (count as f32).to_le_bytes().into(),
            // The lanes add 0 to 31.
            "one_integer" => ((count / 32 * 496) as u32).to_le_bytes().into(),
            _ => {
                let words: Vec<u32> = (1..=32).map(|lane| lane * kind.rounds).collect();
                bytes_of(&words).into()
            }
        };
        let used = if kind.is_one { 4 } else { threads * 4 };
        let launch: Prepared = Shape {
            function: &function,
            blocks,
            threads: THREADS,
            arguments: &[Argument::buffer(&to), Argument::U32(kind.rounds)],
            accesses: &[writes(&to, used, &image)],
            operations: &[Operations {
                format: NumberFormat::Fp32,
                unit: PeakUnit::Vector,
                count: count as f64,
            }],
        }
        .prepare(device)?;
        let variants = [Variant {
            name: format!("{BLOCKS} blocks of {THREADS} threads on each SM"),
            amount: count as f64,
            queue: Box::new(|stream| device.launch(stream, &launch)),
        }];
        let Some(outcome) = runner.best(&variants, Manner::Burst)? else {
            continue;
        };
        device.fill(&runner.stream, &to, 0)?;
        device.launch(&runner.stream, &launch)?;
        let found = super::probe::contents(runner, &to)?;
        if kind.is_one && found[..4] != image[..] {
            return Err(super::probe::wrong(format!(
                "{} gave another sum than it has to",
                kind.name
            )));
        }
        let checksum = if kind.is_one {
            super::probe::checksum(&found[..4])
        } else {
            check(runner, kind.name, &to, &image)?
        };
        let mut figure = Label {
            id: kind.id,
            family: Family::Atomics,
            name: kind.name,
            path: Path::Loop,
            format: None,
            unit: Unit::OperationsPerSecond,
            counts: "1 for each addition of a thread",
        }
        .figure(runner, outcome, &variants[0].name);
        if kind.is_one {
            // One place of the L2 does it, however many SMs there are.
            let of_gpu = figure.per_sm_cycle.take().map(|each| {
                let sms = f64::from(device.properties().multiprocessors);
                each * sms
            });
            figure.details.extend(of_gpu.map(|value| Detail {
                name: "additions in a cycle of the SM clock, of all SMs".to_owned(),
                value,
                unit: "1".to_owned(),
            }));
        }
        figure.checksum = Some(checksum);
        measured.figures.push(figure);
    }
    Ok(())
}
