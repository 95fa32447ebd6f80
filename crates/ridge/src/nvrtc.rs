//! CUDA source to a cubin, with the user's own NVRTC where there is one.

use std::env;
use std::path::{Path, PathBuf};

use ridge_gpu::nvrtc::{Compiler, NAMES, Source};
use ridge_model::ComputeCapability;

use crate::error::ExpectedError;
use crate::filter::Address;

/// Compiles the source in an input.
pub(crate) fn compile(
    text: &str,
    address: &Address,
    capability: Option<ComputeCapability>,
) -> Result<Vec<u8>, ExpectedError> {
    let shown = address.text();
    let name = if shown == "-" {
        "standard input"
    } else {
        &*shown
    };
    let file = if shown == "-" { "FILE.cu" } else { &*shown };
    let compiler = Compiler::load(&candidates()).map_err(|error| {
        ExpectedError::unable(format!("{name} is CUDA source, and cannot be compiled here: {error}"))
            .with_hint(format!(
                "`nvcc -cubin -arch=sm_90 -o kernels.cubin {file}` where there is a CUDA toolkit, and name the cubin; or \
                 set RIDGE_NVRTC to the path of libnvrtc.so"
            ))
    })?;
    let Some(capability) = capability else {
        return Err(ExpectedError::usage(format!(
            "{name} is CUDA source, which is compiled for a device: --device NAME or --cc CAPABILITY"
        ))
        .with_hint(format!("ridge occupancy {file} --cc 9.0")));
    };
    let include_paths = include_paths(address);
    let source = Source {
        include_paths: &include_paths,
        ..Source::new(text, file, capability)
    };
    compiler
        .compile(&source)
        .map(|compiled| compiled.image)
        .map_err(|error| {
            ExpectedError::unreadable(format!("cannot compile {name}: {error}")).with_hint(format!(
                "NVRTC takes device code alone; for a file with host code name the cubin that \
                 `nvcc -cubin -arch=sm_{}{} -o kernels.cubin {file}` makes",
                capability.major, capability.minor
            ))
        })
}

/// Toolkits that the environment names, then the usual place. Relative folders may hold a stranger's files.
fn toolkits() -> impl Iterator<Item = PathBuf> {
    ["CUDA_HOME", "CUDA_PATH"]
        .into_iter()
        .filter_map(env::var_os)
        .map(PathBuf::from)
        .chain([PathBuf::from("/usr/local/cuda")])
        .filter(|folder| folder.is_absolute())
}

/// Where the library may be: where `RIDGE_NVRTC` says and nowhere else, or as the system's loader knows it, or in a
/// toolkit.
fn candidates() -> Vec<PathBuf> {
    if let Some(path) = env::var_os("RIDGE_NVRTC") {
        return vec![PathBuf::from(path)];
    }
    let in_toolkits = toolkits().flat_map(|toolkit| {
        ["lib64", "lib", "bin"].into_iter().flat_map(move |folder| {
            let folder = toolkit.join(folder);
            NAMES.iter().map(move |name| folder.join(name))
        })
    });
    NAMES
        .iter()
        .map(PathBuf::from)
        .chain(in_toolkits.filter(|path| path.is_file()))
        .collect()
}

/// The folder of the source, and the headers of a toolkit.
fn include_paths(address: &Address) -> Vec<PathBuf> {
    let file = Path::new(&address.file);
    let own = file
        .parent()
        .map(|folder| {
            if folder.as_os_str().is_empty() {
                Path::new(".")
            } else {
                folder
            }
        })
        .filter(|_| address.file != "-")
        .map(Path::to_path_buf);
    own.into_iter()
        .chain(toolkits().map(|toolkit| toolkit.join("include")))
        .filter(|folder| folder.is_dir())
        .collect()
}
