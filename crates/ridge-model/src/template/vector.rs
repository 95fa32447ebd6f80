//! Elementwise arithmetic on arrays, such as adding two of them.

use super::{Counter, Demand, DemandError, product};
use crate::NumberFormat;
use crate::quantity::grouped;

/// The same operations on each element of some arrays.
///
/// * bytes: (inputs + outputs) × elements × size
/// * operations: elements × operations for each element
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    /// Elements of each array.
    pub elements: u64,
    /// Arrays that are read.
    pub inputs: u64,
    /// Arrays that are written.
    pub outputs: u64,
    /// Operations for each element; a multiply-add is two.
    pub operations_per_element: u64,
    /// Format of all arrays.
    pub format: NumberFormat,
}

impl Vector {
    /// One addition for each element of two arrays.
    #[must_use]
    pub const fn add(elements: u64, format: NumberFormat) -> Self {
        Self {
            elements,
            inputs: 2,
            outputs: 1,
            operations_per_element: 1,
            format,
        }
    }

    /// What it needs at least. Inputs, outputs and operations may be zero, but not all arrays.
    ///
    /// # Errors
    /// When there is nothing to do, or more than can be counted.
    pub fn demand(&self) -> Result<Demand, DemandError> {
        let Self {
            elements, format, ..
        } = *self;
        let arrays = self.inputs.saturating_add(self.outputs);
        let demand = Counter::new(&[("elements", elements), ("inputs + outputs", arrays)])?
            .reads("inputs", product(&[self.inputs, elements]), format)?
            .writes("outputs", product(&[self.outputs, elements]), format)?
            .elementwise(product(&[elements, self.operations_per_element]), format)?
            .demand(
                "vector",
                format!(
                    "{} elements, {} in, {} out, {format}",
                    grouped(elements),
                    self.inputs,
                    self.outputs
                ),
                "(inputs + outputs) * elements * size",
                "elements * operations for each",
            );
        Ok(demand)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2^24 additions in single precision: three arrays of 64 MiB.
    #[test]
    fn adding_two_arrays() {
        let demand = Vector::add(1 << 24, NumberFormat::Fp32).demand().unwrap();
        assert_eq!(demand.bytes().binary().to_string(), "192 MiB");
        assert!((demand.operations().unwrap().get() - 16_777_216.0).abs() < 0.5);
    }

    #[test]
    fn nothing_and_too_much_are_refused() {
        let of = |elements| Vector::add(elements, NumberFormat::Fp64).demand();
        assert_eq!(of(0), Err(DemandError::Zero { name: "elements" }));
        assert_eq!(of(u64::MAX), Err(DemandError::TooLarge { what: "bytes" }));
        let no_arrays = Vector {
            inputs: 0,
            outputs: 0,
            ..Vector::add(1, NumberFormat::Fp64)
        };
        assert!(no_arrays.demand().is_err());
    }

    #[test]
    fn half_a_byte_at_the_end_is_a_byte() {
        let demand = Vector::add(3, NumberFormat::Int4).demand().unwrap();
        // Six values are 3 bytes, three values 1.5.
        assert!((demand.bytes().get() - 5.0).abs() < 1e-9);
    }
}
