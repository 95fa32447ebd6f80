//! What a measurement comes to: whether it is valid, where it stands against the bounds, and which state is best. Pure: a
//! result can be judged again from what is in it.

use ridge_model::bound::{Arithmetic, Bounds, Ceilings, Gap, Reading, Work};
use ridge_model::measured::MeasuredCeilings;
use ridge_model::quantity::{Bytes, Flops, Hertz, Nanos, Ratio};
use ridge_model::roof::MemoryLevel;
use ridge_model::{Device, NumberFormat};
use ridge_stats::{Confidence, Rules, Samples, Summary, Verdict, compare_samples};

use crate::document::{
    Against, AxisValue, Best, BufferFacts, Checked, LaunchFacts, Machine, ModeResult, Placement,
    Raw, Remark, StateResult, Status,
};
use crate::expression::Value;
use crate::protocol::{Failure, Floors, Measurement, Mode, ModeMeasurement, Stopped, WarmUpEnd};
use crate::spec::State;
use crate::spec::job::Job;

/// A median below so many floors carries a note: the floor is a tenth of it.
const FLOORS: f64 = 10.0;
/// A median so near to the floor may be that of nothing.
const NOTHING: f64 = 1.1;
/// A share of rejected samples from which on the clock was not held.
const MOST_REJECTED: f64 = 0.5;
/// Fewer samples have no interval.
const FEWEST: usize = 6;
/// How long a device may seem to work after a sample has ended: the call that waits for all of it takes time, too.
const LEFT_RUNNING: f64 = 20e3;
/// A trend that is told, as a share of the median.
const DRIFT: f64 = 0.01;
/// A correlation that is told: beyond it, fewer than half of the samples count.
const CORRELATED: f64 = 0.33;

/// What everything is judged against.
#[derive(Clone, Copy, Debug)]
pub struct Context<'c> {
    /// What the device is.
    pub machine: &'c Machine,
    /// Its row of the table, if it is known.
    pub device: Option<&'c Device>,
    /// What nothing costs there.
    pub floors: Option<&'c Floors>,
    /// What was measured on it before, where that is used.
    pub measured: Option<&'c MeasuredCeilings>,
    /// The precision that was asked for.
    pub precision: f64,
}

/// The result of a state that was measured, or was not.
#[must_use]
pub fn state(
    state: &State,
    job: &Job,
    with: Option<&str>,
    outcome: Result<Measurement, Failure>,
    context: &Context<'_>,
) -> StateResult {
    let axes = state.axes.iter().map(|(name, value)| AxisValue {
        name: name.clone(),
        value: value.number().unwrap_or_default(),
    });
    let mut result = StateResult {
        spec: None,
        name: state.name(),
        kernel: state.kernel.clone(),
        axes: axes.collect(),
        status: Status::Failed,
        failure: None,
        launches: launches(job),
        repeat: job.repeat,
        functions: Vec::new(),
        buffers: buffers(job),
        bytes: job.bytes,
        flops: job.flops,
        flops_format: job.flops.map(|_| job.format.clone()),
        flops_unit: job.flops.map(|_| {
            let unit = if job.is_tensor { "tensor" } else { "vector" };
            unit.to_owned()
        }),
        modes: Vec::new(),
        checked: Checked {
            with: with.map(str::to_owned),
            launches: 0,
            shown: None,
        },
        compiler_log: None,
        spent: None,
    };
    let measurement = match outcome {
        Ok(measurement) => measurement,
        Err(failure) => {
            result.failure = Some(failure);
            return result;
        }
    };
    let checks = || measurement.modes.iter().flat_map(|mode| &mode.checks);
    let is_wrong = |check: &&crate::protocol::CheckPoint| {
        check.outcomes.iter().any(|outcome| !outcome.is_right)
    };
    let wrong = checks().find(is_wrong);
    result.checked.launches = checks().count() as u64;
    result.checked.shown = wrong.or_else(|| checks().last()).cloned();
    let is_debug = measurement
        .functions
        .iter()
        .any(|function| function.is_debug == Some(true));
    result.modes = measurement
        .modes
        .iter()
        .map(|mode| judged(mode, job, is_debug, context))
        .collect();
    result.status = if wrong.is_some() {
        Status::Differs
    } else if result.modes.iter().any(|mode| !mode.invalid.is_empty()) {
        Status::Invalid
    } else {
        Status::Valid
    };
    result.spent = Some(measurement.spent);
    result.compiler_log = Some(measurement.compiler_log).filter(|log| !log.trim().is_empty());
    result.functions = measurement.functions;
    result
}

