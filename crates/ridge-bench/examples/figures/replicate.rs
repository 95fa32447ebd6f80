//! One replicate: arms of more or less work, measured in turns in a fresh process.

use std::error::Error;

use ridge_bench::check::Rule;
use ridge_bench::expression::Names;
use ridge_bench::protocol::{FlushKind, Right, Settings, Source, Task, Turns, floors};
use ridge_bench::spec::Spec;
use ridge_gpu::Device;
use ridge_stats::{Random, Samples};
use serde::{Deserialize, Serialize};

/// The kernels' source.
pub(crate) const SOURCE: &str = include_str!("kernels.cu");

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kernel {
    /// Bound by memory: its work is bytes.
    Sum,
    /// Bound by the issue of instructions: its work is turns of a loop.
    Fma,
}

impl Kernel {
    pub(crate) const ALL: [Self; 2] = [Self::Sum, Self::Fma];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Fma => "fma",
        }
    }

    /// The least work, and what it can be made larger by.
    const fn work(self) -> (u64, u64) {
        match self {
            // 134 MB are read: about 30 us on an H200. A block sums 4096 floats.
            Self::Sum => (1 << 25, 4096),
            Self::Fma => (2000, 1),
        }
    }

    /// Work that is larger by a share, and the share that it comes to in whole units.
    pub(crate) fn larger(self, growth: f64) -> (u64, f64) {
        let (base, unit) = self.work();
        let units = (base as f64 * (1.0 + growth) / unit as f64).round();
        let work = units as u64 * unit;
        (work, work as f64 / base as f64 - 1.0)
    }

    fn spec(self, work: u64) -> String {
        match self {
            Self::Sum => format!(
                r#"
                bytes = "n * 4"
                [sizes]
                n = {work}
                [buffers]
                in = {{ type = "f32", length = "n", init = "random", low = -1.0, high = 1.0, seed = 1 }}
                out = {{ type = "f32", length = "n / 512" }}
                [kernels.sum]
                entry = "sum"
                grid = "n / 4096"
                block = 256
                args = ["in", "out"]
                "#
            ),
            Self::Fma => format!(
                r#"
                flops = "2 * 4 * iterations * threads"
                format = "fp32"
                [sizes]
                iterations = {work}
                threads = 135168                # 4 blocks on each of 132 SMs
                [buffers]
                out = {{ type = "f32", length = "threads" }}
                [scalars]
                iterations = {{ type = "i32" }}
                [kernels.fma]
                entry = "fma_chain"
                grid = "threads / 256"
                block = 256
                args = ["out", "iterations"]
                "#
            ),
        }
    }

    fn task(self, growth: f64, image: &[u8]) -> Result<Task, Box<dyn Error>> {
        let spec = Spec::read(&self.spec(self.larger(growth).0))?;
        let names = Names::default();
        let states = spec.states(&names)?;
        let state = states.first().ok_or("the spec has no state")?;
        Ok(Task {
            job: spec.job(state, &names)?,
            source: Source {
                name: "kernels.cu".to_owned(),
                content: image.to_vec(),
                options: vec!["--std=c++17".to_owned()],
                include_paths: Vec::new(),
            },
            right: Right::Unknown,
            rule: Rule::new(spec.check.mode, spec.check.tolerance),
        })
    }
}

/// What to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) kernel: Kernel,
    /// One arm for each: the share by which its work is larger.
    pub(crate) growths: Vec<f64>,
    pub(crate) rounds: usize,
    /// Samples of a turn.
    pub(crate) samples: usize,
    pub(crate) flush: FlushKind,
    pub(crate) seed: u64,
}

/// What a replicate gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Replicate {
    /// The median of each arm in each round, in nanoseconds.
    pub(crate) rounds: Vec<Vec<f64>>,
    /// Rounds that are left out, because an arm had fewer than half of its samples.
    pub(crate) rounds_left_out: usize,
    /// Samples that were rejected for their clock.
    pub(crate) rejected: usize,
    /// The smallest difference of times.
    pub(crate) timer_step_ns: f64,
    pub(crate) warm_up_ns: f64,
}

/// Measures one. `image`: the kernels' source, or what a compiler made of it.
pub(crate) fn replicate(
    device: &dyn Device,
    plan: &Plan,
    image: &[u8],
) -> Result<Replicate, Box<dyn Error>> {
    let settings = Settings {
        flush: plan.flush,
        max_warm_up_ns: 500e6,
        ..Settings::default()
    };
    let told = |failure: ridge_bench::protocol::Failure| failure.message;
    let floors = floors(device, &settings).map_err(told)?;
    let tasks: Result<Vec<Task>, _> = plan
        .growths
        .iter()
        .map(|growth| plan.kernel.task(*growth, image))
        .collect();
    let mut turns = Turns::new(device, &tasks?, &settings, &floors).map_err(told)?;
    let warm_up = turns.warm_up().map_err(told)?;
    let mut found = Replicate {
        rounds: Vec::new(),
        rounds_left_out: 0,
        rejected: 0,
        timer_step_ns: floors.timer_step_ns,
        warm_up_ns: warm_up.time_ns,
    };
    let mut random = Random::new(plan.seed);
    for _ in 0..plan.rounds {
        let round = turns.round(plan.samples, &mut random).map_err(told)?;
        found.rejected += round.iter().map(|turn| turn.rejected.len()).sum::<usize>();
        let medians: Option<Vec<f64>> = round
            .into_iter()
            .map(|turn| median(turn.times_ns, plan.samples))
            .collect();
        match medians {
            Some(medians) => found.rounds.push(medians),
            None => found.rounds_left_out += 1,
        }
    }
    Ok(found)
}

/// Of a turn with at least half of its samples.
fn median(times: Vec<f64>, wanted: usize) -> Option<f64> {
    if times.len() * 2 < wanted {
        return None;
    }
    Some(Samples::new(times).ok()?.median())
}
