//! Blocks have a single warp.
//!
//! # What it says
//! A kernel is launched with blocks of 32 threads, or may not have more.
//!
//! # How it is seen
//! By the extents of the block in `<<<grid, block>>>`, and by `__launch_bounds__`. Launches of up to 16 blocks are left out: one SM
//! has places for them.
//!
//! # Why it matters
//! An SM holds at most 16 to 32 blocks, but 48 to 64 warps: with one warp a block, half of the places for warps stay empty, and with them
//! the means to hide latency.
//!
//! # What to do
//! Let a block have several warps, each with its own piece of work: 128 or 256 threads.
//!
//! # When it is wrong
//! When registers or shared memory allow no more warps anyway: `ridge occupancy` counts. When the work of a warp varies much, small blocks
//! leave the SM sooner. `ridge why` measures it: finding `low-occupancy-block`.

use super::found;
use super::partial_warp_block::product;
use crate::finding::{Found, Severity};
use crate::model::Model;

pub(super) const ID: &str = "single-warp-block";

const WARP: i64 = 32;
/// Blocks for which every SM has places.
const FEWEST_PLACES: i64 = 16;
const ADVICE: &str = "let a block have four or eight warps, each with its own piece of work";

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    for launch in &model.launches {
        let is_few = product(model.extents(launch, launch.grid)).is_some_and(|blocks| blocks <= FEWEST_PLACES);
        if product(model.extents(launch, launch.block)) != Some(WARP) || is_few {
            continue;
        }
        out.push(found(
            model,
            (ID, Severity::Warning),
            launch.block,
            "a block of one warp: an SM runs out of places for blocks before it runs out of places for warps",
            ADVICE,
        ));
    }
    for (which, function) in model.functions.iter().enumerate() {
        let Some(bounds) = function.bounds else { continue };
        if model.value(which, bounds).number != Some(WARP) {
            continue;
        }
        out.push(found(
            model,
            (ID, Severity::Warning),
            bounds,
            format!("blocks of `{}` have at most one warp: an SM runs out of places for blocks before it runs out of places for warps", function.name),
            ADVICE,
        ));
    }
}
