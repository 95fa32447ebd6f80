//! What to collect of a program, and what NVIDIA's profiler says while it collects.
//!
//! [`launches`] chooses which launches are worth a look, [`plan`] which counters settle a question about them, in as few
//! passes as that takes, and [`ncu`] puts the profiler's command lines together and reads what it says.
//!
//! The crate starts no process and opens no file: what was launched, what a diagnosis left open and what the profiler
//! printed come in as arguments.
//!
//! ```
//! use ridge_collect::launches::{LaunchGroup, choose};
//!
//! let group = |name: &str, total_ns| LaunchGroup {
//!     total_ns,
//!     ..LaunchGroup::new(name, [1, 1, 1], [128, 1, 1])
//! };
//! let groups = [group("copy", 80.0), group("gemm", 900.0), group("fill", 20.0)];
//! let chosen = choose(&groups, 0.9, None);
//! assert_eq!(chosen.groups, [1]);
//! assert!((chosen.covered - 0.9).abs() < 1e-9);
//! ```
#![forbid(unsafe_code)]

pub mod launches;
pub mod ncu;
pub mod plan;
