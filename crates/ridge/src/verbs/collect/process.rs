//! Runs the profiler over the program: what both print is passed on, a wish to end is passed on too, and whatever becomes of
//! the program, this process goes on.

use std::ffi::OsString;
use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;

use crate::error::ExpectedError;

/// How often the program is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// How long a program may take to end after it was asked to: the profiler still writes its report.
const GRACE: Duration = Duration::from_secs(10);
/// What a program leaves behind may hold its output open for ever.
const LEFT_OPEN: Duration = Duration::from_millis(500);
/// What is kept of the end of the output, for messages of the profiler.
const KEPT_BYTES: usize = 64 << 10;

/// What became of a run.
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    /// The end of what was printed.
    pub(crate) printed: String,
    pub(crate) wall: Duration,
    pub(crate) was_interrupted: bool,
}

/// The standard input of the program, the same for every run of it.
pub(crate) enum Stdin {
    /// A person or nobody: each run has what is there.
    Inherited,
    /// What the first run was given, kept to be given again.
    Kept(NamedTempFile),
}

impl Stdin {
    /// Looks what there is.
    pub(crate) fn take() -> Result<Self, ExpectedError> {
        if std::io::stdin().is_terminal() {
            return Ok(Self::Inherited);
        }
        NamedTempFile::new().map(Self::Kept).map_err(|error| {
            ExpectedError::unable(format!("cannot keep standard input for every run: {error}"))
                .with_hint("give the program </dev/null if it reads nothing")
        })
    }

    fn of_run(&self, is_first: bool) -> std::io::Result<Stdio> {
        match self {
            Self::Inherited => Ok(Stdio::inherit()),
            Self::Kept(_) if is_first => Ok(Stdio::piped()),
            Self::Kept(file) => Ok(file.reopen()?.into()),
        }
    }

    /// Gives the first run what comes, as long as it takes any, and keeps it.
    fn feed(&self, mut program: ChildStdin) -> std::io::Result<()> {
        if let Self::Kept(file) = self {
            let mut kept = file.reopen()?;
            // Nobody waits for it: standard input may stay open for as long as it likes.
            thread::spawn(move || {
                let mut stdin = std::io::stdin().lock();
                let mut part = [0_u8; 8192];
                while let Ok(count) = stdin.read(&mut part) {
                    let bytes = &part[..count];
                    if count == 0
                        || kept.write_all(bytes).is_err()
                        || program.write_all(bytes).is_err()
                    {
                        break;
                    }
                }
            });
        }
        Ok(())
    }
}

/// Runs a command to its end. What it prints goes to standard error if it is to be shown: the answer alone goes to standard
/// output.
pub(crate) fn run(
    program: &Path,
    arguments: &[OsString],
    stdin: &Stdin,
    is_first: bool,
    is_shown: bool,
    is_interrupted: &dyn Fn() -> bool,
) -> Result<Ran, ExpectedError> {
    let start = Instant::now();
    let unable = |error: std::io::Error| {
        ExpectedError::unable(format!("cannot start {}: {error}", program.display()))
    };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(stdin.of_run(is_first).map_err(unable)?)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(unable)?;
    if let Some(program) = child.stdin.take() {
        stdin.feed(program).map_err(unable)?;
    }
    let outputs = [
        child.stdout.take().map(|stream| pass_on(stream, is_shown)),
        child.stderr.take().map(|stream| pass_on(stream, is_shown)),
    ];
    let mut asked_at: Option<Instant> = None;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(unable)? {
            break status;
        }
        if is_interrupted() {
            // A terminal tells the whole group, so that the profiler has heard it as well.
            let asked = *asked_at.get_or_insert_with(Instant::now);
            if asked.elapsed() > GRACE {
                child.kill().map_err(unable)?;
            }
        }
        thread::sleep(LOOK);
    };
    let mut printed = String::new();
    for output in outputs.into_iter().flatten() {
        let bytes = output.recv_timeout(LEFT_OPEN).unwrap_or_default();
        printed.push_str(&String::from_utf8_lossy(&bytes));
    }
    Ok(Ran {
        status,
        printed,
        wall: start.elapsed(),
        was_interrupted: asked_at.is_some() || is_interrupted(),
    })
}

/// Reads a stream to its end, and hands over the end of it.
fn pass_on(mut stream: impl Read + Send + 'static, is_shown: bool) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut kept: Vec<u8> = Vec::new();
        let mut part = [0_u8; 8192];
        loop {
            match stream.read(&mut part) {
                Ok(0) => break,
                Ok(count) => {
                    if is_shown {
                        // A reader that is gone wants no more of it; the program goes on.
                        let _ = std::io::stderr().write_all(&part[..count]);
                    }
                    kept.extend_from_slice(&part[..count]);
                    if kept.len() > 2 * KEPT_BYTES {
                        kept.drain(..kept.len() - KEPT_BYTES);
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        let _ = sender.send(kept);
    });
    receiver
}
