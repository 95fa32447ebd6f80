//! The conformance suite on a simulated device, on a GPU where there is one, and against a library that stands in for the
//! driver where there is a C compiler.
//!
//! A GPU is used case by case in processes of their own, one after the other, since some cases end the context. Without a
//! GPU those cases are ignored, with the reason; `RIDGE_REQUIRE_GPU=1` makes them fail instead. `RIDGE_DEVICE` is the
//! number of the GPU, from 0; `RIDGE_NVRTC`, `RIDGE_DRIVER` and `RIDGE_NVML` are the paths of libraries where they are not found.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a process tells on its output what its case found out, and a report is for people"
)]

mod report;
mod suite;

use std::env;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use ridge_gpu::{CudaDevice, CudaOptions, Device, Search, SimDevice, SimOptions};
use suite::{CASES, Case, Outcome};

/// Names the case to the process that runs it.
const CHILD: &str = "RIDGE_DEVICE_CASE";
/// The case that only tells what it sees.
const REPORT: &str = "report";
/// How a process says what came out.
const HOLDS: &str = "\ncase: holds\n";
const FAILS: &str = "\ncase: fails\n";
/// How long a process may take to end afterwards.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// What no case needs, even where the driver has to wake up a GPU first.
const PATIENCE: Duration = Duration::from_secs(100);
/// What the cases want to see go wrong.
const SIMULATED: &str =
    "h200,peers=1,registers=greedy,illegal=outside,misaligned=misaligned,trap=trap_,hang=endless";

fn options() -> CudaOptions {
    let folders = |names: &[&str]| -> Vec<PathBuf> {
        let named = names.iter().filter_map(env::var_os).map(PathBuf::from);
        named.filter(|folder| folder.is_absolute()).collect()
    };
    let mut search = Search {
        toolkits: folders(&["CUDA_HOME", "CUDA_PATH"]),
        prefixes: folders(&["CONDA_PREFIX", "VIRTUAL_ENV"]),
    };
    search.toolkits.push(PathBuf::from("/usr/local/cuda"));
    search
        .prefixes
        .extend(["/usr", "/usr/local"].map(PathBuf::from));
    // The environment of the Python in the search path, where there is one.
    let path = env::var_os("PATH").unwrap_or_default();
    let pythons = env::split_paths(&path).filter(|folder| folder.join("python3").exists());
    search
        .prefixes
        .extend(pythons.filter_map(|folder| Some(folder.parent()?.to_path_buf())));
    let mut options = CudaOptions::found(&search);
    for (variable, candidates) in [
        ("RIDGE_NVRTC", &mut options.nvrtc),
        ("RIDGE_DRIVER", &mut options.driver),
        ("RIDGE_NVML", &mut options.nvml),
    ] {
        if let Some(path) = env::var_os(variable) {
            *candidates = vec![PathBuf::from(path)];
        }
    }
    let ordinal = env::var("RIDGE_DEVICE")
        .ok()
        .and_then(|text| text.parse().ok());
    options.ordinal = ordinal.unwrap_or(0);
    options
}

