//! Matrix products.

use super::array::{Array, ShapeError, count, equal};
use super::double::DoubleDouble;
use super::parallel::{Threads, pieces};
use super::{Precision, Reference};

/// C = A × B for matrices, or for batches of them whose leading dimensions are equal; a B of two dimensions serves a whole batch.
///
/// Noise: √K · Σ|a||b| over the K products of an element.
#[derive(Clone, Copy, Debug)]
pub struct Product<'v> {
    a: Array<'v>,
    b: Array<'v>,
    is_a_transposed: bool,
    is_b_transposed: bool,
}

/// Rows that share what is read of B.
const ROWS: usize = 4;
/// Columns whose sums stay close to the arithmetic: 2 × 4 × 64 sums are 4 KiB.
const COLUMNS: usize = 64;

/// The rows and columns of the last two dimensions, and the batch.
fn matrices(
    array: Array<'_>,
    what: &'static str,
    is_transposed: bool,
) -> Result<(usize, usize, usize), ShapeError> {
    match *array.shape() {
        [ref batch @ .., rows, columns] => {
            let batch = batch.iter().product();
            Ok(if is_transposed {
                (batch, columns, rows)
            } else {
                (batch, rows, columns)
            })
        }
        _ => Err(ShapeError::Dimensions {
            what,
            shape: array.shape().to_vec(),
            needs: "a matrix, or a batch of them,",
        }),
    }
}

fn transposed(values: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    let mut out = Vec::with_capacity(values.len());
    for column in 0..columns {
        out.extend((0..rows).map(|row| values[row * columns + column]));
    }
    out
}

impl<'v> Product<'v> {
    /// The product of two arrays as they are.
    #[must_use]
    pub const fn new(a: Array<'v>, b: Array<'v>) -> Self {
        Self {
            a,
            b,
            is_a_transposed: false,
            is_b_transposed: false,
        }
    }

    /// Takes A as it stands transposed: K × M.
    #[must_use]
    pub const fn with_a_transposed(mut self, is_transposed: bool) -> Self {
        self.is_a_transposed = is_transposed;
        self
    }

    /// Takes B as it stands transposed: N × K, as the weights of linear layers are.
    #[must_use]
    pub const fn with_b_transposed(mut self, is_transposed: bool) -> Self {
        self.is_b_transposed = is_transposed;
        self
    }

    /// Computes it.
    ///
    /// # Errors
    /// When the shapes do not fit, or K is 0.
    pub fn compute(&self, precision: Precision, threads: Threads) -> Result<Reference, ShapeError> {
        let (batch, m, k) = matrices(self.a, "A", self.is_a_transposed)?;
        let (b_batch, b_k, n) = matrices(self.b, "B", self.is_b_transposed)?;
        equal("columns of A", k, "rows of B", b_k)?;
        if self.b.shape().len() > 2 {
            equal("products of the batch in A", batch, "those in B", b_batch)?;
        }
        if k == 0 {
            return Err(ShapeError::Degenerate {
                what: "the products have length K = 0, so that nothing is summed",
            });
        }
        let mut shape = self.a.shape()[..self.a.shape().len() - 2].to_vec();
        shape.extend([m, n]);
        let size = count(&shape)?;
        let mut reference = Reference {
            shape,
            values: vec![0.0; size],
            noise: vec![0.0; size],
            length: k,
        };
        if size == 0 {
            return Ok(reference);
        }
        // One B for rows of many products is one product of many rows.
        let (batch, m) = if b_batch == 1 && !self.is_a_transposed {
            (1, batch * m)
        } else {
            (batch, m)
        };
        let scale = (k as f64).sqrt();
        // A by rows. B by rows for sums of many columns at once, by columns where each element is summed by itself.
        let is_double = precision == Precision::DoubleDouble;
        for index in 0..batch {
            let (a_own, b_own);
            let mut a = &self.a.values()[index * m * k..][..m * k];
            if self.is_a_transposed {
                a_own = transposed(a, k, m);
                a = &a_own;
            }
            let b_index = if b_batch == 1 { 0 } else { index };
            let mut b = &self.b.values()[b_index * k * n..][..k * n];
            if self.is_b_transposed != is_double {
                b_own = if is_double {
                    transposed(b, k, n)
                } else {
                    transposed(b, n, k)
                };
                b = &b_own;
            }
            let out = index * m * n..(index + 1) * m * n;
            pieces(
                &mut reference.values[out.clone()],
                &mut reference.noise[out],
                ROWS * n,
                threads,
                |piece, values, noise| {
                    let rows = &a[piece * ROWS * k..][..values.len() / n * k];
                    if is_double {
                        by_elements(rows, b, k, values, noise);
                    } else {
                        by_columns(rows, b, k, values, noise);
                    }
                    noise.iter_mut().for_each(|size| *size *= scale);
                },
            );
        }
        Ok(reference)
    }
}

