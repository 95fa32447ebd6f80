//! Results that could not be stored, kept beside the project until they can: one file each, written to another name first.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use ridge_history::{Batch, Error, Inserted, Record, Store, exchange};

use super::Project;
use crate::error::ExpectedError;
use crate::output::{Output, unwritable};
use crate::small_file;

/// The folder of results that wait.
pub(crate) struct Spool {
    folder: PathBuf,
}

const EXTENSION: &str = "jsonl";

impl Spool {
    pub(crate) fn of(project: &Project) -> Self {
        Self {
            folder: project.folder().join("spool"),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps a result.
    pub(crate) fn keep(&self, record: &Record) -> Result<PathBuf, ExpectedError> {
        let path = self.folder.join(format!("{}.{EXTENSION}", record.head.id));
        let mut line = Vec::new();
        exchange::write(record, &mut line).map_err(|error| super::expected(&error))?;
        let written = fs::create_dir_all(&self.folder)
            .and_then(|()| tempfile::NamedTempFile::new_in(&self.folder))
            .and_then(|mut file| {
                file.write_all(&line)?;
                file.as_file().sync_all()?;
                file.persist(&path).map_err(|error| error.error)
            });
        match written {
            Ok(_) => Ok(path),
            Err(error) => Err(unwritable(&path, &error)),
        }
    }

    /// The files of results that wait, oldest name first.
    pub(crate) fn waiting(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let mut files: Vec<PathBuf> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| {
                path.extension()
                    .is_some_and(|extension| extension == EXTENSION)
            })
            .collect();
        files.sort();
        files
    }

    /// Sends what waits, and forgets what was sent. A file that cannot be read stays, with a warning.
    ///
    /// A process that ends in between sends the same again, which the store knows by its identifier.
    pub(crate) fn send(&self, store: &mut dyn Store, output: &Output) -> Result<Inserted, Error> {
        /// Files that are forgotten together.
        const MOST: usize = 200;
        let mut sent = Inserted::default();
        for files in self.waiting().chunks(MOST) {
            let mut batch = Batch::new(store);
            let mut read = Vec::new();
            for path in files {
                match read_one(path) {
                    Ok(records) => {
                        for record in records {
                            batch.add(record)?;
                        }
                        read.push(path);
                    }
                    // Another process has sent it.
                    Err(_) if !path.exists() => {}
                    Err(error) => output.warn(&format!(
                        "{} is left where it is: failed to {error}",
                        path.display()
                    )),
                }
            }
            sent += batch.finish()?;
            for path in read {
                let _ = fs::remove_file(path);
            }
        }
        Ok(sent)
    }
}

fn read_one(path: &Path) -> Result<Vec<Record>, Error> {
    let failed = |reason: String| Error::Stream {
        what: "open a result that waits",
        reason,
    };
    let file = small_file::open(path)
        .and_then(|file| file.ok_or_else(|| "it does not exist".to_owned()))
        .map_err(failed)?;
    let (mut records, mut refused) = (Vec::new(), None);
    exchange::read(
        file,
        &mut |record| {
            records.push(record);
            Ok(())
        },
        &mut |error| refused = refused.take().or(Some(error)),
    )?;
    // A file that is forgotten must have been read whole.
    refused.map_or(Ok(records), Err)
}
