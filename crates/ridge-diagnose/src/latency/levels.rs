//! Each level of memory: what it moved, what has to be in flight to saturate it, and what was.

use ridge_model::arch::SECTOR_BYTES;
use ridge_model::latency::in_flight;
use ridge_model::roof::MemoryLevel;

use super::Inputs;
use crate::document::{LatencyLevel, Loads};
use crate::ledger::{Resource, Row, Stage};

/// Bytes that the L1 writes into registers in one cycle: 32 lanes of 4 bytes from 7.0 on; peak of the derived
/// `l1tex__lsu_writeback_bytes` metrics.
const WRITEBACK_BYTES: f64 = 128.0;

/// The level, the stage of the ledger whose bytes it moves, and the bytes of a unit of that stage's demand.
const LEVELS: [(MemoryLevel, Stage, f64); 3] = [
    (MemoryLevel::L1, Stage::L1Writeback, WRITEBACK_BYTES),
    (MemoryLevel::L2, Stage::L2Return, SECTOR_BYTES),
    (MemoryLevel::Dram, Stage::DramBytes, 1.0),
];

pub(super) fn resource(level: MemoryLevel) -> Resource {
    match level {
        MemoryLevel::L1 => Resource::L1,
        MemoryLevel::L2 => Resource::L2,
        MemoryLevel::Dram => Resource::Dram,
    }
}

pub(super) fn levels(inputs: &Inputs<'_, '_>, loads: Option<&Loads>) -> Vec<LatencyLevel> {
    LEVELS
        .into_iter()
        .filter_map(|(level, stage, bytes)| {
            let row = inputs.ledger.row(stage)?;
            // Where only busy cycles were collected the ledger has no bytes.
            (level != MemoryLevel::Dram || row.unit == "byte").then_some(())?;
            one(inputs, level, row, bytes, loads)
        })
        .collect()
}

fn one(
    inputs: &Inputs<'_, '_>,
    level: MemoryLevel,
    row: &Row,
    bytes: f64,
    loads: Option<&Loads>,
) -> Option<LatencyLevel> {
    let latencies = inputs.latencies?;
    let duration_s = inputs.positive("gpu__time_duration.sum")? * 1e-9;
    let elapsed = inputs.positive("sm__cycles_elapsed.max")?;
    let multiprocessors = inputs
        .positive("launch__sm_count")
        .or_else(|| inputs.positive("device__attribute_multiprocessor_count"))?;
    let unloaded_cycles = latencies.cycles(level);
    // Nothing comes back sooner than from an idle memory. Loads that wait for this level tell how much later it is.
    let cycles = loads
        .filter(|loads| loads.waits_for == Some(resource(level)))
        .and_then(|loads| loads.cycles)
        .map_or(unloaded_cycles, |cycles| cycles.max(unloaded_cycles));
    let cycles_per_s = elapsed / duration_s;
    let of_one_sm = |bytes_per_s: f64, cycles: f64| {
        in_flight(bytes_per_s, cycles / cycles_per_s) / multiprocessors
    };
    let bytes_per_s = row.demand * bytes / duration_s;
    let capacity_bytes_per_s = row.capacity_per_s * bytes;
    let mut source = row.source.clone();
    source.push("sm__cycles_elapsed.max".to_owned());
    Some(LatencyLevel {
        level: resource(level),
        unloaded_cycles,
        unloaded_source: latencies.source.to_owned(),
        bytes_per_s,
        capacity_bytes_per_s,
        needed_bytes_per_sm: of_one_sm(capacity_bytes_per_s, unloaded_cycles),
        in_flight_bytes_per_sm: of_one_sm(bytes_per_s, cycles),
        source,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::latency::testing::{kernel, look};

    fn dram(bytes: f64) -> LatencyLevel {
        let mut levels = look(kernel(bytes), |inputs| levels(inputs, None));
        assert_eq!(levels.len(), 1);
        levels.remove(0)
    }

    /// 658 cycles at 2 GHz are 329 ns. 4 TB/s for so long are 1.316 MB, 13160 bytes for each of 100 SMs; 1 TB/s is a
    /// quarter of that.
    #[test]
    fn bytes_in_flight_are_throughput_times_latency() {
        let level = dram(1e9);
        assert_eq!(level.level, Resource::Dram);
        assert!((level.needed_bytes_per_sm - 13_160.0).abs() < 1e-6);
        assert!((level.in_flight_bytes_per_sm - 3_290.0).abs() < 1e-6);
    }

    /// Twice the latency at the same throughput has twice as much in flight, and needs no more.
    #[test]
    fn a_measured_latency_counts_where_it_is_longer() {
        let loads = |cycles| Loads {
            count: 1.0,
            bytes: None,
            exposed_cycles: 1.0,
            cycles: Some(cycles),
            per_warp: None,
            per_sm: None,
            waits_for: Some(Resource::Dram),
            unloaded_cycles: None,
            source: Vec::new(),
        };
        let in_flight = |cycles| {
            look(kernel(1e9), |inputs| {
                levels(inputs, Some(&loads(cycles)))[0].in_flight_bytes_per_sm
            })
        };
        assert!((in_flight(1316.0) - 6_580.0).abs() < 1e-6);
        // Nothing comes back sooner than from an idle memory.
        assert!((in_flight(100.0) - 3_290.0).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn in_flight_scales_with_throughput(bytes in 1.0..1e9_f64, factor in 0.0..3.0_f64) {
            let (one, other) = (dram(bytes), dram(bytes * factor));
            let expected = one.in_flight_bytes_per_sm * factor;
            prop_assert!((other.in_flight_bytes_per_sm - expected).abs() <= 1e-9 * expected.max(1.0));
            prop_assert!(other.in_flight_bytes_per_sm >= 0.0 && other.in_flight_bytes_per_sm.is_finite());
            prop_assert!((one.needed_bytes_per_sm - other.needed_bytes_per_sm).abs() < 1e-9);
        }
    }
}
