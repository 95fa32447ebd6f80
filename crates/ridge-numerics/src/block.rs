//! Formats whose elements share a scale, block by block: MX of the OCP, and NVFP4.
//!
//! Elements and scales are separate arrays, both in C order with blocks along the last axis. The tiled order of scales that
//! cuBLAS takes is not undone here. A value is element times scale of its block times scale of the tensor, which is exact in
//! `f64`.
//!
//! ```
//! use ridge_numerics::block::BlockFormat;
//!
//! let values = [0.25, -3.0, 1.0];
//! let quantised = BlockFormat::MxFp4.quantise(&values, 1.0);
//! // The scale is 2^-1: 3 becomes 6, the largest number of FP4.
//! assert_eq!(quantised.scales, [126]);
//! let mut back = [0.0; 3];
//! BlockFormat::MxFp4.dequantise(&quantised.elements, &quantised.scales, 1.0, &mut back)?;
//! assert_eq!(back, [0.25, -3.0, 1.0]);
//! # Ok::<(), ridge_numerics::block::LengthError>(())
//! ```

use std::fmt;

use crate::format::{Format, Overflow, power_of_two};

/// A format with shared scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockFormat {
    /// MXFP8 with elements of [`Format::E4m3`].
    MxFp8E4m3,
    /// MXFP8 with elements of [`Format::E5m2`].
    MxFp8E5m2,
    /// MXFP6 with elements of [`Format::E2m3`].
    MxFp6E2m3,
    /// MXFP6 with elements of [`Format::E3m2`].
    MxFp6E3m2,
    /// MXFP4, with elements of [`Format::E2m1`].
    MxFp4,
    /// MXINT8: elements are [`Format::I8`] in units of 1/64.
    MxInt8,
    /// NVFP4: elements of [`Format::E2m1`], scales of [`Format::E4m3`], and one binary32 for the tensor.
    NvFp4,
}

/// Elements and scales that do not belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthError {
    /// Elements that there are.
    pub elements: usize,
    /// Scales that there are.
    pub scales: usize,
    /// Scales that the elements need.
    pub need: usize,
    /// Values that there is room for.
    pub room: usize,
}

impl fmt::Display for LengthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            elements,
            scales,
            need,
            room,
        } = self;
        write!(
            f,
            "{elements} elements need {need} scales and room for as many values; there are {scales} scales and room for {room}"
        )
    }
}

impl std::error::Error for LengthError {}

/// What [`BlockFormat::quantise`] makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantised {
    /// Codes of the elements, a byte each.
    pub elements: Vec<u8>,
    /// Codes of the scales.
    pub scales: Vec<u8>,
}

impl BlockFormat {
    /// Every format.
    pub const ALL: [Self; 7] = [
        Self::MxFp8E4m3,
        Self::MxFp8E5m2,
        Self::MxFp6E2m3,
        Self::MxFp6E3m2,
        Self::MxFp4,
        Self::MxInt8,
        Self::NvFp4,
    ];

    /// The format of the elements.
    #[must_use]
    pub const fn element(self) -> Format {
        match self {
            Self::MxFp8E4m3 => Format::E4m3,
            Self::MxFp8E5m2 => Format::E5m2,
            Self::MxFp6E2m3 => Format::E2m3,
            Self::MxFp6E3m2 => Format::E3m2,
            Self::MxFp4 | Self::NvFp4 => Format::E2m1,
            Self::MxInt8 => Format::I8,
        }
    }

    /// The format of the scales.
    #[must_use]
    pub const fn scale(self) -> Format {
        match self {
            Self::NvFp4 => Format::E4m3,
            _ => Format::E8m0,
        }
    }

    /// Elements that share a scale.
    #[must_use]
    pub const fn block(self) -> usize {
        match self {
            Self::NvFp4 => 16,
            _ => 32,
        }
    }

    /// What an element of 1 stands for, before scales.
    const fn unit(self) -> f64 {
        match self {
            // OCP Microscaling Formats 1.0, section 5.3.4: two's complement with an implied scale of 2^-6.
            Self::MxInt8 => power_of_two(-6),
            _ => 1.0,
        }
    }

    /// The values of one row, or of several whose length is a multiple of the block: only the last block may be short. Elements
    /// are codes of a byte each; [`Format::unpack`] makes them of packed ones. The scale of the tensor is 1 for MX. A block whose
    /// scale is NaN is NaN.
    ///
    /// # Errors
    ///
    /// There is another number of scales than of blocks, or another number of elements than `out` has room for.
    pub fn dequantise(
        self,
        elements: &[u8],
        scales: &[u8],
        tensor_scale: f32,
        out: &mut [f64],
    ) -> Result<(), LengthError> {
        let need = elements.len().div_ceil(self.block());
        if scales.len() != need || out.len() != elements.len() {
            return Err(LengthError {
                elements: elements.len(),
                scales: scales.len(),
                need,
                room: out.len(),
            });
        }
        let table: [f64; 256] =
            std::array::from_fn(|code| self.element().decode(code as u64) * self.unit());
        let blocks = elements
            .chunks(self.block())
            .zip(out.chunks_mut(self.block()));
        for ((elements, out), &scale) in blocks.zip(scales) {
            let scale = self.scale().decode(u64::from(scale)) * f64::from(tensor_scale);
            for (out, &element) in out.iter_mut().zip(elements) {
                *out = table[usize::from(element)] * scale;
            }
        }
        Ok(())
    }

