//! Runs the fuzz target of recordings over `fuzz/regressions/recording/`: inputs that once made it fail, and hand-made
//! hostile ones; and over damaged copies of the recording that is a fixture.

#[path = "../../../fuzz/src/recordings.rs"]
pub mod recordings;

use std::fs;
use std::path::Path;

fn root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).expect("two levels below the root")
}

#[test]
fn past_inputs_do_no_harm() {
    let folder = root().join("fuzz/regressions/recording");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        recordings::recording(&fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 5, "{count} inputs");
}