fn launches(job: &Job) -> Vec<LaunchFacts> {
    job.launches
        .iter()
        .map(|launch| LaunchFacts {
            entry: launch.entry.clone(),
            grid: launch.grid,
            block: launch.block,
            cluster: launch.cluster,
            shared_bytes: launch.shared,
        })
        .collect()
}

fn buffers(job: &Job) -> Vec<BufferFacts> {
    job.buffers
        .iter()
        .map(|buffer| BufferFacts {
            name: buffer.name.clone(),
            kind: buffer.elements.kind.to_string(),
            length: buffer.elements.length,
            init: buffer.elements.init.to_string(),
            seed: buffer.elements.seed,
            is_output: buffer.output.is_some(),
        })
        .collect()
}

fn remark(id: &str, text: impl Into<String>, hint: Option<&str>) -> Remark {
    Remark {
        id: id.to_owned(),
        text: text.into(),
        hint: hint.map(str::to_owned),
    }
}

/// Times of samples that count.
fn accepted(mode: &ModeMeasurement) -> Vec<f64> {
    mode.times_ns
        .iter()
        .zip(&mode.rejections)
        .filter(|(_, rejection)| rejection.is_none())
        .map(|(time, _)| *time)
        .collect()
}

fn judged(mode: &ModeMeasurement, job: &Job, is_debug: bool, context: &Context<'_>) -> ModeResult {
    let times = accepted(mode);
    let rejected = mode.times_ns.len() - times.len();
    let summary = Samples::new(times.clone())
        .ok()
        .map(|samples| Summary::of(&samples, Confidence::P95));
    let clocks: Vec<f64> = mode
        .clocks_hz
        .iter()
        .zip(&mode.rejections)
        .filter(|(_, rejection)| rejection.is_none())
        .filter_map(|(clock, _)| *clock)
        .collect();
    let clock_hz = middle(clocks);
    let mut invalid = Vec::new();
    clock_faults(mode, times.len(), rejected, &mut invalid);
    if let Some(left) = mode.left_running_ns.filter(|left| *left > LEFT_RUNNING) {
        invalid.push(remark(
            "work-left-running",
            format!(
                "the device still worked for {} or more after the stream of the launches was done: that work is not in the time",
                Nanos::new(left)
            ),
            Some("let the kernel do its work in the stream that it is launched in"),
        ));
    }
    // A number that does not count is not shown.
    let is_told = times.len() >= FEWEST && invalid.is_empty();
    let median = summary
        .as_ref()
        .filter(|_| is_told)
        .map(|summary| summary.median);
    let mut placement =
        median.and_then(|median| placed(mode.mode, median, clock_hz, job, 0.0, context));
    let mut cached = None;
    if let (Some(median), Some(of_all)) = (median, &mut placement)
        && of_all.bound_ns > median
    {
        // What a launch writes may still be in the L2 when it ends: those bytes are no lower bound of its own time.
        let kept = kept_in_l2(mode.mode, job, context);
        let without = placed(mode.mode, median, clock_hz, job, kept, context)
            .filter(|without| kept > 0.0 && !is_below(without));
        match without {
            Some(without) => {
                if is_below(of_all) {
                    cached = Some((kept, without.bound_ns, of_all.bound_ns));
                }
                // The bound of what has left the L2 lies between the two, and is not known. It counts as reached: a share of the
                // lower one would be less than that of a slower kernel, whose time is above both.
                of_all.bound_ns = median;
                of_all.share = 1.0;
            }
            None if is_below(of_all) => invalid.push(below_bound(mode.mode, median, of_all)),
            None => {}
        }
    }
    let mut notes = notes(mode, median, summary.as_ref(), is_debug, job, context);
    if let Some((kept, without, of_all)) = cached {
        notes.push(remark(
            "writes-in-l2",
            format!(
                "up to {} of what is written may still be in the L2 when the launch ends: the time is between {} without them and {} \
                 with them, and the bound counts as reached",
                Bytes::new(kept),
                Nanos::new(without),
                Nanos::new(of_all)
            ),
            Some("a problem whose outputs are larger than the L2"),
        ));
    }
    let of =
        |value: fn(&Summary) -> Option<f64>| summary.as_ref().filter(|_| is_told).and_then(value);
    ModeResult {
        mode: mode.mode,
        samples: times.len() as u64,
        rejected: rejected as u64,
        canaries: Some(mode.canaries),
        runs_per_sample: mode.runs_per_sample,
        median_ns: median,
        lower_ns: of(|summary| summary.interval.map(|interval| interval.lower)),
        upper_ns: of(|summary| summary.interval.map(|interval| interval.upper)),
        min_ns: of(|summary| Some(summary.min)),
        p10_ns: of(|summary| summary.p10),
        p90_ns: of(|summary| summary.p90),
        p99_ns: of(|summary| summary.p99),
        effective_samples: of(|summary| Some(summary.effective_n)),
        autocorrelation: of(|summary| summary.autocorrelation),
        stopped: mode.stopped,
        warm_up: mode.warm_up,
        held_clock_hz: mode.held_clock_hz,
        clock_hz,
        clock_tolerance: mode.clock_tolerance,
        overhead_ns: mode.overhead_ns,
        preparation_ns: mode.preparation_ns,
        sampling_ns: Some(mode.sampling_ns),
        beside_ns: Some(mode.beside_ns),
        sensors: mode.sensors.clone(),
        placement,
        raw: Raw {
            times_ns: mode.times_ns.clone(),
            host_ns: mode.host_ns.clone(),
            clocks_hz: mode.clocks_hz.clone(),
            rejected: mode.rejections.clone(),
        },
        invalid,
        notes,
    }
}