fn main() -> ExitCode {
    if let Ok(name) = env::var(CHILD) {
        return child(&name);
    }
    let mut arguments = Arguments::from_args();
    let simulated = CASES
        .iter()
        .copied()
        .map(|(name, case)| Trial::test(format!("simulated: {name}"), move || on_simulation(case)));
    let mut trials: Vec<Trial> = simulated.collect();
    let has_gpu = CudaDevice::count(&options());
    let is_required = env::var_os("RIDGE_REQUIRE_GPU").is_some_and(|value| value == "1");
    let mut reason = None;
    let reports: Case = ("what the device is", |_| Ok(()));
    for (name, _) in CASES.iter().chain([&reports]) {
        let trial = match &has_gpu {
            Ok(_) => {
                // One process at a time: they would measure each other.
                arguments.test_threads = Some(1);
                let case = if *name == reports.0 { REPORT } else { name };
                Trial::test(format!("GPU: {name}"), move || in_a_process(case, None))
            }
            Err(error) if is_required => {
                let error = error.to_string();
                Trial::test(format!("GPU: {name}"), move || Err(Failed::from(error)))
            }
            Err(error) => {
                if reason.is_none() {
                    reason = Some(format!("cases on a GPU are ignored: {error}"));
                }
                let name = format!("GPU: {name} (no GPU here)");
                Trial::test(name, || Ok(())).with_ignored_flag(true)
            }
        };
        trials.push(trial);
    }
    if let Some(reason) = reason {
        eprintln!("{reason}");
    }
    let variants = ["", "-DOLD", "-DANCIENT", "-DNO_DEVICE"].map(Fake::build);
    let [fake, old, ancient, no_device] = &variants;
    for (name, _) in OLD_CASES {
        if let Some(old) = old {
            let library = old.library.clone();
            trials.push(Trial::test(format!("old driver: {name}"), move || {
                in_a_process(name, Some(&library))
            }));
        }
    }
    for (fake, name, code) in [
        (ancient, "a driver that is too old is no panic", "GPU0102"),
        (no_device, "a driver without a GPU is no panic", "GPU0104"),
    ] {
        if let Some(fake) = fake {
            let library = fake.library.clone();
            trials.push(Trial::test(name, move || refused(&library, code)));
        }
    }
    for (name, _) in CASES {
        let library = fake.as_ref().map(|fake| fake.library.clone());
        trials.push(match library {
            Some(library) => Trial::test(format!("fake driver: {name}"), move || {
                in_a_process(name, Some(&library))
            }),
            None => Trial::test(format!("fake driver: {name} (no C compiler here)"), || {
                Ok(())
            })
            .with_ignored_flag(true),
        });
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The library that stands in for driver, compiler and sensors, built for this run.
struct Fake {
    _folder: tempfile::TempDir,
    library: PathBuf,
}

impl Fake {
    /// Builds it, with something that is left out.
    fn build(without: &str) -> Option<Self> {
        let folder = tempfile::tempdir().ok()?;
        let source = folder.path().join("fake.c");
        let library = folder.path().join("libfake.so");
        std::fs::write(&source, include_str!("fake.c")).ok()?;
        let built = Command::new("cc")
            .args(["-std=c11", "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(&source)
            .args((!without.is_empty()).then_some(without))
            .status();
        built.is_ok_and(|status| status.success()).then_some(Self {
            _folder: folder,
            library,
        })
    }
}

/// What has to hold on a driver that is older than some functions.
const OLD_CASES: &[Case] = &[
    (
        "clusters need a newer one, which is said",
        suite::no_clusters,
    ),
    ("arguments that cannot be checked arrive", suite::agreement),
    (
        "graphs run all their launches without checks",
        suite::graphs,
    ),
    ("names that are not there are refused", suite::wrong_images),
];

/// A driver that is of no use is refused with a reason.
fn refused(library: &Path, code: &str) -> Outcome {
    let options = CudaOptions {
        driver: vec![library.to_path_buf()],
        ..CudaOptions::default()
    };
    let error = CudaDevice::open(&options).err().ok_or("opened")?;
    if error.code() == code && error.hint().is_some() {
        return Ok(());
    }
    Err(format!("{}: {error}", error.code()).into())
}

fn on_simulation(case: fn(&dyn Device) -> Outcome) -> Outcome {
    let options = SimOptions::parse(SIMULATED).map_err(|error| error.to_string())?;
    case(&SimDevice::open(&options)?)
}

/// Runs a case on the GPU, or on what stands in for one, in a process of its own, and ends it when it does not end by itself: a driver may wait for a
/// kernel that never ends.
fn in_a_process(name: &str, fake: Option<&Path>) -> Outcome {
    let mut command = Command::new(env::current_exe()?);
    if let Some(fake) = fake {
        for variable in ["RIDGE_DRIVER", "RIDGE_NVRTC", "RIDGE_NVML"] {
            command.env(variable, fake);
        }
        command.env("RIDGE_DEVICE", "0");
    }
    let mut process = command
        .env(CHILD, name)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()?;
    let mut output = process.stdout.take().ok_or("no output")?;
    let (sender, receiver) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut told = String::new();
        let mut bytes = [0; 4096];
        let mut is_sent = false;
        while let Ok(count @ 1..) = output.read(&mut bytes) {
            told.push_str(&String::from_utf8_lossy(&bytes[..count]));
            if !is_sent && (told.contains(HOLDS) || told.contains(FAILS)) {
                is_sent = sender.send(()).is_ok();
            }
        }
        told
    });
    // Who has said everything, or closed its output, may take its time to end, but not for ever.
    let is_late = receiver.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout);
    let deadline = Instant::now() + if is_late { Duration::ZERO } else { LAST_WORDS };
    let mut status = process.try_wait()?;
    while status.is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
        status = process.try_wait()?;
    }
    if status.is_none() {
        process.kill()?;
        process.wait()?;
        eprintln!("GPU: {name}: the process had to be ended");
    }
    let told = reader.join().map_err(|_| "no reader")?;
    if !told.contains(HOLDS) {
        return Err(format!("{status:?}\n{told}").into());
    }
    if name == REPORT {
        eprintln!("{told}");
    }
    Ok(())
}

/// One case on the GPU.
fn child(name: &str) -> ExitCode {
    let device = match CudaDevice::open(&options()) {
        Ok(device) => device,
        Err(error) => {
            println!("cannot open the GPU: {error} ({})\n{FAILS}", error.code());
            return ExitCode::from(4);
        }
    };
    let outcome = if name == REPORT {
        report::print(&device)
    } else {
        let mut cases = CASES.iter().chain(OLD_CASES);
        let case = cases.find(|(known, _)| *known == name);
        case.map_or_else(|| Err("no such case".into()), |(_, case)| case(&device))
    };
    match outcome {
        Ok(()) => println!("{HOLDS}"),
        Err(failed) => {
            let properties = device.properties();
            println!(
                "{}\non {} with driver {:?} ({:?}), compiler {:?}\n{FAILS}",
                failed.message().unwrap_or("failed"),
                properties.name,
                properties.driver,
                properties.driver_release,
                properties.compiler
            );
        }
    }
    ExitCode::SUCCESS
}
