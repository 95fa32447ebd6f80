//! A sparse matrix times a vector.

use super::{Counter, Demand, DemandError, product};
use crate::NumberFormat;
use crate::quantity::grouped;

/// y = A × x with A in compressed rows and 32-bit indices.
///
/// * bytes: (nonzeros + columns + rows) × size + (nonzeros + rows + 1) × 4: x counts once, as if it stayed in a cache
/// * operations: 2 × nonzeros
#[derive(Clone, Debug, PartialEq)]
pub struct Spmv {
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub columns: u64,
    /// Stored elements.
    pub nonzeros: u64,
    /// Format of elements and vectors.
    pub format: NumberFormat,
}

impl Spmv {
    /// What it needs at least.
    ///
    /// # Errors
    /// When there is nothing to do, more than can be counted, or more elements than the matrix has places.
    pub fn demand(&self) -> Result<Demand, DemandError> {
        let Self {
            rows,
            columns,
            nonzeros,
            format,
        } = *self;
        let counter = Counter::new(&[("rows", rows), ("cols", columns), ("nonzeros", nonzeros)])?;
        if product(&[nonzeros]) > product(&[rows, columns]) {
            return Err(DemandError::DoesNotFit {
                name: "the number of nonzeros",
                within: "rows * cols",
            });
        }
        let index = NumberFormat::Int32;
        let demand = counter
            .reads("values", product(&[nonzeros]), format)?
            .reads("column indices", product(&[nonzeros]), index)?
            .reads("row starts", product(&[rows]) + 1.0, index)?
            .reads("x", product(&[columns]), format)?
            .writes("y", product(&[rows]), format)?
            .elementwise(2.0 * product(&[nonzeros]), format)?
            .demand(
                "spmv",
                format!(
                    "{rows} x {columns}, {} nonzeros, {format}, 32-bit indices",
                    grouped(nonzeros)
                ),
                "(nonzeros + cols + rows) * size + (nonzeros + rows + 1) * 4",
                "2 * nonzeros",
            );
        Ok(demand)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_count_as_much_as_values() {
        let spmv = Spmv {
            rows: 1000,
            columns: 2000,
            nonzeros: 10_000,
            format: NumberFormat::Fp64,
        };
        let demand = spmv.demand().unwrap();
        assert!((demand.bytes().get() - (13_000.0 * 8.0 + 11_001.0 * 4.0)).abs() < 0.5);
        assert!((demand.operations().unwrap().get() - 20_000.0).abs() < 0.5);
        let dense = Spmv {
            nonzeros: 2_000_001,
            ..spmv
        };
        assert!(matches!(
            dense.demand(),
            Err(DemandError::DoesNotFit { .. })
        ));
    }
}
