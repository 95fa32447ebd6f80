//! Runs the fuzz target of saved diagnoses over `fuzz/regressions/diagnosis/`: hand-made hostile inputs, cut off and damaged.

#[path = "../../../fuzz/src/diagnoses.rs"]
pub mod diagnoses;

use std::fs;
use std::path::Path;

#[test]
fn past_diagnoses_do_no_harm() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions/diagnosis");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let input = fs::read(entry.unwrap().path()).unwrap();
        diagnoses::diagnosis(&input);
        // Cut off and with a bit turned, too.
        for place in (0..input.len()).step_by(input.len().div_ceil(64).max(1)) {
            diagnoses::diagnosis(&input[..place]);
            let mut damaged = input.clone();
            damaged[place] ^= 1 << (place % 7);
            diagnoses::diagnosis(&damaged);
        }
        count += 1;
    }
    assert!(count >= 10, "{count} inputs");
}
