//! Many matrix products of one shape.

use super::{Counter, Demand, DemandError, formats, product};
use crate::NumberFormat;

/// C = A × B for each member of a batch; B may be one matrix for all, as weights are.
///
/// * bytes: batch × (m·k + k·n) × size + batch × m·n × size of the output; a shared B counts once
/// * operations: batch × 2·m·n·k
#[derive(Clone, Debug, PartialEq)]
pub struct BatchedGemm {
    /// Members of the batch.
    pub batch: u64,
    /// Rows of A and C.
    pub m: u64,
    /// Columns of B and C.
    pub n: u64,
    /// Columns of A, rows of B.
    pub k: u64,
    /// Whether all members share B.
    pub is_b_shared: bool,
    /// Format of A and B.
    pub format: NumberFormat,
    /// Format of C.
    pub output: NumberFormat,
}

impl BatchedGemm {
    /// What it needs at least.
    ///
    /// # Errors
    /// When there is nothing to do, or more than can be counted.
    pub fn demand(&self) -> Result<Demand, DemandError> {
        let Self {
            batch,
            m,
            n,
            k,
            format,
            output,
            ..
        } = *self;
        let copies_of_b = if self.is_b_shared { 1 } else { batch };
        let demand = Counter::new(&[("batch", batch), ("m", m), ("n", n), ("k", k)])?
            .reads("A", product(&[batch, m, k]), format)?
            .reads("B", product(&[copies_of_b, k, n]), format)?
            .writes("C", product(&[batch, m, n]), output)?
            .matrix(2.0 * product(&[batch, m, n, k]), format)?
            .demand(
                "batched-gemm",
                format!("{batch} of {m} x {n} x {k}, {}", formats(format, output)),
                if self.is_b_shared {
                    "(batch*m*k + k*n) * size + batch*m*n * output size"
                } else {
                    "batch * ((m*k + k*n) * size + m*n * output size)"
                },
                "batch * 2*m*n*k",
            );
        Ok(demand)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(is_b_shared: bool) -> Demand {
        let batched = BatchedGemm {
            batch: 10,
            m: 64,
            n: 64,
            k: 64,
            is_b_shared,
            format: NumberFormat::Fp32,
            output: NumberFormat::Fp32,
        };
        batched.demand().unwrap()
    }

    /// A matrix has 16 KiB.
    #[test]
    fn a_shared_matrix_counts_once() {
        assert_eq!(of(false).bytes().binary().to_string(), "480 KiB");
        assert_eq!(of(true).bytes().binary().to_string(), "336 KiB");
        assert_eq!(of(true).operations(), of(false).operations());
    }
}
