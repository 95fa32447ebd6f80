//! Runs the fuzz targets of `ridge check` and of saved diagnoses over `fuzz/regressions/`: inputs that once made them fail, and
//! hand-made hostile ones.

#[path = "../../../fuzz/src/checks.rs"]
pub mod checks;
#[path = "../../../fuzz/src/diagnoses.rs"]
pub mod diagnoses;

use std::fs;
use std::path::Path;

fn replay(target: &str, body: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions");
    let mut count = 0;
    for entry in fs::read_dir(folder.join(target)).unwrap() {
        let input = fs::read(entry.unwrap().path()).unwrap();
        body(&input);
        // Cut off and with a bit turned, too.
        for place in (0..input.len()).step_by(input.len().div_ceil(64).max(1)) {
            body(&input[..place]);
            let mut damaged = input.clone();
            damaged[place] ^= 1 << (place % 7);
            body(&damaged);
        }
        count += 1;
    }
    assert!(count >= 10, "{count} inputs");
}

#[test]
fn past_configurations_do_no_harm() {
    replay("config", checks::config);
}

#[test]
fn past_baselines_do_no_harm() {
    replay("baseline", checks::baseline);
}

#[test]
fn past_diagnoses_do_no_harm() {
    replay("diagnosis", diagnoses::diagnosis);
}
