//! How close to a peak a perfect kernel gets: published and measured fractions.

use crate::ledger::Stage;

/// The part of a stage's peak that is attainable in practice, and where the figure comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attainable {
    /// Share of the peak, 0 to 1.
    pub share: f64,
    /// Where the figure comes from.
    pub source: &'static str,
}

/// DRAM refreshes, turns around between reads and writes and opens rows: copies reach 85 to 94 % of the peak on parts
/// from V100 to H200 (gpu-benches, BabelStream, own H200 measurement 87.4 % by time, 89.9 % by counters).
const DRAM: Attainable = Attainable {
    share: 0.90,
    source: "copy kernels on H200 by hardware counters: 89.9 %",
};
/// Issue and pipes: loops of independent operations reach 92 to 98 % on H200.
const EXECUTION: Attainable = Attainable {
    share: 0.95,
    source: "FMA loops on H200: 92 to 98 %",
};
/// Matrix pipes: library products reach 90 % of the dense peak at their own clock.
const TENSOR: Attainable = Attainable {
    share: 0.90,
    source: "library matrix products on H200: 90.1 %",
};
/// Caches and shared memory: conflict-free loops reach 88 to 93 % of the wavefront peak.
const CACHE: Attainable = Attainable {
    share: 0.90,
    source: "shared-memory and L2 bound kernels on H200: 88 to 93 %",
};

/// Sectors at random places open a row of the memory for a few bytes each: gathers on H200 reach 55 to 61 % of the peak
/// by hardware counters.
pub const SCATTERED_DRAM: Attainable = Attainable {
    share: 0.6,
    source: "random gathers on H200 by hardware counters: 55 to 61 %",
};

/// What is attainable on a stage.
#[must_use]
pub fn attainable(stage: Stage) -> Attainable {
    match stage {
        Stage::DramBytes => DRAM,
        Stage::Tensor => TENSOR,
        Stage::Issue
        | Stage::Fma
        | Stage::FmaHeavy
        | Stage::Alu
        | Stage::Fp64
        | Stage::Xu
        | Stage::Uniform
        | Stage::HalfOnTensor
        | Stage::Half => EXECUTION,
        Stage::L2Requests
        | Stage::L2Sectors
        | Stage::L2Return
        | Stage::L2Write
        | Stage::L1Wavefronts
        | Stage::L1Writeback
        | Stage::L1Data
        | Stage::L1Fill
        | Stage::L1Store
        | Stage::SharedWavefronts
        | Stage::LsuInstructions
        | Stage::LocalWavefronts
        | Stage::AtomicsL2
        | Stage::AtomicsShared
        | Stage::ConstantRequests
        | Stage::ConstantFills
        | Stage::InstructionRequests
        | Stage::InstructionFills => CACHE,
    }
}
