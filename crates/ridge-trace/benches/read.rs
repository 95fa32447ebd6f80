//! How fast a trace of a million events is read and analysed, and how much memory that takes.
//!
//! `cargo bench -p ridge-trace --bench read -- --check` fails when the memory is more than is promised. Rates depend on the
//! machine, and are only printed.
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]

use std::fmt::Write;
use std::process::ExitCode;
use std::time::Instant;

use peak_alloc::PeakAlloc;
use ridge_trace::lanes::Lanes;
use ridge_trace::{Timeline, analyse, chrome};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Kernels with their calls: two events each.
const KERNELS: usize = 500_000;
const SAMPLES: usize = 5;
/// Memory while the timeline is built, in sizes of the input. The timeline itself is about half of the input.
const MEMORY_LIMIT: f64 = 2.0;

/// Events as Kineto writes them.
fn synthetic() -> Vec<u8> {
    let mut json = String::with_capacity(KERNELS * 430);
    json.push_str("{\"schemaVersion\": 1, \"traceEvents\": [\n");
    for place in 0..KERNELS {
        let (at, name) = (5.0 * place as f64, place % 40);
        let _ = writeln!(
            json,
            "{{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 15545, \"tid\": 15545, \"ts\": {at:.3}, \"dur\": 3.125, \"args\": {{\"External id\": {place}, \"cbid\": 211, \"correlation\": {id}}}}},\n\
             {{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void kernel_{name}<float>(float*)\", \"pid\": 0, \"tid\": 7, \"ts\": {start:.3}, \"dur\": 3.875, \"args\": {{\"External id\": {place}, \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": {id}, \"registers per thread\": 32, \"shared memory\": 0, \"grid\": [{name}, 1, 1], \"block\": [128, 1, 1]}}}},",
            id = place + 1,
            start = at + 20.0,
        );
    }
    json.push_str("null]}");
    json.into_bytes()
}

/// The median of some samples in seconds, and the last result.
fn timed<T>(mut work: impl FnMut() -> T) -> (f64, T) {
    let mut times = Vec::new();
    loop {
        let begin = Instant::now();
        let result = std::hint::black_box(work());
        times.push(begin.elapsed().as_secs_f64());
        if times.len() == SAMPLES {
            times.sort_by(f64::total_cmp);
            return (times[SAMPLES / 2], result);
        }
    }
}

fn main() -> ExitCode {
    let is_check = std::env::args().any(|argument| argument == "--check");
    let input = synthetic();
    let megabytes = input.len() as f64 / 1e6;
    println!("{} events, {megabytes:.0} MB of JSON", 2 * KERNELS);

    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let timeline: Timeline = chrome::read(&input).expect("the trace is whole");
    let (peak, kept) = (
        MEMORY.peak_usage() - before,
        MEMORY.current_usage() - before,
    );
    assert_eq!(
        (timeline.work.len(), timeline.completeness.unmatched),
        (KERNELS, 0)
    );
    drop(timeline);

    let (reading, timeline) = timed(|| chrome::read(&input).expect("the trace is whole"));
    let (analysing, trace) = timed(|| analyse(&timeline, "made", &[]));
    let (lanes, _) = timed(|| Lanes::of(&timeline));
    assert_eq!(trace.devices.len(), 1);
    println!(
        "reading    {:7.1} ms  {:6.0} MB/s",
        reading * 1e3,
        megabytes / reading
    );
    println!("analysing  {:7.1} ms", analysing * 1e3);
    println!("lanes      {:7.1} ms", lanes * 1e3);
    let peak_share = peak as f64 / input.len() as f64;
    println!(
        "memory     {:7.1} MB at most while reading ({peak_share:.2} of the input), {:.1} MB kept ({:.0} bytes an event)",
        peak as f64 / 1e6,
        kept as f64 / 1e6,
        kept as f64 / (2 * KERNELS) as f64
    );
    if is_check && peak_share > MEMORY_LIMIT {
        println!("more memory than is promised: {MEMORY_LIMIT} of the input");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
