//! What makes an answer less certain, said once for each input: how the counters were collected, and what follows.

use ridge_diagnose::document::{Source, SourceKind, Warning};
use ridge_model::quantity::Nanos;

/// Facts about the workloads of an input.
pub(crate) struct Facts<'n> {
    pub(crate) workloads: usize,
    pub(crate) mixtures: usize,
    pub(crate) without_samples: usize,
    pub(crate) unmeasured: usize,
    pub(crate) uneven: Uneven<'n>,
}

/// Kernels whose launches at one size take different times, so that one launch hardly stands for the others.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Uneven<'n> {
    kernels: usize,
    worst: Option<Spread<'n>>,
}

#[derive(Clone, Copy, Debug)]
struct Spread<'n> {
    name: &'n str,
    launches: usize,
    low_ns: f64,
    high_ns: f64,
}

impl Spread<'_> {
    fn share(&self) -> f64 {
        1.0 - self.low_ns / self.high_ns
    }
}

/// The same work under the same conditions repeats within a few per cent; clocks that are not held move it by up to a
/// fifth.
const UNEVEN: f64 = 0.25;
/// In shorter launches, a tick of the timer and the launch itself make such a difference.
const LONG_ENOUGH_NS: f64 = 5_000.0;

impl<'n> Uneven<'n> {
    /// Looks at the durations of one more kernel.
    pub(crate) fn with(mut self, name: &'n str, durations: impl Iterator<Item = f64>) -> Self {
        let (mut launches, mut low_ns, mut high_ns) = (0, f64::INFINITY, 0.0_f64);
        for duration in durations {
            launches += 1;
            low_ns = low_ns.min(duration);
            high_ns = high_ns.max(duration);
        }
        let spread = Spread {
            name,
            launches,
            low_ns,
            high_ns,
        };
        if launches > 1 && high_ns >= LONG_ENOUGH_NS && spread.share() > UNEVEN {
            self.kernels += 1;
            if self
                .worst
                .is_none_or(|worst| worst.share() < spread.share())
            {
                self.worst = Some(spread);
            }
        }
        self
    }

    fn message(&self) -> Option<String> {
        let worst = self.worst?;
        let others = match self.kernels - 1 {
            0 => String::new(),
            1 => " (and one more kernel differs so)".to_owned(),
            more => format!(" (and {more} more kernels differ so)"),
        };
        Some(format!(
            "launches of one kernel at one size take different times: {} launches of {} took {} to {}{others}; the one with the median duration was diagnosed, --launch N looks at another; clocks, caches or the data can cause it",
            worst.launches,
            worst.name,
            Nanos::new(worst.low_ns),
            Nanos::new(worst.high_ns),
        ))
    }
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

/// The code of what is said where clocks were not held.
pub(crate) const CLOCK_NOT_HELD: &str = "clock-not-held";

pub(crate) fn caveats(source: &Source, facts: &Facts<'_>) -> Vec<Warning> {
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
        add(CLOCK_NOT_HELD, message);
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
    if let Some(message) = facts.uneven.message() {
        add("launches-differ", message);
    }
    if facts.mixtures > 0 {
        add(
            "mixture",
            format!(
                "{} of {} results {} counters mix several kernels, and what limits the mixture need not limit any of them; profile the kernels one by one (--graph-profiling node)",
                facts.mixtures,
                facts.workloads,
                one_or(
                    facts.mixtures,
                    "is a range or graph: its",
                    "are ranges or graphs: their"
                )
            ),
        );
    }
    if facts.unmeasured > 0 {
        add(
            "not-measured",
            format!(
                "{} of {} launches {} no counters: the profiler was stopped or failed meanwhile; profile again",
                facts.unmeasured,
                facts.workloads,
                one_or(facts.unmeasured, "has", "have")
            ),
        );
    }
    if facts.without_samples > 0 {
        add(
            "no-samples",
            format!(
                "{} of {} kernels {} too short to be sampled: no source lines can be named for {}",
                facts.without_samples,
                facts.workloads,
                one_or(facts.without_samples, "was", "were"),
                one_or(facts.without_samples, "it", "them")
            ),
        );
    }
    warnings
}

/// The words for one, or for more.
const fn one_or(count: usize, one: &'static str, more: &'static str) -> &'static str {
    if count == 1 { one } else { more }
}

fn clock_message(source: &Source) -> Option<String> {
    let seen = seen_clock(source).map(|clock| format!("; the SM clock was {clock}"));
    (!is_clock_held(source)).then(|| not_held(&seen.unwrap_or_default()))
}

/// The same of two inputs of which neither held its clock, where each has its own.
pub(crate) fn clock_messages(before: &Source, after: &Source) -> Option<String> {
    if is_clock_held(before) || is_clock_held(after) {
        return None;
    }
    let (was, is) = (seen_clock(before)?, seen_clock(after)?);
    Some(not_held(&format!(
        "; the SM clock was {was} before and {is} after"
    )))
}

fn is_clock_held(source: &Source) -> bool {
    let collection = &source.collection;
    let is_free = collection.clock_was_held == Some(false)
        || collection
            .clock_control
            .as_deref()
            .is_some_and(|control| matches!(control, "none" | "reset"));
    !is_free
}

fn seen_clock(source: &Source) -> Option<String> {
    source.collection.sm_clock_hz.map(|(low, high)| {
        if high - low > CLOCK_SPREAD * high {
            format!("between {:.2} and {:.2} GHz", low / 1e9, high / 1e9)
        } else {
            format!("{:.2} GHz throughout", high / 1e9)
        }
    })
}

fn not_held(seen: &str) -> String {
    format!(
        "the clocks were not held (--clock-control none){seen}: durations are those of production, but differ from run to run; shares of peaks are taken at the clock of each kernel"
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_that_repeat_are_no_caveat() {
        let uneven = Uneven::default()
            .with("one", [9_000.0].into_iter())
            .with("none", std::iter::empty())
            .with("close", [9_000.0, 10_000.0].into_iter())
            .with("short", [1_000.0, 2_000.0].into_iter());
        assert_eq!(uneven.message(), None);
        let message = uneven
            .with("wide", [9_000.0, 15_000.0].into_iter())
            .with("wider", [9_000.0, 9_100.0, 30_000.0].into_iter())
            .message()
            .unwrap();
        assert!(
            message.contains("3 launches of wider took 9.00 us to 30.0 us (and one more kernel"),
            "{message}"
        );
    }
}
