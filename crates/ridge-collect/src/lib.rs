//! Runs of NVIDIA's tools over a program, and what a machine needs for them.
//!
//! [`sanitize`] reads what `compute-sanitizer` writes and tells which faults there are, where, and whether silence means
//! that there are none. [`doctor`] turns facts about a machine into lines that say what works and how to mend the rest.
//!
//! The crate starts no process and opens no file: bytes, facts and a way to run a command come in as arguments.
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
pub mod sanitize;
