//! Peaks: so many operations a second of one format, on one kind of unit.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Device, Origin};
use crate::NumberFormat;
use crate::arch::execution::Execution;
use crate::arch::tensor::{Family, Operands};
use crate::quantity::{Amount, ComputeRate, Hertz};
use crate::roofline::Precision;

/// The unit that a peak belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PeakUnit {
    /// Ordinary arithmetic of threads.
    Vector,
    /// Matrix products by the fastest instructions that the device has: of four warps together from 9.0 on (`wgmma`,
    /// `tcgen05`), of one warp elsewhere.
    Tensor,
    /// Matrix products by instructions of one warp (`mma.sync`), where the device has faster ones.
    TensorWarp,
}

impl PeakUnit {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vector => "vector",
            Self::Tensor => "tensor",
            Self::TensorWarp => "mma.sync",
        }
    }
}

/// The peak of one format on one kind of unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// What goes in; E4M3 stands for both kinds of 8-bit floating point.
    pub input: NumberFormat,
    /// What results are summed in.
    pub accumulator: NumberFormat,
    /// The unit.
    pub unit: PeakUnit,
    /// Whether this is the rate with 2:4 structured sparsity, which counts the zeros that are skipped.
    pub is_sparse: bool,
    /// Operations a second; a multiply-add is two.
    pub rate: ComputeRate,
    /// The SM clock that the rate belongs to.
    pub clock: Option<Hertz>,
    /// Where the rate comes from.
    pub origin: Origin,
}

impl Peak {
    /// The rate at another SM clock; absent where the clock of the peak is not known.
    ///
    /// Boards under load run below the clock of the sheet: this is the roof that such a run can reach.
    #[must_use]
    pub fn at(&self, clock: Hertz) -> Option<ComputeRate> {
        let own = self.clock.filter(|own| own.get() > 0.0)?;
        Some(ComputeRate::new(self.rate.get() * clock.get() / own.get()))
    }

    /// The rate with its unit: FLOP/s, or OP/s for integers.
    #[must_use]
    pub fn amount(&self) -> Amount {
        rate_amount(self.rate, self.input)
    }

    /// What kind of peak this is, such as `BF16 tensor, FP32 accumulate`.
    #[must_use]
    pub fn label(&self) -> String {
        Precision::of(self).label()
    }
}

/// A rate of operations on a format with its unit: FLOP/s, or OP/s for integers.
pub(crate) fn rate_amount(rate: ComputeRate, format: NumberFormat) -> Amount {
    if format.is_integer() {
        rate.of_integers()
    } else {
        Amount::new(rate.get(), crate::quantity::Unit::FLOPS_PER_SECOND)
    }
}

/// Which peak is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeakRequest {
    /// What goes in.
    pub format: NumberFormat,
    /// What is summed in; absent for the usual one.
    pub accumulator: Option<NumberFormat>,
    /// The unit; absent for the one that matrix products of the format run on: the tensor units where they take it,
    /// except for FP32, which they do not.
    pub unit: Option<PeakUnit>,
    /// Whether zeros that are skipped count.
    pub is_sparse: bool,
}

impl PeakRequest {
    /// The dense peak of matrix products of a format.
    #[must_use]
    pub const fn of(format: NumberFormat) -> Self {
        Self {
            format,
            accumulator: None,
            unit: None,
            is_sparse: false,
        }
    }

    /// The same on a unit of one's choice.
    #[must_use]
    pub const fn on(mut self, unit: PeakUnit) -> Self {
        self.unit = Some(unit);
        self
    }
}

impl Device {
    /// The peak that is asked for; absent where the device has no such unit or the table does not know it.
    #[must_use]
    pub fn peak(&self, request: PeakRequest) -> Option<&Peak> {
        match request.unit {
            Some(unit) => self.peak_on(unit, request),
            None => self
                .peak_on(PeakUnit::Tensor, request)
                .or_else(|| self.peak_on(PeakUnit::Vector, request)),
        }
    }

    fn peak_on(&self, unit: PeakUnit, request: PeakRequest) -> Option<&Peak> {
        let accumulator = match unit {
            // Threads add in the format that they multiply in.
            PeakUnit::Vector => request.format,
            PeakUnit::Tensor | PeakUnit::TensorWarp => request
                .accumulator
                .unwrap_or_else(|| request.format.usual_accumulator()),
        };
        self.peaks.iter().find(|peak| {
            peak.input == request.format.rated_as()
                && peak.unit == unit
                && peak.is_sparse == request.is_sparse
                && peak.accumulator == accumulator
        })
    }

    /// What units, operations in a cycle and clock make of a peak; absent where one of them is not known.
    #[must_use]
    pub fn derived(&self, peak: &Peak) -> Option<ComputeRate> {
        let multiprocessors = f64::from(self.multiprocessors?.value);
        let per_cycle = self.operations_per_cycle(peak)?;
        Some(ComputeRate::of_units(
            multiprocessors,
            per_cycle,
            peak.clock?,
        ))
    }

    /// Operations of one SM in a cycle.
    #[must_use]
    pub fn operations_per_cycle(&self, peak: &Peak) -> Option<f64> {
        let architecture = self.architecture()?;
        if peak.unit == PeakUnit::Vector {
            return vector_operations(&architecture.execution, peak.input);
        }
        let operands = operands(peak.input, peak.accumulator)?;
        let rate = |family, is_sparse| {
            architecture
                .tensor
                .rate(operands, family, is_sparse, Some(self.board))
                .map(|figure| figure.value)
        };
        if peak.unit == PeakUnit::TensorWarp {
            // Where there is nothing faster, the peak is listed as the tensor one.
            rate(Family::WarpGroup, false)?;
            return rate(Family::Warp, peak.is_sparse);
        }
        rate(Family::WarpGroup, peak.is_sparse).or_else(|| {
            // Double precision has instructions of one warp only.
            rate(Family::Warp, peak.is_sparse)
        })
    }
}

/// A multiply-add is two operations; packed 16-bit arithmetic does two of them in a lane.
fn vector_operations(execution: &Execution, format: NumberFormat) -> Option<f64> {
    let (lanes, operations) = match format {
        NumberFormat::Fp64 => (execution.fp64_lanes, 2.0),
        NumberFormat::Fp32 => (execution.fp32_lanes, 2.0),
        NumberFormat::Fp16 => (execution.half_lanes, 4.0),
        _ => return None,
    };
    Some(lanes?.value * operations)
}

fn operands(input: NumberFormat, accumulator: NumberFormat) -> Option<Operands> {
    use NumberFormat::{Bf16, Fp4, Fp8E4m3, Fp16, Fp32, Fp64, Int4, Int8, Int32, Tf32};
    Some(match (input, accumulator) {
        (Fp64, Fp64) => Operands::Fp64,
        (Tf32, Fp32) => Operands::Tf32,
        (Bf16, Fp32) => Operands::Bf16,
        (Fp16, Fp32) => Operands::Fp16IntoFp32,
        (Fp16, Fp16) => Operands::Fp16IntoFp16,
        (Fp8E4m3, Fp32) => Operands::Fp8IntoFp32,
        (Fp8E4m3, Fp16) => Operands::Fp8IntoFp16,
        (Fp4, Fp32) => Operands::Fp4,
        (Int8, Int32) => Operands::Int8,
        (Int4, Int32) => Operands::Int4,
        _ => return None,
    })
}
