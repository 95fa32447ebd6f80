//! What is resident on a multiprocessor at most.
//!
//! Reports carry most of these as device attributes; the attributes go before this table.

use super::{ComputeCapability, Source};

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
        // Warps and blocks; unified, shared of an SM and of a block in KiB; reserved bytes of a block.
        let [warps, blocks, unified, shared, per_block, reserved] =
            match (capability.major, capability.minor) {
                (7, 0 | 2) => [64, 32, 128, 96, 96, 0],
                (7, 5) => [32, 16, 96, 64, 64, 0],
                (8, 0) => [64, 32, 192, 164, 163, 1024],
                (8, 6) => [48, 16, 128, 100, 99, 1024],
                (8, 7) => [48, 16, 192, 164, 163, 1024],
                (8, 9) => [48, 24, 128, 100, 99, 1024],
                (9, 0) | (10, 0 | 3) => [64, 32, 256, 228, 227, 1024],
                (11, 0) => [48, 24, 256, 228, 227, 1024],
                (12, 0 | 1) => [48, 24, 128, 100, 99, 1024],
                _ => return None,
            };
        Some(Self {
            warps,
            blocks,
            registers: 65_536,
            shared_bytes: shared * 1024,
            shared_bytes_per_block: per_block * 1024,
            reserved_shared_bytes: reserved,
            unified_bytes: unified * 1024,
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
