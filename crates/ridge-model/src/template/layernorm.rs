//! Normalization of rows.

use super::{Counter, Demand, DemandError, product};
use crate::NumberFormat;

/// Operations for each element: sum for the mean (1), difference (1), its square summed (2), scaling by the deviation
/// (1), weight and bias (2).
const OPERATIONS: f64 = 7.0;

/// Each row shifted and scaled to mean 0 and deviation 1, then by weight and bias.
///
/// * bytes: (2 × rows × columns + 2 × columns) × size: rows that stay on the SM are read once
/// * operations: 7 for each element
#[derive(Clone, Debug, PartialEq)]
pub struct LayerNorm {
    /// Rows.
    pub rows: u64,
    /// Elements of a row.
    pub columns: u64,
    /// Format of input, weights and output.
    pub format: NumberFormat,
}

impl LayerNorm {
    /// What it needs at least.
    ///
    /// # Errors
    /// When there is nothing to do, or more than can be counted.
    pub fn demand(&self) -> Result<Demand, DemandError> {
        let Self {
            rows,
            columns,
            format,
        } = *self;
        let values = product(&[rows, columns]);
        let demand = Counter::new(&[("rows", rows), ("cols", columns)])?
            .reads("input", values, format)?
            .reads("weight and bias", product(&[2, columns]), format)?
            .writes("output", values, format)?
            .elementwise(OPERATIONS * values, format)?
            .demand(
                "layernorm",
                format!("{rows} x {columns}, {format}"),
                "(2 * rows * cols + 2 * cols) * size",
                "7 * rows * cols",
            );
        Ok(demand)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_count_once() {
        let norm = LayerNorm {
            rows: 4096,
            columns: 1024,
            format: NumberFormat::Bf16,
        };
        let demand = norm.demand().unwrap();
        // 16 MiB and 4 KiB.
        assert!((demand.bytes().get() - 16_781_312.0).abs() < 0.5);
        assert!((demand.operations().unwrap().get() - 29_360_128.0).abs() < 0.5);
    }
}
