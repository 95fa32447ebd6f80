//! Runs the fuzz target of device tables over `fuzz/regressions/devices/`: inputs that once made it fail, and hand-made
//! hostile ones.

#[path = "../../../fuzz/src/devices.rs"]
pub mod devices;

use std::fs;
use std::path::Path;

#[test]
fn past_inputs_do_no_harm() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions/devices");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        devices::devices(&fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 5, "{count} inputs");
}
