//! What the time of a run went to.

use std::time::Duration;

use ridge_bench::document::{ModeResult, StateResult};
use ridge_model::quantity::Nanos;

/// What time went to outside of the states, as the clock of this process has it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    /// Starting the process that works on the GPU.
    pub(super) start: Duration,
    /// Opening the GPU there: driver, context, libraries.
    pub(super) open: Duration,
    /// Measuring what nothing costs.
    pub(super) floors: Duration,
    /// Ending that process.
    pub(super) end: Duration,
    /// The run.
    pub(super) all: Duration,
}

impl Times {
    /// A line that names each part; those of states that have no times are in the rest.
    pub(super) fn words(&self, states: &[StateResult]) -> String {
        let before = |part: fn(&ridge_bench::protocol::Spent) -> f64| -> f64 {
            let spent = states.iter().filter_map(|state| state.spent.as_ref());
            spent.map(part).sum()
        };
        let modes = |part: fn(&ModeResult) -> f64| -> f64 {
            states.iter().flat_map(|state| &state.modes).map(part).sum()
        };
        let nanos = |time: Duration| time.as_nanos() as f64;
        let parts = [
            (nanos(self.start), "the start of the worker"),
            (nanos(self.open), "opening the GPU"),
            (nanos(self.floors), "floors"),
            (before(|spent| spent.image_ns), "images"),
            (before(|spent| spent.reference_ns), "the reference"),
            (before(|spent| spent.inputs_ns), "inputs"),
            (before(|spent| spent.first_launches_ns), "first launches"),
            (modes(|mode| mode.warm_up.time_ns), "warm-up"),
            (modes(|mode| mode.sampling_ns.unwrap_or(0.0)), "sampling"),
            (
                modes(|mode| mode.beside_ns.unwrap_or(0.0)),
                "looking at outputs and new inputs",
            ),
            (nanos(self.end), "the end of the worker"),
        ];
        let told: f64 = parts.iter().map(|(time, _)| time).sum();
        let mut words: Vec<String> = parts
            .iter()
            .map(|(time, what)| format!("{} {what}", Nanos::new(*time)))
            .collect();
        // The clock of a simulated device is not that of this process.
        let rest = nanos(self.all) - told;
        if rest > 0.0 {
            words.push(format!("{} the rest", Nanos::new(rest)));
        }
        format!(
            "{} in all: {}",
            Nanos::new(nanos(self.all)),
            words.join(", ")
        )
    }
}
