//! Runs the profiler over the program: a wish to end is passed on, and whatever becomes of the program, this process goes on.

use std::convert::Infallible;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::error::ExpectedError;
use crate::process::{LOOK, Streams, watch};

/// How long a program may take to end after it was asked to: the profiler still writes its report.
const GRACE: Duration = Duration::from_secs(10);

/// What became of a run.
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    /// The end of what was printed.
    pub(crate) printed: String,
    pub(crate) wall: Duration,
    pub(crate) was_interrupted: bool,
}

/// Runs a command to its end.
pub(crate) fn run(
    program: &Path,
    arguments: &[OsString],
    streams: Streams<'_>,
    is_interrupted: &dyn Fn() -> bool,
) -> Result<Ran, ExpectedError> {
    let start = Instant::now();
    let unable = |error: std::io::Error| {
        ExpectedError::unable(format!("cannot start {}: {error}", program.display()))
    };
    let mut command = Command::new(program);
    command.args(arguments);
    streams.prepare(&mut command).map_err(unable)?;
    let mut child = command.spawn().map_err(unable)?;
    let outputs = streams.connect(&mut child).map_err(unable)?;
    let mut asked_at: Option<Instant> = None;
    let watched = watch(&mut child, LOOK, |child| {
        if is_interrupted() {
            // A terminal tells the whole group, so that the profiler has heard it as well.
            let asked = *asked_at.get_or_insert_with(Instant::now);
            if asked.elapsed() > GRACE {
                child.kill()?;
            }
        }
        Ok(None::<Infallible>)
    });
    let Ok(status) = watched.map_err(unable)?;
    Ok(Ran {
        status,
        printed: outputs.end(),
        wall: start.elapsed(),
        was_interrupted: asked_at.is_some() || is_interrupted(),
    })
}
