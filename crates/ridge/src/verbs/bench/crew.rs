//! Who works on the GPU for a run.

use std::time::{Duration, Instant};

use ridge_bench::document::Machine;
use ridge_bench::protocol::{Failure, FailureKind, Progress};

use super::time::Times;
use crate::error::ExpectedError;
use crate::exit;
use crate::worker::{Reply, Request, Response, Worker};

/// The worker of the moment: where one is lost, the next request gets another.
pub(super) struct Crew<'o> {
    device: &'o str,
    is_interrupted: &'o dyn Fn() -> bool,
    worker: Option<Worker>,
    pub(super) times: Times,
}

/// What came of a request.
pub(super) enum Answer {
    Response(Box<Response>),
    Interrupted,
}

impl<'o> Crew<'o> {
    pub(super) fn new(device: &'o str, is_interrupted: &'o dyn Fn() -> bool) -> Self {
        Self {
            device,
            is_interrupted,
            worker: None,
            times: Times::default(),
        }
    }

    /// Ends the process that works on the GPU, and says what time went to since a moment.
    pub(super) fn end(&mut self, began: Instant) -> Times {
        let before = Instant::now();
        self.worker = None;
        self.times.end += before.elapsed();
        self.times.all = began.elapsed();
        self.times
    }

    /// Opens the device, and says what it is.
    pub(super) fn open(&mut self) -> Result<Machine, ExpectedError> {
        match self.start() {
            Ok(Some(machine)) => Ok(machine),
            Ok(None) => Err(ExpectedError {
                message: "interrupted before the device was open".to_owned(),
                hint: None,
                exit: exit::INTERRUPTED,
                excerpt: None,
            }),
            Err(failure) => {
                let mut hints: Vec<String> = failure.hint.into_iter().collect();
                hints.push("--device sim:h200 runs the same on a simulated GPU".to_owned());
                Err(ExpectedError::unable(failure.message).with_hint(hints.join("; or ")))
            }
        }
    }

    fn start(&mut self) -> Result<Option<Machine>, Failure> {
        let start = Instant::now();
        self.worker = Some(Worker::start()?);
        let request = Request::Open {
            device: self.device.to_owned(),
        };
        match self.request(&request, Duration::from_secs(120), &mut |_| {})? {
            Answer::Interrupted => Ok(None),
            Answer::Response(response) => match *response {
                Response::Opened { machine, took } => {
                    self.times.start += start.elapsed().saturating_sub(took);
                    self.times.open += took;
                    Ok(Some(*machine))
                }
                _ => Err(unexpected()),
            },
        }
    }

    /// Asks the worker, and starts another where there is none.
    pub(super) fn ask(
        &mut self,
        request: &Request,
        silence: Duration,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Answer, Failure> {
        if self.worker.is_none() && self.start()?.is_none() {
            return Ok(Answer::Interrupted);
        }
        self.request(request, silence, tell)
    }

    fn request(
        &mut self,
        request: &Request,
        silence: Duration,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Answer, Failure> {
        let outcome = self.exchange(request, silence, tell);
        let is_lost = match &outcome {
            Ok(Answer::Interrupted) | Err((_, true)) => true,
            Ok(Answer::Response(_)) | Err((_, false)) => false,
        };
        if is_lost {
            self.worker = None;
        }
        outcome.map_err(|(failure, _)| failure)
    }

    fn exchange(
        &mut self,
        request: &Request,
        silence: Duration,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Answer, (Failure, bool)> {
        let worker = self.worker.as_mut().ok_or_else(|| (unexpected(), true))?;
        worker.ask(request).map_err(|failure| (failure, true))?;
        loop {
            match worker.reply(silence, self.is_interrupted) {
                Reply::Interrupted => return Ok(Answer::Interrupted),
                Reply::Lost(failure) => return Err((failure, true)),
                Reply::Said(response) => match *response {
                    Response::Progress(progress) => tell(progress),
                    Response::Failed { failure, is_fatal } => return Err((failure, is_fatal)),
                    other => return Ok(Answer::Response(Box::new(other))),
                },
            }
        }
    }
}

pub(super) fn unexpected() -> Failure {
    Failure {
        code: "BEN0013".to_owned(),
        kind: FailureKind::Worker,
        message: "the process that works on the GPU said something unexpected".to_owned(),
        hint: None,
        log: None,
    }
}
