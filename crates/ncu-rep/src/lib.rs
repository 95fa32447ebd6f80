//! Reads Nsight Compute reports without NVIDIA software: bytes in, values out.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod error;
mod metric;
mod wire;

pub use error::Error;
pub use metric::{Category, Instance, Instances, Metric, Metrics, Value};
