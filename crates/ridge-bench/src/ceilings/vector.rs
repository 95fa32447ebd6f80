//! Arithmetic of threads: chains of one instruction.

use std::rc::Rc;

use ridge_gpu::{Argument, Operations, Prepared};
use ridge_model::NumberFormat;
use ridge_model::device::PeakUnit;

use super::document::{Family, Measured, Path, Unit};
use super::probe::{
    Kernels, Label, Shape, bytes_of, check, checksum, contents, random_floats, random_words,
    writes, wrong,
};
use super::runner::{Manner, Runner, Variant};
use crate::protocol::Failure;

const SOURCE: &str = include_str!("kernels/vector.cu");
/// Chains of a thread, and lanes with starts of their own.
const CHAINS: usize = 8;
const LANES: usize = 8;
/// Steps that are unrolled.
const UNROLL: u32 = 32;
/// Blocks of 512 threads on an SM that are tried: 16 and 32 warps, and all that fit everywhere.
const BLOCKS: [u32; 3] = [1, 2, 3];
const THREADS: u32 = 512;

/// A little above -1, so that values change their sign and neither grow nor settle.
const FP32_FACTOR: f32 = -0.999_999_94;
const FP32_TERM: f32 = 1.37;
const FP64_FACTOR: f64 = -0.999_999_999_999;
const FP64_TERM: f64 = 1.37;
/// -0.9995 twice, and 1.37 twice.
const HALF_FACTOR: u32 = 0xbbff_bbff;
const HALF_TERM: u32 = 0x3d7b_3d7b;
/// A multiplier with a period of all values.
const INT_FACTOR: u32 = 1_664_525;
const INT_TERM: u32 = 1_013_904_223;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Chain {
    Fp64,
    Fp32,
    Half,
    Multiply,
    Add,
    Root,
}

/// What is known of a chain.
struct Kind {
    chain: Chain,
    expression: &'static str,
    id: &'static str,
    name: &'static str,
    format: Option<&'static str>,
    unit: Unit,
    counts: &'static str,
    /// Operations of an instruction.
    each: f64,
    simulated: NumberFormat,
    /// Instructions of an SM in a cycle, roughly: from them follows how many steps take a millisecond.
    lanes: f64,
    is_sustained: bool,
}

const KINDS: [Kind; 6] = [
    Kind {
        chain: Chain::Fp32,
        expression: "chains<Fp32, 32>",
        id: "fp32-fma",
        name: "FP32 multiply-add",
        format: Some("fp32"),
        unit: Unit::FlopsPerSecond,
        counts: "2 for each FFMA",
        each: 2.0,
        simulated: NumberFormat::Fp32,
        lanes: 128.0,
        is_sustained: true,
    },
    Kind {
        chain: Chain::Fp64,
        expression: "chains<Fp64, 32>",
        id: "fp64-fma",
        name: "FP64 multiply-add",
        format: Some("fp64"),
        unit: Unit::FlopsPerSecond,
        counts: "2 for each DFMA",
        each: 2.0,
        simulated: NumberFormat::Fp64,
        lanes: 32.0,
        is_sustained: true,
    },
    Kind {
        chain: Chain::Half,
        expression: "chains<Half2, 32>",
        id: "fp16x2-fma",
        name: "FP16 multiply-add, two in a register",
        format: Some("fp16"),
        unit: Unit::FlopsPerSecond,
        counts: "4 for each HFMA2",
        each: 4.0,
        simulated: NumberFormat::Fp16,
        lanes: 128.0,
        is_sustained: true,
    },
    Kind {
        chain: Chain::Multiply,
        expression: "chains<Multiply, 32>",
        id: "int32-multiply-add",
        name: "INT32 multiply-add",
        format: None,
        unit: Unit::OperationsPerSecond,
        counts: "1 for each IMAD",
        each: 1.0,
        simulated: NumberFormat::Fp32,
        lanes: 64.0,
        is_sustained: false,
    },
    Kind {
        chain: Chain::Add,
        expression: "additions<32>",
        id: "int32-add",
        name: "INT32 addition of three terms",
        format: None,
        unit: Unit::OperationsPerSecond,
        counts: "1 for each IADD3",
        each: 1.0,
        simulated: NumberFormat::Fp32,
        lanes: 64.0,
        is_sustained: false,
    },
    Kind {
        chain: Chain::Root,
        expression: "chains<RootReciprocal, 32>",
        id: "xu",
        name: "special functions (XU)",
        format: None,
        unit: Unit::OperationsPerSecond,
        counts: "1 for each MUFU.RSQ",
        each: 1.0,
        simulated: NumberFormat::Fp32,
        lanes: 16.0,
        is_sustained: false,
    },
];

