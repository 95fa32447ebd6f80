//! Where libraries may be.

use std::path::{Path, PathBuf};

use crate::{cublaslt, nvrtc};

/// Where libraries may be, apart from where the system's loader looks. Whoever calls knows the environment: the crate does
/// not look at it.
///
/// ```
/// use std::path::PathBuf;
///
/// use ridge_gpu::Search;
///
/// let search = Search {
///     toolkits: vec![PathBuf::from("/usr/local/cuda")],
///     prefixes: vec![PathBuf::from("/opt/conda")],
/// };
/// let candidates = search.nvrtc();
/// assert!(candidates.contains(&PathBuf::from("/usr/local/cuda/lib64/libnvrtc.so.13")));
/// assert!(candidates.contains(&PathBuf::from(
///     "/opt/conda/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13"
/// )));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// Folders of CUDA toolkits, such as those that `CUDA_HOME` names.
    pub toolkits: Vec<PathBuf>,
    /// Folders of conda and Python environments, such as those that `CONDA_PREFIX` and `VIRTUAL_ENV` name.
    pub prefixes: Vec<PathBuf>,
}

/// Folders of a toolkit that hold libraries.
const TOOLKIT: &[&str] = &["lib64", "lib", "targets/x86_64-linux/lib", "bin"];
/// Versions of Python whose packages are looked at, newest first.
const PYTHONS: std::ops::RangeInclusive<u32> = 8..=16;
/// Folders in which NVIDIA's packages for Python keep NVRTC.
const PACKAGES: &[&str] = &["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"];
/// Folders in which they keep cuBLASLt.
const CUBLAS_PACKAGES: &[&str] = &["nvidia/cu13/lib", "nvidia/cublas/lib"];

/// Names under which the system's loader may know CUPTI, newest first.
#[cfg(not(windows))]
const CUPTI: &[&str] = &["libcupti.so", "libcupti.so.13", "libcupti.so.12"];
/// Its file has the version of the toolkit in its name there, which nobody can list.
#[cfg(windows)]
const CUPTI: &[&str] = &[];
/// Folders in which NVIDIA's packages for Python keep CUPTI.
const CUPTI_PACKAGES: &[&str] = &["nvidia/cu13/lib", "nvidia/cuda_cupti/lib"];
/// The folder of a toolkit that holds CUPTI where the others do not.
const CUPTI_FOLDER: &str = "extras/CUPTI/lib64";

/// The driver.
#[cfg(not(windows))]
const DRIVER: &[&str] = &[
    "libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1",
    "/usr/local/nvidia/lib/libcuda.so.1",
    "/usr/local/cuda/compat/libcuda.so.1",
];
/// The driver.
#[cfg(windows)]
const DRIVER: &[&str] = &["nvcuda.dll"];

/// The library of the sensors.
#[cfg(not(windows))]
const NVML: &[&str] = &[
    "libnvidia-ml.so.1",
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
    "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
    "/usr/local/nvidia/lib/libnvidia-ml.so.1",
];
/// The library of the sensors.
#[cfg(windows)]
const NVML: &[&str] = &["nvml.dll"];

impl Search {
    /// Where NVRTC may be: as the system's loader knows it, in toolkits, in environments.
    #[must_use]
    pub fn nvrtc(&self) -> Vec<PathBuf> {
        self.libraries(nvrtc::NAMES, PACKAGES)
    }

    /// Where cuBLASLt may be: as [`Search::nvrtc`].
    #[must_use]
    pub fn cublaslt(&self) -> Vec<PathBuf> {
        self.libraries(cublaslt::NAMES, CUBLAS_PACKAGES)
    }

    /// Where CUPTI may be: as [`Search::nvrtc`], and in the folder of its own that toolkits have.
    ///
    /// ```
    /// # use std::path::PathBuf;
    /// let search = ridge_gpu::Search { toolkits: vec![PathBuf::from("/usr/local/cuda")], prefixes: Vec::new() };
    /// let own = PathBuf::from("/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13");
    /// # #[cfg(not(windows))]
    /// assert!(search.cupti().contains(&own));
    /// ```
    #[must_use]
    pub fn cupti(&self) -> Vec<PathBuf> {
        let own = self.toolkits.iter().flat_map(|toolkit| {
            let folder = toolkit.join(CUPTI_FOLDER);
            CUPTI.iter().map(move |name| folder.join(name))
        });
        let mut candidates = self.libraries(CUPTI, CUPTI_PACKAGES);
        candidates.extend(own);
        candidates
    }

    fn libraries(
        &self,
        names: &'static [&'static str],
        packages: &'static [&'static str],
    ) -> Vec<PathBuf> {
        let toolkits = self
            .toolkits
            .iter()
            .flat_map(|toolkit| TOOLKIT.iter().map(|folder| toolkit.join(folder)));
        let prefixes = self.prefixes.iter().flat_map(|prefix| {
            let own = ["lib", "targets/x86_64-linux/lib", "Library/bin"]
                .map(|folder| prefix.join(folder));
            // Debian keeps the packages of the whole system in a folder of another name.
            let sites = PYTHONS.rev().flat_map(|minor| {
                ["site-packages", "dist-packages"]
                    .map(|name| prefix.join(format!("lib/python3.{minor}/{name}")))
            });
            let packages = sites.flat_map(|site| {
                packages
                    .iter()
                    .map(move |package| site.join(package))
                    .collect::<Vec<_>>()
            });
            own.into_iter().chain(packages)
        });
        let named = |folder: PathBuf| names.iter().map(move |name| folder.join(name));
        let by_loader = names.iter().map(PathBuf::from);
        by_loader
            .chain(toolkits.chain(prefixes).flat_map(named))
            .collect()
    }

    /// Where the driver may be.
    #[must_use]
    pub fn driver() -> Vec<PathBuf> {
        DRIVER.iter().map(PathBuf::from).collect()
    }

    /// Where NVML may be.
    #[must_use]
    pub fn nvml() -> Vec<PathBuf> {
        NVML.iter().map(PathBuf::from).collect()
    }

    /// Folders with the headers of CUDA that come with a toolkit or an environment. Whether they are there is not looked
    /// at.
    #[must_use]
    pub fn headers(&self) -> Vec<PathBuf> {
        let toolkits = self.toolkits.iter().map(|toolkit| toolkit.join("include"));
        let prefixes = self.prefixes.iter().flat_map(|prefix| {
            let site = |minor| prefix.join(format!("lib/python3.{minor}/site-packages"));
            let packages = PYTHONS.rev().flat_map(move |minor| {
                let site: PathBuf = site(minor);
                ["nvidia/cu13/include", "nvidia/cuda_runtime/include"]
                    .map(|package| Path::new(&site).join(package))
            });
            [
                prefix.join("include"),
                prefix.join("targets/x86_64-linux/include"),
            ]
            .into_iter()
            .chain(packages)
        });
        toolkits.chain(prefixes).collect()
    }
}
