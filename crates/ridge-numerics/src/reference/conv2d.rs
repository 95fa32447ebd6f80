//! Convolutions of images.

use super::array::{Array, ShapeError, count, equal};
use super::double::DoubleDouble;
use super::parallel::{Threads, pieces};
use super::{Precision, Reference};

/// A cross-correlation as deep-learning frameworks call it convolution: images `N × C × H × W`, weights
/// `filters × C/groups × kernel height × kernel width`, zeros around the images.
///
/// Noise: √K · Σ|x||w| with K = C/groups · kernel height · kernel width; zeros of the padding are not summed, but K counts them.
#[derive(Clone, Copy, Debug)]
pub struct Conv2d<'v> {
    /// The images.
    pub x: Array<'v>,
    /// The weights.
    pub weight: Array<'v>,
    /// One value for each filter.
    pub bias: Option<&'v [f64]>,
    /// Step between outputs.
    pub stride: usize,
    /// Zeros on each side.
    pub padding: usize,
    /// Step between the inputs of one output.
    pub dilation: usize,
    /// Groups of channels that do not mix.
    pub groups: usize,
}

/// The four dimensions of an array.
fn four(array: Array<'_>, what: &'static str) -> Result<[usize; 4], ShapeError> {
    array
        .shape()
        .try_into()
        .map_err(|_| ShapeError::Dimensions {
            what,
            shape: array.shape().to_vec(),
            needs: "one of four dimensions",
        })
}

