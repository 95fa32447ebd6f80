//! The roofline: what kernels compute in a second, over what they compute for each byte, under the roofs of the device.
//!
//! A kernel has a point for each number format and unit that it computes with, because each of them has a roof of its
//! own. A point has a place for each level of memory whose bytes are known. Which roof it is held against depends on
//! what is known: the roof at the clock of its own run, else one that was measured, else that of the data sheet.
//!
//! The types of [`document`] are the answer; [`Chart::new`] makes one from [`Subject`]s, whatever they come from:
//! counters of a profiler, numbers of a person, or times of a benchmark.
//!
//! [`Chart::new`]: document::Chart::new

mod chart;
pub mod document;
mod flag;
mod pair;
mod precision;
mod roofs;
mod subject;
#[cfg(test)]
mod tests;

pub use flag::{Cause, TOLERANCE};
pub use precision::{Precision, PrecisionRequest, UnknownPrecision};
pub use subject::{Amounts, Moved, RunRoofs, Setting, Sheet, Subject};
