//! What was measured on a GPU of this kind, beside what a launch did.

use ridge_model::device::Origin;
use ridge_model::measured::Provenance;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a launch takes at rates that were measured before: by `ridge ceilings`, on a GPU of this kind.
///
/// It changes no bound and no finding: those are against the peaks of the report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AtMeasured {
    /// Whose rates they are, and when and with what they were measured.
    pub by: Provenance,
    /// What the launch did, each part at its rate, longest first.
    pub parts: Vec<MeasuredPart>,
    /// The longest of them: what the launch could attain if nothing but that part took time.
    #[schemars(range(min = 0.0))]
    pub attainable_ns: Option<f64>,
    /// That over the duration: above 1 where the launch is faster than what was measured, such as one that only reads
    /// against the bandwidth of a copy.
    #[schemars(range(min = 0.0))]
    pub share: Option<f64>,
    /// What was given as compulsory, each part at its rate; empty when nothing was given.
    pub compulsory: Vec<MeasuredPart>,
    /// The longest of these, beside the lower bound at the peaks.
    #[schemars(range(min = 0.0))]
    pub compulsory_attainable_ns: Option<f64>,
}

/// An amount of one kind at the rate that was measured of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredPart {
    /// What it is of: a memory such as `DRAM`, or arithmetic such as `FP32 vector`.
    pub what: String,
    /// The amount.
    pub amount: f64,
    /// Its unit: `byte` or `operation`.
    pub unit: String,
    /// The rate in that unit a second.
    pub per_s: f64,
    /// The SM clock that the rate was measured at, where it depends on one.
    pub sm_clock_hz: Option<f64>,
    /// The amount at the rate.
    pub time_ns: f64,
    /// Where the rate is known from: `measured`, or `derived` of a simulated device.
    pub origin: Origin,
    /// The counters behind the amount; none for one that was given.
    pub source: Vec<String>,
}
