//! Transposing a matrix out of place.

use super::{Counter, Demand, DemandError, product};
use crate::NumberFormat;

/// A matrix written with rows and columns swapped.
///
/// * bytes: 2 × rows × columns × size
/// * operations: none
#[derive(Clone, Debug, PartialEq)]
pub struct Transpose {
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub columns: u64,
    /// Format; only its size matters.
    pub format: NumberFormat,
}

impl Transpose {
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
            .reads("matrix", values, format)?
            .writes("transposed matrix", values, format)?
            .demand(
                "transpose",
                format!("{rows} x {columns}, {format}"),
                "2 * rows * cols * size",
                "none",
            );
        Ok(demand)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transposition_moves_everything_twice() {
        let transpose = Transpose {
            rows: 1024,
            columns: 2048,
            format: NumberFormat::Fp32,
        };
        assert_eq!(
            transpose.demand().unwrap().bytes().binary().to_string(),
            "16 MiB"
        );
    }
}