    /// Codes for one row of values, for tests and references. The scale of an MX block is the power of two that puts its
    /// largest value into the highest binade of the elements, as in the specification's section 6.3; of an NVFP4 block the
    /// nearest to its largest value over 6. Elements are rounded to nearest and saturate.
    ///
    /// A block with a NaN or an infinity gets NaN as its scale.
    #[must_use]
    pub fn quantise(self, values: &[f64], tensor_scale: f32) -> Quantised {
        let mut quantised = Quantised {
            elements: Vec::with_capacity(values.len()),
            scales: Vec::with_capacity(values.len().div_ceil(self.block())),
        };
        for block in values.chunks(self.block()) {
            let largest = block.iter().fold(0.0_f64, |largest, value| {
                if value.is_finite() {
                    largest.max(value.abs())
                } else {
                    f64::INFINITY
                }
            });
            let code = self.scale_code(largest, tensor_scale);
            quantised.scales.push(code);
            let scale =
                self.scale().decode(u64::from(code)) * f64::from(tensor_scale) * self.unit();
            quantised.elements.extend(block.iter().map(|value| {
                if scale > 0.0 {
                    self.element().encode(value / scale, Overflow::Saturate) as u8
                } else {
                    0
                }
            }));
        }
        quantised
    }

    /// The code of the scale for a block with this largest magnitude.
    fn scale_code(self, largest: f64, tensor_scale: f32) -> u8 {
        const NAN: u8 = 0xff;
        if largest.is_infinite() {
            return NAN;
        }
        let max = self.element().max_finite() * self.unit();
        if self == Self::NvFp4 {
            let scale = largest / max / f64::from(tensor_scale);
            return Format::E4m3.encode(scale, Overflow::Saturate) as u8;
        }
        if largest <= 0.0 {
            return 0;
        }
        let power = |value: f64| (value.to_bits() >> 52) as i64 - 1023;
        (power(largest) - power(max) + 127).clamp(0, 0xfe) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_element_times_scales() {
        let mut out = [0.0; 2];
        // 448 * 2^-1, and -2^-9 * 2^-1.
        BlockFormat::MxFp8E4m3
            .dequantise(&[0x7e, 0x81], &[126], 1.0, &mut out)
            .unwrap();
        assert_eq!(out, [224.0, -(2_f64.powi(-10))]);
        // 127/64 and -2, times 2^127.
        BlockFormat::MxInt8
            .dequantise(&[0x7f, 0x80], &[254], 1.0, &mut out)
            .unwrap();
        assert_eq!(out, [127.0 * 2_f64.powi(121), -(2_f64.powi(128))]);
        // 6 and -0.5, times 448, times 2^-140.
        BlockFormat::NvFp4
            .dequantise(&[7, 9], &[0x7e], 2_f32.powi(-140), &mut out)
            .unwrap();
        assert_eq!(out, [2688.0 * 2_f64.powi(-140), -224.0 * 2_f64.powi(-140)]);
        BlockFormat::MxFp4
            .dequantise(&[0, 1], &[0xff], 1.0, &mut out)
            .unwrap();
        assert!(out.iter().all(|value| value.is_nan()));
        let error = BlockFormat::NvFp4.dequantise(&[0; 17], &[0], 1.0, &mut [0.0; 17]);
        assert_eq!(error.unwrap_err().need, 2);
    }

    #[test]
    fn quantised_values_are_near_where_the_format_has_numbers() {
        for format in BlockFormat::ALL {
            // Two blocks, the second one short, of very different size.
            let values: Vec<f64> = (0..format.block() + 5)
                .map(|i| (i as f64 - 9.5) * if i < format.block() { 0.1 } else { 10.0 })
                .collect();
            let tensor_scale = if format == BlockFormat::NvFp4 {
                0.125
            } else {
                1.0
            };
            let quantised = format.quantise(&values, tensor_scale);
            assert_eq!(quantised.scales.len(), 2);
            let mut back = vec![0.0; values.len()];
            format
                .dequantise(
                    &quantised.elements,
                    &quantised.scales,
                    tensor_scale,
                    &mut back,
                )
                .unwrap();
            // Half the distance of the largest numbers, and what saturates beyond them.
            for (values, back) in values
                .chunks(format.block())
                .zip(back.chunks(format.block()))
            {
                let largest = values.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
                for (value, back) in values.iter().zip(back) {
                    assert!(
                        (value - back).abs() <= largest / 4.0 + 1e-12,
                        "{format:?} {value} {back}"
                    );
                }
            }
            let zeros = format.quantise(&[0.0; 3], 1.0);
            assert_eq!((zeros.elements, zeros.scales), (vec![0; 3], vec![0]));
            let nan = format.quantise(&[1.0, f64::NAN], 1.0);
            assert_eq!(nan.scales, [0xff]);
        }
    }

    #[test]
    fn packed_elements_have_the_first_one_in_the_lowest_bits() {
        assert_eq!(Format::E2m1.pack(&[1, 2, 3]), [0x21, 0x03]);
        assert_eq!(Format::E3m2.pack(&[0x3f, 0, 0x2a, 1]), [0x3f, 0xa0, 0x06]);
        for format in [Format::E2m1, Format::E2m3, Format::E3m2] {
            let codes: Vec<u8> = (0..23).map(|i| i * 7 % (1 << format.size_bits())).collect();
            let packed = format.pack(&codes);
            let mut back = Vec::new();
            assert_eq!(format.unpack(&packed, 3, 20, &mut back), 20);
            assert_eq!(back, codes[3..]);
        }
        let mut out = vec![1];
        assert_eq!(Format::E4m3.unpack(&[1], 0, 1, &mut out), 0);
        assert_eq!(Format::E2m1.unpack(&[1], 9, 1, &mut out), 0);
    }
}
