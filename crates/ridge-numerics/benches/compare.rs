//! How fast two tensors are compared with all measures, as a share of the rate at which memory can be read.
//!
//! Both are measured in turns, by the same threads over the same bytes, and the shortest time of each counts: what else runs on a
//! machine only adds to times. `cargo bench -p ridge-numerics --bench compare -- --check` fails where the comparison of FP32 or BF16 is
//! below 40 % of the memory-read bandwidth. `-- --threads N` takes other than all.
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]

use std::hint::black_box;
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch};
use ridge_numerics::format::{Endian, Format, Overflow};
use ridge_numerics::measure::{Judge, Limits, measure};
use ridge_numerics::view::View;

/// Bytes of each tensor: more than caches hold, and so few that some sample is over before others take the processor.
const BYTES: usize = 64 << 20;
const SAMPLES: u32 = 40;
const LEAST_SHARE: f64 = 0.4;

/// Reads bytes and does the least with them that a compiler cannot leave out. It is one sum, split into vectors of neighbours: with
/// a sum for each place in a line the compiler makes gathers, at an eighth of the speed.
#[inline(always)]
fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.as_chunks::<8>().0;
    words.iter().fold(0, |sum: u64, word| {
        sum.wrapping_add(u64::from_le_bytes(*word))
    })
}

/// Reads both tensors with some threads.
fn read(level: Level, r: &[u8], x: &[u8], threads: usize) {
    thread::scope(|scope| {
        let part = r.len() / threads;
        for (r, x) in r.chunks(part).zip(x.chunks(part)) {
            scope.spawn(move || {
                for bytes in [r, x] {
                    black_box(
                        dispatch!(level, simd => simd.vectorize(#[inline(always)] || sum(bytes))),
                    );
                }
            });
        }
    });
}

/// The seconds that something takes.
fn timed(run: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    run();
    begin.elapsed().as_secs_f64()
}

/// Two tensors that differ as results of two orders of summation do: most elements by some ULP.
fn tensors(format: Format) -> (Vec<u8>, Vec<u8>) {
    let size = format.size_bytes();
    let (mut r, mut x) = (Vec::with_capacity(BYTES), Vec::with_capacity(BYTES));
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..BYTES / size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let value = (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
        let code = format.encode(value, Overflow::Saturate);
        // FP32 differs by 0 to 15 ULP, formats that only store a sum by 0 or 1.
        let most = if format == Format::F32 { 15 } else { 1 };
        // Zero stays zero, and nothing grows beyond 1.
        let other = if value.abs() < 1e-2 {
            code
        } else {
            code - (state & most)
        };
        r.extend_from_slice(&code.to_le_bytes()[..size]);
        x.extend_from_slice(&other.to_le_bytes()[..size]);
    }
    (r, x)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let is_check = arguments.iter().any(|argument| argument == "--check");
    let threads = arguments
        .iter()
        .position(|argument| argument == "--threads")
        .and_then(|place| arguments.get(place + 1)?.parse().ok())
        .unwrap_or_else(|| thread::available_parallelism().map_or(1, |count| count.get()));
    let level = Level::new();
    let judge = Judge {
        tolerance: Limits {
            absolute: 1e-5,
            relative: 1e-2,
            ulps: 1.0,
            ..Limits::default()
        },
        certain: None,
        accepts_flush_to_zero: false,
        relative_floor: 1e-30,
    };
    let mut is_fine = true;
    println!(
        "{threads} threads, two tensors of {} MiB each, the best of {SAMPLES} times",
        BYTES >> 20
    );
    for format in [
        Format::F32,
        Format::Bf16,
        Format::F16,
        Format::E4m3,
        Format::F64,
    ] {
        let (r, x) = tensors(format);
        let shape = [(BYTES / format.size_bytes() / 4096) as u64, 4096];
        let view = |bytes| View::row_major(format, &shape, Endian::Little, bytes);
        let (Ok(left), Ok(right)) = (view(&r), view(&x)) else {
            return ExitCode::FAILURE;
        };
        let (mut reading, mut comparing) = (f64::INFINITY, f64::INFINITY);
        let mut failing = 0;
        for _ in 0..SAMPLES {
            reading = reading.min(timed(|| read(level, &r, &x, threads)));
            comparing = comparing.min(timed(|| {
                let measures = measure(&left, &right, None, &judge, threads);
                failing += measures.map_or(1, |measures| measures.failing);
            }));
        }
        if failing > 0 {
            println!("{format}: elements beyond the tolerance; this measures something else");
            return ExitCode::FAILURE;
        }
        let rate = |seconds: f64| 2.0 * BYTES as f64 / seconds / 1e9;
        let share = reading / comparing;
        println!(
            "{format:>5}: read {:5.1} GB/s, compared {:5.1} GB/s, {:3.0} % of it",
            rate(reading),
            rate(comparing),
            100.0 * share
        );
        if matches!(format, Format::F32 | Format::Bf16) {
            is_fine &= share >= LEAST_SHARE;
        }
    }
    if is_check && !is_fine {
        println!(
            "f32 or bf16 is compared at less than {:.0} % of the rate of reading",
            100.0 * LEAST_SHARE
        );
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
