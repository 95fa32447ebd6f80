//! What one streaming multiprocessor (SM) and one L2 slice of an architecture can do in a cycle.
//!
//! Sources of the figures:
//! * lanes: table "Throughput of Native Arithmetic Instructions" of the CUDA C++ programming guide (results per cycle
//!   and SM), rows 32-bit add/multiply/FMA, 64-bit FMA, 32-bit integer add/compare/logic, reciprocal/sine
//!   (special function), with the table's columns for each compute capability;
//! * pipe occupation on 9.0: fitted without residual to opcode counts and pipe percentages of 76 kernels of one H200
//!   (see `docs/design/ledger.md`);
//! * L2 figures on 9.0: exact quotients of counters and stored percentages on the same kernels.
//!
//! A figure that has no source is absent, and the row of the ledger that needs it is absent with it.

use std::fmt;

/// A compute capability, such as 9.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComputeCapability {
    /// The number before the point.
    pub major: u32,
    /// The number behind the point.
    pub minor: u32,
}

impl fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// What an architecture can do in a cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Architecture {
    /// The compute capability that the figures belong to.
    pub capability: ComputeCapability,
    /// Single-precision lanes of an SM: fused multiply-adds a cycle.
    pub fp32_lanes: f64,
    /// Double-precision lanes of an SM.
    pub fp64_lanes: f64,
    /// Lanes of an SM for 32-bit integer addition, comparison and logic.
    pub alu_lanes: f64,
    /// Special-function lanes of an SM.
    pub xu_lanes: f64,
    /// Lanes of the uniform datapath: warp instructions a cycle and scheduler, as lanes of a warp.
    pub uniform_lanes: Option<f64>,
    /// Whether 32-bit integer multiply-add runs on one half of the single-precision pipe only.
    pub has_split_fma: bool,
    /// What a slice of the L2 can do in a cycle.
    pub l2_slice: Option<L2Slice>,
}

/// What a slice of the L2 can do in a cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct L2Slice {
    /// Tag look-ups (requests).
    pub requests: f64,
    /// Sectors looked up, all sources together.
    pub sectors: f64,
    /// Sectors written by SMs.
    pub written_sectors: f64,
}

/// Threads in a warp: 32 on every architecture so far.
pub const WARP_SIZE: f64 = 32.0;
/// Schedulers (sub-partitions) of an SM: 4 from 7.0 on.
pub const SCHEDULERS_PER_SM: f64 = 4.0;
/// Bytes in a sector, the unit of traffic between L1, L2 and DRAM.
pub const SECTOR_BYTES: f64 = 32.0;

impl Architecture {
    /// The figures of a compute capability; absent when this version does not know it.
    #[must_use]
    pub fn of(capability: ComputeCapability) -> Option<Self> {
        let lanes = |fp32_lanes, fp64_lanes, alu_lanes| Self {
            capability,
            fp32_lanes,
            fp64_lanes,
            alu_lanes,
            xu_lanes: 16.0,
            uniform_lanes: None,
            has_split_fma: false,
            l2_slice: None,
        };
        Some(match (capability.major, capability.minor) {
            (7, 0 | 2) => lanes(64.0, 32.0, 64.0),
            (7, 5) => lanes(64.0, 2.0, 64.0),
            (8, 0) => lanes(64.0, 32.0, 64.0),
            (8, 6..=9) => lanes(128.0, 2.0, 64.0),
            (9, 0) => Self {
                uniform_lanes: Some(64.0),
                has_split_fma: true,
                l2_slice: Some(L2Slice {
                    requests: 1.0,
                    sectors: 3.0,
                    written_sectors: 1.0,
                }),
                ..lanes(128.0, 64.0, 64.0)
            },
            (10, 0) => lanes(128.0, 64.0, 64.0),
            (10, 3) | (12, 0 | 1) => lanes(128.0, 2.0, 64.0),
            _ => return None,
        })
    }

    /// How many warp instructions a scheduler can start in a cycle on a pipe of so many lanes an SM.
    #[must_use]
    pub fn warp_instructions_per_cycle(lanes: f64) -> f64 {
        lanes / WARP_SIZE / SCHEDULERS_PER_SM
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_capability_is_absent() {
        assert_eq!(
            Architecture::of(ComputeCapability { major: 6, minor: 1 }),
            None
        );
        assert_eq!(
            Architecture::of(ComputeCapability {
                major: 99,
                minor: 0
            }),
            None
        );
    }

    #[test]
    fn a_warp_of_single_precision_takes_one_cycle_on_128_lanes() {
        assert!((Architecture::warp_instructions_per_cycle(128.0) - 1.0).abs() < f64::EPSILON);
        assert!((Architecture::warp_instructions_per_cycle(16.0) - 0.125).abs() < f64::EPSILON);
    }
}
