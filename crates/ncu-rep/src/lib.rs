//! Reads Nsight Compute reports without NVIDIA software: bytes in, values out.
//!
//! A report (`.ncu-rep`, `.ncu-repz`) holds the counters that the profiler collected for each kernel launch, its
//! rules' messages, the compiled code and where all of it was made. This crate turns the bytes of such a file into
//! values. It opens no file, prints nothing, judges nothing and never panics: damaged input gives what stands before
//! the damage, and an [`Error`] with the offset and the name of what could not be read.
//!
//! Whatever the input, time grows with its length, and memory stays below a multiple of it: 8 times for the index, 20
//! times with any one part decoded beside it, 16 times for a cubin with its line table, each and a few MiB. What would
//! take more is left out with a problem.
//!
//! Nothing is decoded before it is asked for, and values borrow from the input, so that a memory-mapped report of
//! gigabytes costs little more than the pages that are looked at.
//!
//! ```
//! # fn main() -> Result<(), ncu_rep::Error> {
//! # let file = include_bytes!("../../../fixtures/reports/vadd.ncu-rep.zst");
//! let unpacked = ncu_rep::unpack(file, ncu_rep::default_limit(file.len() as u64));
//! let report = ncu_rep::Report::parse(&unpacked.bytes)?;
//! for profile in report.profiles() {
//!     let header = profile.header().value;
//!     let metrics = profile.metrics().value;
//!     let duration_ns = metrics.number("gpu__time_duration.sum");
//!     println!("{}: {duration_ns:?} ns", header.name().unwrap_or("?"));
//!     assert!(duration_ns > Some(0.0));
//! }
//! # Ok(())
//! # }
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod csv;
#[cfg(feature = "lines")]
#[cfg_attr(docsrs, doc(cfg(feature = "lines")))]
pub mod cubin;
#[cfg(feature = "decompress")]
mod decompress;
mod encode;
mod error;
mod metric;
mod metric_table;
mod packed;
pub mod redact;
pub mod report;
mod unit;
mod wire;

#[cfg(feature = "decompress")]
pub use decompress::{Unpacked, default_limit, unpack};
pub use error::Error;
pub use metric::{Category, Instance, Instances, Metric, Metrics, Reads, Value};
pub use metric_table::{Listed, MetricTable};
pub use report::{Partial, Profile, Report};
pub use unit::{ScaledUnit, Unit, unit_of};
