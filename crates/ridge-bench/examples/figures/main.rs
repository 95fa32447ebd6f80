//! How small a slowdown is seen, and how often two measurements of one thing are called different.
//!
//! `figures study` starts fresh processes of itself (`figures replicate`), compares what they measured, and prints a line
//! of JSON for each comparison:
//!
//! * trials, each of three arms: A, B with 1.5 % more work, and A once more as the control;
//! * groups, whose processes hold many arms: several A against A with controls of their own, and B of several sizes.
//!
//! Trials and groups take turns until the wanted number or the budget is reached. `scripts/gpu-figures` runs it on a GPU.
//! `cargo run --release --example figures -p ridge-bench -- study --device sim:h200 --trials 5 --groups 5` runs it on a
//! simulated one.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for the terminal"
)]

mod compare;
mod replicate;

use std::error::Error;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use ridge_bench::protocol::FlushKind;
use ridge_gpu::{CudaDevice, CudaOptions, Device, Program, Search, SimDevice, SimOptions};

use compare::{Arms, Line, line};
use replicate::{Kernel, Plan, Replicate, SOURCE, replicate};

const USAGE: &str = "usage: figures study [--device 0|sim:h200] [--budget SECONDS] [--trials N] [--groups N] [--kernel sum|fma] \
                     [--replicates N] [--rounds N] [--samples N] [--flush read|write] [--image FILE]";
/// The slowdown of the trials.
const SLOWDOWN: f64 = 0.015;
/// Those of the groups.
const SIZES: [f64; 6] = [0.005, 0.0075, 0.01, 0.0125, 0.015, 0.02];
/// A against A in each group.
const PAIRS: usize = 3;
/// A process that takes longer is ended.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.first().map(String::as_str) {
        Some("study") => Options::read(&arguments[1..]).and_then(|options| study(&options)),
        Some("replicate") if arguments.len() == 4 => {
            child(&arguments[1], Path::new(&arguments[2]), &arguments[3])
        }
        _ => Err(USAGE.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("figures: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Options {
    device: String,
    budget: Duration,
    trials: usize,
    groups: usize,
    kernels: Vec<Kernel>,
    replicates: usize,
    rounds: usize,
    samples: usize,
    flush: FlushKind,
    /// What a compiler made of the kernels.
    image: Option<PathBuf>,
}

impl Options {
    fn read(arguments: &[String]) -> Result<Self, Box<dyn Error>> {
        let mut options = Self {
            device: "0".to_owned(),
            budget: Duration::from_secs(240),
            trials: 30,
            groups: 25,
            kernels: Kernel::ALL.to_vec(),
            replicates: 3,
            rounds: 10,
            samples: 10,
            flush: FlushKind::Read,
            image: None,
        };
        for pair in arguments.chunks(2) {
            let [name, value] = pair else {
                return Err(USAGE.into());
            };
            match name.as_str() {
                "--device" => options.device.clone_from(value),
                "--budget" => options.budget = Duration::try_from_secs_f64(value.parse()?)?,
                "--trials" => options.trials = value.parse()?,
                "--groups" => options.groups = value.parse()?,
                "--replicates" => options.replicates = value.parse()?,
                "--rounds" => options.rounds = value.parse()?,
                "--samples" => options.samples = value.parse()?,
                "--image" => options.image = Some(value.into()),
                "--kernel" => {
                    options
                        .kernels
                        .retain(|kernel| kernel.name() == value.as_str());
                }
                "--flush" if value == "read" => options.flush = FlushKind::Read,
                "--flush" if value == "write" => options.flush = FlushKind::Write,
                _ => return Err(USAGE.into()),
            }
        }
        if options.kernels.is_empty() {
            return Err(USAGE.into());
        }
        Ok(options)
    }
}

fn open(device: &str) -> Result<Box<dyn Device>, Box<dyn Error>> {
    if let Some(text) = device.strip_prefix("sim:") {
        return Ok(Box::new(SimDevice::open(&SimOptions::parse(text)?)?));
    }
    let named = |name| std::env::var_os(name).map(PathBuf::from);
    let mut options = CudaOptions::found(&Search {
        toolkits: [named("CUDA_HOME"), Some("/usr/local/cuda".into())]
            .into_iter()
            .flatten()
            .collect(),
        prefixes: [
            named("VIRTUAL_ENV"),
            named("CONDA_PREFIX"),
            Some("/usr".into()),
        ]
        .into_iter()
        .flatten()
        .collect(),
    });
    options.ordinal = device.parse()?;
    if let Some(path) = named("RIDGE_NVRTC") {
        options.nvrtc = vec![path];
    }
    Ok(Box::new(CudaDevice::open(&options)?))
}

/// The body of a fresh process.
fn child(device: &str, image: &Path, plan: &str) -> Result<(), Box<dyn Error>> {
    let plan: Plan = serde_json::from_str(plan)?;
    let image = std::fs::read(image)?;
    let found = replicate(&*open(device)?, &plan, &image)?;
    println!("{}", serde_json::to_string(&found)?);
    Ok(())
}

fn study(options: &Options) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let made = match &options.image {
        Some(path) => Image::of(path.clone()),
        None => Image::write(&compiled(&options.device)?)?,
    };
    let image = made.path.as_path();
    let (mut trials, mut groups, mut failures) = (0, 0, 0);
    let mut number = 0_u64;
    while (trials < options.trials || groups < options.groups)
        && start.elapsed() < options.budget
        && failures < 5
    {
        for kernel in &options.kernels {
            number += 1;
            let run = |growths: Vec<f64>| {
                let plan = Plan {
                    kernel: *kernel,
                    growths,
                    rounds: options.rounds,
                    samples: options.samples,
                    flush: options.flush,
                    seed: number,
                };
                replicates(options, &plan, image)
            };
            let mut lines = Vec::new();
            if trials < options.trials {
                lines.push(run(vec![0.0, SLOWDOWN, 0.0]).and_then(|found| trial(*kernel, &found)));
            }
            if groups < options.groups {
                let growths = [vec![0.0; 3 * PAIRS], SIZES.to_vec()].concat();
                lines.push(run(growths).and_then(|found| group(*kernel, &found)));
            }
            for lines in lines {
                match lines {
                    Ok(lines) => {
                        for line in lines {
                            println!("{}", serde_json::to_string(&line)?);
                        }
                    }
                    Err(error) => {
                        failures += 1;
                        eprintln!("figures: {}: {error}", kernel.name());
                    }
                }
            }
            std::io::stdout().flush()?;
        }
        trials += 1;
        groups += 1;
    }
    eprintln!(
        "figures: {} rounds of trials, {} of groups, {failures} failures, {:.1} s",
        trials.min(options.trials),
        groups.min(options.groups),
        start.elapsed().as_secs_f64()
    );
    if failures > 0 {
        return Err("some comparisons could not be made".into());
    }
    Ok(())
}

