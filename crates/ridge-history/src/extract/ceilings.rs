//! Ceilings: what a GPU reaches.

use serde::Deserialize;
use serde_json::Value;

use super::{Facts, Machine, parts};

#[derive(Deserialize)]
pub(super) struct Document {
    tool_version: Option<String>,
    #[serde(default)]
    machine: Machine,
    #[serde(default)]
    figures: Vec<Value>,
}

#[derive(Deserialize)]
struct Figure {
    id: String,
    unit: String,
    burst: Option<Spread>,
    sustained: Option<Spread>,
}

#[derive(Deserialize)]
struct Spread {
    median: Option<f64>,
    repeats: Option<u64>,
    sm_clock_hz: Option<f64>,
}

impl Document {
    pub(super) fn add_to(self, facts: &mut Facts) {
        self.machine.add_to(facts);
        facts.tool_version = self.tool_version;
        let mut clocks = Vec::new();
        for figure in parts::<Figure>(self.figures) {
            for (metric, spread) in [("burst", figure.burst), ("sustained", figure.sustained)] {
                let Some(spread) = spread else { continue };
                clocks.push(spread.sm_clock_hz);
                let before = facts.points.len();
                facts.add(&figure.id, metric, &figure.unit, spread.median);
                if let Some(point) = facts.points.get_mut(before) {
                    point.samples = spread.repeats;
                }
            }
        }
        facts.set_clock(clocks.into_iter());
    }
}
