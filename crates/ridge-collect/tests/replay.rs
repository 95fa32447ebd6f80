//! Runs the fuzz target of outputs of compute-sanitizer over `fuzz/regressions/sanitizer/`, hand-made hostile inputs and
//! those that once made it fail, and over what the real one wrote.

#[path = "../../../fuzz/src/sanitizer.rs"]
pub mod sanitizer;

use std::fs;
use std::path::Path;

fn replay(folder: &str) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(folder);
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        sanitizer::sanitizer(&fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    count
}

#[test]
fn past_inputs_do_no_harm() {
    assert!(replay("fuzz/regressions/sanitizer") >= 11);
}

#[test]
fn real_outputs_do_no_harm() {
    assert!(replay("fixtures/sanitizer") >= 14);
}
