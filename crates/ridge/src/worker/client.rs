//! The side that asks: starts a worker, waits for what it says, and ends it when it says nothing for too long.

use std::io::{BufReader, BufWriter};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use ridge_bench::protocol::{Failure, FailureKind};

use super::{Request, Response, WORKER, read, write};

/// A process that works on the GPU.
pub(crate) struct Worker {
    process: Child,
    input: Option<BufWriter<ChildStdin>>,
    responses: Receiver<Response>,
}

/// What came of waiting for a worker.
pub(crate) enum Reply {
    /// It said something.
    Said(Box<Response>),
    /// Somebody wants the run to end.
    Interrupted,
    /// It ended or said nothing for too long.
    Lost(Failure),
}

/// How often a wish to end is looked for.
const LOOK: Duration = Duration::from_millis(50);

impl Worker {
    /// Starts one.
    pub(crate) fn start() -> Result<Self, Failure> {
        let unable = |error: std::io::Error| Failure {
            code: "BEN0010".to_owned(),
            kind: FailureKind::Worker,
            message: format!("the process that works on the GPU does not start: {error}"),
            hint: None,
            log: None,
        };
        let mut command = Command::new(std::env::current_exe().map_err(unable)?);
        command
            .arg(WORKER)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        // An interrupt from the terminal is for the process that asks; it decides what becomes of this one.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command.spawn().map_err(unable)?;
        let (sender, responses) = mpsc::channel();
        if let Some(output) = process.stdout.take() {
            std::thread::spawn(move || {
                let mut output = BufReader::new(output);
                while let Ok(response) = read::<Response>(&mut output) {
                    if sender.send(response).is_err() {
                        return;
                    }
                }
            });
        }
        Ok(Self {
            input: process.stdin.take().map(BufWriter::new),
            process,
            responses,
        })
    }

    /// Asks for something.
    pub(crate) fn ask(&mut self, request: &Request) -> Result<(), Failure> {
        let sent = match &mut self.input {
            Some(input) => write(input, request),
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        };
        sent.map_err(|_| self.lost())
    }

    /// Waits for the next thing that it says, at most so long.
    pub(crate) fn reply(&mut self, silence: Duration, is_interrupted: &dyn Fn() -> bool) -> Reply {
        let start = Instant::now();
        loop {
            match self.responses.recv_timeout(LOOK) {
                Ok(response) => return Reply::Said(Box::new(response)),
                Err(RecvTimeoutError::Disconnected) => return Reply::Lost(self.lost()),
                Err(RecvTimeoutError::Timeout) if is_interrupted() => return Reply::Interrupted,
                Err(RecvTimeoutError::Timeout) if start.elapsed() >= silence => {
                    return Reply::Lost(Failure {
                        code: "BEN0011".to_owned(),
                        kind: FailureKind::Hang,
                        message: format!(
                            "the process that works on the GPU said nothing for {} s and was ended",
                            silence.as_secs()
                        ),
                        hint: Some("look for a kernel that never ends; --timeout sets how long one may take".to_owned()),
                        log: None,
                    });
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// What became of a worker that is gone.
    fn lost(&mut self) -> Failure {
        self.input = None;
        let status = self
            .process
            .wait()
            .map_or_else(|error| error.to_string(), |status| status.to_string());
        Failure {
            code: "BEN0012".to_owned(),
            kind: FailureKind::Worker,
            message: format!("the process that works on the GPU ended without an answer ({status})"),
            hint: Some("a driver or a compiler that crashes ends it: see the system's log, and `nvidia-smi -q`".to_owned()),
            log: None,
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may wait for a kernel that never ends; nothing of what it holds is kept.
        self.input = None;
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
