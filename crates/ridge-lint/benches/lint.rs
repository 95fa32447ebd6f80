//! How long 100,000 lines of source take: the kernels of `gallery/`, repeated.
//!
//! `cargo bench -p ridge-lint`

#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::fs;
use std::path::Path;
use std::time::Instant;

const LINES: usize = 100_000;

fn main() {
    let gallery = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery");
    let mut sources: Vec<Vec<u8>> = fs::read_dir(gallery)
        .expect("the gallery is part of the repository")
        .filter_map(|entry| fs::read(entry.ok()?.path().join("kernels.cu")).ok())
        .collect();
    sources.sort();
    // One large source and many small ones take different paths through memory.
    let whole = sources.concat();
    for (name, sources) in [("many sources", sources), ("one source", vec![whole])] {
        let begin = Instant::now();
        let (mut lines, mut findings, mut bytes) = (0, 0, 0);
        while lines < LINES {
            for source in &sources {
                let report = ridge_lint::lint(source).expect("it is source");
                lines += report.lines;
                findings += report.findings.len();
                bytes += source.len();
            }
        }
        let took = begin.elapsed();
        println!(
            "{name}: {lines} lines, {bytes} bytes, {findings} findings in {:.3} s",
            took.as_secs_f64()
        );
    }
}
