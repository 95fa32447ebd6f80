//! What Ridgepoint knows beside any measurement: GPUs and what they can do, lower bounds of work on them, and quantities
//! with their units as a person reads them.
//!
//! The crate is pure: it reads no files, prints nothing and keeps no state. It formats numbers, because a number
//! without its unit is not a value; it does not lay out pages, which is the work of `ridge-render`.
//!
//! ```
//! use ridge_model::quantity::{Bytes, Nanos, Ratio, or_absent};
//!
//! let moved = Bytes::from_count(1_342_177_280);
//! let took = Nanos::new(402_700.0);
//! assert_eq!(moved.to_string(), "1.34 GB");
//! assert_eq!(took.to_string(), "403 us");
//! assert_eq!(moved.per(took).to_string(), "3.33 TB/s");
//! assert_eq!(Ratio::new(0.931).to_string(), "93.1 %");
//! assert_eq!(or_absent(None::<Nanos>).to_string(), "–");
//! ```
#![forbid(unsafe_code)]

pub mod arch;
pub mod bound;
pub mod device;
mod format;
pub mod latency;
pub mod measured;
pub mod occupancy;
pub mod pages;
pub mod quantity;
pub mod roof;
pub mod roofline;
pub mod spelling;
pub mod template;

pub use arch::{Architecture, ComputeCapability};
pub use device::{Attributes, Device, Devices, Peak, PeakRequest, PeakUnit};
pub use format::{NumberFormat, UnknownFormat};
