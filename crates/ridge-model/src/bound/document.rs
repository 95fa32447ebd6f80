//! The answer of `ridge bound`, as data: every renderer prints this and computes nothing.
//!
//! Fields are only ever added within a version. Fractions are 0 to 1, times are nanoseconds, absent is `null`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    ArithmeticKind, Bound, BoundError, BoundKind, Bounds, Ceiling, Ceilings, Gap, Launches,
    Reading, Work,
};
use crate::device::{Confidence, Device, Fact, Origin, PeakRequest, PeakUnit};
use crate::measured::Provenance;
use crate::quantity::{Nanos, Unit};
use crate::template::Demand;

/// Name of the contract.
pub const SCHEMA: &str = "ridgepoint.bound";
/// Its version.
pub const VERSION: u32 = 1;

/// Lower bounds of some work on a device: what `ridge bound --format json` writes.
///
/// Fields are only ever added within a version. Fractions are 0 to 1, times are nanoseconds, sizes are bytes, and what is
/// not known is `null`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "Bound")]
pub struct Document {
    /// Always `ridgepoint.bound`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The device that the bounds are for.
    pub device: DeviceName,
    /// The template that counted bytes and operations, if one did.
    pub template: Option<Template>,
    /// Bytes that have to cross the border of device memory.
    #[schemars(range(min = 0.0))]
    pub bytes: Option<f64>,
    /// Operations of all kinds together; a multiply-add is two.
    #[schemars(range(min = 0.0))]
    pub operations: Option<f64>,
    /// One bound for each resource that is needed.
    pub bounds: Vec<Row>,
    /// The largest bound: no implementation of this work on this device is faster.
    #[schemars(range(min = 0.0))]
    pub lower_bound_ns: f64,
    /// The resource of the largest bound.
    pub binding: BoundKind,
    /// What the work is: `bandwidth-bound`, `compute-bound`, `launch-bound`, `latency-bound`, `transfer-bound` or
    /// `kernel-bound`.
    pub class: String,
    /// Operations for each byte of device memory.
    #[schemars(range(min = 0.0))]
    pub arithmetic_intensity: Option<f64>,
    /// The intensity at which memory and the busiest unit would take equally long.
    #[schemars(range(min = 0.0))]
    pub ridge_point: Option<f64>,
    /// The unit of both: `FLOP/byte`, or `OP/byte` for integers.
    pub intensity_unit: Option<String>,
    /// How a measured time compares, if one was given.
    pub measured: Option<Measured>,
    /// The same under what was measured on one GPU; left out where no such figures are at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attainable: Option<Attainable>,
    /// What has to be known about these numbers.
    pub remarks: Vec<String>,
}

/// The device of the bounds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DeviceName {
    /// Its name in the table.
    pub name: String,
    /// Its compute capability, such as `9.0`.
    pub compute_capability: String,
    /// How far its row in the table can be trusted.
    pub confidence: Confidence,
    /// What is doubtful about it.
    pub doubts: Option<String>,
}

/// How bytes and operations were counted.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Template {
    /// The name of the template.
    pub name: String,
    /// Shape and formats.
    pub shape: String,
    /// How the bytes are counted.
    pub bytes_formula: String,
    /// How the operations are counted.
    pub operations_formula: String,
    /// The bytes of each array.
    pub traffic: Vec<Traffic>,
}

/// The bytes of one array.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Traffic {
    /// The array.
    pub array: String,
    /// Whether it is written, not read.
    pub is_written: bool,
    /// The bytes that cross the border of device memory.
    #[schemars(range(min = 0.0))]
    pub bytes: f64,
}

/// One bound.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Row {
    /// The resource.
    pub kind: BoundKind,
    /// What the ceiling is, such as `DRAM` or `FP32 vector`.
    pub resource: String,
    /// What is needed.
    #[schemars(range(min = 0.0))]
    pub demand: f64,
    /// The unit of the need.
    pub demand_unit: String,
    /// The most that the resource does in a second; `null` where it is a time for each.
    #[schemars(range(min = 0.0))]
    pub rate_per_s: Option<f64>,
    /// The unit of the rate.
    pub rate_unit: Option<String>,
    /// The least that each takes; `null` where it is a rate.
    #[schemars(range(min = 0.0))]
    pub each_ns: Option<f64>,
    /// Where rate or time are known from.
    pub origin: Origin,
    /// What the need takes at the least.
    #[schemars(range(min = 0.0))]
    pub time_ns: f64,
    /// Whether this is the largest bound.
    pub is_binding: bool,
}

