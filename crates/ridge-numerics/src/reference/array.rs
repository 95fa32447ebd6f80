//! Values with a shape.

use std::fmt;

/// Values in C order, with their shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Array<'v> {
    values: &'v [f64],
    shape: &'v [usize],
}

/// Shapes that do not fit each other, or an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShapeError {
    /// A shape has not as many places as there are values.
    Count {
        /// The shape.
        shape: Vec<usize>,
        /// How many values there are.
        values: usize,
    },
    /// An operand has too few dimensions, or too many.
    Dimensions {
        /// Which operand.
        what: &'static str,
        /// Its shape.
        shape: Vec<usize>,
        /// What is needed.
        needs: &'static str,
    },
    /// Two dimensions have to be equal and are not.
    Differ {
        /// The first, with its operand, such as `columns of A`.
        one: &'static str,
        /// Its size.
        is: usize,
        /// The other.
        other: &'static str,
        /// Its size.
        but: usize,
    },
    /// A sum over nothing, a kernel larger than its input, or a result too large to hold.
    Degenerate {
        /// What is wrong.
        what: &'static str,
    },
}

impl ShapeError {
    /// The stable code of the reason.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Count { .. } => "NREF0001",
            Self::Dimensions { .. } => "NREF0002",
            Self::Differ { .. } => "NREF0003",
            Self::Degenerate { .. } => "NREF0004",
        }
    }
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { shape, values } => {
                write!(f, "shape {shape:?} does not hold {values} values")
            }
            Self::Dimensions { what, shape, needs } => {
                write!(f, "{what} has shape {shape:?}; {needs} is needed")
            }
            Self::Differ {
                one,
                is,
                other,
                but,
            } => write!(f, "{one} are {is}, {other} are {but}"),
            Self::Degenerate { what } => f.write_str(what),
        }
    }
}

impl std::error::Error for ShapeError {}

impl<'v> Array<'v> {
    /// Values with their shape; no dimensions are one value.
    ///
    /// # Errors
    /// When the shape does not hold as many values.
    pub fn new(values: &'v [f64], shape: &'v [usize]) -> Result<Self, ShapeError> {
        let count = shape
            .iter()
            .try_fold(1_usize, |product, size| product.checked_mul(*size));
        if count == Some(values.len()) {
            Ok(Self { values, shape })
        } else {
            Err(ShapeError::Count {
                shape: shape.to_vec(),
                values: values.len(),
            })
        }
    }

    /// The values.
    #[must_use]
    pub const fn values(&self) -> &'v [f64] {
        self.values
    }

    /// The shape.
    #[must_use]
    pub const fn shape(&self) -> &'v [usize] {
        self.shape
    }

    /// The values as rows along the last dimension: how many, and how long.
    pub(super) fn rows(&self, what: &'static str) -> Result<(usize, usize), ShapeError> {
        match self.shape {
            [] => Err(ShapeError::Dimensions {
                what,
                shape: Vec::new(),
                needs: "at least one dimension",
            }),
            [leading @ .., 0] => Ok((leading.iter().product(), 0)),
            [.., columns] => Ok((self.values.len() / columns, *columns)),
        }
    }
}

/// Two sizes that have to be equal.
pub(super) const fn equal(
    one: &'static str,
    is: usize,
    other: &'static str,
    but: usize,
) -> Result<(), ShapeError> {
    if is == but {
        Ok(())
    } else {
        Err(ShapeError::Differ {
            one,
            is,
            other,
            but,
        })
    }
}

/// How many values an output has.
pub(super) fn count(shape: &[usize]) -> Result<usize, ShapeError> {
    shape
        .iter()
        .try_fold(1_usize, |product, size| product.checked_mul(*size))
        .filter(|count| *count <= isize::MAX as usize / 8)
        .ok_or(ShapeError::Degenerate {
            what: "the output has more elements than can be addressed",
        })
}
