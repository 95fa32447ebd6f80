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

/// SMs of one H200 as the sizes of the groups that a cluster cannot cross. They follow from the number of clusters of
/// each size from 1 to 19 that a report of that device stores for a kernel with one block on an SM: 132, 66, 39, 30, 22,
/// 17, 15, 15, 9, 7 for 10 to 16, 2 for 17 and 18, and none.
const GROUPS_OF_ONE_H200: [u32; 12] = [18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2];

/// Clusters of a size on one H200 with one block on an SM. Another device of the same name has other SMs switched off,
/// and may hold a few more or fewer.
#[must_use]
pub fn slots_of_one_h200(size: u32) -> Option<Slots> {
    let in_group = |sms: &u32| sms.checked_div(size);
    let clusters = GROUPS_OF_ONE_H200
        .iter()
        .map(in_group)
        .sum::<Option<u32>>()?;
    Some(Slots { clusters, size })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `launch__occupancy_per_cluster_size` of a convolution with one block on an SM.
    #[test]
    fn clusters_of_one_h200_are_those_of_its_report() {
        let stored = [
            132, 66, 39, 30, 22, 17, 15, 15, 9, 7, 7, 7, 7, 7, 7, 7, 2, 2, 0,
        ];
        for (size, clusters) in (1..).zip(stored) {
            assert_eq!(slots_of_one_h200(size), Some(Slots { clusters, size }));
        }
        assert_eq!(slots_of_one_h200(0), None);
    }

    #[test]
    fn clusters_leave_sms_unused() {
        let slots = slots_of_one_h200(8).unwrap();
        assert_eq!(slots.usable(132, 1).map(Ratio::get), Some(120.0 / 132.0));
        assert_eq!(slots.waves(240), Some(2.0));
        assert_eq!(slots.usable(132, 0), None);
    }
}
