//! What nothing costs: an empty pair of events, an empty kernel, and the step of the timer.

use ridge_gpu::{Device, DeviceError};
use ridge_model::quantity::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::clock;
use super::loaded::Loaded;
use super::mode::Mode;
use super::sample::{Instruments, Recipe, take};
use super::settings::Settings;
use crate::spec::job::{Job, JobLaunch};

/// What nothing costs on a device. Shown beside times, never subtracted from them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Floors {
    /// An empty pair of events.
    pub event_ns: f64,
    /// An empty kernel between two events, its launch hidden.
    pub kernel_ns: f64,
    /// An empty kernel and the wait for it, as the host sees it.
    pub latency_ns: f64,
    /// The smallest difference that event times show.
    pub timer_step_ns: f64,
}

/// An empty kernel as text that every driver compiles by itself, so that no compiler is needed.
const EMPTY: &str =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry ridge_empty()\n{\n\tret;\n}\n";
const SAMPLES: usize = 41;

/// Measures them.
pub(super) fn measure(device: &dyn Device, settings: &Settings) -> Result<Floors, DeviceError> {
    let module = device.load(EMPTY.as_bytes())?;
    let job = Job {
        kernel: "empty".to_owned(),
        source: String::new(),
        options: Vec::new(),
        launches: vec![JobLaunch {
            entry: "ridge_empty".to_owned(),
            grid: [1; 3],
            block: [32, 1, 1],
            cluster: None,
            shared: 0,
            args: Vec::new(),
        }],
        repeat: 1,
        buffers: Vec::new(),
        bytes: None,
        flops: None,
        format: String::new(),
        is_tensor: false,
        is_host_timed: false,
        simulated_traffic: 1.0,
    };
    let loaded = Loaded::new(device, &module, &job, &[], Nanos::new(settings.timeout_ns))?;
    let instruments = Instruments::new(device)?;
    // Loads the blocking kernel and the probe before they are needed inside a blocked stream.
    loaded.launch(0, 1)?;
    loaded.synchronize()?;
    let flush = settings.device_flush();
    let kernel = Recipe::new(Mode::Hot, &loaded, 1, false, flush);
    let latency = Recipe::new(Mode::Latency, &loaded, 1, false, flush);
    let event = Recipe {
        launches: 0,
        ..Recipe::new(Mode::Hot, &loaded, 1, false, flush)
    };
    device.block(&loaded.stream, loaded.timeout())?.release();
    loaded.synchronize()?;
    let mut all = Vec::new();
    let mut middle = |recipe: &Recipe<'_>| -> Result<f64, DeviceError> {
        let mut times = Vec::new();
        for _ in 0..SAMPLES {
            times.push(take(&loaded, &instruments, recipe)?.time.get());
        }
        // The first ones still warm up.
        let times = times.split_off(SAMPLES / 4);
        if recipe.mode != Mode::Latency {
            all.extend(times.iter().copied());
        }
        Ok(clock::median(&times).unwrap_or(0.0))
    };
    let (event_ns, kernel_ns, latency_ns) = (middle(&event)?, middle(&kernel)?, middle(&latency)?);
    Ok(Floors {
        event_ns,
        kernel_ns,
        latency_ns,
        timer_step_ns: step(&mut all)
            .or(device.properties().timer_step.map(|step| step.get()))
            .unwrap_or(1.0),
    })
}

/// The smallest difference between times that is more than the rounding of a 32-bit float.
fn step(times: &mut [f64]) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    times
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .filter(|difference| *difference >= 1.0)
        .min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ridge_gpu::{SimDevice, SimOptions};

    #[test]
    fn an_empty_kernel_is_above_an_empty_pair() {
        let device = SimDevice::open(&SimOptions::named("h200").unwrap()).unwrap();
        let floors = measure(&device, &Settings::default()).unwrap();
        assert!(
            floors.event_ns > 0.0 && floors.kernel_ns > floors.event_ns,
            "{floors:?}"
        );
        assert!(floors.latency_ns > floors.kernel_ns, "{floors:?}");
        // The simulated timer has steps of 32 ns.
        assert!((floors.timer_step_ns - 32.0).abs() < 1e-9, "{floors:?}");
    }
}
