//! What one streaming multiprocessor (SM) and one L2 slice of an architecture can do in a cycle.
//!
//! The figures are data: one row for each compute capability in [`execution`], [`memory`], [`limits`], [`latency`] and
//! [`tensor`],
//! each figure with its [`Source`]. A figure that has no source is absent, and the row of the ledger that needs it is
//! absent with it. A report that stores a peak of its own goes before these tables.

pub mod execution;
mod figure;
pub mod latency;
pub mod limits;
pub mod memory;
pub mod tensor;

pub use figure::{Figure, Source};

use std::fmt;

use execution::Execution;
use latency::Latency;
use limits::Limits;
use memory::Memory;
use tensor::Tensor;

/// A compute capability, such as 9.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComputeCapability {
    /// The number before the point.
    pub major: u32,
    /// The number behind the point.
    pub minor: u32,
}

impl ComputeCapability {
    /// Every compute capability that this version has figures for.
    pub const KNOWN: [Self; 13] = [
        Self::new(7, 0),
        Self::new(7, 2),
        Self::new(7, 5),
        Self::new(8, 0),
        Self::new(8, 6),
        Self::new(8, 7),
        Self::new(8, 9),
        Self::new(9, 0),
        Self::new(10, 0),
        Self::new(10, 3),
        Self::new(11, 0),
        Self::new(12, 0),
        Self::new(12, 1),
    ];

    const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }
}

impl fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// What an architecture can do in a cycle, and what fits on one of its SMs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Architecture {
    /// The compute capability that the figures belong to.
    pub capability: ComputeCapability,
    /// Pipes of an SM.
    pub execution: Execution,
    /// Caches.
    pub memory: Memory,
    /// Matrix pipes of an SM.
    pub tensor: Tensor,
    /// What is resident on an SM at most.
    pub limits: Limits,
    /// How long a load takes.
    pub latency: Latency,
}

/// Threads in a warp: 32 on every architecture so far.
pub const WARP_SIZE: f64 = 32.0;
/// Schedulers (sub-partitions) of an SM: 4 from 7.0 on. Each issues one warp instruction a cycle.
pub const SCHEDULERS_PER_SM: f64 = 4.0;
/// Bytes in a sector, the unit of traffic between L1, L2 and DRAM.
pub const SECTOR_BYTES: f64 = 32.0;
/// Wavefronts a cycle in each stage of the L1 and shared memory of an SM: one from 7.0 on, where the two became one
/// memory of 128 bytes a cycle.
pub const WAVEFRONTS_PER_CYCLE: f64 = 1.0;

impl Architecture {
    /// The figures of a compute capability; absent when this version does not know it.
    #[must_use]
    pub fn of(capability: ComputeCapability) -> Option<Self> {
        Some(Self {
            capability,
            execution: Execution::of(capability)?,
            memory: Memory::of(capability),
            tensor: Tensor::of(capability),
            limits: Limits::of(capability)?,
            latency: Latency::of(capability),
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
        for (major, minor) in [(6, 1), (8, 8), (99, 0)] {
            assert_eq!(
                Architecture::of(ComputeCapability { major, minor }),
                None,
                "{major}.{minor}"
            );
        }
    }

    #[test]
    fn every_known_capability_has_a_row_in_each_table() {
        for capability in ComputeCapability::KNOWN {
            assert!(Architecture::of(capability).is_some(), "{capability}");
        }
    }

    #[test]
    fn a_warp_of_single_precision_takes_one_cycle_on_128_lanes() {
        assert!((Architecture::warp_instructions_per_cycle(128.0) - 1.0).abs() < f64::EPSILON);
        assert!((Architecture::warp_instructions_per_cycle(16.0) - 0.125).abs() < f64::EPSILON);
    }
}
