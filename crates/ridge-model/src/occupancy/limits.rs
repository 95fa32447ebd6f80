//! What an SM holds, for each compute capability, with the source of every figure.
//!
//! * *measured*: read in reports of the profiler, whose limits follow from it without exception;
//! * *documented*: CUDA programming guide, edition of December 2025, technical specifications by compute capability, and
//!   for units of allocation and barriers `cuda_occupancy.h` of the CUDA toolkit 13, whose answers are compared with those
//!   of this model in `crates/ridge/tests/occupancy.rs`;
//! * *attribute*: said by the device of a report.

use crate::ComputeCapability;
use crate::device::Origin;

/// A figure and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The figure, in the unit that its field names.
    pub value: u32,
    /// Where it comes from.
    pub origin: Origin,
}

/// What an SM holds, and the units in which it gives it away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmLimits {
    /// Warps on an SM.
    pub warps: Limit,
    /// Blocks on an SM.
    pub blocks: Limit,
    /// Threads in a block.
    pub threads_per_block: Limit,
    /// 32-bit registers of an SM; a block can have all of them.
    pub registers: Limit,
    /// Registers of a thread.
    pub registers_per_thread: Limit,
    /// Registers are given to warps in multiples of this.
    pub register_unit: Limit,
    /// Parts of an SM, each with its own scheduler and registers.
    pub partitions: Limit,
    /// Shared memory of an SM at the largest carve-out, in bytes.
    pub shared_bytes: Limit,
    /// Shared memory of a block, static and dynamic, when the kernel opts in to more than the usual, in bytes.
    pub shared_bytes_per_block: Limit,
    /// Shared memory of a block that can be declared in the code, and that it can have without opting in, in bytes.
    pub usual_shared_bytes_per_block: Limit,
    /// Shared memory that the system takes from each block, in bytes.
    pub reserved_shared_bytes: Limit,
    /// Shared memory is given to blocks in multiples of this, in bytes.
    pub shared_unit_bytes: Limit,
    /// Named barriers of an SM; absent where nobody measured them.
    pub barriers: Option<Limit>,
    /// Named barriers of a block.
    pub barriers_per_block: Limit,
    /// Blocks in a cluster that every device of the capability can launch; absent where there are no clusters.
    pub cluster_blocks: Option<Limit>,
    /// Blocks in a cluster of a kernel that opts in to a size that is not portable.
    pub cluster_blocks_opt_in: Option<Limit>,
    /// Sizes that shared memory of an SM can be set to, in bytes, ascending.
    pub carveouts_bytes: &'static [u32],
}

const KIB: u32 = 1024;

macro_rules! kib {
    ($($size:literal)+) => { &[$($size * KIB),+] };
}

const VOLTA: &[u32] = kib![0 8 16 32 64 96];
const TURING: &[u32] = kib![32 64];
const LARGE_AMPERE: &[u32] = kib![0 8 16 32 64 100 132 164];
const SMALL: &[u32] = kib![0 8 16 32 64 100];
const HOPPER: &[u32] = kib![0 8 16 32 64 100 132 164 196 228];

/// The part of the table that differs between capabilities.
struct Row {
    warps: u32,
    blocks: u32,
    carveouts_bytes: &'static [u32],
    /// What is not named below as measured or unverified.
    origin: Origin,
    /// Of both units of allocation and what the system reserves.
    units: Origin,
    /// Unit of shared memory and what the system takes of it, in bytes.
    shared: [u32; 2],
    /// Named barriers of an SM. Before 9.0 the header counts none, and no report at hand tells.
    barriers: Option<(u32, Origin)>,
    clusters: Option<([u32; 2], Origin)>,
}

