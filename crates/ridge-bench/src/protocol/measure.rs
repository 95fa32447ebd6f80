//! From a job to samples: warming up, sampling until there are enough, and looking at what the timed launches left behind.

use std::time::Duration;

use ridge_gpu::{Device, DeviceError, Readings, ThrottleReasons};
use ridge_model::quantity::Nanos;
use ridge_stats::{Confidence, StopReason, Stopping, StoppingRule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::Answers;
use super::clock::{Held, Rejection, median};
use super::failure::Failure;
use super::floors::Floors;
use super::image::{self, Loadable, Source};
use super::loaded::Loaded;
use super::mode::Mode;
use super::order::QUEUE;
use super::sample::{Instruments, Raw, Recipe, take};
use super::settings::Settings;
use super::spots::Spots;
use super::twin::Twin;
use crate::check::{Expected, Outcome, Rule};
use crate::spec::job::Job;

/// What outputs are compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Right {
    /// Nothing.
    Unknown,
    /// What another kernel makes of the same inputs.
    Kernel(Box<(Job, Source)>),
    /// What is known, for each generation of inputs.
    Known(Vec<Vec<Expected>>),
}

/// Generations of inputs that take turns where inputs are made anew.
const GENERATIONS: u32 = 4;

/// How many generations of its inputs a job is measured with: where it has random ones, two at least, so that an answer that is
/// remembered is seen.
#[must_use]
pub fn generations(job: &Job, settings: &Settings) -> u32 {
    if settings.has_fresh_inputs {
        GENERATIONS
    } else if job.buffers.iter().any(|buffer| buffer.elements.is_random()) {
        2
    } else {
        1
    }
}

/// Everything about one state that a measurement needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The state in numbers.
    pub job: Job,
    /// Its kernels.
    pub source: Source,
    /// What its outputs are compared with.
    pub right: Right,
    /// How.
    pub rule: Rule,
}

/// What a measurement of one state gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// One for each mode.
    pub modes: Vec<ModeMeasurement>,
    /// What the kernels need.
    pub functions: Vec<FunctionFacts>,
    /// What the compiler printed.
    pub compiler_log: String,
    /// What time went to before the first mode.
    pub spent: Spent,
}

/// What the time of a state went to before its modes were measured, as the clock of the host has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// Compiling, and loading the image.
    pub image_ns: f64,
    /// Running the kernel whose outputs are the right ones, with its inputs; next to nothing without one.
    pub reference_ns: f64,
    /// Allocating memory, making inputs, and copying them.
    pub inputs_ns: f64,
    /// The first launches, at which code may still be loaded.
    pub first_launches_ns: f64,
}

/// What a kernel needs. What is not known is absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionFacts {
    /// Its name in the image.
    pub name: String,
    /// Registers of a thread.
    pub registers: Option<u32>,
    /// Static shared memory of a block.
    pub static_shared_bytes: Option<u32>,
    /// Local memory of a thread.
    pub local_bytes: Option<u32>,
    /// Whether it was built for debugging (`-G`).
    pub is_debug: Option<bool>,
}

/// What one mode gave. The lists hold all samples in their order, rejected ones too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModeMeasurement {
    /// The mode.
    pub mode: Mode,
    /// What the time of a sample is divided by: how often the launches of a state run in it.
    pub runs_per_sample: u64,
    /// Times of the launches of a state.
    pub times_ns: Vec<f64>,
    /// Windows of the host.
    pub host_ns: Vec<f64>,
    /// Clocks; absent where no probe gave one.
    pub clocks_hz: Vec<Option<f64>>,
    /// Why a sample does not count.
    pub rejections: Vec<Option<Rejection>>,
    /// Why sampling stopped.
    pub stopped: Stopped,
    /// How warming up went.
    pub warm_up: WarmUp,
    /// The clock at its end.
    pub held_clock_hz: Option<f64>,
    /// How far samples may be off.
    pub clock_tolerance: f64,
    /// From the end of one sample's window to the first step of the next: the harness.
    pub overhead_ns: Option<f64>,
    /// From the first step of a sample to its window: the flush and the wait for it.
    pub preparation_ns: Option<f64>,
    /// From the first sample to the last, without what is beside them.
    pub sampling_ns: f64,
    /// What was beside samples: outputs that were looked at, and inputs that were made anew.
    pub beside_ns: f64,
    /// What the sensors said.
    pub sensors: SensorSummary,
    /// What was compared, and when.
    pub checks: Vec<CheckPoint>,
    /// Samples before which an element of each output was overwritten, and after which it was looked at.
    pub canaries: u64,
    /// How long the device still worked after a sample had ended, at least, over the samples at which that was looked at.
    pub left_running_ns: Option<f64>,
}

