//! Comparison of two results: what belongs together, what moved, whether it is faster, and which conclusions hold.
//!
//! The crate is pure: it takes what was read and diagnosed, and returns documents. It opens no file, prints nothing and
//! renders nothing.
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

pub mod document;
pub mod kernels;
mod verdict;

pub use verdict::Verdict;