impl Row {
    fn of(capability: ComputeCapability) -> Option<Self> {
        use Origin::{Documented, Measured, Unverified};
        let before_ampere = |warps, blocks, carveouts_bytes, origin| Self {
            warps,
            blocks,
            carveouts_bytes,
            origin,
            units: Documented,
            shared: [256, 0],
            barriers: None,
            clusters: None,
        };
        let since_ampere = |warps, blocks, carveouts_bytes, units| Self {
            warps,
            blocks,
            carveouts_bytes,
            origin: Documented,
            units,
            shared: [128, 1024],
            barriers: None,
            clusters: None,
        };
        Some(match (capability.major, capability.minor) {
            // The current guide no longer lists these two; the toolkit's header still knows 7.0.
            (7, 0) => before_ampere(64, 32, VOLTA, Documented),
            (7, 2) => before_ampere(64, 32, VOLTA, Unverified),
            (7, 5) => before_ampere(32, 16, TURING, Documented),
            (8, 0) => since_ampere(64, 32, LARGE_AMPERE, Measured),
            (8, 6) => since_ampere(48, 16, SMALL, Measured),
            (8, 7) => since_ampere(48, 16, LARGE_AMPERE, Documented),
            (8, 9) => since_ampere(48, 24, SMALL, Documented),
            (9, 0) => Self {
                barriers: Some((64, Measured)),
                clusters: Some(([8, 16], Documented)),
                ..since_ampere(64, 32, HOPPER, Measured)
            },
            (10, 0) => Self {
                barriers: Some((64, Documented)),
                clusters: Some(([8, 16], Documented)),
                ..since_ampere(64, 32, HOPPER, Documented)
            },
            (10, 3) => Self {
                barriers: Some((32, Documented)),
                clusters: Some(([8, 16], Documented)),
                ..since_ampere(64, 32, HOPPER, Documented)
            },
            (11, 0) => Self {
                barriers: Some((24, Documented)),
                clusters: Some(([8, 8], Unverified)),
                ..since_ampere(48, 24, HOPPER, Documented)
            },
            // The Blackwell tuning guide gives 32 blocks; programming guide, header and a report of 12.0 have 24.
            (12, 0 | 1) => Self {
                barriers: Some((24, Documented)),
                clusters: Some(([8, 8], Unverified)),
                ..since_ampere(48, 24, SMALL, Documented)
            },
            _ => return None,
        })
    }
}

impl SmLimits {
    /// The limits of a compute capability; absent when this version does not know it.
    #[must_use]
    pub fn of(capability: ComputeCapability) -> Option<Self> {
        let row = Row::of(capability)?;
        let limit = |value| Limit {
            value,
            origin: row.origin,
        };
        let unit = |value| Limit {
            value,
            origin: row.units,
        };
        let [shared_unit, reserved] = row.shared;
        let largest = row.carveouts_bytes.last().copied()?;
        Some(Self {
            warps: limit(row.warps),
            blocks: limit(row.blocks),
            threads_per_block: limit(1024),
            registers: limit(65_536),
            registers_per_thread: limit(255),
            register_unit: unit(256),
            partitions: limit(4),
            shared_bytes: limit(largest),
            shared_bytes_per_block: limit(largest - reserved),
            usual_shared_bytes_per_block: limit(48 * KIB),
            reserved_shared_bytes: limit(reserved),
            shared_unit_bytes: unit(shared_unit),
            barriers: row.barriers.map(|(value, origin)| Limit { value, origin }),
            barriers_per_block: limit(16),
            cluster_blocks: row.clusters.map(|([portable, _], origin)| Limit {
                value: portable,
                origin,
            }),
            cluster_blocks_opt_in: row.clusters.map(|([_, most], origin)| Limit {
                value: most,
                origin,
            }),
            carveouts_bytes: row.carveouts_bytes,
        })
    }

    /// The same with the attributes of a device in a report, which go before the table. The function is asked for names
    /// without `device__attribute_`.
    #[must_use]
    pub fn with_attributes(mut self, attribute: impl Fn(&str) -> Option<u32>) -> Self {
        let set = |limit: &mut Limit, name: &str| {
            // A limit of nothing would be a damaged report.
            if let Some(value) = attribute(name).filter(|value| *value > 0) {
                *limit = Limit {
                    value,
                    origin: Origin::Attribute,
                };
            }
        };
        set(&mut self.warps, "max_warps_per_multiprocessor");
        set(&mut self.blocks, "max_blocks_per_multiprocessor");
        set(&mut self.threads_per_block, "max_threads_per_block");
        set(&mut self.registers, "max_registers_per_multiprocessor");
        set(&mut self.registers_per_thread, "max_registers_per_thread");
        set(
            &mut self.shared_bytes,
            "max_shared_memory_per_multiprocessor",
        );
        set(
            &mut self.shared_bytes_per_block,
            "max_shared_memory_per_block_optin",
        );
        set(
            &mut self.usual_shared_bytes_per_block,
            "max_shared_memory_per_block",
        );
        if let Some(value) = attribute("reserved_shared_memory_per_block") {
            self.reserved_shared_bytes = Limit {
                value,
                origin: Origin::Attribute,
            };
        }
        self
    }

