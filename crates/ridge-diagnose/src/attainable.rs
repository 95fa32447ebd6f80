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
/// from V100 to H100 (published: gpu-benches) and 87.4 % by time, 89.9 % by counters on an H200 (measured, 256 MiB and
/// 1 GiB; `docs/design/ledger.md`, "Attainable shares").
const DRAM: Attainable = Attainable {
    share: 0.90,
    source: "copy kernels on H200 by hardware counters: 89.9 %",
};
/// Issue and pipes: FMA loops on an H200 reach 61.4 to 61.8 of 66.9 TFLOP/s by time (92 %, with launch and ramp-up),
/// and by counters 94 % of the pipe and 96 % of the issue slots (`fma_peak` of the gallery).
const EXECUTION: Attainable = Attainable {
    share: 0.95,
    source: "FMA loops on H200: 92 to 98 %",
};
/// Matrix pipes: a library product reaches 90.1 % of the dense peak at its own clock on an H200 (BF16, 4096³, by
/// counters; `docs/diagnosis-accuracy.md`, "Library kernels").
const TENSOR: Attainable = Attainable {
    share: 0.90,
    source: "library matrix products on H200: 90.1 %",
};
/// Caches and shared memory: kernels bound by them reach 88 to 93 % by counters on an H200 (`docs/design/ledger.md`,
/// "Attainable shares"), `l2_lines` of the gallery 91 %.
const CACHE: Attainable = Attainable {
    share: 0.90,
    source: "shared-memory and L2 bound kernels on H200: 88 to 93 %",
};

/// Sectors at random places open a row of the memory for a few bytes each: gathers reach 55 to 61 % of the peak by
/// counters on an H200 (measured; `gather_order` of the gallery 55 %).
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
