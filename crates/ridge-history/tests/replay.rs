//! Runs the fuzz target over `fuzz/regressions/history/`, and over damaged copies of what commands wrote.

use std::fs;
use std::path::Path;

#[path = "../../../fuzz/src/history.rs"]
pub mod history;

const BENCH: &[u8] = include_bytes!("../../../fixtures/formats/bench-1/copy.json");
const CEILINGS: &[u8] = include_bytes!("../../../fixtures/formats/ceilings-1.json");
const LINE: &[u8] = include_bytes!("../../../fixtures/formats/history-record-1.jsonl");

#[test]
fn past_failures_do_not_come_back() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions/history");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        history::exchange(&fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count > 0, "there are no inputs");
}

#[test]
fn damage_of_every_kind_is_survived() {
    for whole in [BENCH, CEILINGS, LINE] {
        for place in (0..whole.len()).step_by(41) {
            history::exchange(&whole[..place]);
            let mut changed = whole.to_vec();
            changed[place] ^= 1 << (place % 8);
            history::exchange(&changed);
        }
    }
}
