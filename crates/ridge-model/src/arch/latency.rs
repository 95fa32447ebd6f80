//! How long one load takes when nothing else runs.

use super::{ComputeCapability, Figure, Source};

/// SM cycles from a load to the use of its value, by the place of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Latency {
    /// In the L1.
    pub l1_cycles: Option<Figure>,
    /// In the L2.
    pub l2_cycles: Option<Figure>,
    /// In device memory.
    pub dram_cycles: Option<Figure>,
}

impl Latency {
    /// The figures of a compute capability; each was measured on one board of it.
    pub(super) fn of(capability: ComputeCapability) -> Self {
        let [l1, l2, dram] = match (capability.major, capability.minor) {
            (7, 0) => [30.0, 215.0, 437.0],
            (8, 0) => [36.0, 211.0, 572.0],
            (8, 9) => [36.0, 277.0, 632.0],
            (9, 0) => [34.0, 265.0, 658.0],
            _ => return Self::default(),
        };
        let figure = |cycles| Figure::new(cycles, Source::PointerChase);
        Self {
            l1_cycles: figure(l1),
            l2_cycles: figure(l2),
            dram_cycles: figure(dram),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn farther_is_slower() {
        for capability in ComputeCapability::KNOWN {
            let latency = Latency::of(capability);
            let Some(((l1, l2), dram)) = latency
                .l1_cycles
                .zip(latency.l2_cycles)
                .zip(latency.dram_cycles)
            else {
                assert_eq!(latency, Latency::default(), "{capability}: all or none");
                continue;
            };
            assert!(l1.value < l2.value && l2.value < dram.value, "{capability}");
        }
    }
}
