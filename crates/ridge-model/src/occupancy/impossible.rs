//! Why a launch cannot be.

use std::fmt;

use super::{Launch, SmLimits, registers_per_warp};

/// Why a launch is not possible on a device: what was asked for, and the most that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Impossible {
    /// A block without threads.
    NoThreads,
    /// Too many threads in a block, for the device or for what the kernel was compiled for.
    Threads {
        /// Threads asked for.
        asked: u32,
        /// The most that a block can have.
        most: u32,
    },
    /// A thread without registers: every kernel has some.
    NoRegisters,
    /// Too many registers for a thread.
    Registers {
        /// Registers asked for.
        asked: u32,
        /// The most that a thread can have.
        most: u32,
    },
    /// The registers of a single block do not fit on an SM.
    RegistersOfBlock {
        /// Registers that the block would be given.
        asked: u64,
        /// Registers of an SM.
        most: u32,
        /// The most that each thread could have with so many threads in a block.
        per_thread: u32,
    },
    /// More static shared memory than the code can declare.
    StaticShared {
        /// Bytes asked for.
        asked: u32,
        /// The most that can be declared, in bytes.
        most: u32,
        /// The most that a block can have with dynamic shared memory, in bytes.
        dynamic: u32,
    },
    /// More shared memory than a block can have.
    Shared {
        /// Bytes asked for.
        asked: u64,
        /// The most that a block can have, in bytes.
        most: u32,
    },
    /// More shared memory than the SM is set to.
    Carveout {
        /// Bytes that a block is charged for.
        charged: u32,
        /// Shared memory of the SM, in bytes.
        carveout: u32,
        /// The smallest carve-out that holds a block, in bytes.
        smallest: u32,
    },
    /// Too many named barriers.
    Barriers {
        /// Barriers asked for.
        asked: u32,
        /// The most that a block can have.
        most: u32,
    },
    /// Clusters on a device that has none.
    NoClusters,
    /// A cluster without blocks.
    EmptyCluster,
    /// Too many blocks in a cluster.
    Cluster {
        /// Blocks asked for.
        asked: u32,
        /// The most that a cluster can have, with the opt-in to sizes that are not portable.
        most: u32,
    },
}

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoThreads => write!(f, "a block has at least 1 thread, not 0"),
            Self::Threads { asked, most } => {
                write!(
                    f,
                    "{asked} threads are too many for a block: it has at most {most}"
                )
            }
            Self::NoRegisters => write!(f, "a thread has at least 1 register, not 0"),
            Self::Registers { asked, most } => {
                write!(
                    f,
                    "{asked} registers are too many for a thread: it has at most {most}"
                )
            }
            Self::RegistersOfBlock {
                asked,
                most,
                per_thread,
            } => write!(
                f,
                "a block of {asked} registers does not fit on an SM, which has {most}: with so many threads, each can have \
                 at most {per_thread}"
            ),
            Self::StaticShared {
                asked,
                most,
                dynamic,
            } => write!(
                f,
                "{asked} bytes of static shared memory are too many for a block: the code can declare at most {most}; as \
                 dynamic shared memory a block can have {dynamic}"
            ),
            Self::Shared { asked, most } => {
                write!(
                    f,
                    "{asked} bytes of shared memory are too many for a block: it has at most {most}"
                )
            }
            Self::Carveout {
                charged,
                carveout,
                smallest,
            } => write!(
                f,
                "a block takes {charged} bytes of shared memory, with what the system reserves, and the carve-out has \
                 {carveout}: the smallest that holds it is {} KiB",
                smallest / 1024
            ),
            Self::Barriers { asked, most } => {
                write!(
                    f,
                    "{asked} barriers are too many for a block: it has at most {most}"
                )
            }
            Self::NoClusters => write!(
                f,
                "the device has no clusters: they came with compute capability 9.0"
            ),
            Self::EmptyCluster => write!(f, "a cluster has at least 1 block, not 0"),
            Self::Cluster { asked, most } => {
                write!(
                    f,
                    "{asked} blocks are too many for a cluster: it has at most {most}"
                )
            }
        }
    }
}