    /// The smallest carve-out with so many bytes; absent where none has them. No shared memory at all is no carve-out.
    #[must_use]
    pub fn smallest_carveout(&self, bytes: u32) -> Option<u32> {
        let mut sizes = self.carveouts_bytes.iter().copied();
        sizes.find(|size| *size >= bytes && *size > 0)
    }

    /// The known capability that is nearest to one that is not known: the last before it, else the first.
    #[must_use]
    pub fn nearest(capability: ComputeCapability) -> ComputeCapability {
        let [first, ..] = ComputeCapability::KNOWN;
        ComputeCapability::KNOWN
            .into_iter()
            .rfind(|known| *known <= capability)
            .unwrap_or(first)
    }

    /// All figures with name and unit, for pages that show their sources.
    pub fn figures(&self) -> impl Iterator<Item = (&'static str, &'static str, Limit)> {
        [
            ("warps", "warp", Some(self.warps)),
            ("blocks", "block", Some(self.blocks)),
            ("threads_per_block", "thread", Some(self.threads_per_block)),
            ("registers", "register", Some(self.registers)),
            (
                "registers_per_thread",
                "register",
                Some(self.registers_per_thread),
            ),
            ("register_unit", "register", Some(self.register_unit)),
            ("partitions", "", Some(self.partitions)),
            ("shared_memory", "byte", Some(self.shared_bytes)),
            (
                "shared_memory_per_block",
                "byte",
                Some(self.shared_bytes_per_block),
            ),
            (
                "shared_memory_per_block_without_opt_in",
                "byte",
                Some(self.usual_shared_bytes_per_block),
            ),
            (
                "shared_memory_reserved_per_block",
                "byte",
                Some(self.reserved_shared_bytes),
            ),
            ("shared_memory_unit", "byte", Some(self.shared_unit_bytes)),
            ("barriers", "barrier", self.barriers),
            (
                "barriers_per_block",
                "barrier",
                Some(self.barriers_per_block),
            ),
            ("cluster_size", "block", self.cluster_blocks),
            ("cluster_size_opt_in", "block", self.cluster_blocks_opt_in),
        ]
        .into_iter()
        .filter_map(|(name, unit, limit)| Some((name, unit, limit?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_block_may_have_fits_on_the_sm() {
        for capability in ComputeCapability::KNOWN {
            let limits = SmLimits::of(capability).unwrap();
            assert_eq!(
                limits.shared_bytes_per_block.value + limits.reserved_shared_bytes.value,
                limits.shared_bytes.value,
                "{capability}"
            );
            assert!(limits.carveouts_bytes.is_sorted(), "{capability}");
        }
        assert!(ComputeCapability::KNOWN.is_sorted());
    }

    #[test]
    fn attributes_of_a_report_go_first() {
        let table = SmLimits::of(ComputeCapability { major: 9, minor: 0 }).unwrap();
        let found = table.with_attributes(|name| match name {
            "max_blocks_per_multiprocessor" => Some(24),
            "max_warps_per_multiprocessor" => Some(0),
            "reserved_shared_memory_per_block" => Some(0),
            _ => None,
        });
        assert_eq!(
            found.blocks,
            Limit {
                value: 24,
                origin: Origin::Attribute
            }
        );
        assert_eq!(found.warps, table.warps);
        assert_eq!(found.reserved_shared_bytes.value, 0);
        assert_eq!(found.registers, table.registers);
    }

    #[test]
    fn an_unknown_capability_has_a_nearest_one() {
        let near = |major, minor| SmLimits::nearest(ComputeCapability { major, minor }).to_string();
        assert_eq!(near(6, 1), "7.0");
        assert_eq!(near(9, 5), "9.0");
        assert_eq!(near(99, 0), "12.1");
    }
}
