//! Outputs filled by several threads, in pieces whose values do not depend on how many there are.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many threads may work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads(pub NonZeroUsize);

impl Threads {
    /// The calling one alone.
    pub const ONE: Self = Self(NonZeroUsize::MIN);
}

/// Fills two arrays piece by piece: `fill` gets the index of a piece and both parts of it, of which the last are shorter where
/// the length is no multiple of `piece`.
pub(super) fn pieces(
    values: &mut [f64],
    noise: &mut [f64],
    piece: usize,
    threads: Threads,
    fill: impl Fn(usize, &mut [f64], &mut [f64]) + Sync,
) {
    let piece = piece.max(1);
    let count = values.len().div_ceil(piece);
    let left = Mutex::new(
        values
            .chunks_mut(piece)
            .zip(noise.chunks_mut(piece))
            .enumerate(),
    );
    let work = || {
        loop {
            // A thread that panicked took its piece along; the others finish theirs.
            let next = left.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((index, (values, noise))) = next else {
                break;
            };
            fill(index, values, noise);
        }
    };
    let helpers = threads.0.get().min(count).saturating_sub(1);
    thread::scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(work);
        }
        work();
    });
}
