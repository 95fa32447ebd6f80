//! What two results say about each other.
//!
//! [`bench`] compares results of `ridge bench`: which states belong together, whether their times may be compared at all,
//! and whether the later one is faster. [`check`] holds results against budgets and a baseline: the gate of `ridge check`. The crate is pure: it reads no files, knows no clock and prints nothing. How samples
//! become verdicts is in [`ridge_stats`].
#![forbid(unsafe_code)]

pub mod bench;
pub mod check;
mod verdict;

pub use verdict::Verdict;
