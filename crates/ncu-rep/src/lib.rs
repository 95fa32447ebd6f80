//! Reads Nsight Compute reports without NVIDIA software: bytes in, values out.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "lines")]
#[cfg_attr(docsrs, doc(cfg(feature = "lines")))]
pub mod cubin;
mod error;
mod metric;
mod wire;

pub use error::Error;
pub use metric::{Category, Instance, Instances, Metric, Metrics, Value};
