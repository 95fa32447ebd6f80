//! Copying one array to another in device memory.

use super::{Counter, Demand, DemandError, product};
use crate::NumberFormat;

/// An array written as it was read.
///
/// * bytes: 2 × elements × size
/// * operations: none
#[derive(Clone, Debug, PartialEq)]
pub struct Copy {
    /// Elements of the array.
    pub elements: u64,
    /// Their format; only its size matters.
    pub format: NumberFormat,
}

impl Copy {
    /// What it needs at least.
    ///
    /// # Errors
    /// When there is nothing to do, or more than can be counted.
    pub fn demand(&self) -> Result<Demand, DemandError> {
        let Self { elements, format } = *self;
        let values = product(&[elements]);
        let demand = Counter::new(&[("elements", elements)])?
            .reads("source", values, format)?
            .writes("destination", values, format)?
            .demand(
                "copy",
                format!("{elements} elements, {format}"),
                "2 × elements × size",
                "none",
            );
        Ok(demand)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_moves_everything_twice() {
        let copy = Copy {
            elements: 1 << 30,
            format: NumberFormat::Int8,
        };
        let demand = copy.demand().unwrap();
        assert_eq!(demand.bytes().binary().to_string(), "2 GiB");
        assert_eq!(demand.operations(), None);
    }
}
