//! The folder of a collection.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::stored::FILE;
use crate::error::ExpectedError;
use crate::pattern::with_environment;

/// A folder that no other run writes to. One that nobody asked for goes when this goes.
pub(super) struct Claimed {
    pub(super) path: PathBuf,
    pub(super) temporary: Option<tempfile::TempDir>,
}

impl Claimed {
    /// Makes the folder: a new one, so that two runs never share one.
    pub(super) fn take(keep: Option<&Path>) -> Result<Self, ExpectedError> {
        let Some(keep) = keep else {
            let folder = tempfile::Builder::new().prefix("ridge-why-").tempdir();
            let folder = folder.map_err(|error| {
                ExpectedError::unable(format!("cannot make a folder for reports: {error}"))
                    .with_hint("name one with --keep DIR, or a place with room in TMPDIR")
            })?;
            return Ok(Self {
                path: folder.path().to_owned(),
                temporary: Some(folder),
            });
        };
        let keep = with_environment(keep)?;
        fs::create_dir_all(&keep).map_err(|error| {
            ExpectedError::unable(format!(
                "cannot make the folder {}: {error}",
                keep.display()
            ))
        })?;
        // Whoever makes this file first has the folder.
        let claim = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(keep.join(FILE));
        match claim {
            Ok(_) => Ok(Self {
                path: keep,
                temporary: None,
            }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(ExpectedError::usage(format!(
                    "{} holds a collection, or another run writes one",
                    keep.display()
                ))
                .with_hint("name another folder, or remove that one"))
            }
            Err(error) => Err(ExpectedError::unable(format!(
                "cannot write to {}: {error}",
                keep.display()
            ))),
        }
    }
}

impl Drop for Claimed {
    /// A folder in which nothing was collected is free again.
    fn drop(&mut self) {
        let claim = self.path.join(FILE);
        if self.temporary.is_none() && fs::metadata(&claim).is_ok_and(|file| file.len() == 0) {
            let _ = fs::remove_file(&claim);
        }
    }
}
