//! Theoretical occupancy: how many blocks and warps of a launch fit on a multiprocessor (SM), what limits them, and
//! which launch would have more.
//!
//! All of it is integer arithmetic on the [`Launch`] and the [`SmLimits`] of its device. The formulas reproduce every
//! limit and curve that the profiler stores, on all reports that they were compared with; `docs/design/occupancy.md`
//! has them with the source of each.
//!
//! ```
//! use ridge_model::ComputeCapability;
//! use ridge_model::occupancy::{Launch, Limiter, SmLimits, resident, steps};
//!
//! // A tiled matrix product on an H200, as a report has it: 114 registers, 8 KiB of shared memory, 256 threads.
//! let limits = SmLimits::of(ComputeCapability { major: 9, minor: 0 }).unwrap();
//! let launch = Launch::new(256, 114).with_shared(8192, 0).with_barriers(1);
//! let now = resident(&limits, &launch);
//! assert_eq!((now.blocks, now.warps, now.max_warps), (2, 16, 64));
//! assert_eq!(now.limiters(), [Limiter::Registers]);
//!
//! // One more block needs registers for 24 warps.
//! let step = &steps(&limits, &launch)[0];
//! assert_eq!((step.launch.registers, step.resident.blocks), (80, 3));
//! ```

mod cluster;
mod curve;
pub mod document;
mod impossible;
mod limits;
mod step;
mod wave;

use crate::quantity::Ratio;

pub use cluster::{Slots, slots_of_h200};
pub use curve::{Point, over_barriers, over_block_size, over_registers, over_shared_memory};
pub use impossible::{Impossible, check};
pub use limits::{Limit, SmLimits};
pub use step::{Change, Room, Step, room, steps};
pub use wave::Waves;

/// Threads in a warp.
pub const WARP_THREADS: u32 = 32;

/// The launch of a kernel, as far as occupancy depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Launch {
    /// Threads in a block.
    pub threads: u32,
    /// Registers of a thread as compiled, before they are rounded up for allocation.
    pub registers: u32,
    /// Shared memory of a block that is declared in the code, in bytes.
    pub static_shared_bytes: u32,
    /// Shared memory of a block that the launch asks for, in bytes.
    pub dynamic_shared_bytes: u32,
    /// Named barriers of a block; absent when nobody knows, which counts as no limit.
    pub barriers: Option<u32>,
    /// Blocks that the barriers allow, as a report has it; looked at only where the barriers of an SM are not known.
    pub blocks_by_barriers: Option<u32>,
    /// Blocks in a cluster; absent for a launch without clusters.
    pub cluster: Option<u32>,
    /// Shared memory in force on the SM, in bytes; absent for the largest that it can have.
    pub carveout_bytes: Option<u32>,
    /// Whether that size was asked for and stays. What is in force in a report was chosen by the driver for that launch,
    /// and moves with what another launch needs.
    pub is_carveout_fixed: bool,
}

impl Launch {
    /// A launch without shared memory, barriers and clusters.
    #[must_use]
    pub const fn new(threads: u32, registers: u32) -> Self {
        Self {
            threads,
            registers,
            static_shared_bytes: 0,
            dynamic_shared_bytes: 0,
            barriers: None,
            blocks_by_barriers: None,
            cluster: None,
            carveout_bytes: None,
            is_carveout_fixed: false,
        }
    }

    /// The same with shared memory, in bytes.
    #[must_use]
    pub const fn with_shared(mut self, static_bytes: u32, dynamic_bytes: u32) -> Self {
        self.static_shared_bytes = static_bytes;
        self.dynamic_shared_bytes = dynamic_bytes;
        self
    }

    /// The same with named barriers.
    #[must_use]
    pub const fn with_barriers(mut self, barriers: u32) -> Self {
        self.barriers = Some(barriers);
        self
    }

    /// The same with a carve-out in force.
    #[must_use]
    pub const fn with_carveout(mut self, bytes: u32) -> Self {
        self.carveout_bytes = Some(bytes);
        self
    }

    /// The same with a carve-out that somebody asked for, whatever the launch needs.
    #[must_use]
    pub const fn with_fixed_carveout(mut self, bytes: u32) -> Self {
        self.carveout_bytes = Some(bytes);
        self.is_carveout_fixed = true;
        self
    }

