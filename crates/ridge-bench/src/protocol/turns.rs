//! Several tasks that are measured in turns, so that what changes over time changes all of them alike.

use ridge_gpu::{Device, DeviceError, Module};
use ridge_model::quantity::Nanos;
use ridge_stats::Random;

use super::clock::{Held, Rejection};
use super::failure::Failure;
use super::floors::Floors;
use super::loaded::Loaded;
use super::measure::{Task, WarmUp, load, lowered, warm_up};
use super::mode::Mode;
use super::sample::{Instruments, Raw, Recipe, take};
use super::settings::Settings;

/// Tasks on a device, each with memory of its own, measured in turns.
///
/// Samples are those of [`super::measure`], in the first of the modes of the settings. Outputs are not looked at: that is
/// what [`super::measure`] is for. A comparison takes rounds of several of these, each in a fresh process, to
/// [`ridge_stats::compare_rounds`].
pub struct Turns<'a> {
    device: &'a dyn Device,
    settings: &'a Settings,
    floors: &'a Floors,
    arms: Vec<Arm<'a>>,
    instruments: Instruments,
    held: Option<Held>,
}

/// A task on the device. The module is dropped after everything that came from it.
struct Arm<'a> {
    loaded: Loaded<'a>,
    recipe: Recipe<'static>,
    _module: Module,
}

/// What one turn of one task gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turn {
    /// Times of the samples that count.
    pub times_ns: Vec<f64>,
    /// Why others do not.
    pub rejected: Vec<Rejection>,
}

impl<'a> Turns<'a> {
    /// Compiles, allocates, and launches everything once, with nothing blocked.
    ///
    /// # Errors
    /// When a task cannot be compiled, launched or run, or when the mode is batch or graph, whose samples are of many
    /// launches.
    pub fn new(
        device: &'a dyn Device,
        tasks: &[Task],
        settings: &'a Settings,
        floors: &'a Floors,
    ) -> Result<Self, Failure> {
        let mode = settings.modes.first().copied().unwrap_or(Mode::Cold);
        if matches!(mode, Mode::Batch | Mode::Graph) {
            return Err(DeviceError::Unsupported {
                feature: "turns of many launches",
                reason: format!("the mode is {mode}; cold, hot and latency are measured in turns"),
            }
            .into());
        }
        let mut arms = Vec::new();
        for task in tasks {
            let loadable = load(device, &task.source, &task.job)?;
            let job = lowered(&task.job, &loadable);
            let timeout = Nanos::new(settings.timeout_ns);
            let loaded = Loaded::new(device, &loadable.module, &job, &[], timeout)?;
            loaded.launch(0, loaded.count())?;
            loaded.synchronize()?;
            if mode == Mode::Cold {
                device.flush_l2(&loaded.stream, settings.device_flush())?;
            }
            device.block(&loaded.stream, timeout)?.release();
            loaded.synchronize()?;
            let flush = settings.device_flush();
            arms.push(Arm {
                recipe: Recipe::new(mode, &loaded, 1, job.is_host_timed, flush),
                loaded,
                _module: loadable.module,
            });
        }
        Ok(Self {
            device,
            settings,
            floors,
            arms,
            instruments: Instruments::new(device)?,
            held: None,
        })
    }

    /// Takes samples of all tasks and throws them away, until the clock has settled. That clock is held from then on.
    ///
    /// # Errors
    /// When a call to the device fails.
    pub fn warm_up(&mut self) -> Result<WarmUp, Failure> {
        let mut arms = self.arms.iter().cycle();
        let mut sample = || arms.next().map_or_else(none, |arm| self.take(arm));
        let (found, held) = warm_up(self.device, self.settings, self.floors, &mut sample)?;
        self.held = Some(held);
        Ok(found)
    }

    /// One round: each task has its turn of so many samples, in a random order. The turns are in the order of the tasks.
    ///
    /// Before a warm-up no clock is held, and no sample is rejected.
    ///
    /// # Errors
    /// When a call to the device fails.
    pub fn round(&self, samples: usize, random: &mut Random) -> Result<Vec<Turn>, Failure> {
        let mut turns = vec![Turn::default(); self.arms.len()];
        let mut order: Vec<usize> = (0..self.arms.len()).collect();
        random.shuffle(&mut order);
        let reasons = self.device.sensors().throttle;
        for place in order {
            for _ in 0..samples {
                let raw = self.take(&self.arms[place])?;
                let rejection = self
                    .held
                    .and_then(|held| held.judge(raw.clock.as_ref(), reasons));
                match rejection {
                    Some(rejection) => turns[place].rejected.push(rejection),
                    None => turns[place].times_ns.push(raw.time.get()),
                }
            }
        }
        Ok(turns)
    }

    fn take(&self, arm: &Arm<'_>) -> Result<Raw, DeviceError> {
        take(&arm.loaded, &self.instruments, &arm.recipe)
    }
}