/// Whether a time contradicts its bound.
fn is_below(placement: &Placement) -> bool {
    let time = placement.bound_ns / placement.share;
    Gap::of(Nanos::new(time), Nanos::new(placement.bound_ns)).reading() == Reading::BelowBound
}

fn below_bound(mode: Mode, median: f64, placement: &Placement) -> Remark {
    let what = if placement.class == "bandwidth-bound" {
        "bandwidth"
    } else {
        "peak"
    };
    remark(
        "below-bound",
        format!(
            "{} is faster than the lower bound {} ({} {what}): something was not done, not counted right, or came from a cache",
            Nanos::new(median),
            Nanos::new(placement.bound_ns),
            placement.resource,
        ),
        Some(match mode {
            Mode::Cold => {
                "check bytes and flops in the spec, whether the kernel works in another stream or returns early, and the format of its operations"
            }
            _ => {
                "measure cold: data that fits into the L2 stays there; and check bytes and flops in the spec"
            }
        }),
    )
}

/// Bytes that a launch writes and that may stay in the L2.
fn kept_in_l2(mode: Mode, job: &Job, context: &Context<'_>) -> f64 {
    let written: u64 = job.outputs().fold(0, |sum, (_, buffer)| {
        sum.saturating_add(buffer.elements.bytes())
    });
    match (mode, context.machine.l2_bytes) {
        (Mode::Cold, Some(l2)) => (written as f64).min(l2),
        _ => 0.0,
    }
}

fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Whether the clock was held, and samples are left.
fn clock_faults(
    mode: &ModeMeasurement,
    accepted: usize,
    rejected: usize,
    invalid: &mut Vec<Remark>,
) {
    let mut reasons: Vec<&str> = Vec::new();
    for reason in mode.rejections.iter().flatten() {
        if !reasons.contains(&reason.name()) {
            reasons.push(reason.name());
        }
    }
    let told = reasons.join(", ");
    let all = accepted + rejected;
    if all > 0 && accepted == 0 {
        invalid.push(remark(
            "no-valid-samples",
            format!("no valid samples: all {all} were rejected ({told})"),
            Some(if told.contains("probe") {
                "the clock cannot be read on this device: report it with the output of `ridge doctor`"
            } else {
                "let the GPU cool down and end other work on it, or lock its clocks with --lock-clocks base"
            }),
        ));
    } else if mode.stopped == Stopped::ClockNotHeld || rejected as f64 > MOST_REJECTED * all as f64
    {
        let held = mode
            .held_clock_hz
            .map_or_else(String::new, |clock| format!(" of {:.4}", Hertz::new(clock)));
        invalid.push(remark(
            "clock-not-held",
            format!("the clock{held} was not held: {rejected} of {all} samples were rejected ({told})"),
            Some("let the GPU cool down and end other work on it, measure for a shorter time, or lock its clocks with --lock-clocks base"),
        ));
    } else if accepted < FEWEST {
        invalid.push(remark(
            "few-samples",
            format!("{accepted} samples are too few for an interval of their median"),
            Some("give it more time with --max-time"),
        ));
    }
}

