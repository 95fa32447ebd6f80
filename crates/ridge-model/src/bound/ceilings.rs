//! The most that a device does, with what the user knows better.

use super::work::times;
use super::{
    Arithmetic, ArithmeticKind, Bound, BoundError, BoundKind, Ceiling, Chain, Link, StepLatency,
    Transfer,
};
use crate::NumberFormat;
use crate::device::{Device, Fact, Origin, Peak, PeakRequest, PeakUnit};
use crate::latency::Latencies;
use crate::measured::MeasuredCeilings;
use crate::quantity::{Amount, Bandwidth, ComputeRate, Cycles, Hertz, Nanos, Unit};
use crate::roof::{ComputeRoof, MemoryLevel, MemoryRoof, RoofClock};

/// The most that a device does. The fields change what the table says.
#[derive(Clone, Copy, Debug)]
pub struct Ceilings<'d> {
    /// The device.
    pub device: &'d Device,
    /// A bandwidth of device memory that goes before that of the table, such as a measured one.
    pub bandwidth: Option<Bandwidth>,
    /// A peak that goes before those of the table.
    pub peak: Option<ComputeRate>,
    /// The SM clock of a run; peaks are scaled to it.
    pub clock: Option<Hertz>,
    /// The unit that matrix products run on, where it is not the usual one.
    pub unit: Option<PeakUnit>,
    /// The accumulator of matrix products, where it is not the usual one.
    pub accumulator: Option<NumberFormat>,
    /// Whether matrix products skip zeros of 2:4 sparsity.
    pub is_sparse: bool,
    /// What was measured on the machine. It goes before what the table says, and what is given goes before it. Times under
    /// it are attainable ones, and no lower bounds.
    pub measured: Option<&'d MeasuredCeilings>,
}

impl<'d> Ceilings<'d> {
    /// What the table says.
    #[must_use]
    pub const fn of(device: &'d Device) -> Self {
        Self {
            device,
            bandwidth: None,
            peak: None,
            clock: None,
            unit: None,
            accumulator: None,
            is_sparse: false,
            measured: None,
        }
    }

    /// The slope of device memory.
    ///
    /// # Errors
    /// When the table does not know it.
    pub fn memory(&self) -> Result<MemoryRoof, BoundError> {
        let own = self
            .measured
            .and_then(|measured| measured.memory(MemoryLevel::Dram));
        if let Some(roof) = own.filter(|_| self.bandwidth.is_none()) {
            return Ok(roof);
        }
        let (bandwidth, origin) = match (self.bandwidth, self.device.bandwidth) {
            (Some(given), _) => (given, Origin::Given),
            (None, Some(fact)) => (fact.value, fact.origin),
            (None, None) => return Err(self.no_rate("memory bandwidth")),
        };
        Ok(MemoryRoof {
            level: MemoryLevel::Dram,
            bandwidth,
            origin,
        })
    }

    /// The roof of some operations, and what has to be said about the choice.
    ///
    /// # Errors
    /// When the device has no such unit, or the table does not know its peak or clock.
    pub fn compute(&self, part: &Arithmetic) -> Result<(ComputeRoof, Option<String>), BoundError> {
        if let Some(rate) = self.peak {
            let roof = ComputeRoof {
                label: part.format.peak_name().to_owned(),
                input: part.format,
                unit: None,
                rate,
                clock: None,
                origin: Origin::Given,
            };
            return Ok((roof, None));
        }
        let (request, remark) = self.request(part);
        Ok((self.roof(request)?, remark))
    }

    /// The roof of one peak of the table, at the clock of the run where there is one.
    ///
    /// # Errors
    /// When the device has no such unit, or the table does not know its peak or clock.
    pub fn roof(&self, request: PeakRequest) -> Result<ComputeRoof, BoundError> {
        let peak = self
            .device
            .peak(request)
            .ok_or_else(|| self.no_peak(request))?;
        // At another clock nobody measured it.
        let measured = self.measured.filter(|_| self.clock.is_none());
        if let Some(roof) = measured.and_then(|measured| measured.peak(peak)) {
            return Ok(roof);
        }
        let clock = self.clock.map_or(RoofClock::Sheet, RoofClock::Run);
        ComputeRoof::of(peak, clock).ok_or_else(|| self.no_clock())
    }