/// Why sampling stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// The interval of the median is narrow enough.
    Precision,
    /// It is as narrow as the timer allows.
    TimerStep,
    /// As many samples as allowed.
    MaxSamples,
    /// As much time as allowed.
    MaxTime,
    /// The clock could not be held.
    ClockNotHeld,
}

impl From<StopReason> for Stopped {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::Precision => Self::Precision,
            StopReason::TimerStep => Self::TimerStep,
            StopReason::MaxSamples => Self::MaxSamples,
            StopReason::MaxTime => Self::MaxTime,
        }
    }
}

/// How warming up went.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmUp {
    /// What ended it.
    pub ended: WarmUpEnd,
    /// How long it took.
    pub time_ns: f64,
    /// Samples that were thrown away for it.
    pub samples: u64,
}

/// What ended the warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WarmUpEnd {
    /// The clock had settled.
    Settled,
    /// It took as long as allowed, and the clock still moved.
    Limit,
    /// There was no clock to look at.
    NoClock,
}

/// What sensors said over a measurement. What they do not tell is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SensorSummary {
    /// How often they were read.
    pub readings: u64,
    /// All reasons for a lower clock that were told, once each.
    pub throttle_reasons: Option<Vec<String>>,
    /// The median power in watts.
    pub power_w: Option<f64>,
    /// The highest temperature in degrees Celsius.
    pub temperature_c: Option<f64>,
    /// The last memory clock.
    pub memory_clock_hz: Option<f64>,
    /// The most processes on the GPU at once, this one included.
    pub processes: Option<u64>,
}

/// How a launch was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckKind {
    /// Its outputs held the pattern of memory that nobody wrote, or what they start with.
    #[default]
    Restored,
    /// As before, and its inputs had got other values.
    NewInputs,
    /// It was a sample as any other, chosen at random; nothing was restored before.
    Timed,
    /// It was a sample as any other, and one element of each output, chosen at random, had been overwritten.
    Canary,
    /// The inputs after all launches, against what they were before.
    Inputs,
}

/// A comparison of outputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckPoint {
    /// How the launch was looked at.
    #[serde(default)]
    #[schemars(!default)]
    pub kind: CheckKind,
    /// How many samples were taken before the launch that was looked at.
    pub after_samples: u64,
    /// Its outputs.
    pub outcomes: Vec<Outcome>,
}

/// Something to tell while it happens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Progress {
    /// The compiler works.
    Compiling,
    /// A mode warms up.
    WarmingUp(Mode),
    /// A mode has so many samples, with this half-width of the interval as a share of the median.
    Sampling {
        /// The mode.
        mode: Mode,
        /// Samples that count.
        samples: u64,
        /// The half-width at the last look.
        precision: Option<f64>,
    },
}