/// Up to `ROWS` rows of A times B, which stands by rows, in `f64`.
fn by_columns(a: &[f64], b: &[f64], k: usize, values: &mut [f64], noise: &mut [f64]) {
    let rows = a.len() / k;
    let n = values.len() / rows;
    for first in (0..n).step_by(COLUMNS) {
        let width = COLUMNS.min(n - first);
        let mut sums = [[0.0_f64; COLUMNS]; ROWS];
        let mut sizes = [[0.0_f64; COLUMNS]; ROWS];
        for (place, b) in b.chunks_exact(n).enumerate() {
            let b = &b[first..first + width];
            for row in 0..rows {
                let factor = a[row * k + place];
                let (sums, sizes) = (&mut sums[row][..width], &mut sizes[row][..width]);
                for ((sum, size), b) in sums.iter_mut().zip(sizes).zip(b) {
                    let product = factor * b;
                    *sum += product;
                    *size += product.abs();
                }
            }
        }
        for row in 0..rows {
            let place = row * n + first..row * n + first + width;
            values[place.clone()].copy_from_slice(&sums[row][..width]);
            noise[place].copy_from_slice(&sizes[row][..width]);
        }
    }
}

/// Rows of A times B, which stands by columns, in twice the precision.
fn by_elements(a: &[f64], b: &[f64], k: usize, values: &mut [f64], noise: &mut [f64]) {
    let rows = a.len() / k;
    let n = values.len() / rows;
    for (row, a) in a.chunks_exact(k).enumerate() {
        for (column, b) in b.chunks_exact(k).enumerate() {
            let mut sum = DoubleDouble::default();
            let mut size = 0.0;
            for (a, b) in a.iter().zip(b) {
                sum = sum.plus_product(*a, *b);
                size += (a * b).abs();
            }
            values[row * n + column] = sum.value();
            noise[row * n + column] = size;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;

    /// Small integers, so that every sum is exact.
    fn integers(count: usize, seed: u64) -> Vec<f64> {
        (0..count as u64)
            .map(|index| {
                let mixed = (index + 1)
                    .wrapping_mul(seed)
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    >> 60;
                mixed as f64 - 8.0
            })
            .collect()
    }

    /// The definition, one element after the other.
    fn plain(a: &[f64], b: &[f64], (m, n, k): (usize, usize, usize)) -> (Vec<f64>, Vec<f64>) {
        let mut values = Vec::new();
        let mut sizes = Vec::new();
        for i in 0..m {
            for j in 0..n {
                let products = (0..k).map(|l| a[i * k + l] * b[l * n + j]);
                values.push(products.clone().sum());
                sizes.push(products.map(f64::abs).sum::<f64>() * (k as f64).sqrt());
            }
        }
        (values, sizes)
    }

    #[test]
    fn products_of_all_shapes_and_orders_are_right() {
        let threads = Threads(NonZeroUsize::new(3).unwrap());
        for (m, n, k) in [(1, 1, 1), (5, 67, 3), (4, 64, 9), (9, 130, 17), (3, 1, 40)] {
            let (a, b) = (integers(m * k, 3), integers(k * n, 5));
            let (values, sizes) = plain(&a, &b, (m, n, k));
            let (ta, tb) = (transposed(&a, m, k), transposed(&b, k, n));
            for precision in [Precision::F64, Precision::DoubleDouble] {
                for (is_a, is_b) in [(false, false), (true, false), (false, true), (true, true)] {
                    let (a_shape, b_shape) = ([[m, k], [k, m]], [[k, n], [n, k]]);
                    let (a, b) = (if is_a { &ta } else { &a }, if is_b { &tb } else { &b });
                    let a = Array::new(a, &a_shape[usize::from(is_a)]).unwrap();
                    let b = Array::new(b, &b_shape[usize::from(is_b)]).unwrap();
                    let product = Product::new(a, b)
                        .with_a_transposed(is_a)
                        .with_b_transposed(is_b);
                    let reference = product.compute(precision, threads).unwrap();
                    assert_eq!(reference.values, values, "{m} {n} {k} {is_a} {is_b}");
                    assert_eq!(reference.noise, sizes);
                    assert_eq!((reference.length, reference.shape), (k, vec![m, n]));
                }
            }
        }
    }

    #[test]
    fn batches_are_products_one_after_the_other() {
        let (m, n, k) = (2, 3, 4);
        let (a, b) = (integers(3 * m * k, 7), integers(3 * k * n, 11));
        let (a_shape, b_shape) = ([3, m, k], [3, k, n]);
        let whole = Product::new(
            Array::new(&a, &a_shape).unwrap(),
            Array::new(&b, &b_shape).unwrap(),
        );
        let reference = whole.compute(Precision::F64, Threads::ONE).unwrap();
        let b_one = [k, n];
        let shared = Product::new(
            Array::new(&a, &a_shape).unwrap(),
            Array::new(&b[..k * n], &b_one).unwrap(),
        );
        let with_shared = shared
            .compute(Precision::DoubleDouble, Threads::ONE)
            .unwrap();
        for index in 0..3 {
            let a = &a[index * m * k..][..m * k];
            let out = index * m * n..(index + 1) * m * n;
            let own = plain(a, &b[index * k * n..][..k * n], (m, n, k));
            assert_eq!(reference.values[out.clone()], own.0);
            assert_eq!(with_shared.values[out], plain(a, &b[..k * n], (m, n, k)).0);
        }
        assert_eq!(reference.shape, [3, 2, 3]);
    }

    #[test]
    fn shapes_that_do_not_fit_are_named() {
        let values = vec![0.0; 12];
        let (square, wide) = ([2, 6], [3, 4]);
        let array = |shape| Array::new(&values, shape).unwrap();
        let compute = |a, b| Product::new(a, b).compute(Precision::F64, Threads::ONE);
        let error = compute(array(&square), array(&wide)).unwrap_err();
        assert_eq!(error.to_string(), "columns of A are 6, rows of B are 3");
        let error = compute(array(&[12]), array(&wide)).unwrap_err();
        assert_eq!(error.code(), "NREF0002");
        let nothing = [];
        let error = compute(
            Array::new(&nothing, &[2, 0]).unwrap(),
            Array::new(&nothing, &[0, 2]).unwrap(),
        )
        .unwrap_err();
        assert_eq!(error.code(), "NREF0004");
        assert_eq!(
            Array::new(&values, &[5]).unwrap_err().to_string(),
            "shape [5] does not hold 12 values"
        );
    }

    #[test]
    fn an_output_of_f64_is_judged_by_more() {
        // 2^53 + 1 − 2^53: one rounding in f64 would lose the 1.
        let a = [9_007_199_254_740_992.0, 1.0, -9_007_199_254_740_992.0];
        let ones = [1.0; 3];
        let product = Product::new(
            Array::new(&a, &[1, 3]).unwrap(),
            Array::new(&ones, &[3, 1]).unwrap(),
        );
        let precise = product
            .compute(Precision::DoubleDouble, Threads::ONE)
            .unwrap();
        assert_eq!(precise.values, [1.0]);
        let plain = product.compute(Precision::F64, Threads::ONE).unwrap();
        assert_eq!(plain.values, [0.0]);
    }
}
