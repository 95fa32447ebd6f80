//! Device memory: read, write, copy and triad, 16 bytes at a time.

use std::rc::Rc;

use ridge_gpu::{Access, Argument, Buffer, DeviceError, Operations, Prepared};
use ridge_model::NumberFormat;
use ridge_model::device::PeakUnit;

use super::document::{Family, Measured, Path, Unit};
use super::probe::{
    Kernels, Label, Shape, Spreader, bytes_of, check, random_floats, reads, writes,
};
use super::runner::{Manner, Runner, Variant};
use crate::protocol::{Failure, FailureKind};

const SOURCE: &str = include_str!("kernels/dram.cu");
/// What the buffers repeat, in items of 16 bytes: 1 MiB.
const PERIOD: u64 = 1 << 16;
const ITEM: u64 = 16;
/// What a write leaves: the place in the period times this.
const FACTOR: u32 = 2_654_435_761;
const TRIAD_FACTOR: f32 = 0.75;
/// Buffers are at least so large, and at least so many times the L2.
const LEAST: u64 = 256 << 20;
const TIMES_L2: u64 = 4;
/// With more, nothing gets better.
const MOST: u64 = 2 << 30;
/// Blocks of a grid that stays on the SMs.
const RESIDENT: [u32; 2] = [2, 4];

/// A kernel with one shape.
struct Way {
    expression: String,
    items: u64,
    threads: u32,
    /// Blocks for each SM; absent for as many as there are turns.
    resident: Option<u32>,
}

impl Way {
    fn name(&self) -> String {
        let grid = self.resident.map_or_else(
            || "one turn for each block".to_owned(),
            |blocks| format!("{blocks} blocks on each SM"),
        );
        format!("{}, {} threads, {grid}", self.expression, self.threads)
    }
}

/// The shapes that are tried.
fn ways(kernel: &str, items: &[u64]) -> Vec<Way> {
    let mut ways = Vec::new();
    for &items in items {
        for streaming in [0, 1] {
            for threads in [256, 512, 1024] {
                ways.push(Way {
                    expression: format!("{kernel}<{items}, {streaming}>"),
                    items,
                    threads,
                    resident: None,
                });
            }
        }
    }
    if let Some(&items) = items.last() {
        for blocks in RESIDENT {
            ways.push(Way {
                expression: format!("{kernel}<{items}, 0>"),
                items,
                threads: 512,
                resident: Some(blocks),
            });
        }
    }
    ways
}