    /// The carve-out that another launch beside this one has: the one that was asked for, else what the driver gives.
    const fn kept_carveout(&self) -> Option<u32> {
        if self.is_carveout_fixed {
            self.carveout_bytes
        } else {
            None
        }
    }

    /// Shared memory of a block, static and dynamic, in bytes.
    #[must_use]
    pub const fn shared_bytes(&self) -> u32 {
        self.static_shared_bytes
            .saturating_add(self.dynamic_shared_bytes)
    }

    /// Warps of a block; a part of one counts as one.
    #[must_use]
    pub const fn warps(&self) -> u32 {
        self.threads.div_ceil(WARP_THREADS)
    }

    /// Lanes of the last warp of a block that have no thread.
    #[must_use]
    pub const fn idle_lanes(&self) -> u32 {
        self.warps()
            .saturating_mul(WARP_THREADS)
            .saturating_sub(self.threads)
    }
}

/// What limits the blocks on an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limiter {
    /// Warps that an SM can hold.
    Warps,
    /// Blocks that an SM can hold.
    Blocks,
    /// Registers.
    Registers,
    /// Shared memory.
    SharedMemory,
    /// Named barriers.
    Barriers,
}

impl Limiter {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 5] = [
        Self::Warps,
        Self::Blocks,
        Self::Registers,
        Self::SharedMemory,
        Self::Barriers,
    ];

    /// Its name for people.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Warps => "warps",
            Self::Blocks => "blocks",
            Self::Registers => "registers",
            Self::SharedMemory => "shared memory",
            Self::Barriers => "barriers",
        }
    }

    /// The profiler's metric of this limit.
    #[must_use]
    pub const fn metric(self) -> &'static str {
        match self {
            Self::Warps => "launch__occupancy_limit_warps",
            Self::Blocks => "launch__occupancy_limit_blocks",
            Self::Registers => "launch__occupancy_limit_registers",
            Self::SharedMemory => "launch__occupancy_limit_shared_mem",
            Self::Barriers => "launch__occupancy_limit_barriers",
        }
    }
}

/// What is resident on an SM that has enough blocks of a launch to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resident {
    /// Blocks; none when a single one does not fit.
    pub blocks: u32,
    /// Warps.
    pub warps: u32,
    /// Warps that the SM can hold.
    pub max_warps: u32,
    /// How many blocks each limit alone allows, in the order of [`Limiter::ALL`].
    allowed: [Option<u32>; 5],
}

impl Resident {
    /// How many blocks one limit alone allows; absent when it is not known.
    #[must_use]
    pub const fn allowed(&self, limiter: Limiter) -> Option<u32> {
        self.allowed[limiter as usize]
    }

    /// The limits that allow the fewest blocks.
    #[must_use]
    pub fn limiters(&self) -> Vec<Limiter> {
        Limiter::ALL
            .into_iter()
            .filter(|limiter| self.allowed(*limiter) == Some(self.blocks))
            .collect()
    }

    /// Theoretical occupancy: resident warps over those that the SM can hold.
    #[must_use]
    pub fn occupancy(&self) -> Ratio {
        Ratio::new(f64::from(self.warps) / f64::from(self.max_warps.max(1)))
    }
}

/// What is resident on an SM. A launch that is not possible has no blocks there; [`check`] says why.
#[must_use]
pub fn resident(limits: &SmLimits, launch: &Launch) -> Resident {
    let warps = launch.warps();
    let allowed = [
        Some(limits.warps.value.checked_div(warps).unwrap_or(0)),
        Some(limits.blocks.value),
        Some(blocks_by_registers(limits, launch.registers, warps)),
        Some(blocks_by_shared_memory(
            limits,
            launch.carveout_bytes,
            shared_bytes_charged(limits, launch.shared_bytes()),
        )),
        blocks_by_barriers(limits, launch),
    ];
    let blocks = allowed.into_iter().flatten().min().unwrap_or(0);
    Resident {
        blocks,
        warps: blocks * warps,
        max_warps: limits.warps.value,
        allowed,
    }
}

/// Registers that a warp is given: those of its threads, rounded up to the unit of allocation.
#[must_use]
pub fn registers_per_warp(limits: &SmLimits, registers: u32) -> u32 {
    round_up(
        registers.saturating_mul(WARP_THREADS),
        limits.register_unit.value,
    )
}

