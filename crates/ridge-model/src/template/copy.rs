//! Copying one array to another in device memory.

use super::{Counter, Demand, DemandError};
use crate::NumberFormat;
use crate::quantity::Bytes;

/// An array written as it was read.
///
/// * bytes: 2 × size of the array
/// * operations: none
#[derive(Clone, Debug, PartialEq)]
pub struct Copy {
    /// Size of the array.
    pub size: Bytes,
}

impl Copy {
    /// A copy of so many elements.
    #[must_use]
    pub fn of_elements(elements: u64, format: NumberFormat) -> Self {
        Self {
            size: Bytes::from_count(elements) * format.size_in_bytes(),
        }
    }

    /// What it needs at least.
    ///
    /// # Errors
    /// When there is nothing to do, or more than can be counted.
    pub fn demand(&self) -> Result<Demand, DemandError> {
        let bytes = self.size.get();
        if bytes <= 0.0 {
            return Err(DemandError::Zero { name: "size" });
        }
        let demand = Counter::new(&[])?
            .reads("source", bytes, NumberFormat::Int8)?
            .writes("destination", bytes, NumberFormat::Int8)?
            .demand("copy", self.size.natural(), "2 * size of the array", "none");
        Ok(demand)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_moves_everything_twice() {
        let copy = Copy::of_elements(1 << 30, NumberFormat::Int8);
        let demand = copy.demand().unwrap();
        assert_eq!(demand.bytes().binary().to_string(), "2 GiB");
        assert_eq!(demand.operations(), None);
        assert!(Copy::of_elements(0, NumberFormat::Int8).demand().is_err());
    }
}