/// The time against its lower bound at the clock of the samples.
fn placed(
    mode: Mode,
    median: f64,
    clock_hz: Option<f64>,
    job: &Job,
    kept_in_l2: f64,
    context: &Context<'_>,
) -> Option<Placement> {
    let per_second = |amount: Option<f64>| amount.map(|amount| amount / (median / 1e9));
    let (bytes_per_s, flops_per_s) = (per_second(job.bytes), per_second(job.flops));
    let device = context
        .device?
        .with_attributes(&context.machine.attributes());
    let format = job.format.parse().unwrap_or(NumberFormat::Fp32);
    let arithmetic = job.flops.map(|flops| {
        let flops = Flops::new(flops);
        if job.is_tensor {
            Arithmetic::matrix(flops, format)
        } else {
            Arithmetic::elementwise(flops, format)
        }
    });
    let mut ceilings = Ceilings::of(&device);
    ceilings.clock = clock_hz.map(Hertz::new);
    // What stays in the L2 between launches is bound by the L2.
    let is_cached = context.machine.keeps_in_l2(mode, job.memory_bytes() as f64);
    let mut bytes = job
        .bytes
        .map(|bytes| Bytes::new((bytes - kept_in_l2).max(0.0)));
    if is_cached {
        match device.l2_bandwidth {
            Some(bandwidth) => ceilings.bandwidth = Some(bandwidth.value),
            None => bytes = None,
        }
    }
    let work = Work {
        bytes,
        arithmetic: arithmetic.into_iter().collect(),
        ..Work::default()
    };
    let bounds = Bounds::of(&work, &ceilings).ok()?;
    let binding = bounds.binding();
    let is_l2 = is_cached && binding.kind == ridge_model::bound::BoundKind::Bandwidth;
    let attainable = context.measured.and_then(|measured| {
        let cached = measured.memory(MemoryLevel::L2);
        let reached = Ceilings {
            clock: None,
            measured: Some(measured),
            bandwidth: match cached.filter(|_| is_cached) {
                Some(roof) => Some(roof.bandwidth),
                None => ceilings.bandwidth,
            },
            ..ceilings
        };
        Bounds::of(&work, &reached).ok()
    });
    Some(Placement {
        bound_ns: bounds.time().get(),
        share: bounds.time().get() / median,
        class: binding.kind.class().to_owned(),
        resource: if is_l2 {
            "L2".to_owned()
        } else {
            binding.resource.clone()
        },
        origin: if is_l2 {
            device
                .l2_bandwidth
                .map_or("", |fact| fact.origin.name())
                .to_owned()
        } else {
            binding.origin.name().to_owned()
        },
        bytes_per_s,
        flops_per_s,
        attainable_ns: attainable.map(|reached| reached.time().get()),
    })
}