/// A measured time beside its bound.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Measured {
    /// The time.
    #[schemars(range(min = 0.0))]
    pub time_ns: f64,
    /// How many times the bound it is.
    #[schemars(range(min = 0.0))]
    pub gap: f64,
    /// How to read that.
    pub reading: Reading,
    /// The same in words.
    pub advice: String,
    /// The needed bytes over the time.
    #[schemars(range(min = 0.0))]
    pub bytes_per_s: Option<f64>,
    /// The same as a share of the bandwidth.
    #[schemars(range(min = 0.0))]
    pub bandwidth_share: Option<f64>,
    /// The needed operations of the busiest unit over the time.
    #[schemars(range(min = 0.0))]
    pub operations_per_s: Option<f64>,
    /// The same as a share of the peak of that unit.
    #[schemars(range(min = 0.0))]
    pub compute_share: Option<f64>,
    /// The unit of the rate of operations.
    pub operations_unit: Option<String>,
}

/// What work can be expected to take at the rates that one GPU reached: no lower bound, since the rates are those of
/// bursts of simple loops and of a library.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Attainable {
    /// Whose rates they are.
    pub ceilings: Provenance,
    /// One row for each bound. What was not measured is that of the table, as its origin says.
    pub bounds: Vec<Row>,
    /// The longest of their times.
    #[schemars(range(min = 0.0))]
    pub time_ns: f64,
    /// The one that binds.
    pub binding: BoundKind,
    /// The measured time over this one, where there is one.
    #[schemars(range(min = 0.0))]
    pub gap: Option<f64>,
}

impl Document {
    /// The bounds of work under ceilings, beside a measured time if there is one.
    ///
    /// # Errors
    /// Those of [`Bounds::of`].
    pub fn new(
        work: &Work,
        demand: Option<&Demand>,
        ceilings: &Ceilings<'_>,
        time: Option<Nanos>,
    ) -> Result<Self, BoundError> {
        // A bound is what no implementation passes: measured rates are no part of it.
        let table = Ceilings {
            measured: None,
            ..*ceilings
        };
        let bounds = Bounds::of(work, &table)?;
        let attainable = attainable(work, ceilings, &bounds, time)?;
        let device = ceilings.device;
        let mut remarks = bounds.remarks().to_vec();
        remarks.extend(caveats(work, &bounds, ceilings));
        Ok(Self {
            schema: SCHEMA,
            version: VERSION,
            device: DeviceName {
                name: device.name.clone(),
                compute_capability: device.capability.to_string(),
                confidence: device.confidence,
                doubts: Some(device.doubts.clone()).filter(|doubts| !doubts.is_empty()),
            },
            template: demand.map(template),
            bytes: work.bytes.map(|bytes| bytes.get()),
            operations: work.operations().map(|operations| operations.get()),
            bounds: rows(&bounds),
            lower_bound_ns: bounds.time().get(),
            binding: bounds.binding().kind,
            class: bounds.binding().kind.class().to_owned(),
            arithmetic_intensity: bounds.intensity().map(|intensity| intensity.get()),
            ridge_point: bounds.ridge_point().map(|intensity| intensity.get()),
            intensity_unit: intensity_unit(work).filter(|_| bounds.intensity().is_some()),
            measured: time.map(|time| measured(time, &bounds)),
            attainable,
            remarks,
        })
    }
}

fn intensity_unit(work: &Work) -> Option<String> {
    let is_integer = work.arithmetic.first()?.format.is_integer();
    let unit = if is_integer { "OP/byte" } else { "FLOP/byte" };
    Some(unit.to_owned())
}

fn template(demand: &Demand) -> Template {
    Template {
        name: demand.template.to_owned(),
        shape: demand.shape.clone(),
        bytes_formula: demand.bytes_formula.to_owned(),
        operations_formula: demand.operations_formula.to_owned(),
        traffic: demand
            .traffic
            .iter()
            .map(|part| Traffic {
                array: part.array.to_owned(),
                is_written: part.is_written,
                bytes: part.bytes.get(),
            })
            .collect(),
    }
}

fn rows(bounds: &Bounds) -> Vec<Row> {
    let row = |(place, bound): (usize, &Bound)| {
        let (rate, each) = match &bound.ceiling {
            Ceiling::Rate(rate) => (Some(rate), None),
            Ceiling::Each(time) => (None, Some(time.get())),
        };
        Row {
            kind: bound.kind,
            resource: bound.resource.clone(),
            demand: bound.demand.get(),
            demand_unit: bound.demand.unit().name().to_owned(),
            rate_per_s: rate.map(|rate| rate.get()),
            rate_unit: rate.map(|rate| rate.unit().name().to_owned()),
            each_ns: each,
            origin: bound.origin,
            time_ns: bound.time.get(),
            is_binding: place == bounds.binding_row(),
        }
    };
    bounds.rows().iter().enumerate().map(row).collect()
}

