//! Runs the fuzz targets over `fuzz/regressions/`: inputs that once made a reader fail, and hand-made hostile ones.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests"
)]

use std::fs;
use std::path::Path;

#[path = "../../../fuzz/src/bodies.rs"]
pub mod bodies;

fn replay(target: &str, body: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/regressions")
        .join(target);
    let mut inputs: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("the folder can be listed").path())
        .collect();
    inputs.sort();
    assert!(!inputs.is_empty(), "{}: no inputs", folder.display());
    for input in inputs {
        let bytes = fs::read(&input).expect("the input can be read");
        // Captured, and shown only if the body panics.
        eprintln!("{}", input.display());
        body(&bytes);
    }
}

#[test]
fn report() {
    replay("report", bodies::report);
}

#[test]
fn csv() {
    replay("csv", bodies::csv);
}

#[test]
fn cubin() {
    replay("cubin", bodies::cubin);
}
