//! Which GPU, and where its libraries are: what the environment says, for the crate that does not look at it.

use std::env;
use std::path::PathBuf;

use ridge_gpu::{CudaDevice, CudaOptions, Device, DeviceError, Search, SimDevice, SimOptions};

use crate::error::ExpectedError;

/// Opens the device of a `--device`: a number, or `sim:` and the name of a simulated one.
pub(crate) fn open(device: &str) -> Result<Box<dyn Device>, DeviceError> {
    if let Some(text) = device.strip_prefix("sim:") {
        let options = SimOptions::parse(text).map_err(|error| DeviceError::Unsupported {
            feature: "this simulated device",
            reason: error.to_string(),
        })?;
        return Ok(Box::new(SimDevice::open(&options)?));
    }
    let mut options = CudaOptions::found(&search());
    options.ordinal = device.parse().unwrap_or(0);
    if let Some(path) = env::var_os("RIDGE_NVRTC") {
        options.nvrtc = vec![PathBuf::from(path)];
    }
    Ok(Box::new(CudaDevice::open(&options)?))
}

/// Looks at a `--device` without opening it.
pub(crate) fn check(device: &str) -> Result<(), ExpectedError> {
    if let Some(text) = device.strip_prefix("sim:") {
        return SimOptions::parse(text).map(|_| ()).map_err(|error| {
            ExpectedError::usage(format!("--device {device}: {error}"))
                .with_hint("--device sim:h200, or another name that `ridge devices` lists")
        });
    }
    device.parse::<u32>().map(|_| ()).map_err(|_| {
        ExpectedError::usage(format!(
            "--device {device} is neither the number of a GPU nor a simulated one"
        ))
        .with_hint(format!("--device 0, or --device sim:{device}"))
    })
}

/// Folders that the environment names. Relative ones may hold a stranger's files.
pub(crate) fn search() -> Search {
    let named = |names: &[&str]| -> Vec<PathBuf> {
        names
            .iter()
            .filter_map(env::var_os)
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
            .collect()
    };
    let mut toolkits = named(&["CUDA_HOME", "CUDA_PATH"]);
    toolkits.push(PathBuf::from("/usr/local/cuda"));
    let mut prefixes = named(&["CONDA_PREFIX", "VIRTUAL_ENV"]);
    prefixes.push(PathBuf::from("/usr/local"));
    prefixes.push(PathBuf::from("/usr"));
    Search { toolkits, prefixes }
}

/// Folders of CUDA's headers that are there.
pub(crate) fn headers() -> Vec<PathBuf> {
    search()
        .headers()
        .into_iter()
        .filter(|folder| folder.join("cuda_fp16.h").is_file())
        .collect()
}
