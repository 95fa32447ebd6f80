//! Files of a kind in a folder.

use std::path::{Path, PathBuf};

/// The files in a folder whose names contain one of these, sorted.
pub(crate) fn files(folder: &Path, kinds: &[&str]) -> Vec<PathBuf> {
    let mut list: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.to_string_lossy();
            kinds.iter().any(|kind| name.contains(kind))
        })
        .collect();
    list.sort();
    list
}
