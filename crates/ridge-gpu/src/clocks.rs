//! Locks of the SM clock, which are restored whatever happens to the process that wanted them.
//!
//! A lock belongs to the machine and outlives the process that set it. So that process does not set it: it starts a
//! [`Keeper`], a second process that runs [`keep`]. That one locks, waits until its input ends, and leaves the clock to the
//! driver again. The input also ends when the first process is killed.
//!
//! NVML does not tell what was locked before, so that restoring means no lock at all.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use ridge_model::quantity::Hertz;

use crate::error::{DeviceError, Result};
use crate::nvml::{self, Clock, Gpu, Nvml, Refused};

/// What was asked for, in messages.
const FEATURE: &str = "locking the SM clock";

/// The clock that is wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClockRequest {
    /// The one that applications get by default, which the device holds under every load.
    Base,
    /// One of one's choice.
    At(Hertz),
}

/// What can lock the clock of a device.
pub trait ClockControl {
    /// Locks the SM clock, and tells to what.
    ///
    /// # Errors
    /// When the device cannot, or the user may not; then nothing is changed.
    fn lock(&mut self, request: ClockRequest) -> Result<Hertz>;

    /// Leaves the SM clock to the driver.
    ///
    /// # Errors
    /// When that fails: then the clock is still locked.
    fn reset(&mut self) -> Result<()>;
}

/// NVML's control of one GPU.
pub struct NvmlClocks {
    gpu: Gpu,
}

impl fmt::Debug for NvmlClocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NvmlClocks").finish_non_exhaustive()
    }
}

impl NvmlClocks {
    /// The GPU with an identifier, such as [`crate::Properties::uuid`] has.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] without NVML, without that GPU, and for a partition of one.
    pub fn open(nvml: &[PathBuf], uuid: &str) -> Result<Self> {
        let unsupported = |reason: String| DeviceError::Unsupported {
            feature: FEATURE,
            reason,
        };
        if uuid.starts_with("MIG-") {
            let reason = "the clock of a partition (MIG) is that of its whole GPU";
            return Err(unsupported(reason.to_owned()));
        }
        let nvml = Nvml::load(nvml).map_err(unsupported)?;
        let gpu = nvml.by_uuid(uuid);
        let gpu = gpu.ok_or_else(|| unsupported(format!("NVML does not find {uuid}")))?;
        Ok(Self { gpu })
    }
}

impl ClockControl for NvmlClocks {
    fn lock(&mut self, request: ClockRequest) -> Result<Hertz> {
        let clock = match request {
            ClockRequest::At(clock) => (clock.get() / 1e6).round() as u32,
            ClockRequest::Base => {
                let base = self.gpu.base_clock(Clock::Sm);
                base.ok_or_else(|| DeviceError::Unsupported {
                    feature: FEATURE,
                    reason: "the driver does not tell the base clock; name one in MHz".to_owned(),
                })?
            }
        };
        self.gpu
            .lock(clock, clock)
            .map_err(|refused| match refused {
                Refused::InvalidClock => DeviceError::Unsupported {
                    feature: FEATURE,
                    reason: format!("the device has no clock of {clock} MHz"),
                },
                other => error_of(other),
            })?;
        Ok(nvml::megahertz(clock))
    }

    fn reset(&mut self) -> Result<()> {
        self.gpu.unlock().map_err(error_of)
    }
}

fn error_of(refused: Refused) -> DeviceError {
    let reason = match refused {
        Refused::NoPermission => return DeviceError::NoPermission { feature: FEATURE },
        Refused::NotSupported => "this device or driver cannot".to_owned(),
        Refused::InvalidClock => "the device has no such clock".to_owned(),
        Refused::Other(reason) => reason,
    };
    DeviceError::Unsupported {
        feature: FEATURE,
        reason,
    }
}

/// The words between both processes.
const LOCKED: &str = "locked";
const REFUSED: &str = "refused";
const FORBIDDEN: &str = "forbidden";
const RESTORED: &str = "restored";

