//! Matrix products.

use super::{Counter, Demand, DemandError, formats, product};
use crate::NumberFormat;

/// C = A × B, or C = A × B + C, with A of m × k and B of k × n.
///
/// * bytes: (m·k + k·n) × size + m·n × size of the output, and the latter once more where C is added to
/// * operations: 2·m·n·k
#[derive(Clone, Debug, PartialEq)]
pub struct Gemm {
    /// Rows of A and C.
    pub m: u64,
    /// Columns of B and C.
    pub n: u64,
    /// Columns of A, rows of B.
    pub k: u64,
    /// Whether C is read too, because it is added to.
    pub is_accumulating: bool,
    /// Format of A and B.
    pub format: NumberFormat,
    /// Format of C.
    pub output: NumberFormat,
}

impl Gemm {
    /// A product of square matrices.
    #[must_use]
    pub const fn square(n: u64, format: NumberFormat) -> Self {
        Self {
            m: n,
            n,
            k: n,
            is_accumulating: false,
            format,
            output: format,
        }
    }

    /// What it needs at least.
    ///
    /// # Errors
    /// When there is nothing to do, or more than can be counted.
    pub fn demand(&self) -> Result<Demand, DemandError> {
        let Self {
            m,
            n,
            k,
            format,
            output,
            ..
        } = *self;
        let mut counter = Counter::new(&[("m", m), ("n", n), ("k", k)])?
            .reads("A", product(&[m, k]), format)?
            .reads("B", product(&[k, n]), format)?;
        if self.is_accumulating {
            counter = counter.reads("C", product(&[m, n]), output)?;
        }
        let demand = counter
            .writes("C", product(&[m, n]), output)?
            .matrix(2.0 * product(&[m, n, k]), format)?
            .demand(
                "gemm",
                format!("{m} x {n} x {k}, {}", formats(format, output)),
                if self.is_accumulating {
                    "(m*k + k*n) * size + 2*m*n * output size"
                } else {
                    "(m*k + k*n) * size + m*n * output size"
                },
                "2*m*n*k",
            );
        Ok(demand)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3 × 4 MiB, and 2 × 2^30 operations.
    #[test]
    fn a_product_of_1024() {
        let demand = Gemm::square(1024, NumberFormat::Fp32).demand().unwrap();
        assert_eq!(demand.bytes().binary().to_string(), "12 MiB");
        assert!((demand.operations().unwrap().get() - 2_147_483_648.0).abs() < 0.5);
    }

    #[test]
    fn adding_to_c_reads_it_and_its_format_may_differ() {
        let gemm = Gemm {
            is_accumulating: true,
            output: NumberFormat::Fp32,
            ..Gemm::square(1024, NumberFormat::Fp16)
        };
        // 2 + 2 MiB in, 4 MiB read and 4 MiB written.
        assert_eq!(
            gemm.demand().unwrap().bytes().binary().to_string(),
            "12 MiB"
        );
    }
}