/// Samples after which outputs are compared, beside the first and the last.
const CHECKS: [u64; 4] = [0, 100, 1000, 10_000];
/// How often sensors are read at most.
const SENSORS_EVERY: Nanos = Nanos::new(50e6);
/// How often progress is told at most.
const TELL_EVERY: Nanos = Nanos::new(50e6);
/// Time over which a clock is looked at for whether it has settled, and once more before that.
const SETTLED_OVER: Nanos = Nanos::new(20e6);
/// Samples in each of both windows at least, where samples are long.
const SETTLED_SAMPLES: f64 = 3.0;
/// How far the medians of both windows may be apart.
const SETTLED_WITHIN: f64 = 0.005;
/// Warming up takes at least this long: clocks step up within some tens of milliseconds of work.
const LEAST_WARM_UP: Nanos = Nanos::new(50e6);
/// Rejected samples in a row after which the device is given time to recover.
const REJECTED_IN_A_ROW: u32 = 16;
/// How often it is.
const RECOVERIES: u32 = 3;
/// What a batch or a graph should take.
const BATCH_TIME: Nanos = Nanos::new(1e6);
/// Runs in a batch or graph at most.
const MOST_RUNS: f64 = 1000.0;

/// Measures the floors of a device.
///
/// # Errors
/// When a call to the device fails.
pub fn floors(device: &dyn Device, settings: &Settings) -> Result<Floors, Failure> {
    Ok(super::floors::measure(device, settings)?)
}

/// Measures one state.
///
/// # Errors
/// When it cannot be compiled, launched or run. After a fault or a hang the device is of no more use.
pub fn measure(
    device: &dyn Device,
    task: &Task,
    settings: &Settings,
    floors: &Floors,
    tell: &mut dyn FnMut(Progress),
) -> Result<Measurement, Failure> {
    tell(Progress::Compiling);
    let mut spent = Spent::default();
    let mut began = device.now();
    let mut since = || {
        let now = device.now();
        let spent = (now - began).get();
        began = now;
        spent
    };
    let loadable = load(device, &task.source, &task.job)?;
    spent.image_ns = since();
    let right = Answers::new(device, task, settings)?;
    spent.reference_ns = since();
    let job = lowered(&task.job, &loadable);
    let loaded = Loaded::new(
        device,
        &loadable.module,
        &job,
        right.declared(),
        Nanos::new(settings.timeout_ns),
    )?;
    spent.inputs_ns = since();
    let mut state = Run {
        device,
        job: &job,
        loaded,
        instruments: Instruments::new(device)?,
        settings,
        floors,
        right: &right,
        rule: &task.rule,
        generation: 0,
        twin: None,
        inputs: Vec::new(),
    };
    state.inputs = state.loaded.digests(&job)?;
    if settings.modes.iter().copied().any(is_close) && 2 * state.loaded.count() <= QUEUE {
        state.twin = Twin::new(&state.loaded, &job, right.declared())?;
    }
    state.first_launches()?;
    spent.first_launches_ns = since();
    let mut modes = Vec::new();
    for mode in &settings.modes {
        modes.push(state.mode(*mode, tell)?);
    }
    if let Some(ModeMeasurement {
        times_ns, checks, ..
    }) = modes.last_mut()
    {
        state.look_at_inputs(times_ns.len() as u64, checks)?;
    }
    let functions = state
        .loaded
        .functions
        .iter()
        .map(|function| {
            let attributes = function.attributes();
            FunctionFacts {
                name: function.name().to_owned(),
                registers: attributes.registers,
                static_shared_bytes: attributes.static_shared_bytes,
                local_bytes: attributes.local_bytes,
                is_debug: attributes.is_debug,
            }
        })
        .collect();
    Ok(Measurement {
        modes,
        functions,
        compiler_log: loadable.log,
        spent,
    })
}

pub(super) fn load(device: &dyn Device, source: &Source, job: &Job) -> Result<Loadable, Failure> {
    let mut entries: Vec<&str> = job
        .launches
        .iter()
        .map(|launch| launch.entry.as_str())
        .collect();
    entries.sort_unstable();
    entries.dedup();
    let mut source = source.clone();
    source.options.extend(job.options.iter().cloned());
    image::load(device, &source, &entries)
}