    /// The peak that operations run against.
    fn request(&self, part: &Arithmetic) -> (PeakRequest, Option<String>) {
        if part.kind == ArithmeticKind::Matrix {
            let request = PeakRequest {
                format: part.format,
                accumulator: self.accumulator,
                unit: self.unit,
                is_sparse: self.is_sparse,
            };
            return (request, None);
        }
        let own = PeakRequest::of(part.format).on(PeakUnit::Vector);
        if self.device.peak(own).is_some() {
            return (own, None);
        }
        let single = PeakRequest::of(NumberFormat::Fp32).on(PeakUnit::Vector);
        let remark = format!(
            "{} has no vector peak in the table: elementwise operations are counted as if converted to FP32",
            part.format
        );
        (single, Some(remark))
    }

    fn no_rate(&self, what: &'static str) -> BoundError {
        BoundError::NoRate {
            device: self.device.name.clone(),
            what,
        }
    }

    fn no_clock(&self) -> BoundError {
        BoundError::NoClock {
            device: self.device.name.clone(),
        }
    }

    fn no_peak(&self, request: PeakRequest) -> BoundError {
        let mut wanted = String::new();
        if request.is_sparse {
            wanted.push_str("2:4 sparse ");
        }
        wanted.push_str(request.format.peak_name());
        if let Some(unit) = request.unit {
            wanted.push(' ');
            wanted.push_str(unit.name());
        }
        if let Some(accumulator) = request.accumulator {
            wanted.push_str(", ");
            wanted.push_str(accumulator.name());
            wanted.push_str(" accumulate,");
        }
        let labels = |fits: &dyn Fn(&Peak) -> bool| -> Vec<String> {
            let peaks = self.device.peaks.iter().filter(|peak| fits(peak));
            peaks.map(Peak::label).collect()
        };
        let of_format = labels(&|peak| peak.input == request.format.rated_as());
        let available = if of_format.is_empty() {
            labels(&|peak| !peak.is_sparse && peak.unit != PeakUnit::TensorWarp)
        } else {
            of_format
        };
        BoundError::NoPeak {
            device: self.device.name.clone(),
            wanted,
            available,
        }
    }

    /// How long cycles take at the clock of the run, else at the highest one: what is faster is the bound.
    fn at_clock(&self, cycles: Cycles) -> Result<Nanos, BoundError> {
        let highest = self.device.boost_clock.map(|fact| fact.value);
        let clock = self.clock.or(highest).ok_or_else(|| self.no_clock())?;
        Ok(cycles.at(clock))
    }

    /// The row of a chain.
    pub(super) fn chain(&self, chain: &Chain) -> Result<Bound, BoundError> {
        let (each, origin, resource) = match chain.latency {
            StepLatency::Time(time) => (time, Origin::Given, "one after the other".to_owned()),
            StepLatency::Cycles(cycles) => (
                self.at_clock(cycles)?,
                Origin::Given,
                format!("{} cycles each", cycles.get()),
            ),
            StepLatency::Load(level) => {
                let cycles = Latencies::of(self.device.capability)
                    .map(|known| known.cycles(level))
                    .ok_or_else(|| self.no_rate("latency of loads"))?;
                (
                    self.at_clock(Cycles::new(cycles))?,
                    Origin::Documented,
                    format!("{} loads of {cycles} cycles", level.name()),
                )
            }
        };
        Ok(Bound {
            kind: BoundKind::Latency,
            demand: Amount::new(times(chain.steps), Unit::from_static("step")),
            ceiling: Ceiling::Each(each),
            resource,
            origin,
            time: each * times(chain.steps),
        })
    }

    /// The row of a transfer.
    pub(super) fn transfer(&self, transfer: &Transfer) -> Result<Bound, BoundError> {
        let (fact, what) = match transfer.link {
            Link::HostToDevice | Link::DeviceToHost => (self.device.host_link, "host link"),
            Link::NvLink => (self.device.nvlink, "NVLink"),
        };
        let measured = self.measured.and_then(|measured| {
            Some(Fact {
                value: measured.link(transfer.link)?,
                origin: measured.origin(),
            })
        });
        let fact = measured.or(fact).ok_or_else(|| self.no_rate(what))?;
        Ok(Bound {
            kind: BoundKind::Transfer,
            demand: Amount::new(transfer.bytes.get(), Unit::BYTES),
            ceiling: Ceiling::Rate(Amount::new(fact.value.get(), Unit::BYTES_PER_SECOND)),
            resource: transfer.link.name().to_owned(),
            origin: fact.origin,
            time: transfer.bytes.at(fact.value),
        })
    }
}
