//! Measuring kernels.
#![forbid(unsafe_code)]

pub mod expression;
pub mod spec;
