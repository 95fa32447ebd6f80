//! Operations over rows, that is along the last dimension: softmax and normalizations.

use super::array::{Array, ShapeError, equal};
use super::double::DoubleDouble;
use super::parallel::{Threads, pieces};
use super::{Precision, Reference};

/// Rows that are given to a thread at a time, in elements.
const PIECE: usize = 1 << 14;

/// The sum of values, in the precision that is asked for.
fn sum(precision: Precision, values: impl Iterator<Item = f64>) -> f64 {
    match precision {
        // Serial sums in f64 lose n · 2^-53, which is nothing beside FP32.
        Precision::F64 => values.sum(),
        Precision::DoubleDouble => DoubleDouble::sum(values).value(),
    }
}

/// Applies a function to each row: it gets the row, and where value and noise of it go.
fn by_rows(
    x: Array<'_>,
    threads: Threads,
    row: impl Fn(&[f64], &mut [f64], &mut [f64]) + Sync,
) -> Result<Reference, ShapeError> {
    let (_, columns) = x.rows("the input")?;
    let mut reference = Reference {
        shape: x.shape().to_vec(),
        values: vec![0.0; x.values().len()],
        noise: vec![0.0; x.values().len()],
        length: columns.max(1),
    };
    let piece = (PIECE / columns.max(1)).max(1) * columns;
    pieces(
        &mut reference.values,
        &mut reference.noise,
        piece,
        threads,
        |index, values, noise| {
            let input = &x.values()[index * piece..][..values.len()];
            let rows = input.chunks_exact(columns).zip(
                values
                    .chunks_exact_mut(columns)
                    .zip(noise.chunks_exact_mut(columns)),
            );
            for (input, (values, noise)) in rows {
                row(input, values, noise);
            }
        },
    );
    Ok(reference)
}

/// exp(x − max) / Σ exp(x − max) along the last dimension.
///
/// Noise of a value r: `r · (√K + |x − max| + 3)`. The sum of K positive terms adds √K; rounding x − max changes the exponential
/// by that much; the exponential itself and the division are the rest.
#[derive(Clone, Copy, Debug)]
pub struct Softmax<'v> {
    /// The input.
    pub x: Array<'v>,
}

impl Softmax<'_> {
    /// Computes it. A row with a NaN or two infinities is NaN, as by the formula.
    ///
    /// # Errors
    /// When the input has no dimension.
    pub fn compute(&self, precision: Precision, threads: Threads) -> Result<Reference, ShapeError> {
        by_rows(self.x, threads, |x, values, noise| {
            let max = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total = sum(precision, x.iter().map(|x| (x - max).exp()));
            let root = (x.len() as f64).sqrt();
            for ((x, value), noise) in x.iter().zip(values).zip(noise) {
                *value = (x - max).exp() / total;
                // −∞, which masks are made of, gives an exact 0.
                *noise = if *value == 0.0 {
                    0.0
                } else {
                    *value * (root + (x - max).abs() + 3.0)
                };
            }
        })
    }
}

/// (x − mean) / √(variance + epsilon) · weight + bias along the last dimension, with the variance that divides by the length.
///
/// Noise, with the deviation σ and the mean size of the inputs a: `|weight| · ((|x| + a + |mean|) / σ + √K/2 · |x̂| + 2 · |x̂|) +
/// |weight · x̂| + |bias|`. Rounding of the mean and of the difference is divided by σ; the sum of K squares adds half of √K to the
/// normalized x̂. A kernel that takes the variance as `E[x²] − E[x]²` loses more where the mean is large beside σ, and fails.
#[derive(Clone, Copy, Debug)]
pub struct LayerNorm<'v> {
    /// The input.
    pub x: Array<'v>,
    /// What each column is multiplied by; 1 where there is none.
    pub weight: Option<&'v [f64]>,
    /// What is added to each column; 0 where there is none.
    pub bias: Option<&'v [f64]>,
    /// What is added to the variance.
    pub epsilon: f64,
}

fn of_columns(
    values: Option<&[f64]>,
    what: &'static str,
    columns: usize,
) -> Result<(), ShapeError> {
    match values {
        Some(values) => equal(what, values.len(), "columns of the input", columns),
        None => Ok(()),
    }
}

impl LayerNorm<'_> {
    /// Computes it.
    ///
    /// # Errors
    /// When the input has no dimension, or weights are not as many as columns.
    pub fn compute(&self, precision: Precision, threads: Threads) -> Result<Reference, ShapeError> {
        let (_, columns) = self.x.rows("the input")?;
        of_columns(self.weight, "weights", columns)?;
        of_columns(self.bias, "biases", columns)?;
        by_rows(self.x, threads, |x, values, noise| {
            let count = x.len() as f64;
            let mean = sum(precision, x.iter().copied()) / count;
            let size = x.iter().map(|x| x.abs()).sum::<f64>() / count;
            let squares = x.iter().map(|x| (x - mean) * (x - mean));
            let deviation = (sum(precision, squares) / count + self.epsilon).sqrt();
            let root = count.sqrt();
            for (column, ((x, value), noise)) in x.iter().zip(values).zip(noise).enumerate() {
                let weight = self.weight.map_or(1.0, |weights| weights[column]);
                let bias = self.bias.map_or(0.0, |biases| biases[column]);
                let normal = (x - mean) / deviation;
                *value = normal * weight + bias;
                let inner =
                    (x.abs() + size + mean.abs()) / deviation + (root / 2.0 + 2.0) * normal.abs();
                *noise = weight.abs() * inner + (weight * normal).abs() + bias.abs();
            }
        })
    }
}

