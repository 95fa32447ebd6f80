//! Softmax over rows.

use super::{Counter, Demand, DemandError, product};
use crate::NumberFormat;

/// exp(x − maximum) over the sum of these, in each row.
///
/// * bytes: 2 × rows × columns × size: rows that stay on the SM are read once
/// * operations: 5 for each element: maximum, subtraction, exponential, sum, multiplication
#[derive(Clone, Debug, PartialEq)]
pub struct Softmax {
    /// Rows.
    pub rows: u64,
    /// Elements of a row.
    pub columns: u64,
    /// Format of input and output.
    pub format: NumberFormat,
}

impl Softmax {
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
            .writes("output", values, format)?
            .elementwise(super::SOFTMAX_OPERATIONS * values, format)?
            .demand(
                "softmax",
                format!("{rows} x {columns}, {format}"),
                "2 * rows * cols * size",
                "5 * rows * cols",
            );
        Ok(demand)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_and_written_once() {
        let softmax = Softmax {
            rows: 4096,
            columns: 1024,
            format: NumberFormat::Fp16,
        };
        let demand = softmax.demand().unwrap();
        assert_eq!(demand.bytes().binary().to_string(), "16 MiB");
        assert!((demand.operations().unwrap().get() - 20_971_520.0).abs() < 0.5);
    }
}
