//! Where progress is kept: one file in the folder of the project.

use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use ridge_learn::progress::ReadError;
use ridge_learn::{Lesson, Progress};

use crate::error::ExpectedError;
use crate::output::{Output, temporary};
use crate::project;
use crate::small_file::{self, MOST_OF_SETTINGS};

const FILE: &str = "learn.json";
/// As many damaged files are kept beside it; the last one is overwritten.
const MOST_DAMAGED: usize = 9;

/// The progress of a project, kept after each answer.
pub(super) struct Store {
    progress: Progress,
    /// The file; absent where nothing can or may be kept.
    path: Option<PathBuf>,
}

impl Store {
    /// Reads what was kept in the project of the current folder. A damaged file is told and set aside.
    pub(super) fn open(output: &Output) -> Result<Self, ExpectedError> {
        let here = env::current_dir().map_err(|error| {
            ExpectedError::unable(format!("cannot tell the current folder: {error}"))
        })?;
        let folder = project::root(&here).join(project::FOLDER);
        Ok(Self::at(&folder.join(FILE), output))
    }

    fn at(path: &Path, output: &Output) -> Self {
        let nothing = |path: Option<PathBuf>| Self {
            progress: Progress::default(),
            path,
        };
        let text = match small_file::text(path, MOST_OF_SETTINGS) {
            Ok(Some(text)) => text,
            Ok(None) => return nothing(Some(path.to_owned())),
            Err(reason) => {
                output.warn(&format!(
                    "cannot read {}: {reason}; progress begins anew",
                    path.display()
                ));
                return nothing(set_aside(path, output));
            }
        };
        match Progress::read(&text) {
            Ok(progress) => Self {
                progress,
                path: Some(path.to_owned()),
            },
            Err(error @ ReadError::Newer(_)) => {
                output.warn(&format!(
                    "cannot read {}: {error}; it stays as it is, and progress is not kept",
                    path.display()
                ));
                nothing(None)
            }
            Err(error) => {
                output.warn(&format!(
                    "cannot read {}: {error}; progress begins anew",
                    path.display()
                ));
                nothing(set_aside(path, output))
            }
        }
    }

    pub(super) fn progress(&self) -> &Progress {
        &self.progress
    }

    pub(super) fn add_answer(&mut self, lesson: &Lesson, is_right: bool, output: &Output) {
        self.change(|progress| progress.add_answer(lesson.id, is_right), output);
    }

    pub(super) fn add_round(
        &mut self,
        lesson: &Lesson,
        right: usize,
        asked: usize,
        output: &Output,
    ) {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        self.change(
            |progress| progress.add_round(lesson.id, count(right), count(asked)),
            output,
        );
    }

    /// Changes what is kept. Where that fails it is said once: a round is worth its answers all the same.
    fn change(&mut self, change: impl FnOnce(&mut Progress), output: &Output) {
        let Some(path) = &self.path else {
            change(&mut self.progress);
            return;
        };
        let _turn = turn(path);
        // Another round may have been answered meanwhile.
        if let Ok(Some(text)) = small_file::text(path, MOST_OF_SETTINGS)
            && let Ok(latest) = Progress::read(&text)
        {
            self.progress = latest;
        }
        change(&mut self.progress);
        if let Err(error) = write(path, &self.progress.write()) {
            output.warn(&format!(
                "progress is not kept: cannot write {}: {error}",
                path.display()
            ));
            self.path = None;
        }
    }
}

/// Moves a file that cannot be read out of the way. The path, where there is room for a new one.
fn set_aside(path: &Path, output: &Output) -> Option<PathBuf> {
    let place = |number: usize| path.with_file_name(format!("{FILE}.damaged-{number}"));
    let free = (1..MOST_DAMAGED)
        .map(place)
        .find(|place| place.symlink_metadata().is_err())
        .unwrap_or_else(|| place(MOST_DAMAGED));
    match fs::rename(path, &free) {
        Ok(()) => {
            output.note(&format!("the old file is kept as {}", free.display()));
            Some(path.to_owned())
        }
        Err(error) => {
            output.warn(&format!(
                "progress is not kept: {} cannot be moved away: {error}",
                path.display()
            ));
            None
        }
    }
}

/// Waits until no other round changes a file. `None` where folders cannot be locked: then the last one that writes wins.
fn turn(path: &Path) -> Option<File> {
    let folder = path.parent()?;
    project::prepare(folder).ok()?;
    let folder = File::open(folder).ok()?;
    folder.lock().ok()?;
    Some(folder)
}

/// A new file under a name of its own, which then takes the place of the old one.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    project::prepare(folder)?;
    let mut file = temporary().tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
