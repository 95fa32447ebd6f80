//! Where CUPTI may be, from inside the program.
//!
//! A program that brings its own CUPTI, such as one on PyTorch, must not meet a second one: what the program has loaded,
//! or what lies beside the CUDA runtime that it has loaded, goes before what the system has.

use std::path::{Path, PathBuf};

/// What the process and its environment say about places.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The one that the user names.
    pub named: Option<PathBuf>,
    /// Files that are mapped into the process, as the system lists them.
    pub mapped: Vec<PathBuf>,
    /// Folders of toolkits.
    pub toolkits: Vec<PathBuf>,
    /// Folders of Python packages.
    pub packages: Vec<PathBuf>,
    /// The major version of CUDA that the driver supports; absent where it is not known.
    pub driver_major: Option<u32>,
}

/// Names, newest first, with the major version of CUDA that each belongs to.
const NAMES: &[(u32, &str)] = &[(13, "libcupti.so.13"), (12, "libcupti.so.12")];
/// Folders of a toolkit that hold it.
const TOOLKIT: &[&str] = &["extras/CUPTI/lib64", "lib64", "targets/x86_64-linux/lib"];
/// Folders in which NVIDIA's packages for Python keep it.
const PACKAGES: &[&str] = &["nvidia/cu13/lib", "nvidia/cuda_cupti/lib"];
/// Folders that hold it, seen from the folder of a CUDA runtime.
const BESIDE: &[&str] = &[
    ".",
    "../../cuda_cupti/lib",
    "../extras/CUPTI/lib64",
    "../../../extras/CUPTI/lib64",
];

impl Surroundings {
    /// Where to look, best first. A name without a folder is for the system's loader.
    #[must_use]
    pub fn candidates(&self) -> Vec<PathBuf> {
        if let Some(named) = &self.named {
            return vec![named.clone()];
        }
        let mut found: Vec<PathBuf> = Vec::new();
        let named = |path: &Path, start: &str| {
            path.file_name()
                .and_then(|name| name.to_str())
                .is_some_and(|name| name.starts_with(start))
        };
        let mut add = |path: PathBuf| {
            if !found.contains(&path) {
                found.push(path);
            }
        };
        for path in self.mapped.iter().filter(|path| named(path, "libcupti.so")) {
            add(path.clone());
        }
        let mut folders = Vec::new();
        for path in &self.mapped {
            if let Some(packages) = packages_of(path) {
                folders.extend(PACKAGES.iter().map(|folder| packages.join(folder)));
            }
            if named(path, "libcudart.so") {
                let folder = path.parent().unwrap_or(Path::new("/"));
                folders.extend(BESIDE.iter().map(|beside| folder.join(beside)));
            }
        }
        for packages in &self.packages {
            folders.extend(PACKAGES.iter().map(|folder| packages.join(folder)));
        }
        for folder in &folders {
            self.names().for_each(|name| add(folder.join(name)));
        }
        self.names().for_each(|name| add(PathBuf::from(name)));
        for toolkit in &self.toolkits {
            for folder in TOOLKIT {
                self.names()
                    .for_each(|name| add(toolkit.join(folder).join(name)));
            }
        }
        found
    }

    /// A CUPTI that is newer than the driver does not work.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        let most = self.driver_major.unwrap_or(u32::MAX);
        NAMES
            .iter()
            .filter(move |(major, _)| *major <= most)
            .map(|(_, name)| *name)
    }
}

/// The folder of Python packages that a file is in.
fn packages_of(path: &Path) -> Option<&Path> {
    path.ancestors().find(|folder| {
        folder
            .file_name()
            .is_some_and(|name| name == "site-packages" || name == "dist-packages")
    })
}

/// Shared libraries that the text of `/proc/self/maps` lists, each once.
#[must_use]
pub fn mapped(maps: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for line in maps.lines() {
        let Some(start) = line.find('/') else {
            continue;
        };
        let path = line.get(start..).unwrap_or_default();
        if path.contains(".so") && found.last().is_none_or(|last| last != Path::new(path)) {
            let path = PathBuf::from(path);
            if !found.contains(&path) {
                found.push(path);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(found: &[PathBuf], path: &str) -> Option<usize> {
        found.iter().position(|found| found == Path::new(path))
    }

    #[test]
    fn what_the_program_has_loaded_goes_first() {
        let maps = "\
7f00-7f01 r-xp 00000000 fd:01 1  /venv/lib/python3.12/site-packages/torch/lib/libtorch.so
7f01-7f02 r-xp 00000000 fd:01 1  /venv/lib/python3.12/site-packages/torch/lib/libtorch.so
7f02-7f03 rw-p 00000000 00:00 0  [stack]
7f03-7f04 r-xp 00000000 fd:01 2  /opt/cuda/lib64/libcudart.so.12.8.90
";
        let surroundings = Surroundings {
            mapped: mapped(maps),
            toolkits: vec![PathBuf::from("/usr/local/cuda")],
            driver_major: Some(13),
            ..Surroundings::default()
        };
        assert_eq!(surroundings.mapped.len(), 2);
        let found = surroundings.candidates();
        let torch = index(
            &found,
            "/venv/lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13",
        );
        let beside = index(
            &found,
            "/opt/cuda/lib64/../extras/CUPTI/lib64/libcupti.so.12",
        );
        let system = index(&found, "libcupti.so.13");
        let toolkit = index(&found, "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13");
        assert!(
            torch < beside && beside < system && system < toolkit,
            "{found:?}"
        );
        assert!(torch.is_some() && toolkit.is_some());

        let loaded = Surroundings {
            mapped: mapped("7f-80 r-xp 0 0:0 1 /x/libcupti.so.2025.3.1\n"),
            ..surroundings
        };
        assert_eq!(
            index(&loaded.candidates(), "/x/libcupti.so.2025.3.1"),
            Some(0)
        );
    }

    #[test]
    fn a_library_that_is_newer_than_the_driver_is_not_tried() {
        let surroundings = Surroundings {
            driver_major: Some(12),
            ..Surroundings::default()
        };
        assert_eq!(surroundings.candidates(), [PathBuf::from("libcupti.so.12")]);
    }

    #[test]
    fn the_one_that_is_named_is_the_only_one() {
        let surroundings = Surroundings {
            named: Some(PathBuf::from("/mine/libcupti.so")),
            toolkits: vec![PathBuf::from("/usr/local/cuda")],
            ..Surroundings::default()
        };
        assert_eq!(
            surroundings.candidates(),
            [PathBuf::from("/mine/libcupti.so")]
        );
    }
}
