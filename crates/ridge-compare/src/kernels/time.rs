//! Whether a kernel is faster, from the best times that there are.

use ridge_diagnose::document::Kernel;
use ridge_stats::{Comparison, Rules, Samples, compare_runs};

use super::document::{Time, TimeOrigin, Warning};
use super::sizes;
use crate::verdict::Verdict;

/// Medians of the SM clock that differ by more than this are two settings (section 12 of the measurement notes).
pub(super) const CLOCK_TOLERANCE: f64 = 0.02;

/// Why there is nothing to compare.
pub(crate) const SAME_MEASUREMENT: &str =
    "both sides are the same launches of the same file: one measurement";

/// What to do about profiler durations.
const MEASURE: &str = "time both versions without the profiler, `ridge bench` of each, and give the results with --times BEFORE.json AFTER.json";

/// What to do about clean times that do not suffice.
const MEASURE_AGAIN: &str = "measure each version several times in processes of their own, and give all results: --times BEFORE.json AFTER.json, once for each run";

/// Times of one kernel that were taken without counting anything.
#[derive(Clone, Debug, PartialEq)]
pub struct Clean {
    /// Name of the kernel.
    pub name: String,
    /// Blocks of the grid, where they are known.
    pub grid: Option<[u32; 3]>,
    /// Threads of a block, where they are known.
    pub block: Option<[u32; 3]>,
    /// What the times are of beside the name, for messages.
    pub label: String,
    /// The times of each run in their order, in nanoseconds. A run is a process that was started for it.
    pub runs_ns: Vec<Vec<f64>>,
    /// The smallest difference that the timer can show.
    pub step_ns: Option<f64>,
    /// Median SM clock.
    pub clock_hz: Option<f64>,
    /// Bytes that the work has to move, where somebody said.
    pub bytes: Option<f64>,
    /// Operations that it has to do.
    pub flops: Option<f64>,
    /// Why these times are no result.
    pub invalid: Option<String>,
}

/// Times of both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct CleanTimes {
    /// What they are from.
    pub origin: TimeOrigin,
    /// Before.
    pub before: Vec<Clean>,
    /// After.
    pub after: Vec<Clean>,
    /// Why the two are not comparable, whatever the kernel.
    pub invalid: Option<String>,
}

impl CleanTimes {
    /// The times of a pair: of that name and size on both sides, else of that name where there is one only.
    fn of(&self, before: &Kernel, after: &Kernel) -> Option<(&Clean, &Clean)> {
        Some((find(&self.before, before)?, find(&self.after, after)?))
    }
}

