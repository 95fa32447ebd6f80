//! What programs read and print.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use tempfile::NamedTempFile;

/// What a program leaves behind may hold its output open for ever.
const LEFT_OPEN: Duration = Duration::from_millis(500);
/// What is kept of the end of the output, for messages of the profiler.
const KEPT_BYTES: usize = 64 << 10;
/// The end of what a tool printed that is kept.
const TAIL_BYTES: u64 = 4096;

/// What a program reads and where its output goes.
#[derive(Clone, Copy)]
pub(crate) enum Streams<'s> {
    /// Those of this process.
    Own,
    /// The answer alone goes to standard output: what the program prints goes to standard error if it is to be shown, and it
    /// reads what every run of it reads.
    Apart {
        stdin: &'s Stdin,
        is_first: bool,
        is_shown: bool,
    },
}

/// The outputs of a program that runs.
pub(crate) struct Outputs(Vec<Receiver<Vec<u8>>>);

impl Streams<'_> {
    /// To be called before the program starts.
    pub(crate) fn prepare(&self, command: &mut Command) -> io::Result<()> {
        if let Self::Apart {
            stdin, is_first, ..
        } = self
        {
            command
                .stdin(stdin.of_run(*is_first)?)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
        }
        Ok(())
    }

    /// To be called when it has started.
    pub(crate) fn connect(&self, child: &mut Child) -> io::Result<Outputs> {
        let Self::Apart {
            stdin, is_shown, ..
        } = self
        else {
            return Ok(Outputs(Vec::new()));
        };
        if let Some(program) = child.stdin.take() {
            stdin.feed(program)?;
        }
        let output = child.stdout.take().map(|stream| pass_on(stream, *is_shown));
        let errors = child.stderr.take().map(|stream| pass_on(stream, *is_shown));
        Ok(Outputs(output.into_iter().chain(errors).collect()))
    }
}

impl Outputs {
    /// The end of what was printed.
    pub(crate) fn end(self) -> String {
        let mut printed = String::new();
        for output in self.0 {
            let bytes = output.recv_timeout(LEFT_OPEN).unwrap_or_default();
            printed.push_str(&String::from_utf8_lossy(&bytes));
        }
        printed
    }
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
    pub(crate) fn take() -> io::Result<Self> {
        if io::stdin().is_terminal() {
            return Ok(Self::Inherited);
        }
        NamedTempFile::new().map(Self::Kept)
    }

    fn of_run(&self, is_first: bool) -> io::Result<Stdio> {
        match self {
            Self::Inherited => Ok(Stdio::inherit()),
            Self::Kept(_) if is_first => Ok(Stdio::piped()),
            Self::Kept(file) => Ok(file.reopen()?.into()),
        }
    }

    /// Gives the first run what comes, as long as it takes any, and keeps it.
    fn feed(&self, mut program: ChildStdin) -> io::Result<()> {
        if let Self::Kept(file) = self {
            let mut kept = file.reopen()?;
            // Nobody waits for it: standard input may stay open for as long as it likes.
            thread::spawn(move || {
                let mut stdin = io::stdin().lock();
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
                        let _ = io::stderr().write_all(&part[..count]);
                    }
                    kept.extend_from_slice(&part[..count]);
                    if kept.len() > 2 * KEPT_BYTES {
                        kept.drain(..kept.len() - KEPT_BYTES);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        let _ = sender.send(kept);
    });
    receiver
}

/// The end of a file, from a whole line on.
pub(super) fn tail(file: &mut File) -> io::Result<String> {
    let length = file.seek(SeekFrom::End(0))?;
    let start = length.saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(match text.split_once('\n') {
        Some((_, whole)) if start > 0 => whole.to_owned(),
        _ => text,
    })
}
