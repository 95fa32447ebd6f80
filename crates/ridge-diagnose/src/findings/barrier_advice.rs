//! What to do about barriers, by what the block uses them for.

use ridge_model::arch::{SCHEDULERS_PER_SM, WARP_SIZE};

use super::Case;
use crate::mix::{BULK_COPIES, InstructionMix, TENSOR};

/// What is written once and read twice is shared: by threads that each compute another result from it. An exchange, such
/// as a transposition or a step of a scan, reads each value once.
const SHARED: f64 = 2.0;

/// What the barriers of a block are around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    /// A tile in shared memory that the whole block uses, brought in by copies that run beside the work.
    Pipeline {
        /// Whether warps tell that they have arrived without waiting for the others.
        is_split: bool,
    },
    /// The same, brought in by the warps themselves.
    Tile,
    /// Values that threads pass on to each other.
    Exchange,
}

impl Around {
    pub(super) fn of(mix: &InstructionMix) -> Self {
        let bulk = mix.of_opcodes(BULK_COPIES);
        let copies = mix.of_opcodes(&["LDGSTS"]);
        let written = mix.of_opcodes(&["STS", "STSM"]) + copies;
        let is_read_again = written > 0.0 && reads(mix) >= SHARED * written;
        // Matrix instructions and bulk copies work on tiles; `wgmma` reads them without a load.
        if mix.of_opcodes(TENSOR) + bulk <= 0.0 && !is_read_again {
            return Self::Exchange;
        }
        if copies + bulk > 0.0 {
            // Barriers in shared memory, and named ones at which warps only arrive.
            let split = mix.of_opcodes(&["SYNCS"]) + mix.with_modifier(&["BAR"], "ARV");
            Self::Pipeline {
                is_split: split > 0.0,
            }
        } else {
            Self::Tile
        }
    }

    /// What to change, most likely first.
    ///
    /// Smaller blocks are no advice for a tile: each of them brings in its own, and the traffic grows as tiles shrink.
    pub(super) fn actions(self, case: &Case<'_, '_>) -> Vec<&'static str> {
        let mut actions: Vec<&str> = match self {
            Self::Pipeline { is_split } => {
                let mut actions = vec![
                    "add a stage to the pipeline, so that a warp that is ahead finds its next tile in shared memory; a smaller depth of each stage makes room for it",
                ];
                if !is_split {
                    actions.push("split the barrier: a warp arrives after its last read of a stage (cuda::barrier, mbarrier) and waits only before that stage is filled again");
                }
                actions
            }
            Self::Tile => vec![
                if is_single(case) {
                    "let a block work on several tiles, and load the next one while it uses this one"
                } else {
                    "use two buffers in shared memory: fill one while the other is in use, with one barrier for each tile instead of two"
                },
                "bring tiles in with asynchronous copies (cuda::memcpy_async, TMA), so that no warp is late at the barrier for its loads",
                "use deeper tiles, so that more work lies between two barriers",
            ],
            Self::Exchange => vec![
                "synchronise only those warps that share data; put more work between two barriers",
            ],
        };
        let warps = case
            .number("launch__block_size")
            .map(|threads| (threads / WARP_SIZE).ceil());
        // A block of four warps has one for each scheduler: in a smaller one schedulers are idle, or it is another block's
        // turn, which it already is.
        if self == Self::Exchange && warps.is_none_or(|warps| warps > SCHEDULERS_PER_SM) {
            actions.insert(
                0,
                "use smaller blocks, so that fewer warps wait for each other",
            );
        }
        if resident_blocks(case) == Some(1.0) {
            actions.push("let two blocks fit on an SM, so that one works while the other waits");
        }
        actions
    }
}

/// Reads of shared memory for each write; absent where instructions do not tell, since bulk copies write and `wgmma` reads
/// beside them.
pub(super) fn reads_for_each_write(mix: &InstructionMix) -> Option<f64> {
    let written = mix.of_opcodes(&["STS", "STSM", "LDGSTS"]);
    let is_told = written > 0.0 && mix.of_opcodes(TENSOR) + mix.of_opcodes(BULK_COPIES) <= 0.0;
    is_told.then(|| reads(mix) / written)
}

/// Whether a block fills shared memory once: a tile in a loop takes two barriers for each turn.
fn is_single(case: &Case<'_, '_>) -> bool {
    const ONE_TURN: f64 = 2.0;
    let barriers = case.mix.map_or(0.0, |mix| mix.of_opcodes(&["BAR"]));
    let threads = case.number("launch__thread_count");
    threads.is_some_and(|threads| barriers * WARP_SIZE <= ONE_TURN * threads)
}

fn reads(mix: &InstructionMix) -> f64 {
    mix.of_opcodes(&["LDS", "LDSM"])
}

/// Blocks that an SM holds at once; absent when any of the limits is.
fn resident_blocks(case: &Case<'_, '_>) -> Option<f64> {
    ["registers", "shared_mem", "warps", "blocks"]
        .iter()
        .map(|what| case.number(&format!("launch__occupancy_limit_{what}")))
        .try_fold(f64::INFINITY, |least, limit| Some(least.min(limit?)))
}
