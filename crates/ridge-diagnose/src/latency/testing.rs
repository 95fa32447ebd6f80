//! Counters for tests: a device of 100 SMs at 2 GHz with 4 TB/s, and one kernel of a millisecond.

use ncu_rep::{Instance, Listed, MetricTable, Value};
use ridge_model::ComputeCapability;
use ridge_model::latency::Latencies;

use super::Inputs;
use crate::ledger::Ledger;

pub(super) fn sum(name: &str, value: f64) -> Listed {
    (name.to_owned(), Some(Value::F64(value)), Vec::new())
}

/// A metric with values by instruction.
pub(super) fn by_instruction(name: &str, values: &[(u64, f64)]) -> Listed {
    let instances = values.iter().map(|&(address, value)| Instance {
        key: Some(Value::U64(address)),
        value: Some(Value::F64(value)),
    });
    (name.to_owned(), None, instances.collect())
}

/// The device and the duration, with so many bytes read from device memory.
pub(super) fn kernel(bytes: f64) -> Vec<Listed> {
    vec![
        sum("gpu__time_duration.sum", 1e6),
        sum("launch__sm_count", 100.0),
        sum("sm__cycles_elapsed.max", 2e6),
        sum("dram__bytes_read.sum", bytes),
        sum("dram__bytes_write.sum", 0.0),
        sum("dram__bytes.sum.peak_sustained", 1000.0),
        sum("dram__cycles_elapsed.avg.per_second", 4e9),
    ]
}

/// Looks at counters as a 9.0 does, where a load from device memory takes 658 cycles.
pub(super) fn look<T>(listed: Vec<Listed>, at: impl Fn(&Inputs<'_, '_>) -> T) -> T {
    let table: MetricTable = listed.into_iter().collect();
    let metrics = table.metrics();
    let ledger = Ledger::new(&metrics, None);
    at(&Inputs {
        metrics: &metrics,
        ledger: &ledger,
        stalls: &[],
        mix: None,
        latencies: Latencies::of(ComputeCapability { major: 9, minor: 0 }),
        busiest: 0.0,
        idle: 0.0,
        balance: None,
    })
}
