//! The parts of a document of several specs, each as a document of its own.

use ridge_bench::document::{Document, Raw, SpecResult, StateResult};

/// One spec with its states. Samples, which no page shows, are left behind.
pub(super) struct Part<'d> {
    pub(super) spec: &'d SpecResult,
    pub(super) document: Document,
}

/// The parts; none where there is one spec only.
pub(super) fn parts(document: &Document) -> Vec<Part<'_>> {
    let part = |(place, spec): (usize, &'_ SpecResult)| {
        let states = document.states.iter();
        let best = document.best.iter();
        Document {
            benchmark: spec.benchmark.clone(),
            note: spec.note.clone(),
            specs: Vec::new(),
            states: states
                .filter(|state| state.spec == Some(place))
                .map(without_samples)
                .collect(),
            best: best
                .filter(|best| best.spec == Some(place))
                .cloned()
                .collect(),
            schema: document.schema.clone(),
            tool_version: document.tool_version.clone(),
            machine: document.machine.clone(),
            settings: document.settings.clone(),
            ceilings: document.ceilings.clone(),
            version: document.version,
            is_complete: document.is_complete,
            floors: document.floors,
        }
    };
    let specs = document.specs.iter().enumerate();
    specs
        .map(|(place, spec)| Part {
            spec,
            document: part((place, spec)),
        })
        .collect()
}

fn without_samples(state: &StateResult) -> StateResult {
    let none = || Raw {
        times_ns: Vec::new(),
        host_ns: Vec::new(),
        clocks_hz: Vec::new(),
        rejected: Vec::new(),
    };
    let mut state = state.clone();
    for mode in &mut state.modes {
        mode.raw = none();
    }
    state
}
