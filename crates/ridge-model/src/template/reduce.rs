//! Reducing an array to one value, or to a few.

use super::{Counter, Demand, DemandError, product};
use crate::NumberFormat;
use crate::quantity::grouped;

/// Sums, maxima or the like.
///
/// * bytes: (elements + results) × size
/// * operations: elements − results
#[derive(Clone, Debug, PartialEq)]
pub struct Reduce {
    /// Elements that are read.
    pub elements: u64,
    /// Values that are left.
    pub results: u64,
    /// Format of both.
    pub format: NumberFormat,
}

impl Reduce {
    /// What it needs at least.
    ///
    /// # Errors
    /// When there is nothing to do, more than can be counted, or more results than elements.
    pub fn demand(&self) -> Result<Demand, DemandError> {
        let Self {
            elements,
            results,
            format,
        } = *self;
        let counter = Counter::new(&[("elements", elements), ("results", results)])?;
        if results > elements {
            return Err(DemandError::DoesNotFit {
                name: "the number of results",
                within: "that of elements",
            });
        }
        let demand = counter
            .reads("elements", product(&[elements]), format)?
            .writes("results", product(&[results]), format)?
            .elementwise(product(&[elements - results]), format)?
            .demand(
                "reduce",
                format!("{} to {}, {format}", grouped(elements), grouped(results)),
                "(elements + results) * size",
                "elements - results",
            );
        Ok(demand)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_reads_all_and_writes_one() {
        let reduce = Reduce {
            elements: 1000,
            results: 1,
            format: NumberFormat::Fp64,
        };
        let demand = reduce.demand().unwrap();
        assert!((demand.bytes().get() - 8008.0).abs() < 1e-9);
        assert!((demand.operations().unwrap().get() - 999.0).abs() < 1e-9);
    }

    #[test]
    fn one_element_needs_no_addition_and_none_makes_two() {
        let of = |elements, results| {
            Reduce {
                elements,
                results,
                format: NumberFormat::Fp32,
            }
            .demand()
        };
        assert_eq!(of(1, 1).unwrap().operations(), None);
        assert!(matches!(of(1, 2), Err(DemandError::DoesNotFit { .. })));
    }
}
