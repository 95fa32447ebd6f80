//! L2, L1 and shared memory.

use std::rc::Rc;

use ridge_gpu::{Argument, DeviceError, Prepared};

use super::document::{Detail, Family, Measured, Path, Unit};
use super::probe::{Kernels, Label, Shape, Spreader, bytes_of, check, random_words, reads, writes};
use super::runner::{Manner, Runner, Variant};
use crate::protocol::Failure;

const SOURCE: &str = include_str!("kernels/cache.cu");
const THREADS: u32 = 512;
/// Loads of a thread before it uses the first.
const ITEMS: [u32; 2] = [2, 4];
/// Blocks for each that an SM has room for. SMs do not get equal shares: where each has the same to do, those with more
/// wait for the others.
const WAVES: [u32; 3] = [1, 8, 32];
/// Blocks that an SM has room for.
const RESIDENT: u32 = 4;
/// What is repeated in the buffer: the least that a block reads at once.
const PATTERN: u64 = part_bytes(ITEMS[0]);
/// The size for which the shape of the launch is chosen, in sixteenths of the L2.
const TRIED: u64 = 4;
/// Sizes in sixteenths of the L2.
const SIXTEENTHS: [u64; 12] = [1, 2, 4, 6, 8, 10, 11, 12, 13, 14, 16, 24];
/// Up to this many the L2 is surely not too small.
const SURELY: u64 = 8;
/// The plateau: the median rate of the sizes from this many on up to `SURELY`. What is smaller is read by several SMs at
/// the same time, which is faster than the L2 gives different data.
const PLATEAU: u64 = 2;
/// The knee: the largest size up to which every rate is at least this share of the plateau.
const KNEE: f64 = 0.9;
/// A prime, so that in each pass another SM reads a part.
const SHIFT: u32 = 97;
/// Bytes of a part, which a block reads at once.
const fn part_bytes(items: u32) -> u64 {
    16 * items as u64 * THREADS as u64
}

/// How the L2 is read.
#[derive(Clone, Copy)]
struct Reading {
    items: u32,
    waves: u32,
}

impl Reading {
    /// All of them, the first one with as many blocks as there is room for.
    fn all() -> impl Iterator<Item = Self> {
        ITEMS
            .into_iter()
            .flat_map(|items| WAVES.map(|waves| Self { items, waves }))
    }

    fn expression(self) -> String {
        format!("l2<{}>", self.items)
    }

    fn name(self) -> String {
        let Self { items, waves } = self;
        format!(
            "{items} loads of 16 bytes a thread, blocks of {THREADS}, {} for each SM",
            waves * RESIDENT
        )
    }
}

/// A launch that reads a part of the L2.
struct Pass {
    sixteenths: u64,
    bytes: u64,
    sum: u32,
    launch: Prepared,
}

/// What an SM reads of its L1 or shared memory.
const NEAR: u64 = 16 << 10;