fn notes(
    mode: &ModeMeasurement,
    median: Option<f64>,
    summary: Option<&Summary>,
    is_debug: bool,
    job: &Job,
    context: &Context<'_>,
) -> Vec<Remark> {
    let mut notes = Vec::new();
    let mut note = |id: &str, text: String, hint: Option<&str>| notes.push(remark(id, text, hint));
    if let (Some(median), Some(floors)) = (median, context.floors) {
        let (floor, what) = match mode.mode {
            Mode::Latency => (floors.latency_ns, "an empty kernel and the wait for it"),
            _ => (floors.kernel_ns, "an empty kernel"),
        };
        if matches!(mode.mode, Mode::Cold | Mode::Hot) && median < NOTHING * floor {
            note(
                "at-floor",
                format!(
                    "{} is as short as {what} ({}): the launch may have done nothing",
                    Nanos::new(median),
                    Nanos::new(floor)
                ),
                Some("a larger problem, or a check of the outputs"),
            );
        } else if !matches!(mode.mode, Mode::Batch | Mode::Graph) && median < FLOORS * floor {
            note(
                "floor-limited",
                format!(
                    "{what} takes {}, which is {} of this time",
                    Nanos::new(floor),
                    Ratio::new(floor / median)
                ),
                Some("a larger problem, or --mode batch or graph, where that cost is spread"),
            );
        }
    }
    if is_debug {
        note(
            "debug-module",
            "the module was built for debugging (-G), which makes code many times slower"
                .to_owned(),
            Some("compile without -G"),
        );
    }
    if let Some(processes) = mode.sensors.processes.filter(|processes| *processes > 1) {
        note(
            "other-processes",
            format!("{processes} processes were on the GPU: times may hold their work"),
            Some("end the others (`nvidia-smi`)"),
        );
    }
    match &mode.sensors.throttle_reasons {
        None => note(
            "no-sensors",
            "sensors cannot be read: throttle reasons are unknown, not absent".to_owned(),
            None,
        ),
        Some(reasons) => {
            let slow: Vec<&str> = reasons
                .iter()
                .map(String::as_str)
                .filter(|reason| !["idle", "application-clocks"].contains(reason))
                .collect();
            if !slow.is_empty() {
                note(
                    "throttled",
                    format!(
                        "the sensors told of {}: clocks are lower than they could be",
                        slow.join(", ")
                    ),
                    None,
                );
            }
        }
    }
    if mode.warm_up.ended == WarmUpEnd::Limit {
        note(
            "not-settled",
            format!(
                "the clock still moved after {} of warming up",
                Nanos::new(mode.warm_up.time_ns)
            ),
            Some("a longer --warm-up"),
        );
    }
    let wanted = context.precision;
    if let (Some(reached), Stopped::MaxTime | Stopped::MaxSamples) =
        (summary.and_then(Summary::relative_half_width), mode.stopped)
        && reached > wanted
    {
        note(
            "imprecise",
            format!(
                "the interval is {} to either side, and {} was asked for",
                Ratio::new(reached),
                Ratio::new(wanted)
            ),
            Some("a longer --max-time"),
        );
    }
    if let Some(summary) = summary {
        if let Some(trend) = summary.trend.filter(|trend| trend.change.abs() > DRIFT) {
            note(
                "drift",
                format!(
                    "samples moved by {:+.1} % from the first to the last quarter",
                    trend.change * 100.0
                ),
                Some("a longer --warm-up, or locked clocks"),
            );
        }
        if let Some(modes) = summary.modes {
            note(
                "two-modes",
                format!(
                    "samples have two modes: {} and, in {} of them, {}",
                    Nanos::new(modes.lower),
                    Ratio::new(modes.upper_share),
                    Nanos::new(modes.upper)
                ),
                Some(
                    "look for what changes between launches: placement of memory, another process, the state of a cache",
                ),
            );
        }
        if let Some(correlation) = summary
            .autocorrelation
            .filter(|correlation| *correlation > CORRELATED)
        {
            note(
                "correlated",
                format!(
                    "neighbouring samples are alike (autocorrelation {correlation:.2}): {:.0} of {} count",
                    summary.effective_n, summary.n
                ),
                None,
            );
        }
    }
    let is_zero = |buffer: &&crate::spec::job::JobBuffer| {
        buffer.output.is_none() && buffer.elements.init == crate::spec::Init::Constant(0.0)
    };
    let is_read = job.buffers.iter().filter(is_zero).count();
    let inputs = job
        .buffers
        .iter()
        .filter(|buffer| buffer.output.is_none())
        .count();
    if is_read > 0 && is_read == inputs {
        note("zero-inputs", "all inputs are zeros: they draw less power, so that clocks are higher than with real data".to_owned(), Some("init = \"random\""));
    }
    notes
}

