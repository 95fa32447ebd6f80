//! Blocks have a number of threads that is no multiple of 32.
//!
//! # What it says
//! A kernel is launched with blocks whose threads do not fill their last warp.
//!
//! # How it is seen
//! The extents of the block in `<<<grid, block>>>` are constants, or a `dim3` of constants. Blocks of a single thread are left out: they
//! are meant so. So are launches that have no more than 32 threads in all.
//!
//! # Why it matters
//! Threads run in warps of 32. The lanes of a warp that has fewer threads take part in nothing, but take their time, their registers and
//! their place.
//!
//! # What to do
//! Use a multiple of 32, such as 128 or 256, and a bound check for the threads that are left over.
//!
//! # When it is wrong
//! When the launch has nothing more to do than this number of threads.

use super::found;
use crate::finding::{Found, Severity};
use crate::model::Model;

pub(super) const ID: &str = "partial-warp-block";

const WARP: i64 = 32;

pub(super) fn check(model: &Model<'_>, out: &mut Vec<Found>) {
    for launch in &model.launches {
        let Some(threads) = product(model.extents(launch, launch.block)) else { continue };
        let blocks = product(model.extents(launch, launch.grid));
        // All of it fits into one warp: there is nothing more to do.
        let is_tiny = blocks.and_then(|blocks| blocks.checked_mul(threads)).is_some_and(|all| all <= WARP);
        if threads <= 1 || threads % WARP == 0 || is_tiny {
            continue;
        }
        let last = threads % WARP;
        out.push(found(
            model,
            (ID, Severity::Warning),
            launch.block,
            format!("a block of {threads} threads leaves {} of 32 lanes of its last warp without work", WARP - last),
            "use a multiple of 32 threads, and a bound check for those that are left over",
        ));
    }
}

pub(super) fn product(extents: [Option<i64>; 3]) -> Option<i64> {
    let [x, y, z] = extents;
    x?.checked_mul(y?)?.checked_mul(z?)
}
