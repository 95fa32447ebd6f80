//! What two results say about each other.
//!
//! [`bench`] compares results of `ridge bench`: which states belong together, whether their times may be compared at all,
//! and whether the later one is faster. The crate is pure: it reads no files, knows no clock and prints nothing. How samples
//! become verdicts is in [`ridge_stats`].
#![forbid(unsafe_code)]

pub mod bench;
mod verdict;

pub use verdict::Verdict;
