//! What two results say about each other.
//!
//! [`mod@bench`] compares results of `ridge bench`: which states belong together, whether their times may be compared at all,
//! and whether the later one is faster. [`check`] holds results against budgets and a baseline: the gate of `ridge check`.
//! [`kernels`] compares diagnoses of kernels: what limits them, which flaws are gone, and whether what had to move did.
//! [`timelines`] compares what programs did with their GPUs. The crate is pure: it reads no files, knows no clock and prints
//! nothing. How samples
//! become verdicts is in [`ridge_stats`].
//!
//! ```
//! use ridge_compare::kernels::matching::{Key, Rule, pairs};
//!
//! let key = |name| Key { name, signature: name, grid: Some([64, 1, 1]), block: Some([256, 1, 1]), weight: 1.0 };
//! let (before, after) = ([key("scan"), key("scatter")], [key("scatter"), key("gather")]);
//! let found = pairs(&before, &after, &[]);
//! assert_eq!((found.pairs[0].before, found.pairs[0].after), (1, 0));
//! assert_eq!(found.pairs[0].rule, Rule::Same);
//! assert_eq!((found.before, found.after), (vec![0], vec![1]));
//! ```
#![forbid(unsafe_code)]

pub mod bench;
pub mod check;
pub mod document;
pub mod kernels;
pub mod timelines;
mod verdict;

pub use verdict::Verdict;