/// The best of each group of states that solve the same problem, and how sure that is.
#[must_use]
pub fn best(states: &[StateResult], mode: Mode) -> Vec<Best> {
    let mut groups: Vec<(Problem, Vec<Member<'_>>)> = Vec::new();
    for state in states.iter().filter(|state| state.status == Status::Valid) {
        let Some(result) = state.modes.iter().find(|result| result.mode == mode) else {
            continue;
        };
        let times = result
            .raw
            .times_ns
            .iter()
            .zip(&result.raw.rejected)
            .filter(|(_, rejected)| rejected.is_none())
            .map(|(time, _)| *time)
            .collect();
        let (Ok(samples), Some(median)) = (Samples::new(times), result.median_ns) else {
            continue;
        };
        let problem = Problem::of(state);
        match groups.iter_mut().find(|(known, _)| *known == problem) {
            Some((_, members)) => members.push((state, samples, median)),
            None => groups.push((problem, vec![(state, samples, median)])),
        }
    }
    groups
        .into_iter()
        .filter(|(_, members)| members.len() > 1)
        .filter_map(|(_, mut members)| {
            members.sort_by(|a, b| a.2.total_cmp(&b.2));
            let (first, others) = members.split_first()?;
            Some(Best {
                spec: first.0.spec,
                mode,
                problem: shared_axes(&members),
                state: first.0.name.clone(),
                median_ns: first.2,
                others: others.iter().map(|other| against(first, other)).collect(),
            })
        })
        .collect()
}

/// A state, its samples and their median.
type Member<'s> = (&'s StateResult, Samples, f64);

/// What two states have to share to be compared.
#[derive(PartialEq)]
struct Problem {
    spec: Option<usize>,
    bytes: Option<f64>,
    flops: Option<f64>,
    outputs: Vec<(String, u64)>,
}

impl Problem {
    fn of(state: &StateResult) -> Self {
        Self {
            spec: state.spec,
            bytes: state.bytes,
            flops: state.flops,
            outputs: state
                .buffers
                .iter()
                .filter(|buffer| buffer.is_output)
                .map(|buffer| (buffer.kind.clone(), buffer.length))
                .collect(),
        }
    }
}

