//! The closed list of resources that can bind a kernel.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A resource that can bind a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// Device memory.
    Dram,
    /// Second-level cache: look-ups, data, ports.
    L2,
    /// First-level cache and the load/store unit.
    L1,
    /// Shared memory.
    Shared,
    /// Local memory: spills and private arrays.
    Local,
    /// Constant caches.
    Constant,
    /// Instruction caches.
    InstructionFetch,
    /// Single-precision and integer multiply-add pipe.
    Fma,
    /// Integer and logic pipe.
    Alu,
    /// Half-precision arithmetic.
    Fp16,
    /// Double-precision pipe.
    Fp64,
    /// Special functions and conversions.
    Xu,
    /// Matrix pipes.
    Tensor,
    /// Uniform datapath.
    Uniform,
    /// Issue slots of the schedulers.
    Issue,
    /// Atomic units of the L2.
    AtomicL2,
    /// Atomics in shared memory.
    AtomicShared,
    /// Block barriers.
    Barrier,
    /// Nothing is busy: waiting that nothing hides.
    Latency,
    /// The launch itself.
    Launch,
}

/// What kind of limit a kernel runs into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Moving data.
    Memory,
    /// Executing instructions.
    Compute,
    /// Waiting.
    Latency,
    /// Being launched.
    Launch,
}

impl Resource {
    /// The kind of limit that this resource is.
    #[must_use]
    pub fn class(self) -> Class {
        match self {
            Self::Dram | Self::L2 | Self::L1 | Self::Shared | Self::Local | Self::Constant => {
                Class::Memory
            }
            Self::AtomicL2 | Self::AtomicShared => Class::Memory,
            Self::InstructionFetch | Self::Issue => Class::Compute,
            Self::Fma
            | Self::Alu
            | Self::Fp16
            | Self::Fp64
            | Self::Xu
            | Self::Tensor
            | Self::Uniform => Class::Compute,
            Self::Barrier | Self::Latency => Class::Latency,
            Self::Launch => Class::Launch,
        }
    }

    /// The name that people read.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Dram => "DRAM",
            Self::L2 => "L2",
            Self::L1 => "L1",
            Self::Shared => "shared memory",
            Self::Local => "local memory",
            Self::Constant => "constant cache",
            Self::InstructionFetch => "instruction fetch",
            Self::Fma => "FMA pipe",
            Self::Alu => "ALU pipe",
            Self::Fp16 => "FP16",
            Self::Fp64 => "FP64 pipe",
            Self::Xu => "XU pipe",
            Self::Tensor => "tensor pipe",
            Self::Uniform => "uniform datapath",
            Self::Issue => "issue slots",
            Self::AtomicL2 => "L2 atomics",
            Self::AtomicShared => "shared atomics",
            Self::Barrier => "barriers",
            Self::Latency => "latency",
            Self::Launch => "launch",
        }
    }
}
