//! What is known of GPUs beside any measurement: what a streaming multiprocessor can do in a cycle, and how quantities
//! are written. Pure data and arithmetic: no file, no device, no printing.

pub mod arch;

pub use arch::{Architecture, ComputeCapability};
