//! Convolutions of images.

use super::{Counter, Demand, DemandError, formats, product};
use crate::NumberFormat;

/// A convolution in two dimensions, counted as a direct one or as an implicit matrix product; transforms such as
/// Winograd's do fewer operations.
///
/// With outputs of height (height + 2·padding − dilation·(kernel − 1) − 1) / stride + 1, and width alike:
///
/// * bytes: (batch·channels·height·width + filters·channels/groups·kernel²) × size + batch·filters·outputs × size of
///   the output
/// * operations: 2·batch·filters·outputs·channels/groups·kernel²
#[derive(Clone, Debug, PartialEq)]
pub struct Conv2d {
    /// Images.
    pub batch: u64,
    /// Channels of the input.
    pub channels: u64,
    /// Height of the input.
    pub height: u64,
    /// Width of the input.
    pub width: u64,
    /// Channels of the output.
    pub filters: u64,
    /// Height of the kernel.
    pub kernel_height: u64,
    /// Width of the kernel.
    pub kernel_width: u64,
    /// Step between outputs.
    pub stride: u64,
    /// Zeros on each side, which are not read.
    pub padding: u64,
    /// Step between the inputs of one output.
    pub dilation: u64,
    /// Groups of channels that do not mix.
    pub groups: u64,
    /// Format of input and weights.
    pub format: NumberFormat,
    /// Format of the output.
    pub output: NumberFormat,
}

impl Conv2d {
    /// What it needs at least.
    ///
    /// # Errors
    /// When there is nothing to do, more than can be counted, or the kernel does not fit into the padded input.
    pub fn demand(&self) -> Result<Demand, DemandError> {
        let Self {
            batch,
            channels,
            height,
            width,
            filters,
            groups,
            format,
            output,
            ..
        } = *self;
        let counter = Counter::new(&[
            ("batch", batch),
            ("channels", channels),
            ("height", height),
            ("width", width),
            ("filters", filters),
            ("kernel height", self.kernel_height),
            ("kernel width", self.kernel_width),
            ("stride", self.stride),
            ("dilation", self.dilation),
            ("groups", groups),
        ])?;
        for (dividend, number) in [
            ("the number of channels", channels),
            ("the number of filters", filters),
        ] {
            if !number.is_multiple_of(groups) {
                return Err(DemandError::DoesNotDivide {
                    divisor: "the number of groups",
                    dividend,
                });
            }
        }
        let rows = self.outputs(height, self.kernel_height)?;
        let columns = self.outputs(width, self.kernel_width)?;
        let weights = product(&[
            filters,
            channels / groups,
            self.kernel_height,
            self.kernel_width,
        ]);
        let demand = counter
            .reads("input", product(&[batch, channels, height, width]), format)?
            .reads("weights", weights, format)?
            .writes("output", product(&[batch, filters, rows, columns]), output)?
            .matrix(2.0 * weights * product(&[batch, rows, columns]), format)?
            .demand(
                "conv2d",
                format!(
                    "{batch} x {channels} x {height} x {width}, {filters} filters of {} x {}, output {rows} x {columns}, {}",
                    self.kernel_height,
                    self.kernel_width,
                    formats(format, output)
                ),
                "(input + weights) * size + output * output size",
                "2 * output values * channels/groups * kernel height * kernel width",
            );
        Ok(demand)
    }

    /// Outputs along one side.
    fn outputs(&self, size: u64, kernel: u64) -> Result<u64, DemandError> {
        let too_large = DemandError::TooLarge { what: "values" };
        let padded = self
            .padding
            .checked_mul(2)
            .and_then(|padding| padding.checked_add(size))
            .ok_or(too_large.clone())?;
        let reach = self
            .dilation
            .checked_mul(kernel - 1)
            .and_then(|reach| reach.checked_add(1))
            .ok_or(too_large)?;
        let room = padded.checked_sub(reach).ok_or(DemandError::DoesNotFit {
            name: "the kernel",
            within: "the padded input",
        })?;
        Ok(room / self.stride + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first layer of ResNet-50: 3 × 224 × 224, 64 filters of 7 × 7, stride 2, padding 3. Its output is
    /// 112 × 112, and it takes 118 million multiply-adds by published counts.
    fn first_layer() -> Conv2d {
        Conv2d {
            batch: 1,
            channels: 3,
            height: 224,
            width: 224,
            filters: 64,
            kernel_height: 7,
            kernel_width: 7,
            stride: 2,
            padding: 3,
            dilation: 1,
            groups: 1,
            format: NumberFormat::Fp32,
            output: NumberFormat::Fp32,
        }
    }

    #[test]
    fn the_first_layer_of_resnet() {
        let demand = first_layer().demand().unwrap();
        assert!(
            demand.shape.contains("output 112 x 112"),
            "{}",
            demand.shape
        );
        assert!((demand.operations().unwrap().get() - 236_027_904.0).abs() < 0.5);
        let values = 3.0 * 224.0 * 224.0 + 64.0 * 3.0 * 49.0 + 64.0 * 112.0 * 112.0;
        assert!((demand.bytes().get() - 4.0 * values).abs() < 0.5);
    }

    #[test]
    fn kernels_that_do_not_fit_and_groups_that_do_not_divide_are_refused() {
        let wide = Conv2d {
            kernel_width: 300,
            ..first_layer()
        };
        assert!(matches!(wide.demand(), Err(DemandError::DoesNotFit { .. })));
        let groups = Conv2d {
            groups: 2,
            ..first_layer()
        };
        assert!(matches!(
            groups.demand(),
            Err(DemandError::DoesNotDivide { .. })
        ));
        let padded = Conv2d {
            padding: u64::MAX,
            ..first_layer()
        };
        assert!(matches!(padded.demand(), Err(DemandError::TooLarge { .. })));
    }
}