/// A partition of the SM has a quarter of the registers and takes whole warps; blocks come after that.
fn blocks_by_registers(limits: &SmLimits, registers: u32, warps: u32) -> u32 {
    let partitions = limits.partitions.value.max(1);
    let per_warp = registers_per_warp(limits, registers);
    (limits.registers.value / partitions)
        .checked_div(per_warp)
        .map_or(limits.blocks.value, |warps_of_partition| {
            (warps_of_partition * partitions)
                .checked_div(warps)
                .unwrap_or(0)
        })
}

/// Shared memory that a block is charged for, in bytes: its own and what the system reserves, rounded up together.
#[must_use]
pub fn shared_bytes_charged(limits: &SmLimits, bytes: u32) -> u32 {
    round_up_shared(
        limits,
        bytes.saturating_add(limits.reserved_shared_bytes.value),
    )
}

/// Shared memory in units of allocation, in bytes.
#[must_use]
pub fn round_up_shared(limits: &SmLimits, bytes: u32) -> u32 {
    round_up(bytes, limits.shared_unit_bytes.value)
}

/// Blocks whose charged shared memory fits into a carve-out, or into the largest one.
#[must_use]
pub fn blocks_by_shared_memory(
    limits: &SmLimits,
    carveout_bytes: Option<u32>,
    charged_bytes: u32,
) -> u32 {
    carveout_bytes
        .unwrap_or(limits.shared_bytes.value)
        .checked_div(charged_bytes)
        .unwrap_or(limits.blocks.value)
}

fn blocks_by_barriers(limits: &SmLimits, launch: &Launch) -> Option<u32> {
    let Some(pool) = limits.barriers else {
        return launch.blocks_by_barriers;
    };
    let most = limits.blocks.value;
    Some(
        pool.value
            .checked_div(launch.barriers?)
            .map_or(most, |blocks| blocks.min(most)),
    )
}

