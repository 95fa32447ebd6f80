//! What each fuzz target does with its input. The replay in `crates/ncu-rep/tests/replay.rs` includes this file too.
//!
//! A body reads its input and then everything that the reader offers on the result, since much is read only when it
//! is asked for. It passes if it returns: a panic, an overflow, memory beyond a small multiple of the input or time
//! beyond a multiple of its length are the faults looked for.

/// An Nsight Compute report, packed or not.
pub fn report(input: &[u8]) {
    // FILL IN: ncu_rep::Report::parse, then walk results, metrics with instances, rules, sources and problems.
    let _ = input;
}

/// A CSV export of `ncu`.
pub fn csv(input: &[u8]) {
    let _ = ncu_rep::csv::looks_like(input);
    let Ok(report) = ncu_rep::csv::read(input) else {
        return;
    };
    for kernel in report.kernels.iter().take(64) {
        for metric in &kernel.metrics() {
            let _ = ncu_rep::unit_of(metric.name);
            for instance in metric.instances() {
                let _ = instance.map(|instance| instance.value);
            }
        }
    }
}

/// A cubin: symbols and line table.
pub fn cubin(input: &[u8]) {
    // FILL IN: ncu_rep::cubin::Cubin::parse, then walk functions and lines.
    let _ = input;
}
