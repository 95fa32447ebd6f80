//! What the driver and the libraries say, asked in a process of its own: a driver that hangs or crashes ends that one.

use std::path::{Path, PathBuf};

use ridge_collect::doctor::{Device, Driver, Failure, Gpu, Library, LibraryName, Machine, Process};
use ridge_gpu::{CudaOptions, DeviceError, NoGpu, Opened, Search, Seen, Survey, first_loadable};
use ridge_model::quantity::Hertz;

use crate::exit::{self, Code};
use crate::gpu;

/// The hidden verb of that process.
pub(crate) const SURVEY: &str = "__survey";

/// Writes the part of the facts that only libraries tell into a file.
pub(crate) fn survey(file: &str) -> Code {
    let options = CudaOptions::found(&gpu::search());
    let machine = facts(&ridge_gpu::survey(&options));
    let text = serde_json::to_string(&machine).map_err(std::io::Error::from);
    match text.and_then(|text| std::fs::write(file, text)) {
        Ok(()) => exit::FINE,
        Err(_) => exit::UNABLE,
    }
}

fn failure(error: &DeviceError) -> Failure {
    Failure {
        message: error.to_string(),
        hint: error.hint(),
    }
}

fn facts(found: &Survey) -> Machine {
    let cuda = found
        .opened
        .iter()
        .flatten()
        .find_map(|opened| opened.cuda)
        .map(|version| version.to_string());
    let driver = match &found.count {
        Ok(devices) => Ok(Driver {
            release: found.driver_release.clone(),
            cuda,
            devices: *devices,
        }),
        // A driver that sees no GPU is one.
        Err(DeviceError::NoGpu(reason)) if **reason == NoGpu::NoDevice => Ok(Driver {
            release: found.driver_release.clone(),
            cuda,
            devices: 0,
        }),
        Err(error) => Err(failure(error)),
    };
    let devices = found
        .opened
        .iter()
        .map(|opened| opened.as_ref().map(device).map_err(failure))
        .collect();
    Machine {
        driver: Some(driver),
        gpus: Some(
            found
                .seen
                .as_ref()
                .map(|seen| seen.iter().map(gpu_of).collect())
                .map_err(Clone::clone),
        ),
        devices,
        libraries: libraries(),
        ..Machine::default()
    }
}

fn device(opened: &Opened) -> Device {
    let properties = &opened.properties;
    Device {
        name: properties.name.clone(),
        capability: (properties.capability.major, properties.capability.minor),
        multiprocessors: properties.multiprocessors,
        is_mig: properties.is_mig,
        has_display_watchdog: properties.has_display_watchdog,
    }
}

fn gpu_of(seen: &Seen) -> Gpu {
    let readings = &seen.readings;
    let process = |process: &ridge_gpu::GpuProcess| Process {
        pid: process.pid,
        name: None,
        memory_bytes: process.memory_bytes,
    };
    Gpu {
        name: seen.name.clone(),
        capability: seen
            .capability
            .map(|capability| (capability.major, capability.minor)),
        sm_clock_hz: readings.sm_clock.map(Hertz::get),
        max_sm_clock_hz: seen.max_sm_clock.map(Hertz::get),
        temperature_c: readings.temperature_celsius,
        power_w: readings.power_watts,
        throttle: readings.throttle.map(|reasons| {
            let names = reasons.iter().map(|reason| reason.name().to_owned());
            let unnamed = reasons.unnamed();
            let rest = (unnamed != 0).then(|| format!("{unnamed:#x}"));
            names.chain(rest).collect()
        }),
        is_throttled: readings.throttle.map(|reasons| reasons.is_slowdown()),
        is_persistent: seen.is_persistent,
        is_mig_on: seen.is_mig_on,
        is_ecc_on: seen.is_ecc_on,
        processes: readings
            .processes
            .as_ref()
            .map(|processes| processes.iter().map(process).collect()),
    }
}

fn libraries() -> Vec<Library> {
    let search = gpu::search();
    let nvrtc = std::env::var_os("RIDGE_NVRTC")
        .map_or_else(|| search.nvrtc(), |path| vec![PathBuf::from(path)]);
    [
        (LibraryName::Driver, Search::driver()),
        (LibraryName::Nvml, Search::nvml()),
        (LibraryName::Nvrtc, nvrtc),
        (LibraryName::CublasLt, search.cublaslt()),
        (LibraryName::Cupti, search.cupti()),
    ]
    .into_iter()
    .map(|(name, candidates)| Library {
        name,
        path: first_loadable(&candidates).map(|path| whole(&path)),
    })
    .collect()
}

/// The file behind a name that the loader found: the process maps it. Links are followed, as versions stand in the names of
/// files.
fn whole(path: &Path) -> String {
    let found = if path.is_absolute() {
        Some(path.to_owned())
    } else {
        mapped(path)
    };
    let file = found.map(|file| std::fs::canonicalize(&file).unwrap_or(file));
    file.as_deref().unwrap_or(path).display().to_string()
}

fn mapped(name: &Path) -> Option<PathBuf> {
    let name = name.to_str()?;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
        let path = line.get(line.find('/')?..)?;
        let file = path.rsplit('/').next()?;
        // The loader may map the file behind the link: `libcuda.so.1` is `libcuda.so.580.95.05`.
        let stem = name.split(".so").next()?;
        (file.starts_with(stem) && file.get(stem.len()..)?.starts_with(".so"))
            .then(|| PathBuf::from(path))
    })
}
