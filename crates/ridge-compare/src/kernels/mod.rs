//! Kernels before and after a change: which belong together, whether each is faster, and why.
//!
//! Duration and ledger decide. Stall reasons and issue rates explain the mechanism: a kernel that issues less often and
//! whose warps wait longer may have so few instructions left that it is faster all the same.

mod circumstances;
pub mod document;
mod flaws;
mod ledger;
mod limiter;
pub mod matching;
mod similarity;
mod sizes;
mod time;
mod verify;
mod worse;

use ridge_diagnose::document::{Document, Kernel, Source};
use ridge_stats::Rules;

use self::document::{Alone, Input, KernelPair, KernelRef, Kernels, Totals, Warning};
use self::matching::{Key, Pair, Pairs};
use crate::document::Note;

pub(crate) use self::flaws::gone;
pub use self::time::{Clean, CleanTimes};
pub(crate) use self::time::{SAME_MEASUREMENT, of_clean, one_span};

/// What to compare.
pub struct Question<'d> {
    /// The diagnosis before.
    pub before: &'d Document,
    /// The diagnosis after.
    pub after: &'d Document,
    /// Whether both are of the same bytes.
    pub is_same_input: bool,
    /// Names, or whole names, that belong together.
    pub given: &'d [(&'d str, &'d str)],
    /// Times that were taken without counting, the best first.
    pub clean: &'d [CleanTimes],
    /// What a verdict asks for.
    pub rules: Rules,
}

/// The answer.
pub struct Answer {
    /// Kernels and what became of them.
    pub kernels: Kernels,
    /// What makes all of it less certain.
    pub warnings: Vec<Note>,
    /// Pairs by hand of which a name is not there: the place in the list, and whether it is the one before.
    pub not_found: Vec<(usize, bool)>,
}

/// Compares all kernels.
#[must_use]
pub fn compare(question: &Question<'_>) -> Answer {
    let (before, after) = (question.before, question.after);
    let keys = |document: &'_ Document| -> Vec<Weight> {
        document.kernels.iter().map(Weight::of).collect()
    };
    let (ours, theirs) = (keys(before), keys(after));
    let found = matching::pairs(
        &with_names(before, &ours),
        &with_names(after, &theirs),
        question.given,
    );
    let mut warnings = Vec::new();
    let mut pairs: Vec<KernelPair> = found
        .pairs
        .iter()
        .map(|pair| one(question, pair, &mut warnings))
        .collect();
    let total = |kernel: Option<&Kernel>| kernel.and_then(total_ns).unwrap_or(0.0);
    pairs.sort_by(|a, b| {
        let of = |pair: &KernelPair| total(before.kernels.get(pair.before.index));
        of(b).total_cmp(&of(a))
    });
    if found.is_limited {
        warnings.push(Note::too_many_names());
    }
    Answer {
        kernels: Kernels {
            before: inputs(&before.sources),
            after: inputs(&after.sources),
            pairs,
            only_before: alone(before, &found.before),
            only_after: alone(after, &found.after),
            totals: totals(before, after, &found),
        },
        warnings,
        not_found: found.not_found,
    }
}

/// What a kernel takes in its input.
struct Weight(f64);

impl Weight {
    fn of(kernel: &Kernel) -> Self {
        Self(total_ns(kernel).unwrap_or(0.0))
    }
}

fn with_names<'d>(document: &'d Document, weights: &[Weight]) -> Vec<Key<'d>> {
    document
        .kernels
        .iter()
        .zip(weights)
        .map(|(kernel, weight)| Key {
            name: &kernel.name,
            signature: &kernel.signature,
            grid: kernel.grid,
            block: kernel.block,
            weight: weight.0,
        })
        .collect()
}

/// Counters that agree to the last digit in two runs by chance: fewer are no sign that it is one.
const LEAST_COUNTERS: usize = 16;

/// Whether two kernels of recorded diagnoses, of which the bytes of the report are gone, are one measurement: everything that is known of them is the same, and that is more than two runs agree in.
pub(crate) fn is_same_measurement(before: &Kernel, after: &Kernel) -> bool {
    let known = |kernel: &Kernel| {
        let mut value = serde_json::to_value(kernel).ok()?;
        // The place in the list of inputs is of the document, not of the kernel.
        value.as_object_mut()?.remove("source");
        Some(value)
    };
    before.counters.len() >= LEAST_COUNTERS
        && before.duration_ns == after.duration_ns
        && known(before).is_some_and(|value| known(after) == Some(value))
}

