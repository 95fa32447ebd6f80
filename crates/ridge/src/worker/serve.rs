//! The worker's side: one device, one request after the other.

use std::io::{self, BufReader, Write};
use std::path::Path;
use std::sync::mpsc;
use std::time::Instant;

use ridge_bench::check::Expected;
use ridge_bench::document::Machine;
use ridge_bench::protocol::{self, Failure, FailureKind, Right};
use ridge_gpu::clocks::{ClockRequest, NvmlClocks, keep};
use ridge_gpu::{Device, Search};
use ridge_model::quantity::Hertz;

use super::{MeasureRequest, Request, Response, read, write};
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::gpu;

/// Answers requests until there are no more, or the device is of no more use.
pub(crate) fn serve() -> ! {
    let (sender, requests) = mpsc::channel();
    // A process of its own reads, so that the end of the one that asks ends this one, even while a kernel runs.
    std::thread::spawn(move || {
        let mut input = BufReader::new(io::stdin());
        while let Ok(request) = read::<Request>(&mut input) {
            if sender.send(request).is_err() {
                return;
            }
        }
        drop(sender);
        leave();
    });
    let mut device: Option<Box<dyn Device>> = None;
    while let Ok(request) = requests.recv() {
        let response = answer(request, &mut device);
        let is_fatal = matches!(response, Response::Failed { is_fatal: true, .. });
        if say(&response).is_err() || is_fatal {
            break;
        }
    }
    // Freeing would wait for a kernel that may never end.
    leave()
}

/// Ends the process as it is.
#[expect(
    clippy::exit,
    reason = "the worker has no other way to leave a device that hangs"
)]
fn leave() -> ! {
    std::process::exit(0)
}

fn say(response: &Response) -> io::Result<()> {
    let mut out = io::stdout().lock();
    write(&mut out, response).and_then(|()| out.flush())
}

fn answer(request: Request, device: &mut Option<Box<dyn Device>>) -> Response {
    let failed = |failure: Failure, device: Option<&dyn Device>| Response::Failed {
        is_fatal: device.is_none_or(|device| device.death().is_some()),
        failure,
    };
    match request {
        Request::Open { device: name } => {
            let start = Instant::now();
            match gpu::open(&name) {
                Ok(opened) => {
                    let machine = Box::new(Machine::of(opened.properties()));
                    *device = Some(opened);
                    Response::Opened {
                        machine,
                        took: start.elapsed(),
                    }
                }
                Err(error) => failed(error.into(), None),
            }
        }
        Request::Floors { settings } => match device.as_deref() {
            Some(device) => match protocol::floors(device, &settings) {
                Ok(floors) => Response::Floors(floors),
                Err(failure) => failed(failure, Some(device)),
            },
            None => failed(closed(), None),
        },
        Request::Measure(request) => match device.as_deref() {
            Some(device) => match measure(device, *request) {
                Ok(measurement) => Response::Measured(Box::new(measurement)),
                Err(failure) => failed(failure, Some(device)),
            },
            None => failed(closed(), None),
        },
        Request::Ceilings { family, settings } => match device.as_deref() {
            Some(device) => {
                let measured =
                    ridge_bench::ceilings::measure(device, family, &settings, &mut |text| {
                        // Who does not listen any more has ended this process in a moment.
                        let _ = say(&Response::Doing(text.to_owned()));
                    });
                match measured {
                    Ok(measured) => Response::Ceilings(Box::new(measured)),
                    Err(failure) => failed(failure, Some(device)),
                }
            }
            None => failed(closed(), None),
        },
    }
}

fn closed() -> Failure {
    Failure {
        code: "GPU0199".to_owned(),
        kind: FailureKind::Worker,
        message: "the worker was asked to measure before it had a device".to_owned(),
        hint: None,
        log: None,
    }
}

fn measure(device: &dyn Device, request: MeasureRequest) -> Result<protocol::Measurement, Failure> {
    let MeasureRequest {
        mut task,
        settings,
        floors,
        files,
    } = request;
    if !files.is_empty() {
        let outputs: Result<Vec<Expected>, Failure> = files
            .iter()
            .map(|file| file.as_deref().map_or(Ok(Expected::Unknown), bytes))
            .collect();
        task.right = Right::Known(vec![outputs?]);
    }
    protocol::measure(device, &task, &settings, &floors, &mut |progress| {
        // Who does not listen any more has ended this process in a moment.
        let _ = say(&Response::Progress(progress));
    })
}

fn bytes(file: &Path) -> Result<Expected, Failure> {
    std::fs::read(file)
        .map(Expected::Bytes)
        .map_err(|error| Failure {
            code: "BEN0001".to_owned(),
            kind: FailureKind::Image,
            message: format!(
                "cannot read {}, which holds what an output has to be: {error}",
                file.display()
            ),
            hint: Some("files of [check] are looked for beside the spec".to_owned()),
            log: None,
        })
}

/// The process that keeps a clock locked until its input ends.
pub(crate) fn keep_clocks(uuid: &str, clock: &str) -> Result<Code, ExpectedError> {
    let request = match clock.parse::<f64>() {
        Ok(hertz) => ClockRequest::At(Hertz::new(hertz)),
        Err(_) => ClockRequest::Base,
    };
    let failed = |error: ridge_gpu::DeviceError| ExpectedError::unable(error.to_string());
    // Who ends a whole session or service sends these to each of its processes. The input ends then too.
    #[cfg(unix)]
    for signal in [
        signal_hook::consts::SIGHUP,
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGTERM,
    ] {
        let nobody_looks = std::sync::Arc::default();
        let _ = signal_hook::flag::register(signal, nobody_looks);
    }
    let mut control = match NvmlClocks::open(&Search::nvml(), uuid) {
        Ok(control) => control,
        Err(error) => {
            // The other process waits for a word.
            let _ = writeln!(io::stdout(), "refused {error}");
            return Err(failed(error));
        }
    };
    keep(&mut control, request, io::stdin(), io::stdout()).map_err(failed)?;
    Ok(exit::FINE)
}
