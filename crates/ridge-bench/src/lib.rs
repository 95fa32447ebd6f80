//! Measuring kernels.
#![forbid(unsafe_code)]

pub mod check;
pub mod expression;
pub mod protocol;
pub mod spec;
