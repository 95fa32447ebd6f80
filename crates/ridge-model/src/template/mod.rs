//! Templates: what well-known kinds of work need at least, whatever the implementation.
//!
//! Every input is read once and every output written once, so traffic is compulsory: no cache, no tiling and no fusion
//! inside the work avoids it. A multiply-add is two operations. Each template is one file that states its formulas.
//!
//! ```
//! use ridge_model::NumberFormat;
//! use ridge_model::template::Gemm;
//!
//! let demand = Gemm::square(1024, NumberFormat::Fp32).demand().unwrap();
//! assert_eq!(demand.bytes().binary().to_string(), "12 MiB");
//! assert_eq!(demand.operations().unwrap().to_string(), "2.15 GFLOP");
//! ```

mod attention;
mod batched_gemm;
mod conv2d;
mod copy;
mod error;
mod gemm;
mod layernorm;
mod reduce;
mod softmax;
mod spmv;
mod stencil;
mod transpose;
mod vector;

pub use attention::Attention;
pub use batched_gemm::BatchedGemm;
pub use conv2d::Conv2d;
pub use copy::Copy;
pub use error::DemandError;
pub use gemm::Gemm;
pub use layernorm::LayerNorm;
pub use reduce::Reduce;
pub use softmax::Softmax;
pub use spmv::Spmv;
pub use stencil::Stencil;
pub use transpose::Transpose;
pub use vector::Vector;

use crate::NumberFormat;
use crate::bound::{Arithmetic, Work};
use crate::quantity::{Bytes, Flops};

/// What a piece of work needs at least.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// The template.
    pub template: &'static str,
    /// Its shape and formats for people, such as `1024 × 1024 × 1024, FP32`.
    pub shape: String,
    /// What crosses the border of device memory, one entry for each array.
    pub traffic: Vec<Traffic>,
    /// Operations, by kind.
    pub arithmetic: Vec<Arithmetic>,
    /// How the bytes are counted.
    pub bytes_formula: &'static str,
    /// How the operations are counted.
    pub operations_formula: &'static str,
}

/// The bytes of one array.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// The array.
    pub array: &'static str,
    /// Whether it is written, not read.
    pub is_written: bool,
    /// The bytes that cross the border.
    pub bytes: Bytes,
}

impl Demand {
    /// All bytes together.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.traffic.iter().map(|part| part.bytes).sum()
    }

    /// All operations together; absent where there are none.
    #[must_use]
    pub fn operations(&self) -> Option<Flops> {
        self.work().operations()
    }

    /// The same as work.
    #[must_use]
    pub fn work(&self) -> Work {
        Work {
            bytes: Some(self.bytes()),
            arithmetic: self.arithmetic.clone(),
            ..Work::default()
        }
    }
}

/// The largest amount of bytes or operations: 2^64. What is larger is a typing mistake.
const MOST: f64 = 18_446_744_073_709_551_616.0;

/// Operations of a softmax for each element: maximum, subtraction, exponential, sum, multiplication.
const SOFTMAX_OPERATIONS: f64 = 5.0;

/// Collects the parts of a demand and watches their size.
struct Counter {
    traffic: Vec<Traffic>,
    arithmetic: Vec<Arithmetic>,
}

/// Dimensions multiplied.
fn product(dimensions: &[u64]) -> f64 {
    dimensions
        .iter()
        .map(|dimension| Bytes::from_count(*dimension).get())
        .product()
}

/// Refuses dimensions of zero.
fn above_zero(dimensions: &[(&'static str, u64)]) -> Result<(), DemandError> {
    match dimensions.iter().find(|(_, dimension)| *dimension == 0) {
        Some((name, _)) => Err(DemandError::Zero { name }),
        None => Ok(()),
    }
}

impl Counter {
    /// Starts to count; the dimensions are what the user gave.
    fn new(dimensions: &[(&'static str, u64)]) -> Result<Self, DemandError> {
        above_zero(dimensions)?;
        Ok(Self {
            traffic: Vec::new(),
            arithmetic: Vec::new(),
        })
    }

    fn traffic(
        mut self,
        array: &'static str,
        is_written: bool,
        values: f64,
        format: NumberFormat,
    ) -> Result<Self, DemandError> {
        // The last byte of a packed format may be half full.
        let bytes = Bytes::new((values * format.size_in_bytes()).ceil());
        self.traffic.push(Traffic {
            array,
            is_written,
            bytes,
        });
        let total: Bytes = self.traffic.iter().map(|part| part.bytes).sum();
        if total.get() > MOST {
            return Err(DemandError::TooLarge { what: "bytes" });
        }
        Ok(self)
    }

    fn reads(
        self,
        array: &'static str,
        values: f64,
        format: NumberFormat,
    ) -> Result<Self, DemandError> {
        self.traffic(array, false, values, format)
    }

    fn writes(
        self,
        array: &'static str,
        values: f64,
        format: NumberFormat,
    ) -> Result<Self, DemandError> {
        self.traffic(array, true, values, format)
    }

    fn computes(mut self, part: Arithmetic) -> Result<Self, DemandError> {
        // A sum of one value has no addition.
        if part.operations.get() > 0.0 {
            self.arithmetic.push(part);
        }
        let total: Flops = self.arithmetic.iter().map(|part| part.operations).sum();
        if total.get() > MOST {
            return Err(DemandError::TooLarge { what: "operations" });
        }
        Ok(self)
    }

    fn matrix(self, operations: f64, format: NumberFormat) -> Result<Self, DemandError> {
        self.computes(Arithmetic::matrix(Flops::new(operations), format))
    }

    fn elementwise(self, operations: f64, format: NumberFormat) -> Result<Self, DemandError> {
        self.computes(Arithmetic::elementwise(Flops::new(operations), format))
    }

    fn demand(
        self,
        template: &'static str,
        shape: String,
        bytes_formula: &'static str,
        operations_formula: &'static str,
    ) -> Demand {
        Demand {
            template,
            shape,
            traffic: self.traffic,
            arithmetic: self.arithmetic,
            bytes_formula,
            operations_formula,
        }
    }
}

/// A format, or two where the output has another one.
fn formats(input: NumberFormat, output: NumberFormat) -> String {
    if input == output {
        input.to_string()
    } else {
        format!("{input} to {output}")
    }
}
