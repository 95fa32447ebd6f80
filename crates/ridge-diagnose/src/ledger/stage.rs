//! The stages of resources: what a row of the ledger is about.

use super::Resource;

/// A stage of a resource: one unit that work passes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Bytes over the interface of the device memory.
    DramBytes,
    /// Tag look-ups of the L2.
    L2Requests,
    /// Sectors looked up in the L2.
    L2Sectors,
    /// Data from the L2 to the SMs.
    L2Return,
    /// Sectors written by SMs into the L2.
    L2Write,
    /// Global and local accesses in the L1, one wavefront after the other.
    L1Wavefronts,
    /// Data of global and local memory from the L1 to the registers.
    L1Writeback,
    /// Data of global, local and shared memory in the L1, one wavefront after the other.
    L1Data,
    /// Sectors from the L2 into the L1.
    L1Fill,
    /// Bytes from the L1 to the L2.
    L1Store,
    /// Wavefronts in shared memory.
    SharedWavefronts,
    /// Instructions into the load/store unit.
    LsuInstructions,
    /// Issue slots.
    Issue,
    /// Single-precision and integer multiply-add instructions.
    Fma,
    /// Instructions that only the heavy half of the FMA pipe executes.
    FmaHeavy,
    /// Integer, logic and comparison instructions.
    Alu,
    /// Double-precision instructions.
    Fp64,
    /// Special functions and conversions.
    Xu,
    /// Uniform instructions.
    Uniform,
    /// Matrix operations.
    Tensor,
    /// Half-precision multiply-adds on the matrix pipe.
    HalfOnTensor,
    /// Packed half-precision arithmetic, where its rate does not depend on the compiler.
    Half,
    /// Accesses of local memory in the L1, a part of its wavefronts.
    LocalWavefronts,
    /// Atomics and reductions in the L2, if they were spread evenly.
    AtomicsL2,
    /// Wavefronts of atomics in shared memory.
    AtomicsShared,
    /// Requests to the indexed constant cache of an SM.
    ConstantRequests,
    /// Requests for constants to the cache that the SMs of a GPC share.
    ConstantFills,
    /// Requests to the instruction cache of an SM.
    InstructionRequests,
    /// Requests for instructions to the cache that the SMs of a GPC share.
    InstructionFills,
}

impl Stage {
    /// The resource that the stage belongs to.
    #[must_use]
    pub fn resource(self) -> Resource {
        match self {
            Self::DramBytes => Resource::Dram,
            Self::L2Requests | Self::L2Sectors | Self::L2Return | Self::L2Write => Resource::L2,
            Self::L1Wavefronts
            | Self::L1Writeback
            | Self::L1Data
            | Self::L1Fill
            | Self::L1Store
            | Self::LsuInstructions => Resource::L1,
            Self::SharedWavefronts => Resource::Shared,
            Self::Issue => Resource::Issue,
            Self::Fma | Self::FmaHeavy => Resource::Fma,
            Self::Alu => Resource::Alu,
            Self::Fp64 => Resource::Fp64,
            Self::Xu => Resource::Xu,
            Self::Uniform => Resource::Uniform,
            Self::Tensor => Resource::Tensor,
            Self::HalfOnTensor | Self::Half => Resource::Fp16,
            Self::LocalWavefronts => Resource::Local,
            Self::AtomicsL2 => Resource::AtomicL2,
            Self::AtomicsShared => Resource::AtomicShared,
            Self::ConstantRequests | Self::ConstantFills => Resource::Constant,
            Self::InstructionRequests | Self::InstructionFills => Resource::InstructionFetch,
        }
    }

    /// What people read: the unit inside the resource.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::DramBytes => "interface",
            Self::L2Requests => "tag look-ups",
            Self::L2Sectors => "sectors",
            Self::L2Return => "data to SMs",
            Self::L2Write => "data from SMs",
            Self::L1Wavefronts => "global and local wavefronts",
            Self::L1Writeback => "global data to registers",
            Self::L1Data => "data stage",
            Self::L1Fill => "fill from L2",
            Self::L1Store => "stores to L2",
            Self::SharedWavefronts => "wavefronts",
            Self::LsuInstructions => "LSU instructions",
            Self::Issue => "instructions",
            Self::Fma => "FP32 and integer multiply",
            Self::FmaHeavy => "heavy half: integer multiply, 16-bit",
            Self::Alu => "integer and logic",
            Self::Fp64 => "FP64",
            Self::Xu => "special functions, conversions",
            Self::Uniform => "uniform instructions",
            Self::Tensor => "matrix operations",
            Self::HalfOnTensor => "multiply-adds on the matrix pipe",
            Self::Half => "packed arithmetic",
            Self::LocalWavefronts => "wavefronts",
            Self::AtomicsL2 => "atomic sectors",
            Self::AtomicsShared => "atomic wavefronts",
            Self::ConstantRequests => "requests in the SM",
            Self::ConstantFills => "requests in the GPC",
            Self::InstructionRequests => "requests in the SM",
            Self::InstructionFills => "requests in the GPC",
        }
    }
}
