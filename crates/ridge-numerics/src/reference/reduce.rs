//! Reductions: along the last dimension, or of everything.

use std::fmt;
use std::str::FromStr;

use super::array::{Array, ShapeError, count};
use super::double::DoubleDouble;
use super::parallel::{Threads, pieces};
use super::{Precision, Reference};

/// What values are reduced to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Their sum. Noise: √K · Σ|x|.
    Sum,
    /// Their sum over their number. Noise: that of the sum over the number, and of one division.
    Mean,
    /// The largest. NaN where there is one. No noise: nothing is rounded.
    Max,
    /// The smallest, alike.
    Min,
    /// The root of the sum of squares. Noise: (√K/2 + 2) times the value.
    Norm,
    /// Their product. Noise: √K times the value.
    Product,
}

/// A name that is no reduction's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownReduction;

impl fmt::Display for UnknownReduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected sum, mean, max, min, norm or prod")
    }
}

impl std::error::Error for UnknownReduction {}

impl Reduction {
    /// Every reduction.
    pub const ALL: [Self; 6] = [
        Self::Sum,
        Self::Mean,
        Self::Max,
        Self::Min,
        Self::Norm,
        Self::Product,
    ];

    /// Its name, as NumPy has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Max => "max",
            Self::Min => "min",
            Self::Norm => "norm",
            Self::Product => "prod",
        }
    }

    /// Reduces along the last dimension, or everything to one value.
    ///
    /// # Errors
    /// When the largest, the smallest or the mean of nothing is asked for, or rows of an input without dimensions.
    pub fn compute(
        self,
        x: Array<'_>,
        is_everything: bool,
        precision: Precision,
        threads: Threads,
    ) -> Result<Reference, ShapeError> {
        let (shape, length) = if is_everything {
            (Vec::new(), x.values().len())
        } else {
            let (_, columns) = x.rows("the input")?;
            (x.shape()[..x.shape().len() - 1].to_vec(), columns)
        };
        if length == 0 && matches!(self, Self::Mean | Self::Max | Self::Min) {
            return Err(ShapeError::Degenerate {
                what: "the input is empty, and has neither a mean nor a largest or smallest value",
            });
        }
        let size = count(&shape)?;
        let mut reference = Reference {
            shape,
            values: vec![0.0; size],
            noise: vec![0.0; size],
            length: length.max(1),
        };
        let rows = ((1 << 14) / length.max(1)).max(1);
        pieces(
            &mut reference.values,
            &mut reference.noise,
            rows,
            threads,
            |piece, values, noise| {
                for (index, (value, noise)) in values.iter_mut().zip(noise).enumerate() {
                    let row = &x.values()[(piece * rows + index) * length..][..length];
                    (*value, *noise) = self.of(row, precision);
                }
            },
        );
        Ok(reference)
    }

    /// The value of a row and its noise.
    fn of(self, row: &[f64], precision: Precision) -> (f64, f64) {
        let count = row.len() as f64;
        let root = count.sqrt();
        let sum = |values: &mut dyn Iterator<Item = f64>| match precision {
            Precision::F64 => values.sum(),
            Precision::DoubleDouble => DoubleDouble::sum(values).value(),
        };
        // A comparison with NaN is false, so that `f64::max` would lose it.
        let best = |is_better: fn(f64, f64) -> bool| {
            row.iter().copied().reduce(|best, x| {
                if best.is_nan() || is_better(best, x) {
                    best
                } else {
                    x
                }
            })
        };
        match self {
            Self::Sum | Self::Mean => {
                let total = sum(&mut row.iter().copied());
                let size = row.iter().map(|x| x.abs()).sum::<f64>();
                if self == Self::Sum {
                    (total, root * size)
                } else {
                    (total / count, root * size / count + (total / count).abs())
                }
            }
            Self::Max => (best(|best, x| best >= x).unwrap_or(f64::NAN), 0.0),
            Self::Min => (best(|best, x| best <= x).unwrap_or(f64::NAN), 0.0),
            Self::Norm => {
                let squares = match precision {
                    Precision::F64 => row.iter().map(|x| x * x).sum(),
                    Precision::DoubleDouble => row
                        .iter()
                        .fold(DoubleDouble::default(), |sum, x| sum.plus_product(*x, *x))
                        .value(),
                };
                let norm = f64::sqrt(squares);
                (norm, norm * (root / 2.0 + 2.0))
            }
            Self::Product => {
                let product: f64 = row.iter().product();
                (product, product.abs() * root)
            }
        }
    }
}

impl FromStr for Reduction {
    type Err = UnknownReduction;

    fn from_str(name: &str) -> Result<Self, UnknownReduction> {
        Self::ALL
            .into_iter()
            .find(|reduction| reduction.name() == name.to_ascii_lowercase())
            .ok_or(UnknownReduction)
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "expected values are exact")]
mod tests {
    use super::*;

    #[test]
    fn reductions_of_known_values() {
        let x = [3.0, -4.0, 0.0, 1.0, 2.0, 2.0];
        let array = Array::new(&x, &[2, 3]).unwrap();
        let of = |reduction: Reduction, is_everything| {
            let reference = reduction
                .compute(array, is_everything, Precision::F64, Threads::ONE)
                .unwrap();
            (reference.shape, reference.values)
        };
        assert_eq!(of(Reduction::Sum, false), (vec![2], vec![-1.0, 5.0]));
        assert_eq!(of(Reduction::Sum, true), (vec![], vec![4.0]));
        assert_eq!(of(Reduction::Mean, true).1, [4.0 / 6.0]);
        assert_eq!(of(Reduction::Max, false).1, [3.0, 2.0]);
        assert_eq!(of(Reduction::Min, false).1, [-4.0, 1.0]);
        assert_eq!(of(Reduction::Norm, false).1, [5.0, 3.0]);
        assert_eq!(of(Reduction::Product, false).1, [0.0, 4.0]);
        let sum = Reduction::Sum
            .compute(array, false, Precision::F64, Threads::ONE)
            .unwrap();
        assert_eq!(sum.noise[0], 7.0 * 3_f64.sqrt());
    }

    #[test]
    fn a_nan_is_not_lost() {
        for x in [
            [f64::NAN, 1.0, 2.0],
            [2.0, f64::NAN, 1.0],
            [1.0, 2.0, f64::NAN],
        ] {
            let array = Array::new(&x, &[3]).unwrap();
            for reduction in Reduction::ALL {
                let value = reduction
                    .compute(array, true, Precision::F64, Threads::ONE)
                    .unwrap()
                    .values[0];
                assert!(value.is_nan(), "{reduction:?}");
            }
        }
    }

    #[test]
    fn nothing_has_a_sum_but_no_mean() {
        let array = Array::new(&[], &[0]).unwrap();
        let compute =
            |reduction: Reduction| reduction.compute(array, true, Precision::F64, Threads::ONE);
        assert_eq!(compute(Reduction::Sum).unwrap().values, [0.0]);
        assert_eq!(compute(Reduction::Mean).unwrap_err().code(), "NREF0004");
    }
}
