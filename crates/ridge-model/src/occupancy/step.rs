//! Launches near a given one that have more warps on an SM, and what it can use more of for nothing.

use super::{Launch, Resident, SmLimits, WARP_THREADS, blocks_by_registers, check, resident};

/// One number of the launch that is to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Registers of a thread, at most so many.
    Registers(u32),
    /// Shared memory of a block, static and dynamic, at most so many bytes.
    SharedMemory(u32),
    /// Named barriers of a block, at most so many.
    Barriers(u32),
    /// Threads in a block.
    BlockSize(u32),
    /// Shared memory in force on the SM, at least so many bytes.
    Carveout(u32),
}

/// A launch with more warps on an SM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What has to change; all of it together.
    pub changes: Vec<Change>,
    /// The launch with these changes.
    pub launch: Launch,
    /// What is resident then.
    pub resident: Resident,
}

/// Launches with more warps on an SM: first with more blocks of the same size, one after the other, then the nearest
/// smaller and the nearest larger block. None for a launch that is not possible.
#[must_use]
pub fn steps(limits: &SmLimits, launch: &Launch) -> Vec<Step> {
    if check(limits, launch).is_err() {
        return Vec::new();
    }
    let now = resident(limits, launch);
    let most = (limits.warps.value / launch.warps()).min(limits.blocks.value);
    let more_blocks =
        (now.blocks + 1..=most).filter_map(|blocks| for_blocks(limits, launch, blocks));
    more_blocks
        .chain(other_block(limits, launch, &now, Direction::Smaller))
        .chain(other_block(limits, launch, &now, Direction::Larger))
        .collect()
}

/// The smallest changes with which so many blocks are resident.
fn for_blocks(limits: &SmLimits, launch: &Launch, blocks: u32) -> Option<Step> {
    let mut changes = Vec::new();
    let mut better = *launch;
    let registers = (1..=launch.registers)
        .rfind(|registers| blocks_by_registers(limits, *registers, launch.warps()) >= blocks)?;
    if registers < launch.registers {
        better.registers = registers;
        changes.push(Change::Registers(registers));
    }
    let bytes = shared_bytes_for(limits, limits.shared_bytes.value, blocks)?;
    if bytes < launch.shared_bytes() {
        better.dynamic_shared_bytes = bytes.saturating_sub(launch.static_shared_bytes);
        better.static_shared_bytes = bytes - better.dynamic_shared_bytes;
        changes.push(Change::SharedMemory(bytes));
    }
    if let (Some(pool), Some(barriers)) = (limits.barriers, launch.barriers) {
        let fitting = pool.value / blocks;
        if barriers > fitting {
            better.barriers = Some(fitting);
            changes.push(Change::Barriers(fitting));
        }
    }
    let needed = super::shared_bytes_charged(limits, better.shared_bytes()).saturating_mul(blocks);
    if launch
        .carveout_bytes
        .is_some_and(|in_force| needed > in_force)
    {
        better.carveout_bytes = None;
        // The driver moves the carve-out with what a launch needs. Where that of today limits, the program asked for it.
        if changes.is_empty() || launch.is_carveout_fixed {
            let carveout = limits.smallest_carveout(needed)?;
            better.carveout_bytes = Some(carveout);
            changes.push(Change::Carveout(carveout));
        }
    }
    let resident = resident(limits, &better);
    (resident.blocks >= blocks).then_some(Step {
        changes,
        launch: better,
        resident,
    })
}

/// The most shared memory of a block with which so many fit into a carve-out.
fn shared_bytes_for(limits: &SmLimits, carveout_bytes: u32, blocks: u32) -> Option<u32> {
    let unit = limits.shared_unit_bytes.value.max(1);
    let charged = carveout_bytes.checked_div(blocks)? / unit * unit;
    let bytes = charged.checked_sub(limits.reserved_shared_bytes.value)?;
    Some(bytes.min(limits.shared_bytes_per_block.value))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Smaller,
    Larger,
}

/// The nearest block size in one direction with more warps on an SM.
fn other_block(
    limits: &SmLimits,
    launch: &Launch,
    now: &Resident,
    direction: Direction,
) -> Option<Step> {
    let whole_warps = |warps: u32| warps * WARP_THREADS;
    let most = limits.threads_per_block.value / WARP_THREADS;
    let mut sizes: Box<dyn Iterator<Item = u32>> = match direction {
        Direction::Smaller => Box::new((1..launch.warps()).rev()),
        Direction::Larger => Box::new(launch.warps() + 1..=most),
    };
    sizes.find_map(|warps| {
        let threads = whole_warps(warps);
        let other = Launch {
            threads,
            carveout_bytes: launch.kept_carveout(),
            ..*launch
        };
        let resident = resident(limits, &other);
        (check(limits, &other).is_ok() && resident.warps > now.warps).then(|| Step {
            changes: vec![Change::BlockSize(threads)],
            launch: other,
            resident,
        })
    })
}

/// What a launch can use more of without losing a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Registers of a thread, in all.
    pub registers: u32,
    /// Shared memory of a block in bytes, static and dynamic, in all.
    pub shared_bytes: u32,
}