pub(super) fn l2(
    runner: &Runner<'_>,
    measured: &mut Measured,
    tell: &mut dyn FnMut(&str),
) -> Result<(), Failure> {
    let device = runner.device;
    let Some(l2) = device.properties().l2.map(|l2| l2.get() as u64) else {
        return Err(super::probe::wrong(
            "the driver does not tell the size of the L2".to_owned(),
        ));
    };
    tell("compiling the kernels of the L2");
    let expressions = Reading::all().map(Reading::expression);
    let kernels = Kernels::compile(device, "cache.cu", SOURCE, &expressions.collect::<Vec<_>>())?;
    let most = part_bytes(ITEMS[1]);
    let largest = SIXTEENTHS.into_iter().max().unwrap_or(16);
    let from = device.allocate((l2 * largest / 16).div_ceil(most) * most)?;
    let words = random_words((PATTERN / 4) as usize, 3);
    let pattern: Rc<[u8]> = bytes_of(&words).into();
    Spreader::new(device)?.fill(runner, &from, &pattern)?;
    let of_pattern = words
        .iter()
        .fold(0_u32, |sum, word| sum.wrapping_add(*word));
    let counted = device.allocate(4)?;
    // About a millisecond at a rate of a few TB/s.
    let traffic = 4_u64 << 30;
    let prepare = |reading: Reading, sixteenths: u64| -> Result<Pass, DeviceError> {
        let part = part_bytes(reading.items);
        let blocks = device.properties().multiprocessors * RESIDENT * reading.waves;
        let parts = (l2 * sixteenths / 16 / part).max(1);
        let turns = parts.max(u64::from(blocks));
        let passes = (traffic / (turns * part)).max(1);
        let bytes = turns * passes * part;
        let sum = of_pattern.wrapping_mul((bytes / PATTERN) as u32);
        let image: Rc<[u8]> = sum.to_le_bytes().into();
        let launch = Shape {
            function: &kernels.function(device, &reading.expression())?,
            blocks,
            threads: THREADS,
            arguments: &[
                Argument::buffer(&counted),
                Argument::buffer(&from),
                Argument::U32(parts as u32),
                Argument::U32(passes as u32),
                Argument::U32(SHIFT),
            ],
            accesses: &[
                reads(&from, parts * part, bytes as f64 / (parts * part) as f64),
                writes(&counted, 4, &image),
            ],
            operations: &[],
        }
        .prepare(device)?;
        Ok(Pass {
            sixteenths,
            bytes,
            sum,
            launch,
        })
    };
    let rate_of = |pass: &Pass| -> Result<f64, DeviceError> {
        device.launch(&runner.stream, &pass.launch)?;
        runner.synchronize()?;
        let mut times = Vec::new();
        for _ in 0..7 {
            times.push(runner.timed(&|stream| device.launch(stream, &pass.launch))?);
        }
        Ok(pass.bytes as f64 / super::runner::median(times).max(1.0) * 1e9)
    };
    tell("L2: shapes of the launch");
    let mut best: Option<(Reading, f64)> = None;
    for reading in Reading::all() {
        let rate = rate_of(&prepare(reading, TRIED)?)?;
        if best.is_none_or(|(_, most)| rate > most) {
            best = Some((reading, rate));
        }
    }
    let Some((reading, _)) = best else {
        return Ok(());
    };
    // The sweep: a few repeats each.
    let mut details = Vec::new();
    let mut rates = Vec::new();
    let mut passes = Vec::new();
    for sixteenths in SIXTEENTHS {
        tell(&format!("L2: {} of it", share(sixteenths)));
        let pass = prepare(reading, sixteenths)?;
        let rate = rate_of(&pass)?;
        rates.push((sixteenths, rate));
        details.push(Detail {
            name: format!(
                "{:.1} MiB",
                (l2 * sixteenths / 16) as f64 / f64::from(1 << 20)
            ),
            value: rate,
            unit: Unit::BytesPerSecond.symbol().to_owned(),
        });
        passes.push(pass);
    }
    passes.retain(|pass| pass.sixteenths <= SURELY);
    let variants: Vec<Variant<'_>> = passes
        .iter()
        .map(|pass| Variant {
            name: format!("{} of the L2; {}", share(pass.sixteenths), reading.name()),
            amount: pass.bytes as f64,
            queue: Box::new(|stream| device.launch(stream, &pass.launch)),
        })
        .collect();
    let Some(outcome) = runner.best(&variants, Manner::Burst)? else {
        return Ok(());
    };
    let chosen = &passes[outcome.variant];
    device.fill(&runner.stream, &counted, 0)?;
    device.launch(&runner.stream, &chosen.launch)?;
    let checksum = check(runner, "the L2 loop", &counted, &chosen.sum.to_le_bytes())?;
    let (plateau, knee) = plateau_and_knee(&rates);
    details.push(Detail {
        name: format!(
            "plateau: the median of {} to {} of the L2",
            share(PLATEAU),
            share(SURELY)
        ),
        value: plateau,
        unit: Unit::BytesPerSecond.symbol().to_owned(),
    });
    if let Some(sixteenths) = knee {
        details.push(Detail {
            name: "knee: the last size within 10 % of the plateau".to_owned(),
            value: (l2 * sixteenths / 16) as f64,
            unit: "B".to_owned(),
        });
    }
    let name = variants[outcome.variant].name.clone();
    let mut figure = Label {
        id: "l2-read",
        family: Family::L2,
        name: "L2 read, past the L1",
        path: Path::Loop,
        format: None,
        unit: Unit::BytesPerSecond,
        counts: "bytes read",
    }
    .figure(runner, outcome, &name);
    figure.checksum = Some(checksum);
    figure.details = details;
    measured.figures.push(figure);
    Ok(())
}

/// The rate of the plateau, and the size at which it ends, where it does; sizes rise.
fn plateau_and_knee(rates: &[(u64, f64)]) -> (f64, Option<u64>) {
    let flat = rates
        .iter()
        .filter(|(size, _)| (PLATEAU..=SURELY).contains(size));
    let plateau = super::runner::median(flat.map(|(_, rate)| *rate).collect());
    let knee = rates
        .iter()
        .take_while(|(_, rate)| *rate >= KNEE * plateau)
        .last()
        .map(|(size, _)| *size)
        // Without a size beyond it there is no knee to be seen.
        .filter(|size| rates.last().is_some_and(|(largest, _)| size < largest));
    (plateau, knee)
}

