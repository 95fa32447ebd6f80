//! The part of the answer about latency: what is in flight, what has to be, and which of the two reasons is missing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Resource;

/// How a kernel hides latency, by Little's law: throughput is what is in flight over the time that each takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Bytes in flight at each level of memory, those nearest to the SM first.
    pub levels: Vec<LatencyLevel>,
    /// The loads that warps wait for; absent where their waiting or their number was not collected, and where copies of
    /// whole tiles hide them from the counters.
    pub loads: Option<Loads>,
    /// The warps that can hide latency.
    pub warps: Option<Warps>,
    /// What the waiting of warps consists of.
    pub waiting: Option<Waiting>,
    /// What is missing, if anything; absent where the counters do not tell.
    pub verdict: Option<LatencyVerdict>,
}

/// One level of memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyLevel {
    /// `l1`, `l2` or `dram`.
    pub level: Resource,
    /// SM cycles that a load takes at this level when nothing else is under way.
    pub unloaded_cycles: f64,
    /// Where that figure comes from.
    pub unloaded_source: String,
    /// Bytes a second that the level moved.
    pub bytes_per_s: f64,
    /// Bytes a second that it can move at the clock of this run.
    pub capacity_bytes_per_s: f64,
    /// Bytes that each SM has to have in flight to saturate the level: capacity × unloaded latency.
    pub needed_bytes_per_sm: f64,
    /// Bytes that each SM had in flight: throughput × latency, the measured one of loads where they wait for this level
    /// and it is longer than the unloaded one.
    pub in_flight_bytes_per_sm: f64,
    /// The counters that the numbers were computed from.
    pub source: Vec<String>,
}

/// Loads that warps wait for: global, local and texture memory, and atomics that return a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Loads {
    /// Warp instructions.
    pub count: f64,
    /// Bytes that one of them brings, in whole sectors.
    pub bytes: Option<f64>,
    /// Cycles of waiting that each causes on average. Loads that a warp has open at the same time share their waiting.
    pub exposed_cycles: f64,
    /// Cycles for which a warp waits each time it has to: about the latency of a load, or less where work stands between
    /// the load and its use. Absent without samples by instruction.
    pub cycles: Option<f64>,
    /// Loads that a waiting warp has open, at least 1. Absent without samples by instruction.
    pub per_warp: Option<f64>,
    /// Loads that an SM has open on average.
    pub per_sm: Option<f64>,
    /// The farthest level that accounts for a tenth or more of the latency of loads.
    pub waits_for: Option<Resource>,
    /// SM cycles that a load takes at that level when nothing else is under way.
    pub unloaded_cycles: Option<f64>,
    /// The counters that the numbers were computed from.
    pub source: Vec<String>,
}

/// Warps of a scheduler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Warps {
    /// Resident on average, while the SM has work.
    pub resident: f64,
    /// Ready to issue on average, while the SM has work.
    pub eligible: f64,
    /// Share of the cycles in which the scheduler issues, while the SM has work. It tells more than the warps that are
    /// ready on average: those may all be ready at once, and none a moment later.
    pub issuing: Option<f64>,
    /// What registers, shared memory and block size allow.
    pub theoretical: Option<f64>,
    /// What the hardware can hold.
    pub most: Option<f64>,
    /// By how much the warps of the whole device would grow if every SM held all that it can.
    pub missing_factor: Option<f64>,
}

/// Shares of the time for which a warp waits and is not ready to issue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Waiting {
    /// For data from the L1 and beyond (long scoreboard).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub memory: f64,
    /// For results of shared memory, special functions and matrix operations.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub on_chip: f64,
    /// For the fixed latency of the instruction before.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub fixed: f64,
    /// For anything else: barriers, full queues, instructions.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub other: f64,
}

/// What is missing to hide latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LatencyVerdict {
    /// Nothing: a unit is busy most of the time, or schedulers issue in most cycles while there is work.
    Hidden,
    /// Each access takes about as long as it has to; each warp has too few of them open, or they carry too few bytes.
    NotEnoughInFlight {
        /// By how much what is in flight has to grow until the busiest unit is at its attainable share.
        factor: f64,
        /// The part of that factor that full SMs would supply.
        by_warps: f64,
        /// The part of that factor that has to come from each warp.
        by_each_warp: f64,
    },
    /// Each access takes about as long as it has to; the warps that a full device holds would supply more of what is
    /// missing than each warp would have to.
    NotEnoughWarps {
        /// By how much what is in flight has to grow until the busiest unit is at its attainable share.
        factor: f64,
        /// The part of that factor that full SMs would supply.
        by_warps: f64,
        /// The part of that factor that has to come from each warp.
        by_each_warp: f64,
    },
    /// Each access takes longer than a queue at this load explains: many sectors for a request, atomics, hot spots.
    AccessTooExpensive {
        /// The time of an access over the unloaded latency.
        factor: f64,
    },
    /// Warps wait for results of instructions in the SM more than for memory.
    DependentArithmetic {
        /// By how much the independent instructions have to grow until the busiest unit is at its attainable share.
        factor: f64,
    },
    /// Warps wait mostly for what is no latency: barriers, full queues, instructions.
    OtherWaiting,
}
