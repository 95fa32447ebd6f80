//! Caches: what an L1 and a slice of the L2 can do in a cycle.
//!
//! Sectors, bytes and requests that a cache can take in a cycle are not published. They were measured on 9.0 as exact
//! quotients of counters and stored percentages; elsewhere they are absent unless a report stores them.

use super::{ComputeCapability, Figure, Source};

/// What the caches can do in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Memory {
    /// Bytes from the L2 into one L1.
    pub l1_fill_bytes: Option<Figure>,
    /// Bytes from one L1 to the L2.
    pub l1_store_bytes: Option<Figure>,
    /// Tag look-ups (requests) of an L2 slice.
    pub l2_requests: Option<Figure>,
    /// Sectors that an L2 slice looks up, all sources together.
    pub l2_sectors: Option<Figure>,
    /// Sectors that SMs write into an L2 slice.
    pub l2_written_sectors: Option<Figure>,
    /// Sectors of atomics and reductions in an L2 slice.
    pub l2_atomic_sectors: Option<Figure>,
    /// Requests to the indexed constant cache of an SM, and to the cache of a GPC for constants.
    pub constant_requests: Option<Figure>,
    /// Requests to the instruction cache of an SM, and to the cache of a GPC for instructions.
    pub instruction_requests: Option<Figure>,
}

impl Memory {
    /// The figures of a compute capability.
    pub(super) fn of(capability: ComputeCapability) -> Self {
        let fitted = |value| Figure::new(value, Source::FittedOnH200);
        match (capability.major, capability.minor) {
            (9, 0) => Self {
                l1_fill_bytes: fitted(128.0),
                l1_store_bytes: fitted(32.0),
                l2_requests: fitted(1.0),
                l2_sectors: fitted(3.0),
                l2_written_sectors: fitted(1.0),
                l2_atomic_sectors: fitted(1.0),
                constant_requests: fitted(0.5),
                instruction_requests: fitted(0.5),
            },
            _ => Self::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_on_one_capability_stays_with_it() {
        for capability in ComputeCapability::KNOWN {
            let is_measured = capability == ComputeCapability::new(9, 0);
            assert_eq!(
                Memory::of(capability) != Memory::default(),
                is_measured,
                "{capability}"
            );
        }
    }
}