/// The axes that all members have with the same value, such as `n=4096`.
fn shared_axes(members: &[Member<'_>]) -> String {
    let Some((first, _, _)) = members.first() else {
        return String::new();
    };
    let shared: Vec<String> = first
        .axes
        .iter()
        .filter(|axis| {
            members
                .iter()
                .all(|(state, _, _)| state.axes.contains(axis))
        })
        .map(|axis| {
            let value = if axis.value.fract().abs() == 0.0 && axis.value.abs() < 1e15 {
                Value::Int(axis.value as i64)
            } else {
                Value::Float(axis.value)
            };
            format!("{}={value}", axis.name)
        })
        .collect();
    shared.join(", ")
}

fn against(best: &Member<'_>, other: &Member<'_>) -> Against {
    // States were measured one after the other in one process, and what differs between processes is in none of them: the
    // rules ask for no control, and only a difference within the least band is not told.
    let defaults = Rules::default();
    let rules = Rules {
        min_replicates: 1,
        needs_control: false,
        uncontrolled_band: defaults.least_band,
        ..defaults
    };
    let comparison = compare_samples(&best.1, &other.1, None, &rules).ok();
    let effect = comparison.as_ref().map(|comparison| comparison.effect);
    Against {
        state: other.0.name.clone(),
        ratio: other.2 / best.2,
        lower: effect
            .and_then(|effect| effect.interval)
            .map(|interval| interval.lower),
        upper: effect
            .and_then(|effect| effect.interval)
            .map(|interval| interval.upper),
        verdict: match comparison.map(|comparison| comparison.verdict) {
            Some(Verdict::Slower) => "slower",
            Some(Verdict::Same) => "same",
            // The best has the least median, so that nothing is faster than it.
            _ => "cannot-tell",
        }
        .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Rule;
    use crate::expression::Names;
    use crate::protocol::{Right, Settings, Source, Task, floors, measure};
    use crate::spec::Spec;
    use ridge_gpu::{Device as _, SimDevice, SimOptions};
    use ridge_model::Devices;

    const SPEC: &str = r#"
        bytes = "2 * n * 4"
        [axes]
        n = [65536, 16777216]
        [buffers]
        in = { type = "f32", length = "n", init = "random", seed = 1 }
        out = { type = "f32", length = "n" }
        [kernels.slow_one]
        entry = "slow_one"
        grid = 1024
        block = 256
        args = ["in", "out"]
        simulated_traffic = 6
        [kernels.one]
        entry = "one"
        grid = 1024
        block = 256
        args = ["in", "out"]
        [kernels.two]
        entry = "two"
        grid = 1024
        block = 256
        args = ["in", "out"]
    "#;
    const SOURCE: &str = "extern \"C\" __global__ void slow_one() {}\nextern \"C\" __global__ void one() {}\n\
                          extern \"C\" __global__ void two() {}\n";

    /// All states of a spec on a simulated device.
    fn results(spec: &str, device: &str, modes: &[Mode]) -> Vec<StateResult> {
        let spec = Spec::read(spec).unwrap();
        let names = Names::default();
        let sim = SimDevice::open(&SimOptions::parse(device).unwrap()).unwrap();
        let settings = Settings {
            modes: modes.to_vec(),
            min_time_ns: 0.0,
            ..Settings::default()
        };
        let floors = floors(&sim, &settings).unwrap();
        let machine = Machine::of(sim.properties());
        let context = Context {
            machine: &machine,
            device: Some(Devices::known().find("h200").unwrap()),
            floors: Some(&floors),
            measured: None,
            precision: settings.precision,
        };
        spec.states(&names)
            .unwrap()
            .iter()
            .map(|of| {
                let job = spec.job(of, &names).unwrap();
                let task = Task {
                    job: job.clone(),
                    source: Source {
                        name: "k.cu".to_owned(),
                        content: SOURCE.as_bytes().to_vec(),
                        options: Vec::new(),
                        include_paths: Vec::new(),
                    },
                    right: Right::Unknown,
                    rule: Rule::new(spec.check.mode, spec.check.tolerance),
                };
                let outcome = measure(&sim, &task, &settings, &floors, &mut |_| {});
                state(of, &job, None, outcome, &context)
            })
            .collect()
    }

    fn ids(remarks: &[Remark]) -> Vec<&str> {
        remarks.iter().map(|remark| remark.id.as_str()).collect()
    }

    #[test]
    fn the_best_is_found_in_each_problem_and_equals_are_told() {
        let found = results(SPEC, "h200", &[Mode::Cold]);
        let best = best(&found, Mode::Cold);
        assert_eq!(best.len(), 2);
        assert_eq!(best[1].problem, "n=16777216");
        let slow = best[1]
            .others
            .iter()
            .find(|other| other.state.starts_with("slow_one"))
            .unwrap();
        assert_eq!(slow.verdict, "slower");
        assert!(slow.ratio > 2.0 && slow.lower.unwrap() > 2.0);
        let equal = best[1]
            .others
            .iter()
            .find(|other| !other.state.starts_with("slow_one"))
            .unwrap();
        assert_ne!(equal.verdict, "slower", "{equal:?}");
    }

    #[test]
    fn times_are_placed_under_their_bound() {
        let found = results(SPEC, "h200", &[Mode::Cold, Mode::Hot]);
        let large = found
            .iter()
            .find(|state| state.name == "slow_one[n=16777216]")
            .unwrap();
        let placement = large.modes[0].placement.as_ref().unwrap();
        // 134 MB over 4.81 TB/s.
        assert!(
            (placement.bound_ns - 27_880.0).abs() < 20.0,
            "{placement:?}"
        );
        assert_eq!(
            (placement.class.as_str(), placement.resource.as_str()),
            ("bandwidth-bound", "DRAM")
        );
        assert!(placement.share > 0.2 && placement.share < 0.5);
        // What fits into the L2 and stays there is bound by it.
        let small = found
            .iter()
            .find(|state| state.name == "one[n=65536]")
            .unwrap();
        assert_eq!(small.modes[1].placement.as_ref().unwrap().resource, "L2");
        assert!(
            ids(&small.modes[1].notes)
                .iter()
                .any(|id| id.contains("floor")),
            "{:?}",
            small.modes[1].notes
        );
    }

    /// The kernels differ in their traffic only: what takes longer reaches less of its bound, also where writes stay in the L2.
    #[test]
    fn a_slower_kernel_never_has_the_larger_share() {
        let mut found = Vec::new();
        let mut notes = 0;
        for traffic in [0.6, 0.75, 0.9, 1.0, 1.5] {
            let traffic = format!("simulated_traffic = {traffic}");
            let spec = SPEC
                .replace("simulated_traffic = 6", &traffic)
                .replace("[65536, 16777216]", "[16777216]");
            for state in results(&spec, "h200", &[Mode::Cold]) {
                let mode = &state.modes[0];
                if state.name == "slow_one[n=16777216]" && mode.invalid.is_empty() {
                    notes += usize::from(ids(&mode.notes).contains(&"writes-in-l2"));
                    let placement = mode.placement.as_ref().unwrap();
                    let time = mode.median_ns.unwrap();
                    assert!((placement.bound_ns / time - placement.share).abs() < 1e-9);
                    found.push((time, placement.share));
                }
            }
        }
        found.sort_by(|one, other| one.0.total_cmp(&other.0));
        assert!(found.len() >= 4 && notes >= 1, "{found:?} {notes}");
        for pair in found.windows(2) {
            assert!(pair[1].1 <= pair[0].1, "{found:?}");
        }
    }

    #[test]
    fn a_time_below_the_bound_is_not_valid_and_has_no_rank() {
        let many = SPEC.replace("\"2 * n * 4\"", "\"200 * n * 4\"");
        let found = results(&many, "h200", &[Mode::Cold]);
        for state in found
            .iter()
            .filter(|state| state.name.ends_with("16777216]"))
        {
            assert_eq!(state.status, Status::Invalid);
            assert_eq!(ids(&state.modes[0].invalid), ["below-bound"]);
            assert!(state.modes[0].invalid[0].hint.is_some());
        }
        assert!(
            best(&found, Mode::Cold)
                .iter()
                .all(|best| best.problem != "n=16777216")
        );
    }

    #[test]
    fn without_samples_that_count_there_is_no_number() {
        for state in results(SPEC, "h200,probe=off", &[Mode::Cold]) {
            assert_eq!(state.status, Status::Invalid);
            let mode = &state.modes[0];
            assert_eq!(ids(&mode.invalid), ["no-valid-samples"]);
            assert_eq!(
                (mode.median_ns, mode.min_ns, mode.placement.as_ref()),
                (None, None, None)
            );
            assert_eq!(mode.raw.times_ns.len() as u64, mode.rejected);
        }
    }

    /// Bounds follow the clock of the samples, not one that was read while the device was idle.
    #[test]
    fn compute_bounds_are_at_the_clock_of_the_run() {
        let compute = SPEC.replace("bytes = \"2 * n * 4\"", "flops = \"n * 100000\"");
        let bound = |device: &str| {
            let found = results(&compute, device, &[Mode::Cold]);
            let state = found
                .iter()
                .find(|state| state.name == "one[n=16777216]")
                .unwrap();
            state.modes[0].placement.clone().unwrap()
        };
        let (full, low) = (bound("h200"), bound("h200,throttle=1us:0.8"));
        assert_eq!(full.class, "compute-bound");
        assert!(
            (low.bound_ns / full.bound_ns - 1.25).abs() < 0.01,
            "{} {}",
            low.bound_ns,
            full.bound_ns
        );
        assert!((low.share / full.share - 1.0).abs() < 0.02);
    }

    #[test]
    fn drift_and_two_modes_are_told() {
        let told = |device: &str| {
            let spec = SPEC.replace("[65536, 16777216]", "[16777216]");
            results(&spec, device, &[Mode::Cold])
                .iter()
                .flat_map(|state| &state.modes)
                .flat_map(|mode| {
                    ids(&mode.notes)
                        .into_iter()
                        .map(str::to_owned)
                        .collect::<Vec<_>>()
                })
                .collect::<Vec<String>>()
        };
        assert!(told("h200,bimodal=0.4:1.3,seed=3").contains(&"two-modes".to_owned()));
        assert!(!told("h200").contains(&"two-modes".to_owned()));
        assert!(told("h200,shared=0.1").contains(&"other-processes".to_owned()));
        assert!(told("h200,sensors=off").contains(&"no-sensors".to_owned()));
        assert!(told("h200,debug=one").contains(&"debug-module".to_owned()));
    }
}
