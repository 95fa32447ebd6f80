//! Reads Nsight Compute reports without NVIDIA software: bytes in, values out.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod csv;
mod error;
mod metric;
mod unit;
mod wire;

pub use error::Error;
pub use metric::{Category, Instance, Instances, Metric, Metrics, Value};
pub use unit::{ScaledUnit, Unit, unit_of};