/// What a launch can use more of without losing a block; absent for a launch that is not possible.
#[must_use]
pub fn room(limits: &SmLimits, launch: &Launch) -> Option<Room> {
    check(limits, launch).ok()?;
    let blocks = resident(limits, launch).blocks;
    let registers = (launch.registers..=limits.registers_per_thread.value)
        .rfind(|registers| blocks_by_registers(limits, *registers, launch.warps()) >= blocks)?;
    let carveout = launch.kept_carveout().unwrap_or(limits.shared_bytes.value);
    let shared_bytes = shared_bytes_for(limits, carveout, blocks)?;
    Some(Room {
        registers,
        shared_bytes: shared_bytes.max(launch.shared_bytes()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ComputeCapability;
    use proptest::prelude::*;

    fn h200() -> SmLimits {
        SmLimits::of(ComputeCapability { major: 9, minor: 0 }).unwrap()
    }

    #[test]
    fn fewer_registers_give_one_more_block() {
        let found = steps(&h200(), &Launch::new(128, 168).with_shared(16_384, 0));
        assert_eq!(found[0].changes, [Change::Registers(128)]);
        assert_eq!(found[0].resident.blocks, 4);
    }

    #[test]
    fn a_little_less_shared_memory_gives_one_more_block() {
        let launch = Launch::new(128, 32).with_shared(0, 16_384);
        let found = steps(&h200(), &launch);
        assert_eq!(found[0].changes, [Change::SharedMemory(16_384 - 768)]);
        assert_eq!(found[0].resident.blocks, 14);
        // No smaller change does: one unit more than that still has 13.
        let almost = launch.with_shared(0, 16_384 - 640);
        assert_eq!(resident(&h200(), &almost).blocks, 13);
    }

    #[test]
    fn two_limits_have_to_give_way_together() {
        let launch = Launch::new(256, 114).with_shared(0, 78 * 1024);
        assert_eq!(
            steps(&h200(), &launch)[0].changes,
            [Change::Registers(80), Change::SharedMemory(76_800)]
        );
    }

    #[test]
    fn tiny_blocks_have_to_grow() {
        let found = steps(&h200(), &Launch::new(32, 16));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].changes, [Change::BlockSize(64)]);
        assert_eq!(found[0].resident.warps, 64);
    }

    #[test]
    fn a_carve_out_that_limits_is_named() {
        let launch = Launch::new(128, 32)
            .with_shared(8192, 0)
            .with_carveout(64 * 1024);
        assert_eq!(resident(&h200(), &launch).blocks, 7);
        assert_eq!(
            steps(&h200(), &launch)[0].changes,
            [Change::Carveout(100 * 1024)]
        );
    }

    #[test]
    fn a_fixed_carve_out_bounds_steps_and_room() {
        let launch = Launch::new(128, 32)
            .with_shared(8192, 0)
            .with_fixed_carveout(64 * 1024);
        assert_eq!(
            steps(&h200(), &launch)[0].changes,
            [Change::Carveout(100 * 1024)]
        );
        // Seven blocks of 9,344 bytes fit into 64 KiB, with 1,024 of each for the system.
        assert_eq!(room(&h200(), &launch).unwrap().shared_bytes, 8192 + 128);
        let other = steps(&h200(), &launch);
        let other = other
            .iter()
            .find(|step| matches!(step.changes[0], Change::BlockSize(_)));
        assert_eq!(other.unwrap().launch.carveout_bytes, Some(64 * 1024));
    }

    #[test]
    fn a_full_sm_has_no_step_but_room() {
        let launch = Launch::new(256, 26).with_shared(1000, 0);
        assert_eq!(steps(&h200(), &launch), []);
        let room = room(&h200(), &launch).unwrap();
        assert_eq!((room.registers, room.shared_bytes), (32, 28_160));
    }

    proptest! {
        #[test]
        fn steps_raise_occupancy_and_are_as_small_as_can_be(
            warps in 1..=32_u32,
            registers in 16..=255_u32,
            shared in 0..=200_000_u32,
            carveout in proptest::option::of(proptest::sample::select(h200().carveouts_bytes[1..].to_vec())),
        ) {
            let launch = Launch::new(warps * 32, registers).with_shared(0, shared);
            let launch = carveout.map_or(launch, |bytes| launch.with_fixed_carveout(bytes));
            // What can be launched is resident.
            prop_assert!(check(&h200(), &launch).is_err() || resident(&h200(), &launch).blocks > 0);
            let now = resident(&h200(), &launch);
            for step in steps(&h200(), &launch) {
                prop_assert!(check(&h200(), &step.launch).is_ok());
                prop_assert!(step.resident.warps > now.warps);
                for change in &step.changes {
                    let less = match *change {
                        Change::Registers(most) => Launch { registers: most + 1, ..step.launch },
                        Change::SharedMemory(most) => Launch { dynamic_shared_bytes: most + 1, ..step.launch },
                        Change::Carveout(least) => Launch {
                            carveout_bytes: h200().carveouts_bytes.iter().copied().rfind(|size| *size < least),
                            ..step.launch
                        },
                        _ => continue,
                    };
                    prop_assert!(resident(&h200(), &less).blocks < step.resident.blocks);
                }
            }
            if let Some(room) = room(&h200(), &launch) {
                let larger = Launch { registers: room.registers, ..launch }.with_shared(0, room.shared_bytes);
                prop_assert_eq!(resident(&h200(), &larger).blocks, now.blocks);
            }
        }
    }
}
