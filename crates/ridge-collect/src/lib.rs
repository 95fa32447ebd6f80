//! Runs of NVIDIA's tools over a program: what to collect, what the tools say, and what a machine needs for them.
//!
//! [`launches`] chooses which launches are worth a look, [`plan`] which counters settle a question about them, in as few
//! passes as that takes, and [`ncu`] puts the profiler's command lines together and reads what it says. [`sanitize`] reads
//! what `compute-sanitizer` writes and tells which faults there are, where, and whether silence means that there are none.
//! [`doctor`] turns facts about a machine into lines that say what works and how to mend the rest.
//!
//! The crate starts no process and opens no file: bytes, facts and what a diagnosis left open come in as arguments.
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
//!
//! ```
//! use ridge_collect::sanitize::{self, FaultKind, Verdict};
//!
//! let text = b"========= COMPUTE-SANITIZER\n\
//!     ========= Uninitialized __global__ memory read of size 4 bytes\n\
//!     =========     at scale(float *)+0x60 in scale.cu:8\n\
//!     =========     by thread (3,0,0) in block (0,0,0)\n\
//!     =========     Address 0x7fd810800400\n\
//!     ========= \n\
//!     ========= ERROR SUMMARY: 1 error\n";
//! let reading = sanitize::read(text).unwrap();
//! let run = &reading.runs[0];
//! assert_eq!(run.records[0].kind, FaultKind::UninitializedRead);
//! assert_eq!(sanitize::judge(run, None).verdict, Verdict::Faults);
//! ```
#![forbid(unsafe_code)]

pub mod doctor;
pub mod launches;
pub mod ncu;
pub mod plan;
pub mod sanitize;
