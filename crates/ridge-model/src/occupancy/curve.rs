//! Occupancy over one number of the launch, with all others as they are.

use super::{Launch, Resident, SmLimits, WARP_THREADS, check, resident};

/// What is resident at one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The value: threads, registers, bytes or barriers.
    pub at: u32,
    /// What is resident there; no blocks where the launch is not possible.
    pub resident: Resident,
}

fn point(limits: &SmLimits, launch: &Launch, at: u32) -> Point {
    let mut resident = resident(limits, launch);
    if check(limits, launch).is_err() {
        resident.blocks = 0;
        resident.warps = 0;
    }
    Point { at, resident }
}

/// Over the threads of a block, in whole warps. Registers of a thread and shared memory of a block stay.
#[must_use]
pub fn over_block_size(limits: &SmLimits, launch: &Launch) -> Vec<Point> {
    (1..=limits.threads_per_block.value / WARP_THREADS)
        .map(|warps| warps * WARP_THREADS)
        .map(|threads| point(limits, &Launch { threads, ..*launch }, threads))
        .collect()
}

/// Over the registers of a thread.
#[must_use]
pub fn over_registers(limits: &SmLimits, launch: &Launch) -> Vec<Point> {
    (1..=limits.registers_per_thread.value)
        .map(|registers| {
            point(
                limits,
                &Launch {
                    registers,
                    ..*launch
                },
                registers,
            )
        })
        .collect()
}

/// Over the shared memory of a block in bytes, in units of allocation. Where no carve-out was asked for, it is the largest:
/// a launch that asks for more gets more.
#[must_use]
pub fn over_shared_memory(limits: &SmLimits, launch: &Launch) -> Vec<Point> {
    let unit = usize::try_from(limits.shared_unit_bytes.value.max(1)).unwrap_or(usize::MAX);
    (0..=limits.shared_bytes_per_block.value)
        .step_by(unit)
        .map(|bytes| {
            let launch = Launch {
                // All as dynamic memory: whether it is declared in the code or at the launch is not asked here.
                static_shared_bytes: 0,
                dynamic_shared_bytes: bytes,
                carveout_bytes: launch.kept_carveout(),
                ..*launch
            };
            point(limits, &launch, bytes)
        })
        .collect()
}

/// Over the named barriers of a block; empty where nobody knows how many an SM has.
#[must_use]
pub fn over_barriers(limits: &SmLimits, launch: &Launch) -> Vec<Point> {
    if limits.barriers.is_none() {
        return Vec::new();
    }
    (0..=limits.barriers_per_block.value)
        .map(|barriers| {
            let launch = Launch {
                barriers: Some(barriers),
                ..*launch
            };
            point(limits, &launch, barriers)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ComputeCapability;

    fn h200() -> SmLimits {
        SmLimits::of(ComputeCapability { major: 9, minor: 0 }).unwrap()
    }

    fn warps(points: &[Point], at: u32) -> u32 {
        let point = points.iter().find(|point| point.at == at);
        point.map(|point| point.resident.warps).unwrap()
    }

    /// Values of the curves that a report stores for an element-wise kernel of 16 registers and 256 threads.
    #[test]
    fn curves_are_those_of_a_report() {
        let launch = Launch::new(256, 16).with_barriers(0);
        let registers = over_registers(&h200(), &launch);
        for (at, expected) in [
            (32, 64),
            (33, 48),
            (41, 40),
            (65, 24),
            (81, 16),
            (129, 8),
            (255, 8),
        ] {
            assert_eq!(warps(&registers, at), expected, "{at} registers");
        }
        let sizes = over_block_size(&h200(), &launch);
        for (at, expected) in [
            (32, 32),
            (64, 64),
            (96, 63),
            (352, 55),
            (416, 52),
            (704, 44),
            (1024, 64),
        ] {
            assert_eq!(warps(&sizes, at), expected, "{at} threads");
        }
        let barriers = over_barriers(&h200(), &launch);
        assert_eq!(
            (
                warps(&barriers, 8),
                warps(&barriers, 9),
                warps(&barriers, 16)
            ),
            (64, 56, 32)
        );
    }

    #[test]
    fn shared_memory_moves_the_carve_out() {
        let launch = Launch::new(128, 32).with_carveout(8 * 1024);
        let points = over_shared_memory(&h200(), &launch);
        // 13 blocks of 16 KiB and what the system takes; 14 with 768 bytes less.
        assert_eq!(warps(&points, 16_384), 52);
        assert_eq!(warps(&points, 16_384 - 768), 56);
        assert_eq!(
            points.last().map(|point| (point.at, point.resident.blocks)),
            Some((232_448, 1))
        );
    }

    #[test]
    fn a_carve_out_that_was_asked_for_stays() {
        let launch = Launch::new(128, 32).with_fixed_carveout(64 * 1024);
        let points = over_shared_memory(&h200(), &launch);
        // 16 KiB and what the system takes, three times in 64 KiB; the system's part belongs to the carve-out.
        assert_eq!(warps(&points, 16 * 1024), 12);
        assert_eq!(warps(&points, 63 * 1024), 4);
        assert_eq!(warps(&points, 63 * 1024 + 128), 0);
    }

    #[test]
    fn what_cannot_be_launched_is_zero() {
        let launch = Launch::new(1024, 32);
        assert_eq!(warps(&over_registers(&h200(), &launch), 64), 32);
        assert_eq!(warps(&over_registers(&h200(), &launch), 65), 0);
    }
}