/// The time of all launches; as it was timed apart from the counters, where it was.
fn total_ns(kernel: &Kernel) -> Option<f64> {
    let all: Option<f64> = kernel
        .launches
        .iter()
        .map(|launch| launch.duration_ns)
        .sum();
    kernel.timed.map(|timed| timed.total_ns).or(all)
}

fn inputs(sources: &[Source]) -> Vec<Input> {
    let input = |source: &Source| Input {
        file: source.file.clone(),
        kind: source.kind,
        profiler_version: source.profiler_version.clone(),
        devices: source
            .devices
            .iter()
            .filter_map(|device| device.name.clone())
            .collect(),
    };
    sources.iter().map(input).collect()
}

fn reference(document: &Document, index: usize) -> Option<KernelRef> {
    let kernel = document.kernels.get(index)?;
    Some(KernelRef {
        index,
        input: kernel.source,
        name: kernel.name.clone(),
        signature: kernel.signature.clone(),
        grid: kernel.grid,
        block: kernel.block,
        launches: kernel
            .timed
            .map_or(kernel.launches.len() as u64, |timed| timed.launches),
        launch: kernel.diagnosed_launch,
    })
}

fn alone(document: &Document, places: &[usize]) -> Vec<Alone> {
    let mut list: Vec<Alone> = places
        .iter()
        .filter_map(|place| {
            Some(Alone {
                kernel: reference(document, *place)?,
                total_ns: document.kernels.get(*place).and_then(total_ns),
            })
        })
        .collect();
    list.sort_by(|a, b| {
        b.total_ns
            .unwrap_or(0.0)
            .total_cmp(&a.total_ns.unwrap_or(0.0))
    });
    list
}

fn totals(before: &Document, after: &Document, found: &Pairs) -> Totals {
    let all = |document: &Document| document.kernels.iter().map(total_ns).sum();
    let of = |document: &Document, places: &mut dyn Iterator<Item = usize>| {
        places
            .map(|place| total_ns(document.kernels.get(place)?))
            .sum()
    };
    Totals {
        before_ns: all(before),
        after_ns: all(after),
        paired_before_ns: of(before, &mut found.pairs.iter().map(|pair| pair.before)),
        paired_after_ns: of(after, &mut found.pairs.iter().map(|pair| pair.after)),
    }
}

/// Compares one pair. What is about its inputs is added to the warnings once.
fn one(question: &Question<'_>, pair: &Pair, warnings: &mut Vec<Note>) -> KernelPair {
    // The places come from these lists.
    let (before, after) = (
        &question.before.kernels[pair.before],
        &question.after.kernels[pair.after],
    );
    let sources = question
        .before
        .sources
        .get(before.source)
        .zip(question.after.sources.get(after.source));
    let of_sources: Vec<Warning> = sources.map_or_else(Vec::new, |(one, other)| {
        circumstances::of_sources(one, other)
    });
    for warning in &of_sources {
        let note = Note::of(warning);
        if !warnings.contains(&note) {
            warnings.push(note);
        }
    }
    let (mut of_pair, mut circumstances) = circumstances::of_pair(before, after);
    circumstances.is_same_measurement = question.is_same_input
        && before
            .launches
            .iter()
            .map(|launch| launch.index)
            .eq(after.launches.iter().map(|launch| launch.index));
    let (time, of_times) = time::time(
        before,
        after,
        question.clean,
        &circumstances,
        &question.rules,
    );
    of_pair.extend(of_times);
    let flaws = flaws::flaws(before, after);
    let ledger = ledger::rows(before, after);
    KernelPair {
        limiter: limiter::change(before, after, &flaws),
        worse: worse::worse(before, after, &ledger, &flaws),
        mechanism: worse::mechanism(before, after),
        work: worse::work(before, after),
        left: limiter::left(after),
        // The places come from these lists.
        before: reference(question.before, pair.before).expect("the kernel is there"),
        after: reference(question.after, pair.after).expect("the kernel is there"),
        matched_by: pair.rule,
        similarity: pair.similarity,
        warnings: of_pair,
        time,
        ledger,
        flaws,
    }
}
