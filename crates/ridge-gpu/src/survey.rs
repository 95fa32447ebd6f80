//! What the driver and NVML say about all GPUs, for who asks why something does not work: nothing here fails as a whole.

use std::path::PathBuf;

use ridge_model::ComputeCapability;
use ridge_model::quantity::Hertz;

use crate::cuda::{CudaDevice, CudaOptions};
use crate::device::{Device, Properties, Readings};
use crate::error::{DeviceError, Version};
use crate::nvml::{self, Clock, Nvml};

/// What was found.
#[derive(Debug)]
pub struct Survey {
    /// How many GPUs the driver shows to this process, or why there is no driver.
    pub count: Result<u32, DeviceError>,
    /// Each of these, opened and computed on, or why not.
    pub opened: Vec<Result<Opened, DeviceError>>,
    /// The GPUs that NVML sees, or why there is no NVML.
    pub seen: Result<Vec<Seen>, String>,
    /// The driver's own version, as NVML tells it.
    pub driver_release: Option<String>,
}

/// A GPU on which a kernel of our own ran.
#[derive(Clone, Debug)]
pub struct Opened {
    /// What it is.
    pub properties: Properties,
    /// The version of CUDA that the driver is for.
    pub cuda: Option<Version>,
}

/// A GPU that NVML sees, whether this process may use it or not.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Its name.
    pub name: Option<String>,
    /// Its identifier.
    pub uuid: Option<String>,
    /// Its compute capability.
    pub capability: Option<ComputeCapability>,
    /// Whether it is cut into partitions (MIG).
    pub is_mig_on: Option<bool>,
    /// Whether errors of its memory are corrected.
    pub is_ecc_on: Option<bool>,
    /// Whether the driver stays initialised without users.
    pub is_persistent: Option<bool>,
    /// The highest SM clock.
    pub max_sm_clock: Option<Hertz>,
    /// What its sensors say. Processes are those of all users.
    pub readings: Readings,
}

/// Asks the driver and NVML. Sensors are read before any GPU is opened, so that idle ones are seen idle.
#[must_use]
pub fn survey(options: &CudaOptions) -> Survey {
    let nvml = Nvml::load(&options.nvml);
    let seen = nvml.clone().map(|nvml| {
        (0..nvml.count().unwrap_or(0))
            .filter_map(|place| nvml.by_index(place))
            .map(seen)
            .collect()
    });
    let count = CudaDevice::count(options);
    let opened = (0..*count.as_ref().unwrap_or(&0))
        .map(|ordinal| {
            let options = CudaOptions {
                ordinal,
                ..options.clone()
            };
            CudaDevice::open(&options).map(|device| {
                let properties = device.properties().clone();
                Opened {
                    cuda: properties.driver,
                    properties,
                }
            })
        })
        .collect();
    Survey {
        count,
        opened,
        seen,
        driver_release: nvml.ok().and_then(Nvml::driver_release),
    }
}

fn seen(gpu: nvml::Gpu) -> Seen {
    Seen {
        name: gpu.name(),
        uuid: gpu.uuid(),
        capability: gpu
            .capability()
            .map(|(major, minor)| ComputeCapability { major, minor }),
        is_mig_on: gpu.is_mig_on(),
        is_ecc_on: gpu.is_ecc_on(),
        is_persistent: gpu.is_persistent(),
        max_sm_clock: gpu.max_clock(Clock::Sm).map(nvml::megahertz),
        readings: nvml::readings(gpu),
    }
}

/// The first candidate that the system's loader can load. It stays loaded: libraries of GPUs have threads of their own.
#[must_use]
pub fn first_loadable(candidates: &[PathBuf]) -> Option<PathBuf> {
    candidates.iter().find(|path| nvml::loads(path)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_libraries_everything_says_why() {
        let nowhere = vec![PathBuf::from("/nonexistent/lib.so")];
        let found = survey(&CudaOptions {
            driver: nowhere.clone(),
            nvml: nowhere.clone(),
            ..CudaOptions::default()
        });
        assert!(found.count.is_err());
        assert!(found.opened.is_empty());
        assert!(found.seen.unwrap_err().contains("/nonexistent/lib.so"));
        assert_eq!(first_loadable(&nowhere), None);
    }
}