/// A file that the processes load. One that was written for them is removed in the end.
struct Image {
    path: PathBuf,
    is_own: bool,
}

impl Image {
    const fn of(path: PathBuf) -> Self {
        Self {
            path,
            is_own: false,
        }
    }

    fn write(content: &[u8]) -> std::io::Result<Self> {
        let name = format!("ridge-figures-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::File::create_new(&path)?.write_all(content)?;
        Ok(Self { path, is_own: true })
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        if self.is_own {
            // It is in a folder for what may be left behind.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The machine code, so that no process compiles; for a simulated device the source, which it reads by itself.
fn compiled(device: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    if device.starts_with("sim:") {
        return Ok(SOURCE.as_bytes().to_vec());
    }
    let compiled = open(device)?.compile(&Program {
        text: SOURCE.to_owned(),
        name: "kernels.cu".to_owned(),
        options: vec!["--std=c++17".to_owned()],
        include_paths: Vec::new(),
        headers: Vec::new(),
        name_expressions: Vec::new(),
    })?;
    Ok(compiled.image)
}

/// Replicates, one after the other, each in a fresh process, and how long all of them took.
fn replicates(
    options: &Options,
    plan: &Plan,
    image: &Path,
) -> Result<(Vec<Replicate>, f64), Box<dyn Error>> {
    let start = Instant::now();
    let mut found = Vec::new();
    for number in 0..options.replicates as u64 {
        let plan = Plan {
            seed: plan.seed * 1000 + number,
            ..plan.clone()
        };
        // Processes of a simulated device differ by their noise alone.
        let device = if options.device.starts_with("sim:") {
            format!("{},seed={}", options.device, plan.seed)
        } else {
            options.device.clone()
        };
        found.push(process(&device, image, &plan)?);
    }
    Ok((found, start.elapsed().as_secs_f64()))
}

fn process(device: &str, image: &Path, plan: &Plan) -> Result<Replicate, Box<dyn Error>> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("replicate")
        .arg(device)
        .arg(image)
        .arg(serde_json::to_string(plan)?)
        .stdout(Stdio::piped())
        .spawn()?;
    // What a child writes is a few kilobytes, which its pipe holds.
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Err("a process was silent for too long and was ended".into());
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    if !status.success() {
        return Err(format!("a process failed: {status}").into());
    }
    let mut text = String::new();
    if let Some(mut output) = child.stdout.take() {
        output.read_to_string(&mut text)?;
    }
    Ok(serde_json::from_str(&text)?)
}

fn trial(
    kernel: Kernel,
    (found, wall): &(Vec<Replicate>, f64),
) -> Result<Vec<Line>, Box<dyn Error>> {
    let arms = Arms {
        a: 0,
        b: 1,
        control: 2,
    };
    Ok(vec![line("trial", kernel, SLOWDOWN, found, arms, *wall)?])
}

fn group(
    kernel: Kernel,
    (found, wall): &(Vec<Replicate>, f64),
) -> Result<Vec<Line>, Box<dyn Error>> {
    let same = (0..PAIRS).map(|pair| {
        let arms = Arms {
            a: 3 * pair,
            b: 3 * pair + 1,
            control: 3 * pair + 2,
        };
        (0.0, arms)
    });
    // Each size has another of the As, so that their errors are not all the same.
    let larger = SIZES.iter().enumerate().map(|(place, growth)| {
        let pair = place % PAIRS;
        let arms = Arms {
            a: 3 * pair,
            b: 3 * PAIRS + place,
            control: 3 * pair + 2,
        };
        (*growth, arms)
    });
    same.chain(larger)
        .map(|(growth, arms)| line("group", kernel, growth, found, arms, *wall))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Replicates on simulated devices that differ by a process effect.
    fn simulated(kernel: Kernel, growths: &[f64], number: u64) -> (Vec<Replicate>, f64) {
        let found = (0..3)
            .map(|place| {
                let seed = number * 10 + place;
                let device =
                    open(&format!("sim:h200,noise=0.005,process=0.003,seed={seed}")).unwrap();
                let plan = Plan {
                    kernel,
                    growths: growths.to_vec(),
                    rounds: 10,
                    samples: 10,
                    flush: FlushKind::Read,
                    seed,
                };
                replicate(&*device, &plan, SOURCE.as_bytes()).unwrap()
            })
            .collect();
        (found, 0.0)
    }

    #[test]
    fn work_grows_by_the_share_that_is_wanted() {
        for kernel in Kernel::ALL {
            for growth in SIZES {
                let (work, share) = kernel.larger(growth);
                assert!(
                    (share - growth).abs() < 0.0001,
                    "{kernel:?} {growth}: {work}, {share}"
                );
            }
            assert!(kernel.larger(0.0).1.abs() < 1e-12, "{kernel:?}");
        }
    }

    #[test]
    fn a_slowdown_is_seen_and_the_same_is_not_called_different() {
        for kernel in Kernel::ALL {
            for number in 1..=3 {
                let seen =
                    trial(kernel, &simulated(kernel, &[0.0, SLOWDOWN, 0.0], number)).unwrap();
                assert_eq!(seen[0].verdict, "slower", "{seen:?}");
                assert!((seen[0].ratio - 1.014).abs() < 0.003, "{seen:?}");
            }
            let growths = [vec![0.0; 3 * PAIRS], SIZES.to_vec()].concat();
            let lines = group(kernel, &simulated(kernel, &growths, 9)).unwrap();
            assert_eq!(lines.len(), PAIRS + SIZES.len());
            for line in &lines[..PAIRS] {
                assert!(!["slower", "faster"].contains(&line.verdict), "{line:?}");
            }
            assert_eq!(lines.last().unwrap().verdict, "slower", "{lines:?}");
        }
    }

    #[test]
    fn options_that_make_no_sense_are_refused() {
        let read = |text: &str| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            Options::read(&words).map(|options| options.kernels)
        };
        assert_eq!(read("--kernel fma").unwrap(), [Kernel::Fma]);
        for wrong in [
            "--kernel gemm",
            "--trials",
            "--trials x",
            "--speed 3",
            "--budget -1",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
