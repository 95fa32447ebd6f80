//! Benchmarks: times of states, and what their kernels need.

use serde::Deserialize;
use serde_json::Value;

use super::{Facts, Machine, parts};
use crate::Point;

#[derive(Deserialize)]
pub(super) struct Document {
    benchmark: Option<String>,
    tool_version: Option<String>,
    #[serde(default)]
    machine: Machine,
    #[serde(default)]
    specs: Vec<Value>,
    #[serde(default)]
    states: Vec<Value>,
}

#[derive(Deserialize)]
struct Spec {
    benchmark: String,
}

#[derive(Deserialize)]
struct State {
    name: String,
    spec: Option<usize>,
    status: String,
    #[serde(default)]
    modes: Vec<Value>,
    #[serde(default)]
    functions: Vec<Value>,
}

#[derive(Deserialize)]
struct Mode {
    mode: String,
    #[serde(default)]
    invalid: Vec<Value>,
    samples: Option<u64>,
    median_ns: Option<f64>,
    lower_ns: Option<f64>,
    upper_ns: Option<f64>,
    clock_hz: Option<f64>,
    placement: Option<Placement>,
}

#[derive(Deserialize)]
struct Placement {
    share: Option<f64>,
}

#[derive(Deserialize)]
struct Function {
    registers: Option<f64>,
    local_bytes: Option<f64>,
}

impl Document {
    pub(super) fn add_to(self, facts: &mut Facts) {
        self.machine.add_to(facts);
        facts.tool_version = self.tool_version;
        let specs: Vec<Option<Spec>> = self
            .specs
            .into_iter()
            .map(|spec| serde_json::from_value(spec).ok())
            .collect();
        let whole = self.benchmark.unwrap_or_default();
        let mut clocks = Vec::new();
        for state in parts::<State>(self.states) {
            let spec = state.spec.and_then(|place| specs.get(place)?.as_ref());
            let benchmark = spec.map_or(whole.as_str(), |spec| spec.benchmark.as_str());
            let subject = format!("{benchmark}/{}", state.name);
            let functions: Vec<Function> = parts(state.functions).collect();
            // A state is as narrow as the kernel of it that needs most.
            let most = |need: fn(&Function) -> Option<f64>| {
                functions.iter().filter_map(need).reduce(f64::max)
            };
            facts.add(&subject, "registers", "registers", most(|of| of.registers));
            facts.add(&subject, "local_memory", "bytes", most(|of| of.local_bytes));
            for mode in parts::<Mode>(state.modes) {
                clocks.push(mode.clock_hz);
                // A time that is not valid is no result; neither is that of a wrong answer.
                if state.status == "valid" || state.status == "invalid" {
                    mode.add_to(&subject, facts);
                }
            }
        }
        facts.name = Some(whole).filter(|name| !name.is_empty());
        facts.set_clock(clocks.into_iter());
    }
}

impl Mode {
    fn add_to(self, subject: &str, facts: &mut Facts) {
        if !self.invalid.is_empty() {
            return;
        }
        if let Some(value) = self.median_ns {
            facts.points.push(Point {
                subject: subject.to_owned(),
                metric: format!("time.{}", self.mode),
                unit: "ns".to_owned(),
                value,
                low: self.lower_ns,
                high: self.upper_ns,
                samples: self.samples,
            });
        }
        let share = self.placement.and_then(|placement| placement.share);
        facts.add(
            subject,
            format!("share_of_bound.{}", self.mode),
            "fraction",
            share,
        );
    }
}
