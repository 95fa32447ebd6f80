//! Matrix products of the vendor's library.

use std::fmt;

use ridge_model::NumberFormat;

use super::handles::{Buffer, Inner};

/// A dense matrix product, column by column: `to = left * right`.
#[derive(Clone, Copy, Debug)]
pub struct Product<'a> {
    /// Rows of the left matrix and of the result.
    pub rows: u64,
    /// Columns of the right matrix and of the result.
    pub columns: u64,
    /// Columns of the left matrix and rows of the right one.
    pub depth: u64,
    /// What goes in.
    pub format: NumberFormat,
    /// What products are summed in.
    pub accumulator: NumberFormat,
    /// Whether the left and the right matrix are stored transposed.
    pub is_transposed: [bool; 2],
    /// Whether 8-bit products may be summed in fewer bits.
    pub has_fast_sums: bool,
    /// The left matrix.
    pub left: &'a Buffer,
    /// The right matrix.
    pub right: &'a Buffer,
    /// The result: FP64, FP32, FP16 and BF16 as they went in, BF16 for FP8, INT32 for INT8.
    pub to: &'a Buffer,
    /// Memory that the library may use.
    pub workspace: &'a Buffer,
}

impl Product<'_> {
    /// Operations: a multiply-add is two.
    #[must_use]
    pub fn operations(&self) -> f64 {
        2.0 * self.rows as f64 * self.columns as f64 * self.depth as f64
    }

    /// The bytes of an element of the result.
    #[must_use]
    pub const fn output_bytes(format: NumberFormat) -> u64 {
        match format {
            NumberFormat::Fp64 => 8,
            NumberFormat::Fp32 | NumberFormat::Tf32 | NumberFormat::Int8 => 4,
            _ => 2,
        }
    }

    /// What each matrix takes, in bytes: left, right, result.
    #[must_use]
    pub fn bytes(&self) -> [u64; 3] {
        let size = u64::from(self.format.bits()) / 8;
        [
            self.rows * self.depth * size,
            self.depth * self.columns * size,
            self.rows * self.columns * Self::output_bytes(self.format),
        ]
    }
}

/// A product with one algorithm, ready to be launched.
pub struct PreparedProduct {
    pub(crate) inner: Inner,
    pub(crate) algorithm: String,
}

impl PreparedProduct {
    /// What the library calls the algorithm.
    #[must_use]
    pub fn algorithm(&self) -> &str {
        &self.algorithm
    }
}

impl fmt::Debug for PreparedProduct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedProduct")
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}