fn share(sixteenths: u64) -> String {
    format!("{} %", sixteenths as f64 / 16.0 * 100.0)
}

pub(super) fn l1(
    runner: &Runner<'_>,
    measured: &mut Measured,
    tell: &mut dyn FnMut(&str),
) -> Result<(), Failure> {
    let device = runner.device;
    tell("compiling the kernels of L1 and shared memory");
    let expressions = ["l1<4>", "l1<2>", "l1<1>", "shared_read"].map(str::to_owned);
    let kernels = Kernels::compile(device, "cache.cu", SOURCE, &expressions)?;
    let from = device.allocate(NEAR)?;
    let words = random_words((NEAR / 4) as usize, 4);
    device.write(&from, 0, &bytes_of(&words))?;
    let counted = device.allocate(4)?;
    let blocks = device.properties().multiprocessors;
    // 128 bytes in a cycle at 2 GHz are about 250 bytes in a nanosecond.
    let passes = |bytes: u64| -> u32 {
        let wanted = runner.settings.repeat_ns / 2.0 * 250.0;
        ((wanted / (u64::from(THREADS) * bytes) as f64) as u32)
            .next_multiple_of(16)
            .max(16)
    };
    for (expression, id, name, width) in [
        ("l1<4>", "l1-read-16", "L1 read, 16 bytes a thread", 4_u32),
        ("l1<2>", "l1-read-8", "L1 read, 8 bytes a thread", 2),
        ("l1<1>", "l1-read-4", "L1 read, 4 bytes a thread", 1),
        (
            "shared_read",
            "shared-read-16",
            "shared memory read, 16 bytes a thread",
            4,
        ),
    ] {
        tell(name);
        let function = kernels.function(device, expression)?;
        let each = u64::from(width) * 4;
        let passes = passes(each);
        let sum = expected_sum(&words, width, passes).wrapping_mul(blocks);
        let image: Rc<[u8]> = sum.to_le_bytes().into();
        let launch = Shape {
            function: &function,
            blocks,
            threads: THREADS,
            arguments: &[
                Argument::buffer(&counted),
                Argument::buffer(&from),
                Argument::U32(passes),
            ],
            // A simulated device has no L1: it answers with the rate of its L2.
            accesses: &[
                reads(&from, NEAR, f64::from(passes) * f64::from(blocks)),
                writes(&counted, 4, &image),
            ],
            operations: &[],
        }
        .prepare(device)?;
        let amount = u64::from(passes) * u64::from(THREADS) * each * u64::from(blocks);
        let variants = [Variant {
            name: format!("{expression}, one block of {THREADS} threads on each SM"),
            amount: amount as f64,
            queue: Box::new(|stream| device.launch(stream, &launch)),
        }];
        let Some(outcome) = runner.best(&variants, Manner::Burst)? else {
            continue;
        };
        device.fill(&runner.stream, &counted, 0)?;
        device.launch(&runner.stream, &launch)?;
        let checksum = check(runner, name, &counted, &image)?;
        let mut figure = Label {
            id,
            family: Family::L1,
            name,
            path: Path::Loop,
            format: None,
            unit: Unit::BytesPerSecond,
            counts: "bytes read, all SMs",
        }
        .figure(runner, outcome, &variants[0].name);
        figure.checksum = Some(checksum);
        measured.figures.push(figure);
    }
    Ok(())
}

/// The sum of all words that a block reads: see `kernels/cache.cu`.
fn expected_sum(words: &[u32], width: u32, passes: u32) -> u32 {
    let mut two_turns = 0_u32;
    for turn in 0..2 {
        for thread in 0..THREADS {
            for load in 0..8 {
                for word in 0..width {
                    let place = thread * width + turn * 1024 + load * 128 + word;
                    two_turns = two_turns.wrapping_add(words[place as usize]);
                }
            }
        }
    }
    two_turns.wrapping_mul(passes / 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sweep of an H200 whose smallest size is read by several SMs at once.
    #[test]
    fn the_knee_is_that_of_the_plateau_and_not_of_the_fastest_size() {
        let rates = [
            10.4, 9.37, 9.15, 9.01, 8.80, 9.02, 9.07, 8.79, 8.66, 8.40, 7.96, 6.38,
        ];
        let rates: Vec<(u64, f64)> = SIXTEENTHS.into_iter().zip(rates).collect();
        let (plateau, knee) = plateau_and_knee(&rates);
        assert!((plateau - 9.08).abs() < 1e-9, "{plateau}");
        assert_eq!(knee, Some(14));
        assert_eq!(plateau_and_knee(&rates[..5]).1, None);
    }
}