fn none() -> Result<Raw, DeviceError> {
    Err(DeviceError::InvalidLaunch {
        reason: "there is no task to measure".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use ridge_gpu::{SimDevice, SimOptions};
    use ridge_stats::Samples;

    use super::super::{Right, Source, floors};
    use super::*;
    use crate::check::Rule;
    use crate::expression::Names;
    use crate::spec::Spec;

    fn device(options: &str) -> SimDevice {
        SimDevice::open(&SimOptions::parse(&format!("h200{options}")).unwrap()).unwrap()
    }

    /// Tasks that copy so many floats each.
    fn tasks(lengths: &[u64]) -> Vec<Task> {
        let task = |length: &u64| {
            let spec = Spec::read(&format!(
                r#"
                [buffers]
                in = {{ type = "f32", length = {length}, init = "random", seed = 1 }}
                out = {{ type = "f32", length = {length} }}
                [kernels.copy]
                entry = "copy"
                grid = 1024
                block = 256
                args = ["in", "out"]
                "#
            ))
            .unwrap();
            let names = Names::default();
            let state = &spec.states(&names).unwrap()[0];
            Task {
                job: spec.job(state, &names).unwrap(),
                source: Source {
                    name: "copy.cu".to_owned(),
                    content: b"extern \"C\" __global__ void copy(const float* in, float* out) { }"
                        .to_vec(),
                    options: Vec::new(),
                    include_paths: Vec::new(),
                },
                right: Right::Unknown,
                rule: Rule::new(spec.check.mode, spec.check.tolerance),
            }
        };
        lengths.iter().map(task).collect()
    }

    fn median(times: &[f64]) -> f64 {
        Samples::new(times.to_vec()).unwrap().median()
    }

    #[test]
    fn work_shows_in_the_turns_of_its_task_whatever_the_order() {
        let (device, settings) = (device(""), Settings::default());
        let floors = floors(&device, &settings).unwrap();
        let mut turns = Turns::new(
            &device,
            &tasks(&[1 << 24, 1 << 25, 1 << 24]),
            &settings,
            &floors,
        )
        .unwrap();
        turns.warm_up().unwrap();
        let mut random = Random::new(1);
        for _ in 0..5 {
            let round = turns.round(9, &mut random).unwrap();
            assert!(
                round
                    .iter()
                    .all(|turn| turn.times_ns.len() == 9 && turn.rejected.is_empty()),
                "{round:?}"
            );
            let medians: Vec<f64> = round.iter().map(|turn| median(&turn.times_ns)).collect();
            assert!(
                medians[1] > 1.8 * medians[0] && medians[1] > 1.8 * medians[2],
                "{medians:?}"
            );
            assert!((medians[2] / medians[0] - 1.0).abs() < 0.01, "{medians:?}");
        }
    }

    #[test]
    fn each_sample_is_that_of_the_protocol() {
        let (device, settings) = (device(""), Settings::default());
        let floors = floors(&device, &settings).unwrap();
        let turns = Turns::new(&device, &tasks(&[1 << 20, 1 << 20]), &settings, &floors).unwrap();
        device.record_calls();
        turns.round(3, &mut Random::new(1)).unwrap();
        let calls = device.take_calls();
        let count = |name: &str| calls.iter().filter(|call| **call == name).count();
        for once in [
            "reset_persisting_l2",
            "flush_l2",
            "block",
            "launch",
            "release",
        ] {
            assert_eq!(count(once), 6, "{once}: {calls:?}");
        }
        // Nothing that waits for the device or takes memory is between block and release.
        let mut is_blocked = false;
        for call in &calls {
            match *call {
                "block" => is_blocked = true,
                "release" => is_blocked = false,
                "synchronize" | "allocate" | "load" | "write" => assert!(!is_blocked, "{calls:?}"),
                _ => {}
            }
        }
    }

    #[test]
    fn a_clock_that_falls_after_the_warm_up_rejects_samples() {
        let (device, settings) = (device(",throttle=200ms:0.8"), Settings::default());
        let floors = floors(&device, &settings).unwrap();
        let mut turns = Turns::new(&device, &tasks(&[1 << 24]), &settings, &floors).unwrap();
        turns.warm_up().unwrap();
        device.pause(Nanos::new(300e6));
        let round = turns.round(5, &mut Random::new(1)).unwrap();
        assert_eq!(round[0].times_ns, Vec::<f64>::new());
        assert_eq!(round[0].rejected, [Rejection::ClockLow; 5]);
    }

    #[test]
    fn what_cannot_be_measured_in_turns_is_an_error() {
        let device = device("");
        let batch = Settings {
            modes: vec![Mode::Batch],
            ..Settings::default()
        };
        let floors = floors(&device, &batch).unwrap();
        let refused = Turns::new(&device, &tasks(&[1 << 20]), &batch, &floors)
            .err()
            .unwrap();
        assert!(refused.message.contains("the mode is batch"), "{refused:?}");
        let settings = Settings::default();
        let mut nothing = Turns::new(&device, &[], &settings, &floors).unwrap();
        assert!(nothing.warm_up().unwrap_err().message.contains("no task"));
    }
}
