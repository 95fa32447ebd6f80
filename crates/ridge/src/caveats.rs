//! What makes an answer less certain, said once for each input: how the counters were collected, and what follows.

use ridge_diagnose::document::{Source, SourceKind, Warning};

/// Facts about the workloads of an input.
pub(crate) struct Facts {
    pub(crate) workloads: usize,
    pub(crate) mixtures: usize,
    pub(crate) without_samples: usize,
}

/// A clock that differs by more than this over the kernels of a report makes their durations hard to compare.
const CLOCK_SPREAD: f64 = 0.02;
/// Sections that a whole answer rests on.
const WANTED_SECTIONS: &[(&str, &str)] = &[
    ("SpeedOfLight", "how far each kernel is from its limit"),
    (
        "MemoryWorkloadAnalysis_Tables",
        "the resource ledger of the memory side",
    ),
    ("WarpStateStats", "what warps wait for"),
    ("InstructionStats", "the resource ledger of the pipes"),
    (
        "SourceCounters",
        "access patterns, and which lines they are in",
    ),
];

pub(crate) fn caveats(source: &Source, facts: &Facts) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut add = |code: &str, message: String| {
        warnings.push(Warning {
            code: code.to_owned(),
            message,
            source: Some(source.id),
            offset: None,
            field: None,
        });
    };
    if facts.workloads == 0 {
        return warnings;
    }
    if let Some(message) = clock_message(source) {
        add("clock-not-held", message);
    }
    if let Some(message) = partial_message(source) {
        add("partial-set", message);
    }
    if source.kind == SourceKind::NcuCsv {
        add(
            "csv-input",
            "a CSV export holds less than the report: no line tables, no clock state; pass the .ncu-rep file for the whole answer".to_owned(),
        );
    }
    if source.collection.cache_control.as_deref() == Some("none") {
        add(
            "caches-not-flushed",
            "caches were left as they were (--cache-control none): each pass may find other data in them, so counters of different passes can disagree".to_owned(),
        );
    }
    if facts.mixtures > 0 {
        add(
            "mixture",
            format!(
                "{} of {} results are ranges or graphs: their counters mix several kernels, and what limits the mixture need not limit any of them; profile the kernels one by one (--graph-profiling node)",
                facts.mixtures, facts.workloads
            ),
        );
    }
    if facts.without_samples > 0 {
        add(
            "no-samples",
            format!(
                "{} of {} kernels were too short to be sampled: no source lines can be named for them",
                facts.without_samples, facts.workloads
            ),
        );
    }
    warnings
}

fn clock_message(source: &Source) -> Option<String> {
    let collection = &source.collection;
    let not_held = collection.clock_was_held == Some(false)
        || collection
            .clock_control
            .as_deref()
            .is_some_and(|control| matches!(control, "none" | "reset"));
    if !not_held {
        return None;
    }
    let seen = collection.sm_clock_hz.map(|(low, high)| {
        if high - low > CLOCK_SPREAD * high {
            format!(
                "; the SM clock was between {:.2} and {:.2} GHz",
                low / 1e9,
                high / 1e9
            )
        } else {
            format!("; the SM clock was {:.2} GHz throughout", high / 1e9)
        }
    });
    Some(format!(
        "the clocks were not held (--clock-control none){}: durations are those of production, but differ from run to run; shares of peaks are taken at the clock of each kernel",
        seen.unwrap_or_default()
    ))
}

fn partial_message(source: &Source) -> Option<String> {
    let sections = &source.collection.sections;
    if sections.is_empty() {
        return None;
    }
    let missing: Vec<&(&str, &str)> = WANTED_SECTIONS
        .iter()
        .filter(|(section, _)| !sections.iter().any(|known| known == section))
        .collect();
    if missing.is_empty() {
        return None;
    }
    let list: Vec<String> = missing
        .iter()
        .map(|(section, answers)| format!("{section} ({answers})"))
        .collect();
    Some(format!(
        "the report does not hold every section; missing: {}",
        list.join(", ")
    ))
}
