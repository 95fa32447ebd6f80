//! What results say about kernels, in the words of budgets.

use ridge_bench::document::{Document as Bench, ModeResult, StateResult, Status};
use ridge_bench::protocol::Mode;
use ridge_model::ComputeCapability;
use ridge_model::occupancy::{Launch, SmLimits, resident};

/// What one result says about one kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Facts {
    /// The state, or the signature of a profiled kernel.
    pub(super) name: String,
    /// The kernel.
    pub(super) kernel: String,
    /// Absent for a profiled kernel.
    pub(super) mode: Option<Mode>,
    /// Place in the list of results.
    pub(super) result: usize,
    /// Why nothing of it counts.
    pub(super) invalid: Vec<String>,
    /// Whether that is about the kernel, and not about the run: outputs that are wrong once are wrong.
    pub(super) is_wrong: bool,
    /// Time with the ends of its interval.
    pub(super) time: Option<Figure>,
    /// Share of the lower bound that is reached.
    pub(super) share_of_bound: Option<Figure>,
    /// Registers of a thread.
    pub(super) registers: Option<u32>,
    /// Local memory of a thread, in bytes.
    pub(super) local_bytes: Option<u32>,
    /// Theoretical occupancy.
    pub(super) occupancy: Option<f64>,
    /// Findings; absent where nothing was diagnosed.
    pub(super) findings: Option<Vec<String>>,
    /// Findings that the result does not allow to check.
    pub(super) not_checked: Vec<String>,
}

/// A number with the ends of its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Figure {
    pub(super) value: f64,
    /// Absent where nothing is known about its spread.
    pub(super) interval: Option<(f64, f64)>,
}

/// All kernels of a benchmark.
pub(super) fn of_bench(document: &Bench, result: usize) -> Vec<Facts> {
    document
        .states
        .iter()
        .flat_map(|state| {
            let modes = state.modes.iter().map(Some);
            // A state that failed has no mode, and is still to be told of.
            let none = state.modes.is_empty().then_some(None);
            modes
                .chain(none)
                .map(|mode| of_state(document, state, mode, result))
        })
        .collect()
}

fn of_state(
    document: &Bench,
    state: &StateResult,
    mode: Option<&ModeResult>,
    result: usize,
) -> Facts {
    let mut invalid: Vec<String> = match state.status {
        Status::Differs => vec!["the outputs are wrong".to_owned()],
        Status::Failed => {
            let failure = state.failure.as_ref();
            vec![failure.map_or_else(
                || "it did not run".to_owned(),
                |failure| failure.message.clone(),
            )]
        }
        Status::Valid | Status::Invalid => Vec::new(),
    };
    invalid.extend(
        mode.into_iter()
            .flat_map(|mode| &mode.invalid)
            .map(|remark| remark.text.clone()),
    );
    let median = mode.and_then(|mode| mode.median_ns);
    let ends = mode.and_then(|mode| mode.lower_ns.zip(mode.upper_ns));
    let placement = mode.and_then(|mode| mode.placement.as_ref());
    let largest = |value: fn(&ridge_bench::protocol::FunctionFacts) -> Option<u32>| {
        state.functions.iter().map(value).max().flatten()
    };
    Facts {
        is_wrong: matches!(state.status, Status::Differs | Status::Failed),
        name: state.name.clone(),
        kernel: state.kernel.clone(),
        mode: mode
            .map(|mode| mode.mode)
            .or(document.settings.modes.first().copied()),
        result,
        time: median.map(|value| Figure {
            value,
            interval: ends,
        }),
        share_of_bound: placement.map(|placement| Figure {
            value: placement.share,
            interval: ends
                .map(|(lower, upper)| (placement.bound_ns / upper, placement.bound_ns / lower)),
        }),
        registers: largest(|function| function.registers),
        local_bytes: largest(|function| function.local_bytes),
        occupancy: occupancy(document, state),
        invalid,
        ..Facts::default()
    }
}

/// Puts runs of the same state together, in the order of the first of each. A number lies where any run has it: its value is the
/// mean of the runs, and its interval holds those of all of them.
pub(super) fn merged(all: Vec<Facts>) -> Vec<Facts> {
    let mut merged: Vec<Vec<Facts>> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for facts in all {
        // Kernels of reports have no mode, and each launch of theirs is its own.
        let key = (facts.kernel.clone(), facts.name.clone(), facts.mode);
        match places.get(&key) {
            Some(place) if facts.mode.is_some() => {
                let group: &mut Vec<Facts> = &mut merged[*place];
                group.push(facts);
            }
            _ => {
                places.insert(key, merged.len());
                merged.push(vec![facts]);
            }
        }
    }
    merged.into_iter().filter_map(one).collect()
}

fn one(runs: Vec<Facts>) -> Option<Facts> {
    let is_disturbed = |run: &Facts| !run.invalid.is_empty();
    let wrong = runs.iter().find(|run| run.is_wrong).cloned();
    if wrong.is_some() || runs.iter().all(is_disturbed) {
        return wrong.or_else(|| runs.into_iter().next());
    }
    let mut valid = runs.into_iter().filter(|run| !is_disturbed(run));
    let mut sum = valid.next()?;
    let (mut times, mut shares) = (vec![sum.time], vec![sum.share_of_bound]);
    for run in valid {
        times.push(run.time);
        shares.push(run.share_of_bound);
        sum.registers = sum.registers.max(run.registers);
        sum.local_bytes = sum.local_bytes.max(run.local_bytes);
        sum.occupancy = match (sum.occupancy, run.occupancy) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
    sum.time = Figure::of_all(&times);
    sum.share_of_bound = Figure::of_all(&shares);
    Some(sum)
}

impl Figure {
    fn of_all(runs: &[Option<Self>]) -> Option<Self> {
        let known: Vec<Self> = runs.iter().copied().flatten().collect();
        let value = known.iter().map(|figure| figure.value).sum::<f64>() / known.len() as f64;
        let hull = known
            .iter()
            .map(|figure| figure.interval)
            .reduce(|one, other| {
                let ((lower, upper), (also, more)) = (one?, other?);
                Some((lower.min(also), upper.max(more)))
            });
        Some(Self {
            value,
            interval: hull?,
        })
    }
}

/// The lowest theoretical occupancy of the launches of a state.
fn occupancy(document: &Bench, state: &StateResult) -> Option<f64> {
    let (major, minor) = document.machine.compute_capability.split_once('.')?;
    let limits = SmLimits::of(ComputeCapability {
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
    })?;
    let of_launch = |launch: &ridge_bench::document::LaunchFacts| {
        let function = state
            .functions
            .iter()
            .find(|function| function.name == launch.entry);
        // With a single function there is no doubt whose figures they are.
        let function = function.or(match state.functions.as_slice() {
            [only] => Some(only),
            _ => None,
        })?;
        let threads = launch
            .block
            .iter()
            .try_fold(1_u32, |all, each| all.checked_mul(*each))?;
        let described = Launch {
            cluster: launch.cluster.map(|cluster| cluster.iter().product()),
            ..Launch::new(threads, function.registers?).with_shared(
                function.static_shared_bytes.unwrap_or(0),
                launch.shared_bytes,
            )
        };
        Some(resident(&limits, &described).occupancy().get())
    };
    let all: Option<Vec<f64>> = state.launches.iter().map(of_launch).collect();
    all?.into_iter().min_by(f64::total_cmp)
}