/// Whether a single block of the launch fits on an SM.
///
/// # Errors
/// The first limit that the launch breaks.
pub fn check(limits: &SmLimits, launch: &Launch) -> Result<(), Impossible> {
    let over = |asked: u32, most: u32| (asked > most).then_some((asked, most));
    if launch.threads == 0 {
        return Err(Impossible::NoThreads);
    }
    if let Some((asked, most)) = over(launch.threads, limits.threads_per_block.value) {
        return Err(Impossible::Threads { asked, most });
    }
    if launch.registers == 0 {
        return Err(Impossible::NoRegisters);
    }
    if let Some((asked, most)) = over(launch.registers, limits.registers_per_thread.value) {
        return Err(Impossible::Registers { asked, most });
    }
    if super::blocks_by_registers(limits, launch.registers, launch.warps()) == 0 {
        let per_warp = registers_per_warp(limits, launch.registers);
        let fitting = (1..launch.registers)
            .rfind(|registers| super::blocks_by_registers(limits, *registers, launch.warps()) > 0);
        return Err(Impossible::RegistersOfBlock {
            asked: u64::from(per_warp) * u64::from(launch.warps()),
            most: limits.registers.value,
            per_thread: fitting.unwrap_or(0),
        });
    }
    let dynamic = limits.shared_bytes_per_block.value;
    if let Some((asked, most)) = over(
        launch.static_shared_bytes,
        limits.usual_shared_bytes_per_block.value,
    ) {
        return Err(Impossible::StaticShared {
            asked,
            most,
            dynamic,
        });
    }
    let shared = u64::from(launch.static_shared_bytes) + u64::from(launch.dynamic_shared_bytes);
    if shared > u64::from(dynamic) {
        return Err(Impossible::Shared {
            asked: shared,
            most: dynamic,
        });
    }
    let charged = super::shared_bytes_charged(limits, launch.shared_bytes());
    if let Some(carveout) = launch.carveout_bytes.filter(|size| *size < charged) {
        return Err(Impossible::Carveout {
            charged,
            carveout,
            smallest: limits
                .smallest_carveout(charged)
                .unwrap_or(limits.shared_bytes.value),
        });
    }
    if let Some((asked, most)) = over(
        launch.barriers.unwrap_or(0),
        limits.barriers_per_block.value,
    ) {
        return Err(Impossible::Barriers { asked, most });
    }
    match (launch.cluster, limits.cluster_blocks_opt_in) {
        (None, _) => Ok(()),
        (Some(0), _) => Err(Impossible::EmptyCluster),
        (Some(_), None) => Err(Impossible::NoClusters),
        (Some(asked), Some(most)) if asked > most.value => Err(Impossible::Cluster {
            asked,
            most: most.value,
        }),
        (Some(_), Some(_)) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ComputeCapability;

    #[test]
    fn each_reason_names_the_limit() {
        let limits = SmLimits::of(ComputeCapability { major: 9, minor: 0 }).unwrap();
        let old = SmLimits::of(ComputeCapability { major: 8, minor: 6 }).unwrap();
        let launch = Launch::new(256, 32);
        let cluster = |size| Launch {
            cluster: Some(size),
            ..launch
        };
        let text = [
            check(&limits, &Launch::new(0, 32)),
            check(&limits, &Launch::new(2048, 32)),
            check(&limits, &Launch::new(256, 0)),
            check(&limits, &Launch::new(256, 256)),
            check(&limits, &Launch::new(1024, 80)),
            check(&limits, &launch.with_shared(50_000, 0)),
            check(&limits, &launch.with_shared(48 * 1024, 190_000)),
            check(&limits, &launch.with_shared(0, u32::MAX)),
            check(
                &limits,
                &launch
                    .with_shared(0, 100 * 1024)
                    .with_fixed_carveout(64 * 1024),
            ),
            check(&limits, &launch.with_barriers(17)),
            check(&limits, &cluster(0)),
            check(&limits, &cluster(17)),
            check(&old, &cluster(2)),
        ]
        .map(|outcome| outcome.unwrap_err().to_string())
        .join("\n");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn what_just_fits_is_possible() {
        let limits = SmLimits::of(ComputeCapability { major: 9, minor: 0 }).unwrap();
        for launch in [
            Launch::new(1024, 64),
            Launch::new(1, 255),
            Launch::new(32, 1)
                .with_shared(48 * 1024, 179 * 1024)
                .with_barriers(16),
            Launch {
                cluster: Some(16),
                ..Launch::new(64, 32)
            },
        ] {
            assert_eq!(check(&limits, &launch), Ok(()), "{launch:?}");
            assert!(super::super::resident(&limits, &launch).blocks > 0);
        }
    }
}