const fn round_up(value: u32, unit: u32) -> u32 {
    match unit {
        0 => value,
        _ => match value.checked_next_multiple_of(unit) {
            Some(rounded) => rounded,
            None => u32::MAX,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ComputeCapability;
    use proptest::prelude::*;

    fn limits(major: u32, minor: u32) -> SmLimits {
        SmLimits::of(ComputeCapability { major, minor }).unwrap()
    }

    /// Launches of one H200 with what its reports say: limits by warps, blocks, registers, shared memory and barriers,
    /// and the theoretical occupancy in percent.
    #[test]
    fn launches_of_reports_have_the_limits_of_the_report() {
        let h200 = limits(9, 0);
        let kib = |kib: u32| kib * 1024;
        for (threads, registers, fixed, dynamic, barriers, carveout, allowed, percent) in [
            (256, 16, 0, 0, 0, 32, [8, 32, 16, 32, 32], 100.0),
            (32, 16, 0, 0, 0, 32, [64, 32, 128, 32, 32], 50.0),
            (256, 175, 0, 0, 0, 8, [8, 32, 1, 8, 32], 12.5),
            (128, 18, 0, 102_400, 0, 228, [16, 32, 21, 2, 32], 12.5),
            (256, 114, 8192, 0, 1, 64, [8, 32, 2, 7, 32], 25.0),
            (128, 168, 16_384, 0, 1, 132, [16, 32, 3, 7, 32], 18.75),
            (64, 72, 4608, 0, 1, 132, [32, 32, 14, 24, 32], 43.75),
            (1024, 16, 4096, 0, 1, 16, [2, 32, 4, 3, 32], 100.0),
            (128, 32, 0, 16_384, 0, 228, [16, 32, 16, 13, 32], 81.25),
            (384, 168, 0, 213_188, 3, 228, [5, 32, 1, 1, 21], 18.75),
            (384, 168, 0, 134_144, 7, 228, [5, 32, 1, 1, 9], 18.75),
            (384, 168, 0, 231_424, 16, 228, [5, 32, 1, 1, 4], 18.75),
        ] {
            let launch = Launch::new(threads, registers)
                .with_shared(fixed, dynamic)
                .with_barriers(barriers)
                .with_carveout(kib(carveout));
            let found = resident(&h200, &launch);
            assert_eq!(found.allowed, allowed.map(Some), "{launch:?}");
            assert_eq!(found.occupancy(), Ratio::from_percent(percent));
        }
    }

    /// From text reports of other capabilities: 8.9 with 202 registers, 12.0 with 40.
    #[test]
    fn other_capabilities_follow_the_same_formulas() {
        let ada = resident(
            &limits(8, 9),
            &Launch::new(256, 202).with_shared(48 * 1024, 0),
        );
        assert_eq!((ada.blocks, ada.warps, ada.max_warps), (1, 8, 48));
        let blackwell = resident(&limits(12, 0), &Launch::new(128, 40));
        assert_eq!(blackwell.allowed(Limiter::Registers), Some(12));
    }

    /// 65536 / (24 * 32) would be 85, but a partition holds 21 such warps: the report says 84.
    #[test]
    fn partitions_take_whole_warps() {
        assert_eq!(
            resident(&limits(9, 0), &Launch::new(32, 18)).allowed(Limiter::Registers),
            Some(84)
        );
    }

    #[test]
    fn what_is_not_known_is_absent_and_does_not_limit() {
        let launch = Launch::new(256, 32).with_barriers(16);
        assert_eq!(
            resident(&limits(8, 6), &launch).allowed(Limiter::Barriers),
            None
        );
        assert_eq!(
            resident(&limits(9, 0), &Launch::new(256, 32)).allowed(Limiter::Barriers),
            None
        );
    }

    #[test]
    fn a_limit_that_only_the_report_knows_counts() {
        let launch = Launch {
            blocks_by_barriers: Some(5),
            ..Launch::new(128, 32)
        };
        let found = resident(&limits(8, 6), &launch);
        assert_eq!(
            (found.blocks, found.limiters()),
            (5, vec![Limiter::Barriers])
        );
        // The block may grow; there cannot be more of them.
        for step in steps(&limits(8, 6), &launch) {
            assert!(step.resident.blocks <= 5, "{step:?}");
        }
    }

    #[test]
    fn nothing_is_resident_of_what_does_not_fit() {
        let h200 = limits(9, 0);
        for launch in [
            Launch::new(0, 16),
            Launch::new(1024, 80),
            Launch::new(128, 16).with_shared(0, u32::MAX),
            Launch::new(u32::MAX, u32::MAX),
        ] {
            assert_eq!(resident(&h200, &launch).blocks, 0, "{launch:?}");
        }
    }

    #[test]
    fn every_limit_that_counts_is_named() {
        let tie = resident(
            &limits(9, 0),
            &Launch::new(256, 114).with_shared(0, 78 * 1024),
        );
        assert_eq!(tie.limiters(), [Limiter::Registers, Limiter::SharedMemory]);
    }

    proptest! {
        #[test]
        fn what_is_resident_fits(
            threads in 1..=1024_u32,
            registers in 1..=255_u32,
            shared in 0..=230_000_u32,
            barriers in 0..=16_u32,
        ) {
            let limits = limits(9, 0);
            let launch = Launch::new(threads, registers).with_shared(0, shared).with_barriers(barriers);
            let found = resident(&limits, &launch);
            prop_assert!(found.warps <= limits.warps.value);
            prop_assert!(found.warps * registers_per_warp(&limits, registers) <= limits.registers.value);
            prop_assert!(found.blocks * shared_bytes_charged(&limits, shared) <= limits.shared_bytes.value);
            prop_assert!(found.blocks * barriers <= 64);
        }

        #[test]
        fn more_of_anything_never_gives_more_blocks(
            threads in 1..=1023_u32,
            registers in 1..=254_u32,
            shared in 0..=230_000_u32,
            barriers in 0..=15_u32,
        ) {
            let limits = limits(9, 0);
            let launch = Launch::new(threads, registers).with_shared(0, shared).with_barriers(barriers);
            let blocks = resident(&limits, &launch).blocks;
            for more in [
                Launch { threads: threads + 1, ..launch },
                Launch { registers: registers + 1, ..launch },
                Launch { dynamic_shared_bytes: shared + 1, ..launch },
                Launch { barriers: Some(barriers + 1), ..launch },
            ] {
                prop_assert!(resident(&limits, &more).blocks <= blocks);
            }
        }
    }
}