pub(super) fn measure(
    runner: &Runner<'_>,
    measured: &mut Measured,
    tell: &mut dyn FnMut(&str),
) -> Result<(), Failure> {
    let device = runner.device;
    tell("compiling the kernels of arithmetic");
    let expressions: Vec<String> = KINDS
        .iter()
        .map(|kind| kind.expression.to_owned())
        .collect();
    let kernels = Kernels::compile(device, "vector.cu", SOURCE, &expressions)?;
    let sms = device.properties().multiprocessors;
    let out = device.allocate(u64::from(sms * BLOCKS[2] * THREADS) * 4)?;
    for kind in &KINDS {
        tell(kind.name);
        let starts = starts(kind.chain);
        let from = device.allocate(starts.len() as u64)?;
        device.write(&from, 0, &starts)?;
        let function = kernels.function(device, kind.expression)?;
        // Two warps for each scheduler and more keep a step of eight chains busy.
        let warps_steps = runner.settings.repeat_ns / 2.0 * 1.8 * kind.lanes;
        let mut launches: Vec<(u32, u32, Prepared)> = Vec::new();
        for blocks in BLOCKS {
            let threads = f64::from(blocks * THREADS) * CHAINS as f64;
            let steps = ((warps_steps / threads) as u32)
                .next_multiple_of(UNROLL)
                .max(UNROLL);
            let threads = u64::from(blocks * sms * THREADS);
            let expected: Rc<[u8]> = bytes_of(&expected(kind.chain, &starts, steps)).into();
            let mut arguments = vec![Argument::buffer(&out), Argument::buffer(&from)];
            match kind.chain {
                Chain::Fp32 | Chain::Root => {
                    arguments.extend([Argument::F32(FP32_FACTOR), Argument::F32(FP32_TERM)]);
                }
                Chain::Fp64 => {
                    arguments.extend([Argument::F64(FP64_FACTOR), Argument::F64(FP64_TERM)]);
                }
                Chain::Half => {
                    arguments.extend([Argument::U32(HALF_FACTOR), Argument::U32(HALF_TERM)]);
                }
                Chain::Multiply => {
                    arguments.extend([Argument::U32(INT_FACTOR), Argument::U32(INT_TERM)]);
                }
                Chain::Add => arguments.push(Argument::U32(INT_TERM)),
            }
            arguments.push(Argument::U32(steps));
            let instructions = threads as f64 * CHAINS as f64 * f64::from(steps);
            let launch = Shape {
                function: &function,
                blocks: blocks * sms,
                threads: THREADS,
                arguments: &arguments,
                accesses: &[writes(&out, threads * 4, &expected)],
                operations: &[Operations {
                    format: kind.simulated,
                    unit: PeakUnit::Vector,
                    count: instructions * kind.each,
                }],
            }
            .prepare(device)?;
            launches.push((blocks, steps, launch));
        }
        let variants: Vec<Variant<'_>> = launches
            .iter()
            .map(|(blocks, steps, launch)| Variant {
                name: format!(
                    "{CHAINS} chains a thread, {} warps on each SM",
                    blocks * THREADS / 32
                ),
                amount: f64::from(blocks * sms * THREADS)
                    * CHAINS as f64
                    * f64::from(*steps)
                    * kind.each,
                queue: Box::new(move |stream| device.launch(stream, launch)),
            })
            .collect();
        let Some(outcome) = runner.best(&variants, Manner::sustained(kind.is_sustained))? else {
            continue;
        };
        let (blocks, steps, launch) = &launches[outcome.variant];
        device.fill(&runner.stream, &out, 0xff)?;
        device.launch(&runner.stream, launch)?;
        let checksum = match kind.chain {
            Chain::Half => repeated(runner, &out, blocks * sms * THREADS, launch)?,
            _ => {
                let expected = bytes_of(&expected(kind.chain, &starts, *steps));
                let used = u64::from(blocks * sms * THREADS) * 4;
                check_prefix(runner, kind.name, &out, &expected, used)?
            }
        };
        let variant = variants[outcome.variant].name.clone();
        let mut figure = Label {
            id: kind.id,
            family: Family::Vector,
            name: kind.name,
            path: Path::Loop,
            format: kind.format,
            unit: kind.unit,
            counts: kind.counts,
        }
        .figure(runner, outcome, &variant);
        figure.checksum = Some(checksum);
        measured.figures.push(figure);
    }
    Ok(())
}