pub(super) fn measure(
    runner: &Runner<'_>,
    measured: &mut Measured,
    tell: &mut dyn FnMut(&str),
) -> Result<(), Failure> {
    let device = runner.device;
    let bytes = size(runner)?;
    let count = bytes / ITEM;
    tell("compiling the kernels of device memory");
    let kinds: [(&str, &[u64]); 4] = [
        ("copy", &[1, 2, 4]),
        ("read", &[2, 4, 8]),
        ("write", &[1, 2, 4]),
        ("triad", &[1, 2, 4]),
    ];
    let mut expressions = Vec::new();
    for (kernel, items) in kinds {
        expressions.extend(ways(kernel, items).into_iter().map(|way| way.expression));
    }
    expressions.sort();
    expressions.dedup();
    let kernels = Kernels::compile(device, "dram.cu", SOURCE, &expressions)?;
    let buffers = [
        device.allocate(bytes)?,
        device.allocate(bytes)?,
        device.allocate(bytes)?,
    ];
    let [left, right, to] = &buffers;
    let words = (PERIOD * ITEM / 4) as usize;
    let patterns: [Vec<f32>; 2] = [1, 2].map(|seed| random_floats(words, seed));
    let as_bytes = |numbers: &[f32]| -> Rc<[u8]> {
        let words: Vec<u32> = numbers.iter().map(|number| number.to_bits()).collect();
        bytes_of(&words).into()
    };
    let images = [as_bytes(&patterns[0]), as_bytes(&patterns[1])];
    let spread = Spreader::new(device)?;
    for (buffer, image) in [(left, &images[0]), (right, &images[1])] {
        spread.fill(runner, buffer, image)?;
    }
    // Everything that comes out is known: sums over all periods, and one period of each output.
    let one_period = patterns[0]
        .iter()
        .fold(0_u32, |sum, number| sum.wrapping_add(number.to_bits()));
    let sum = one_period.wrapping_mul((count / PERIOD) as u32);
    let counted = device.allocate(4)?;
    let written: Vec<u32> = (0..PERIOD as u32)
        .flat_map(|place| {
            let first = place.wrapping_mul(FACTOR);
            [0, 1, 2, 3].map(|more| first.wrapping_add(more))
        })
        .collect();
    let written: Rc<[u8]> = bytes_of(&written).into();
    let triad: Vec<f32> = patterns[0]
        .iter()
        .zip(&patterns[1])
        .map(|(left, right)| TRIAD_FACTOR.mul_add(*right, *left))
        .collect();
    let triad = as_bytes(&triad);
    let sum_bytes: Rc<[u8]> = sum.to_le_bytes().into();
    let multiply_adds = [Operations {
        format: NumberFormat::Fp32,
        unit: PeakUnit::Vector,
        count: 2.0 * (bytes / 4) as f64,
    }];
    for (kernel, items) in kinds {
        tell(&format!("device memory: {kernel}"));
        let of = |way: &Way| -> Result<Prepared, DeviceError> {
            let function = kernels.function(device, &way.expression)?;
            let turns = count / (way.items * u64::from(way.threads));
            let sms = u64::from(device.properties().multiprocessors);
            let blocks = way
                .resident
                .map_or(turns, |blocks| (sms * u64::from(blocks)).min(turns));
            let (arguments, accesses): (Vec<Argument<'_>>, Vec<Access<'_>>) = match kernel {
                "copy" => (
                    vec![
                        Argument::buffer(to),
                        Argument::buffer(left),
                        Argument::U64(count),
                    ],
                    vec![reads(left, bytes, 1.0), writes(to, bytes, &images[0])],
                ),
                "read" => (
                    vec![
                        Argument::buffer(&counted),
                        Argument::buffer(left),
                        Argument::U64(count),
                    ],
                    vec![reads(left, bytes, 1.0), writes(&counted, 4, &sum_bytes)],
                ),
                "write" => (
                    vec![
                        Argument::buffer(to),
                        Argument::U64(count),
                        Argument::U32(PERIOD as u32 - 1),
                        Argument::U32(FACTOR),
                    ],
                    vec![writes(to, bytes, &written)],
                ),
                _ => (
                    vec![
                        Argument::buffer(to),
                        Argument::buffer(left),
                        Argument::buffer(right),
                        Argument::F32(TRIAD_FACTOR),
                        Argument::U64(count),
                    ],
                    vec![
                        reads(left, bytes, 1.0),
                        reads(right, bytes, 1.0),
                        writes(to, bytes, &triad),
                    ],
                ),
            };
            Shape {
                function: &function,
                blocks: blocks as u32,
                threads: way.threads,
                arguments: &arguments,
                accesses: &accesses,
                operations: if kernel == "triad" {
                    &multiply_adds
                } else {
                    &[]
                },
            }
            .prepare(device)
        };
        let ways = ways(kernel, items);
        let launches: Vec<Prepared> = ways.iter().map(of).collect::<Result<_, _>>()?;
        let (id, name, directions, counts) = match kernel {
            "copy" => ("dram-copy", "DRAM copy", 2.0, "bytes read and written"),
            "read" => ("dram-read", "DRAM read", 1.0, "bytes read"),
            "write" => ("dram-write", "DRAM write", 1.0, "bytes written"),
            _ => (
                "dram-triad",
                "DRAM triad, a = b + s c",
                3.0,
                "bytes read and written",
            ),
        };
        let variants: Vec<Variant<'_>> = ways
            .iter()
            .zip(&launches)
            .map(|(way, launch)| Variant {
                name: way.name(),
                amount: directions * bytes as f64,
                queue: Box::new(move |stream| device.launch(stream, launch)),
            })
            .collect();
        let Some(outcome) = runner.best(
            &variants,
            Manner::sustained(matches!(kernel, "copy" | "read")),
        )?
        else {
            continue;
        };
        // Once more into an output that holds something else.
        let (output, expected): (&Buffer, &[u8]) = match kernel {
            "copy" => (to, &images[0]),
            "read" => (&counted, &sum_bytes),
            "write" => (to, &written),
            _ => (to, &triad),
        };
        device.fill(&runner.stream, output, 0)?;
        device.launch(&runner.stream, &launches[outcome.variant])?;
        let checksum = check(runner, name, output, expected)?;
        let variant = variants[outcome.variant].name.clone();
        let label = Label {
            id,
            family: Family::Dram,
            name,
            path: Path::Loop,
            format: None,
            unit: Unit::BytesPerSecond,
            counts,
        };
        let mut figure = label.figure(runner, outcome, &variant);
        figure.checksum = Some(checksum);
        figure.details.push(super::document::Detail {
            name: "size of a buffer".to_owned(),
            value: bytes as f64,
            unit: "B".to_owned(),
        });
        measured.figures.push(figure);
    }
    Ok(())
}

/// How large a buffer is: far larger than the L2, and not so large that others have no room.
fn size(runner: &Runner<'_>) -> Result<u64, Failure> {
    let device = runner.device;
    let properties = device.properties();
    let l2 = properties.l2.map_or(0, |l2| l2.get() as u64);
    let least = (TIMES_L2 * l2).max(LEAST).next_power_of_two();
    // A model is the same at every size, and the host has to write all of it.
    let wanted = if properties.is_simulated() {
        least
    } else {
        (properties.memory.get() as u64 / 64)
            .next_power_of_two()
            .clamp(least, MOST.max(least))
    };
    let free = device.memory()?.free.get() as u64;
    let mut size = wanted;
    while size > least && 4 * size > free {
        size /= 2;
    }
    if 3 * size > free {
        return Err(Failure {
            code: "BEN0021".to_owned(),
            kind: FailureKind::Memory,
            message: format!(
                "three buffers of {} MiB, four times the L2, do not fit into the {} MiB that are free",
                size >> 20,
                free >> 20
            ),
            hint: Some("end what else uses the GPU: `nvidia-smi` lists it".to_owned()),
            log: None,
        });
    }
    Ok(size)
}
