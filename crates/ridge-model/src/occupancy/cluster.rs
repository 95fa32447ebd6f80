//! Clusters: their blocks run together on one group of SMs, so that some SMs may have no room for a whole one.

use crate::quantity::Ratio;

/// How many clusters a device holds at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// Clusters on the whole device.
    pub clusters: u32,
    /// Blocks in a cluster.
    pub size: u32,
}

impl Slots {
    /// The part of the device's room for blocks that clusters can use.
    #[must_use]
    pub fn usable(self, sms: u32, blocks_per_sm: u32) -> Option<Ratio> {
        let room = f64::from(sms) * f64::from(blocks_per_sm);
        (room > 0.0).then(|| Ratio::new(f64::from(self.clusters) * f64::from(self.size) / room))
    }

    /// Clusters of the grid over those that run at once; absent when none can.
    #[must_use]
    pub fn waves(self, grid_blocks: u64) -> Option<f64> {
        let at_once = f64::from(self.clusters) * f64::from(self.size);
        (at_once > 0.0).then(|| grid_blocks as f64 / at_once)
    }
}

/// SMs of an H200 as the sizes of the groups that a cluster cannot cross. They follow from what
/// `cudaOccupancyMaxActiveClusters` answers on two of these devices, and from the curve that reports store.
const GROUPS_OF_H200: [u32; 12] = [18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2];
/// The driver counts no more blocks than this on an SM when it answers for clusters.
const BLOCKS_COUNTED: u32 = 8;

/// Clusters of a size that an H200 holds at once, with so many blocks on an SM. A cluster needs a group with at least as
/// many SMs as it has blocks. A device of the same name with other SMs switched off may hold a few more or fewer.
#[must_use]
pub fn slots_of_h200(size: u32, blocks_per_sm: u32) -> Option<Slots> {
    let blocks = blocks_per_sm.min(BLOCKS_COUNTED);
    let in_group = |sms: &u32| (sms * blocks).checked_div(size);
    let clusters = GROUPS_OF_H200
        .iter()
        .filter(|sms| **sms >= size)
        .map(in_group)
        .sum::<Option<u32>>()?;
    (size > 0).then_some(Slots { clusters, size })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `cudaOccupancyMaxActiveClusters` for sizes 1 to 16 on an H200 (driver 580, CUDA 13.0), by blocks on an SM.
    const ANSWERS: [(u32, [u32; 16]); 7] = [
        (1, [132, 66, 39, 30, 22, 17, 15, 15, 9, 7, 7, 7, 7, 7, 7, 7]),
        (
            2,
            [
                264, 132, 79, 62, 47, 39, 32, 30, 23, 21, 16, 16, 14, 14, 14, 14,
            ],
        ),
        (
            3,
            [
                396, 198, 124, 92, 69, 62, 47, 45, 37, 30, 28, 28, 23, 21, 21, 21,
            ],
        ),
        (
            4,
            [
                528, 264, 163, 124, 94, 79, 69, 62, 51, 44, 37, 37, 30, 30, 28, 28,
            ],
        ),
        (
            6,
            [
                792, 396, 248, 186, 146, 124, 101, 92, 74, 65, 58, 58, 51, 44, 44, 42,
            ],
        ),
        (
            8,
            [
                1056, 528, 327, 248, 193, 163, 139, 124, 102, 88, 81, 74, 67, 65, 58, 58,
            ],
        ),
        (
            32,
            [
                1056, 528, 327, 248, 193, 163, 139, 124, 102, 88, 81, 74, 67, 65, 58, 58,
            ],
        ),
    ];

    #[test]
    fn clusters_of_an_h200_are_those_of_its_driver() {
        for (blocks, answers) in ANSWERS {
            for (size, clusters) in (1..).zip(answers) {
                assert_eq!(
                    slots_of_h200(size, blocks),
                    Some(Slots { clusters, size }),
                    "{blocks} blocks on an SM"
                );
            }
        }
        // Reports go on to sizes that cannot be launched.
        for (size, clusters) in [(17, 2), (18, 2), (19, 0)] {
            assert_eq!(slots_of_h200(size, 1), Some(Slots { clusters, size }));
        }
        assert_eq!(slots_of_h200(0, 1), None);
    }

    #[test]
    fn clusters_leave_sms_unused() {
        let slots = slots_of_h200(8, 1).unwrap();
        assert_eq!(slots.usable(132, 1).map(Ratio::get), Some(120.0 / 132.0));
        assert_eq!(slots.waves(240), Some(2.0));
        assert_eq!(slots.usable(132, 0), None);
    }
}