/// The job with the names that kernels have in the module.
pub(super) fn lowered(job: &Job, loadable: &Loadable) -> Job {
    let mut job = job.clone();
    for launch in &mut job.launches {
        if let Some(name) = loadable.names.get(&launch.entry) {
            launch.entry.clone_from(name);
        }
    }
    job
}

/// Whether launches follow each other with no time between.
const fn is_close(mode: Mode) -> bool {
    matches!(mode, Mode::Batch | Mode::Graph)
}

struct Run<'a> {
    device: &'a dyn Device,
    job: &'a Job,
    loaded: Loaded<'a>,
    instruments: Instruments,
    settings: &'a Settings,
    floors: &'a Floors,
    right: &'a Answers,
    rule: &'a Rule,
    generation: u32,
    /// Where launches follow each other closely.
    twin: Option<Twin>,
    /// Digests of the inputs as they were made.
    inputs: Vec<Option<u64>>,
}

impl Run<'_> {
    /// Looks whether the inputs are what they were.
    fn look_at_inputs(&self, taken: u64, checks: &mut Vec<CheckPoint>) -> Result<(), DeviceError> {
        if self.settings.has_fresh_inputs {
            return Ok(());
        }
        let found = self.loaded.digests(self.job)?;
        let all = self.inputs.iter().zip(&found).zip(&self.job.buffers);
        let outcomes: Vec<Outcome> = all
            .filter(|((right, found), _)| right.is_some() && found.is_some() && right != found)
            .map(|(_, buffer)| Outcome::changed(&buffer.name))
            .collect();
        if !outcomes.is_empty() {
            checks.push(CheckPoint {
                kind: CheckKind::Inputs,
                after_samples: taken,
                outcomes,
            });
        }
        Ok(())
    }

    /// The first launches, with nothing blocked: modules are loaded at their first launch at the latest, and loading may
    /// wait for the device, which would wait for ever for a blocked stream.
    fn first_launches(&self) -> Result<(), DeviceError> {
        self.loaded.launch(0, self.loaded.count())?;
        self.loaded.synchronize()?;
        if self.settings.modes.contains(&Mode::Cold) {
            self.device
                .flush_l2(&self.loaded.stream, self.settings.device_flush())?;
        }
        self.device
            .block(&self.loaded.stream, self.loaded.timeout())?
            .release();
        self.loaded.synchronize()
    }

    fn recipe(&self, mode: Mode, runs: u64) -> Recipe<'static> {
        Recipe::new(
            mode,
            &self.loaded,
            runs,
            self.job.is_host_timed,
            self.settings.device_flush(),
        )
    }

    /// A guess at the time of the launches, from some that are not hidden.
    fn estimate(&self) -> Result<Nanos, DeviceError> {
        let hot = self.recipe(Mode::Hot, 1);
        let mut least = Nanos::new(f64::INFINITY);
        for _ in 0..3 {
            let time = take(&self.loaded, &self.instruments, &hot)?.time;
            if time < least {
                least = time;
            }
        }
        // Zero and less never divide.
        Ok(if least.get() >= 1.0 {
            least
        } else {
            Nanos::new(1.0)
        })
    }

    fn mode(
        &mut self,
        mode: Mode,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<ModeMeasurement, Failure> {
        tell(Progress::WarmingUp(mode));
        let runs = match mode {
            Mode::Batch | Mode::Graph => {
                let most = (MOST_RUNS / self.loaded.count() as f64).max(4.0);
                (BATCH_TIME.get() / self.estimate()?.get()).clamp(4.0, most) as u64
            }
            _ => 1,
        };
        let graphs = match mode {
            // One run more than `runs` in the second, so that the difference is of `runs`.
            Mode::Graph => Some((self.loaded.graph(1)?, self.loaded.graph(1 + runs)?)),
            _ => None,
        };
        let mut recipe = self.recipe(mode, runs);
        if let Some(graphs) = &graphs {
            recipe = recipe.with_graphs(graphs);
        }
        let (warm_up, held) = self.warm_up(&recipe)?;
        self.sample(&recipe, runs, warm_up, held, tell)
    }

    fn warm_up(&self, recipe: &Recipe<'_>) -> Result<(WarmUp, Held), DeviceError> {
        warm_up(self.device, self.settings, self.floors, &mut || {
            take(&self.loaded, &self.instruments, recipe)
        })
    }

    fn sample(
        &mut self,
        recipe: &Recipe<'_>,
        runs: u64,
        warm_up: WarmUp,
        held: Held,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<ModeMeasurement, Failure> {
        let mut stopping = self.stopping(runs, recipe.mode)?;
        let mut found = Found::new(recipe.mode, runs, warm_up, held);
        let start = self.device.now();
        // Outputs are looked at and inputs are made by the host. That takes as long as it takes, and leaves the time for
        // samples alone.
        let mut beside = Nanos::new(0.0);
        let mut told = start;
        let mut sensed: Option<Nanos> = None;
        let mut reasons: Option<ThrottleReasons> = None;
        let mut last: Option<Raw> = None;
        let (mut in_a_row, mut recoveries) = (0, 0);
        let spots = Spots::new(self.settings.check_seed, recipe.mode as u64);
        let can_change = self.can_change();
        // Outputs that are added to are right after a launch from restored memory alone.
        let is_rewritten = self
            .job
            .outputs()
            .all(|(_, output)| output.elements.is_poison());
        found.stopped = loop {
            let taken = found.times_ns.len() as u64;
            // A sample whose outputs are looked at starts from restored memory. Where nothing is flushed, its time would
            // be that of another state of the caches, so another launch is looked at.
            let has_new_inputs = can_change && taken == spots.new_inputs;
            let is_checked = has_new_inputs || CHECKS.contains(&taken);
            let kind = if has_new_inputs {
                CheckKind::NewInputs
            } else {
                CheckKind::Restored
            };
            let before = self.device.now();
            if has_new_inputs {
                self.look_at_inputs(taken, &mut found.checks)?;
                self.generation = (self.generation + 1) % 2;
                self.loaded.fill(self.job, self.generation)?;
                self.inputs = self.loaded.digests(self.job)?;
            }
            if is_checked && recipe.mode != Mode::Cold {
                self.check(kind, taken, recipe.mode, &mut found.checks)?;
            } else if is_checked {
                self.loaded.restore(self.job)?;
            }
            if self.settings.has_fresh_inputs && !is_checked {
                self.generation = (self.generation + 1) % GENERATIONS;
                self.loaded.fill(self.job, self.generation)?;
            }
            let is_spot = !is_checked && is_rewritten && spots.is_compared(taken);
            let has_canary = !is_checked && !found.has_dead_canary && spots.has_canary(taken);
            let canaries = if has_canary {
                self.loaded.place_canaries(
                    self.job,
                    &spots,
                    taken,
                    self.settings.has_fresh_inputs,
                )?
            } else {
                Vec::new()
            };
            beside = beside + (self.device.now() - before);
            let raw = take(&self.loaded, &self.instruments, recipe)?;
            if is_spot {
                let waited = self.device.drain()?.get();
                found.left_running =
                    Some(found.left_running.map_or(waited, |least| least.min(waited)));
            }
            if !canaries.is_empty() {
                found.canaries += 1;
                let dead = self.loaded.dead_canaries(self.job, &canaries, self.rule)?;
                found.has_dead_canary = !dead.is_empty();
                if found.has_dead_canary {
                    found.checks.push(CheckPoint {
                        kind: CheckKind::Canary,
                        after_samples: taken,
                        outcomes: dead,
                    });
                }
            }
            if is_checked && recipe.mode == Mode::Cold {
                self.compare(kind, taken, &mut found.checks)?;
            } else if is_spot {
                self.compare(CheckKind::Timed, taken, &mut found.checks)?;
            }
            let was_looked_at = is_checked || is_spot || !canaries.is_empty();
            if was_looked_at {
                beside = beside + (self.device.now() - raw.host_stop);
            }
            let was_between = was_looked_at || self.settings.has_fresh_inputs;
            if let Some(before) = last.filter(|_| !was_between) {
                found.overheads.push((raw.began - before.host_stop).get());
                found.preparations.push((raw.host_start - raw.began).get());
            }
            // What was done after a sample is not between two of them.
            last = (!was_looked_at).then_some(raw);
            if sensed.is_none_or(|sensed| raw.host_stop - sensed >= SENSORS_EVERY) {
                reasons = found.sense(&self.device.sensors());
                sensed = Some(self.device.now());
                last = None;
            }
            let rejection = held.judge(raw.clock.as_ref(), reasons);
            found.push(&raw, rejection);
            let elapsed = self.device.now() - start - beside;
            let is_late = elapsed.get() >= self.settings.max_time_ns;
            match rejection {
                None => {
                    in_a_row = 0;
                    let elapsed = Duration::from_nanos(elapsed.get().max(0.0) as u64);
                    match stopping.push(raw.time.get().max(0.0), elapsed) {
                        Ok(Some(reason)) => break reason.into(),
                        Ok(None) => {}
                        Err(error) => return Err(unusable(&error)),
                    }
                }
                Some(_) => {
                    in_a_row += 1;
                    if in_a_row >= REJECTED_IN_A_ROW {
                        if recoveries >= RECOVERIES {
                            break Stopped::ClockNotHeld;
                        }
                        recoveries += 1;
                        in_a_row = 0;
                        self.device.pause(Nanos::new(50e6 * f64::from(recoveries)));
                        last = None;
                    }
                    if is_late {
                        break Stopped::MaxTime;
                    }
                    if found.times_ns.len() >= self.settings.max_samples.saturating_mul(2) {
                        break Stopped::MaxSamples;
                    }
                }
            }
            if self.device.now() - told >= TELL_EVERY {
                told = self.device.now();
                tell(Progress::Sampling {
                    mode: recipe.mode,
                    samples: stopping.taken() as u64,
                    precision: stopping
                        .interval()
                        .map(|interval| interval.half_width() / interval.upper.max(1.0)),
                });
            }
        };
        found.sampling_ns = (self.device.now() - start - beside).get();
        // The last launch, too: a kernel may turn wrong after many calls.
        let before = self.device.now();
        let taken = found.times_ns.len() as u64;
        self.check(CheckKind::Restored, taken, recipe.mode, &mut found.checks)?;
        found.beside_ns = (beside + (self.device.now() - before)).get();
        found.sense(&self.device.sensors());
        Ok(found.finish())
    }

    fn stopping(&self, runs: u64, mode: Mode) -> Result<Stopping, Failure> {
        let step = match mode {
            // The clock of the host is finer than anything that is measured with it.
            Mode::Latency => None,
            _ => Some(self.floors.timer_step_ns / runs.max(1) as f64).filter(|step| *step > 0.0),
        };
        Stopping::new(StoppingRule {
            precision: self.settings.precision,
            confidence: Confidence::P95,
            min_samples: self.settings.min_samples,
            max_samples: self.settings.max_samples,
            min_time: Duration::from_nanos(
                self.settings.min_time_ns.min(self.settings.max_time_ns) as u64,
            ),
            max_time: Duration::from_nanos(self.settings.max_time_ns as u64),
            step,
        })
        .map_err(|error| unusable(&error))
    }

    /// Whether the inputs can get other values, of which it is known what the outputs are then. A simulated device computes
    /// nothing, so that what is known beforehand stays the same there.
    fn can_change(&self) -> bool {
        let is_fixed = self.device.properties().is_simulated() && self.right.is_known();
        !self.settings.has_fresh_inputs && !is_fixed && self.right.generations() > 1
    }

    /// Restores memory, launches as the samples do, and looks at the outputs.
    fn check(
        &self,
        kind: CheckKind,
        taken: u64,
        mode: Mode,
        checks: &mut Vec<CheckPoint>,
    ) -> Result<(), DeviceError> {
        // One run, however many a sample has: outputs that are added to would be those of several.
        let launches = self.loaded.count();
        // Behind other launches and with no time between, as in the samples.
        if let Some(twin) = self.twin.as_ref().filter(|_| is_close(mode)) {
            twin.follow(&self.loaded, launches)?;
        } else {
            self.loaded.restore(self.job)?;
            take(&self.loaded, &self.instruments, &self.recipe(Mode::Hot, 1))?;
        }
        self.compare(kind, taken, checks)
    }

    fn compare(
        &self,
        kind: CheckKind,
        taken: u64,
        checks: &mut Vec<CheckPoint>,
    ) -> Result<(), DeviceError> {
        let outcomes = self
            .right
            .compare(&self.loaded, self.job, self.rule, self.generation)?;
        checks.push(CheckPoint {
            kind,
            after_samples: taken,
            outcomes,
        });
        Ok(())
    }
}

/// Takes samples and throws them away, until the clock has settled.
pub(super) fn warm_up(
    device: &dyn Device,
    settings: &Settings,
    floors: &Floors,
    sample: &mut dyn FnMut() -> Result<Raw, DeviceError>,
) -> Result<(WarmUp, Held), DeviceError> {
    let start = device.now();
    let mut clocks: Vec<(Nanos, f64)> = Vec::new();
    let mut samples = 0_u64;
    let limit = Nanos::new(settings.max_warm_up_ns);
    let ended = loop {
        let raw = sample()?;
        samples += 1;
        clocks.extend(
            raw.clock
                .map(|reading| (raw.host_stop, reading.clock.get())),
        );
        let elapsed = device.now() - start;
        if elapsed >= limit {
            break if clocks.is_empty() {
                WarmUpEnd::NoClock
            } else {
                WarmUpEnd::Limit
            };
        }
        let each = elapsed * (1.0 / samples as f64);
        let window = Nanos::new(SETTLED_OVER.get().max(SETTLED_SAMPLES * each.get()));
        let is_due = elapsed >= LEAST_WARM_UP && elapsed >= window * 2.0;
        if is_due && clocks.is_empty() {
            break WarmUpEnd::NoClock;
        }
        if is_due && is_settled(&clocks, window) {
            break WarmUpEnd::Settled;
        }
    };
    let from = clocks
        .last()
        .map_or(start, |(time, _)| *time - SETTLED_OVER);
    let last: Vec<f64> = clocks
        .iter()
        .filter(|(time, _)| *time >= from)
        .map(|(_, clock)| *clock)
        .collect();
    let warm_up = WarmUp {
        ended,
        time_ns: (device.now() - start).get(),
        samples,
    };
    let held = Held::new(&last, settings.clock_tolerance, floors.timer_step_ns);
    Ok((warm_up, held))
}

/// Whether the clock of the last window is that of the window before.
fn is_settled(clocks: &[(Nanos, f64)], window: Nanos) -> bool {
    let Some((end, _)) = clocks.last() else {
        return false;
    };
    let between = |from: Nanos, to: Nanos| {
        let within: Vec<f64> = clocks
            .iter()
            .filter(|(time, _)| *time > from && *time <= to)
            .map(|(_, clock)| *clock)
            .collect();
        median(&within)
    };
    let middle = *end - window;
    match (between(middle - window, middle), between(middle, *end)) {
        (Some(before), Some(now)) => (now / before - 1.0).abs() <= SETTLED_WITHIN,
        _ => false,
    }
}

fn unusable(error: &ridge_stats::Error) -> Failure {
    Failure {
        code: error.code().to_owned(),
        kind: super::failure::FailureKind::Machine,
        message: error.to_string(),
        hint: None,
        log: None,
    }
}

/// What is found while sampling.
struct Found {
    mode: Mode,
    runs: u64,
    warm_up: WarmUp,
    held: Held,
    times_ns: Vec<f64>,
    host_ns: Vec<f64>,
    clocks_hz: Vec<Option<f64>>,
    rejections: Vec<Option<Rejection>>,
    overheads: Vec<f64>,
    preparations: Vec<f64>,
    checks: Vec<CheckPoint>,
    canaries: u64,
    has_dead_canary: bool,
    left_running: Option<f64>,
    stopped: Stopped,
    sampling_ns: f64,
    beside_ns: f64,
    readings: u64,
    reasons: Option<ThrottleReasons>,
    powers: Vec<f64>,
    temperature: Option<f64>,
    memory_clock: Option<f64>,
    processes: Option<u64>,
}

impl Found {
    fn new(mode: Mode, runs: u64, warm_up: WarmUp, held: Held) -> Self {
        Self {
            mode,
            runs,
            warm_up,
            held,
            times_ns: Vec::new(),
            host_ns: Vec::new(),
            clocks_hz: Vec::new(),
            rejections: Vec::new(),
            overheads: Vec::new(),
            preparations: Vec::new(),
            checks: Vec::new(),
            canaries: 0,
            has_dead_canary: false,
            left_running: None,
            stopped: Stopped::MaxTime,
            sampling_ns: 0.0,
            beside_ns: 0.0,
            readings: 0,
            reasons: None,
            powers: Vec::new(),
            temperature: None,
            memory_clock: None,
            processes: None,
        }
    }

    fn push(&mut self, raw: &Raw, rejection: Option<Rejection>) {
        self.times_ns.push(raw.time.get());
        self.host_ns.push(raw.host.get());
        self.clocks_hz
            .push(raw.clock.map(|reading| reading.clock.get()));
        self.rejections.push(rejection);
    }

    /// Takes what the sensors say; the reasons of this moment are returned.
    fn sense(&mut self, readings: &Readings) -> Option<ThrottleReasons> {
        self.readings += 1;
        if let Some(reasons) = readings.throttle {
            self.reasons = Some(self.reasons.unwrap_or_default().union(reasons));
        }
        self.powers.extend(readings.power_watts);
        if let Some(temperature) = readings.temperature_celsius {
            self.temperature = Some(
                self.temperature
                    .map_or(temperature, |before| before.max(temperature)),
            );
        }
        self.memory_clock = readings
            .memory_clock
            .map(|clock| clock.get())
            .or(self.memory_clock);
        if let Some(processes) = &readings.processes {
            let count = processes.len() as u64;
            self.processes = Some(self.processes.map_or(count, |before| before.max(count)));
        }
        readings.throttle
    }

    fn finish(self) -> ModeMeasurement {
        ModeMeasurement {
            mode: self.mode,
            runs_per_sample: self.runs,
            overhead_ns: median(&self.overheads),
            preparation_ns: median(&self.preparations),
            times_ns: self.times_ns,
            host_ns: self.host_ns,
            clocks_hz: self.clocks_hz,
            rejections: self.rejections,
            stopped: self.stopped,
            sampling_ns: self.sampling_ns,
            beside_ns: self.beside_ns,
            warm_up: self.warm_up,
            held_clock_hz: self.held.clock_hz,
            clock_tolerance: self.held.tolerance,
            sensors: SensorSummary {
                readings: self.readings,
                throttle_reasons: self.reasons.map(|reasons| {
                    reasons
                        .iter()
                        .map(|reason| reason.name().to_owned())
                        .collect()
                }),
                power_w: median(&self.powers),
                temperature_c: self.temperature,
                memory_clock_hz: self.memory_clock,
                processes: self.processes,
            },
            checks: self.checks,
            canaries: self.canaries,
            left_running_ns: self.left_running,
        }
    }
}
