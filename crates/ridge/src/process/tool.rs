//! Tools that answer by themselves: run with a time limit, and with their children ended when it is over.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use ridge_collect::sanitize::End;

use super::LOOK;
use super::end::finish;
use super::streams::tail;
use super::watch::watch;

/// What became of a program.
pub(crate) struct Finished {
    pub(crate) end: End,
    pub(crate) took: Duration,
    /// The end of what it printed, both streams together.
    pub(crate) output: String,
}

/// Runs a program to its end, to the limit, or until somebody wants the run to end. It reads nothing.
pub(crate) fn run(
    program: &Path,
    arguments: &[OsString],
    limit: Option<Duration>,
    is_interrupted: &dyn Fn() -> bool,
) -> io::Result<Finished> {
    // A file, not a pipe: nobody has to read it while the program runs.
    let mut output = tempfile::tempfile()?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output.try_clone()?);
    // An interrupt from the terminal is for the process that asks; it decides what becomes of this one.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let start = Instant::now();
    let mut child = command.spawn()?;
    let end = watch(&mut child, LOOK, |child| {
        let why = if is_interrupted() {
            End::Interrupted
        } else if limit.is_some_and(|limit| start.elapsed() >= limit) {
            End::TimedOut
        } else {
            return Ok(None);
        };
        finish(child)?;
        Ok(Some(why))
    })?
    .map_or_else(|why| why, end_of);
    let took = start.elapsed();
    Ok(Finished {
        end,
        took,
        output: tail(&mut output)?,
    })
}

fn end_of(status: ExitStatus) -> End {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return End::Signal(signal);
    }
    End::Code(status.code().unwrap_or(-1))
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::end::runs;
    use super::*;

    fn shell(script: &str, limit: Option<Duration>, is_interrupted: bool) -> Finished {
        let arguments = ["-c", script].map(OsString::from);
        run(Path::new("/bin/sh"), &arguments, limit, &|| is_interrupted).unwrap()
    }

    #[test]
    fn what_became_of_a_program_is_told() {
        let finished = shell("echo out; echo err >&2; exit 3", None, false);
        assert_eq!(finished.end, End::Code(3));
        assert_eq!(finished.output, "out\nerr\n");
        assert_eq!(shell("kill -9 $$", None, false).end, End::Signal(9));
    }

    #[test]
    fn a_limit_and_an_interrupt_end_children_too() {
        // The inner process would hold the output open, and outlive the outer one.
        let script = "(sleep 100; echo survived) & wait";
        let limit = Some(Duration::from_millis(50));
        assert_eq!(shell(script, limit, false).end, End::TimedOut);
        assert_eq!(shell(script, None, true).end, End::Interrupted);
        // Nor does one in a session of its own outlive it.
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let script = format!(
            "setsid sh -c 'echo $$ >{0}; exec sleep 100' & wait",
            file.display()
        );
        let limit = Some(Duration::from_millis(400));
        assert_eq!(shell(&script, limit, false).end, End::TimedOut);
        let pid: u32 = std::fs::read_to_string(file)
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        assert!(!runs(pid), "still there");
    }

    #[test]
    fn long_outputs_are_kept_from_a_whole_line_on() {
        let finished = shell(
            "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done",
            None,
            false,
        );
        assert!(finished.output.starts_with("line "));
        assert!(finished.output.ends_with("line 1999\n"));
        assert!(finished.output.len() <= 4096);
    }
}
