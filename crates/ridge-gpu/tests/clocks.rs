//! Locked clocks are restored, whatever happens to the process that wanted them. The clock is a file here.

use std::env;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use libtest_mimic::{Arguments, Failed, Trial};
use ridge_gpu::clocks::{ClockControl, ClockRequest, Keeper, keep};
use ridge_gpu::{DeviceError, Result};
use ridge_model::quantity::Hertz;

/// Names the part of a process, and the file that is the clock.
const PART: &str = "RIDGE_CLOCKS_PART";
const CLOCK: &str = "RIDGE_CLOCKS_FILE";

struct FileClock(PathBuf);

impl ClockControl for FileClock {
    fn lock(&mut self, _: ClockRequest) -> Result<Hertz> {
        if fs::read_to_string(&self.0).is_ok_and(|text| text == "forbidden") {
            return Err(DeviceError::NoPermission {
                feature: "locking the SM clock",
            });
        }
        fs::write(&self.0, "locked").expect("the clock is a file that can be written");
        Ok(Hertz::new(1.2e9))
    }

    fn reset(&mut self) -> Result<()> {
        fs::write(&self.0, "free").expect("the clock is a file that can be written");
        Ok(())
    }
}

fn part(name: &str, clock: &Path) -> Command {
    let mut command = Command::new(env::current_exe().expect("the program knows itself"));
    command.env(PART, name).env(CLOCK, clock);
    command
}

fn main() -> ExitCode {
    let clock = env::var_os(CLOCK).map(PathBuf::from).unwrap_or_default();
    match env::var(PART).as_deref() {
        Ok("keeper") => {
            let kept = keep(
                &mut FileClock(clock),
                ClockRequest::Base,
                std::io::stdin(),
                std::io::stdout(),
            );
            return ExitCode::from(u8::from(kept.is_err()));
        }
        Ok("owner") => {
            let keeper = Keeper::start(part("keeper", &clock));
            let _ = std::io::stdout().write_all(b"ready\n");
            // Until it is killed, or let go.
            let _ = std::io::stdin().read(&mut [0]);
            drop(keeper);
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let arguments = Arguments::from_args();
    let trials = vec![
        Trial::test("a clock is restored on demand", on_demand),
        Trial::test(
            "a clock is restored when its keeper is dropped",
            when_dropped,
        ),
        Trial::test("a clock is restored when its owner panics", when_panicking),
        Trial::test("a clock is restored when its owner is killed", when_killed),
        Trial::test("a clock that may not be locked is told", forbidden),
        Trial::test("a keeper that is gone is told", gone),
        Trial::test("a keeper that does not start is told", no_keeper),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A clock of one's own.
struct Clock {
    _folder: tempfile::TempDir,
    file: PathBuf,
}

impl Clock {
    fn new(state: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("clock");
        fs::write(&file, state).expect("a file");
        Self {
            _folder: folder,
            file,
        }
    }

    fn state(&self) -> String {
        fs::read_to_string(&self.file).expect("the file")
    }
}

fn on_demand() -> std::result::Result<(), Failed> {
    let clock = Clock::new("free");
    let keeper = Keeper::start(part("keeper", &clock.file))?;
    assert_eq!(clock.state(), "locked");
    assert_eq!(keeper.clock(), Hertz::new(1.2e9));
    keeper.restore()?;
    assert_eq!(clock.state(), "free");
    Ok(())
}

fn when_dropped() -> std::result::Result<(), Failed> {
    let clock = Clock::new("free");
    let keeper = Keeper::start(part("keeper", &clock.file))?;
    assert_eq!(clock.state(), "locked");
    drop(keeper);
    assert_eq!(clock.state(), "free");
    Ok(())
}

fn when_panicking() -> std::result::Result<(), Failed> {
    let clock = Clock::new("free");
    let file = clock.file.clone();
    let result = std::thread::spawn(move || {
        let _keeper = Keeper::start(part("keeper", &file)).expect("a keeper");
        std::panic::resume_unwind(Box::new("on purpose"));
    })
    .join();
    assert!(result.is_err());
    assert_eq!(clock.state(), "free");
    Ok(())
}

fn when_killed() -> std::result::Result<(), Failed> {
    let clock = Clock::new("free");
    let mut owner = part("owner", &clock.file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut ready = [0; 6];
    let output = owner.stdout.as_mut().ok_or("no output")?;
    output.read_exact(&mut ready)?;
    assert_eq!(&ready, b"ready\n");
    assert_eq!(clock.state(), "locked");
    // On Unix this is SIGKILL, which nobody can catch.
    owner.kill()?;
    owner.wait()?;
    // The keeper has the same standard error: its end is that of the keeper.
    let mut errors = String::new();
    let stream = owner.stderr.as_mut().ok_or("no errors")?;
    stream.read_to_string(&mut errors)?;
    assert_eq!(errors, "");
    assert_eq!(clock.state(), "free");
    Ok(())
}

fn forbidden() -> std::result::Result<(), Failed> {
    let clock = Clock::new("forbidden");
    let error = Keeper::start(part("keeper", &clock.file)).err();
    assert!(
        matches!(error, Some(DeviceError::NoPermission { .. })),
        "{error:?}"
    );
    assert_eq!(clock.state(), "forbidden");
    Ok(())
}

fn gone() -> std::result::Result<(), Failed> {
    // A process that answers and ends.
    let mut command = Command::new("sh");
    command.args(["-c", "echo locked 1000000000"]);
    let keeper = Keeper::start(command)?;
    let error = keeper.restore().err().ok_or("restored")?;
    assert_eq!(error.code(), "GPU0113");
    assert!(
        error
            .hint()
            .is_some_and(|hint| hint.contains("nvidia-smi -rgc"))
    );
    Ok(())
}

fn no_keeper() -> std::result::Result<(), Failed> {
    let error = Keeper::start(Command::new("/nonexistent/ridge")).err();
    let text = error.ok_or("started")?.to_string();
    assert!(text.contains("does not start"), "{text}");
    let mut silent = Command::new("sh");
    silent.args(["-c", "echo what"]);
    let error = Keeper::start(silent).err().ok_or("started")?;
    assert!(error.to_string().contains("\"what\""), "{error}");
    Ok(())
}
