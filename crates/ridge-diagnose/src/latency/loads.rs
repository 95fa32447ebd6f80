//! Loads: how long warps wait for them, how long each takes, and how many a warp has open.
//!
//! The cycles that warps spend waiting for the long scoreboard, over the loads, are the waiting `E` that a load exposes.
//! By itself it does not tell a load of 600 cycles from one of 1200 that shares its waiting with another. Samples by
//! instruction do: each visit of an instruction that waits takes `V` cycles, which is the latency less what stands
//! between load and use. A warp that waits has `V / E` loads open.

use std::collections::HashMap;

use ridge_model::arch::{SCHEDULERS_PER_SM, SECTOR_BYTES};
use ridge_model::latency::{Latencies, in_flight};
use ridge_model::roof::MemoryLevel;

use super::Inputs;
use crate::document::Loads;
use crate::mix::{BULK_COPIES, SCOREBOARD_LOADS};

const WAITING: &str = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";
const ISSUED: &str = "smsp__inst_issued.sum";
const SAMPLES: &str = "smsp__pcsamp_warps_issue_stalled_long_scoreboard";
const EXECUTED: &str = "inst_executed";
const ACTIVE: &str = "smsp__cycles_active.sum";

/// The counting error of `n` samples is `1 / √n`: 20 % with these.
const ENOUGH_SAMPLES: f64 = 25.0;
/// A level counts as waited for when it makes up this part of the mean latency. The L2 answers about ten times as late
/// as the L1, so that a level below this is neither frequent nor far.
const NOTABLE: f64 = 0.1;

pub(super) fn loads(inputs: &Inputs<'_, '_>) -> Option<Loads> {
    // A bulk copy brings a tile with one instruction, and warps wait for it at a barrier in shared memory.
    if inputs
        .mix
        .is_some_and(|mix| mix.of_opcodes(BULK_COPIES) > 0.0)
    {
        return None;
    }
    let mut source = vec![WAITING.to_owned(), ISSUED.to_owned()];
    let waited = inputs.number(WAITING)? * inputs.positive(ISSUED)?;
    let count = count(inputs, &mut source)?;
    let exposed_cycles = waited / count;
    let cycles = visit(inputs, waited).map(|visit| {
        source.extend([SAMPLES.to_owned(), EXECUTED.to_owned()]);
        // A warp that waits waits for one load at least: the waiting of a load is never longer than the load.
        visit.max(exposed_cycles)
    });
    let per_sm = cycles
        .zip(inputs.positive(ACTIVE))
        .map(|(cycles, active)| in_flight(count * SCHEDULERS_PER_SM / active, cycles));
    let farthest = inputs
        .latencies
        .and_then(|latencies| Served::of(inputs)?.farthest(&latencies));
    Some(Loads {
        count,
        bytes: sectors(inputs).map(|sectors| sectors * SECTOR_BYTES / count),
        exposed_cycles,
        cycles,
        per_warp: cycles
            .filter(|_| exposed_cycles > 0.0)
            .map(|cycles| cycles / exposed_cycles),
        per_sm,
        waits_for: farthest.map(super::levels::resource),
        unloaded_cycles: farthest
            .zip(inputs.latencies)
            .map(|(level, latencies)| latencies.cycles(level)),
        source,
    })
}

/// Loads as warp instructions: by opcode, else by what the L1 took in.
fn count(inputs: &Inputs<'_, '_>, source: &mut Vec<String>) -> Option<f64> {
    const REQUESTS: [&str; 2] = [
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
    ];
    let count = match inputs.mix {
        Some(mix) => {
            source.push(mix.source().to_owned());
            mix.of_opcodes(SCOREBOARD_LOADS)
        }
        None => {
            source.extend(REQUESTS.map(str::to_owned));
            inputs.number(REQUESTS[0])? + inputs.number(REQUESTS[1]).unwrap_or(0.0)
        }
    };
    (count > 0.0).then_some(count)
}

/// Cycles that a warp waits each time it comes to an instruction that waits, weighted by the waiting.
fn visit(inputs: &Inputs<'_, '_>, waited: f64) -> Option<f64> {
    let by_instruction = |name| inputs.metrics.get(name)?.by_number().ok();
    let samples = by_instruction(SAMPLES)?;
    let executed: HashMap<u64, f64> = by_instruction(EXECUTED)?.into_iter().collect();
    let total: f64 = samples.iter().map(|(_, count)| count).sum();
    if total < ENOUGH_SAMPLES {
        return None;
    }
    let visits = samples.iter().filter_map(|(address, count)| {
        let share = count / total;
        let visits = executed.get(address).filter(|visits| **visits > 0.0)?;
        Some(share * (share * waited / visits))
    });
    let cycles: f64 = visits.sum();
    (cycles.is_finite() && cycles >= 0.0).then_some(cycles)
}

/// Sectors that loads touched.
fn sectors(inputs: &Inputs<'_, '_>) -> Option<f64> {
    let sectors =
        |space: &str| inputs.number(&format!("l1tex__t_sectors_pipe_lsu_mem_{space}_op_ld.sum"));
    Some(sectors("global")? + sectors("local").unwrap_or(0.0))
}

/// Parts of the sectors of loads that each level serves.
struct Served {
    l1: f64,
    l2: f64,
    dram: f64,
}