impl Conv2d<'_> {
    /// How many outputs there are along a side.
    fn outputs(&self, size: usize, kernel: usize) -> Result<usize, ShapeError> {
        let reach = kernel
            .checked_sub(1)
            .and_then(|steps| steps.checked_mul(self.dilation));
        let padded = self
            .padding
            .checked_mul(2)
            .and_then(|sides| sides.checked_add(size));
        reach
            .zip(padded)
            .and_then(|(reach, padded)| padded.checked_sub(reach)?.checked_sub(1))
            .map(|room| room / self.stride + 1)
            .ok_or(ShapeError::Degenerate {
                what: "the kernel does not fit into the padded input",
            })
    }

    /// Computes it.
    ///
    /// # Errors
    /// When shapes do not fit each other, or the kernel does not fit into the input.
    pub fn compute(&self, precision: Precision, threads: Threads) -> Result<Reference, ShapeError> {
        let [images, channels, height, width] = four(self.x, "the input")?;
        let [filters, group_channels, kernel_height, kernel_width] =
            four(self.weight, "the weight")?;
        if self.stride == 0 || self.dilation == 0 || self.groups == 0 {
            return Err(ShapeError::Degenerate {
                what: "stride, dilation and groups have to be above zero",
            });
        }
        if !filters.is_multiple_of(self.groups) {
            return Err(ShapeError::Degenerate {
                what: "the number of filters is no multiple of the number of groups",
            });
        }
        equal(
            "channels of the input",
            channels,
            "channels of the weight times groups",
            group_channels.saturating_mul(self.groups),
        )?;
        if let Some(bias) = self.bias {
            equal("biases", bias.len(), "filters", filters)?;
        }
        let shape = vec![
            images,
            filters,
            self.outputs(height, kernel_height)?,
            self.outputs(width, kernel_width)?,
        ];
        let size = count(&shape)?;
        let (out_height, out_width) = (shape[2], shape[3]);
        let length = (group_channels * kernel_height * kernel_width).max(1);
        let mut reference = Reference {
            shape,
            values: vec![0.0; size],
            noise: vec![0.0; size],
            length,
        };
        let root = (length as f64).sqrt();
        // The inputs of an output along a side: within the image, those of the padding left out.
        let within = |out: usize, tap: usize, size: usize| {
            (out * self.stride + tap * self.dilation)
                .checked_sub(self.padding)
                .filter(|place| *place < size)
        };
        pieces(
            &mut reference.values,
            &mut reference.noise,
            out_height * out_width,
            threads,
            |plane, values, noise| {
                let (image, filter) = (plane / filters, plane % filters);
                let first_channel = filter / (filters / self.groups) * group_channels;
                let weights =
                    &self.weight.values()[filter * group_channels * kernel_height * kernel_width..];
                for (place, (value, noise)) in values.iter_mut().zip(noise).enumerate() {
                    let (row, column) = (place / out_width, place % out_width);
                    let bias = self.bias.map_or(0.0, |bias| bias[filter]);
                    let mut sum = bias;
                    let mut double = DoubleDouble::default().plus(bias);
                    let mut size = bias.abs();
                    for channel in 0..group_channels {
                        let input = (image * channels + first_channel + channel) * height;
                        for tap_row in 0..kernel_height {
                            let Some(y) = within(row, tap_row, height) else {
                                continue;
                            };
                            let input = &self.x.values()[(input + y) * width..][..width];
                            let weights = &weights
                                [(channel * kernel_height + tap_row) * kernel_width..]
                                [..kernel_width];
                            for (tap, weight) in weights.iter().enumerate() {
                                let Some(x) = within(column, tap, width) else {
                                    continue;
                                };
                                let product = input[x] * weight;
                                match precision {
                                    Precision::F64 => sum += product,
                                    Precision::DoubleDouble => {
                                        double = double.plus_product(input[x], *weight);
                                    }
                                }
                                size += product.abs();
                            }
                        }
                    }
                    *value = match precision {
                        Precision::F64 => sum,
                        Precision::DoubleDouble => double.value(),
                    };
                    *noise = root * size;
                }
            },
        );
        Ok(reference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(count: usize) -> Vec<f64> {
        (0..count).map(|index| (index % 7) as f64 - 3.0).collect()
    }

    /// The definition with explicit padding.
    fn plain(conv: &Conv2d<'_>) -> Vec<f64> {
        let [n, c, h, w] = four(conv.x, "x").unwrap();
        let [f, g, kh, kw] = four(conv.weight, "w").unwrap();
        let pad = conv.padding;
        let at = |image: usize, channel: usize, y: usize, x: usize| {
            if y < pad || x < pad || y - pad >= h || x - pad >= w {
                0.0
            } else {
                conv.x.values()[((image * c + channel) * h + y - pad) * w + x - pad]
            }
        };
        let (oh, ow) = (
            (h + 2 * pad - conv.dilation * (kh - 1) - 1) / conv.stride + 1,
            (w + 2 * pad - conv.dilation * (kw - 1) - 1) / conv.stride + 1,
        );
        let mut out = Vec::new();
        for image in 0..n {
            for filter in 0..f {
                for y in 0..oh {
                    for x in 0..ow {
                        let mut sum = conv.bias.map_or(0.0, |bias| bias[filter]);
                        for channel in 0..g {
                            for i in 0..kh {
                                for j in 0..kw {
                                    let group = filter / (f / conv.groups);
                                    sum += at(
                                        image,
                                        group * g + channel,
                                        y * conv.stride + i * conv.dilation,
                                        x * conv.stride + j * conv.dilation,
                                    ) * conv.weight.values()
                                        [((filter * g + channel) * kh + i) * kw + j];
                                }
                            }
                        }
                        out.push(sum);
                    }
                }
            }
        }
        out
    }

    #[test]
    fn convolutions_follow_the_definition() {
        for (stride, padding, dilation, groups) in
            [(1, 0, 1, 1), (2, 1, 1, 1), (1, 2, 2, 2), (3, 1, 1, 4)]
        {
            let x = ramp(2 * 4 * 9 * 8);
            let weight = ramp(8 * 4 / groups * 3 * 2);
            let bias = ramp(8);
            let x_shape = [2, 4, 9, 8];
            let weight_shape = [8, 4 / groups, 3, 2];
            let conv = Conv2d {
                x: Array::new(&x, &x_shape).unwrap(),
                weight: Array::new(&weight, &weight_shape).unwrap(),
                bias: Some(&bias),
                stride,
                padding,
                dilation,
                groups,
            };
            for precision in [Precision::F64, Precision::DoubleDouble] {
                let reference = conv.compute(precision, Threads::ONE).unwrap();
                assert_eq!(reference.values, plain(&conv), "{stride} {groups}");
                assert_eq!(reference.length, 4 / groups * 6);
            }
        }
    }

    #[test]
    fn a_kernel_larger_than_its_input_is_refused() {
        let values = ramp(9);
        let conv = Conv2d {
            x: Array::new(&values[..4], &[1, 1, 2, 2]).unwrap(),
            weight: Array::new(&values, &[1, 1, 3, 3]).unwrap(),
            bias: None,
            stride: 1,
            padding: 0,
            dilation: 1,
            groups: 1,
        };
        let error = conv.compute(Precision::F64, Threads::ONE).unwrap_err();
        assert_eq!(error.code(), "NREF0004");
        let error = Conv2d { groups: 2, ..conv }
            .compute(Precision::F64, Threads::ONE)
            .unwrap_err();
        assert!(error.to_string().contains("multiple"));
    }
}
