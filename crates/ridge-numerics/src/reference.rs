//! What an operation gives without rounding, from the inputs as a kernel gets them, and how far rounding may take a real run.
//!
//! Inputs are the decoded values of the formats they were stored in: what was lost when they were written is no error of the
//! kernel. Sums are taken in `f64`, or in twice its precision where `f64` itself is to be judged ([`Precision`]).
//!
//! Every reference knows its [`Reference::noise`]. For a sum of K products that is √K · Σ|a||b|: errors of K roundings of random
//! sign add up like a random walk, and each is at most u times what it rounds. The worst case, all of one sign, is √K times that.
//!
//! ```
//! use ridge_numerics::reference::{Array, Precision, Product, Threads};
//!
//! let a = Array::new(&[1.0, 2.0, 3.0, 4.0], &[2, 2]).unwrap();
//! let b = Array::new(&[1.0, 0.0, -1.0, 1.0], &[2, 2]).unwrap();
//! let reference = Product::new(a, b).compute(Precision::F64, Threads::ONE).unwrap();
//! assert_eq!(reference.values, [-1.0, 2.0, -1.0, 4.0]);
//! // |1·1| + |2·(−1)| = 3, times the root of K = 2.
//! assert_eq!(reference.noise[0], 3.0 * 2_f64.sqrt());
//! ```

mod array;
mod conv2d;
pub mod document;
mod double;
mod elementwise;
mod gemm;
mod judge;
mod parallel;
mod reduce;
mod rows;
mod sums;

pub use array::{Array, ShapeError};
pub use conv2d::Conv2d;
pub use double::DoubleDouble;
pub use elementwise::{Function, UnknownFunction};
pub use gemm::Product;
pub use judge::NO_NOISE;
pub use parallel::Threads;
pub use reduce::{Reduction, UnknownReduction};
pub use rows::{LayerNorm, RmsNorm, Softmax};
pub use sums::{Order, OrderResult, Orders, compare_orders, sum_in};

use crate::format::Format;

/// What sums of a reference are taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// `f64`: 2^29 times finer than FP32.
    F64,
    /// Unevaluated sums of two `f64`, some 106 bits: for outputs that are `f64` themselves.
    DoubleDouble,
}

impl Precision {
    /// Fine enough to judge an output of this format.
    #[must_use]
    pub const fn for_output(format: Format) -> Self {
        match format.part() {
            Format::F64 => Self::DoubleDouble,
            _ => Self::F64,
        }
    }
}

/// The values of an operation without rounding, and what rounding in a real run may add.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The shape of the output.
    pub shape: Vec<usize>,
    /// The values, in C order.
    pub values: Vec<f64>,
    /// For each value how large a standard error is in units of the unit roundoff u that is accumulated in: errors are to be
    /// expected of about `noise · u`, and they are no more than [`Reference::worst_case`] · `noise · u`.
    pub noise: Vec<f64>,
    /// How many values are accumulated into one: K of a product; 1 for elementwise functions.
    pub length: usize,
}

impl Reference {
    /// By how much the worst case of rounding exceeds the noise: √K.
    #[must_use]
    pub fn worst_case(&self) -> f64 {
        (self.length as f64).sqrt()
    }
}
