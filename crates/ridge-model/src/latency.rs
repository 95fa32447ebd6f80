//! How long a load takes while nothing else is under way, for each level of memory, and Little's law.
//!
//! The figures are pointer chases: each load waits for the one before, so that nothing queues. They are cycles of the SM
//! clock on one part of each architecture. The part of a DRAM access that runs on the memory clock takes other numbers
//! of cycles at other SM clocks, and parts of one architecture with other memories differ by about a tenth.
//!
//! An architecture without a published chase is absent. So is shared memory: no figure with a source was at hand.

use crate::arch::ComputeCapability;
use crate::roof::MemoryLevel;

/// Cycles of the SM clock from a load to its data, unloaded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latencies {
    /// A hit in the L1.
    pub l1: f64,
    /// A miss in the L1 that hits in the L2.
    pub l2: f64,
    /// A miss in both.
    pub dram: f64,
    /// The part that was measured, and who published it.
    pub source: &'static str,
}

impl Latencies {
    /// The figures of a compute capability; absent when none was published.
    #[must_use]
    pub fn of(capability: ComputeCapability) -> Option<Self> {
        let chase = |l1, l2, dram, source| Self {
            l1,
            l2,
            dram,
            source,
        };
        Some(match (capability.major, capability.minor) {
            (7, 0) => chase(30.0, 215.0, 437.0, "gpu-benches, gpu-latency, V100"),
            (8, 0) => chase(36.0, 211.0, 572.0, "gpu-benches, gpu-latency, A100 80 GB"),
            (8, 9) => chase(36.0, 277.0, 632.0, "gpu-benches, gpu-latency, L40"),
            (9, 0) => chase(34.0, 265.0, 658.0, "gpu-benches, gpu-latency, H100 PCIe"),
            (10, 0) => chase(40.0, 295.0, 860.0, "AI_kernels, latency, B200"),
            (12, 0) => chase(44.0, 352.0, 864.0, "AI_kernels, latency, RTX PRO 6000"),
            _ => return None,
        })
    }

    /// The latency of a level.
    #[must_use]
    pub fn cycles(&self, level: MemoryLevel) -> f64 {
        match level {
            MemoryLevel::L1 => self.l1,
            MemoryLevel::L2 => self.l2,
            MemoryLevel::Dram => self.dram,
        }
    }
}

/// Little's law: what is under way on average when so much arrives in a unit of time and each takes so long.
#[must_use]
pub fn in_flight(rate: f64, latency: f64) -> f64 {
    rate * latency
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_slower_the_further_away_they_are() {
        for (major, minor) in [(7, 0), (8, 0), (8, 9), (9, 0), (10, 0), (12, 0)] {
            let latencies = Latencies::of(ComputeCapability { major, minor }).unwrap();
            assert!(latencies.l1 < latencies.l2 && latencies.l2 < latencies.dram);
        }
        assert_eq!(
            Latencies::of(ComputeCapability { major: 7, minor: 5 }),
            None
        );
    }

    /// 4814 GB/s at 350 ns are 1.7 MB, 12.8 kB for each of 132 SMs: calculated by hand.
    #[test]
    fn bandwidth_times_latency_is_what_has_to_be_in_flight() {
        let bytes = in_flight(4814e9, 350e-9);
        assert!((bytes - 1.684_9e6).abs() < 1e2);
        assert!((bytes / 132.0 - 12_764.0).abs() < 1.0);
    }
}
