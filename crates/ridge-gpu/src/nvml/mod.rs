//! NVML: sensors, and locks of clocks.

mod library;

pub(crate) use library::{Clock, Gpu, Nvml, Refused, loads};

use ridge_model::quantity::Hertz;

use crate::device::{GpuProcess, Readings, ThrottleReasons};

/// A clock in MHz.
pub(crate) fn megahertz(clock: u32) -> Hertz {
    Hertz::new(f64::from(clock) * 1e6)
}

/// What the sensors of a GPU say.
pub(crate) fn readings(gpu: Gpu) -> Readings {
    let processes = gpu.processes().map(|processes| {
        let process = |(pid, memory_bytes)| GpuProcess { pid, memory_bytes };
        processes.into_iter().map(process).collect()
    });
    Readings {
        sm_clock: gpu.clock(Clock::Sm).map(megahertz),
        memory_clock: gpu.clock(Clock::Memory).map(megahertz),
        power_watts: gpu.power().map(|power| f64::from(power) / 1e3),
        energy_joules: gpu.energy().map(|energy| energy as f64 / 1e3),
        temperature_celsius: gpu.temperature().map(f64::from),
        throttle: gpu.reasons().map(ThrottleReasons::from_bits),
        processes,
    }
}
