//! What results say about kernels, in the words of budgets.

use ridge_bench::document::{Document as Bench, ModeResult, StateResult, Status};
use ridge_bench::protocol::Mode;
use ridge_model::ComputeCapability;
use ridge_model::occupancy::{Launch, SmLimits, resident};
use serde::Deserialize;

/// Name of the contract of diagnoses.
const DIAGNOSIS: &str = "ridgepoint.diagnosis";
/// The latest version of it that is read here.
const DIAGNOSIS_VERSION: u32 = 1;

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
    is_wrong: bool,
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

/// What a diagnosis has for a gate.
#[derive(Clone, Debug, Deserialize)]
pub struct Diagnosis {
    schema: String,
    version: u32,
    #[serde(default)]
    kernels: Vec<DiagnosedKernel>,
}

#[derive(Clone, Debug, Deserialize)]
struct DiagnosedKernel {
    name: String,
    signature: String,
    #[serde(default)]
    grid: Option<[u32; 3]>,
    #[serde(default)]
    block: Option<[u32; 3]>,
    #[serde(default)]
    duration_ns: Option<f64>,
    #[serde(default)]
    latency: Option<DiagnosedLatency>,
    #[serde(default)]
    compulsory: Option<DiagnosedCompulsory>,
    #[serde(default)]
    findings: Vec<DiagnosedFinding>,
    #[serde(default)]
    not_checked: Vec<DiagnosedFinding>,
}

#[derive(Clone, Debug, Deserialize)]
struct DiagnosedLatency {
    #[serde(default)]
    warps: Option<DiagnosedWarps>,
}

#[derive(Clone, Debug, Deserialize)]
struct DiagnosedCompulsory {
    #[serde(default)]
    bound_ns: Option<f64>,
}

#[derive(Clone, Debug, Deserialize)]
struct DiagnosedWarps {
    #[serde(default)]
    theoretical: Option<f64>,
    #[serde(default)]
    most: Option<f64>,
}

#[derive(Clone, Debug, Deserialize)]
struct DiagnosedFinding {
    id: String,
}

impl Diagnosis {
    /// Whether some bytes are meant to be a diagnosis: a JSON object that names the contract. They may be damaged.
    #[must_use]
    pub fn looks_like(bytes: &[u8]) -> bool {
        let name = const { b"\"ridgepoint.diagnosis\"" };
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let start = text.iter().find(|byte| !byte.is_ascii_whitespace());
        start == Some(&b'{') && text.windows(name.len()).any(|part| part == name)
    }

    /// Reads a diagnosis. Fields that are of no use here are skipped.
    ///
    /// # Errors
    /// In words, when it is none, or of a later version.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let found: Self = serde_json::from_slice(text)
            .map_err(|error| format!("the document of `ridge why` is damaged: {error}"))?;
        if found.schema != DIAGNOSIS {
            return Err(format!(
                "it is a document of kind {:?}, not {DIAGNOSIS:?}",
                found.schema
            ));
        }
        if found.version > DIAGNOSIS_VERSION {
            return Err(format!(
                "the document of `ridge why` has version {}, and this command reads up to {DIAGNOSIS_VERSION}",
                found.version
            ));
        }
        Ok(found)
    }

    /// All kernels of it.
    pub(super) fn facts(&self, result: usize) -> Vec<Facts> {
        let kernel = |kernel: &DiagnosedKernel| {
            let warps = kernel
                .latency
                .as_ref()
                .and_then(|latency| latency.warps.as_ref());
            let occupancy = warps.and_then(|warps| Some(warps.theoretical? / warps.most?));
            let needed = kernel
                .compulsory
                .as_ref()
                .and_then(|needed| needed.bound_ns);
            let duration = kernel.duration_ns.filter(|time| *time > 0.0);
            let single = |value: f64| Figure {
                value,
                interval: None,
            };
            Facts {
                name: kernel.shown(),
                kernel: kernel.name.clone(),
                result,
                time: duration.map(single),
                share_of_bound: needed
                    .zip(duration)
                    .map(|(needed, time)| needed / time)
                    .filter(|share| share.is_finite())
                    .map(single),
                occupancy: occupancy.filter(|share| (0.0..=1.0).contains(share)),
                findings: Some(
                    kernel
                        .findings
                        .iter()
                        .map(|finding| finding.id.clone())
                        .collect(),
                ),
                not_checked: kernel
                    .not_checked
                    .iter()
                    .map(|check| check.id.clone())
                    .collect(),
                ..Facts::default()
            }
        };
        self.kernels.iter().map(kernel).collect()
    }

    /// Durations of kernels by name, grid and block.
    pub(super) fn durations(&self) -> Vec<(String, f64)> {
        let timed = self.kernels.iter();
        timed
            .filter_map(|kernel| {
                Some((
                    kernel.shown(),
                    kernel.duration_ns.filter(|time| *time > 0.0)?,
                ))
            })
            .collect()
    }
}

impl DiagnosedKernel {
    /// The signature with the launch, by which kernels of two diagnoses are the same.
    fn shown(&self) -> String {
        let size = |size: Option<[u32; 3]>| {
            size.map_or_else(|| "?".to_owned(), |[x, y, z]| format!("{x}x{y}x{z}"))
        };
        format!(
            "{} {}/{}",
            self.signature,
            size(self.grid),
            size(self.block)
        )
    }
}