/// Compares what a shape writes, and not what lies behind it.
fn check_prefix(
    runner: &Runner<'_>,
    what: &str,
    out: &ridge_gpu::Buffer,
    expected: &[u8],
    used: u64,
) -> Result<String, Failure> {
    if used >= out.bytes() {
        return check(runner, what, out, expected);
    }
    let mut found = contents(runner, out)?;
    found.truncate(used as usize);
    let differs = found
        .iter()
        .zip(expected.iter().cycle())
        .any(|(found, expected)| found != expected);
    if differs {
        return Err(wrong(format!(
            "{what} computed something else than it has to"
        )));
    }
    Ok(checksum(&found))
}

/// Halves are not computed here: twice the same, and nothing that was there before.
pub(super) fn repeated(
    runner: &Runner<'_>,
    out: &ridge_gpu::Buffer,
    threads: u32,
    launch: &Prepared,
) -> Result<String, Failure> {
    let used = threads as usize * 4;
    let mut first = contents(runner, out)?;
    first.truncate(used);
    runner.device.fill(&runner.stream, out, 0x7f)?;
    runner.device.launch(&runner.stream, launch)?;
    let mut second = contents(runner, out)?;
    second.truncate(used);
    let is_left = first.chunks_exact(4).any(|word| word == [0xff; 4]);
    if first != second || is_left {
        return Err(wrong(
            "two launches with the same numbers leave different results".to_owned(),
        ));
    }
    Ok(checksum(&first))
}

/// Where chains start: for each lane one after the other.
fn starts(chain: Chain) -> Vec<u8> {
    let count = LANES * CHAINS;
    match chain {
        Chain::Fp32 => random_floats(count, 5)
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect(),
        Chain::Fp64 => random_floats(count, 6)
            .iter()
            .flat_map(|number| f64::from(*number).to_le_bytes())
            .collect(),
        // Between 1 and 2: an exponent of 15 in both halves.
        Chain::Half => random_words(count, 7)
            .iter()
            .flat_map(|word| ((word & 0x03ff_03ff) | 0x3c00_3c00).to_le_bytes())
            .collect(),
        Chain::Multiply | Chain::Add => bytes_of(&random_words(count, 8)),
        // 1 is where this chain stays.
        Chain::Root => (0..count).flat_map(|_| 1.0_f32.to_le_bytes()).collect(),
    }
}

/// What each of the lanes leaves: the same computation on the host. Nothing for halves.
fn expected(chain: Chain, starts: &[u8], steps: u32) -> Vec<u32> {
    let words: Vec<u32> = starts
        .chunks_exact(4)
        .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        .collect();
    let folded = |bits: &[u32]| {
        bits.iter()
            .fold(0_u32, |all, bits| all.wrapping_mul(31).wrapping_add(*bits))
    };
    (0..LANES)
        .map(|lane| {
            let own = lane * CHAINS;
            let bits: Vec<u32> = match chain {
                Chain::Half => vec![lane as u32],
                Chain::Root => words[own..own + CHAINS].to_vec(),
                Chain::Add => {
                    let mut x: [u32; CHAINS] = std::array::from_fn(|chain| words[own + chain]);
                    for _ in 0..steps {
                        for chain in 0..CHAINS {
                            x[chain] = x[chain]
                                .wrapping_add(x[(chain + 3) % CHAINS])
                                .wrapping_add(INT_TERM);
                        }
                    }
                    x.to_vec()
                }
                Chain::Multiply => (0..CHAINS)
                    .map(|chain| {
                        (0..steps).fold(words[own + chain], |x, _| {
                            x.wrapping_mul(INT_FACTOR).wrapping_add(INT_TERM)
                        })
                    })
                    .collect(),
                Chain::Fp32 => (0..CHAINS)
                    .map(|chain| {
                        let start = f32::from_bits(words[own + chain]);
                        (0..steps)
                            .fold(start, |x, _| x.mul_add(FP32_FACTOR, FP32_TERM))
                            .to_bits()
                    })
                    .collect(),
                Chain::Fp64 => (0..CHAINS)
                    .map(|chain| {
                        let place = (own + chain) * 2;
                        let start = u64::from(words[place]) | (u64::from(words[place + 1]) << 32);
                        let end = (0..steps)
                            .fold(f64::from_bits(start), |x, _| {
                                x.mul_add(FP64_FACTOR, FP64_TERM)
                            })
                            .to_bits();
                        end as u32 ^ (end >> 32) as u32
                    })
                    .collect(),
            };
            folded(&bits)
        })
        .collect()
}