/// The same work at measured rates; absent where none of its rates was measured.
fn attainable(
    work: &Work,
    ceilings: &Ceilings<'_>,
    bounds: &Bounds,
    time: Option<Nanos>,
) -> Result<Option<Attainable>, BoundError> {
    let Some(own) = ceilings.measured else {
        return Ok(None);
    };
    let launches = work.launches.map(|launches| Launches {
        // What the user knows better stays.
        cost: match own.launch {
            Some(value) if launches.cost.origin == Origin::Documented => Fact {
                value,
                origin: own.origin(),
            },
            _ => launches.cost,
        },
        ..launches
    });
    let reached = Bounds::of(
        &Work {
            launches,
            ..work.clone()
        },
        ceilings,
    )?;
    if reached.rows() == bounds.rows() {
        return Ok(None);
    }
    Ok(Some(Attainable {
        ceilings: own.provenance.clone(),
        bounds: rows(&reached),
        time_ns: reached.time().get(),
        binding: reached.binding().kind,
        gap: time.map(|time| Gap::of(time, reached.time()).ratio().get()),
    }))
}

fn measured(time: Nanos, bounds: &Bounds) -> Measured {
    let gap = Gap::of(time, bounds.time());
    let longest = |kind| {
        let of_kind = bounds.rows().iter().filter(move |row| row.kind == kind);
        of_kind.max_by(|a, b| a.time.get().total_cmp(&b.time.get()))
    };
    let per_s = |row: &Bound| row.demand.get() / time.seconds();
    // Demand over time against demand over bound.
    let share = |row: &Bound| (row.time / time).get();
    let (memory, compute) = (longest(BoundKind::Bandwidth), longest(BoundKind::Compute));
    Measured {
        time_ns: time.get(),
        gap: gap.ratio().get(),
        reading: gap.reading(),
        advice: gap.reading().text().to_owned(),
        bytes_per_s: memory.map(per_s),
        bandwidth_share: memory.map(share),
        operations_per_s: compute.map(per_s),
        compute_share: compute.map(share),
        operations_unit: compute.map(|row| {
            let unit = Unit::new(format!("{}/s", row.demand.unit().name()));
            unit.name().to_owned()
        }),
    }
}

/// What makes the bounds less certain than they look.
fn caveats(work: &Work, bounds: &Bounds, ceilings: &Ceilings<'_>) -> Vec<String> {
    let device = ceilings.device;
    let mut remarks = Vec::new();
    remarks.extend(
        ceilings
            .clock
            .and_then(|clock| device.doubt_of_clock(clock)),
    );
    remarks.extend(fits_in_cache(work, bounds, device));
    remarks.extend(tensor_remarks(work, bounds, ceilings));
    if work.launches.is_none() && bounds.time() < Launches::TYPICAL_COST.value {
        remarks.push(format!(
            "this is less than a launch costs when many are queued, about {}: --launches adds that bound",
            Launches::TYPICAL_COST.value
        ));
    }
    if bounds
        .rows()
        .iter()
        .any(|row| row.kind == BoundKind::Launch && row.origin == Origin::Documented)
    {
        remarks.push(
            "what launches and waits cost is typical, not measured here: --launch-cost and --sync-cost change it"
                .to_owned(),
        );
    }
    if !work.transfers.is_empty() {
        remarks.push(
            "links are counted without the overhead of packets; copies from pinned memory reach about 88 % of that"
                .to_owned(),
        );
    }
    if device.confidence != Confidence::High && !device.doubts.is_empty() {
        remarks.push(format!(
            "the row of {} has {} confidence: {}",
            device.name,
            device.confidence.name(),
            device.doubts
        ));
    }
    remarks
}

fn fits_in_cache(work: &Work, bounds: &Bounds, device: &Device) -> Option<String> {
    let (bytes, l2) = work.bytes.zip(device.l2)?;
    let is_memory = bounds.binding().kind == BoundKind::Bandwidth;
    (is_memory && bytes < l2.value).then(|| {
        format!(
            "{} fit in the L2 of {}: repeated runs can be faster than the bandwidth bound",
            bytes.natural(),
            l2.value.binary()
        )
    })
}

/// What is to be known about a peak of tensor units.
fn tensor_remarks(work: &Work, bounds: &Bounds, ceilings: &Ceilings<'_>) -> Vec<String> {
    let is_compute = bounds.binding().kind == BoundKind::Compute;
    let matrix = work
        .arithmetic
        .iter()
        .find(|part| part.kind == ArithmeticKind::Matrix);
    let (Some(part), true, None, None) = (matrix, is_compute, ceilings.peak, ceilings.clock) else {
        return Vec::new();
    };
    let request = PeakRequest {
        format: part.format,
        accumulator: ceilings.accumulator,
        unit: ceilings.unit,
        is_sparse: ceilings.is_sparse,
    };
    let Some(peak) = ceilings.device.peak(request) else {
        return Vec::new();
    };
    if peak.unit != PeakUnit::Tensor {
        return Vec::new();
    }
    let clock = peak.clock.map(|clock| {
        format!(
            "the peak holds at {clock:.4}; under load the clock is often lower: --clock gives the bound at that of a run"
        )
    });
    let slower = ceilings.device.peak(request.on(PeakUnit::TensorWarp));
    let warp = slower.map(|slower| {
        format!(
            "instructions of one warp (mma.sync) reach {} at most: --unit mma-sync gives their bound",
            slower.amount()
        )
    });
    clock.into_iter().chain(warp).collect()
}
