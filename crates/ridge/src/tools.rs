//! Where NVIDIA's tools are, for every verb that runs or looks for one.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;

use ridge_collect::doctor::ToolName;

use crate::gpu;
use crate::process;

/// Where a tool of NVIDIA's is: the profiler where `RIDGE_NCU` says, else in `PATH` or where toolkits and installers put it.
///
/// # Errors
/// Where was looked.
pub(crate) fn find(name: ToolName) -> Result<PathBuf, Vec<String>> {
    let is_ncu = name == ToolName::Ncu;
    if let Some(named) = std::env::var_os("RIDGE_NCU").filter(|_| is_ncu) {
        return process::find(&named, &[])
            .map_err(|_| vec![format!("RIDGE_NCU ({})", named.display())]);
    }
    let mut folders = folders_of_toolkits();
    if is_ncu {
        folders.extend(folders_of_ncu());
    }
    process::find(OsStr::new(name.program()), &folders)
}

/// Folders beside PATH in which toolkits keep their programs.
fn folders_of_toolkits() -> Vec<PathBuf> {
    let search = gpu::search();
    let of_toolkits = search
        .toolkits
        .iter()
        .flat_map(|toolkit| ["bin", "compute-sanitizer"].map(|folder| toolkit.join(folder)));
    let of_prefixes = search.prefixes.iter().map(|prefix| prefix.join("bin"));
    of_toolkits.chain(of_prefixes).collect()
}

/// Folders in which the profiler is installed by itself, newest first.
fn folders_of_ncu() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    if let Ok(entries) = fs::read_dir("/opt/nvidia/nsight-compute") {
        found.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
    }
    found.sort();
    found.reverse();
    found
}