/// x / √(mean of squares + epsilon) · weight along the last dimension.
///
/// Noise of a value r: `|r| · (√K/2 + 4)`: the sum of K squares under the root, the root, the division and the weight.
#[derive(Clone, Copy, Debug)]
pub struct RmsNorm<'v> {
    /// The input.
    pub x: Array<'v>,
    /// What each column is multiplied by; 1 where there is none.
    pub weight: Option<&'v [f64]>,
    /// What is added to the mean of squares.
    pub epsilon: f64,
}

impl RmsNorm<'_> {
    /// Computes it.
    ///
    /// # Errors
    /// When the input has no dimension, or weights are not as many as columns.
    pub fn compute(&self, precision: Precision, threads: Threads) -> Result<Reference, ShapeError> {
        let (_, columns) = self.x.rows("the input")?;
        of_columns(self.weight, "weights", columns)?;
        by_rows(self.x, threads, |x, values, noise| {
            let count = x.len() as f64;
            let squares = sum(precision, x.iter().map(|x| x * x));
            let scale = (squares / count + self.epsilon).sqrt();
            for (column, ((x, value), noise)) in x.iter().zip(values).zip(noise).enumerate() {
                let weight = self.weight.map_or(1.0, |weights| weights[column]);
                *value = x / scale * weight;
                *noise = value.abs() * (count.sqrt() / 2.0 + 4.0);
            }
        })
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "expected values are exact")]
mod tests {
    use super::*;

    fn close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() <= 1e-14, "{found} {expected}");
        }
    }

    #[test]
    fn softmax_of_known_values() {
        // exp of logarithms: the shares are 1/6, 2/6, 3/6. Large inputs do not overflow, masks give 0.
        let x: Vec<f64> = [1.0_f64, 2.0, 3.0].iter().map(|x| x.ln()).collect();
        let mut rows = x.clone();
        rows.extend(x.iter().map(|x| x + 1000.0));
        rows.extend([5.0, f64::NEG_INFINITY, 5.0]);
        let softmax = Softmax {
            x: Array::new(&rows, &[3, 3]).unwrap(),
        };
        for precision in [Precision::F64, Precision::DoubleDouble] {
            let reference = softmax.compute(precision, Threads::ONE).unwrap();
            let shares = [1.0 / 6.0, 2.0 / 6.0, 3.0 / 6.0];
            close(&reference.values[..3], &shares);
            // ln + 1000 is itself rounded to 2^-43.
            for (value, share) in reference.values[3..6].iter().zip(shares) {
                assert!((value - share).abs() < 1e-12);
            }
            assert_eq!(reference.values[6..], [0.5, 0.0, 0.5]);
            assert_eq!(reference.noise[7], 0.0);
            assert_eq!(reference.length, 3);
        }
    }

    #[test]
    fn normalizations_of_known_values() {
        // Mean 3, variance 2.
        let x = [1.0, 2.0, 3.0, 4.0, 5.0];
        let norm = LayerNorm {
            x: Array::new(&x, &[1, 5]).unwrap(),
            weight: Some(&[1.0, 1.0, 1.0, 2.0, 1.0]),
            bias: Some(&[0.0, 0.0, 0.0, 0.0, 10.0]),
            epsilon: 0.0,
        };
        let reference = norm.compute(Precision::F64, Threads::ONE).unwrap();
        let root = 2_f64.sqrt();
        close(
            &reference.values,
            &[-root, -1.0 / root, 0.0, 2.0 / root, root + 10.0],
        );
        let rms = RmsNorm {
            x: Array::new(&[3.0, 4.0], &[2]).unwrap(),
            weight: None,
            epsilon: 0.0,
        };
        let reference = rms.compute(Precision::DoubleDouble, Threads::ONE).unwrap();
        let scale = 12.5_f64.sqrt();
        close(&reference.values, &[3.0 / scale, 4.0 / scale]);
        let error = LayerNorm {
            weight: Some(&[1.0]),
            ..norm
        }
        .compute(Precision::F64, Threads::ONE)
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "weights are 1, columns of the input are 5"
        );
    }

    #[test]
    fn fp32_kernels_stay_within_the_noise_and_a_cancelling_variance_does_not() {
        // What kernels do, in FP32: mean, then squares of differences; or squares at once.
        let x: Vec<f32> = (0..1024_u32)
            .map(|index| 1000.0 + (index.wrapping_mul(2_654_435_761) >> 20) as f32 / 4096.0)
            .collect();
        let wide: Vec<f64> = x.iter().copied().map(f64::from).collect();
        let reference = LayerNorm {
            x: Array::new(&wide, &[1, 1024]).unwrap(),
            weight: None,
            bias: None,
            epsilon: 1e-5,
        }
        .compute(Precision::F64, Threads::ONE)
        .unwrap();
        let mean = x.iter().sum::<f32>() / 1024.0;
        let two_passes = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / 1024.0;
        let one_pass = x.iter().map(|x| x * x).sum::<f32>() / 1024.0 - mean * mean;
        let within = |variance: f32| {
            let scale = (variance + 1e-5).sqrt();
            x.iter().enumerate().all(|(index, x)| {
                let result = f64::from((x - mean) / scale);
                let u = 2_f64.powi(-24);
                let allowed = u * reference.values[index].abs() + 4.0 * u * reference.noise[index];
                (result - reference.values[index]).abs() <= allowed
            })
        };
        assert!(within(two_passes));
        assert!(!within(one_pass));
    }
}
