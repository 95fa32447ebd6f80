//! L2, L1 and shared memory.

use std::rc::Rc;

use ridge_gpu::{Argument, Prepared};

use super::document::{Detail, Family, Measured, Path, Unit};
use super::probe::{Kernels, Label, Shape, Spreader, bytes_of, check, random_words, reads, writes};
use super::runner::{Manner, Runner, Variant};
use crate::protocol::Failure;

const SOURCE: &str = include_str!("kernels/cache.cu");
const THREADS: u32 = 512;
/// Loads of a thread before it uses the first, and the bytes of a part that a block reads at once.
const ITEMS: u32 = 4;
const PART: u64 = 16 * ITEMS as u64 * THREADS as u64;
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
    let kernels = Kernels::compile(device, "cache.cu", SOURCE, &["l2<4>".to_owned()])?;
    let function = kernels.function(device, "l2<4>")?;
    let largest = (l2 * 24 / 16).div_ceil(PART) * PART;
    let from = device.allocate(largest)?;
    let words = random_words((PART / 4) as usize, 3);
    let part: Rc<[u8]> = bytes_of(&words).into();
    Spreader::new(device)?.fill(runner, &from, &part)?;
    let of_part = words
        .iter()
        .fold(0_u32, |sum, word| sum.wrapping_add(*word));
    let counted = device.allocate(4)?;
    let blocks = device.properties().multiprocessors * 4;
    // About a millisecond at a rate of a few TB/s.
    let traffic = 4_u64 << 30;
    let mut launches: Vec<(u64, u64, u32, Prepared)> = Vec::new();
    for sixteenths in SIXTEENTHS {
        let parts = (l2 * sixteenths / 16 / PART).max(1);
        let turns = parts.max(u64::from(blocks));
        let passes = (traffic / (turns * PART)).max(1);
        let sum = of_part.wrapping_mul((turns * passes) as u32);
        let sum: Rc<[u8]> = sum.to_le_bytes().into();
        let launch = Shape {
            function: &function,
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
                reads(&from, parts * PART, (turns * passes) as f64 / parts as f64),
                writes(&counted, 4, &sum),
            ],
            operations: &[],
        }
        .prepare(device)?;
        let expected = u32::from_le_bytes([sum[0], sum[1], sum[2], sum[3]]);
        launches.push((sixteenths, turns * passes * PART, expected, launch));
    }
    let variant = |(sixteenths, bytes, _, launch): &'_ (u64, u64, u32, Prepared)| -> (String, f64) {
        let _ = launch;
        (format!("{} of the L2", share(*sixteenths)), *bytes as f64)
    };
    // The sweep: a few repeats each.
    let mut details = Vec::new();
    let mut rates = Vec::new();
    for entry in &launches {
        let (name, amount) = variant(entry);
        tell(&format!("L2: {name}"));
        device.launch(&runner.stream, &entry.3)?;
        runner.synchronize()?;
        let mut times = Vec::new();
        for _ in 0..7 {
            times.push(runner.timed(&|stream| device.launch(stream, &entry.3))?);
        }
        let rate = amount / super::runner::median(times).max(1.0) * 1e9;
        rates.push((entry.0, rate));
        details.push(Detail {
            name: format!("{:.1} MiB", (l2 * entry.0 / 16) as f64 / f64::from(1 << 20)),
            value: rate,
            unit: Unit::BytesPerSecond.symbol().to_owned(),
        });
    }
    let variants: Vec<Variant<'_>> = launches
        .iter()
        .filter(|(sixteenths, ..)| *sixteenths <= SURELY)
        .map(|entry| {
            let (name, amount) = variant(entry);
            Variant {
                name,
                amount,
                queue: Box::new(move |stream| device.launch(stream, &entry.3)),
            }
        })
        .collect();
    let Some(outcome) = runner.best(&variants, Manner::Burst)? else {
        return Ok(());
    };
    let chosen = &launches[outcome.variant];
    device.fill(&runner.stream, &counted, 0)?;
    device.launch(&runner.stream, &chosen.3)?;
    let checksum = check(runner, "the L2 loop", &counted, &chosen.2.to_le_bytes())?;
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
