//! A run of a program with the recorder in it: a private folder, an environment, and waiting for the end.
//!
//! It stands beside the worker, since both start processes and watch them; what the recorder writes is read in
//! `ridge-trace`.

mod collect;
mod told;

use std::collections::HashSet;
use std::convert::Infallible;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use ridge_injection::{EXTENSION, FOLDER, LIBRARY};
use ridge_trace::native::{self, RecordedProcess};
use tempfile::TempDir;

use crate::process::{Signals, Streams, watch};

pub(crate) use collect::collect;
pub(crate) use told::{doubt, outcome, refusal, tell, tell_displaced, unix_ns};

/// The library that the driver loads.
const DRIVER_VARIABLE: &str = "CUDA_INJECTION64_PATH";
/// The library that NVTX loads.
const NVTX_VARIABLE: &str = "NVTX_INJECTION64_PATH";
/// What it is called in the folder of a run.
const LIBRARY_FILE: &str = "libridge_injection.so";
/// How often the end of the program, and signals, are looked for.
const LOOK: Duration = Duration::from_millis(10);
/// How often new files are looked at.
const LOOK_AT_FILES: Duration = Duration::from_millis(500);
/// What is read of a new file, in which the recorder says early what it cannot do.
const BEGINNING_BYTES: u64 = 64 << 10;

/// A folder with the recorder in it, for the files of one run. It goes when this goes.
pub(crate) struct Recorder {
    folder: TempDir,
    library: PathBuf,
}

/// Why a run did not come about.
pub(crate) enum Refused {
    /// This build cannot record.
    NotHere,
    /// The folder cannot be made or written to.
    Folder(io::Error),
    /// The program cannot be started.
    Start(io::Error),
}

/// How a run ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) took: Duration,
    /// Somebody wanted it to end.
    pub(crate) is_interrupted: bool,
}

impl Recorder {
    /// Makes a folder in another one.
    pub(crate) fn prepare(parent: &Path) -> Result<Self, Refused> {
        if LIBRARY.is_empty() {
            return Err(Refused::NotHere);
        }
        let folder = tempfile::Builder::new()
            .prefix(".ridge-trace-")
            .tempdir_in(parent)
            .map_err(|error| Refused::Folder(error.kind().into()))?;
        // The program may change its folder.
        let path = fs::canonicalize(folder.path()).map_err(Refused::Folder)?;
        let library = path.join(LIBRARY_FILE);
        fs::write(&library, LIBRARY).map_err(Refused::Folder)?;
        Ok(Self { folder, library })
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves the folder where it is.
    pub(crate) fn keep(self) -> PathBuf {
        let path = self.folder.keep();
        fs::canonicalize(&path).unwrap_or(path)
    }

    /// Whether another tool wants to be loaded into programs, whose place this one takes.
    fn displaced() -> Option<OsString> {
        env::var_os(DRIVER_VARIABLE).filter(|path| !path.is_empty())
    }

    /// Runs a program until it ends. What processes say that cannot be recorded is handed on at once; so are signals, which
    /// are the program's.
    pub(crate) fn run(
        &self,
        command: &[OsString],
        streams: Streams<'_>,
        signals: &Signals,
        mut hear: impl FnMut(&RecordedProcess),
    ) -> Result<Ended, Refused> {
        let (program, arguments) = command.split_first().ok_or_else(|| {
            Refused::Start(io::Error::new(io::ErrorKind::InvalidInput, "no program"))
        })?;
        let began = Instant::now();
        let mut command = Command::new(program);
        command.args(arguments).envs(self.environment());
        streams.prepare(&mut command).map_err(Refused::Start)?;
        let mut child = command.spawn().map_err(Refused::Start)?;
        let outputs = streams.connect(&mut child).map_err(Refused::Start)?;
        let mut is_interrupted = false;
        let mut heard = HashSet::new();
        let mut looked = began;
        // Nothing that happens to this process may leave the program without somebody who waits for it.
        let watched = watch(&mut child, LOOK, |child| {
            is_interrupted |= signals.hand_on(child);
            if looked.elapsed() >= LOOK_AT_FILES {
                looked = Instant::now();
                self.listen(&mut heard, &mut hear);
            }
            Ok(None::<Infallible>)
        });
        let Ok(status) = watched.map_err(Refused::Start)?;
        // The one signal ends both: this process may see its own later than the end of the other.
        is_interrupted |= signals.hand_on(&mut child);
        let took = began.elapsed();
        outputs.end();
        self.listen(&mut heard, &mut hear);
        Ok(Ended {
            status,
            took,
            is_interrupted,
        })
    }

    /// What a program finds in its environment, so that the recorder comes into it.
    pub(crate) fn environment(&self) -> [(&'static str, OsString); 3] {
        Self::environment_in(self.library.parent().unwrap_or(self.path()))
    }

    /// The same for a private folder that is at this path.
    pub(crate) fn environment_in(folder: &Path) -> [(&'static str, OsString); 3] {
        let library = folder.join(LIBRARY_FILE).into_os_string();
        [
            (DRIVER_VARIABLE, library.clone()),
            (NVTX_VARIABLE, library),
            (FOLDER, folder.as_os_str().to_owned()),
        ]
    }

    /// The files of processes, in the order in which they began.
    pub(crate) fn files(&self) -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(self.path())? {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == EXTENSION) {
                // The second number of the name is the time.
                let name = path.file_stem().and_then(|name| name.to_str());
                let time: Option<u64> = name
                    .and_then(|name| name.split_once('-'))
                    .and_then(|(_, time)| time.parse().ok());
                files.push((time, path));
            }
        }
        files.sort();
        Ok(files.into_iter().map(|(_, path)| path).collect())
    }

    /// Looks at files that have not yet said whether anything can be recorded.
    fn listen(&self, heard: &mut HashSet<PathBuf>, hear: &mut impl FnMut(&RecordedProcess)) {
        for path in self.files().unwrap_or_default() {
            if heard.contains(&path) {
                continue;
            }
            let beginning = fs::File::open(&path).and_then(|file| {
                let mut bytes = Vec::new();
                io::Read::read_to_end(&mut io::Read::take(file, BEGINNING_BYTES), &mut bytes)?;
                Ok(bytes)
            });
            let Ok(beginning) = beginning else { continue };
            let Ok((_, recording)) = native::read_all(&beginning) else {
                continue;
            };
            for process in recording.processes {
                // The clock is written when all is well.
                if !process.problems.is_empty() || process.cupti_version.is_some() {
                    hear(&process);
                    heard.insert(path.clone());
                }
            }
        }
    }
}
