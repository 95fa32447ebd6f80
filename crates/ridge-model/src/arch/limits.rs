//! What is resident on a multiprocessor at most.
//!
//! The figures are those of [`SmLimits`]; only the memory that L1 and shared memory have in common is told here. Reports
//! carry most of these as device attributes; the attributes go before the table.

use super::{ComputeCapability, Source};
use crate::occupancy::SmLimits;

/// What is resident on a multiprocessor at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Warps on an SM.
    pub warps: u32,
    /// Blocks on an SM.
    pub blocks: u32,
    /// 32-bit registers of an SM; a block can have all of them.
    pub registers: u32,
    /// Shared memory of an SM at the largest carve-out, in bytes.
    pub shared_bytes: u32,
    /// Shared memory that one block can have, in bytes; more than 48 KiB only on request.
    pub shared_bytes_per_block: u32,
    /// Shared memory that the system takes from each block, in bytes.
    pub reserved_shared_bytes: u32,
    /// L1 and shared memory together, in bytes.
    pub unified_bytes: u32,
    /// Where all of these come from.
    pub source: Source,
}

impl Limits {
    /// The limits of a compute capability.
    pub(super) fn of(capability: ComputeCapability) -> Option<Self> {
        // What fits on an SM stands in one place, with the source of every figure.
        let sm = SmLimits::of(capability)?;
        let unified_kib = match (capability.major, capability.minor) {
            (7, 5) => 96,
            (8, 0 | 7) => 192,
            (9, 0) | (10, 0 | 3) | (11, 0) => 256,
            _ => 128,
        };
        Some(Self {
            warps: sm.warps.value,
            blocks: sm.blocks.value,
            registers: sm.registers.value,
            shared_bytes: sm.shared_bytes.value,
            shared_bytes_per_block: sm.shared_bytes_per_block.value,
            reserved_shared_bytes: sm.reserved_shared_bytes.value,
            unified_bytes: unified_kib * 1024,
            source: Source::SpecificationTable,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_block_may_have_fits_on_the_multiprocessor() {
        for capability in ComputeCapability::KNOWN {
            let limits = Limits::of(capability).expect("a known capability has limits");
            let whole_block = limits.shared_bytes_per_block + limits.reserved_shared_bytes;
            assert!(whole_block <= limits.shared_bytes, "{capability}");
            assert!(limits.shared_bytes < limits.unified_bytes, "{capability}");
            assert!(limits.blocks <= limits.warps, "{capability}");
        }
    }
}