/// The whole of the keeping process: locks, answers, waits until the input ends, restores, answers.
///
/// # Errors
/// When the clock cannot be locked, or stays locked. The other process is told as well, where it still listens.
pub fn keep(
    control: &mut dyn ClockControl,
    request: ClockRequest,
    mut input: impl Read,
    mut output: impl Write,
) -> Result<()> {
    // Nobody may listen any more, and that is no reason to leave a clock locked.
    let mut tell = |line: String| {
        let _ = writeln!(output, "{line}").and_then(|()| output.flush());
    };
    match control.lock(request) {
        Ok(clock) => tell(format!("{LOCKED} {}", clock.get())),
        Err(error) => {
            let word = match error {
                DeviceError::NoPermission { .. } => FORBIDDEN,
                _ => REFUSED,
            };
            tell(format!("{word} {error}"));
            return Err(error);
        }
    }
    let mut ignored = [0; 64];
    loop {
        match input.read(&mut ignored) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    let outcome = control.reset();
    tell(match &outcome {
        Ok(()) => RESTORED.to_owned(),
        Err(error) => format!("{REFUSED} {error}"),
    });
    outcome
}

/// The process that keeps a clock locked, seen from the one that wanted it. Dropping it restores.
#[derive(Debug)]
pub struct Keeper {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    clock: Hertz,
}

impl Keeper {
    /// Starts the keeping process, and waits until the clock is locked.
    ///
    /// The command has to run [`keep`] on its standard input and output. It gets a process group of its own, so that an
    /// interrupt from the terminal does not reach it.
    ///
    /// # Errors
    /// [`DeviceError::NoPermission`] and [`DeviceError::Unsupported`] as [`ClockControl::lock`], and
    /// [`DeviceError::Keeper`] when the process does not start or answer.
    pub fn start(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command
            .spawn()
            .map_err(|error| keeper(format!("it does not start: {error}")))?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(keeper("it has no input or output".to_owned()));
        };
        let mut started = Self {
            process,
            input: Some(input),
            output: BufReader::new(output),
            clock: Hertz::ZERO,
        };
        let answer = started.answer()?;
        let (word, rest) = answer.split_once(' ').unwrap_or((&answer, ""));
        match (word, rest.parse()) {
            (LOCKED, Ok(clock)) => {
                started.clock = Hertz::new(clock);
                Ok(started)
            }
            (FORBIDDEN, _) => Err(DeviceError::NoPermission { feature: FEATURE }),
            (REFUSED, _) => {
                // It says what was asked for, as the error will.
                let prefix = format!("{FEATURE} is not supported: ");
                Err(DeviceError::Unsupported {
                    feature: FEATURE,
                    reason: rest.strip_prefix(&prefix).unwrap_or(rest).to_owned(),
                })
            }
            _ => Err(keeper(format!("it answers {answer:?}"))),
        }
    }

    /// The clock that is locked.
    #[must_use]
    pub const fn clock(&self) -> Hertz {
        self.clock
    }

    /// Leaves the clock to the driver, and waits until that is done.
    ///
    /// # Errors
    /// [`DeviceError::Keeper`] when the clock may still be locked.
    pub fn restore(mut self) -> Result<()> {
        self.input = None;
        let answer = self.answer()?;
        if answer == RESTORED {
            return Ok(());
        }
        Err(keeper(format!("the clock may still be locked: {answer}")))
    }

    fn answer(&mut self) -> Result<String> {
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(0) => Err(keeper("it ended without an answer".to_owned())),
            Ok(_) => Ok(line.trim_end().to_owned()),
            Err(error) => Err(keeper(format!("it does not answer: {error}"))),
        }
    }
}

fn keeper(reason: String) -> DeviceError {
    DeviceError::Keeper { reason }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // The end of its input is what it waits for.
        self.input = None;
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Fake {
        calls: Vec<String>,
        fails: Option<DeviceError>,
        stays: bool,
    }

    impl ClockControl for Fake {
        fn lock(&mut self, request: ClockRequest) -> Result<Hertz> {
            self.calls.push(format!("lock {request:?}"));
            self.fails.clone().map_or(Ok(Hertz::new(1.5e9)), Err)
        }

        fn reset(&mut self) -> Result<()> {
            self.calls.push("reset".to_owned());
            if self.stays {
                return Err(error_of(Refused::Other("NVML error 999".to_owned())));
            }
            Ok(())
        }
    }

    fn kept(fake: &mut Fake) -> (Result<()>, String) {
        let mut output = Vec::new();
        let result = keep(fake, ClockRequest::Base, &b"anything"[..], &mut output);
        (result, String::from_utf8(output).unwrap())
    }

    #[test]
    fn the_end_of_the_input_restores() {
        let mut fake = Fake::default();
        let (result, told) = kept(&mut fake);
        assert_eq!(result, Ok(()));
        assert_eq!(told, "locked 1500000000\nrestored\n");
        assert_eq!(fake.calls, ["lock Base", "reset"]);
    }

    #[test]
    fn what_was_not_locked_is_not_reset() {
        let error = DeviceError::NoPermission { feature: FEATURE };
        let mut fake = Fake {
            fails: Some(error.clone()),
            ..Fake::default()
        };
        let (result, told) = kept(&mut fake);
        assert_eq!(result, Err(error));
        assert_eq!(
            told,
            "forbidden locking the SM clock is not permitted to this user\n"
        );
        assert_eq!(fake.calls, ["lock Base"]);
    }

    #[test]
    fn nobody_has_to_listen() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let mut fake = Fake::default();
        keep(
            &mut fake,
            ClockRequest::At(Hertz::new(1e9)),
            &b""[..],
            Closed,
        )
        .unwrap();
        assert_eq!(fake.calls.last().unwrap(), "reset");
    }

    #[test]
    fn a_clock_that_stays_locked_is_an_error() {
        let mut fake = Fake {
            stays: true,
            ..Fake::default()
        };
        let (result, told) = kept(&mut fake);
        assert!(result.unwrap_err().to_string().contains("NVML error 999"));
        assert!(told.ends_with("refused locking the SM clock is not supported: NVML error 999\n"));
    }

    #[test]
    fn partitions_are_refused_before_anything_is_tried() {
        let error = NvmlClocks::open(&[], "MIG-1").unwrap_err();
        assert!(error.to_string().contains("partition"), "{error}");
    }
}