fn find<'c>(list: &'c [Clean], kernel: &Kernel) -> Option<&'c Clean> {
    let mut named = list
        .iter()
        .filter(|clean| clean.name == kernel.name || clean.name == kernel.signature);
    let of_size = |clean: &&Clean| clean.grid == kernel.grid && clean.block == kernel.block;
    if let Some(exact) = named.clone().find(of_size) {
        return Some(exact);
    }
    match (named.next(), named.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// What is known of a pair before its times are looked at.
pub(super) struct Circumstances {
    /// Why the durations of the profiler are not comparable.
    pub(super) invalid: Option<String>,
    /// Whether both sides are the same launches of the same file.
    pub(super) is_same_measurement: bool,
}

/// Compares the times of a pair.
pub(super) fn time(
    before: &Kernel,
    after: &Kernel,
    clean: &[CleanTimes],
    circumstances: &Circumstances,
    rules: &Rules,
) -> (Time, Vec<Warning>) {
    for times in clean {
        if let Some((one, other)) = times.of(before, after) {
            let time = of_clean(one, other, times, rules);
            let found = sizes::check((before, after), (one, other), &time);
            let time = match found.invalid {
                Some(reason) if time.verdict != Verdict::Invalid => {
                    let mut time = time;
                    let circumstances = Circumstances {
                        invalid: Some(reason),
                        is_same_measurement: false,
                    };
                    time.next_step = None;
                    finish(&mut time, &circumstances);
                    time
                }
                _ => time,
            };
            return (time, found.warnings);
        }
    }
    if circumstances.is_same_measurement {
        return (same(before), Vec::new());
    }
    let mut time = match (before.timed, after.timed) {
        (Some(one), Some(other)) => Time {
            before_ns: Some(one.median_ns),
            after_ns: Some(other.median_ns),
            samples_before: one.launches,
            samples_after: other.launches,
            reasons: vec![
                "the times are medians of one run of the profiler on each side: how far two such runs of one version differ is not known".to_owned(),
            ],
            ..empty(TimeOrigin::TimingPass)
        },
        _ => of_profiler(before, after, rules),
    };
    time.clock_before_hz = clock(before);
    time.clock_after_hz = clock(after);
    finish(&mut time, circumstances);
    (time, Vec::new())
}

/// Everything that the circumstances say about durations of the profiler.
fn finish(time: &mut Time, circumstances: &Circumstances) {
    time.ratio = time
        .before_ns
        .zip(time.after_ns)
        .filter(|(before, _)| *before > 0.0)
        .map(|(before, after)| after / before);
    if let Some(reason) = &circumstances.invalid {
        time.verdict = Verdict::Invalid;
        time.reasons = vec![reason.clone()];
        (time.ratio, time.lower, time.upper) = (None, None, None);
    }
    time.cycles_ratio = time
        .ratio
        .zip(time.clock_before_hz.zip(time.clock_after_hz))
        .map(|(ratio, (before, after))| ratio * after / before);
    if time.verdict == Verdict::Ambiguous {
        time.next_step = Some(MEASURE.to_owned());
    }
}

fn clock(kernel: &Kernel) -> Option<f64> {
    kernel.sm_clock_hz.filter(|clock| *clock > 0.0)
}

pub(super) fn counter(kernel: &Kernel, metric: &str) -> Option<f64> {
    let place = kernel
        .counters
        .binary_search_by(|counter| counter.metric.as_str().cmp(metric));
    // A document that somebody else wrote may have another order.
    let found = match place {
        Ok(place) => kernel.counters.get(place),
        Err(_) => kernel
            .counters
            .iter()
            .find(|counter| counter.metric == metric),
    };
    found.map(|counter| counter.value)
}

/// The same launches of the same file are one measurement: there is nothing to compare.
fn same(kernel: &Kernel) -> Time {
    let samples = kernel
        .launches
        .iter()
        .filter(|launch| launch.duration_ns.is_some())
        .count() as u64;
    Time {
        verdict: Verdict::Same,
        before_ns: kernel.duration_ns,
        after_ns: kernel.duration_ns,
        samples_before: samples,
        samples_after: samples,
        ratio: kernel.duration_ns.map(|_| 1.0),
        clock_before_hz: clock(kernel),
        clock_after_hz: clock(kernel),
        cycles_ratio: kernel.duration_ns.map(|_| 1.0),
        reasons: vec![SAME_MEASUREMENT.to_owned()],
        ..empty(TimeOrigin::Profiler)
    }
}

fn of_profiler(before: &Kernel, after: &Kernel, rules: &Rules) -> Time {
    let durations = |kernel: &Kernel| -> Vec<f64> {
        kernel
            .launches
            .iter()
            .filter_map(|launch| launch.duration_ns)
            .collect()
    };
    let (one, other) = (durations(before), durations(after));
    let mut time = Time {
        before_ns: before.duration_ns,
        after_ns: after.duration_ns,
        samples_before: one.len() as u64,
        samples_after: other.len() as u64,
        ..empty(TimeOrigin::Profiler)
    };
    if one.is_empty() || other.is_empty() {
        let side = if one.is_empty() { "before" } else { "after" };
        time.reasons
            .push(format!("the duration {side} is not known"));
        return time;
    }
    if one.len().min(other.len()) == 1 {
        time.reasons.push(match one.len().max(other.len()) {
            1 => "one duration of the profiler on each side: how far two of one version differ is not known".to_owned(),
            _ => "one duration of the profiler on one side: how far two of one version differ is not known".to_owned(),
        });
        return time;
    }
    // The profiler held its launches apart, so that they are samples; they are of one process, without control.
    if let (Ok(one), Ok(other)) = (Samples::new(one), Samples::new(other))
        && let Ok(found) = compare_runs(&[one], &[other], rules)
    {
        add(&mut time, &found);
    }
    time.verdict = Verdict::Ambiguous;
    time.reasons.insert(
        0,
        "durations of one run of the profiler on each side, at its clocks and with its flushes of the caches".to_owned(),
    );
    time
}

/// Compares times that were taken without counting.
pub(crate) fn of_clean(one: &Clean, other: &Clean, times: &CleanTimes, rules: &Rules) -> Time {
    let (a, b) = (runs(one), runs(other));
    let count = |clean: &Clean| clean.runs_ns.iter().map(|run| run.len() as u64).sum();
    let mut time = Time {
        before_ns: a.as_deref().map(centre),
        after_ns: b.as_deref().map(centre),
        samples_before: count(one),
        samples_after: count(other),
        clock_before_hz: one.clock_hz,
        clock_after_hz: other.clock_hz,
        ..empty(times.origin)
    };
    let broken = [(one, "before"), (other, "after")]
        .into_iter()
        .find_map(|(clean, side)| {
            let reason = clean.invalid.as_ref()?;
            Some(format!("{} {side} is not valid: {reason}", clean.label))
        });
    match (a, b) {
        (Some(a), Some(b)) => match compare_runs(&a, &b, rules) {
            Ok(found) => {
                time.verdict = found.verdict.into();
                add(&mut time, &found);
            }
            Err(error) => time.reasons.push(error.to_string()),
        },
        _ => time.reasons.push("one side has no samples".to_owned()),
    }
    let circumstances = Circumstances {
        invalid: times.invalid.clone().or(broken),
        is_same_measurement: false,
    };
    finish(&mut time, &circumstances);
    if time.verdict == Verdict::Ambiguous {
        time.next_step = Some(MEASURE_AGAIN.to_owned());
    }
    time
}

/// One time on each side, of a trace.
pub(crate) fn one_span(
    before_ns: Option<f64>,
    after_ns: Option<f64>,
    is_same_measurement: bool,
    invalid: Option<String>,
) -> Time {
    let mut time = Time {
        before_ns,
        after_ns,
        samples_before: u64::from(before_ns.is_some()),
        samples_after: u64::from(after_ns.is_some()),
        ..empty(TimeOrigin::Trace)
    };
    if is_same_measurement && before_ns.is_some() {
        time.verdict = Verdict::Same;
        time.reasons
            .push("both sides are the same recording: one measurement".to_owned());
    } else {
        time.reasons.push(
            "one recording on each side: how far two of one program differ is not known".to_owned(),
        );
    }
    let circumstances = Circumstances {
        invalid,
        is_same_measurement,
    };
    finish(&mut time, &circumstances);
    if time.verdict == Verdict::Ambiguous {
        time.next_step = Some("record each version several times and compare the spans; times of single kernels stand below".to_owned());
    }
    time
}

/// The runs that have samples; absent without any.
fn runs(clean: &Clean) -> Option<Vec<Samples>> {
    let runs: Vec<Samples> = clean
        .runs_ns
        .iter()
        .filter_map(|run| {
            let samples = Samples::new(run.clone()).ok()?;
            match clean.step_ns {
                Some(step) => samples.with_step(step).ok(),
                None => Some(samples),
            }
        })
        .collect();
    (!runs.is_empty()).then_some(runs)
}

/// The median; of several runs, the geometric mean of their medians.
fn centre(runs: &[Samples]) -> f64 {
    match runs {
        [run] => run.median(),
        runs => {
            let logs: f64 = runs.iter().map(|run| run.median().ln()).sum();
            (logs / runs.len() as f64).exp()
        }
    }
}

fn add(time: &mut Time, found: &Comparison) {
    time.lower = found.effect.interval.map(|interval| interval.lower);
    time.upper = found.effect.interval.map(|interval| interval.upper);
    time.band = Some(found.band);
    time.reasons
        .extend(found.doubts.iter().map(ToString::to_string));
}

fn empty(origin: TimeOrigin) -> Time {
    Time {
        verdict: Verdict::Ambiguous,
        origin,
        before_ns: None,
        after_ns: None,
        samples_before: 0,
        samples_after: 0,
        ratio: None,
        lower: None,
        upper: None,
        band: None,
        clock_before_hz: None,
        clock_after_hz: None,
        cycles_ratio: None,
        reasons: Vec::new(),
        next_step: None,
    }
}
