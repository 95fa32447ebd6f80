//! Memory stays below a small multiple of the input, whatever the input is. Runs alone, since it counts what the whole
//! process allocates; a list that grows counts with its old and its new storage.
//!
//! `cargo test -p ncu-rep --test memory -- --nocapture` also prints the time of each input at two sizes.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "tests"
)]

use std::time::Instant;

use ncu_rep::Report;
use peak_alloc::PeakAlloc;

#[path = "../../../fuzz/src/bodies.rs"]
pub mod bodies;
pub mod support;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Bytes in memory for each byte of a report, while it is indexed.
const INDEX: usize = 8;
/// Bytes in memory for each byte of a report, index included, while any part of it is decoded.
const PARTS: usize = 20;
/// Bytes in memory for each byte of a report, while it is redacted.
const REDACTION: usize = 20;
/// Bytes in memory for each byte of a cubin, while its lines are decoded.
const LINES: usize = 16;
/// Bytes in memory for each byte of an export, while it is read, without the text itself.
const EXPORT: usize = 4;
/// The same of what is kept of it.
const EXPORT_KEPT: usize = 3;
/// What does not depend on the input: for a report, and for a cubin, whose lists of files may be long in a small file.
const CONSTANT: usize = 2 << 20;
const LINES_CONSTANT: usize = 8 << 20;

/// What a function returns, and how many bytes more than before were in use at most.
fn peak<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let value = run();
    (value, MEMORY.peak_usage() - before)
}

fn check(name: &str, what: &str, bytes: usize, used: usize, (multiple, constant): (usize, usize)) {
    assert!(
        used <= bytes * multiple + constant,
        "{name}: {what} takes {used} bytes for an input of {bytes}"
    );
}

#[test]
fn memory_is_bounded_by_a_multiple_of_the_input() {
    for (name, make) in support::REPORTS {
        for count in [100_000, 400_000] {
            let input = make(count);
            let start = Instant::now();
            let (report, index) = peak(|| Report::parse(&input).unwrap());
            let indexed = start.elapsed();
            let ((), parts) = peak(|| bodies::walk(&report, &mut |_| {}));
            eprintln!(
                "{name:30} {:8} bytes: index {:4.1}x {indexed:9.1?}, with parts {:4.1}x {:9.1?}",
                input.len(),
                index as f64 / input.len() as f64,
                (index + parts) as f64 / input.len() as f64,
                start.elapsed(),
            );
            check(name, "the index", input.len(), index, (INDEX, CONSTANT));
            check(
                name,
                "a part",
                input.len(),
                index + parts,
                (PARTS, CONSTANT),
            );
            drop(report);
            let start = Instant::now();
            let options = ncu_rep::redact::Options {
                rename_kernels: true,
                metrics: None,
            };
            let (_, used) =
                peak(|| ncu_rep::redact::redact(&input, &options, &mut std::io::sink()));
            eprintln!(
                "{name:30} {:8} bytes: redacted {:4.1}x {:9.1?}",
                input.len(),
                used as f64 / input.len() as f64,
                start.elapsed(),
            );
            check(
                name,
                "the redaction",
                input.len(),
                used,
                (REDACTION, CONSTANT),
            );
        }
    }
    for (name, make) in support::exports::EXPORTS {
        for count in [1_000_000, 4_000_000] {
            let input = make(count);
            let start = Instant::now();
            let before = MEMORY.current_usage();
            let (report, used) = peak(|| ncu_rep::csv::read(&input).unwrap());
            let kept = MEMORY.current_usage() - before;
            assert!(
                !report.kernels.is_empty() && report.problems.len() < 2,
                "{name}: {:?}",
                report.problems
            );
            eprintln!(
                "export: {name:30} {:8} bytes: {:4.1}x, kept {:4.1}x {:9.1?}",
                input.len(),
                used as f64 / input.len() as f64,
                kept as f64 / input.len() as f64,
                start.elapsed(),
            );
            check(name, "reading", input.len(), used, (EXPORT, CONSTANT));
            check(
                name,
                "what is kept",
                input.len(),
                kept,
                (EXPORT_KEPT, CONSTANT),
            );
        }
    }
    for (name, make) in support::CUBINS {
        for count in [1000, 50_000, 100_000, 400_000] {
            let input = make(count);
            let start = Instant::now();
            let ((), used) = peak(|| bodies::walk_cubin(&input, &mut |_| {}));
            eprintln!(
                "cubin: {name:30} {:8} bytes: {:4.1}x {:9.1?}",
                input.len(),
                used as f64 / input.len() as f64,
                start.elapsed(),
            );
            check(
                name,
                "the cubin",
                input.len(),
                used,
                (LINES, LINES_CONSTANT),
            );
        }
    }
}
