//! With what a kernel computes: the format that goes in, what is summed in, and the unit.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::Serialize;

use crate::device::{Device, Peak, PeakRequest, PeakUnit};
use crate::quantity::{Amount, ComputeRate};
use crate::{NumberFormat, UnknownFormat};

/// A number format on a unit: what a flat roof is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct Precision {
    /// The format that goes in; E4M3 stands for both kinds of 8-bit floating point.
    pub input: NumberFormat,
    /// What results are summed in.
    pub accumulator: NumberFormat,
    /// The unit.
    pub unit: PeakUnit,
    /// Whether the zeros of 2:4 structured sparsity count.
    pub is_sparse: bool,
}

impl Precision {
    /// Ordinary arithmetic of threads.
    #[must_use]
    pub const fn vector(format: NumberFormat) -> Self {
        Self {
            input: format,
            accumulator: format,
            unit: PeakUnit::Vector,
            is_sparse: false,
        }
    }

    /// Dense matrix products.
    #[must_use]
    pub const fn matrix(input: NumberFormat, accumulator: NumberFormat, unit: PeakUnit) -> Self {
        Self {
            input,
            accumulator,
            unit,
            is_sparse: false,
        }
    }

    /// That of a peak.
    #[must_use]
    pub const fn of(peak: &Peak) -> Self {
        Self {
            input: peak.input,
            accumulator: peak.accumulator,
            unit: peak.unit,
            is_sparse: peak.is_sparse,
        }
    }

    /// What people read, such as `BF16 tensor, FP32 accumulate`.
    #[must_use]
    pub fn label(self) -> String {
        let mut label = format!("{} {}", self.input.peak_name(), self.unit.name());
        if self.accumulator != self.input && self.unit != PeakUnit::Vector {
            label.push_str(", ");
            label.push_str(self.accumulator.name());
            label.push_str(" accumulate");
        } else if self.input == NumberFormat::Fp16 && self.unit != PeakUnit::Vector {
            label.push_str(", FP16 accumulate");
        }
        if self.is_sparse {
            label.push_str(", 2:4 sparse");
        }
        label
    }

    /// A word for it, such as `bf16-tensor-fp32`, which tells all of them apart.
    #[must_use]
    pub fn id(self) -> String {
        let unit = match self.unit {
            PeakUnit::Vector => return format!("{}-vector", word(self.input)),
            PeakUnit::Tensor => "tensor",
            PeakUnit::TensorWarp => "tensor-warp",
        };
        let sparse = if self.is_sparse { "-sparse" } else { "" };
        format!(
            "{}-{unit}-{}{sparse}",
            word(self.input),
            word(self.accumulator)
        )
    }

    /// Whether operations are on integers, and so no FLOP.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        self.input.is_integer()
    }

    /// A rate of such operations with its unit.
    #[must_use]
    pub fn amount(self, rate: ComputeRate) -> Amount {
        crate::device::rate_amount(rate, self.input)
    }

    /// The unit of a rate of such operations.
    #[must_use]
    pub const fn rate_unit(self) -> &'static str {
        if self.is_integer() { "OP/s" } else { "FLOP/s" }
    }
}

fn word(format: NumberFormat) -> String {
    format.peak_name().to_ascii_lowercase()
}

impl Display for Precision {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(&self.label())
    }
}

/// A precision as people ask for it: a format, and a unit where they care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrecisionRequest {
    /// The format that goes in.
    pub format: NumberFormat,
    /// The unit; absent for the one that matrix products of the format run on.
    pub unit: Option<PeakUnit>,
}

impl PrecisionRequest {
    /// The peak that is asked for.
    #[must_use]
    pub const fn peak(self) -> PeakRequest {
        PeakRequest {
            unit: self.unit,
            ..PeakRequest::of(self.format)
        }
    }

    /// What a device takes it for; where the device has no such peak, the usual accumulator.
    #[must_use]
    pub fn on(self, device: &Device) -> Precision {
        let unit = self.unit.unwrap_or(PeakUnit::Vector);
        device.peak(self.peak()).map_or_else(
            || match unit {
                PeakUnit::Vector => Precision::vector(self.format.rated_as()),
                unit => Precision::matrix(
                    self.format.rated_as(),
                    self.format.usual_accumulator(),
                    unit,
                ),
            },
            Precision::of,
        )
    }
}

/// A text that names no precision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnknownPrecision {
    /// The format is not known.
    Format(UnknownFormat),
    /// The unit is not known.
    Unit(String),
}

impl Display for UnknownPrecision {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format(error) => error.fmt(f),
            Self::Unit(unit) => write!(
                f,
                "{unit:?} is no unit; expected vector, tensor or mma.sync, as in fp16:tensor"
            ),
        }
    }
}

impl std::error::Error for UnknownPrecision {}

impl FromStr for PrecisionRequest {
    type Err = UnknownPrecision;

    /// Reads `bf16`, or `bf16:tensor` with the unit.
    fn from_str(text: &str) -> Result<Self, UnknownPrecision> {
        let (format, unit) = match text.split_once(':') {
            Some((format, unit)) => (format, Some(unit)),
            None => (text, None),
        };
        let unit = match unit.map(|unit| unit.trim().to_ascii_lowercase()).as_deref() {
            None => None,
            Some("vector") => Some(PeakUnit::Vector),
            Some("tensor") => Some(PeakUnit::Tensor),
            Some("mma.sync" | "mma" | "tensor-warp") => Some(PeakUnit::TensorWarp),
            Some(other) => return Err(UnknownPrecision::Unit(other.to_owned())),
        };
        Ok(Self {
            format: format.parse().map_err(UnknownPrecision::Format)?,
            unit,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Devices;
    use std::collections::HashSet;

    #[test]
    fn every_peak_of_the_table_has_its_own_word() {
        for device in Devices::known().iter() {
            let words: HashSet<String> = device
                .peaks
                .iter()
                .map(|peak| Precision::of(peak).id())
                .collect();
            assert_eq!(words.len(), device.peaks.len(), "{}", device.name);
        }
    }

    #[test]
    fn people_name_a_format_and_sometimes_a_unit() {
        let h200 = Devices::known().find("h200").unwrap();
        let id = |text: &str| {
            text.parse::<PrecisionRequest>()
                .map(|request| request.on(h200).id())
        };
        assert_eq!(id("fp32").unwrap(), "fp32-vector");
        assert_eq!(id("BF16").unwrap(), "bf16-tensor-fp32");
        assert_eq!(id("fp16:vector").unwrap(), "fp16-vector");
        assert_eq!(id("half:mma.sync").unwrap(), "fp16-tensor-warp-fp32");
        assert_eq!(id("int8").unwrap(), "int8-tensor-int32");
        assert!(id("fp16:gpu").unwrap_err().to_string().contains("vector"));
        assert!(
            id("fp17")
                .unwrap_err()
                .to_string()
                .contains("expected fp64")
        );
    }
}
