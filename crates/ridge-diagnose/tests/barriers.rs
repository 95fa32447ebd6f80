//! What to do about barriers depends on what the block uses them for.

mod support;

use support::{Counters, Sample, finding, sample};

fn actions(sample: &Sample) -> Vec<String> {
    let kernel = sample.all_findings();
    finding(&kernel, "barrier-stall")
        .unwrap_or_else(|| panic!("{} waits at barriers", sample.name()))
        .actions
        .clone()
}

/// A product whose tiles of shared memory the whole block reads, changed.
fn product(change: impl FnOnce(&mut Counters)) -> Vec<String> {
    let mut made = sample("tile_gemm", "tile_gemm_fixed");
    change(&mut made.counters);
    actions(&made)
}

fn says(actions: &[String], part: &str) -> bool {
    actions.iter().any(|action| action.contains(part))
}

/// Stores into shared memory become copies that run beside the work.
fn copy_asynchronously(counters: &mut Counters) {
    for opcode in counters.opcodes("STS") {
        let count = counters.executed_exactly(&opcode);
        counters.execute(&opcode, -count);
        counters.execute("LDGSTS.E.BYPASS.128", count);
    }
}

#[test]
fn a_tile_of_the_whole_block_gets_two_buffers_and_no_smaller_blocks() {
    let actions = product(|_| {});
    assert!(says(&actions, "two buffers"), "{actions:?}");
    assert!(!says(&actions, "smaller blocks"), "{actions:?}");
    assert!(!says(&actions, "stage"), "{actions:?}");
}

#[test]
fn a_pipeline_gets_more_stages_and_a_split_barrier() {
    let actions = product(copy_asynchronously);
    assert!(says(&actions, "add a stage"), "{actions:?}");
    assert!(says(&actions, "split the barrier"), "{actions:?}");
    assert!(!says(&actions, "smaller blocks"), "{actions:?}");
}

#[test]
fn a_barrier_that_is_split_is_not_to_be_split() {
    let actions = product(|counters| {
        copy_asynchronously(counters);
        counters.execute("BAR.ARV", 1000.0);
    });
    assert!(says(&actions, "add a stage"), "{actions:?}");
    assert!(!says(&actions, "split the barrier"), "{actions:?}");
}

#[test]
fn a_block_alone_on_its_multiprocessor_gets_a_second_one() {
    assert!(!says(&product(|_| {}), "two blocks"));
    let actions = product(|counters| counters.set("launch__occupancy_limit_registers", 1.0));
    assert!(says(&actions, "two blocks"), "{actions:?}");
}

/// One barrier between filling and using: nothing to alternate with.
#[test]
fn a_block_that_fills_its_tile_once_gets_more_tiles() {
    let actions = product(|counters| {
        let barriers = counters.executed("BAR");
        let warps = counters.get("launch__thread_count") / 32.0;
        let opcode = counters.opcodes("BAR").swap_remove(0);
        counters.execute(&opcode, warps - barriers);
    });
    assert!(says(&actions, "several tiles"), "{actions:?}");
    assert!(!says(&actions, "two buffers"), "{actions:?}");
}

/// A scan hands each value on once. Its blocks may be smaller, as long as schedulers have a warp each.
#[test]
fn an_exchange_gets_smaller_blocks() {
    let mut made = sample("scan_steps", "scan_steps_fixed");
    assert!(says(&actions(&made), "smaller blocks"));
    made.counters.set("launch__block_size", 128.0);
    assert!(!says(&actions(&made), "smaller blocks"));
    assert!(says(&actions(&made), "warps that share data"));
}