impl Served {
    fn of(inputs: &Inputs<'_, '_>) -> Option<Self> {
        let all = sectors(inputs).filter(|sectors| *sectors > 0.0)?;
        let hits = |space: &str| {
            inputs.number(&format!(
                "l1tex__t_sectors_pipe_lsu_mem_{space}_op_ld_lookup_hit.sum"
            ))
        };
        let hits = hits("global")? + hits("local").unwrap_or(0.0);
        let from_l2 = inputs.number("lts__t_sectors_srcunit_tex_op_read.sum")? * SECTOR_BYTES;
        let from_dram = inputs.number("dram__bytes_read.sum")?;
        Some(Self::new(
            hits / all,
            if from_l2 > 0.0 {
                from_dram / from_l2
            } else {
                0.0
            },
        ))
    }

    /// From the hit rate of the L1, and the part of what the L2 delivers that comes from DRAM.
    fn new(l1_hits: f64, l2_misses: f64) -> Self {
        let (l1, l2_misses) = (l1_hits.clamp(0.0, 1.0), l2_misses.clamp(0.0, 1.0));
        Self {
            l1,
            l2: (1.0 - l1) * (1.0 - l2_misses),
            dram: (1.0 - l1) * l2_misses,
        }
    }

    /// The farthest level with a notable part of the mean latency. A request is as late as its latest sector, so that
    /// the mean over sectors is too little to measure it with.
    fn farthest(&self, latencies: &Latencies) -> Option<MemoryLevel> {
        let parts = [
            (MemoryLevel::Dram, self.dram),
            (MemoryLevel::L2, self.l2),
            (MemoryLevel::L1, self.l1),
        ];
        let parts = parts.map(|(level, part)| (level, part * latencies.cycles(level)));
        let mean: f64 = parts.iter().map(|(_, cycles)| cycles).sum();
        let found = parts
            .into_iter()
            .find(|(_, cycles)| *cycles >= NOTABLE * mean);
        found.map(|(level, _)| level)
    }
}

#[cfg(test)]
mod tests {
    use ridge_model::ComputeCapability;

    use super::*;
    use crate::latency::testing::{by_instruction, kernel, look, sum};

    const WAIT: u64 = 0x10;
    const LATER: u64 = 0x20;

    /// 1000 instructions that wait 50 cycles each have waited 50 000 cycles, 500 for each of 100 loads.
    fn counters(samples: &[(u64, f64)]) -> Vec<ncu_rep::Listed> {
        let mut listed = kernel(1e9);
        listed.extend([
            sum(WAITING, 50.0),
            sum(ISSUED, 1000.0),
            sum("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 100.0),
            sum("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 400.0),
            sum(ACTIVE, 40_000.0),
            by_instruction(SAMPLES, samples),
            by_instruction(EXECUTED, &[(WAIT, 50.0), (LATER, 50.0)]),
        ]);
        listed
    }

    /// Three quarters of the waiting at one of two places that are each visited 50 times: 750 and 250 cycles a visit,
    /// 0.75 · 750 + 0.25 · 250 = 625 on average. A load that exposes 500 of them shares its waiting with a quarter of
    /// another. An SM issues a load every 100 cycles, and has 6.25 open.
    #[test]
    fn samples_tell_latency_from_loads_that_overlap() {
        let found = look(counters(&[(WAIT, 75.0), (LATER, 25.0)]), loads).unwrap();
        assert!((found.exposed_cycles - 500.0).abs() < 1e-9);
        assert!((found.cycles.unwrap() - 625.0).abs() < 1e-9);
        assert!((found.per_warp.unwrap() - 1.25).abs() < 1e-9);
        assert!((found.per_sm.unwrap() - 6.25).abs() < 1e-9);
        assert!((found.bytes.unwrap() - 128.0).abs() < 1e-9);
    }

    #[test]
    fn without_samples_only_the_exposed_part_is_known() {
        let found = look(counters(&[(WAIT, 3.0)]), loads).unwrap();
        assert!((found.exposed_cycles - 500.0).abs() < 1e-9);
        assert_eq!(
            (found.cycles, found.per_warp, found.per_sm),
            (None, None, None)
        );
    }

    #[test]
    fn without_counters_nothing_is_known() {
        assert_eq!(look(kernel(1e9), loads), None);
    }

    #[test]
    fn loads_wait_for_the_farthest_level_that_matters() {
        let latencies = Latencies::of(ComputeCapability { major: 9, minor: 0 }).unwrap();
        let farthest = |l1_hits, l2_misses| Served::new(l1_hits, l2_misses).farthest(&latencies);
        assert_eq!(farthest(0.0, 1.0), Some(MemoryLevel::Dram));
        assert_eq!(farthest(1.0, 1.0), Some(MemoryLevel::L1));
        // 0.95 of 34 cycles, 0.047 of 265, 0.003 of 658: 32 + 12 + 2 cycles.
        assert_eq!(farthest(0.95, 0.06), Some(MemoryLevel::L2));
        // Three hits after each miss of a stream read in single bytes.
        assert_eq!(farthest(0.75, 1.0), Some(MemoryLevel::Dram));
        // Counters of different passes disagree.
        assert_eq!(farthest(-0.2, 1.3), Some(MemoryLevel::Dram));
    }
}
