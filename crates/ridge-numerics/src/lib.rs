//! Number formats of GPU kernels, bit by bit: what a code means, which code a value rounds to, and how far apart two are.
//!
//! The crate is pure: it opens no file, prints nothing and judges nothing.
//!
//! ```
//! use ridge_numerics::format::{Format, Overflow};
//!
//! let bf16 = Format::Bf16;
//! let code = bf16.encode(1.0 / 3.0, Overflow::NonFinite);
//! assert_eq!(code, 0x3eab);
//! assert_eq!(bf16.decode(code), 0.333984375);
//! // The next number is one unit in the last place away, here 2^-9.
//! assert_eq!(bf16.ulp_of(1.0 / 3.0), 1.0 / 512.0);
//! assert_eq!(bf16.ulp_distance(0x3eab, 0x3eac), Some(1));
//! ```
#![forbid(unsafe_code)]
#![expect(
    clippy::float_cmp,
    reason = "whether numbers are the same is what this crate is about"
)]

pub mod block;
pub mod determinism;
pub mod document;
pub mod flags;
pub mod format;
pub mod measure;
pub mod reference;
pub mod tensor;
pub mod tolerance;
pub mod verdict;
pub mod view;
pub mod words;
