//! Runs the fuzz target over `fuzz/regressions/chrome/`, and over damaged copies of a real trace.

use std::fs;
use std::io::Read;
use std::path::Path;

#[path = "../../../fuzz/src/traces.rs"]
pub mod traces;

#[test]
fn chrome() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions/chrome");
    let mut inputs: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    inputs.sort();
    assert!(
        inputs.len() >= 7,
        "{}: {} inputs",
        folder.display(),
        inputs.len()
    );
    for input in inputs {
        traces::chrome(&fs::read(&input).unwrap());
    }
}

#[test]
fn damaged_copies_of_a_real_trace() {
    let packed: &[u8] = include_bytes!("../../../fixtures/traces/pytorch_kineto.json.gz");
    let mut whole = Vec::new();
    flate2::read::GzDecoder::new(packed)
        .read_to_end(&mut whole)
        .unwrap();
    traces::chrome(&whole);
    // Steps that are no divisors of anything in the file.
    for length in (0..whole.len()).step_by(40_009) {
        traces::chrome(&whole[..length]);
    }
    for at in (0..whole.len()).step_by(16_001) {
        for byte in [0, b'"', b'}', b'-', b'9', 0xff] {
            let mut damaged = whole.clone();
            damaged[at] = byte;
            traces::chrome(&damaged);
        }
    }
}
